//! E01xx: words and syntax of a kernel file.

super::codes! {
    UNEXPECTED_CHARACTER = "E0101", "character that starts no token", "A character stands where none of the words of the language can start.";
}
