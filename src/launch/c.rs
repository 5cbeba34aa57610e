//! Prints the C launchers of kernels: a header, a source, and the runtime header that both need.
//!
//! 1. For each kernel `K` the header ([`header`]) declares `K_args` with the arguments under their names, `K_kernel`,
//!    which holds what a context has loaded, and the functions `K_load`, `K_launch`, `K_launch_grid`, `K_unload`.
//! 2. The source ([`source`]) holds the images, a table of the variants, the choice between them by their promises, the
//!    grids as C expressions ([`grids`]), and what each variant's code takes ([`parameters`]).
//! 3. Everything that is the same for all kernels is in `ttc_rt.h`, which is written beside them.
//!
//! The text depends on the kernels and the options alone. It is C99 and C++11 without warnings.
//!
//! Example: `add(x: *fp32, n: i32)` becomes `add_launch(&add, stream, &args, &error)` with `args.x` and `args.n`.

mod grids;
mod header;
mod names;
mod parameters;
mod source;

use std::collections::BTreeMap;

use crate::fingerprint::file_part;

use super::{Argument, File, Kernel, Options, Value, Variant, descriptor_rank, one_line};

/// The runtime header, which is written beside the launchers.
pub const RUNTIME: &str = include_str!("ttc_rt.h");

/// Prints the launchers of these kernels, whose names differ.
#[must_use]
pub fn print(kernels: &[Kernel], options: &Options) -> Vec<File> {
    let ids = names::kernels(kernels.iter().map(|k| &*k.name));
    let printed: Vec<Printed> = kernels.iter().zip(ids).map(|(kernel, id)| Printed::new(kernel, id, options)).collect();
    let mut files = vec![
        (format!("{}.h", options.module), header::print(&printed, options).into_bytes()),
        (format!("{}.c", options.module), source::print(&printed, options).into_bytes()),
        ("ttc_rt.h".to_owned(), RUNTIME.as_bytes().to_vec()),
    ];
    if !options.embed {
        for k in &printed {
            let images = k.images();
            let own = (0..images.len()).filter(|i| images[*i] == *i);
            files.extend(own.map(|i| (k.file(i), k.kernel.variants[i].image.clone())));
        }
    }
    files
}

/// A kernel with its names in C.
struct Printed<'a> {
    kernel: &'a Kernel,
    /// What its functions and types begin with.
    id: String,
    /// The members of its argument struct, in the order of the arguments.
    members: Vec<String>,
    embed: bool,
    /// What the names of image files begin with.
    module: &'a str,
}

/// The member of an argument struct for scratch memory.
const SCRATCH: &str = "global_scratch";

impl<'a> Printed<'a> {
    fn new(kernel: &'a Kernel, id: String, options: &'a Options) -> Printed<'a> {
        let mut printed = Printed { kernel, id, members: vec![], embed: options.embed, module: &options.module };
        let used: &[&str] = if printed.takes_scratch() { &[SCRATCH] } else { &[] };
        printed.members = names::members(printed.arguments().iter().map(|a| &*a.name), used);
        printed
    }

    /// The arguments. Their names and types are those of every variant.
    fn arguments(&self) -> &'a [Argument] {
        self.kernel.variants.first().map_or(&[], |v| &v.descriptor.arguments)
    }

    /// The member and the type of an argument.
    fn argument(&self, name: &str) -> (&str, &'a str) {
        let at = self.arguments().iter().position(|a| a.name == name).unwrap_or(0);
        (&self.members[at], &self.arguments()[at].ty)
    }

    fn takes_scratch(&self) -> bool {
        self.kernel.variants.iter().any(|v| scratch(v).is_some())
    }

    fn starts_early(&self) -> bool {
        self.kernel.variants.iter().any(|v| v.descriptor.programmatic)
    }

    /// Whether every variant says what its grid is.
    fn has_grid(&self) -> bool {
        self.kernel.variants.iter().all(|v| v.descriptor.grid.is_some())
    }

    /// For each variant the first one that has the same image.
    fn images(&self) -> Vec<usize> {
        let all = &self.kernel.variants;
        all.iter().map(|v| all.iter().position(|w| w.image == v.image).unwrap_or(0)).collect()
    }

    /// The file that a variant's image is in.
    fn file(&self, variant: usize) -> String {
        let v = &self.kernel.variants[variant];
        format!("{}.{}.{variant}.{}.{}", self.module, file_part(&self.id), v.arch, v.extension())
    }
}

/// The scratch memory of a variant: bytes for each block, and their alignment. `None` if it needs none.
fn scratch(v: &Variant) -> Option<(u32, u32)> {
    v.descriptor.parameters.iter().find_map(|p| match p.value {
        Value::GlobalScratch { bytes_per_block, memory_align } if bytes_per_block > 0 => {
            Some((bytes_per_block, memory_align))
        }
        _ => None,
    })
}

/// The type in C of an argument of this type. `size` is the bytes of its parameter, for types that have no name here.
fn c_type(ty: &str, writes: bool, size: Option<u32>) -> &'static str {
    if descriptor_rank(ty).is_some() {
        return "ttc_tensor";
    }
    match ty {
        _ if ty.starts_with('*') => {
            if writes {
                "ttc_ptr"
            } else {
                "ttc_const_ptr"
            }
        }
        "i1" | "u1" => "bool",
        "i8" => "int8_t",
        "i16" => "int16_t",
        "i32" => "int32_t",
        "i64" => "int64_t",
        "u8" => "uint8_t",
        "u16" | "fp16" | "bf16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "fp32" => "float",
        "fp64" => "double",
        _ => match size {
            Some(1) => "uint8_t",
            Some(2) => "uint16_t",
            Some(4) => "uint32_t",
            _ => "uint64_t",
        },
    }
}

/// Numbers for equal texts: the texts that differ, in the order in which they come, and for each item the number of its
/// own.
fn distinct<T: Clone + Ord>(all: impl IntoIterator<Item = T>) -> (Vec<T>, Vec<usize>) {
    let (mut seen, mut texts, mut numbers) = (BTreeMap::new(), vec![], vec![]);
    for item in all {
        let number = *seen.entry(item.clone()).or_insert_with(|| {
            texts.push(item);
            texts.len() - 1
        });
        numbers.push(number);
    }
    (texts, numbers)
}

/// The text as a string literal. All of it is printable ASCII or escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for b in text.bytes() {
        match b {
            b'"' | b'\\' => out.extend(['\\', b as char]),
            // `??` could begin a trigraph.
            b'?' => out.push_str("\\?"),
            b' '..=b'~' => out.push(b as char),
            // Three digits always, because a digit may follow.
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out.push('"');
    out
}

/// The text as it may stand in a comment.
fn commented(text: &str) -> String {
    one_line(text).replace("*/", "* /").replace("/*", "/ *")
}
