//! The source: for each kernel its variants, the choice between them, its grids, and its functions.

use std::fmt::Write as _;

use super::super::Variant;
use super::{Options, Printed, commented, descriptor_rank, distinct, grids, parameters, quoted};
use crate::target::RunsOn;

/// How many bytes of an image stand on a line.
const BYTES_A_LINE: usize = 24;

/// Prints the source.
pub(super) fn print(kernels: &[Printed<'_>], options: &Options) -> String {
    let module = &options.module;
    let mut out = format!(
        "/* {module}.c: launchers of GPU kernels, printed by ttc. Do not edit. */\n\
         #include \"{module}.h\"\n\n\
         #if TTC_RT_VERSION != 3\n\
         #error \"ttc_rt.h is of another version than this file: copy the one that ttc wrote beside it\"\n\
         #endif\n"
    );
    for k in kernels {
        variants(&mut out, k);
        choose(&mut out, k);
        refuse(&mut out, k);
        let numbers = parameters::print(&mut out, k);
        start(&mut out, k, &numbers);
        if k.has_grid() {
            launch(&mut out, k);
        }
        functions(&mut out, k);
    }
    if options.embed {
        kernels.iter().for_each(|k| images(&mut out, k));
    }
    out
}

/// The table of the variants.
fn variants(out: &mut String, k: &Printed<'_>) {
    let id = &k.id;
    let title = format!("/* ---- {id} ");
    let _ = write!(out, "\n{title}{} */\n\n", "-".repeat(115usize.saturating_sub(title.len())));
    let all = &k.kernel.variants;
    let images = k.images();
    if k.embed {
        for i in (0..all.len()).filter(|i| images[*i] == *i) {
            let _ = writeln!(out, "extern const unsigned char {id}_{}_{i}[];", all[i].extension());
        }
        out.push('\n');
    }
    let _ = write!(
        out,
        "/* kernel, architecture, vendor, compute capability, whether no other one runs it, number of the promises, code,\n \
         * its file, symbol, threads of a block, dynamic shared memory, blocks of a cluster */\n\
         static const ttcrt_variant {id}_variants[] = {{\n"
    );
    let (_, numbers) = distinct(all.iter().map(Variant::promises));
    for (i, (v, number)) in all.iter().zip(numbers).enumerate() {
        let (vendor, major, minor, exact) = match v.runs_on() {
            Some(RunsOn::Capability { exact, major, minor }) => ("TTCRT_NVIDIA", major, minor, exact),
            Some(RunsOn::Processor(_)) => ("TTCRT_AMD", 0, 0, true),
            // An architecture that ttc does not know is one of no GPU.
            None => ("TTCRT_NVIDIA", 0, 0, true),
        };
        let n = images[i];
        let embedded = || format!("{id}_{}_{n}, NULL", v.extension());
        let image = if k.embed { embedded() } else { format!("NULL, {}", quoted(&k.file(n))) };
        let d = &v.descriptor;
        let [x, y, z] = d.cluster;
        let _ = write!(
            out,
            "    /* {i}: {} */\n    {{{}, {}, {vendor}, {major}, {minor}, {exact}, {number},\n     \
             {image}, {}, {}, {}, {{{x}, {y}, {z}}}}},\n",
            commented(&summary(v)),
            quoted(&k.kernel.name),
            quoted(&v.arch),
            quoted(&d.symbol),
            d.threads,
            d.shared
        );
    }
    out.push_str("};\n");
}

/// A variant in words, for a comment.
fn summary(v: &Variant) -> String {
    let mut words = vec![v.arch.clone()];
    words.extend(v.promises().iter().map(|(name, equals, divisor)| match (equals, divisor) {
        (Some(value), _) => format!("{name} is {value}"),
        (None, Some(d)) => format!("{name} is a multiple of {d}"),
        (None, None) => String::new(),
    }));
    words.extend(v.constants.iter().map(|(name, value)| format!("{name} = {value}")));
    words.join(", ")
}

/// What the arguments must satisfy for a variant: the condition, and the call that says that it does not hold.
fn conditions(k: &Printed<'_>, v: &Variant) -> Vec<(String, String)> {
    let number = |v: i64| if i32::try_from(v).is_ok() { v.to_string() } else { format!("INT64_C({v})") };
    let of = |(name, equals, divisor): (&str, Option<i64>, Option<u64>)| {
        let (member, ty) = k.argument(name);
        let (shown, divisor) = (quoted(name), divisor.unwrap_or(1) as i64);
        let value = format!("args->{member}");
        if let Some(v) = equals {
            let plain = (0..=i64::from(i32::MAX)).contains(&v);
            let compared = if plain { format!("{value} == {v}") } else { format!("(int64_t){value} == {}", number(v)) };
            let said = format!("ttcrt_broken(error, variant, {shown}, \"\", {}, (long long){value})", number(v));
            return (compared, said);
        }
        let address = if descriptor_rank(ty).is_some() { format!("{value}.address") } else { value.clone() };
        let said = if ty.starts_with('*') || address != value {
            format!("ttcrt_unaligned(error, variant, {shown}, {}, {address})", number(divisor))
        } else {
            format!(
                "ttcrt_broken(error, variant, {shown}, \"a multiple of \", {}, (long long){value})",
                number(divisor)
            )
        };
        (format!("{address} % {} == 0", number(divisor)), said)
    };
    v.promises().into_iter().map(of).collect()
}

fn choose(out: &mut String, k: &Printed<'_>) {
    let id = &k.id;
    let _ = write!(
        out,
        "\n/* The variant to launch: the first that this device runs and whose promises the arguments keep, or -1. */\n\
         static int {id}_choose(const {id}_kernel *kernel, const {id}_args *args)\n{{\n"
    );
    if k.kernel.variants.iter().all(|v| v.promises().is_empty()) {
        out.push_str("    (void)args;\n");
    }
    for (i, v) in k.kernel.variants.iter().enumerate() {
        let mut all = vec![format!("kernel->variants[{i}].function != NULL")];
        all.extend(conditions(k, v).into_iter().map(|(condition, _)| condition));
        let _ = write!(out, "    if ({}) {{\n        return {i};\n    }}\n", all.join("\n        && "));
    }
    out.push_str("    return -1;\n}\n");
}

fn refuse(out: &mut String, k: &Printed<'_>) {
    let id = &k.id;
    let _ = write!(
        out,
        "\n/* Says why there is none. The last variant that the device runs promises least, so its promise is named. */\n\
         static ttc_code {id}_refuse(const {id}_kernel *kernel, const {id}_args *args, ttc_error *error)\n{{\n"
    );
    let with_promises: Vec<_> =
        k.kernel.variants.iter().enumerate().rev().filter(|(_, v)| !v.promises().is_empty()).collect();
    if with_promises.is_empty() {
        out.push_str("    (void)kernel;\n    (void)args;\n");
    }
    for (i, v) in with_promises {
        let _ = write!(
            out,
            "    if (kernel->variants[{i}].function != NULL) {{\n        \
             const ttcrt_variant *variant = &{id}_variants[{i}];\n"
        );
        for (condition, said) in conditions(k, v) {
            let _ = write!(out, "        if (!({condition})) {{\n            return {said};\n        }}\n");
        }
        out.push_str("    }\n");
    }
    let _ = write!(
        out,
        "    return ttcrt_fail(error, TTC_NOT_LOADED, {}, \"it is not loaded; call {id}_load first\");\n}}\n",
        quoted(&k.kernel.name)
    );
}

/// A choice by the variant between calls, of which `numbers` has one for each variant.
fn by_variant(out: &mut String, numbers: &[usize], call: impl Fn(usize) -> String) {
    let last = numbers.iter().copied().max().unwrap_or(0);
    if last == 0 {
        let _ = writeln!(out, "    {}", call(0));
        return;
    }
    out.push_str("    switch (chosen) {\n");
    for number in 0..last {
        for (i, _) in numbers.iter().enumerate().filter(|(_, n)| **n == number) {
            let _ = writeln!(out, "    case {i}:");
        }
        let _ = write!(out, "        {}\n        break;\n", call(number));
    }
    let _ = write!(out, "    default:\n        {}\n        break;\n    }}\n", call(last));
}

fn start(out: &mut String, k: &Printed<'_>, numbers: &[usize]) {
    let id = &k.id;
    let _ = write!(
        out,
        "\n/* Launches a variant with its grid of programs, if there are any. */\n\
         static ttc_code {id}_start(const {id}_kernel *kernel, int chosen, ttc_stream stream, const int64_t grid[3],\n    \
         const {id}_args *args, ttc_error *error)\n{{\n    \
         const ttcrt_variant *variant = &{id}_variants[chosen];\n    \
         void *function = kernel->variants[chosen].function;\n    \
         ttc_code code = ttcrt_check_grid(variant, grid, error);\n    \
         if (code != TTC_OK || grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {{\n        \
         return code;\n    }}\n"
    );
    let call = |n| format!("code = {id}_pass_{n}(kernel, variant, function, stream, grid, args, error);");
    by_variant(out, numbers, call);
    out.push_str("    return code;\n}\n");
}

/// The grids, and the function that launches one.
fn launch(out: &mut String, k: &Printed<'_>) {
    let id = &k.id;
    let (all, numbers) = distinct(k.kernel.variants.iter().map(|v| v.descriptor.grid.clone().unwrap_or_default()));
    for (n, axes) in all.iter().enumerate() {
        let c: Vec<(String, bool)> =
            axes.iter().map(|a| grids::axis(k, a).unwrap_or_else(|| ("0".to_owned(), false))).collect();
        let uses = c.iter().any(|(text, _)| text.contains("args->"));
        let fallible = c.iter().any(|(_, fallible)| *fallible);
        let _ = write!(
            out,
            "\n/* ({}) in programs. False if a number does not fit into 64 bits or a divisor is not positive. */\n\
             static bool {id}_grid_{n}(const {id}_args *args, int64_t grid[3])\n{{\n",
            commented(&axes.join(", "))
        );
        if fallible {
            out.push_str("    bool fits = true;\n");
        }
        if !uses {
            out.push_str("    (void)args;\n");
        }
        for (axis, (text, _)) in c.iter().enumerate() {
            let _ = writeln!(out, "    grid[{axis}] = {text};");
        }
        let _ = write!(out, "    return {};\n}}\n", if fallible { "fits" } else { "true" });
    }
    let _ = write!(
        out,
        "\nttc_code {id}_launch(const {id}_kernel *kernel, ttc_stream stream, const {id}_args *args, ttc_error *error)\n\
         {{\n    int chosen = {id}_choose(kernel, args);\n    int64_t grid[3];\n    bool fits;\n    \
         if (chosen < 0) {{\n        return {id}_refuse(kernel, args, error);\n    }}\n"
    );
    by_variant(out, &numbers, |n| format!("fits = {id}_grid_{n}(args, grid);"));
    let _ = write!(
        out,
        "    if (!fits) {{\n        return ttcrt_fail(error, TTC_BAD_GRID, {},\n            \
         \"a number of the grid does not fit into 64 bits, or a divisor in it is not positive\");\n    }}\n    \
         return {id}_start(kernel, chosen, stream, grid, args, error);\n}}\n",
        quoted(&k.kernel.name)
    );
}

fn functions(out: &mut String, k: &Printed<'_>) {
    let (id, count) = (&k.id, k.kernel.variants.len());
    let (parameter, directory) = if k.embed { ("", "\".\"") } else { (" const char *directory,", "directory") };
    let early = if k.starts_early() { "    kernel->start_early = false;\n" } else { "" };
    let _ = write!(
        out,
        "\nttc_code {id}_launch_grid(const {id}_kernel *kernel, ttc_stream stream, uint32_t x, uint32_t y, uint32_t z,\n    \
         const {id}_args *args, ttc_error *error)\n{{\n    \
         int chosen = {id}_choose(kernel, args);\n    int64_t grid[3];\n    \
         grid[0] = x;\n    grid[1] = y;\n    grid[2] = z;\n    \
         if (chosen < 0) {{\n        return {id}_refuse(kernel, args, error);\n    }}\n    \
         return {id}_start(kernel, chosen, stream, grid, args, error);\n}}\n\n\
         ttc_code {id}_load({id}_kernel *kernel,{parameter} ttc_error *error)\n{{\n{early}    \
         return ttcrt_load(&kernel->common, kernel->variants, {id}_variants, {count}, {directory}, error);\n}}\n\n\
         ttc_code {id}_unload({id}_kernel *kernel, ttc_error *error)\n{{\n    \
         return ttcrt_unload(&kernel->common, kernel->variants, {id}_variants, {count}, error);\n}}\n"
    );
}

/// The code of the GPUs, behind the code that people read.
fn images(out: &mut String, k: &Printed<'_>) {
    let images = k.images();
    for (i, v) in k.kernel.variants.iter().enumerate().filter(|(i, _)| images[*i] == *i) {
        let _ = write!(
            out,
            "\n/* The {} of `{}`, variant {i}, for {}: {} bytes. */\n\
             TTCRT_ALIGN(16) const unsigned char {}_{}_{i}[] = {{\n",
            v.image_words(),
            commented(&k.kernel.name),
            v.arch,
            v.image.len(),
            k.id,
            v.extension()
        );
        for line in v.image.chunks(BYTES_A_LINE) {
            out.push_str("    ");
            for byte in line {
                let _ = write!(out, "{byte},");
            }
            out.push('\n');
        }
        out.push_str("};\n");
    }
}
