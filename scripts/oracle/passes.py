"""Compare ttc's TTGIR passes with the reference compiler's, one by one, each on what the reference's passes before it
gave.

usage: passes.py TTC FILE… [--num-ctas N] [--num-warps N] [--num-stages N] [--pass NAME]… [--keep DIR]

FILE is optimised TTIR for sm_90 (`ttc compile … --emit ttir`), or TTGIR; of TTGIR in one file, pieces are separated by
`// -----`, and the passes named by --pass run on each, in their order. Without --pass they are the reference's pipeline
of TTGIR, of which all that ttc has is compared.

For each pass: on how many modules it gives the same, op for op, and on how many the reference changes anything. Passes
in parentheses are the reference's alone: on how many modules they have nothing to do. Every difference is printed, and
kept with the input and both sides under --keep. Needs Triton 3.9 (`make oracle` installs it), no GPU. Exits with 1 if
anything differs.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

import modules

GPU, NVIDIA, COMMON, TTIR = "ttgpuir", "nvidia.ttnvgpuir", "common", "ttir"
TWICE = "tritongpu-remove-layout-conversions", GPU, "add_remove_layout_conversions", []


def pipeline(o):
    """The reference's passes in order: ttc's name and options, the reference's function and arguments. None: ttc has no
    such pass."""
    convert = f"convert-triton-to-tritongpu=target=cuda:90 num-warps={o.num_warps} threads-per-warp=32 num-ctas={o.num_ctas}"
    stages = f"num-stages={o.num_stages}"
    licm = "triton-licm", TTIR, "add_triton_licm", []
    canonicalize = "canonicalize", COMMON, "add_canonicalizer", []
    loop_cse = "triton-loop-aware-cse", TTIR, "add_loop_aware_cse", []
    return [
        (convert, TTIR, "add_convert_to_ttgpuir", ["cuda:90", o.num_warps, 32, o.num_ctas]),
        ("tritongpu-coalesce", GPU, "add_coalesce", []),
        ("tritongpu-F32DotTC=emu-tf32=true", GPU, "add_f32_dot_tc", [True]),
        ("triton-nvidia-gpu-assign-cga-layouts", NVIDIA, "add_assign_cga_layouts", []),
        TWICE,
        ("triton-nvidia-gpu-optimize-cta-locality", NVIDIA, "add_optimize_cta_locality", []),
        TWICE,
        ("tritongpu-optimize-thread-locality", GPU, "add_optimize_thread_locality", []),
        ("tritongpu-accelerate-matmul", GPU, "add_accelerate_matmul", []),
        ("triton-nvidia-check-matmul-two-cta", NVIDIA, "add_check_matmul_two_cta", []),
        TWICE,
        ("tritongpu-optimize-dot-operands", GPU, "add_optimize_dot_operands", [True]),
        ("triton-nvidia-optimize-descriptor-encoding", NVIDIA, "add_optimize_descriptor_encoding", []),
        loop_cse,
        ("tritongpu-fuse-nested-loops", GPU, "add_fuse_nested_loops", []),
        canonicalize,
        licm,
        canonicalize,
        ("tritongpu-combine-tensor-select-and-if", GPU, "add_combine_tensor_select_and_if", []),
        (None, "nvidia.hopper", "add_hopper_warpspec", [o.num_stages, False]),
        (f"tritongpu-assign-latencies={stages}", GPU, "add_assign_latencies", [o.num_stages]),
        ("tritongpu-schedule-loops", GPU, "add_schedule_loops", []),
        (f"tritongpu-pipeline={stages}", GPU, "add_pipeline", [o.num_stages, False]),
        canonicalize,
        loop_cse,
        ("tritongpu-optimize-dot-operands", GPU, "add_optimize_dot_operands", [True]),
        ("tritongpu-coalesce-async-copy", GPU, "add_coalesce_async_copy", []),
        (None, NVIDIA, "add_optimize_tmem_layouts", []),
        ("triton-nvidia-tma-lowering", NVIDIA, "add_tma_lowering", []),
        TWICE,
        ("tritongpu-reduce-data-duplication", GPU, "add_reduce_data_duplication", []),
        ("tritongpu-reorder-instructions", GPU, "add_reorder_instructions", []),
        loop_cse,
        ("symbol-dce", COMMON, "add_symbol_dce", []),
        ("triton-nvidia-gpu-fence-insertion=compute-capability=90", NVIDIA, "add_fence_insertion", [90]),
        (None, NVIDIA, "add_lower_mma", []),
        (None, NVIDIA, "add_hoist_mbarrier_lifecycle", [90]),
        ("sccp", COMMON, "add_sccp", []),
        ("cse", COMMON, "add_cse", []),
        canonicalize,
    ]


def reference(text, group, function, arguments):
    """What one pass of the reference gives."""
    with open(modules._scratch, "w") as f:
        f.write(text)
    library = modules.libtriton
    module = library.ir.parse_mlir_module(modules._scratch, modules._context)
    module.context = modules._context
    manager = library.ir.pass_manager(modules._context)
    vendor, _, leaf = group.rpartition(".")
    getattr(getattr(library.nvidia.passes if vendor else library.passes, leaf), function)(manager, *arguments)
    manager.run(module, "compare")
    return modules.without_locations(str(module))


def ttc(o, text, step):
    r = subprocess.run([o.ttc, "opt", "-", f"--{step}"], input=text, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(f"ttc exits with {r.returncode}: {r.stderr.strip()[:600]}")
    return r.stdout


def one(o, name, text, report):
    """Runs the pipeline on one module; reports (pass, same, changed)."""
    steps = pipeline(o)
    if o.steps:
        steps = [next(s for s in steps if s[0] and s[0].split("=")[0] == wanted) for wanted in o.steps]
    elif "ttg.num-warps" in text:
        steps = steps[3:]
    text = modules.operations(text)
    for number, (step, *rest) in enumerate(steps):
        want = reference(text, *rest)
        if step:
            try:
                why = modules.difference(want, ttc(o, text, step))
            except RuntimeError as e:
                why = str(e)
            report(f"{number:02} {step.split('=')[0]}", not why, want != text)
            if why:
                print(f"FAIL {name}: {number:02} {step}\n{why}", flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    with open(f"{o.keep}/{re.sub('[^a-zA-Z0-9_.-]', '_', name)}.{number:02}.{step.split('=')[0]}.mlir", "w") as f:
                        f.write(text)
        else:
            # What ttc does elsewhere, or not at all, counts as the same only where there is nothing to do.
            report(f"{number:02} ({rest[1].removeprefix('add_')})", want == text, want != text)
        text = want


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ttc")
    p.add_argument("files", nargs="+")
    p.add_argument("--num-ctas", type=int, default=1)
    p.add_argument("--num-warps", type=int, default=4)
    p.add_argument("--num-stages", type=int, default=3)
    p.add_argument("--pass", dest="steps", action="append", default=[])
    p.add_argument("--keep")
    o = p.parse_args()
    same, done, changed, ended = (collections.Counter() for _ in range(4))
    for path in o.files:
        with open(path) as f:
            pieces = f.read().split("// -----")
        for i, text in enumerate(pieces):
            name = os.path.basename(path) + (f"#{i}" if len(pieces) > 1 else "")
            # The reference may end the process on what it cannot do.
            read, write = os.pipe()
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                try:
                    one(o, name, text, lambda *row: os.write(write, (repr(row) + "\n").encode()))
                except Exception as e:  # noqa: BLE001  the reference reports in many ways
                    print(f"the reference refuses {name}: {e}", flush=True)
                    os._exit(1)
                os._exit(0)
            os.close(write)
            with os.fdopen(read) as f:
                for step, good, change in map(eval, f):
                    done[step] += 1
                    same[step] += good
                    changed[step] += change
            ended["modules"] += 1
            ended["whole"] += os.waitpid(child, 0)[1] == 0
    print(f"\n{ended['modules']} modules, {ended['whole']} to the end of the pipeline\n{'pass':50} same of all, changed by the reference")
    for step in sorted(done):
        print(f"{step:50} {same[step]:5} of {done[step]:4} {changed[step]:5}")
    sys.exit(same != done)


if __name__ == "__main__":
    main()
