//! E07xx: code generation and limits of the target.

super::codes! {}
