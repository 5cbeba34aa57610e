//! Every diagnostic code, in one table for each area. `ttc explain CODE` prints the text that stands here.
//!
//! | codes | area |
//! |---|---|
//! | E01xx | words and syntax of a kernel file ([`syntax`]) |
//! | E02xx | names, calls, constexpr values, signatures ([`names`]) |
//! | E03xx | types and shapes of the language ([`types`]) |
//! | E04xx | IR text ([`irtext`]) |
//! | E05xx | IR verification ([`verify`]) |
//! | E06xx | passes and their options ([`passes`]) |
//! | E07xx | code generation and limits of the target ([`codegen`]) |
//! | E08xx | tools: LLVM, ptxas, libdevice ([`tools`]) |
//! | E09xx | files and the command line ([`cli`]) |
//! | E10xx | the interpreter and the faults it finds ([`interp`]) |
//! | E11xx | kernels on a GPU: running, measuring, tuning ([`gpu`]) |
//! | E12xx | the PTX emulator and what it finds ([`emu`]) |

pub mod cli;
pub mod codegen;
pub mod emu;
pub mod gpu;
pub mod interp;
pub mod irtext;
pub mod names;
pub mod passes;
pub mod syntax;
pub mod tools;
pub mod types;
pub mod verify;

use super::code::Code;

/// All codes, in order.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [
        syntax::ALL,
        names::ALL,
        types::ALL,
        irtext::ALL,
        verify::ALL,
        passes::ALL,
        codegen::ALL,
        tools::ALL,
        cli::ALL,
        interp::ALL,
        gpu::ALL,
        emu::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The code with this id, in any case (`e0203` finds `E0203`).
#[must_use]
pub fn find(id: &str) -> Option<&'static Code> {
    all().find(|c| c.id.eq_ignore_ascii_case(id))
}
