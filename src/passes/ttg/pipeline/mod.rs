//! Software pipelining of loops, in three passes that speak through attributes:
//!
//! 1. [`assign_latencies`]: which operations take long enough to be started iterations ahead (`tt.latency`);
//! 2. [`schedule_loops`]: a stage and a cluster for every operation of the loop (`loop.stage`, `loop.cluster`, `tt.scheduled_max_stage`).
//!
//! [`schedule`] is the schedule as data; [`loads`] answers what a load's destination in shared memory would look like.

pub mod assign_latencies;
pub mod loads;
pub mod schedule;
pub mod schedule_loops;
