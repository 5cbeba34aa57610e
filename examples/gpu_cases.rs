//! Writes a folder with which a machine with a GPU, but without ttc, checks every case of `kernels/`.
//!
//! `cargo run --release --example gpu_cases -- OUT [--only TEXT] [--limit N] [--sample N] [--arch sm_90a]
//! [--num-ctas N,N] [--pipeline LIST] [--no-interp]`
//!
//! 1. Every configuration of every case (`--limit N`: at most N a case, spread evenly over them) is compiled, in
//!    parallel, and with `--num-ctas` for clusters of each of these sizes. `--pipeline` is that of `ttc compile`.
//! 2. The reference, and unless `--no-interp` the interpreter, say what each output buffer should hold. Configurations
//!    that compute the same share both.
//! 3. OUT/manifest.json lists the configurations with grid, arguments and files. Files are named by their contents, so
//!    equal ones are stored once. Random inputs are not stored: `scripts/gpu/run_cases.py` makes the same numbers from
//!    the seeds, and checks a checksum.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

#[path = "../tests/suite/references/mod.rs"]
mod references;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use ttc::cases::config::Buffer;
use ttc::cases::random::{self, Fill};
use ttc::cases::{Config, Folder, Inputs, Instance, InstanceArg, Loaded, Value, launch};
use ttc::diag::Diagnostic;
use ttc::driver::{Debug, Job, Pipelining, Stage, run_all};
use ttc::interp::RunOptions;
use ttc::irgen::types::Dtype;
use ttc::target::Target;

struct Settings {
    out: PathBuf,
    arch: String,
    limit: usize,
    interp: bool,
    /// Blocks of a cluster, in place of what a case says.
    num_ctas: Vec<u32>,
    /// Choices of the pipeliner, in place of what a case says.
    pipelining: Option<Pipelining>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1).cloned());
    let Some(out) = args.first().filter(|a| !a.starts_with('-')) else {
        eprintln!("usage: gpu_cases OUT [--only TEXT] [--limit N] [--arch sm_90a] [--no-interp]");
        return ExitCode::from(2);
    };
    let settings = Settings {
        out: out.into(),
        arch: value("--arch").unwrap_or_else(|| "sm_90a".to_owned()),
        limit: value("--limit").or_else(|| value("--sample")).and_then(|n| n.parse().ok()).unwrap_or(usize::MAX),
        num_ctas: value("--num-ctas").map_or(vec![], |v| v.split(',').filter_map(|n| n.parse().ok()).collect()),
        pipelining: value("--pipeline").map(|list| Pipelining::parse(&list).unwrap()),
        interp: !args.iter().any(|a| a == "--no-interp"),
    };
    std::fs::create_dir_all(settings.out.join("data")).unwrap();
    let only = value("--only").unwrap_or_default();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| {
        p.extension().is_some_and(|e| e == "toml") && p.file_stem().unwrap().to_string_lossy().contains(&only)
    });
    files.sort();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let work = || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
                    let entry = case(&settings, file);
                    eprintln!("{name}: {} configurations", entry.as_array().map_or(0, Vec::len));
                    done.lock().unwrap().insert(name, entry);
                }
            };
            std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, work).unwrap();
        }
    });
    let done = done.into_inner().unwrap();
    let text = serde_json::to_string_pretty(&json!({ "arch": settings.arch, "cases": done })).unwrap();
    std::fs::write(settings.out.join("manifest.json"), text).unwrap();
    ExitCode::SUCCESS
}

/// Something that went wrong before a launch, with its code.
fn failure(config: &str, d: &[Diagnostic]) -> Json {
    let error = d.iter().find(|d| d.is_error()).or(d.first());
    json!({ "config": config, "code": error.map_or("", |d| d.code.id), "message": error.map_or("", |d| d.message.as_str()) })
}

/// The configurations of one case.
fn case(s: &Settings, file: &Path) -> Json {
    let mut folder = Folder::default();
    let loaded = match folder.load(file) {
        Ok(l) => l,
        Err(d) => return json!([failure("", &d)]),
    };
    let chosen = match loaded.case.spread(s.limit) {
        Ok(c) => c,
        Err(d) => return json!([failure("", &[d])]),
    };
    // What is expected, by what is computed.
    let mut expected: BTreeMap<String, Json> = BTreeMap::new();
    let blocks = if s.num_ctas.is_empty() { vec![None] } else { s.num_ctas.iter().copied().map(Some).collect() };
    let each = chosen.iter().flat_map(|config| blocks.iter().map(move |&blocks| (config, blocks)));
    Json::Array(each.map(|of| one(s, &mut folder, &loaded, of, &mut expected)).collect())
}

fn one(
    s: &Settings,
    folder: &mut Folder,
    loaded: &Loaded,
    (config, num_ctas): (&Config, Option<u32>),
    expected: &mut BTreeMap<String, Json>,
) -> Json {
    let mut shown = config.to_string();
    let mut instance = match loaded.case.instance(&loaded.kernel, config) {
        Ok(i) => i,
        Err(d) => return failure(&shown, &d),
    };
    if let Some(blocks) = num_ctas {
        instance.options.num_ctas = Some(blocks);
        shown = format!("{shown} num_ctas={blocks}");
    }
    instance.options.pipelining = s.pipelining.or(instance.options.pipelining);
    let target = match Target::parse(&s.arch) {
        Ok(t) => t,
        Err(d) => return failure(&shown, &[d]),
    };
    for (name, value) in &mut instance.options.defines {
        // Where products have no tf32, its cases are multiplied exactly. Their tolerances allow more than that.
        if value == "'tf32'" && !target.dot_precisions().contains(&"tf32") {
            "'ieee'".clone_into(value);
            shown = format!("{shown} {name}='ieee'");
        }
    }
    let job = Job {
        kernel: Some(loaded.kernel.name.clone()),
        ..Job::new(loaded.input.clone(), target, Arc::new(instance.options.clone()))
    };
    let outcome = run_all(&[job], &folder.sources, &[Stage::Binary], &Debug::default(), 1).remove(0);
    let made = match outcome.result {
        Ok(made) => made,
        Err(d) => return failure(&shown, &d),
    };
    let want =
        expected.entry(config.meaning().to_string()).or_insert_with(|| expect(s, folder, loaded, &instance)).clone();
    let m = &made.metadata;
    json!({
        "config": shown,
        "kernel": m.name,
        "cubin": store(s, "cubin", &made.artifacts[&Stage::Binary]),
        "grid": instance.grid,
        "threads": m.num_warps.map(|n| target.warp_size() * n),
        "cluster": m.cluster_dims.map(|c| c[0]),
        "shared": m.shared,
        "hidden_params": m.hidden_params,
        "scratch": m.global_scratch_size,
        "descriptors": m.tensordesc_meta,
        "launch": m.launch,
        "registers": m.registers,
        "spills": m.spills,
        "args": instance.args.iter().map(|a| argument(s, a)).collect::<Vec<_>>(),
        "expected": want,
    })
}

/// A file named by its contents.
fn store(s: &Settings, extension: &str, bytes: &[u8]) -> String {
    let name = format!("data/{}.{extension}", ttc::fingerprint::fingerprint([bytes]));
    let path = s.out.join(&name);
    if !path.exists() {
        std::fs::write(path, bytes).unwrap();
    }
    name
}

/// The CRC-32 of zip and PNG, which Python's zlib computes.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

fn argument(s: &Settings, arg: &InstanceArg) -> Json {
    match arg {
        InstanceArg::Scalar { name, dtype, value } => {
            let bits = match value {
                Value::Float(v) => random::encode(*dtype, [*v]),
                v if dtype.is_float() => random::encode(*dtype, [v.as_f64().unwrap_or_default()]),
                v => v.as_int().unwrap_or_default().to_le_bytes()[..random::element_size(*dtype)].to_vec(),
            };
            json!({ "name": name, "bits": bits })
        }
        InstanceArg::Buffer(b) => {
            let fill = match &b.fill {
                Fill::Poison => json!(["poison"]),
                Fill::Normal(m, d) => json!(["normal", m, d]),
                Fill::Uniform(lo, hi) => json!(["uniform", lo, hi]),
                Fill::Randint(lo, hi) => json!(["randint", lo, hi]),
                Fill::Permutation => json!(["permutation"]),
                Fill::Arange => json!(["arange"]),
                Fill::Constant(c) if c.is_finite() => json!(["constant", c]),
                Fill::Constant(_) | Fill::Each(_) => json!(["file", store(s, "bin", &b.bytes())]),
            };
            let crc = if b.fill == Fill::Poison { Json::Null } else { json!(crc32(&b.bytes())) };
            let seed = b.seed.to_string();
            json!({ "name": b.name, "dtype": word(b.dtype), "shape": b.shape, "fill": fill, "seed": seed, "crc32": crc, "out": b.out, "tolerance": b.tolerance, "desc": !b.block.is_empty() })
        }
    }
}

fn word(dtype: Dtype) -> String {
    dtype.short()
}

/// What the outputs should hold: by the reference, rounded to the buffer's type, and by the interpreter.
fn expect(s: &Settings, folder: &mut Folder, loaded: &Loaded, instance: &Instance) -> Json {
    let mut out = BTreeMap::new();
    let inputs = Inputs::new(instance);
    let reference = references::lookup(&loaded.case.reference).map(|r| r(&inputs));
    let bytes = |b: &Buffer| {
        reference.as_ref().and_then(|r| r.get(&b.name)).map(|v| random::encode(b.dtype, v.iter().copied()))
    };
    let lowered = s.interp.then(|| launch::lower(&mut folder.sources, loaded, instance));
    let run = |l: ttc::irgen::Lowered| {
        launch::run(&l.ir, &l.kernel, instance, &RunOptions { threads: 1, ..RunOptions::default() })
    };
    let ran = lowered.map(|l| l.and_then(run));
    for b in instance.outputs() {
        let interp = match &ran {
            Some(Ok(done)) => json!(store(s, "bin", &done.outputs[&b.name])),
            Some(Err(d)) => failure("", d),
            None => Json::Null,
        };
        out.insert(
            b.name.clone(),
            json!({ "reference": bytes(b).map(|v| store(s, "bin", &v)), "interpreter": interp }),
        );
    }
    json!(out)
}
