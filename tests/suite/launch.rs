//! What the launch descriptor of a kernel says, held against its PTX and its case file.

use std::collections::BTreeSet;

use ttc::cases::config::{Instance, InstanceArg};
use ttc::driver::Compiled;

/// Buffers that a kernel writes for itself alone: the kernel and the argument.
const NOT_COMPARED: &[(&str, &str)] = &[("running_sum", "flag_ptr"), ("running_sum", "carry_ptr")];

/// What is false or missing in the descriptor of a compiled case: parameters that the PTX declares in another way, and
/// buffers that the case calls results and the descriptor does not, or the other way round.
pub(crate) fn faults(made: &Compiled, ptx: &str, instance: &Instance) -> Vec<String> {
    let Some(launch) = &made.metadata.launch else { return vec!["there is no launch descriptor".to_owned()] };
    let mut faults = vec![];
    let described: Vec<u32> = launch.parameters.iter().map(|p| p.size).collect();
    let declared = declared_sizes(ptx);
    if described != declared {
        faults.push(format!("the PTX declares parameters of {declared:?} bytes, the descriptor has {described:?}"));
    }
    let in_steps = launch.parameters.windows(2).all(|p| p[0].offset + p[0].size <= p[1].offset);
    if !in_steps || launch.parameters.iter().any(|p| p.offset % p.align != 0) {
        faults.push(format!("parameters overlap or are not aligned: {:?}", launch.parameters));
    }
    let results: BTreeSet<&str> = instance.args.iter().filter_map(result).collect();
    let kept = |name: &str| NOT_COMPARED.contains(&(made.kernel.as_str(), name));
    let written: BTreeSet<&str> = launch
        .arguments
        .iter()
        .filter(|a| a.access.is_some_and(|access| access.writes))
        .map(|a| a.name.as_str())
        .filter(|name| !kept(name))
        .collect();
    if results != written {
        faults.push(format!("the case's results are {results:?}, the descriptor says that {written:?} are written"));
    }
    let threads = made.metadata.num_warps.unwrap() * 32;
    if launch.threads != threads || Some(launch.shared) != made.metadata.shared || launch.symbol != made.kernel {
        faults.push(format!("{launch:?} disagrees with {:?}", made.metadata));
    }
    faults
}

fn result(arg: &InstanceArg) -> Option<&str> {
    match arg {
        InstanceArg::Buffer(b) if b.out => Some(&b.name),
        _ => None,
    }
}

/// Bytes of the parameters of the kernel, as its header declares them: `.param .u32 n`, `.param .align 64 .b8 d[128]`.
fn declared_sizes(ptx: &str) -> Vec<u32> {
    let header = ptx.split(".entry").nth(1).unwrap().split(')').next().unwrap();
    let size = |param: &str| {
        if let Some((_, count)) = param.split_once('[') {
            return count.split(']').next().unwrap().parse().unwrap();
        }
        let word = param.split_whitespace().find(|w| w.starts_with(['.']) && w.ends_with(|c: char| c.is_ascii_digit()));
        word.unwrap().trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().unwrap() / 8
    };
    header.split(".param").skip(1).map(size).collect()
}
