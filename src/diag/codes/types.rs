//! E03xx: types and shapes of the language.

super::codes! {}
