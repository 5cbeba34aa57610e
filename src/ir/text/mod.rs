//! The textual form. What Triton dumps can be read here, and what is written here Triton can read.
//!
//! - [`printer`] writes operations, with [`names`] for values, [`writer`] for aliases and locations, [`types`],
//!   [`attrs`] and [`floats`];
//! - [`parser`] reads them, with [`lexer`] for words and one file each for types, attributes, encodings and locations;
//! - [`marks`] says where the names of a text stand;
//! - [`mod@format`] reads the declarative formats of the dialects' tables, which both interpret; [`custom`] and
//!   [`custom_parse`] hold the operations that have none.

pub mod attrs;
mod custom;
mod custom_parse;
pub mod floats;
pub mod format;
pub mod lexer;
pub mod marks;
pub mod names;
mod parse_amd;
mod parse_attrs;
pub mod parse_encodings;
mod parse_format;
mod parse_locs;
mod parse_types;
pub mod parser;
pub mod printer;
pub mod types;
pub mod writer;

pub use parser::{ParseOptions, parse_module};
pub use printer::{PrintOptions, print_module, print_op};
