//! E06xx: passes and their options.

super::codes! {}
