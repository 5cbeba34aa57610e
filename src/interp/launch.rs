//! Running the programs of a grid.
//!
//! 1. The module is verified, the arguments are checked against the parameters and their promises.
//! 2. If the plan allows it, programs run on several threads, taken in order from a counter. A fault of program P lets the programs before P
//!    finish and stops the rest, so the fault that is reported is always that of the first faulting program.
//! 3. Which two programs of a race meet first depends on timing. When one is found, memory is put back and the launch repeated in order, so
//!    that the report does not depend on it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::access::Shared;
use super::fault::{self, Fault};
use super::memory::{Memory, base};
use super::numbers;
use super::ops::block;
use super::plan::{Plan, plan};
use super::program::{Outcome, Program};
use super::races::History;
use super::value::Val;
use super::{Arg, Options, Report};
use crate::diag::Diagnostic;
use crate::diag::codes::interp as codes;
use crate::ir::{Attr, AttrData, Ir, Op, TtOp, Type, TypeData};

/// Runs every program of `grid` (x, y, z) of the kernel and leaves the results in `memory`.
///
/// The first fault, by program and then by time, ends the launch; memory then holds what was stored until then.
pub fn run(ir: &Ir, kernel: &str, grid: [u32; 3], args: &[Arg], memory: &mut Memory, options: &Options) -> Result<Report, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = crate::ir::verify::verify(ir).into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let function = find_kernel(ir, kernel).map_err(|d| vec![*d])?;
    let args = arguments(ir, function, args, memory)?;
    let programs = u64::from(grid[0]) * u64::from(grid[1]) * u64::from(grid[2]);
    if programs >= u64::from(u32::MAX) {
        return Err(vec![Diagnostic::error(
            &codes::BAD_ARGUMENTS,
            format!("the grid has {programs} programs, and the interpreter takes less than 2^32"),
        )]);
    }
    let plan = plan(ir, function);
    if let Some(op) = plan.too_wide {
        let message = format!("the interpreter cannot run `{}`: its elements are wider than 64 bits", ir.op_name(op));
        return Err(vec![fault::at(ir, op, &codes::UNSUPPORTED_OP, message, "this operation")]);
    }
    let launch = Launch { ir, function, grid, args: &args, memory, options, plan: &plan, programs };
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        n => n,
    };
    let threads = threads.min(programs as usize);
    if !plan.parallel || threads <= 1 {
        return launch.run_with(1).map_err(|d| vec![*d]);
    }
    let snapshot = options.checks.races.then(|| memory.snapshot());
    let result = launch.run_with(threads);
    match (result, snapshot) {
        (Err(d), Some(snapshot)) if d.code == &codes::RACE || d.code == &codes::OVERLAP => {
            memory.restore(&snapshot);
            // A race in parallel is one in order as well: both rest on the same two accesses.
            launch.run_with(1).map_err(|d| vec![*d])
        }
        (result, _) => result.map_err(|d| vec![*d]),
    }
}

struct Launch<'a> {
    ir: &'a Ir,
    function: Op,
    grid: [u32; 3],
    args: &'a [Val],
    memory: &'a Memory,
    options: &'a Options,
    plan: &'a Plan,
    programs: u64,
}

impl Launch<'_> {
    fn run_with(&self, threads: usize) -> Result<Report, Fault> {
        let history = self.options.checks.races.then(|| History::new(self.memory, self.plan.cell, threads > 1));
        let shared = Shared::new(self.ir, self.memory, self.options, self.plan, self.grid, history);
        let (next, stop) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let outcomes: Mutex<Vec<(u64, Result<Outcome, Fault>)>> = Mutex::new(vec![]);
        let worker = || {
            let mut program = Program::new(&shared);
            let mut mine = vec![];
            loop {
                let id = next.fetch_add(1, Relaxed);
                if id >= self.programs || id > stop.load(Relaxed) {
                    break;
                }
                let result = program.run(self.function, id as u32, self.args);
                if result.is_err() {
                    stop.fetch_min(id, Relaxed);
                }
                if let Some(p) = &self.options.progress {
                    p.fetch_add(1, Relaxed);
                }
                mine.push((id, result));
            }
            outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append(&mut mine);
        };
        if threads == 1 {
            worker();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(worker);
                }
            });
        }
        let mut outcomes = outcomes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        outcomes.sort_by_key(|&(id, _)| id);
        let mut report = Report { programs: self.programs, parallel: threads > 1, ..Report::default() };
        for (_, outcome) in outcomes {
            let outcome = outcome?;
            report.printed.extend(outcome.printed);
            report.traced.extend(outcome.traced);
            report.ops += outcome.ops;
        }
        Ok(report)
    }
}

/// The function of this name, if it is a kernel.
pub(crate) fn find_kernel(ir: &Ir, name: &str) -> Result<Op, Fault> {
    let function = ir.function(name).filter(|&f| ir.is(f, TtOp::Func) && ir.body(f, 0).is_some());
    function.ok_or_else(|| {
        let known = super::kernels(ir);
        let d = Diagnostic::error(&codes::NO_KERNEL, format!("the module has no kernel `{name}`"));
        Box::new(if known.is_empty() { d } else { d.help(format!("the kernels are: {}", known.join(", "))) })
    })
}

/// The values of the parameters.
fn arguments(ir: &Ir, function: Op, args: &[Arg], memory: &Memory) -> Result<Vec<Val>, Vec<Diagnostic>> {
    let params = ir.body(function, 0).map(|b| ir.args(b)).unwrap_or_default();
    let kernel = ir.str_attr(function, "sym_name").unwrap_or_default();
    if params.len() != args.len() {
        let message = format!("kernel `{kernel}` has {} parameters, and there are {} arguments", params.len(), args.len());
        return Err(vec![fault::at(ir, function, &codes::BAD_ARGUMENTS, message, "this kernel")]);
    }
    let mut out = vec![];
    let mut errors = vec![];
    for (i, (&param, &arg)) in params.iter().zip(args).enumerate() {
        let name = ir.value_loc(param).value_name().map_or_else(|| format!("parameter {i}"), |n| format!("parameter `{n}`"));
        let checked = argument(ir.ty(param), arg, memory).and_then(|v| keeps_promise(ir, function, i, v.scalar()).map(|()| v));
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
    if errors.is_empty() { Ok(out) } else { Err(errors) }
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
        (&TypeData::Float(kind), Arg::Float(v)) => Ok(Val::splat(numbers::round_to(kind, v, numbers::Rounding::NearestEven))),
        (&TypeData::Float(kind), Arg::Int(v)) => Ok(Val::splat(numbers::from_int(kind, i128::from(v)))),
        (_, Arg::Ptr(..)) => Err(format!("expected a value of type {ty}, found a buffer")),
        (_, Arg::Desc(..)) => Err(format!("expected a value of type {ty}, found a tensor descriptor")),
        (_, Arg::Int(v)) => Err(format!("expected a value of type {ty}, found the integer {v}")),
        (_, Arg::Float(v)) => Err(format!("expected a value of type {ty}, found the float {v}")),
    }
}

/// Checks `tt.divisibility` of a parameter.
fn keeps_promise(ir: &Ir, function: Op, index: usize, value: u64) -> Result<(), String> {
    let attrs = ir.attr(function, "arg_attrs").and_then(|a| match a.data() {
        AttrData::Array(items) => items.get(index).copied(),
        _ => None,
    });
    let Some(AttrData::Dict(entries)) = attrs.map(Attr::data) else { return Ok(()) };
    let promised = entries.iter().find(|(n, _)| n.as_str() == "tt.divisibility").and_then(|(_, a)| a.as_int());
    match promised {
        Some(d) if d > 0 && !value.is_multiple_of(d as u64) => {
            Err(format!("the signature promises a multiple of {d}, and the argument is {}", value & 0xff_ffff_ffff))
        }
        _ => Ok(()),
    }
}
