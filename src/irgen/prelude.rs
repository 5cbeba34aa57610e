//! The library that is written in the language itself: `.tk` files embedded in the compiler, parsed once a process,
//! when one of their functions is first wanted.
//!
//! To add a function: write it into a file of `prelude/` with a docstring, and name it in [`NAMES`] (and in [`METHODS`]
//! if tensors have it as a method).

use std::sync::{Arc, LazyLock};

use super::lower::Lower;
use super::value::{Space, Val};
use crate::source::SourceFile;

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

impl Lower<'_> {
    /// A function of the prelude.
    pub fn prelude_function(&mut self, space: Space, name: &str) -> Option<Val> {
        if !matches!(space, Space::Language | Space::Math) {
            return None;
        }
        let (_, file) = NAMES.iter().find(|(n, _)| *n == name)?;
        let module = self.prelude_module(file)?;
        self.global(module, name)
    }

    /// A function of the prelude that tensors have as a method.
    pub fn prelude_method(&mut self, name: &str) -> Option<Val> {
        METHODS.contains(&name).then(|| self.prelude_function(Space::Language, name)).flatten()
    }

    fn prelude_module(&mut self, file: &'static str) -> Option<usize> {
        if let Some(&module) = self.prelude.get(file) {
            return Some(module);
        }
        let number = FILES.iter().position(|(n, _)| *n == file)?;
        let id = self.mods.map.embed(number as u32, &LIBRARY[number]);
        let module = self.mods.add(id, &format!("triton.language.{file}"), true);
        self.prelude.insert(file, module);
        Some(module)
    }
}
