//! The one integration-test binary; a module for each area.

#[path = "suite/parser.rs"]
mod parser;
