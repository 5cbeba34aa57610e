//! E05xx: IR verification.

super::codes! {
    INVALID_OP = "E0501", "operation breaks a rule of its dialect", "The verifier found an operation whose operands, results, attributes or regions do not satisfy the rules that its dialect states.";
}
