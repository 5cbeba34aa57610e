//! What the code of a variant takes: the functions that make the parameters of a launch from the arguments.
//!
//! 1. A parameter that is an argument is handed on where it lies, in the caller's struct. The others are local
//!    variables: parts of a tensor, tensor maps, hidden parameters.
//! 2. Tensors are checked and encoded first. Scratch memory is taken last, so that no error leaves it behind.
//! 3. Variants that take the same share a function.

use std::fmt::Write as _;

use super::super::{Argument, Parameter, TensorMap, Value, Variant};
use super::{Printed, SCRATCH, commented, descriptor_rank, distinct, grids, quoted, scratch};

/// Prints the functions, and returns for each variant the number of its own.
pub(super) fn print(out: &mut String, k: &Printed<'_>) -> Vec<usize> {
    let (bodies, numbers) = distinct(k.kernel.variants.iter().map(|v| body(k, v)));
    let id = &k.id;
    for (n, body) in bodies.iter().enumerate() {
        let variants: Vec<String> =
            numbers.iter().enumerate().filter(|(_, m)| **m == n).map(|(i, _)| i.to_string()).collect();
        let _ = write!(
            out,
            "\n/* Passes the arguments to variant {}: its parameters in order. */\n\
             static ttc_code {id}_pass_{n}(const {id}_kernel *kernel, const ttcrt_variant *variant, void *function,\n    \
             ttc_stream stream, const int64_t grid[3], const {id}_args *args, ttc_error *error)\n{{\n{body}}}\n",
            variants.join(", ")
        );
    }
    numbers
}

/// The body for a variant. Equal bodies do the same.
fn body(k: &Printed<'_>, v: &Variant) -> String {
    let parameters = &v.descriptor.parameters;
    let scratch = scratch(v);
    let mut out = String::new();
    for (n, p) in parameters.iter().enumerate() {
        declare(&mut out, k, v, n, p);
    }
    let rows: Vec<String> = parameters.iter().enumerate().map(|(n, p)| row(k, n, p)).collect();
    if rows.is_empty() {
        out.push_str("    void **parameters = NULL;\n");
    } else {
        let _ = write!(out, "    void *parameters[] = {{\n{}    }};\n", rows.concat());
    }
    // Nothing else uses the arguments where no parameter is made of one.
    if !out.contains("args") {
        out.push_str("    (void)args;\n");
    }
    let checks = [checks(k, v), arrays(k, v)].concat();
    if scratch.is_some() || !checks.is_empty() {
        out.push_str("    ttc_code code;\n");
    }
    if checks.contains("&fits") {
        out.push_str("    bool fits = true;\n");
    }
    out.push_str(&checks);
    let early = if v.descriptor.programmatic { "kernel->start_early" } else { "false" };
    let launch =
        format!("ttcrt_launch(&kernel->common.driver, variant, function, stream, grid, {early}, parameters, error)");
    let Some((bytes, align)) = scratch else {
        let _ = writeln!(out, "    return {launch};");
        return out;
    };
    let _ = write!(
        out,
        "    if (scratch == 0) {{\n        \
         code = ttcrt_scratch(&kernel->common.driver, variant, stream, grid, {bytes}, {align},\n            \
         &scratch, &block, error);\n        \
         if (code != TTC_OK) {{\n            return code;\n        }}\n    }}\n    \
         code = {launch};\n    \
         if (block != 0) {{\n        \
         code = ttcrt_free_scratch(&kernel->common.driver, variant, stream, block, code, error);\n    }}\n    \
         return code;\n"
    );
    out
}

/// The variable of a parameter that does not lie in the caller's struct.
fn declare(out: &mut String, k: &Printed<'_>, v: &Variant, n: usize, p: &Parameter) {
    let member = |argument: &str| k.argument(argument).0;
    let integer = if p.size == 4 { "int32_t" } else { "int64_t" };
    let part = |what: String| if p.size == 4 { format!("(int32_t){what}") } else { what };
    let line = match &p.value {
        Value::Argument { .. } => return,
        Value::TensorMap { argument } => {
            let recipe =
                v.descriptor.arguments.iter().find(|a| a.name == *argument).and_then(|a| a.tensor_map.as_ref());
            recipe.map_or_else(String::new, |r| {
                format!("static const ttcrt_recipe recipe{n} = {};\n    ttcrt_tensor_map p{n};", recipe_of(r))
            })
        }
        Value::Base { argument } => format!("ttc_ptr p{n} = args->{}.address;", member(argument)),
        Value::Extent { argument, axis } => {
            format!("{integer} p{n} = {};", part(format!("args->{}.extents[{axis}]", member(argument))))
        }
        Value::Stride { argument, axis } => {
            format!("{integer} p{n} = {};", part(format!("args->{}.strides[{axis}]", member(argument))))
        }
        Value::PadsWithNan { argument } => format!("uint8_t p{n} = args->{}.pads_with_nan ? 1 : 0;", member(argument)),
        Value::RoundsToTf32 { argument } => {
            format!("uint8_t p{n} = args->{}.rounds_to_tf32 ? 1 : 0;", member(argument))
        }
        Value::ArrayMap(array) => format!(
            "static const ttcrt_recipe recipe{n} = {};\n    ttcrt_tensor_map p{n};\n    ttc_tensor array{n};",
            recipe_of(&array.map)
        ),
        Value::GlobalScratch { bytes_per_block: bytes, .. } if *bytes > 0 => {
            format!("ttc_ptr scratch = args->{SCRATCH}, block = 0;")
        }
        Value::GlobalScratch { .. } | Value::ProfileScratch => format!("ttc_ptr p{n} = 0;"),
    };
    let _ = writeln!(out, "    {line}");
}

/// The line of a parameter in the list.
fn row(k: &Printed<'_>, n: usize, p: &Parameter) -> String {
    let (place, what) = match &p.value {
        Value::Argument { argument } => (format!("ttcrt_pass(&args->{})", k.argument(argument).0), argument.clone()),
        Value::TensorMap { argument } => (format!("p{n}.bytes"), format!("{argument}: tensor map")),
        Value::Base { argument } => (format!("&p{n}"), format!("{argument}: address")),
        Value::Extent { argument, axis } => (format!("&p{n}"), format!("{argument}: extent {axis}")),
        Value::Stride { argument, axis } => (format!("&p{n}"), format!("{argument}: stride {axis}")),
        Value::PadsWithNan { argument } => (format!("&p{n}"), format!("{argument}: pads with NaN")),
        Value::RoundsToTf32 { argument } => (format!("&p{n}"), format!("{argument}: rounds to tf32")),
        Value::ArrayMap(array) => (format!("p{n}.bytes"), format!("{}: map of {}", array.base, array.words())),
        Value::GlobalScratch { bytes_per_block: bytes, .. } if *bytes > 0 => {
            ("&scratch".to_owned(), "scratch memory".to_owned())
        }
        Value::GlobalScratch { .. } => (format!("&p{n}"), "scratch memory, which is not used".to_owned()),
        Value::ProfileScratch => (format!("&p{n}"), "memory of a profiler, which is not used".to_owned()),
    };
    let place = format!("{place},");
    format!("        {place:<23} /* {}, {} bytes */\n", commented(&what), p.size)
}

/// The checks of the tensors, and the calls that encode them.
fn checks(k: &Printed<'_>, v: &Variant) -> String {
    let mut out = String::new();
    let mut step = |call: String| {
        let _ = write!(out, "    code = {call};\n    if (code != TTC_OK) {{\n        return code;\n    }}\n");
    };
    for a in &v.descriptor.arguments {
        let Some(rank) = descriptor_rank(&a.ty) else { continue };
        let (member, shown) = (k.argument(&a.name).0, quoted(&a.name));
        step(format!("ttcrt_check_tensor(variant, {shown}, &args->{member}, {rank}, {}, error)", element_bytes(a)));
    }
    for (n, p) in v.descriptor.parameters.iter().enumerate() {
        let Value::TensorMap { argument } = &p.value else { continue };
        let (member, shown) = (k.argument(argument).0, quoted(argument));
        step(format!(
            "ttcrt_encode(&kernel->common.driver, variant, {shown}, &args->{member}, &recipe{n}, &p{n}, error)"
        ));
    }
    out
}

/// What makes the maps of arrays that no argument describes.
fn arrays(k: &Printed<'_>, v: &Variant) -> String {
    let mut out = String::new();
    for (n, p) in v.descriptor.parameters.iter().enumerate() {
        let Value::ArrayMap(array) = &p.value else { continue };
        let (member, shown, rank) = (k.argument(&array.base).0, quoted(&array.base), array.map.rank);
        // Without expressions that can be read the map stays one of no elements, which the check refuses.
        let [extents, strides] = array.expressions().unwrap_or_default();
        let _ = writeln!(out, "    memset(&array{n}, 0, sizeof array{n});\n    array{n}.address = args->{member};");
        for (list, all) in [("extents", &extents), ("strides", &strides)] {
            for (axis, e) in all.iter().enumerate() {
                let _ = writeln!(out, "    array{n}.{list}[{axis}] = {};", grids::of(k, e));
            }
        }
        let _ = write!(
            out,
            "    array{n}.strides[{}] = 1;\n    \
             code = ttcrt_map_array(&kernel->common.driver, variant, {shown},\n        {},\n        \
             {}, &array{n}, &recipe{n}, &p{n}, error);\n    \
             if (code != TTC_OK) {{\n        return code;\n    }}\n",
            rank.saturating_sub(1),
            quoted(&array.words()),
            if out.contains("&fits") { "fits" } else { "true" },
        );
    }
    out
}

/// Bytes of an element of a descriptor: 2 for `tensordesc<fp16[128, 64]>`.
fn element_bytes(a: &Argument) -> u32 {
    let element = a.ty.trim_start_matches("tensordesc<").trim_start_matches(|c: char| !c.is_ascii_digit());
    let digits = element.find(|c: char| !c.is_ascii_digit()).map_or(element, |end| &element[..end]);
    let named = digits.parse::<u32>().unwrap_or(8).div_ceil(8);
    a.tensor_map.as_ref().map_or(named, |m| m.element_bytes)
}

/// A recipe as an initialiser.
fn recipe_of(r: &TensorMap) -> String {
    let five = |v: &[u32]| {
        let all: Vec<String> = (0..5).map(|i| v.get(i).copied().unwrap_or(0).to_string()).collect();
        format!("{{{}}}", all.join(", "))
    };
    format!(
        "{{{}, {}, {}, {}, {},\n        {}, {}, {}, {}, {}}}",
        r.data_type,
        r.rank,
        r.element_bytes,
        five(&r.box_dim),
        five(&r.element_strides),
        r.interleave,
        r.swizzle,
        r.l2_promotion,
        r.fill,
        r.packed
    )
}
