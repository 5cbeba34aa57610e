//! Random kernels in TTIR, and the law that passes keep what they compute.
//!
//! 1. `generate.rs` makes the text of a kernel from a seed: tensors and scalars of integers and floats, loops,
//!    conditions, calls, loads and stores, reductions, scans and matrix products.
//! 2. [`check`] runs it in the interpreter, then after each TTIR pass alone, after the whole pipeline, and after a
//!    random list of passes. What the kernel leaves in memory must be the same bits, except that any NaN equals any
//!    other.
//!
//! 3. [`check_pipelines`] takes larger kernels, whose sums are exact, through the pipelines of NVIDIA's GPUs, with
//!    random numbers of warps and stages: to the TTGIR that the interpreter understands, which ends before the
//!    pipeliner; and to PTX, which runs in the emulator.
//!
//! `cargo test passes_keep_random` runs for some seconds; `cargo run --release --example random_ir -- --seconds 600
//! [--seed N]` for as long as asked. A failure names the seed.

pub(crate) mod emulated;
mod generate;

use ttc::backend::{self, GpuOptions};
use ttc::driver::JobOptions;
use ttc::interp::{Arg, Memory, RunOptions, run};
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::ir::{FloatKind, Ir, Type};
use ttc::passes::manager::{self, Pipeline};
use ttc::passes::registry;
use ttc::source::SourceMap;
use ttc::target::Target;

pub(crate) use generate::{Form, Random, generate};

/// The bits of 0, 1, -1, 2, -2, 3, -3, 4 and -4 as `f16`.
const HALVES: [u16; 9] = [0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200, 0xc200, 0x4400, 0xc400];

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
    let form = Form::SMALL;
    let text = generate(seed, form);
    let fail = |what: String| format!("seed {seed}: {what}\n{text}");
    let before = parsed(&text).map_err(fail)?;
    let want = outcome(&before, seed, form).map_err(fail)?;
    let mut random = Random::new(seed ^ 0x5eed);
    let names = ttir_passes();
    let mut lists: Vec<Pipeline> =
        names.iter().map(|n| Pipeline::parse(n, registry::named).map_err(|d| d.message)).collect::<Result<_, _>>()?;
    for name in ["sm_90a", "sm_80"] {
        lists.push(backend::ttir(&GpuOptions::new(Target::parse(name).map_err(|d| d.message)?)));
    }
    let some: Vec<&str> = (0..6).map(|_| names[random.below(names.len())]).collect();
    lists.push(Pipeline::parse(&some.join(","), registry::named).map_err(|d| d.message)?);
    lists.iter().try_for_each(|pipeline| keeps(&before, &want, pipeline, seed, form)).map_err(fail)
}

/// What kind of kernel [`check_pipelines`] makes of a seed.
pub(crate) fn form_for_pipelines(seed: u64) -> Form {
    Form { side: [16, 32, 64][Random::new(seed ^ 0x51de).below(3)], is_exact: true }
}

/// Checks one seed through the pipelines of NVIDIA's GPUs.
///
/// # Errors
/// What went wrong, with the pipeline and the kernel's text.
pub(crate) fn check_pipelines(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed ^ 0x77617270);
    let form = form_for_pipelines(seed);
    let text = generate(seed, form);
    let fail = |what: String| format!("seed {seed}: {what}\n{text}");
    let before = parsed(&text).map_err(fail)?;
    let want = outcome(&before, seed, form).map_err(fail)?;
    let emulated = random.below(3);
    for (i, name) in ["sm_80", "sm_90", "sm_90a"].into_iter().enumerate() {
        let target = Target::parse(name).map_err(|d| d.message)?;
        let (num_warps, num_stages) = ([1, 2, 4, 8][random.below(4)], 1 + random.below(4) as u32);
        let fail = |e: String| fail(format!("{name}, {num_warps} warps, {num_stages} stages: {e}"));
        let options = GpuOptions { num_warps, num_stages, ..GpuOptions::new(target) };
        let all = backend::ttgir(&options).to_string();
        let front = all.split_once(",tritongpu-assign-latencies").map_or(all.as_str(), |(front, _)| front);
        let list = format!("{},{front}", backend::ttir(&options));
        let pipeline = Pipeline::parse(&list, registry::named).map_err(|d| d.message)?;
        keeps(&before, &want, &pipeline, seed, form).map_err(fail)?;
        if i == emulated {
            runs(&text, &want, (target, num_warps, num_stages), seed, form).map_err(fail)?;
        }
    }
    Ok(())
}

/// Whether a kernel leaves what is wanted as PTX too.
fn runs(
    text: &str,
    want: &[u32],
    (target, num_warps, num_stages): (Target, u32, u32),
    seed: u64,
    form: Form,
) -> Result<(), String> {
    let types =
        [("x", "*fp32"), ("y", "*i32"), ("h", "*fp16"), ("fo", "*fp32"), ("io", "*i32"), ("n", "i32"), ("s", "fp32")];
    let params = types.map(|(name, ty)| {
        let divisibility = if ty.starts_with('*') { 16 } else { 1 };
        format!("{{\"name\":\"{name}\",\"type\":\"{ty}\",\"divisibility\":{divisibility}}}")
    });
    let text = format!(
        "{text}// ttc.metadata: {{\"kernel\":\"k\",\"arch\":\"{}\",\"params\":[{}],\"constants\":{{}}}}\n",
        target.name,
        params.join(",")
    );
    // Products and sums are rounded one by one, as in the interpreter.
    let options = JobOptions {
        num_warps: Some(num_warps),
        num_stages: Some(num_stages),
        fp_fusion: false,
        ..JobOptions::default()
    };
    let names = types.map(|(name, _)| name.to_owned());
    let (memory, args) = arguments(seed, form);
    emulated::check(&text, (target, options), [1, 1, 1], (&names, &args, &memory), |bytes| {
        first_difference(want, &results(&bytes("fo"), &bytes("io"), form))
    })
}

fn parsed(text: &str) -> Result<Ir, String> {
    let mut map = SourceMap::default();
    let file = map.add("random.ttir", None, text);
    parse_module(&map, file, &ParseOptions::default()).map_err(|e| e[0].message.clone())
}

/// Whether a kernel leaves what is wanted after a pipeline too.
fn keeps(before: &Ir, want: &[u32], pipeline: &Pipeline, seed: u64, form: Form) -> Result<(), String> {
    let mut after = before.clone();
    let report = manager::run(&mut after, pipeline, ttc::ir::verify::verify, &mut []);
    if !report.is_ok() {
        let why = report.diagnostics.last().map_or("no reason", |d| &d.message);
        return Err(format!("{pipeline}: {why}"));
    }
    if !report.changed {
        return Ok(());
    }
    let got = outcome(&after, seed, form).map_err(|e| format!("after {pipeline}: {e}"))?;
    match first_difference(want, &got) {
        Some(what) => Err(format!("{pipeline}: {what}")),
        None => Ok(()),
    }
}

fn first_difference(want: &[u32], got: &[u32]) -> Option<String> {
    let at = (0..want.len()).find(|&i| got.get(i) != Some(&want[i]))?;
    Some(format!("word {at} of {} is {:x?} instead of {:#x}", want.len(), got.get(at), want[at]))
}

/// What the kernel leaves in memory.
fn outcome(ir: &Ir, seed: u64, form: Form) -> Result<Vec<u32>, String> {
    let (mut memory, args) = arguments(seed, form);
    run(ir, "k", [1, 1, 1], &args, &mut memory, &RunOptions { threads: 1, ..RunOptions::default() })
        .map_err(|e| format!("{} {} {:?}", e[0].code.id, e[0].message, e[0].place()))?;
    let bytes = |index: usize| match args[index] {
        Arg::Ptr(id, _) => memory.bytes(id),
        _ => unreachable!("the arguments 3 and 4 are buffers"),
    };
    Ok(results(&bytes(3), &bytes(4), form))
}

/// The words of both buffers; every NaN is the same, and of kernels that are exact both zeros are.
fn results(floats: &[u8], ints: &[u8], form: Form) -> Vec<u32> {
    let words = |bytes: &[u8]| {
        bytes.chunks(4).map(|c| u32::from_le_bytes(c.try_into().expect("four bytes"))).collect::<Vec<u32>>()
    };
    let same = |v: u32| match f32::from_bits(v) {
        f if f.is_nan() => f32::NAN.to_bits(),
        0.0 if form.is_exact => 0,
        _ => v,
    };
    words(floats).into_iter().map(same).chain(words(ints)).collect()
}

/// The memory and the arguments of a kernel, made anew.
fn arguments(seed: u64, form: Form) -> (Memory, Vec<Arg>) {
    let (mut random, size) = (Random::new(seed ^ 0xda7a), form.size());
    let mut memory = Memory::new();
    let (f32_type, i32_type) = (Type::float(FloatKind::F32), Type::int(32));
    // GPUs round numbers below the normal ones to zero before `math.floor`, which is -1 of the negative ones.
    let plain = |f: f32| if form.is_exact && f.is_subnormal() { 0.0 } else { f };
    let floats: Vec<u8> = (0..size).flat_map(|_| plain(random.float()).to_le_bytes()).collect();
    let ints: Vec<u8> = (0..size).flat_map(|_| (random.next() as u32 >> random.below(32)).to_le_bytes()).collect();
    let halves: Vec<u8> = (0..size).flat_map(|_| HALVES[random.below(HALVES.len())].to_le_bytes()).collect();
    let pattern: Vec<u8> = (0..2 * size as u32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    let buffers = [
        memory.add("x", f32_type, &floats),
        memory.add("y", i32_type, &ints),
        memory.add("h", Type::float(FloatKind::F16), &halves),
        memory.add("fo", f32_type, &pattern),
        memory.add("io", i32_type, &pattern),
    ];
    let numbers = [Arg::Int(random.below(9) as i64), Arg::Float(0.75)];
    (memory, buffers.map(|id| Arg::Ptr(id, 0)).into_iter().chain(numbers).collect())
}
