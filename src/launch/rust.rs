//! Prints the Rust launchers of kernels: one file, which a program includes. It stands on the crate `ttc-rt`.
//!
//! 1. For each kernel `K` there is a module `K` with the struct `Args`, whose fields are the arguments, and the type
//!    `Kernel` with `load`, `launch` and `launch_grid`.
//! 2. Behind them stand the tables of `ttc_rt::spec` ([`tables`]): the variants in the order in which they are tried,
//!    their promises, grids and parameters, and the images as byte strings ([`bytes`]) or as files beside.
//! 3. What a launch does with the tables is `ttc-rt`'s part.
//!
//! The text depends on the kernels alone, and rustfmt leaves it as it is.
//!
//! Example: `add(x: *fp32, n: i32)` is launched by `kernel.launch(&stream, &add::Args { x: x.ptr(), n: 4096 })`.

mod bytes;
mod names;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::fingerprint::file_part;

use super::{Argument, File, Kernel, Options, descriptor_rank, one_line};

/// Prints the launchers of these kernels, whose names differ.
#[must_use]
pub fn print(kernels: &[Kernel], options: &Options) -> Vec<File> {
    let mut out = String::from(
        "// Launchers of GPU kernels, printed by ttc. Do not edit: change the kernels, and print them again.\n",
    );
    let mut beside = vec![];
    let modules = names::unique(kernels.iter().map(|k| &*k.name));
    for (kernel, module) in kernels.iter().zip(modules) {
        let printed = Printed::new(kernel, module);
        let images = printed.images();
        module_of(&mut out, &printed, &images, options);
        if !options.embed {
            let file = |&n: &usize| (printed.file(options, n), kernel.variants[n].image.clone());
            beside.extend(images.values().map(file));
        }
    }
    let mut files = vec![(format!("{}.rs", options.module), out.into_bytes())];
    beside.sort();
    files.extend(beside);
    files
}

/// For each image the number of the first variant that has it.
type Images<'a> = BTreeMap<&'a [u8], usize>;

/// A kernel with the fields of its arguments.
struct Printed<'a> {
    kernel: &'a Kernel,
    /// The name of its module.
    module: String,
    fields: Vec<Field<'a>>,
}

/// An argument as a field of `Args`.
struct Field<'a> {
    argument: &'a Argument,
    name: String,
    class: Class,
}

/// What an argument is in Rust.
enum Class {
    /// A pointer to elements of this type.
    Pointer { element: &'static str, writes: bool },
    /// A tensor of elements of this type.
    Tensor { element: &'static str, rank: u32, writes: bool },
    /// A number of this type.
    Scalar(&'static str),
}

impl<'a> Printed<'a> {
    fn new(kernel: &'a Kernel, module: String) -> Printed<'a> {
        let arguments = kernel.variants.first().map_or(&[][..], |v| &v.descriptor.arguments);
        let names = names::unique(arguments.iter().map(|a| &*a.name));
        let field = |(argument, name): (&'a Argument, String)| {
            let class = Class::of(&argument.ty, kernel.access(&argument.name).writes);
            Field { argument, name, class }
        };
        Printed { kernel, module, fields: arguments.iter().zip(names).map(field).collect() }
    }

    fn images(&self) -> Images<'a> {
        let mut images = Images::new();
        for (n, v) in self.kernel.variants.iter().enumerate() {
            images.entry(&v.image).or_insert(n);
        }
        images
    }

    /// The file that a variant's image is in where it is not embedded.
    fn file(&self, options: &Options, variant: usize) -> String {
        let (name, v) = (file_part(self.module.trim_start_matches("r#")), &self.kernel.variants[variant]);
        format!("{}.{name}.{variant}.{}.{}", options.module, v.arch, v.extension())
    }

    /// The number of an argument.
    fn number(&self, name: &str) -> usize {
        self.fields.iter().position(|f| f.argument.name == name).unwrap_or(0)
    }

    /// Whether an argument borrows memory.
    fn borrows(&self) -> bool {
        self.fields.iter().any(|f| !matches!(f.class, Class::Scalar(_)))
    }
}

impl Class {
    fn of(ty: &str, writes: bool) -> Class {
        if let Some(rank) = descriptor_rank(ty) {
            let element = ty.trim_start_matches("tensordesc<").split('[').next().unwrap_or_default();
            return Class::Tensor { element: element_of(element), rank, writes };
        }
        match ty.strip_prefix('*') {
            // `*ki32` is a pointer to constants.
            Some(element) => Class::Pointer { element: element_of(element.trim_start_matches('k')), writes },
            None if matches!(ty, "i1" | "u1") => Class::Scalar("bool"),
            None => Class::Scalar(element_of(ty)),
        }
    }

    /// The type of the field.
    fn ty(&self) -> String {
        let suffix = |writes: &bool| if *writes { "Mut" } else { "" };
        match self {
            Class::Pointer { element, writes } => format!("ttc_rt::DevicePtr{}<'a, {element}>", suffix(writes)),
            Class::Tensor { element, rank, writes } => {
                format!("ttc_rt::Tensor{}<'a, {element}, {rank}>", suffix(writes))
            }
            Class::Scalar(ty) => (*ty).to_owned(),
        }
    }

    /// The field as a `ttc_rt::Argument`.
    fn value(&self, name: &str) -> String {
        match self {
            Class::Pointer { .. } => format!("Pointer(args.{name}.address())"),
            Class::Tensor { .. } => format!("Tensor(args.{name}.raw())"),
            Class::Scalar("f32") => format!("Float(u64::from(args.{name}.to_bits()))"),
            Class::Scalar("f64") => format!("Float(args.{name}.to_bits())"),
            Class::Scalar(ty) if ty.starts_with("ttc_rt") => format!("Float(u64::from(args.{name}.0))"),
            Class::Scalar("i64") => format!("Int(args.{name})"),
            Class::Scalar("u64") => format!("Unsigned(args.{name})"),
            Class::Scalar(ty) if ty.starts_with('i') => format!("Int(i64::from(args.{name}))"),
            Class::Scalar(_) => format!("Unsigned(u64::from(args.{name}))"),
        }
    }
}

/// The type in Rust of a scalar, or of what a pointer leads to. Types that Rust has no name for are their bits.
fn element_of(ty: &str) -> &'static str {
    match ty {
        "i8" => "i8",
        "i16" => "i16",
        "i32" => "i32",
        "i64" => "i64",
        "u8" | "i1" | "u1" => "u8",
        "u16" => "u16",
        "u32" => "u32",
        "u64" => "u64",
        "fp16" => "ttc_rt::F16",
        "bf16" => "ttc_rt::Bf16",
        "fp32" => "f32",
        "fp64" => "f64",
        "fp8e4nv" => "ttc_rt::F8E4M3",
        "fp8e5" => "ttc_rt::F8E5M2",
        "fp8e4b15" => "ttc_rt::F8E4B15",
        other if other.starts_with("fp8") => "u8",
        // A pointer.
        _ => "u64",
    }
}

fn module_of(out: &mut String, printed: &Printed<'_>, images: &Images<'_>, options: &Options) {
    let (kernel, module) = (printed.kernel, &printed.module);
    let mut archs: Vec<&str> = kernel.variants.iter().map(|v| &*v.arch).collect();
    archs.sort_unstable();
    archs.dedup();
    let _ = write!(
        out,
        "\n/// The kernel `{}`, compiled for {}.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::all, clippy::nursery, clippy::pedantic)]\n\
         #[allow(dead_code, non_camel_case_types, non_snake_case, unreachable_pub, unused_imports)]\n\
         pub mod {module} {{\n    \
         use ttc_rt::Argument::*;\n    \
         use ttc_rt::{{Expr, Promise, spec}};\n",
        doc(&kernel.name),
        archs.join(", "),
    );
    arguments(out, printed);
    launcher(out, printed);
    tables::print(out, printed, images, options);
    out.push_str("}\n");
}

fn arguments(out: &mut String, k: &Printed<'_>) {
    let lifetime = if k.borrows() { "<'a>" } else { "" };
    let _ = write!(
        out,
        "\n    /// The arguments of `{}`.\n    #[derive(Debug)]\n    pub struct Args{lifetime} {{\n",
        doc(&k.kernel.name)
    );
    for f in &k.fields {
        let _ = writeln!(out, "        /// {}\n        pub {}: {},", words(k.kernel, f), f.name, f.class.ty());
    }
    out.push_str("    }\n");
}

/// What the documentation says of an argument: its type, what the kernel does with it, and what it must be.
fn words(kernel: &Kernel, field: &Field<'_>) -> String {
    let mut words = vec![format!("`{}`", doc(&field.argument.ty))];
    if field.argument.is_memory() {
        words.push(kernel.access(&field.argument.name).words().to_owned());
    }
    words.extend(kernel.promised(&field.argument.name));
    words.join("; ")
}

fn launcher(out: &mut String, k: &Printed<'_>) {
    let name = doc(&k.kernel.name);
    let _ = write!(
        out,
        "\n    /// `{name}`, loaded into a context. Any number of threads may launch it.\n    \
         #[derive(Debug)]\n    \
         pub struct Kernel(ttc_rt::Kernel);\n\n    \
         impl Kernel {{\n        \
         /// Loads the variants that the context's GPU runs.\n        \
         ///\n        \
         /// # Errors\n        \
         /// There is none, or the driver refuses one.\n        \
         pub fn load(context: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> {{\n            \
         // SAFETY: the tables were printed with their images.\n            \
         unsafe {{ ttc_rt::Kernel::load(context, &SPEC) }}.map(Kernel)\n        \
         }}\n\n        \
         /// What the tables and the context are, for launches by hand.\n        \
         pub fn inner(&self) -> &ttc_rt::Kernel {{\n            \
         &self.0\n        \
         }}\n"
    );
    if k.kernel.variants.iter().any(|v| v.descriptor.programmatic) {
        out.push_str(
            "\n        /// Whether a launch may start before the kernel before it on its stream has ended. The kernel then\n        \
             /// waits where its source says so.\n        \
             pub fn set_start_early(&mut self, start_early: bool) {\n            \
             self.0.set_start_early(start_early);\n        \
             }\n",
        );
    }
    launches(out, k);
    out.push_str("    }\n");
}

/// The functions that launch.
fn launches(out: &mut String, k: &Printed<'_>) {
    let args = if k.borrows() { "Args<'_>" } else { "Args" };
    let safety = safety(k);
    if let Some(grid) = grid_words(k) {
        let _ = write!(
            out,
            "\n        /// Launches {grid}. A grid without programs is no launch and no error.\n        \
             ///\n        \
             /// # Errors\n        \
             /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.\n\
             {safety}        \
             pub unsafe fn launch(\n            \
             &self,\n            \
             stream: &(impl ttc_rt::AsStream + ?Sized),\n            \
             args: &{args},\n        \
             ) -> Result<(), ttc_rt::Error> {{\n            \
             // SAFETY: the caller keeps the same promises.\n            \
             unsafe {{ self.start(stream, None, args) }}\n        \
             }}\n"
        );
    }
    let values: Vec<String> = k.fields.iter().map(|f| f.class.value(&f.name)).collect();
    let list = if values.is_empty() {
        "[]".to_owned()
    } else {
        format!("[\n                {},\n            ]", values.join(",\n                "))
    };
    let bytes = k.kernel.variants.iter().map(|v| v.descriptor.parameter_bytes).max().unwrap_or(0);
    let unused = if values.is_empty() { "_args" } else { "args" };
    let _ = write!(
        out,
        "\n        /// Launches `x * y * z` programs, for a grid `[x, y, z]`.\n        \
         ///\n        \
         /// # Errors\n        \
         /// An argument breaks a promise, the grid cannot be, or the driver refuses the launch.\n\
         {safety}        \
         pub unsafe fn launch_grid(\n            \
         &self,\n            \
         stream: &(impl ttc_rt::AsStream + ?Sized),\n            \
         grid: [u32; 3],\n            \
         args: &{args},\n        \
         ) -> Result<(), ttc_rt::Error> {{\n            \
         // SAFETY: the caller keeps the same promises.\n            \
         unsafe {{ self.start(stream, Some(grid), args) }}\n        \
         }}\n\n        \
         unsafe fn start(\n            \
         &self,\n            \
         stream: &(impl ttc_rt::AsStream + ?Sized),\n            \
         grid: Option<[u32; 3]>,\n            \
         {unused}: &{args},\n        \
         ) -> Result<(), ttc_rt::Error> {{\n            \
         let arguments: [ttc_rt::Argument; {}] = {list};\n            \
         let mut parameters = ttc_rt::Parameters::<{bytes}>::new();\n            \
         // SAFETY: the arguments are those of the tables, and the caller keeps the promises.\n            \
         unsafe {{ self.0.launch(stream, grid, &arguments, parameters.as_mut()) }}\n        \
         }}\n",
        values.len(),
    );
}

/// The section of the documentation that says what a caller must see to.
fn safety(k: &Printed<'_>) -> String {
    let mut out = String::from(
        "        ///\n        \
         /// # Safety\n        \
         /// What the kernel reads and writes with these arguments is memory that stays until it has run, and nobody\n        \
         /// else writes or reads it meanwhile.\n",
    );
    if k.kernel.variants.iter().any(|v| v.descriptor.elsewhere.writes) {
        out.push_str(
            "        /// This kernel also writes to memory whose address it reads from memory or computes from a number.\n",
        );
    } else if k.kernel.variants.iter().any(|v| v.descriptor.elsewhere.reads) {
        out.push_str(
            "        /// This kernel also reads memory whose address it reads from memory or computes from a number.\n",
        );
    }
    out
}

/// What is launched where the grid follows from the arguments. `None` if a variant does not say it.
fn grid_words(k: &Printed<'_>) -> Option<String> {
    let mut grids = k.kernel.variants.iter().map(|v| v.descriptor.grid.as_ref());
    let first = grids.next()??;
    let mut same = true;
    for other in grids {
        same &= other? == first;
    }
    let other = if same { "" } else { ", or as many as the chosen variant's grid has" };
    Some(format!("`({})` programs{other}", doc(&first.join(", "))))
}

/// The text as it may stand in a line of documentation, between backquotes.
fn doc(text: &str) -> String {
    one_line(text).replace('`', "'")
}
