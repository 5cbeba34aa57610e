//! The parameters of a kernel that no caller passes, and among them the tensor maps that a launch makes of the others
//! (`--tma host`).
//!
//! 1. A parameter with the attribute [`ArrayMap`] becomes a [`launch::ArrayMap`] of the launch descriptor: its extents
//!    and strides are expressions over the arguments under their names ([`Map::value`]).
//! 2. The metadata lists all hidden parameters once more for launchers that know no descriptor ([`Hidden`]). There `p3`
//!    is the parameter with the number 3 in `params`, and expressions are Python's, without functions.
//!
//! Example: the array of `K` rows and `N` columns of fp16 with `stride` elements from one row to the next has the
//! extents `["p5 if p5 > 1 else 1", …]`, the innermost axis first, and the strides `["p6 * 2"]` in bytes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::metadata::{Param, TensorDesc};
use crate::diag::Diagnostic;
use crate::diag::codes::cli;
use crate::ir::dialects::array_map::{ArrayMap, FARTHEST, Sum, Term};
use crate::ir::{Ir, Op, Value};
use crate::launch::grid::{Expr, Operator};
use crate::launch::{self, Descriptor, TensorMap};
use crate::layout::encodings::tma_block;

/// A tensor map that a launch makes, as final TTGIR has it.
#[derive(Clone, Debug)]
pub(super) struct Map {
    array: ArrayMap,
    /// How it is encoded.
    encoding: TensorMap,
    /// The function's parameters that have at most 32 bits.
    narrow: BTreeSet<u32>,
}

/// The tensor maps that the launch of a kernel makes, in order.
pub(super) fn maps(ir: &Ir, kernel: Op) -> Vec<Map> {
    let Some(entry) = ir.body(kernel, 0) else { return vec![] };
    let args = ir.args(entry).iter().enumerate();
    let is_narrow = |a: Value| ir.ty(a).bit_width().is_some_and(|w| w <= 32);
    let narrow: BTreeSet<u32> = (0..).zip(ir.args(entry)).filter(|(_, a)| is_narrow(**a)).map(|(n, _)| n).collect();
    let map = |(index, &arg)| {
        let array = ArrayMap::of_parameter(ir, kernel, index)?;
        let encoding = TensorMap::from(&TensorDesc::from(tma_block(ir.ty(arg)).ok()?));
        Some(Map { array, encoding, narrow: narrow.clone() })
    };
    args.filter_map(map).collect()
}

impl Map {
    /// The number of the pointer that the array starts at.
    pub(super) fn base(&self) -> usize {
        self.array.base as usize
    }

    /// What the parameter holds. `names` are the arguments that the function's parameters stand for; parts of
    /// descriptors have none.
    ///
    /// # Errors
    /// `E0941` if a launch cannot compute it.
    pub(super) fn value(&self, names: &[Option<&str>]) -> Result<launch::Value, Diagnostic> {
        let name = |number: u32| {
            let name = names.get(number as usize).copied().flatten();
            let readable = name.filter(|n| Expr::read(n) == Ok(Expr::Argument((*n).to_owned())));
            readable.map(str::to_owned).ok_or_else(|| unnamed(name))
        };
        let Map { array, encoding, narrow } = self;
        let extent = |sums: &Vec<Sum>| extent(sums, narrow, &name).map(|e| e.to_string());
        let extents = array.extents.iter().map(extent).collect::<Result<_, _>>()?;
        let strides = array.strides.iter().map(|s| sum(s, &name).map(|e| e.to_string())).collect::<Result<_, _>>()?;
        let (base, map) = (name(array.base)?, encoding.clone());
        Ok(launch::Value::ArrayMap(launch::ArrayMap { base, extents, strides, map }))
    }
}

fn unnamed(name: Option<&str>) -> Diagnostic {
    let what = match name {
        Some(name) => format!("the name of the parameter `{}` cannot stand in an expression", name.escape_debug()),
        None => "they depend on a part of a tensor descriptor".to_owned(),
    };
    Diagnostic::error(&cli::NO_LAUNCH, format!("a launch cannot compute the tensor maps of the kernel: {what}"))
        .help("compile with `--tma device`, or start from the kernel")
}

/// The least of the sums, from 1 to as far as coordinates reach.
fn extent(
    sums: &[Sum],
    narrow: &BTreeSet<u32>,
    name: &impl Fn(u32) -> Result<String, Diagnostic>,
) -> Result<Expr, Diagnostic> {
    let is_near = |s: &Sum| match &s.0[..] {
        [Term { coefficient: 1, factors }] => factors.len() == 1 && narrow.contains(&factors[0]),
        [Term { coefficient, factors }] => factors.is_empty() && *coefficient <= FARTHEST,
        _ => false,
    };
    let mut least = if sums.iter().any(is_near) { None } else { Some(Expr::Int(FARTHEST)) };
    for s in sums {
        let e = sum(s, name)?;
        least = Some(match least {
            Some(so_far) => of_two(Operator::Min, so_far, e),
            None => e,
        });
    }
    Ok(of_two(Operator::Max, least.unwrap_or(Expr::Int(FARTHEST)), Expr::Int(1)))
}

fn sum(sum: &Sum, name: &impl Fn(u32) -> Result<String, Diagnostic>) -> Result<Expr, Diagnostic> {
    let mut all: Option<Expr> = None;
    for Term { coefficient, factors } in &sum.0 {
        let mut product: Option<Expr> = None;
        for &factor in factors {
            let factor = Expr::Argument(name(factor)?);
            product = Some(product.map_or(factor.clone(), |p| of_two(Operator::Mul, p, factor)));
        }
        let term = match product {
            Some(p) if *coefficient == 1 => p,
            Some(p) => of_two(Operator::Mul, p, Expr::Int(*coefficient)),
            None => Expr::Int(*coefficient),
        };
        all = Some(all.map_or(term.clone(), |a| of_two(Operator::Add, a, term)));
    }
    Ok(all.unwrap_or(Expr::Int(0)))
}

/// The value where both are known, else the expression.
fn of_two(op: Operator, a: Expr, b: Expr) -> Expr {
    match (&a, &b) {
        (Expr::Int(x), Expr::Int(y)) => op.apply(*x, *y).map(Expr::Int),
        _ => None,
    }
    .unwrap_or_else(|| Expr::Binary(op, Box::new(a), Box::new(b)))
}

/// A parameter that follows the kernel's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Hidden {
    /// A `CUtensorMap` by value: what `cuTensorMapEncodeTiled` takes, the innermost axis first.
    TensorMap {
        /// The number in `params` of the pointer that the array starts at.
        base: usize,
        /// `CUtensorMapDataType`
        elem_type: u32,
        /// In elements.
        extents: Vec<Number>,
        /// In bytes, without that of the innermost axis.
        strides: Vec<Number>,
        /// In elements.
        #[serde(rename = "box")]
        box_dim: Vec<u32>,
        /// `CUtensorMapSwizzle`
        swizzle: u32,
        /// `CUtensorMapL2promotion`
        l2: u32,
        /// `CUtensorMapFloatOOBfill`
        fill: u32,
    },
    /// The address of scratch memory in global memory.
    Scratch,
    /// A null pointer.
    Null,
}

/// A number, or an expression over the parameters p0, p1, …
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Known(i64),
    Computed(String),
}

/// The hidden parameters of a launch, if tensor maps are among them.
pub(super) fn of_launch(launch: &Descriptor, params: &[Param]) -> Vec<Hidden> {
    let taken: Vec<&str> = params.iter().filter(|p| p.equals.is_none()).map(|p| &*p.name).collect();
    let number = |name: &str| taken.iter().position(|n| *n == name).unwrap_or(usize::MAX);
    let hidden = |value: &launch::Value| match value {
        launch::Value::ArrayMap(array) => Some(tensor_map(array, &number)),
        launch::Value::GlobalScratch { .. } => Some(Hidden::Scratch),
        launch::Value::ProfileScratch => Some(Hidden::Null),
        _ => None,
    };
    let all: Vec<Hidden> = launch.parameters.iter().filter_map(|p| hidden(&p.value)).collect();
    if all.iter().any(|h| matches!(h, Hidden::TensorMap { .. })) { all } else { vec![] }
}

fn tensor_map(array: &launch::ArrayMap, number: &impl Fn(&str) -> usize) -> Hidden {
    let [extents, strides] = array.expressions().unwrap_or_default();
    let map = &array.map;
    let numbers = |all: Vec<Expr>, scale: i64| {
        let scaled = |e: Expr| of_two(Operator::Mul, e, Expr::Int(scale));
        let one = |e: Expr| match if scale == 1 { e } else { scaled(e) } {
            Expr::Int(n) => Number::Known(n),
            e => Number::Computed(python(&e, number)),
        };
        all.into_iter().rev().map(one).collect()
    };
    Hidden::TensorMap {
        base: number(&array.base),
        elem_type: map.data_type,
        extents: numbers(extents, 1),
        strides: numbers(strides, i64::from(map.element_bytes)),
        box_dim: map.box_dim.clone(),
        swizzle: map.swizzle,
        l2: map.l2_promotion,
        fill: map.fill,
    }
}

/// An expression of Python without functions. Its operands are in parentheses unless they are names or numbers.
fn python(e: &Expr, number: &impl Fn(&str) -> usize) -> String {
    let inner = |e: &Expr| match e {
        Expr::Binary(..) => format!("({})", python(e, number)),
        _ => python(e, number),
    };
    match e {
        Expr::Int(n) if *n < 0 => format!("({n})"),
        Expr::Int(n) => n.to_string(),
        Expr::Argument(name) => format!("p{}", number(name)),
        Expr::Binary(op, a, b) => {
            let (a, b) = (inner(a), inner(b));
            match op {
                Operator::Add => format!("{a} + {b}"),
                Operator::Sub => format!("{a} - {b}"),
                Operator::Mul => format!("{a} * {b}"),
                Operator::Div => format!("{a} // {b}"),
                Operator::Mod => format!("{a} % {b}"),
                Operator::Cdiv => format!("-(-{a} // {b})"),
                Operator::Min => format!("{a} if {a} < {b} else {b}"),
                Operator::Max => format!("{a} if {a} > {b} else {b}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_those_of_python_over_numbered_parameters() {
        let of = |text: &str| python(&Expr::read(text).unwrap(), &|name| usize::from(name == "n"));
        assert_eq!(of("max(n, 1)"), "p1 if p1 > 1 else 1");
        assert_eq!(of("max(min(n, m), 1)"), "(p1 if p1 < p0 else p0) if (p1 if p1 < p0 else p0) > 1 else 1");
        assert_eq!(of("cdiv(n, m) * 2 - 3"), "((-(-p1 // p0)) * 2) - 3");
        assert_eq!(of("n + m * (0 - 4)"), "p1 + (p0 * (-4))");
    }
}
