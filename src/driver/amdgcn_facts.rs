//! Reads what assembly of AMD's GPUs says of its first kernel.
//!
//! See LLVM, "User Guide for AMDGPU Backend", "Code Object V3 and Above Predefined Symbols" and "Code Object V5
//! Metadata".
//! 1. `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"` names the processor, perhaps with modes behind a colon.
//! 2. `.amdhsa_kernel NAME` is the kernel.
//! 3. The metadata has the threads of the largest block and of a warp, and the launch has exactly those.

use super::ptx_facts::PtxFacts;

/// What the text says; `None` if it is no assembly of an AMD GPU.
pub(super) fn of(text: &str) -> Option<PtxFacts> {
    let (_, rest) = text.split_once(".amdgcn_target")?;
    let target = rest.split('"').nth(1)?.rsplit_once("--")?.1;
    let word = |name: &str| {
        let line = text.lines().find_map(|l| l.trim().trim_start_matches("- ").strip_prefix(name))?;
        line.split_whitespace().next().map(str::to_owned)
    };
    let number = |name: &str| word(name)?.parse::<u32>().ok();
    let threads = number(".max_flat_workgroup_size:").zip(number(".wavefront_size:"));
    Some(PtxFacts {
        target: Some(target.split(':').next().unwrap_or(target).to_owned()),
        kernel: word(".amdhsa_kernel"),
        num_warps: threads.and_then(|(threads, warp)| threads.checked_div(warp)),
        num_ctas: Some(1),
        ..PtxFacts::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_read() {
        let text = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942:sramecc+\"\n.amdhsa_kernel add\n.amdgpu_metadata\n\
                    amdhsa.kernels:\n  - .agpr_count: 0\n    .max_flat_workgroup_size: 256\n    .wavefront_size: 64\n";
        let facts = of(text).unwrap();
        assert_eq!((facts.target.as_deref(), facts.kernel.as_deref()), (Some("gfx942"), Some("add")));
        assert_eq!((facts.num_warps, facts.num_ctas), (Some(4), Some(1)));
        assert!(of(".version 7.0").is_none());
    }
}
