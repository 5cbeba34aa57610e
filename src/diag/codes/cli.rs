//! E09xx: files and the command line.

super::codes! {
    UNKNOWN_ARCH = "E0901", "unknown GPU architecture",
"`--arch` names a GPU that ttc has no table row for.

    ttc compile add.tk --arch sm_91

Write it as NVIDIA does (`sm_90a`), as a bare number (`90a`) or as Triton does (`cuda:90`, which means `sm_90a`, because Triton compiles
for the accelerated variant from capability 90 on). Code for `sm_90` also runs on later GPUs of the same major number; code for `sm_90a`
runs on that capability alone and may use all of its instructions.";
}
