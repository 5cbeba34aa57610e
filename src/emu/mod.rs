//! The PTX emulator.
pub mod ptx;
