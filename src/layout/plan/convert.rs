//! The plan that converts a tensor from one layout to another.
//!
//! # Choice
//!
//! 1. Elements that stay in their thread need a table of registers and no instruction.
//! 2. Elements that stay in their warp go by shuffles ([`ShufflePlan`]) where at most one register bit changes places
//!    with a lane bit. With two pairs, each register needs a select before the shuffle and another one behind it, all
//!    in a row, and shared memory is faster (docs/performance.md).
//! 3. Elements that change warps go through shared memory ([`swizzle()`]), in as many repetitions as there are parts
//!    that only registers tell apart. Each repetition is a store, a barrier and a load, with another barrier before the
//!    next repetition. If neither side crosses warps, a barrier of the warp is enough. What a repetition loads has to
//!    be in registers before the next begins, so results that are too many for them are all stored first, in one
//!    repetition, where shared memory has room (`allocate-shared-memory-nv` decides).
//! 4. Elements that change blocks go the same way: every block stores what it holds in its own shared memory, all
//!    blocks of the cluster wait for each other, and loads reach into the memory of other blocks.
//!
//! Example: 64×64 halves on four warps go from eight of a row in a thread to eight of a column in a thread. That takes
//! four stores of 16 bytes, a barrier, and four `ldmatrix.x4.trans`. `ttc layout FROM TO SHAPE` shows the plan of any
//! pair.

use super::shared_access::SharedAccess;
use super::shuffle::{Machine, ShufflePlan};
use super::swizzle::{Swizzle, swizzle};
use crate::ir::core::Type;
use crate::layout::{
    ConversionKind, Dim, LayoutError, LinearLayout, conversion_kind, free_variable_masks, layout_of,
    register_permutation,
};
use crate::target::SharedMemory;

/// The plan for a tensor to get from one layout to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConversionPlan {
    /// The register of the source that each register of the destination copies.
    Registers(Vec<usize>),
    /// Elements move between the lanes of a warp.
    Shuffles(ShufflePlan),
    /// Elements go through shared memory.
    Shared(Box<SharedPlan>),
}

/// Which threads take part in an exchange, and so wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Among {
    /// Those of a warp: every warp reads only what it wrote.
    Warp,
    /// Those of a block.
    Block,
    /// Those of all blocks of a cluster.
    Cluster,
}

/// A way through shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedPlan {
    swizzle: Swizzle,
    bytes: u32,
    among: Among,
}

impl SharedPlan {
    fn new(
        source: &LinearLayout,
        destination: &LinearLayout,
        bits: u32,
        shared: &SharedMemory,
    ) -> Result<SharedPlan, LayoutError> {
        let swizzle = swizzle(source, destination, bits, shared)?;
        let bytes = swizzle.bytes(bits);
        let copies = |l: &LinearLayout| free_variable_masks(l).warp & (l.in_size(Dim::Warp) - 1) != 0;
        let stays = conversion_kind(source, destination)? <= ConversionKind::Lanes;
        let among = if swizzle.load.block_map().is_some() {
            Among::Cluster
        } else if stays && !copies(source) && !copies(destination) {
            Among::Warp
        } else {
            Among::Block
        };
        Ok(SharedPlan { swizzle, bytes, among })
    }

    /// The layout of the whole tensor in shared memory. Its highest bits are the repetitions.
    #[must_use]
    pub fn layout(&self) -> &LinearLayout {
        &self.swizzle.layout
    }

    #[must_use]
    pub fn store(&self) -> &SharedAccess {
        &self.swizzle.store
    }

    #[must_use]
    pub fn load(&self) -> &SharedAccess {
        &self.swizzle.load
    }

    /// How many bytes of shared memory are in use at a time.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// How often the memory is filled and emptied.
    #[must_use]
    pub fn repetitions(&self) -> u32 {
        1 << self.swizzle.repetition_bits
    }

    /// The number of the repetition that an access belongs to.
    #[must_use]
    pub fn repetition_of(&self, offset: u32) -> u32 {
        offset / self.bytes
    }

    /// Which threads wait for each other.
    #[must_use]
    pub fn among(&self) -> Among {
        self.among
    }

    /// How many barriers there are: after the stores of each repetition, and before those of the next.
    #[must_use]
    pub fn barriers(&self) -> u32 {
        2 * self.repetitions() - 1
    }
}

/// What a plan costs one warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Costs {
    pub shuffles: u32,
    pub selects: u32,
    pub stores: u32,
    pub loads: u32,
    /// The wavefronts of all stores. Those of all loads are beside it.
    pub store_wavefronts: u32,
    pub load_wavefronts: u32,
    /// How many wavefronts there are beyond those without conflicts.
    pub conflicts: u32,
    pub barriers: u32,
    /// How many bytes of shared memory the plan needs.
    pub bytes: u32,
}

/// The most register bits that change places with lane bits by shuffles.
const MOST_EXCHANGED: usize = 1;

/// Whether a conversion goes through shared memory: elements change warps, or more than one register bit changes places
/// with a lane bit.
///
/// # Errors
/// Fails if a type has no layout, or the shapes differ.
pub fn is_through_shared_memory(source: Type, destination: Type) -> Result<bool, LayoutError> {
    let (from, to) = (layout_of(source)?, layout_of(destination)?);
    Ok(match conversion_kind(from, to)? {
        ConversionKind::Nothing | ConversionKind::Registers => false,
        ConversionKind::Lanes => {
            ShufflePlan::new(from, to, 32).is_none_or(|plan| plan.exchanged_bits() > MOST_EXCHANGED)
        }
        ConversionKind::Warps | ConversionKind::Blocks => true,
    })
}

impl ConversionPlan {
    /// Makes the plan for elements of `bits` bits on a device with this shared memory.
    ///
    /// # Errors
    /// Fails if the layouts are of different tensors.
    pub fn new(
        source: &LinearLayout,
        destination: &LinearLayout,
        bits: u32,
        memory: &SharedMemory,
    ) -> Result<ConversionPlan, LayoutError> {
        if let Some(table) = register_permutation(source, destination)? {
            return Ok(ConversionPlan::Registers(table));
        }
        let kind = conversion_kind(source, destination)?;
        if kind == ConversionKind::Lanes
            && let Some(plan) = ShufflePlan::new(source, destination, bits)
            && plan.exchanged_bits() <= MOST_EXCHANGED
        {
            return Ok(ConversionPlan::Shuffles(plan));
        }
        Ok(ConversionPlan::Shared(Box::new(SharedPlan::new(source, destination, bits, memory)?)))
    }

    /// How many bytes of shared memory the plan needs while it runs.
    #[must_use]
    pub fn scratch_bytes(&self) -> u32 {
        match self {
            ConversionPlan::Shared(plan) => plan.bytes,
            _ => 0,
        }
    }

    /// What the plan costs one warp.
    #[must_use]
    pub fn costs(&self) -> Costs {
        match self {
            ConversionPlan::Registers(_) => Costs::default(),
            ConversionPlan::Shuffles(plan) => count(plan),
            ConversionPlan::Shared(plan) => {
                let (store, load) = (plan.store(), plan.load());
                let extra = |a: &SharedAccess| (a.wavefronts() - a.ideal_wavefronts()) * a.accesses().len() as u32;
                Costs {
                    stores: store.accesses().len() as u32,
                    loads: load.accesses().len() as u32,
                    store_wavefronts: store.total_wavefronts(),
                    load_wavefronts: load.total_wavefronts(),
                    conflicts: extra(store) + extra(load),
                    barriers: plan.barriers(),
                    bytes: plan.bytes,
                    ..Costs::default()
                }
            }
        }
    }
}

/// A machine that counts operations and executes nothing. Its values are numbers, so that two values can be told apart.
#[derive(Default)]
struct Counter {
    made: usize,
    shuffles: u32,
    selects: u32,
}

impl Counter {
    fn fresh(&mut self) -> usize {
        self.made += 1;
        usize::MAX - self.made
    }
}

impl Machine for Counter {
    type Value = usize;
    type Error = std::convert::Infallible;

    fn select(&mut self, _: u32, _: &usize, _: &usize) -> Result<usize, Self::Error> {
        self.selects += 1;
        Ok(self.fresh())
    }

    fn shuffle(&mut self, _: &usize, _: &[u32], _: u32) -> Result<usize, Self::Error> {
        self.shuffles += 1;
        Ok(self.fresh())
    }
}

/// Counts the shuffles and selects of a plan.
fn count(plan: &ShufflePlan) -> Costs {
    let mut counter = Counter::default();
    // Words of equal registers are equal values, so they get the same number.
    let words: Vec<usize> = plan.words().map(|w| w[0]).collect();
    match plan.run(&mut counter, &words) {
        Ok(_) => Costs {
            shuffles: counter.shuffles * plan.parts(),
            selects: counter.selects * plan.parts(),
            ..Costs::default()
        },
        Err(never) => match never {},
    }
}
