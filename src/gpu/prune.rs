//! Leaves out configurations before the GPU is touched.

use std::collections::BTreeMap;

use super::session::Gpu;
use super::tune::{Attempt, Outcome};

/// What the code of a configuration may need.
pub struct Limits {
    /// Shared memory of a block, in bytes.
    pub shared: u32,
    /// Registers of a block.
    pub registers: u32,
    /// Bytes of spill stores and loads.
    pub spills: u32,
}

impl Limits {
    /// The limits of a GPU, and a bound for spills.
    #[must_use]
    pub fn new(gpu: &Gpu, spills: u32) -> Limits {
        Limits { shared: gpu.properties.shared_per_block, registers: gpu.properties.registers_per_block, spills }
    }

    /// Why the code of a configuration cannot run, or need not.
    fn fault(&self, attempt: &Attempt) -> Option<String> {
        let program = attempt.program.as_ref()?;
        let d = &program.descriptor;
        if d.shared > self.shared {
            return Some(format!("{} bytes of shared memory, the GPU has {}", d.shared, self.shared));
        }
        // The registers of a warp are handed out by 256, which is 8 for each thread.
        let registers = program.registers.map_or(0, |r| r.next_multiple_of(8) * d.threads);
        if registers > self.registers {
            return Some(format!("{registers} registers, a block has {}", self.registers));
        }
        let spills = program.spills.unwrap_or(0);
        (spills > self.spills).then(|| format!("{spills} bytes of spills, `--max-spills` is {}", self.spills))
    }
}

/// Leaves out what the limits rule out, and code that another configuration has already.
pub fn prune(attempts: &mut [Attempt], limits: &Limits) {
    let mut seen: BTreeMap<(Vec<u8>, [u32; 3]), String> = BTreeMap::new();
    for attempt in attempts {
        if let Some(why) = limits.fault(attempt) {
            attempt.outcome = Outcome::LeftOut(why);
            continue;
        }
        let (Some(program), Some(instance)) = (&attempt.program, &attempt.instance) else { continue };
        // Equal code may still be launched with another grid.
        let code = (program.image.clone(), instance.grid);
        let words = attempt.config.to_string();
        match seen.get(&code) {
            Some(other) => attempt.outcome = Outcome::LeftOut(same(other, &words)),
            None => _ = seen.insert(code, words),
        }
    }
}

/// Names the configuration with the same code by what it says otherwise.
fn same(other: &str, own: &str) -> String {
    let own: Vec<&str> = own.split(' ').collect();
    let differs: Vec<&str> = other.split(' ').filter(|word| !own.contains(word)).collect();
    format!("the same code as with {}", differs.join(" "))
}
