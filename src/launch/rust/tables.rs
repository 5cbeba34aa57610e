//! The tables of `ttc_rt::spec` for a kernel: what a launch does is read from them.

use std::fmt::Write as _;

use super::super::grid::{Expr, Operator};
use super::super::{ArrayMap, Parameter, TensorMap, Value, Variant, one_line};
use super::{Images, Options, Printed, bytes};
use crate::target::RunsOn;

/// Prints the tables.
pub(super) fn print(out: &mut String, k: &Printed<'_>, images: &Images<'_>, options: &Options) {
    let names: Vec<String> = k.fields.iter().map(|f| quoted(&f.argument.name)).collect();
    let _ = write!(
        out,
        "\n    static SPEC: spec::Kernel = spec::Kernel {{\n        \
         name: {},\n        arguments: &[{}],\n        variants: &[\n",
        quoted(&k.kernel.name),
        names.join(", ")
    );
    for v in &k.kernel.variants {
        // Equal images are printed once, under the number of the first variant that has them.
        variant(out, k, v, images[&*v.image]);
    }
    out.push_str("        ],\n    };\n");
    let mut order: Vec<(usize, &[u8])> = images.iter().map(|(image, n)| (*n, *image)).collect();
    order.sort_unstable();
    for (n, image) in order {
        let _ = write!(out, "\n    static IMAGE_{n}: spec::Aligned<[u8; {}]> = spec::Aligned(*", image.len());
        if options.embed {
            bytes::literal(out, image);
        } else {
            let _ = write!(out, "include_bytes!({})", quoted(&k.file(options, n)));
        }
        out.push_str(");\n");
    }
}

fn variant(out: &mut String, k: &Printed<'_>, v: &Variant, image: usize) {
    let d = &v.descriptor;
    let runs_on = match v.runs_on() {
        Some(RunsOn::Capability { exact, major, minor }) => {
            format!("Capability {{ major: {major}, minor: {minor}, exact: {exact} }}")
        }
        Some(RunsOn::Processor(name)) => format!("Processor({})", quoted(name)),
        // An architecture that ttc does not know is one of no GPU.
        None => "Capability { major: 0, minor: 0, exact: true }".to_owned(),
    };
    if !v.constants.is_empty() {
        let constants: Vec<String> = v.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(out, "            // {}", one_line(&constants.join(", ")));
    }
    let promises: Vec<String> = v
        .promises()
        .into_iter()
        .map(|(name, equals, divisor)| {
            let promise = match (equals, divisor) {
                (Some(value), _) => format!("Equals({value})"),
                (None, divisor) => format!("DivisibleBy({})", divisor.unwrap_or(1)),
            };
            format!("({}, Promise::{promise})", k.number(name))
        })
        .collect();
    let _ = write!(
        out,
        "            spec::Variant {{\n                \
         arch: {},\n                \
         runs_on: spec::RunsOn::{runs_on},\n                \
         symbol: {},\n                \
         threads: {},\n                \
         shared: {},\n                \
         cluster: {:?},\n                \
         grid: {},\n                \
         promises: &[{}],\n                \
         parameters: &[\n",
        quoted(&v.arch),
        quoted(&d.symbol),
        d.threads,
        d.shared,
        d.cluster,
        grid(k, v),
        promises.join(", "),
    );
    for p in &d.parameters {
        parameter(out, k, v, p);
    }
    let _ = write!(
        out,
        "                ],\n                \
         image: &IMAGE_{image}.0,\n            \
         }},\n"
    );
}

fn parameter(out: &mut String, k: &Printed<'_>, v: &Variant, p: &Parameter) {
    let n = |name: &str| k.number(name);
    let value = match &p.value {
        Value::Argument { argument } => format!("Argument({})", n(argument)),
        Value::TensorMap { argument } => {
            let recipe =
                v.descriptor.arguments.iter().find(|a| a.name == *argument).and_then(|a| a.tensor_map.as_ref());
            // A descriptor that the hardware reads has a recipe; without one nothing fits it, and a launch says so.
            format!("TensorMap({}, &{})", n(argument), recipe_of(recipe))
        }
        Value::Base { argument } => format!("Base({})", n(argument)),
        Value::Extent { argument, axis } => format!("Extent({}, {axis})", n(argument)),
        Value::Stride { argument, axis } => format!("Stride({}, {axis})", n(argument)),
        Value::PadsWithNan { argument } => format!("PadsWithNan({})", n(argument)),
        Value::RoundsToTf32 { argument } => format!("RoundsToTf32({})", n(argument)),
        Value::ArrayMap(array) => format!("ArrayMap(&{})", array_of(k, array)),
        Value::GlobalScratch { bytes_per_block, memory_align } => {
            format!("GlobalScratch {{ bytes_per_block: {bytes_per_block}, memory_align: {memory_align} }}")
        }
        Value::ProfileScratch => "ProfileScratch".to_owned(),
    };
    let _ = writeln!(
        out,
        "                    spec::Parameter {{ value: spec::Value::{value}, offset: {}, size: {} }},",
        p.offset, p.size
    );
}

/// An array whose expressions cannot be read has none, so that nothing fits it, and a launch says so.
fn array_of(k: &Printed<'_>, array: &ArrayMap) -> String {
    let [extents, strides] = array.expressions().unwrap_or_default();
    let list = |all: &[Expr]| all.iter().map(|e| expr(k, e)).collect::<Vec<_>>().join(", ");
    let field = |name: &str, value: String| format!("\n                        {name}: {value},");
    let fields = [
        field("base", k.number(&array.base).to_string()),
        field("extents", format!("&[{}]", list(&extents))),
        field("strides", format!("&[{}]", list(&strides))),
        field("recipe", format!("&{}", recipe_of(Some(&array.map)))),
        field("words", quoted(&array.words())),
    ];
    format!("spec::ArrayMap {{{}\n                    }}", fields.concat())
}

fn recipe_of(recipe: Option<&TensorMap>) -> String {
    let none = TensorMap {
        data_type: 0,
        rank: 0,
        element_bytes: 1,
        box_dim: vec![],
        element_strides: vec![],
        interleave: 0,
        swizzle: 0,
        l2_promotion: 0,
        fill: 0,
        packed: 1,
    };
    let r = recipe.unwrap_or(&none);
    let field = |name: &str, value: String| format!("\n                        {name}: {value},");
    let fields = [
        field("data_type", r.data_type.to_string()),
        field("element_bytes", r.element_bytes.to_string()),
        field("box_dim", format!("&{:?}", r.box_dim)),
        field("element_strides", format!("&{:?}", r.element_strides)),
        field("interleave", r.interleave.to_string()),
        field("swizzle", r.swizzle.to_string()),
        field("l2_promotion", r.l2_promotion.to_string()),
        field("fill", r.fill.to_string()),
        field("packed", r.packed.to_string()),
    ];
    format!("spec::Recipe {{{}\n                    }}", fields.concat())
}

/// The grid as an option of three expressions. One that cannot be read is none.
fn grid(k: &Printed<'_>, v: &Variant) -> String {
    let axes = v.descriptor.grid.as_ref().and_then(|axes| {
        let [x, y, z] = axes.each_ref().map(|text| Expr::read(text).ok());
        Some([x?, y?, z?].map(|e| expr(k, &e)).join(", "))
    });
    axes.map_or_else(|| "None".to_owned(), |axes| format!("Some([{axes}])"))
}

fn expr(k: &Printed<'_>, e: &Expr) -> String {
    match e {
        Expr::Int(value) => format!("Expr::Int({value})"),
        Expr::Argument(name) => format!("Expr::Argument({})", k.number(name)),
        Expr::Binary(op, a, b) => {
            let name = match op {
                Operator::Add => "Add",
                Operator::Sub => "Sub",
                Operator::Mul => "Mul",
                Operator::Div => "Div",
                Operator::Mod => "Mod",
                Operator::Cdiv => "Cdiv",
                Operator::Min => "Min",
                Operator::Max => "Max",
            };
            format!("Expr::{name}(&{}, &{})", expr(k, a), expr(k, b))
        }
    }
}

/// The text as a string literal.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.escape_default())
}
