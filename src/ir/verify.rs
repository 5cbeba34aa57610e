//! The verifier: the rules every module obeys.
