//! What the driver says of a GPU.

use std::ffi::{CStr, c_char, c_int};

use crate::context::Context;
use crate::driver::{Own, SHARED_MEMORY_OPTIN};
use crate::error::{Error, Gpu};

/// The properties of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The product's name, such as `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// What code is compiled for it.
    pub gpu: Gpu,
    /// Its memory in bytes.
    pub memory: u64,
    /// The multiprocessors, or AMD's compute units.
    pub multiprocessors: u32,
    /// The highest clock of the multiprocessors in kHz.
    pub clock_khz: u32,
    /// The highest clock of the memory in kHz.
    pub memory_clock_khz: u32,
    /// The width of the bus to the memory in bits.
    pub memory_bus_bits: u32,
    /// The L2 cache in bytes.
    pub l2_bytes: u32,
    /// The dynamic shared memory that a block may have, in bytes.
    pub shared_per_block: u32,
    /// The registers of a block, each of 32 bits.
    pub registers_per_block: u32,
    /// The version of CUDA that the driver is for: 13000 for 13.0. Of AMD's GPUs, that of HIP: 60342134 for 6.3.42134.
    pub driver_version: u32,
}

/// `CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK`
const REGISTERS: c_int = 12;
/// `CU_DEVICE_ATTRIBUTE_CLOCK_RATE`
const CLOCK: c_int = 13;
/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`
const MULTIPROCESSORS: c_int = 16;
/// `CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE`
const MEMORY_CLOCK: c_int = 36;
/// `CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH`
const MEMORY_BUS: c_int = 37;
/// `CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE`
const L2: c_int = 38;

impl Context {
    /// The properties of the context's GPU.
    ///
    /// # Errors
    /// What the driver says.
    pub fn properties(&self) -> Result<Properties, Error> {
        let (driver, device) = (self.driver(), self.device());
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: the text has room for this many characters, with the zero byte that ends it.
        let status = unsafe { (driver.functions.device_name)(name.as_mut_ptr(), name.len() as c_int - 1, device) };
        driver.check(status, "cuDeviceGetName")?;
        let mut memory = 0;
        // SAFETY: `memory` may be written to.
        driver.check(unsafe { (driver.functions.device_memory)(&raw mut memory, device) }, "cuDeviceTotalMem")?;
        let mut version = 0;
        // SAFETY: `version` may be written to.
        driver.check(unsafe { (driver.functions.driver_version)(&raw mut version) }, "cuDriverGetVersion")?;
        // SAFETY: the last byte of the text is zero, whatever the driver wrote.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let (gpu, driver_version) = (self.gpu().clone(), version.max(0) as u32);
        Ok(match &driver.own {
            Own::Cuda(cuda) => {
                let attribute = |number: c_int| driver.attribute(cuda, device, number);
                Properties {
                    name,
                    gpu,
                    memory: memory as u64,
                    multiprocessors: attribute(MULTIPROCESSORS)?,
                    clock_khz: attribute(CLOCK)?,
                    memory_clock_khz: attribute(MEMORY_CLOCK)?,
                    memory_bus_bits: attribute(MEMORY_BUS)?,
                    l2_bytes: attribute(L2)?,
                    shared_per_block: attribute(SHARED_MEMORY_OPTIN)?,
                    registers_per_block: attribute(REGISTERS)?,
                    driver_version,
                }
            }
            Own::Hip(hip) => {
                let p = driver.properties(hip, device)?;
                Properties {
                    name,
                    gpu,
                    memory: p.memory(),
                    multiprocessors: p.multiprocessors(),
                    clock_khz: p.clock_khz(),
                    memory_clock_khz: p.memory_clock_khz(),
                    memory_bus_bits: p.memory_bus_bits(),
                    l2_bytes: p.l2_bytes(),
                    shared_per_block: p.shared_per_block(),
                    registers_per_block: p.registers_per_block(),
                    driver_version,
                }
            }
        })
    }
}
