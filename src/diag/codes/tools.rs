//! E08xx: tools: LLVM, ptxas, libdevice.

super::codes! {}
