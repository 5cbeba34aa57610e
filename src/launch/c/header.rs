//! The header: for each kernel its arguments, its object, and its functions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::{Argument, Kernel, Value};
use super::{Options, Printed, SCRATCH, c_type, commented, names};

/// Prints the header.
pub(super) fn print(kernels: &[Printed<'_>], options: &Options) -> String {
    let guard = format!("{}_H", names::plain(&options.module).to_ascii_uppercase());
    let mut out = preamble(kernels, options);
    let _ = write!(
        out,
        "#ifndef {guard}\n#define {guard}\n\n#include \"ttc_rt.h\"\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
    );
    for k in kernels {
        arguments(&mut out, k);
        object(&mut out, k);
        functions(&mut out, k);
    }
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    out
}

/// The comment at the top, which shows how the first kernel is called.
fn preamble(kernels: &[Printed<'_>], options: &Options) -> String {
    let mut out = format!("/* {}.h: launchers of GPU kernels, printed by ttc. Do not edit.\n *\n", options.module);
    if let Some(k) = kernels.first() {
        let id = &k.id;
        let from = if k.embed { "" } else { ", \"the directory of the code\"" };
        let launch = if k.has_grid() {
            format!("{id}_launch(&kernel, stream, &args, &error)")
        } else {
            format!("{id}_launch_grid(&kernel, stream, x, y, z, &args, &error)")
        };
        let _ = write!(
            out,
            " *     {id}_kernel kernel;                      one for each context or device; many threads may use it\n \
             *     {id}_args args;                          every member must be set\n \
             *     ttc_error error;\n \
             *     if ({id}_load(&kernel{from}, &error) != TTC_OK) ...   error.text says what failed\n \
             *     if ({launch} != TTC_OK) ...\n \
             *     {id}_unload(&kernel, &error);\n *\n"
        );
    }
    out.push_str(
        " * Every function returns TTC_OK or says in `error`, which may be NULL, what was tried and what failed.\n \
         * On NVIDIA's GPUs a context must be current in the calling thread, and the stream is a CUstream or cudaStream_t.\n \
         * On AMD's the current device is used, and the stream is a hipStream_t. */\n",
    );
    out
}

fn arguments(out: &mut String, k: &Printed<'_>) {
    let archs: BTreeSet<&str> = k.kernel.variants.iter().map(|v| &*v.arch).collect();
    let archs: Vec<&str> = archs.into_iter().collect();
    let _ = write!(
        out,
        "\n/* The arguments of `{}`, which was compiled for {}. */\ntypedef struct {}_args {{\n",
        commented(&k.kernel.name),
        archs.join(", "),
        k.id
    );
    for (a, member) in k.arguments().iter().zip(&k.members) {
        let (writes, words) = facts(k.kernel, a);
        let size = k.kernel.variants.iter().find_map(|v| {
            let takes = |value: &Value| matches!(value, Value::Argument { argument } if *argument == a.name);
            v.descriptor.parameters.iter().find(|p| takes(&p.value)).map(|p| p.size)
        });
        let declared = format!("{} {member};", c_type(&a.ty, writes, size));
        let _ = writeln!(out, "    {declared:<27} /* {} */", commented(&words));
    }
    if k.takes_scratch() {
        let _ = writeln!(
            out,
            "    /* Memory for the time of the launch, or 0: then the launch takes it from the stream's pool. */\n    \
             ttc_ptr {SCRATCH};"
        );
    } else if k.arguments().is_empty() {
        // C has no empty struct.
        out.push_str("    char unused;\n");
    }
    let _ = writeln!(out, "}} {}_args;", k.id);
}

/// Whether a kernel may write through an argument, and what the comment says of it.
fn facts(kernel: &Kernel, argument: &Argument) -> (bool, String) {
    let access = kernel.access(&argument.name);
    let mut words = vec![argument.ty.clone()];
    if argument.is_memory() {
        words.push(access.words().to_owned());
    }
    match argument.ty.as_str() {
        "fp16" | "bf16" => words.push(format!("as bits, from ttc_{}_from_float", argument.ty)),
        ty if ty.starts_with("fp8") => words.push("as bits".to_owned()),
        _ => {}
    }
    words.extend(kernel.promised(&argument.name));
    (argument.is_memory() && access.writes, words.join("; "))
}

fn object(out: &mut String, k: &Printed<'_>) {
    let id = &k.id;
    let _ = write!(
        out,
        "\n/* `{}` as loaded for one GPU. Its members are for the functions below{}. */\n\
         typedef struct {id}_kernel {{\n    ttcrt_kernel common;\n    ttcrt_loaded variants[{}];\n",
        commented(&k.kernel.name),
        if k.starts_early() { ", but for start_early" } else { "" },
        k.kernel.variants.len(),
    );
    if k.starts_early() {
        out.push_str(
            "    /* Set this after loading if a launch may start before the kernel before it in the stream has ended\n     \
             * (programmatic dependent launch). The kernel then waits where its source says so. */\n    \
             bool start_early;\n",
        );
    }
    let _ = writeln!(out, "}} {id}_kernel;");
}

fn functions(out: &mut String, k: &Printed<'_>) {
    let id = &k.id;
    let (directory, from) =
        if k.embed { ("", "") } else { (" const char *directory,", " The files of code lie in `directory`.") };
    let _ = write!(
        out,
        "\n/* Loads the code for the current GPU.{from} On an error nothing stays loaded.\n \
         * The object need not be initialised. Unload it before you load it again. */\n\
         ttc_code {id}_load({id}_kernel *kernel,{directory} ttc_error *error);\n\n\
         /* Unloads it. No launch of it may be running, in any thread. Unloading twice, or after an\n \
         * error of loading, does nothing. */\n\
         ttc_code {id}_unload({id}_kernel *kernel, ttc_error *error);\n"
    );
    let elsewhere = k.kernel.variants.iter().any(|v| v.descriptor.elsewhere.writes);
    let elsewhere = if elsewhere {
        "\n * The kernel also writes to memory whose address it reads from memory or computes from a number."
    } else {
        ""
    };
    if k.has_grid() {
        let first = k.kernel.variants.first().and_then(|v| v.descriptor.grid.as_ref());
        let grid = first.map_or_else(String::new, |axes| axes.join(", "));
        let _ = write!(
            out,
            "\n/* Launches ({}) programs{}. A grid without programs is no launch and no error.{elsewhere} */\n\
             ttc_code {id}_launch(const {id}_kernel *kernel, ttc_stream stream, const {id}_args *args, \
             ttc_error *error);\n",
            commented(&grid),
            if one_grid(k) { "" } else { ", or what the grid of the chosen variant is" },
        );
    }
    let _ = write!(
        out,
        "\n/* Launches x * y * z programs.{elsewhere} */\n\
         ttc_code {id}_launch_grid(const {id}_kernel *kernel, ttc_stream stream, uint32_t x, uint32_t y, uint32_t z,\n    \
         const {id}_args *args, ttc_error *error);\n"
    );
}

/// Whether all variants have the same grid.
fn one_grid(k: &Printed<'_>) -> bool {
    k.kernel.variants.windows(2).all(|pair| pair[0].descriptor.grid == pair[1].descriptor.grid)
}
