//! Runs the variants of the pipeline on one module.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::machine_code::{self, MachineCode};
use crate::variants::Variant;
use ttc::backend::{GpuOptions, llir, lower};
use ttc::codegen::{CodegenOptions, Module};
use ttc::ir::Ir;
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::passes::manager;
use ttc::ptxas::find_libdevice;
use ttc::source::SourceMap;
use ttc::target::Target;

/// What one variant costs and gives.
pub(crate) struct Measured {
    pub passes: Duration,
    pub back_end: Duration,
    pub code: MachineCode,
}

/// Time that this process has computed, on all threads together: LLVM works on one of its own, and other processes must
/// not count.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to a valid structure of its own type.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Reads a file of TTGIR, and prepares it for code generation.
///
/// # Errors
/// Why it cannot be.
pub(crate) fn read(file: &str, target: Target) -> Result<Ir, String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let mut map = SourceMap::default();
    let id = map.add(file, None, text.as_str());
    let first = |d: Vec<ttc::diag::Diagnostic>| d.into_iter().next().map_or_else(String::new, |d| d.message);
    let mut ir = parse_module(&map, id, &ParseOptions::default()).map_err(first)?;
    let options = GpuOptions::new(target);
    let pipeline = llir(&options).map_err(|d| d.message)?;
    let report = manager::run(&mut ir, &pipeline, |_| vec![], &mut []);
    if report.is_ok() { Ok(ir) } else { Err(first(report.diagnostics)) }
}

/// Lowers for a pipeline, with libdevice linked; no pipeline is the built-in one.
///
/// # Errors
/// Why it cannot be.
pub(crate) fn lowered(ir: &Ir, target: Target, passes: Option<&str>) -> Result<Module, String> {
    let options = CodegenOptions { llvm_passes: passes.map(str::to_owned), ..CodegenOptions::new(target) };
    let mut module =
        lower(ir, &options, None).map_err(|d| d.into_iter().next().map_or_else(String::new, |d| d.message))?;
    if module.needs_library() {
        let path = find_libdevice(None).map_err(|d| d.message)?;
        module.link_library(&path).map_err(|d| d.message)?;
    }
    Ok(module)
}

/// Writes the LLVM IR that the pipelines get to a file, for LLVM's own tools.
///
/// # Errors
/// Why it cannot be made or written.
pub(crate) fn write_llir(file: &str, target: Target, to: &Path) -> Result<(), String> {
    let name = Path::new(file).with_extension("ll");
    let text = lowered(&read(file, target)?, target, None)?.to_llir();
    std::fs::write(to.join(name.file_name().unwrap_or_default()), text).map_err(|e| e.to_string())
}

/// What each variant costs and gives on one module; the fastest of several runs counts.
///
/// # Errors
/// Why the module, or one of the variants, cannot be compiled.
pub(crate) fn measure(file: &str, target: Target, list: &[Variant], runs: u32) -> Result<Vec<Measured>, String> {
    let ir = read(file, target)?;
    let mut known = BTreeMap::new();
    let mut best = vec![(Duration::MAX, Duration::MAX); list.len()];
    let mut texts = vec![String::new(); list.len()];
    for _ in 0..runs {
        for (i, variant) in list.iter().enumerate() {
            let failed = |d: ttc::diag::Diagnostic| format!("{}: {}", variant.name, d.message);
            let mut module = lowered(&ir, target, Some(&variant.pipeline))?;
            let start = cpu_time();
            module.optimize().map_err(failed)?;
            let middle = cpu_time();
            texts[i] = module.emit_assembly().map_err(failed)?;
            best[i] = (best[i].0.min(middle.saturating_sub(start)), best[i].1.min(cpu_time().saturating_sub(middle)));
        }
    }
    let code = texts.iter().map(|ptx| machine_code::of_ptx(ptx, target, &mut known)).collect::<Result<Vec<_>, _>>()?;
    Ok(best.into_iter().zip(code).map(|((passes, back_end), code)| Measured { passes, back_end, code }).collect())
}
