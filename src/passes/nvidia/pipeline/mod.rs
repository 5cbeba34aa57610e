//! Software pipelining for NVIDIA's GPUs, on the schedule that [`crate::passes::ttg::pipeline`] has made.
//!
//! [`software_pipeline`] is the pass: asynchronous copies into rotating buffers ([`lower_loads`], by hardware
//! [`lower_tma`]), rotating descriptors ([`lower_descriptors`]), prologue and kernel
//! ([`crate::passes::ttg::pipeline::expand`]), products under way over iterations ([`wgmma`]), and stores through
//! descriptors that go on ([`tma_stores`]). [`refill`] and [`rotate`] are passes of their own, behind these.

mod lower_descriptors;
mod lower_loads;
mod lower_tma;
pub mod refill;
pub mod rotate;
pub mod software_pipeline;
mod tma_stores;
mod wgmma;

pub(super) use lower_loads::count_on;
