//! The tables of `ttc_rt::spec` for a program that was compiled while ttc runs.
//!
//! `ttc-rt` launches what its tables say, and its tables live as long as the process, because a launcher that was
//! printed holds them as constants. Here they are made on the heap and never freed. A process makes one for each
//! program that it loads, so they take no more memory than the cubins of one command.
//!
//! A descriptor may come from a file, so it is checked before it becomes a table: every size and number must be in its
//! range.

use ttc_rt::{Promise, spec};

use super::program::Program;
use crate::launch::grid::{Expr, Operator};
use crate::launch::{Argument, ArrayMap, Descriptor, Parameter, TensorMap, Value, descriptor_rank};
use crate::target::{RunsOn, Target};

/// The bytes that the parameters of a kernel may take, on any GPU (CUDA C++ Programming Guide, "Function Parameters").
pub const MAX_PARAMETER_BYTES: usize = 32_768;

/// Makes the table of a program, under the name of its kernel. It is never freed.
///
/// # Errors
/// Says what is wrong with the descriptor, or with the architecture that the program names.
pub fn table(name: &str, program: &Program, gpu: Target) -> Result<&'static spec::Kernel, String> {
    let d = &program.descriptor;
    let target = match &program.arch {
        Some(arch) => Target::parse(arch).map_err(|e| e.message)?,
        // Whoever did not say it made the code for the GPU that is there.
        None => gpu,
    };
    let runs_on = match target.runs_on() {
        RunsOn::Capability { exact, major, minor } => spec::RunsOn::Capability { major, minor, exact },
        RunsOn::Processor(name) => spec::RunsOn::Processor(name),
    };
    let promises: Vec<(usize, Promise)> =
        d.arguments.iter().enumerate().filter_map(|(n, a)| promise(a).map(|p| (n, p))).collect();
    let parameters = d.parameters.iter().map(|p| parameter(d, p)).collect::<Result<Vec<_>, _>>()?;
    let variant = spec::Variant {
        arch: target.name,
        runs_on,
        symbol: leak(&d.symbol),
        threads: d.threads,
        shared: d.shared,
        cluster: d.cluster,
        // The grid of a case is known, so no table has it.
        grid: None,
        promises: Box::leak(promises.into_boxed_slice()),
        parameters: Box::leak(parameters.into_boxed_slice()),
        image: program.image.clone().leak(),
    };
    let arguments: Vec<&'static str> = d.arguments.iter().map(|a| leak(&a.name)).collect();
    Ok(Box::leak(Box::new(spec::Kernel {
        name: leak(name),
        arguments: Box::leak(arguments.into_boxed_slice()),
        variants: Box::leak(Box::new([variant])),
    })))
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn promise(a: &Argument) -> Option<Promise> {
    let divisor = a.divisible_by.filter(|&d| d > 1).map(Promise::DivisibleBy);
    a.equals.map(Promise::Equals).or(divisor)
}

/// The parameter of a table, checked against the arguments.
fn parameter(d: &Descriptor, p: &Parameter) -> Result<spec::Parameter, String> {
    let number = |name: &str| {
        let found = d.arguments.iter().position(|a| a.name == name);
        found.ok_or_else(|| format!("a parameter holds `{name}`, which is no argument"))
    };
    let axis = |name: &str, axis: u32| {
        let of = &d.arguments[number(name)?];
        match descriptor_rank(&of.ty) {
            Some(rank) if axis < rank => Ok(axis as usize),
            _ => Err(format!("`{name}` has no axis {axis}")),
        }
    };
    let value = match &p.value {
        Value::Argument { argument } => spec::Value::Argument(number(argument)?),
        Value::TensorMap { argument } => {
            let n = number(argument)?;
            let map = d.arguments[n].tensor_map.as_ref();
            spec::Value::TensorMap(n, recipe(map.ok_or_else(|| format!("nothing says how `{argument}` is encoded"))?)?)
        }
        Value::Base { argument } => spec::Value::Base(number(argument)?),
        Value::Extent { argument, axis: a } => spec::Value::Extent(number(argument)?, axis(argument, *a)?),
        Value::Stride { argument, axis: a } => spec::Value::Stride(number(argument)?, axis(argument, *a)?),
        Value::PadsWithNan { argument } => spec::Value::PadsWithNan(number(argument)?),
        Value::RoundsToTf32 { argument } => spec::Value::RoundsToTf32(number(argument)?),
        Value::ArrayMap(array) => spec::Value::ArrayMap(array_map(array, &number)?),
        Value::GlobalScratch { bytes_per_block, memory_align } => spec::Value::GlobalScratch {
            bytes_per_block: u64::from(*bytes_per_block),
            memory_align: u64::from(*memory_align),
        },
        Value::ProfileScratch => spec::Value::ProfileScratch,
    };
    let (offset, size) = (p.offset as usize, p.size as usize);
    let fits = match value {
        spec::Value::TensorMap(..) | spec::Value::ArrayMap(_) => size == 128 && offset.is_multiple_of(64),
        _ => matches!(size, 1 | 2 | 4 | 8) && offset.is_multiple_of(size),
    };
    if !fits || offset + size > MAX_PARAMETER_BYTES {
        return Err(format!("a parameter of {size} bytes at {offset} cannot be"));
    }
    Ok(spec::Parameter { value, offset, size })
}

fn array_map(
    array: &ArrayMap,
    number: &impl Fn(&str) -> Result<usize, String>,
) -> Result<&'static spec::ArrayMap, String> {
    let lists = array.expressions()?.map(|list| {
        let list = list.iter().map(|e| expression(e, number)).collect::<Result<Vec<_>, _>>();
        list.map(|l| &*Box::leak(l.into_boxed_slice()))
    });
    let [extents, strides] = lists;
    Ok(Box::leak(Box::new(spec::ArrayMap {
        base: number(&array.base)?,
        extents: extents?,
        strides: strides?,
        recipe: recipe(&array.map)?,
        words: leak(&array.words()),
    })))
}

fn expression(e: &Expr, number: &impl Fn(&str) -> Result<usize, String>) -> Result<ttc_rt::Expr, String> {
    let leaked = |e: &Expr| expression(e, number).map(|e| &*Box::leak(Box::new(e)));
    Ok(match e {
        Expr::Int(value) => ttc_rt::Expr::Int(*value),
        Expr::Argument(name) => ttc_rt::Expr::Argument(number(name)?),
        Expr::Binary(op, a, b) => {
            let make = match op {
                Operator::Add => ttc_rt::Expr::Add,
                Operator::Sub => ttc_rt::Expr::Sub,
                Operator::Mul => ttc_rt::Expr::Mul,
                Operator::Div => ttc_rt::Expr::Div,
                Operator::Mod => ttc_rt::Expr::Mod,
                Operator::Cdiv => ttc_rt::Expr::Cdiv,
                Operator::Min => ttc_rt::Expr::Min,
                Operator::Max => ttc_rt::Expr::Max,
            };
            make(leaked(a)?, leaked(b)?)
        }
    })
}

fn recipe(map: &TensorMap) -> Result<&'static spec::Recipe, String> {
    let lists = [&map.box_dim, &map.element_strides];
    if !(1..=5).contains(&map.rank) || lists.iter().any(|l| l.len() != map.rank as usize) {
        return Err(format!("a tensor map of {} axes has {} sizes of its box", map.rank, map.box_dim.len()));
    }
    let [box_dim, element_strides] = lists.map(|l| &*Box::leak(l.clone().into_boxed_slice()));
    Ok(Box::leak(Box::new(spec::Recipe {
        data_type: map.data_type as i32,
        element_bytes: map.element_bytes,
        box_dim,
        element_strides,
        interleave: map.interleave as i32,
        swizzle: map.swizzle as i32,
        l2_promotion: map.l2_promotion as i32,
        fill: map.fill as i32,
        packed: map.packed,
    })))
}
