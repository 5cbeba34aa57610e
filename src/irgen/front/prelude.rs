//! The library that is written in the language itself: `.tk` files embedded in the compiler, parsed once a process,
//! when one of their functions is first wanted.
//!
//! To add a function: write it into a file of `prelude/` with a docstring, and name it in [`NAMES`] (and in [`METHODS`]
//! if tensors have it as a method).

use std::sync::{Arc, LazyLock};

use super::modules::Modules;
use crate::source::{FileId, SourceFile, SourceMap};

/// The files, by name.
static FILES: &[(&str, &str)] = &[
    ("basic", include_str!("prelude/basic.tk")),
    ("reduce", include_str!("prelude/reduce.tk")),
    ("sort", include_str!("prelude/sort.tk")),
    ("random", include_str!("prelude/random.tk")),
];

/// The files as every compilation has them, with what was parsed of them.
static LIBRARY: LazyLock<Vec<Arc<SourceFile>>> = LazyLock::new(|| {
    let file = |(name, text): &(&str, &str)| Arc::new(SourceFile::embedded(format!("<prelude>/{name}.tk"), text));
    FILES.iter().map(file).collect()
});

/// What `triton.language` takes from them: function, file.
pub static NAMES: &[(&str, &str)] = &[
    ("cdiv", "basic"),
    ("sigmoid", "basic"),
    ("softmax", "basic"),
    ("ravel", "basic"),
    ("swizzle2d", "basic"),
    ("zeros", "basic"),
    ("zeros_like", "basic"),
    ("flip", "basic"),
    ("interleave", "basic"),
    ("squeeze", "basic"),
    ("unsqueeze", "basic"),
    ("sum", "reduce"),
    ("max", "reduce"),
    ("min", "reduce"),
    ("argmax", "reduce"),
    ("argmin", "reduce"),
    ("xor_sum", "reduce"),
    ("reduce_or", "reduce"),
    ("cumsum", "reduce"),
    ("cumprod", "reduce"),
    ("_sum_combine", "reduce"),
    ("_prod_combine", "reduce"),
    ("_xor_combine", "reduce"),
    ("_or_combine", "reduce"),
    ("_elementwise_max", "reduce"),
    ("_elementwise_min", "reduce"),
    ("_argmax_combine_tie_break_left", "reduce"),
    ("_argmax_combine_tie_break_fast", "reduce"),
    ("_argmin_combine_tie_break_left", "reduce"),
    ("_argmin_combine_tie_break_fast", "reduce"),
    ("sort", "sort"),
    ("topk", "sort"),
    ("bitonic_merge", "sort"),
    ("_log2", "sort"),
    ("_is_power_of_two", "sort"),
    ("philox_impl", "random"),
    ("philox", "random"),
    ("randint4x", "random"),
    ("randint", "random"),
    ("rand", "random"),
    ("rand4x", "random"),
    ("randn", "random"),
    ("randn4x", "random"),
    ("uint_to_uniform_float", "random"),
    ("pair_uniform_to_normal", "random"),
];

/// Which of them tensors have as methods.
pub static METHODS: &[&str] = &[
    "cdiv",
    "sigmoid",
    "softmax",
    "ravel",
    "max",
    "argmax",
    "min",
    "argmin",
    "sum",
    "xor_sum",
    "reduce_or",
    "cumsum",
    "cumprod",
    "sort",
    "flip",
];

/// The file of the library that defines a function.
#[must_use]
pub fn file_of(function: &str) -> Option<&'static str> {
    NAMES.iter().find(|(n, _)| *n == function).map(|(_, file)| *file)
}

/// Puts a file of the library into a compilation, and gives its module.
pub fn add(mods: &mut Modules<'_>, file: &'static str) -> Option<usize> {
    let number = FILES.iter().position(|(n, _)| *n == file)?;
    let id = embed(mods.map, number as u32)?;
    Some(mods.add(id, &format!("triton.language.{file}"), true))
}

/// Puts a file of the library into a source map, by its number.
pub fn embed(map: &mut SourceMap, number: u32) -> Option<FileId> {
    LIBRARY.get(number as usize).map(|file| map.embed(number, file))
}
