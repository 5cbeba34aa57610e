//! The formats of floats, which the IR shares with the emulator: they are a crate of their own.

pub use ttc_float::FloatKind;
