//! What is said of the thing under the pointer: its type and shape, what is known of its values, its documentation.

use std::fmt::Write as _;

use super::analysis::{About, Analysis};
use super::kernels::{Kernels, Unit};
use super::stages::StageFile;
use crate::analysis::axis_info::{AxisInfo, MAX_DIVISOR};
use crate::ir::text::marks::Named;
use crate::ir::{Type, Value};
use crate::irgen::index::docs;
use crate::irgen::types::Ty;
use crate::irgen::{Docs, Leads, Sight};
use crate::layout;
use crate::source::Span;

/// The text for an offset, in Markdown, with the place that it is about.
#[must_use]
pub(super) fn hover(a: &Analysis, offset: u32) -> Option<(String, Span)> {
    match &a.about {
        About::Kernels(k) => in_kernels(a, k, offset),
        About::Stage(stage) => in_stage(a, stage, offset),
        About::Nothing => None,
    }
}

fn in_kernels(a: &Analysis, k: &Kernels, offset: u32) -> Option<(String, Span)> {
    let used = k.index.at(offset);
    let (mut lines, mut said) = (vec![], None);
    let mut place = used.map(|u| u.span);
    for unit in &k.units {
        let Some((span, seen)) = sights(unit, used.map(|u| u.span), a.span(offset, offset)) else { continue };
        place = place.or(Some(span));
        for sight in seen {
            match sight {
                Sight::Builtin(b) => said = said.or(Some(docs::of_builtin(b))),
                Sight::Function(at) => said = said.or_else(|| docs::function_at(&a.sources, *at)),
                other => {
                    let text = described(unit, other);
                    if !lines.iter().any(|(_, t)| *t == text) {
                        lines.push((unit.name.as_str(), text));
                    }
                }
            }
        }
    }
    let place = place?;
    let said = said.or_else(|| used.and_then(|u| docs::docs(&a.sources, &u.leads)));
    let mut text = String::new();
    let name = a.sources.text(place);
    let name = if name.contains('\n') || name.len() > 60 { "this" } else { name };
    // What differs between kernels is said with their names.
    let several = lines.len() > 1 && lines.iter().any(|(unit, _)| *unit != lines[0].0);
    for (unit, (ty, facts)) in lines {
        let of = if several { format!("  # in {unit}") } else { String::new() };
        let _ = write!(text, "```python\n{name}: {ty}{of}\n```\n");
        if !facts.is_empty() {
            let _ = write!(text, "{facts}\n\n");
        }
    }
    if let Some(Docs { signature, text: body }) = said {
        let _ = write!(text, "```python\n{signature}\n```\n{body}\n");
    } else if text.is_empty() && used.is_some_and(|u| matches!(u.leads, Leads::Local(_))) {
        let _ = write!(
            text,
            "```python\n{name}\n```\na local name; its type is not known without those of the parameters\n"
        );
    }
    (!text.is_empty()).then_some((text, place))
}

/// What was seen at a name, or else of the smallest expression around a place.
fn sights(unit: &Unit, name: Option<Span>, at: Span) -> Option<(Span, &[Sight])> {
    let Some(name) = name else {
        let around = |(span, _): &(Span, &[Sight])| span.file == at.file && span.lo <= at.lo && at.lo < span.hi;
        return unit.sights.places().filter(around).min_by_key(|(span, _)| span.hi - span.lo);
    };
    let exact = unit.sights.at(name);
    if !exact.is_empty() {
        return Some((name, exact));
    }
    // The member of a path: `x.shape` is an expression, `shape` is none.
    let member = |(span, _): &(Span, &[Sight])| span.hi == name.hi && span.lo < name.lo && span.file == name.file;
    unit.sights.places().filter(member).min_by_key(|(span, _)| span.hi - span.lo)
}

fn described(unit: &Unit, sight: &Sight) -> (String, String) {
    match sight {
        Sight::Tensor(ty, value) => (ty.to_string(), facts(unit, *ty, *value)),
        Sight::Known(text) => (format!("constexpr = {text}"), String::new()),
        Sight::Other(text) => (text.clone(), String::new()),
        Sight::Builtin(_) | Sight::Function(_) => (String::new(), String::new()),
    }
}

/// What is known of a value along its axes.
fn facts(unit: &Unit, ty: Ty, value: Value) -> String {
    let Some(info) = unit.axis().and_then(|(_, axis)| axis.get(value).cloned()) else { return String::new() };
    let AxisInfo { contiguity, divisibility, constancy, constant } = info;
    let mut facts = vec![];
    if let Some(n) = constant {
        facts.push(format!("always {n}"));
    }
    let rank = divisibility.len();
    for axis in 0..rank {
        let mut of_axis = vec![];
        match divisibility[axis] {
            1 => {}
            n if n >= MAX_DIVISOR => of_axis.push("zero".to_owned()),
            n if ty.dtype.is_ptr() => of_axis.push(format!("aligned to {n} bytes")),
            n => of_axis.push(format!("divisible by {n}")),
        }
        if contiguity[axis] > 1 {
            of_axis.push(format!("{} contiguous", contiguity[axis]));
        }
        if constancy[axis] > 1 {
            of_axis.push(format!("{} equal", constancy[axis]));
        }
        if !of_axis.is_empty() && constant.is_none() {
            let along = if rank > 1 { format!("axis {axis}: ") } else { String::new() };
            facts.push(format!("{along}{}", of_axis.join(", ")));
        }
    }
    facts.join("; ")
}

fn in_stage(a: &Analysis, stage: &StageFile, offset: u32) -> Option<(String, Span)> {
    let mark = stage.at(offset)?;
    let name = a.sources.text(mark.span);
    let text = match mark.what {
        Named::Value(value) => {
            let ty = stage.ir.ty(value);
            format!("```mlir\n{name} : {ty}\n```\n{}", layout_of(ty))
        }
        Named::Attr(attr) => format!("```mlir\n{name} = {attr}\n```\n"),
        Named::Type(ty) => format!("```mlir\n{name} = {ty}\n```\n{}", layout_of(ty)),
        Named::Block(block) => {
            let types: Vec<String> = stage.ir.args(block).iter().map(|&v| stage.ir.ty(v).to_string()).collect();
            format!("```mlir\n{name}({})\n```\n", types.join(", "))
        }
    };
    Some((text, mark.span))
}

/// How a tensor lies in registers or in memory.
fn layout_of(ty: Type) -> String {
    let Some(encoding) = ty.encoding() else { return String::new() };
    let mut text = format!("\n```mlir\n{encoding}\n```\n");
    let Ok(linear) = layout::try_to_linear_layout(ty.shape(), encoding) else { return text };
    let sizes: Vec<String> = linear.in_sizes().iter().map(|(d, size)| format!("{size} {d}s")).collect();
    let _ = writeln!(text, "{}", sizes.join(" × "));
    if ty.is_tensor() {
        let (all, unique) = (layout::elems_per_thread(ty), layout::unique_elems_per_thread(ty));
        let copies = if unique < all { format!(", {unique} without copies") } else { String::new() };
        let _ = write!(text, "\n{all} elements a thread{copies}\n");
    }
    let _ = write!(text, "\n```\n{linear}\n```\n");
    text
}
