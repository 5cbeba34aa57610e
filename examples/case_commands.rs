//! Writes how each case of `kernels/` is compiled: a JSON object a line, with the file, the kernel, its signature, its
//! defines and its launch.
//!
//! `cargo run --release --example case_commands -- [--limit N] > FILE`
//!
//! The default configuration of each case, and with `--limit N` up to N configurations, spread evenly over all.
//! `scripts/same_ptx.py` compiles them with two builds of ttc.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use serde_json::json;
use ttc::cases::{Config, Folder};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let limit = args.iter().position(|a| a == "--limit").and_then(|i| args.get(i + 1)?.parse().ok()).unwrap_or(1);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    files.sort();
    for file in files {
        let mut folder = Folder::default();
        let loaded = folder.load(&file).unwrap_or_else(|d| panic!("{}: {d:#?}", file.display()));
        let configs = loaded.case.configs().unwrap_or_else(|d| panic!("{}: {d:#?}", file.display()));
        let default = loaded.case.default_config();
        let take = configs.len().min(limit);
        let chosen: Vec<&Config> =
            if limit == 1 { vec![&default] } else { (0..take).map(|i| &configs[i * configs.len() / take]).collect() };
        for config in chosen {
            let instance =
                loaded.case.instance(&loaded.kernel, config).unwrap_or_else(|d| panic!("{}: {d:#?}", file.display()));
            let o = &instance.options;
            let line = json!({
                "id": format!("{} {config}", file.file_stem().unwrap().to_string_lossy()),
                "path": loaded.input.path,
                "func": loaded.kernel.name,
                "signature": o.signature,
                "defines": o.defines.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>(),
                "options": { "num-warps": o.num_warps, "num-stages": o.num_stages, "num-ctas": o.num_ctas, "maxnreg": o.maxnreg },
            });
            println!("{line}");
        }
    }
}
