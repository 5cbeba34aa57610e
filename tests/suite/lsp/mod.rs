//! The language server, over the real protocol against the real program.
//!
//! `session.rs` is what a person does in an editor; `random.rs` types at random; `latency.rs` measures, for
//! `make lsp-latency`.

mod client;
mod fixes;
mod latency;
mod random;
mod session;
mod stages;
