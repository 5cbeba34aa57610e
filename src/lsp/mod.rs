//! `ttc lsp`: a language server for kernel files and for IR, over standard input and output.
//!
//! 1. [`server`] reads messages on the main thread, which keeps the open documents ([`documents`]) and answers
//!    requests. It never parses and never waits.
//! 2. Each change of a document becomes a task of the analyst, a thread ([`analyst`]). A newer text stops the work on
//!    an older one. The result is an [`analysis::Analysis`]: diagnostics, where names lead, what expressions are.
//! 3. A request is answered from the analysis of the text that the client sees. If that is still being made, the
//!    request waits in a list while the server goes on; if the text changes first, it ends as "content modified".
//! 4. What takes longer has threads of its own: looking for uses in the files of the workspace ([`references`]), and
//!    compiling what was saved, for registers and shared memory ([`compiled`]).
//!
//! A file a feature: [`hover`], [`goto`], [`references`], [`completion`], [`hints`], [`actions`], [`lens`]. They are
//! functions of an analysis and a place, and know nothing of the protocol's order.
//!
//! What is analysed is what the compiler itself has: the parser, [`crate::irgen`] with its index of names and its
//! record of values, the parser of IR. There is no second front end.

mod actions;
mod analysis;
mod analyst;
mod begin;
mod compiled;
mod completion;
mod diagnostics;
mod documents;
mod goto;
mod hints;
mod hover;
mod kernels;
mod lens;
mod library;
mod positions;
mod project;
mod references;
mod reuse;
mod server;
mod snapshot;
mod stages;
mod uri;

pub use server::serve;
