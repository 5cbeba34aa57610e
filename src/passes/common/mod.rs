//! Passes that know no dialect in particular, and what they share.

pub(crate) mod ahead;
pub mod canonicalize;
pub(crate) mod carry;
pub(crate) mod copy;
pub mod cse;
pub(crate) mod guard;
pub mod inline;
pub mod licm;
pub(crate) mod parts;
pub mod sccp;
pub mod symbol_dce;
