//! How many blocks of a kernel fit on one multiprocessor (AMD: compute unit) at a time, and what they run out of first.
//!
//! 1. A [`Multiprocessor`] says what the device has to share out. It has *parts*, each with its own registers and
//!    warps.
//! 2. Registers are handed to a warp in units: a lane that uses 57 takes 64 where the unit is 8. So a part with 512
//!    registers a lane takes 8 such warps, and 4 parts take 32: 8 blocks of 4 warps.
//! 3. Each block takes its shared memory, and what the device keeps of it for itself.
//! 4. Warps and blocks that may be there at a time are bounded.
//!
//! The formulas for NVIDIA's GPUs are those of CUDA's occupancy calculator (CUDA C++ Best Practices Guide, "Occupancy";
//! `cuda_occupancy.h` of the toolkit).
//!
//! Example: 168 registers a thread, 8 warps and 96 KiB on `sm_90a` leave room for one block: 512 / 168 are 3 warps in
//! each of four parts, and 12 warps are one block of 8.

use serde::Serialize;

/// What the blocks on one multiprocessor share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiprocessor {
    /// Warps that can be there at a time.
    pub warps: u32,
    /// Blocks that can be there at a time.
    pub blocks: u32,
    /// The parts that have their own registers.
    pub parts: u32,
    /// 32-bit registers of a part, for each lane of a warp.
    pub registers: u32,
    /// Registers of a lane are handed out in multiples of this.
    pub register_unit: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Bytes that the device keeps for itself in each block.
    pub shared_reserved: u32,
    /// Shared memory is handed out in multiples of this.
    pub shared_unit: u32,
}

/// What a block of a kernel takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    pub warps: u32,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
}

/// What blocks can run out of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Registers,
    SharedMemory,
    Warps,
    Blocks,
}

/// The blocks on one multiprocessor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Occupancy {
    pub blocks: u32,
    pub warps: u32,
    /// The warps that there could be.
    pub most_warps: u32,
    /// How many blocks each resource would allow by itself. What the kernel does not use is not there.
    pub allowed: Vec<(Resource, u32)>,
}

impl Occupancy {
    /// What there would have to be more of, for another block to fit.
    pub fn limits(&self) -> impl Iterator<Item = Resource> {
        self.allowed.iter().filter(|(_, n)| *n == self.blocks).map(|(resource, _)| *resource)
    }
}

impl Multiprocessor {
    /// How many blocks fit.
    #[must_use]
    pub fn occupancy(&self, usage: &Usage) -> Occupancy {
        let warps = usage.warps.max(1);
        let mut allowed = vec![];
        if usage.registers > 0 {
            allowed.push((Resource::Registers, self.by_registers(warps, usage.registers)));
        }
        let shared = usage.shared.saturating_add(self.shared_reserved).next_multiple_of(self.shared_unit);
        if usage.shared > 0 {
            allowed.push((Resource::SharedMemory, self.shared / shared));
        }
        allowed.push((Resource::Warps, self.warps / warps));
        allowed.push((Resource::Blocks, self.blocks));
        let blocks = allowed.iter().map(|a| a.1).min().unwrap_or(0);
        Occupancy { blocks, warps: blocks * warps, most_warps: self.warps, allowed }
    }

    /// How many blocks of so many warps fit by their registers.
    #[must_use]
    pub fn by_registers(&self, warps: u32, registers: u32) -> u32 {
        let each = self.registers / registers.next_multiple_of(self.register_unit).max(1);
        // The warps of a block are spread over the parts.
        if warps.div_ceil(self.parts) > each { 0 } else { self.parts * each / warps }
    }

    /// The most registers of a lane with which so many blocks of so many warps fit.
    #[must_use]
    pub fn registers_for(&self, blocks: u32, warps: u32) -> u32 {
        self.registers / (blocks * warps).div_ceil(self.parts).max(1) / self.register_unit * self.register_unit
    }
}

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::*;

    fn on(arch: &str, warps: u32, registers: u32, shared: u32) -> (u32, u32, Vec<Resource>) {
        let found = Target::parse(arch).unwrap().multiprocessor().occupancy(&Usage { warps, registers, shared });
        (found.blocks, found.warps, found.limits().collect())
    }

    /// Numbers of CUDA's occupancy calculator.
    #[test]
    fn blocks_of_nvidia_are_limited_by_what_runs_out_first() {
        use Resource::{Blocks, Registers, SharedMemory, Warps};
        for (arch, warps, registers, shared, want) in [
            ("sm_90a", 4, 32, 0, (16, 64, vec![Registers, Warps])),
            ("sm_90a", 4, 57, 0, (8, 32, vec![Registers])),
            ("sm_90a", 8, 168, 98_304, (1, 8, vec![Registers])),
            ("sm_90a", 4, 40, 50_000, (4, 16, vec![SharedMemory])),
            ("sm_90a", 1, 16, 0, (32, 32, vec![Blocks])),
            ("sm_86", 4, 32, 0, (12, 48, vec![Warps])),
            ("sm_86", 1, 32, 0, (16, 16, vec![Blocks])),
            ("sm_80", 4, 128, 0, (4, 16, vec![Registers])),
            // 163 KiB and one that is reserved are all there is.
            ("sm_80", 4, 32, 163 * 1024, (1, 4, vec![SharedMemory])),
            ("sm_89", 32, 65, 0, (0, 0, vec![Registers])),
            ("sm_120a", 4, 32, 0, (12, 48, vec![Warps])),
        ] {
            assert_eq!(on(arch, warps, registers, shared), want, "{arch} {warps} {registers} {shared}");
        }
    }

    /// Five blocks of two warps put three warps on two of the four parts.
    #[test]
    fn registers_are_those_of_the_fullest_part() {
        let device = Target::parse("sm_90a").unwrap().multiprocessor();
        assert_eq!([1, 4, 5, 6, 7].map(|blocks| device.registers_for(blocks, 2)), [512, 256, 168, 168, 128]);
        for (blocks, warps) in [(1, 4), (3, 4), (5, 2), (11, 1), (1, 20), (2, 8)] {
            let registers = device.registers_for(blocks, warps);
            assert!(device.by_registers(warps, registers) >= blocks, "{blocks} {warps}");
            assert!(device.by_registers(warps, registers + 1) < blocks, "{blocks} {warps}");
        }
    }

    #[test]
    fn waves_of_amd_take_vector_registers_in_units_of_the_family() {
        use Resource::{Registers, SharedMemory, Warps};
        for (arch, warps, registers, shared, want) in [
            ("gfx942", 4, 64, 0, (8, 32, vec![Registers, Warps])),
            ("gfx942", 4, 65, 0, (7, 28, vec![Registers])),
            ("gfx942", 4, 64, 32_768, (2, 8, vec![SharedMemory])),
            ("gfx950", 4, 64, 32_768, (4, 16, vec![SharedMemory])),
            ("gfx1100", 4, 96, 0, (16, 64, vec![Registers, Warps])),
            ("gfx1100", 4, 97, 0, (12, 48, vec![Registers])),
        ] {
            assert_eq!(on(arch, warps, registers, shared), want, "{arch} {warps} {registers} {shared}");
        }
    }

    #[test]
    fn a_block_with_all_shared_memory_fits_everywhere() {
        for target in super::super::targets() {
            let all = Usage { warps: 1, registers: 1, shared: target.shared.bytes };
            assert!(target.multiprocessor().occupancy(&all).blocks >= 1, "{target}");
        }
    }
}
