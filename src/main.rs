//! The command line of ttc.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

fn main() {}
