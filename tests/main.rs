//! The integration tests that are Rust code; a module for each area. Tests that are files are in `cases.rs`.
#![allow(clippy::unwrap_used)]

#[path = "suite/arrows.rs"]
mod arrows;
#[path = "suite/assembles.rs"]
mod assembles;
#[path = "suite/bad_input.rs"]
mod bad_input;
#[path = "suite/build_script.rs"]
mod build_script;
#[path = "suite/cache.rs"]
mod cache;
#[path = "suite/circles.rs"]
mod circles;
#[path = "suite/cmake.rs"]
mod cmake;
#[path = "suite/docs.rs"]
mod docs;
#[path = "suite/emu.rs"]
mod emu;
#[path = "suite/emu_recorded.rs"]
mod emu_recorded;
#[path = "suite/emulate.rs"]
mod emulate;
#[path = "suite/emulate_command.rs"]
mod emulate_command;
#[path = "suite/faults/mod.rs"]
mod faults;
#[path = "suite/fused_steps.rs"]
mod fused_steps;
#[path = "suite/generated.rs"]
mod generated;
#[cfg(unix)]
#[path = "suite/gpu.rs"]
mod gpu;
#[path = "suite/imports.rs"]
mod imports;
#[path = "suite/interp.rs"]
mod interp;
#[path = "suite/interpret.rs"]
mod interpret;
#[path = "suite/irtext.rs"]
mod irtext;
#[path = "suite/kernels.rs"]
mod kernels;
#[path = "suite/large_modules.rs"]
mod large_modules;
#[path = "suite/launch.rs"]
mod launch;
#[path = "suite/launchers_c.rs"]
mod launchers_c;
#[path = "suite/launchers_rust.rs"]
mod launchers_rust;
#[path = "suite/library.rs"]
mod library;
#[cfg(target_os = "linux")]
#[path = "suite/loads_ahead.rs"]
mod loads_ahead;
#[path = "suite/lsp/mod.rs"]
mod lsp;
#[path = "suite/manifest.rs"]
mod manifest;
#[path = "suite/merged_programs.rs"]
mod merged_programs;
#[path = "suite/op_instances.rs"]
mod op_instances;
#[path = "suite/ops_doc.rs"]
mod ops_doc;
#[path = "suite/outputs.rs"]
mod outputs;
#[path = "suite/parser.rs"]
mod parser;
#[path = "suite/parser_text.rs"]
mod parser_text;
#[path = "suite/passes_keep.rs"]
mod passes_keep;
#[path = "suite/pipeline_svg.rs"]
mod pipeline_svg;
#[path = "suite/printed.rs"]
mod printed;
#[path = "suite/random_ir/mod.rs"]
mod random_ir;
#[path = "suite/random_kernels.rs"]
mod random_kernels;
#[path = "suite/reference_docs.rs"]
mod reference_docs;
#[path = "suite/references/mod.rs"]
mod references;
#[path = "suite/remarks.rs"]
mod remarks;
#[path = "suite/report.rs"]
mod report;
#[path = "suite/shared_memory.rs"]
mod shared_memory;
#[cfg(unix)]
#[path = "suite/spills.rs"]
mod spills;
#[path = "suite/split_rows.rs"]
mod split_rows;
#[cfg(unix)]
#[path = "../crates/ttc-rt/tests/stub/build.rs"]
mod stub;
#[path = "suite/tma_loads.rs"]
mod tma_loads;
#[path = "suite/verify.rs"]
mod verify;
