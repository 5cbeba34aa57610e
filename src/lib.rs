//! ttc: an ahead-of-time compiler for GPU kernels in the Triton language.
//!
//! A kernel file goes in, PTX or a cubin comes out. No Python and no GPU are needed; a cubin takes NVIDIA's `ptxas`.
//! The program `ttc` is a command line around this library.
//!
//! | to | call | get |
//! |---|---|---|
//! | compile a kernel | [`Compiler::compile`] | [`Artifacts`]: the stages as text or bytes, and the launch [`Metadata`] |
//! | see what a file holds | [`Compiler::list`] | [`Listing`]: kernels, parameters, configurations |
//! | find what is wrong | [`Compiler::check`] | [`Checked`]: diagnostics |
//! | run a kernel on the CPU | [`Compiler::interpret`] | [`Run`], and the buffers of the [`Launch`] |
//!
//! What is wrong with a kernel comes as [`Diagnostics`]; nothing is printed, and nothing is written but temporary files
//! for `ptxas`. Calls share no state that changes, so any number of threads may compile at once.
//!
//! # Compile a text to PTX
//!
//! ```
//! use ttc::{Compiler, Options, Source, Stage};
//!
//! let source = Source::text("scale.tk", r#"
//! import triton
//! import triton.language as tl
//!
//! @triton.jit
//! def scale(x_ptr, factor, n, BLOCK: tl.constexpr):
//!     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
//!     x = tl.load(x_ptr + offs, mask=offs < n)
//!     tl.store(x_ptr + offs, x * factor, mask=offs < n)
//! "#);
//! let options = Options::new().signature("*fp32:16, fp32, i32, 1024").num_warps(8).stages([Stage::Ttir, Stage::Assembly]);
//! let made = Compiler::new("sm_80".parse()?).compile(&source, &options)?;
//! assert!(made.ptx().unwrap().contains(".target sm_80"));
//! assert!(made.text(Stage::Ttir).unwrap().contains("tt.func public @scale"));
//! assert_eq!((made.kernel.as_str(), made.metadata.num_warps, made.metadata.shared), ("scale", Some(8), Some(0)));
//! # Ok::<(), ttc::Diagnostics>(())
//! ```
//!
//! # List kernels
//!
//! ```
//! # use ttc::{Compiler, Options, Source, Target};
//! let compiler = Compiler::new(Target::usual());
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/add.tk");
//! let listing = compiler.list(&Source::file(path), &Options::new());
//! let add = &listing.kernels[0];
//! assert_eq!((add.name.as_str(), add.params[0].ty.as_deref()), ("vector_add", Some("*fp32:16")));
//! ```
//!
//! # Check
//!
//! ```
//! # use ttc::{Compiler, Options, Source, Target};
//! let source = Source::text("k.tk", r#"
//! import triton
//! import triton.language as tl
//!
//! @triton.jit
//! def fill(x_ptr: "*fp32", BLOCK: tl.constexpr = 64):
//!     tl.store(x_ptr + tl.arange(0, BLOK), 1.0)
//! "#);
//! let found = Compiler::new(Target::usual()).check(&source, &Options::new()).diagnostics;
//! let message = found.iter().next().unwrap();
//! assert_eq!((message.code, message.line, message.column), ("E0201", Some(7), Some(35)));
//! assert!(found.to_string().contains("did you mean `BLOCK`?"));
//! ```
//!
//! # Interpret
//!
//! ```
//! # use ttc::{Compiler, Launch, Options, Source, Target};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/add.tk");
//! let x: Vec<f32> = (0..1024).map(|i| i as f32).collect();
//! let y = vec![0.5f32; 1024];
//! let mut sum = vec![0f32; 1024];
//! let launch = Launch::new([2, 1, 1]).input("x_ptr", &x).input("y_ptr", &y).buffer("out_ptr", &mut sum).value("n", 1024);
//! let options = Options::new().define("BLOCK", 512);
//! let run = Compiler::new(Target::usual()).interpret(&Source::file(path), &options, launch)?;
//! assert_eq!((run.programs, sum[0], sum[1023]), (2, 0.5, 1023.5));
//! # Ok::<(), ttc::Diagnostics>(())
//! ```
//!
//! # Inside
//!
//! The modules are hidden: they are internal, for ttc's own program, tests and tools, and change without notice. Below
//! they stand in reading order, which is also the order of the pipeline; `docs/architecture.md` says what each may
//! import.

// The pages of the hidden modules are for readers of the sources, who see private items too.
#![allow(rustdoc::private_intra_doc_links)]

mod compiler;

pub use backend::{Stage, Tma};
pub use compiler::{
    Artifacts, Checked, Compiler, Diagnostics, Element, Launch, Listing, Message, Options, Run, Scalar, Source,
};
pub use diag::{Diagnostic, Severity};
pub use driver::hidden::{Hidden, Number};
pub use driver::metadata::{Metadata, Param, TensorDesc};
pub use irgen::{ConfigInfo, Plain};
pub use irgen::{KernelInfo, KernelParam, Source as ValueSource, Template};
pub use passes::remarks::Group as RemarkGroup;
pub use target::Target;

#[doc(hidden)]
pub mod source;

#[doc(hidden)]
pub mod diag;

#[doc(hidden)]
pub mod draw;

#[doc(hidden)]
pub mod text_file;

#[doc(hidden)]
pub mod whole_file;

#[doc(hidden)]
pub mod cache;

#[doc(hidden)]
pub mod target;

#[doc(hidden)]
pub mod threads;

#[doc(hidden)]
pub mod fingerprint;

#[doc(hidden)]
pub mod lexer;

#[doc(hidden)]
pub mod parser;

#[doc(hidden)]
pub mod ir;

#[doc(hidden)]
pub mod interp;

#[doc(hidden)]
pub mod layout;

#[doc(hidden)]
pub mod irgen;

#[doc(hidden)]
pub mod launch;

#[doc(hidden)]
pub mod analysis;

#[doc(hidden)]
pub mod passes;

#[doc(hidden)]
pub mod codegen;

#[doc(hidden)]
pub mod backend;

#[doc(hidden)]
pub mod ptxas;

#[doc(hidden)]
pub mod driver;

#[doc(hidden)]
pub use ttc_emu as emu;

#[doc(hidden)]
pub mod emulate;

#[doc(hidden)]
pub mod build;

#[doc(hidden)]
pub mod cases;

#[doc(hidden)]
pub mod gpu;

#[doc(hidden)]
pub mod lsp;

#[doc(hidden)]
pub mod report;
