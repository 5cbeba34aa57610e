//! From the syntax tree to TTIR: names, types, compile-time evaluation, calls.
//!
//! The rooms, each of which knows only those before it:
//!
//! 1. [`front`]: what is known of the source before any value is: the names of a file, imports, the library's files,
//!    words of signatures.
//! 2. [`types`] of the language, and [`emit`]: the one way by which operations are made and diagnostics reported.
//! 3. [`value`]: what an expression stands for, at compile time or at run time.
//! 4. [`semantic`]: what operators and conversions mean.
//! 5. [`builtins`]: the primitives, in one table.
//! 6. [`walk`]: walks the kernel and, on the way, every function that it calls; only it knows frames and scopes.
//! 7. [`kernel`]: which function of a file is the kernel, and what its parameters are.
//!
//! 8. [`index`]: where the names of a file lead, for editors.
//!
//! The result is a module with one public function, the kernel, and a private one for each specialisation that it
//! calls; the inliner pass puts those in place. The meaning of everything is Triton 3.9's.
//!
//! Example: [`lower_kernel`] on `add.tk` with `-D BLOCK=1024` gives `tt.func public @add(%x_ptr: !tt.ptr<f32> …)`.

pub mod builtins;
pub mod emit;
pub mod front;
pub mod index;
pub mod kernel;
pub mod semantic;
pub mod types;
pub mod value;
pub mod walk;

pub use emit::Settings;
pub use front::launch::{Given, Launch, LaunchFault};
pub use front::modules::Trail;
pub use front::prelude::embed as embed_library_file;
pub use front::type_rules::{TypeRule, rule_for};
pub use index::docs::{Docs, Member, MemberKind};
pub use index::{Index, Leads, Use, index, reaching};
pub use kernel::config::{ConfigInfo, Plain};
pub use kernel::entry::{Lowered, lower_kernel, watch_kernel};
pub use kernel::list::{KernelInfo, KernelParam, Kind, Source, list_configs, list_kernels};
pub use kernel::request::{KernelRequest, ParamInfo};
pub use kernel::template::Template;
pub use kernel::untyped::check_untyped;
pub use walk::{Sight, Sights};
