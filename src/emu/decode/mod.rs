//! From the tree of a PTX text to flat code that runs.
//!
//! 1. Variables of the module get their places: `.global` and `.const` ones in one block of bytes, `.shared` ones at
//!    the start of a block's shared memory, `.extern .shared` ones behind them.
//! 2. Each function becomes a list of steps ([`Op`](op::Op)). Registers become slots, labels become indices, types and
//!    modifiers become functions. Each file of this folder knows one family of instructions.
//! 3. `flow.rs` finds out where divergent lanes meet again.
//!
//! A form that no family knows is an error here, with its line: nothing runs before everything is known.

mod access;
mod asynchronous;
mod compare;
mod context;
mod control;
pub mod copy_op;
pub mod error;
mod float;
mod flow;
mod form;
mod function;
mod integer;
mod memory;
mod moves;
pub mod op;
pub mod program;
mod registers;
mod scope;
pub mod slot;
mod special;
mod tensor;
pub mod tensor_op;
mod warp;

use std::collections::BTreeMap;

pub use error::DecodeError;
pub use program::Program;

use crate::emu::memory::GLOBALS_BASE;
use crate::emu::num::Type;
use crate::emu::ptx::syntax::{Init, Module, Statement, Variable, VariableSpace};
use context::Names;
use error::Result;

/// The bytes of the largest shared memory of a block: that of sm_90.
pub(crate) const MAX_SHARED: u64 = 227 << 10;

/// The bytes that variables in global and constant memory may take.
const MAX_GLOBALS: u64 = 256 << 20;

/// Decodes a module.
///
/// # Errors
/// The first thing that the emulator does not run.
pub fn decode(module: &Module) -> Result<Program> {
    let mut program = Program { files: module.files.clone(), shared_granule: 4, ..Program::default() };
    module.target.first().map_or("", |t| *t).clone_into(&mut program.target);
    let mut names = Names::default();
    shared(module, &mut program, &mut names)?;
    globals(module, &mut program, &mut names)?;
    let defined = module.functions.iter().filter(|f| f.body.is_some());
    for (index, f) in defined.clone().enumerate() {
        names.functions.insert(f.name, index);
    }
    let mut narrowest = 4;
    for (index, f) in defined.enumerate() {
        let (function, facts) = function::decode(f, &names)?;
        program.communicates |= facts.communicates;
        program.narrow_scopes |= facts.narrow_scopes;
        narrowest = narrowest.min(facts.narrowest);
        if f.entry {
            program.kernels.insert(f.name.to_owned(), index);
        }
        program.functions.push(function);
    }
    (program.shared_granule, program.global_granule) = (narrowest, narrowest);
    function::check_calls(&program)?;
    Ok(program)
}

/// What a reduction of a bulk copy makes of the old value and the new one.
pub(crate) fn reduction(name: &str, ty: Type) -> Option<op::Update> {
    memory::update(name, ty, false)
}

/// The bytes and the alignment of a variable. An array without a size has none.
fn size(v: &Variable) -> Result<(u64, u32)> {
    let wrong = |why: &str| DecodeError::new(v.at, format!("the variable `{}` {why}", v.name));
    let ty = Type::parse(v.ty).ok_or_else(|| wrong(&format!("has the unknown type `{}`", v.ty)))?;
    let element = u64::from(ty.bits() / 8 * v.vector);
    let count = v.dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.unwrap_or(0)));
    let bytes = count.and_then(|n| n.checked_mul(element)).filter(|&n| n < 1 << 31);
    let align = v.align.unwrap_or(element as u32).max(1);
    if !align.is_power_of_two() {
        return Err(wrong("has an alignment that is no power of two"));
    }
    Ok((bytes.ok_or_else(|| wrong("is too large"))?, align))
}

/// The start and the end of a variable that comes behind `end` bytes. At most `most` bytes are there.
fn place(v: &Variable, end: u64, most: u64) -> Result<(u64, u64)> {
    let (bytes, align) = size(v)?;
    let at = end.next_multiple_of(u64::from(align));
    if at + bytes > most {
        let message =
            format!("`{}` ends at byte {}, and variables of its space have at most {most}", v.name, at + bytes);
        return Err(DecodeError::new(v.at, message));
    }
    Ok((at, at + bytes))
}

/// Gives shared variables their places.
fn shared<'a>(module: &Module<'a>, program: &mut Program, names: &mut Names<'a>) -> Result<()> {
    let all = module.variables.iter().filter(|v| v.space == VariableSpace::Shared);
    let mut dynamic_align = 16;
    // Those inside of functions have their places for the whole run too.
    let mut own: Vec<&Variable> = all.clone().filter(|v| !v.external).collect();
    module.functions.iter().for_each(|f| inner(f.body.as_deref().unwrap_or_default(), &mut own));
    for v in own {
        let (at, past) = place(v, u64::from(program.shared_static), MAX_SHARED)?;
        program.shared_static = past as u32;
        if names.shared.insert(v.name, at as u32).is_some() {
            let message = format!("the emulator runs no two shared variables of the name `{}`", v.name);
            return Err(DecodeError::new(v.at, message));
        }
    }
    for v in all.clone().filter(|v| v.external) {
        dynamic_align = dynamic_align.max(size(v)?.1);
    }
    program.dynamic_shared_start = program.shared_static.next_multiple_of(dynamic_align);
    for v in all.filter(|v| v.external) {
        names.shared.insert(v.name, program.dynamic_shared_start);
    }
    Ok(())
}

/// The shared variables that are declared in statements.
fn inner<'v, 'a>(statements: &'v [Statement<'a>], all: &mut Vec<&'v Variable<'a>>) {
    for s in statements {
        match s {
            Statement::Variable(v) if v.space == VariableSpace::Shared => all.push(v),
            Statement::Scope(body) => inner(body, all),
            _ => {}
        }
    }
}

/// Gives variables in global and constant memory their places and their bytes.
fn globals<'a>(module: &Module<'a>, program: &mut Program, names: &mut Names<'a>) -> Result<()> {
    let in_global = |v: &&Variable| matches!(v.space, VariableSpace::Global | VariableSpace::Const);
    let mut places = BTreeMap::new();
    for v in module.variables.iter().filter(in_global) {
        if v.external {
            return Err(DecodeError::new(v.at, format!("`{}` is defined in another module", v.name)));
        }
        let (at, past) = place(v, program.globals.len() as u64, MAX_GLOBALS)?;
        let at = at as usize;
        program.globals.resize(past as usize, 0);
        if places.insert(v.name, at).is_some() {
            return Err(DecodeError::new(v.at, format!("there are two variables of the name `{}`", v.name)));
        }
        names.globals.insert(v.name, GLOBALS_BASE + at as u64);
        program.global_names.insert(v.name.to_owned(), GLOBALS_BASE + at as u64);
    }
    for v in module.variables.iter().filter(in_global) {
        let element = Type::parse(v.ty).map_or(1, |t| t.bits() as usize / 8);
        let (start, (bytes, _)) = (places[v.name], size(v)?);
        for (i, init) in v.init.iter().enumerate() {
            let bits = match *init {
                Init::Bits(bits) => bits,
                Init::Real(x) if element == 4 => u64::from((x as f32).to_bits()),
                Init::Real(x) => x.to_bits(),
                Init::Address { name, offset, .. } => match names.globals.get(name) {
                    Some(at) => at.wrapping_add(offset as u64),
                    None => return Err(DecodeError::new(v.at, format!("there is no variable `{name}`"))),
                },
            };
            if (i + 1) * element > bytes as usize {
                return Err(DecodeError::new(v.at, format!("`{}` has more initial values than elements", v.name)));
            }
            let at = start + i * element;
            program.globals[at..at + element].copy_from_slice(&bits.to_le_bytes()[..element]);
        }
    }
    Ok(())
}
