//! Analyses: facts about the IR that passes and codegen ask for. None of them changes the IR.

pub mod axis_info;
pub mod effects;
pub mod scratch;
