//! An emulator of PTX: it runs compiled kernels on the CPU, with hostile asynchrony and detectors of races.
//!
//! 1. [`parse`] makes a tree of the text. It knows the grammar, and no instruction.
//! 2. [`decode()`] makes flat code of the tree. What the emulator does not run is an error here, before anything runs.
//! 3. [`run`] executes a launch. Warps are the agents: each has the registers of its 32 lanes, and goes on until it
//!    waits. A seeded scheduler decides which warp runs next, and when asynchronous work lands.
//!
//! | folder | holds |
//! |---|---|
//! | `ptx` | the parser |
//! | `decode` | the decoder, a file for each family of instructions |
//! | `num` | scalar arithmetic and conversions, bits in and bits out |
//! | `tensor` | fragments, descriptors and products of the tensor cores |
//! | `memory` | buffers, shared and local memory |
//! | `exec` | the executor, a file for each family |
//! | `order` | happens-before: clocks, shadow memory, the detectors |
//! | `report` | what was found, and where |
//! | `observe` | what a second judge is told of a run |

// The crate is a folder of ttc's sources, and its paths are those that it has there.
#![allow(unused_qualifications)]
extern crate self as emu;

pub mod decode;
pub mod exec;
pub mod memory;
pub mod num;
pub mod observe;
pub mod order;
pub mod ptx;
pub mod report;
pub mod tensor;

pub use decode::{DecodeError, Program, decode};
pub use exec::launch::{Argument, Landing, Launch, Options, Outcome};
pub use exec::run::run;
pub use memory::{BufferId, Memory};
pub use ptx::parse;
pub use report::{Finding, Kind};
