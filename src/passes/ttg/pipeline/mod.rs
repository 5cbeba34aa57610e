//! Software pipelining of loops, in three passes; the first two speak through attributes:
//!
//! 1. [`assign_latencies`]: which operations take long enough to be started iterations ahead (`tt.latency`);
//! 2. [`schedule_loops`]: a stage and a cluster for every operation of the loop (`loop.stage`, `loop.cluster`,
//!    `tt.scheduled_max_stage`).
//!
//! 3. [`software_pipeline`]: asynchronous copies into rotating buffers ([`lower_loads`], by hardware [`lower_tma`]),
//!    rotating descriptors ([`lower_descriptors`]), prologue and kernel ([`expand`]), products under way over
//!    iterations ([`wgmma`]), waits that leave as much as possible under way ([`waits`]), and stores through
//!    descriptors that go on ([`tma_stores`]).
//!
//! [`schedule`] is the schedule as data; [`loads`] answers what a load's destination in shared memory would look like.

pub mod assign_latencies;
mod expand;
pub mod loads;
mod lower_descriptors;
mod lower_loads;
mod lower_tma;
pub mod schedule;
pub mod schedule_loops;
pub mod software_pipeline;
mod tma_stores;
mod waits;
mod wgmma;
