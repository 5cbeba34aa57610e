//! E04xx: IR text.

super::codes! {
    IR_SYNTAX = "E0401", "syntax error in IR text", "The text does not follow the form of the operation, type or attribute that it starts.";
}
