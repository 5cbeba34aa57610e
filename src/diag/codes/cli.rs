//! E09xx: files and the command line.

super::codes! {}
