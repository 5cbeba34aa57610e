//! What is known of the source before any IR: the names of files, imports, the library's files, words of signatures,
//! types by name, options of a launch. Nothing here evaluates an expression.

pub mod advice;
pub mod assigned;
pub mod free_names;
pub mod launch;
pub mod modules;
pub mod prelude;
pub mod signature;
pub mod space;
pub mod top_level;
pub mod type_rules;
pub mod uses;
