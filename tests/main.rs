//! The one integration-test binary; a module for each area.
#![allow(clippy::unwrap_used)]

#[path = "suite/arrows.rs"]
mod arrows;
#[path = "suite/parser.rs"]
mod parser;

#[path = "suite/irgen.rs"]
mod irgen;
