//! E02xx: names, calls, constexpr values, signatures.

super::codes! {}
