//! What ptxas makes of PTX, in numbers.

use std::collections::BTreeMap;

use ttc::ptxas::{AssembleOptions, Detail, assemble, disassemble};
use ttc::target::Target;

/// Size and resources of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MachineCode {
    /// Instructions without those that only fill up the last line of the instruction cache.
    pub instructions: u32,
    pub registers: u32,
    /// Bytes of spill stores and loads.
    pub spills: u32,
}

/// Assembles `ptx`, or takes what is known of it.
///
/// # Errors
/// What ptxas or nvdisasm says.
pub(crate) fn of_ptx(
    ptx: &str,
    target: Target,
    known: &mut BTreeMap<String, MachineCode>,
) -> Result<MachineCode, String> {
    if let Some(&code) = known.get(ptx) {
        return Ok(code);
    }
    let done = assemble(ptx, &target, &AssembleOptions::default(), None).map_err(|d| d.message)?;
    let sass = disassemble(&done.cubin, None, Detail::Plain, None).map_err(|d| d.message)?;
    let instructions = sass.lines().filter(|l| is_instruction(l)).count() as u32;
    let usage = done.usage();
    let code = MachineCode { instructions, registers: usage.registers, spills: usage.spill_stores + usage.spill_loads };
    known.insert(ptx.to_owned(), code);
    Ok(code)
}

/// Whether a line of nvdisasm, `        /*0040*/   IADD3 R1, R1, -0x8, RZ ;`, is an instruction that does something.
fn is_instruction(line: &str) -> bool {
    let rest = line.trim_start();
    rest.starts_with("/*") && rest.ends_with(';') && !rest.contains(" NOP")
}
