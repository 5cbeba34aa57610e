//! What AMD's HIP runtime says of a GPU.
//!
//! `hipGetDevicePropertiesR0600` of ROCm 6 and 7 fills in a structure whose places do not change
//! (`hipDeviceProp_tR0600` in `hip_runtime_api.h`). The numbers here are those places, in bytes.

/// `hipDeviceProp_tR0600`, which has 1472 bytes, with room for more.
#[repr(C, align(8))]
pub(crate) struct HipProperties([u8; HipProperties::BYTES]);

/// `totalGlobalMem`
const MEMORY: usize = 288;
/// `sharedMemPerBlock`
const SHARED: usize = 296;
/// `regsPerBlock`
const REGISTERS: usize = 304;
/// `clockRate`
const CLOCK: usize = 348;
/// `multiProcessorCount`
const MULTIPROCESSORS: usize = 388;
/// `memoryClockRate`
const MEMORY_CLOCK: usize = 608;
/// `memoryBusWidth`
const MEMORY_BUS: usize = 612;
/// `l2CacheSize`
const L2: usize = 616;
/// `gcnArchName`, a text of at most 256 bytes
const PROCESSOR: std::ops::Range<usize> = 1160..1416;

impl HipProperties {
    const BYTES: usize = 4096;

    pub(crate) fn new() -> HipProperties {
        HipProperties([0; HipProperties::BYTES])
    }

    fn number(&self, at: usize) -> u32 {
        let bytes: [u8; 4] = self.0[at..at + 4].try_into().expect("four bytes");
        i32::from_ne_bytes(bytes).max(0) as u32
    }

    fn size(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }

    /// The processor, `gfx942`, without the modes that stand behind it (`:sramecc+:xnack-`): code keeps to what each of
    /// them allows.
    pub(crate) fn processor(&self) -> String {
        let text = &self.0[PROCESSOR];
        let end = text.iter().position(|c| matches!(c, 0 | b':')).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).into_owned()
    }

    pub(crate) fn memory(&self) -> u64 {
        self.size(MEMORY)
    }

    pub(crate) fn shared_per_block(&self) -> u32 {
        u32::try_from(self.size(SHARED)).unwrap_or(u32::MAX)
    }

    pub(crate) fn registers_per_block(&self) -> u32 {
        self.number(REGISTERS)
    }

    pub(crate) fn clock_khz(&self) -> u32 {
        self.number(CLOCK)
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.number(MULTIPROCESSORS)
    }

    pub(crate) fn memory_clock_khz(&self) -> u32 {
        self.number(MEMORY_CLOCK)
    }

    pub(crate) fn memory_bus_bits(&self) -> u32 {
        self.number(MEMORY_BUS)
    }

    pub(crate) fn l2_bytes(&self) -> u32 {
        self.number(L2)
    }
}
