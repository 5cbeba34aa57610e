//! The check of shared memory (`ttc-check-shared-memory`) passes every kernel of `kernels/` as it goes to code
//! generation, and refuses it with one barrier, one fence or one wait less, or with a buffer over another one.
//!
//! Each change is made in place and taken back. What the check lets pass although something is gone stands in
//! [`NEEDLESS`], with the reason.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

use ttc::analysis::check_shared::check;
use ttc::cases::{Folder, Loaded};
use ttc::driver::{Debug, Job, Stage, run_all};
use ttc::ir::core::{Attr, Ir, Op};
use ttc::ir::dialects::{OpKind, ScfOp, TtgOp, TtngOp};
use ttc::ir::text::{ParseOptions, parse_module};
use ttc::passes::manager::{self, Pipeline};
use ttc::source::SourceMap;
use ttc::target::Target;

use super::assembles::one_case_a_kernel;
use super::kernels::in_parallel;

/// A target, and the passes between TTGIR and the allocation of shared memory.
const MACHINES: [(&str, &str); 4] = [
    ("sm_80", "ttc-full-iterations,ttc-unroll-streams"),
    ("sm_90a", "ttc-full-iterations,ttc-unroll-streams"),
    ("sm_90a", "ttc-full-iterations,ttc-unroll-streams,ttc-refill-slots"),
    ("sm_90a", "ttc-full-iterations,ttc-unroll-streams,ttc-refill-slots,ttc-rotate-chains"),
];

/// What comes between these and the check.
const PREPARATION: &str = "allocate-shared-memory-nv,triton-nvidia-gpu-proxy-fence-insertion,tritongpu-insert-barriers";

/// Operations without which a kernel is still safe: the kernel's case, the target, and what is spoiled.
const NEEDLESS: &[(&str, &str, &str)] = &[
    // The barrier shows all threads the copy into one buffer that a wait has just ended. The load behind it reads
    // another one, which an earlier barrier has shown: the check knows which buffer it is.
    ("matmul", "sm_80", "barrier"),
    ("matmul_row_sums", "sm_80", "barrier"),
    ("matmul_tma", "sm_80", "barrier"),
    ("mixed_matmul", "sm_80", "barrier"),
    ("noinline_matmul", "sm_80", "barrier"),
    // TMA takes away what TMA has brought: no thread has written it.
    ("descriptors_add", "sm_90a", "fence"),
    ("descriptors_copy", "sm_90a", "fence"),
    // The copies in front of the loop begin behind a fence, which orders the queries in shared memory, too.
    ("attention_chains", "sm_90a", "fence"),
    // Threads have only read what TMA writes over.
    ("descriptors_sum", "sm_90a", "fence"),
    // The left operand lies in registers and the right one is not written again. The sum is waited for behind the loop.
    ("mixed_matmul", "sm_90a", "wait"),
    // Behind the loop nobody reads the sum of a tile that there is not.
    ("matmul_persistent", "sm_90a", "wait"),
    // The buffer for the result, moved over that of the second operand instead of the first, which is as dead.
    ("attention_tma", "sm_90a", "place"),
    ("matmul_tma", "sm_90a", "place"),
    ("matmul_tma_host", "sm_90a", "place"),
];

/// A kernel as code generation gets it; nothing if the target cannot have it.
fn prepared(folder: &Folder, loaded: &Loaded, name: &str, (target, first): (&str, &str)) -> Option<Ir> {
    let instance = loaded
        .case
        .instance(&loaded.kernel, &loaded.case.default_config())
        .unwrap_or_else(|d| panic!("{name}: {d:#?}"));
    let target = Target::parse(target).unwrap();
    let job = Job {
        kernel: Some(loaded.kernel.name.clone()),
        ..Job::new(loaded.input.clone(), target, Arc::new(instance.options.clone()))
    };
    let made = run_all(&[job], &folder.sources, &[Stage::Ttgir], &Debug::default(), 1).remove(0).result.ok()?;
    let text = String::from_utf8(made.artifacts[&Stage::Ttgir].clone()).unwrap();
    let mut map = SourceMap::default();
    let file = map.add(format!("{name}.ttgir"), None, text);
    let mut ir =
        parse_module(&map, file, &ParseOptions::default()).unwrap_or_else(|e| panic!("{name}: {}", e[0].message));
    let report = manager::run(
        &mut ir,
        &Pipeline::parse(&format!("{first},{PREPARATION}"), ttc::passes::registry::named).unwrap(),
        ttc::ir::verify::verify,
        &mut [],
    );
    assert!(report.is_ok(), "{name}: {:?}", report.diagnostics);
    Some(ir)
}

/// What may be spoiled at an operation.
fn spoilers(ir: &Ir, op: Op) -> Vec<&'static str> {
    match ir.kind(op) {
        // Others order global memory.
        OpKind::Ttg(TtgOp::Barrier) if ir.int_attr(op, "addrSpace").is_some_and(|spaces| spaces & 1 != 0) => {
            vec!["barrier"]
        }
        OpKind::Ttng(TtngOp::FenceAsyncShared) => vec!["fence"],
        OpKind::Ttng(TtngOp::WaitBarrier) => vec!["phase"],
        OpKind::Ttng(TtngOp::ArriveBarrier) => vec!["arrival"],
        // Behind a loop all copies are waited for, and nobody reads them.
        OpKind::Ttg(TtgOp::AsyncWait) if ir.operands(op).is_empty() => vec![],
        OpKind::Ttg(TtgOp::AsyncWait) | OpKind::Ttng(TtngOp::WarpGroupDotWait | TtngOp::TmaStoreWait) => vec!["wait"],
        OpKind::Ttg(TtgOp::LocalAlloc) => vec!["place"],
        _ => vec![],
    }
}

/// Spoils one operation, asks, and mends it again. Whether the check let it pass.
fn survives(ir: &mut Ir, op: Op, target: &Target) -> bool {
    let name = match ir.kind(op) {
        OpKind::Ttg(TtgOp::AsyncWait) => "num",
        OpKind::Ttg(TtgOp::LocalAlloc) => "allocation.offset",
        OpKind::Ttng(TtngOp::WarpGroupDotWait | TtngOp::TmaStoreWait) => "pendings",
        _ => return survives_without(ir, op, target),
    };
    let before = ir.int_attr(op, name).unwrap();
    if name == "allocation.offset" {
        let apart = |&other: &Op| ir.is(other, TtgOp::LocalAlloc) && ir.int_attr(other, name) != Some(before);
        let Some(other) = ir.all_ops(ir.module()).into_iter().find(apart) else { return false };
        ir.set_attr(op, name, Attr::i32(ir.int_attr(other, name).unwrap()));
    } else {
        ir.set_attr(op, name, Attr::i32(before + 1));
    }
    let safe = check(ir, target).is_empty();
    ir.set_attr(op, name, Attr::i32(before));
    safe
}

fn survives_without(ir: &mut Ir, op: Op, target: &Target) -> bool {
    let next = ir.next_op(op).unwrap();
    ir.detach(op);
    let safe = check(ir, target).is_empty();
    ir.insert_before(next, op);
    safe
}

#[test]
fn kernels_are_safe_and_with_one_barrier_fence_or_wait_less_they_are_not() {
    let counts: Mutex<BTreeMap<&str, (usize, usize)>> = Mutex::default();
    let wrong = in_parallel(&one_case_a_kernel(), |path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut folder = Folder::default();
        let loaded = folder.load(path).unwrap();
        let mut wrong = vec![];
        for machine in MACHINES {
            let target = machine.0;
            let device = Target::parse(target).unwrap();
            let Some(mut ir) = prepared(&folder, &loaded, &name, machine) else { continue };
            // Only what is refilled, and what is rotated, is another module.
            let has = |kind: OpKind| ir.all_ops(ir.module()).iter().any(|&op| ir.is(op, kind));
            let is_same = machine == MACHINES[2] && !has(TtngOp::ArriveBarrier.into())
                || machine == MACHINES[3] && !has(ScfOp::While.into());
            if is_same {
                continue;
            }
            wrong.extend(check(&ir, &device).into_iter().map(|fault| format!("{name} for {target}: {}", fault.text)));
            for op in ir.all_ops(ir.module()) {
                for spoiler in spoilers(&ir, op) {
                    let survives = survives(&mut ir, op, &device);
                    let mut counts = counts.lock().unwrap();
                    let count = counts.entry(spoiler).or_default();
                    *count = (count.0 + usize::from(!survives), count.1 + 1);
                    let known = NEEDLESS.contains(&(name.as_str(), target, spoiler));
                    if survives && !known {
                        wrong.push(format!(
                            "{name} for {target}: nobody misses the {spoiler} of {:?}",
                            ir.loc(op).file_line_col()
                        ));
                    }
                }
            }
        }
        wrong
    });
    let counts = counts.into_inner().unwrap();
    assert!(wrong.is_empty(), "{counts:?}, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts["barrier"].1 >= 50, "{counts:?}");
    assert!(counts["arrival"].1 >= 4, "{counts:?}");
}
