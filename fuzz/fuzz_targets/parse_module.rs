//! Any bytes as a kernel file: parsing ends, does not panic, and its diagnostics lie in the text.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../examples/fuzz/parser.rs"]
mod parser;

fuzz_target!(|data: &[u8]| parser::check(&String::from_utf8_lossy(data)));
