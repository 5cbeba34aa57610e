//! Runs the programs of a grid.
//!
//! 1. The module is verified, and the arguments are checked against the parameters and their promises.
//! 2. If nothing in the kernel forbids it, programs run on several threads, taken in order from a counter. A fault of
//!    program P lets the programs before P finish and stops the rest, so the fault that is reported is always that of
//!    the first faulting program. Where several faults are looked for, those that a program can survive are collected,
//!    and the launch ends soon after the first one that had any.
//! 3. Which two programs of a race meet first depends on timing. When a race is found, memory is put back and the
//!    launch is repeated in order, so that the report does not depend on timing.

use crate::ir::dialects::array_map::ArrayMap;
use crate::ir::dialects::discardable::DIVISIBILITY;
use crate::ir::dialects::tt::tt::Func;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::fault::{self, Fault};
use super::kernel_facts::{KernelFacts, learn};
use super::kernels::{Arg, find_kernel};
use super::lines::All;
use super::memory::{Memory, base};
use super::numbers;
use super::ops::block;
use super::ops::dispatch::FAMILIES;
use super::options::RunOptions;
use super::program::Program;
use super::races::History;
use super::report::{Printed, Report, Traced};
use super::shared::Shared;
use super::value::Val;
use crate::diag::codes::interp as codes;
use crate::diag::{Code, Diagnostic};
use crate::ir::{Attr, Ir, Op, Type, TypeData};

/// How much work programs may still do after the first one with a fault, where several faults are looked for. It is
/// shared among as many programs as do this work together if they are like that one, and no more than a thousand.
const GO_ON: u64 = 1 << 24;

fn go_on(work: u64) -> u64 {
    (GO_ON / work.max(1)).clamp(1, 1000)
}

/// Faults that may look otherwise when programs run at the same time, because they rest on what another program has
/// done so far.
const TIMED: [&Code; 4] = [&codes::RACE, &codes::OVERLAP, &codes::UNINITIALISED, &codes::TOO_LONG];

/// Runs every program of `grid` (x, y, z) of the kernel and leaves the results in `memory`.
///
/// The first fault, by program and then by time, ends the launch; memory then holds what was stored until then. With
/// [`RunOptions::max_faults`] above 1, the launch goes on where it can and gives the first fault of each place.
pub fn run(
    ir: &Ir,
    kernel: &str,
    grid: [u32; 3],
    args: &[Arg],
    memory: &mut Memory,
    options: &RunOptions,
) -> Result<Report, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = crate::ir::verify::verify(ir).into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let function = find_kernel(ir, kernel).map_err(|d| vec![*d])?;
    let args = arguments(ir, function, args, memory)?;
    let programs = programs(grid).map_err(|d| vec![*d])?;
    let facts = learn(ir, function, options.checks);
    if let Some(op) = facts.too_wide {
        let message = format!("the interpreter cannot run `{}`: its elements are wider than 64 bits", ir.op_name(op));
        return Err(vec![fault::at(ir, op, &codes::UNSUPPORTED_OP, message, "this operation")]);
    }
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        n => n,
    };
    let threads = if facts.parallel { threads.min(programs as usize).min(MAX_THREADS) } else { 1 };
    let room = room(memory, &facts, options, threads).map_err(|d| vec![*d])?;
    let launch = Launch { ir, function, grid, args: &args, memory, options, facts: &facts, programs, room };
    let snapshot = (threads > 1 && options.checks.races).then(|| memory.snapshot());
    let result = launch.run_with(threads);
    match (result, snapshot) {
        (Err(found), Some(snapshot)) if found.iter().any(|d| TIMED.contains(&d.code)) => {
            memory.restore(&snapshot);
            // A race in parallel is a race in order as well, because both rest on the same two accesses.
            launch.run_with(1)
        }
        (result, _) => result,
    }
}

/// The most threads to use. More of them gain nothing.
const MAX_THREADS: usize = 256;

/// The number of programs in a grid.
///
/// # Errors
/// `E1003` if there are 2^32 or more.
pub fn programs(grid: [u32; 3]) -> Result<u64, Box<Diagnostic>> {
    let count: u128 = grid.iter().map(|&g| u128::from(g)).product();
    u64::try_from(count).ok().filter(|&n| n < u64::from(u32::MAX)).ok_or_else(|| {
        Box::new(Diagnostic::error(
            &codes::BAD_ARGUMENTS,
            format!("the grid has {count} programs, and the interpreter takes less than 2^32"),
        ))
    })
}

/// The bytes that are left for the values of each thread, after the buffers and what the checks remember of them.
fn room(memory: &Memory, facts: &KernelFacts, options: &RunOptions, threads: usize) -> Result<u64, Box<Diagnostic>> {
    let buffers = memory.size();
    let mut needed = buffers;
    if options.checks.races {
        let cells: u64 = memory.buffers.iter().map(|b| (b.len as u64).div_ceil(facts.cell as u64)).sum();
        needed += if threads > 1 { memory.snapshot_size() + 8 * cells } else { 16 * cells };
    }
    if let Some(left) = options.max_memory.checked_sub(needed) {
        return Ok(left / threads as u64);
    }
    let limit = options.max_memory;
    let message = format!(
        "the launch takes {needed} bytes of memory, {buffers} of them for buffers, and at most {limit} are allowed"
    );
    let help = "`--max-memory SIZE` raises the limit; without `races` in `--check` less is needed";
    Err(Box::new(Diagnostic::error(&codes::TOO_MUCH_MEMORY, message).help(help)))
}

struct Launch<'a> {
    ir: &'a Ir,
    function: Op,
    grid: [u32; 3],
    args: &'a [Val],
    memory: &'a Memory,
    options: &'a RunOptions,
    facts: &'a KernelFacts,
    programs: u64,
    /// How many bytes the values of one program may take.
    room: u64,
}

/// What the threads of a launch leave.
struct Ended {
    /// The number of the last program that counts.
    stop: AtomicU64,
    ops: AtomicU64,
    printed: All<String>,
    traced: All<Traced>,
    /// The first program that could not go on, with its fault.
    fatal: Mutex<Option<(u64, Fault)>>,
}

impl Launch<'_> {
    fn run_with(&self, threads: usize) -> Result<Report, Vec<Diagnostic>> {
        let history = self.options.checks.races.then(|| History::new(self.memory, self.facts.cell, threads > 1));
        let shared = Shared::new(self.ir, self.memory, self.options, self.facts, self.grid, history, self.room);
        let next = AtomicU64::new(0);
        let ended = Ended {
            stop: AtomicU64::new(u64::MAX),
            ops: AtomicU64::new(0),
            printed: All::new(self.options.max_lines),
            traced: All::new(self.options.max_lines),
            fatal: Mutex::new(None),
        };
        if threads == 1 {
            self.work(&shared, &next, &ended);
        } else {
            std::thread::scope(|scope| {
                // If the system does not give a thread, there is one less. This thread works, too.
                for _ in 1..threads {
                    let builder = std::thread::Builder::new();
                    if builder.spawn_scoped(scope, || self.work(&shared, &next, &ended)).is_err() {
                        break;
                    }
                }
                self.work(&shared, &next, &ended);
            });
        }
        self.report(shared, ended, threads)
    }

    /// Runs one program after the other until there are no more.
    fn work(&self, shared: &Shared<'_>, next: &AtomicU64, ended: &Ended) {
        let mut program = Program::new(shared, FAMILIES);
        loop {
            let id = next.fetch_add(1, Relaxed);
            if id >= self.programs || id > ended.stop.load(Relaxed) {
                return;
            }
            match program.run(self.function, id as u32, self.args) {
                Ok(outcome) => {
                    ended.ops.fetch_add(outcome.ops, Relaxed);
                    ended.printed.add(id as u32, outcome.printed);
                    ended.traced.add(id as u32, outcome.traced);
                    if outcome.faulty {
                        ended.stop.fetch_min(id + go_on(outcome.work), Relaxed);
                    }
                }
                Err(fault) => {
                    ended.stop.fetch_min(id, Relaxed);
                    let mut fatal = ended.fatal.lock().unwrap_or_else(PoisonError::into_inner);
                    if fatal.as_ref().is_none_or(|&(first, _)| id < first) {
                        *fatal = Some((id, fault));
                    }
                }
            }
            if let Some(p) = &self.options.progress {
                p.fetch_add(1, Relaxed);
            }
        }
    }

    fn report(&self, shared: Shared<'_>, ended: Ended, threads: usize) -> Result<Report, Vec<Diagnostic>> {
        let last = ended.stop.into_inner();
        let mut faults = shared.faults.take(last);
        let fatal = ended.fatal.into_inner().unwrap_or_else(PoisonError::into_inner);
        faults.extend(fatal.filter(|&(id, _)| id <= last).map(|(_, d)| *d));
        if !faults.is_empty() {
            let more = faults.len().saturating_sub(self.options.max_faults.max(1));
            faults.truncate(self.options.max_faults.max(1));
            if let Some(d) = faults.last_mut().filter(|_| more > 0) {
                d.notes.push(format!("{more} more places have faults: `--max-faults` shows them"));
            }
            return Err(faults);
        }
        let [gx, gy, _] = self.grid;
        let pid = |id: u32| [id % gx, id / gx % gy, id / gx / gy];
        let (printed, printed_more) = ended.printed.take();
        let (traced, traced_more) = ended.traced.take();
        Ok(Report {
            printed: printed.into_iter().map(|(id, text)| Printed { program: pid(id), text }).collect(),
            traced: traced.into_iter().map(|(_, t)| t).collect(),
            printed_more,
            traced_more,
            programs: self.programs,
            ops: ended.ops.into_inner(),
            parallel: threads > 1,
        })
    }
}

/// The values of the parameters.
fn arguments(ir: &Ir, function: Op, args: &[Arg], memory: &Memory) -> Result<Vec<Val>, Vec<Diagnostic>> {
    let params = ir.body(function, 0).map(|b| ir.args(b)).unwrap_or_default();
    let passed = ArrayMap::passed(ir, function);
    let (params, made) = params.split_at(passed);
    let kernel = Func::of(ir, function).and_then(|f| f.sym_name(ir)).unwrap_or_default();
    if params.len() != args.len() {
        let message =
            format!("kernel `{kernel}` has {} parameters, and there are {} arguments", params.len(), args.len());
        return Err(vec![fault::at(ir, function, &codes::BAD_ARGUMENTS, message, "this kernel")]);
    }
    let mut out = vec![];
    let mut errors = vec![];
    for (i, (&param, &arg)) in params.iter().zip(args).enumerate() {
        let name =
            ir.value_loc(param).value_name().map_or_else(|| format!("parameter {i}"), |n| format!("parameter `{n}`"));
        let checked =
            argument(ir.ty(param), arg, memory).and_then(|v| keeps_promise(ir, function, i, v.scalar()).map(|()| v));
        match checked {
            Ok(v) => out.push(v),
            Err(why) => {
                let mut d = Diagnostic::error(&codes::BAD_ARGUMENTS, format!("{name} of kernel `{kernel}`: {why}"));
                if let Some(p) = fault::place(ir.value_loc(param)) {
                    d = d.at(p, "this parameter");
                }
                errors.push(d);
            }
        }
    }
    let integer = |number: u32| match args.get(number as usize) {
        Some(Arg::Int(v)) => Some(*v),
        _ => None,
    };
    for (index, &param) in (passed..).zip(made) {
        let map = ArrayMap::of_parameter(ir, function, index);
        if let Some(value) = map.and_then(|map| array(&map, ir.ty(param), args, &integer)) {
            out.push(value);
            continue;
        }
        let message = format!("the tensor map {index} of kernel `{kernel}` cannot be made of its arguments");
        errors.push(fault::at(ir, function, &codes::BAD_ARGUMENTS, message, "this kernel"));
    }
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

/// A tensor descriptor that the launch makes.
fn array(map: &ArrayMap, ty: Type, args: &[Arg], integer: &impl Fn(u32) -> Option<i64>) -> Option<Val> {
    let Arg::Ptr(id, offset) = *args.get(map.base as usize)? else { return None };
    let extents = (0..ty.rank()).map(|axis| map.extent(axis, integer)).collect::<Option<_>>()?;
    Some(block::described_array(base(id).wrapping_add(offset), ty, extents, map.all_strides(integer)?))
}

fn argument(ty: Type, arg: Arg, memory: &Memory) -> Result<Val, String> {
    match (ty.data(), arg) {
        (TypeData::Pointer { pointee, .. }, Arg::Ptr(id, offset)) if !pointee.is_tensor() => {
            if id.0 as usize >= memory.buffers.len() {
                return Err(format!("there is no buffer number {}", id.0));
            }
            Ok(Val::splat(base(id).wrapping_add(offset)))
        }
        (TypeData::TensorDesc { shape, .. }, Arg::Desc(id, extents)) if shape.len() <= extents.len() => {
            if id.0 as usize >= memory.buffers.len() {
                return Err(format!("there is no buffer number {}", id.0));
            }
            Ok(block::described_tensor(base(id), ty, &extents[..shape.len()]))
        }
        (TypeData::Pointer { .. }, Arg::Int(0)) => Ok(Val::splat(0)),
        (&TypeData::Int(w), Arg::Int(v)) => {
            let (low, high) = (-(1i128 << (w - 1)), 1i128 << w);
            if (low..high).contains(&i128::from(v)) || w == 1 {
                Ok(Val::splat(v as u64 & numbers::mask(w)))
            } else {
                Err(format!("{v} does not fit into {ty}"))
            }
        }
        (&TypeData::Float(kind), Arg::Float(v)) => {
            Ok(Val::splat(numbers::round_to(kind, v, numbers::Rounding::ToNearestEven)))
        }
        (&TypeData::Float(kind), Arg::Int(v)) => Ok(Val::splat(numbers::from_int(kind, i128::from(v)))),
        (_, Arg::Ptr(..)) => Err(format!("expected a value of type {ty}, found a buffer")),
        (_, Arg::Desc(..)) => Err(format!("expected a value of type {ty}, found a tensor descriptor")),
        (_, Arg::Int(v)) => Err(format!("expected a value of type {ty}, found the integer {v}")),
        (_, Arg::Float(v)) => Err(format!("expected a value of type {ty}, found the float {v}")),
    }
}

/// Checks the `tt.divisibility` of a parameter.
fn keeps_promise(ir: &Ir, function: Op, index: usize, value: u64) -> Result<(), String> {
    match ir.param_attr(function, index, DIVISIBILITY).and_then(Attr::as_int) {
        Some(d) if d > 0 && !value.is_multiple_of(d as u64) => {
            Err(format!("the signature promises a multiple of {d}, and the argument is {}", value & 0xff_ffff_ffff))
        }
        _ => Ok(()),
    }
}
