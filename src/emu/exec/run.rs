//! The run of a launch: its checks, and the loop over the clusters of the grid.

use std::collections::VecDeque;

use super::cluster::Cluster;
use super::env::{Run, World};
use super::launch::{Argument, Fault, Launch, Options, Outcome};
use crate::emu::decode::MAX_SHARED;
use crate::emu::decode::program::{Function, Program};
use crate::emu::memory::Memory;
use crate::emu::observe::Log;
use crate::emu::order::Everywhere;
use crate::emu::report::{Actor, Finding, Kind, Site};

/// The steps of a cluster before another one gets its turn.
const TURN: u64 = 1 << 16;

/// How many clusters are there at once, at most.
const RESIDENT: u64 = 256;

/// The bytes of the host that the clusters which are there at once should take, and that one of them may.
const MEMORY: u64 = 1 << 30;
const MOST_MEMORY: u64 = 4 << 30;

/// Runs a kernel of a program.
///
/// # Errors
/// What ends a run: a launch that does not fit the kernel, an access out of bounds, a deadlock, a trap.
pub fn run(
    program: &Program,
    kernel: &str,
    launch: &Launch,
    memory: &mut Memory,
    options: &Options,
) -> Result<Outcome, Box<Fault>> {
    let prepared = prepare(program, kernel, launch, memory);
    let (kernel, params) = prepared.map_err(|message| Box::new(refused(message)))?;
    memory.set_globals(&program.globals);
    let mut code_starts = vec![0];
    for f in &program.functions {
        code_starts.push(code_starts.last().copied().unwrap_or(0) + f.code.len() as u32);
    }
    let run = Run {
        program,
        kernel,
        memory,
        options,
        params,
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        dynamic_shared: launch.dynamic_shared,
        code_starts,
    };
    let footprint = footprint(&run);
    if footprint > MOST_MEMORY {
        let message =
            format!("the emulator needs {} MiB for the blocks of a cluster, and takes 4 GiB", footprint >> 20);
        return Err(Box::new(refused(message)));
    }
    let resident = (MEMORY / footprint.max(1)).clamp(1, RESIDENT);
    let everywhere = Everywhere::new(program.global_granule, program.narrow_scopes);
    let log = options.observe.then(Log::default);
    let mut world = World { log, everywhere, ..World::default() };
    let stopped = clusters(&run, &mut world, resident as usize).err();
    let World { findings, printed, trace, instructions, log, .. } = world;
    let events = log.map(|l| l.events).unwrap_or_default();
    let outcome = Outcome { findings, printed, trace, events, instructions };
    match stopped {
        None => Ok(outcome),
        Some(finding) => Err(Box::new(Fault { finding: *finding, before: outcome })),
    }
}

/// Runs all clusters. A new one is admitted when one is done, and when all that are there have had their turn, so that
/// blocks that wait for a later block go on.
fn clusters(run: &Run, world: &mut World, most: usize) -> super::Try<()> {
    let total: u32 = run.clusters().iter().product();
    let mut next = 0;
    let mut resident = VecDeque::new();
    while next < total || !resident.is_empty() {
        if next < total && resident.len() < most {
            resident.push_front(Cluster::new(run, next));
            next += 1;
        }
        for _ in 0..resident.len() {
            let Some(mut cluster) = resident.pop_front() else { break };
            if cluster.turn(run, world, TURN)? {
                break;
            }
            resident.push_back(cluster);
        }
    }
    Ok(())
}

/// About how many bytes of the host a cluster takes: registers, local and parameter memory of its lanes, and shared
/// memory with what the detectors remember of it.
fn footprint(run: &Run) -> u64 {
    let f = run.kernel();
    let warp = 256 * u64::from(f.registers) + 32 * (u64::from(f.local_bytes) + u64::from(f.param_bytes));
    let remembered = if run.options.check { 64 / u64::from(run.program.shared_granule.max(1)) } else { 0 };
    let block = u64::from(run.warps()) * warp + u64::from(run.shared_bytes()) * (1 + remembered);
    u64::from(run.cluster_size()) * block
}

fn refused(message: String) -> Fault {
    let (site, actor) = (Site::default(), Actor::default());
    let finding = Finding { kind: Kind::Invalid, message, site, actor, notes: vec![], help: None };
    Fault { finding, before: Outcome::default() }
}

/// The kernel's number, and the bytes of its parameters.
fn prepare(program: &Program, kernel: &str, launch: &Launch, memory: &Memory) -> Result<(usize, Vec<u8>), String> {
    let names = || program.kernels.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let index =
        *program.kernels.get(kernel).ok_or_else(|| format!("there is no kernel `{kernel}`, but {}", names()))?;
    let function = &program.functions[index];
    check_sizes(program, function, launch)?;
    let params = parameters(function, launch, memory)?;
    Ok((index, params))
}

fn check_sizes(program: &Program, function: &Function, launch: &Launch) -> Result<(), String> {
    let Launch { grid, block, cluster, dynamic_shared, .. } = launch;
    let count = |n: &[u32; 3]| n.iter().map(|&n| u64::from(n)).product::<u64>();
    if [grid, block, cluster].iter().any(|n| count(n) == 0 || count(n) > u64::from(u32::MAX)) {
        return Err("the grid, the block and the cluster need at least one element along each axis".to_owned());
    }
    if count(block) > 1024 {
        return Err(format!("a block of {} threads, and at most 1024 can be", count(block)));
    }
    if count(cluster) > 16 {
        return Err(format!("a cluster of {} blocks, and at most 16 can be", count(cluster)));
    }
    if (0..3).any(|i| !grid[i].is_multiple_of(cluster[i])) {
        return Err(format!("the grid {grid:?} is no multiple of the cluster {cluster:?}"));
    }
    if function.required_block.is_some_and(|r| r != *block) {
        return Err(format!("the kernel requires blocks of {:?}", function.required_block.unwrap_or_default()));
    }
    if function.max_threads.is_some_and(|n| count(block) > u64::from(n)) {
        return Err(format!("the kernel allows blocks of {} threads", function.max_threads.unwrap_or_default()));
    }
    if function.required_cluster.is_some_and(|r| r != *cluster) {
        return Err(format!("the kernel requires clusters of {:?}", function.required_cluster.unwrap_or_default()));
    }
    let shared = u64::from(program.dynamic_shared_start) + u64::from(*dynamic_shared);
    if shared > MAX_SHARED {
        return Err(format!("{shared} bytes of shared memory, and at most {MAX_SHARED} can be"));
    }
    Ok(())
}

fn parameters(function: &Function, launch: &Launch, memory: &Memory) -> Result<Vec<u8>, String> {
    if function.params.len() != launch.arguments.len() {
        let (takes, given) = (function.params.len(), launch.arguments.len());
        return Err(format!("the kernel takes {takes} arguments, and {given} were given"));
    }
    let mut bytes = vec![0; function.params.last().map_or(0, |p| p.offset + p.bytes) as usize];
    for (i, (formal, argument)) in function.params.iter().zip(&launch.arguments).enumerate() {
        let value = match argument {
            Argument::Scalar(bytes) => bytes.clone(),
            Argument::Pointer { buffer, offset } => (memory.address(*buffer) + offset).to_le_bytes().to_vec(),
            Argument::TensorMap(map) => map.encode().to_vec(),
        };
        if value.len() != formal.bytes as usize {
            let (takes, given) = (formal.bytes, value.len());
            return Err(format!("argument {i} has {given} bytes, and the kernel takes {takes} there"));
        }
        bytes[formal.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}
