//! Random kernels in TTIR, and the law that passes keep what they compute.
//!
//! 1. `generate.rs` makes the text of a kernel from a seed: tensors and scalars of integers and floats, loops,
//!    conditions, calls, loads and stores, reductions, scans and matrix products.
//! 2. [`check`] runs it in the interpreter, then after each TTIR pass alone, after the whole pipeline, and after a
//!    random list of passes. What the kernel leaves in memory must be the same bits, except that any NaN equals any
//!    other.
//!
//! `cargo test passes_keep_random` runs for some seconds; `cargo run --release --example random_ir -- --seconds 600
//! [--seed N]` for as long as asked. A failure names the seed.

mod generate;

use ttc::backend::{self, GpuOptions};
use ttc::interp::{Arg, Memory, RunOptions, run};
use ttc::ir::{FloatKind, Ir, Type};
use ttc::passes::manager::{self, Pipeline};
use ttc::passes::registry;
use ttc::source::SourceMap;
use ttc::target::Target;

pub(crate) use generate::{Random, generate};

/// Elements of each buffer.
pub(crate) const SIZE: usize = 256;

/// The names of the passes that work on TTIR, with those of TTGIR's that ask for no layouts.
pub(crate) fn ttir_passes() -> Vec<&'static str> {
    let ttir = registry::ALL.iter().map(|p| p.name).take_while(|n| *n != "convert-triton-to-tritongpu");
    ttir.chain(["tritongpu-fuse-nested-loops"]).collect()
}

/// Checks one seed.
///
/// # Errors
/// What went wrong, with the pass and the kernel's text.
pub(crate) fn check(seed: u64) -> Result<(), String> {
    let text = generate(seed);
    let mut map = SourceMap::default();
    let file = map.add("random.ttir", None, text.as_str());
    let fail = |what: String| format!("seed {seed}: {what}\n{text}");
    let before = ttc::ir::text::parser::parse_module(&map, file, &ttc::ir::text::parser::ParseOptions::default())
        .map_err(|e| fail(e[0].message.clone()))?;
    let want = outcome(&before, seed).map_err(fail)?;
    let mut random = Random::new(seed ^ 0x5eed);
    let names = ttir_passes();
    let mut lists: Vec<Pipeline> =
        names.iter().map(|n| Pipeline::parse(n, registry::named).map_err(|d| d.message)).collect::<Result<_, _>>()?;
    for name in ["sm_90a", "sm_80"] {
        lists.push(backend::ttir(&GpuOptions::new(Target::parse(name).map_err(|d| d.message)?)));
    }
    let some: Vec<&str> = (0..6).map(|_| names[random.below(names.len())]).collect();
    lists.push(Pipeline::parse(&some.join(","), registry::named).map_err(|d| d.message)?);
    for pipeline in &lists {
        let mut after = before.clone();
        let report = manager::run(&mut after, pipeline, ttc::ir::verify::verify, &mut []);
        if !report.is_ok() {
            return Err(fail(format!("{pipeline}: {}", report.diagnostics[0].message)));
        }
        if !report.changed {
            continue;
        }
        let got = outcome(&after, seed).map_err(|e| fail(format!("after {pipeline}: {e}")))?;
        if let Some(at) = (0..want.len()).find(|&i| want[i] != got[i]) {
            let message = format!("{pipeline} changes word {at} of the results from {:#x} to {:#x}", want[at], got[at]);
            return Err(fail(message));
        }
    }
    Ok(())
}

/// What the kernel leaves in memory, word by word; every NaN is the same.
fn outcome(ir: &Ir, seed: u64) -> Result<Vec<u32>, String> {
    let mut random = Random::new(seed ^ 0xda7a);
    let mut memory = Memory::new();
    let (f32_type, i32_type) = (Type::float(FloatKind::F32), Type::int(32));
    let floats: Vec<u8> = (0..SIZE).flat_map(|_| random.float().to_le_bytes()).collect();
    let ints: Vec<u8> = (0..SIZE).flat_map(|_| (random.next() as u32 >> random.below(32)).to_le_bytes()).collect();
    let (x, y) = (memory.add("x", f32_type, &floats), memory.add("y", i32_type, &ints));
    let pattern: Vec<u8> = (0..2 * SIZE as u32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    let (fo, io) = (memory.add("fo", f32_type, &pattern), memory.add("io", i32_type, &pattern));
    let args = [
        Arg::Ptr(x, 0),
        Arg::Ptr(y, 0),
        Arg::Ptr(fo, 0),
        Arg::Ptr(io, 0),
        Arg::Int(random.below(9) as i64),
        Arg::Float(0.75),
    ];
    run(ir, "k", [1, 1, 1], &args, &mut memory, &RunOptions { threads: 1, ..RunOptions::default() })
        .map_err(|e| format!("{} {} {:?}", e[0].code.id, e[0].message, e[0].place()))?;
    let words = |id| {
        memory.bytes(id).chunks(4).map(|c| u32::from_le_bytes(c.try_into().expect("four bytes"))).collect::<Vec<u32>>()
    };
    let nan = |v: u32| if f32::from_bits(v).is_nan() { f32::NAN.to_bits() } else { v };
    Ok(words(fo).into_iter().map(nan).chain(words(io)).collect())
}
