//! Passes for AMD's GPUs: buffer instructions, and what ranges of numbers tell.

pub mod convert_to_buffer_ops;
pub mod fold_true_cmpi;
pub mod prepare_if_combining;
