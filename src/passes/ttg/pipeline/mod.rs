//! Software pipelining of loops: the parts that every target shares. Passes speak to each other through attributes:
//!
//! 1. [`assign_latencies`]: which operations take long enough to be started iterations ahead (`tt.latency`);
//! 2. [`schedule_loops`]: a stage and a cluster for every operation of the loop (`loop.stage`, `loop.cluster`,
//!    `tt.scheduled_max_stage`);
//! 3. a pass of the target's own makes copies asynchronous and expands the schedule
//!    ([`crate::passes::nvidia::pipeline`]). It uses [`expand`] (prologue and kernel) and [`waits`] (waits that leave
//!    as much as possible under way).
//!
//! [`fit_stages`] is how many stages a loop gets. [`schedule`] is the schedule as data; [`loads`] answers what a load's
//! destination in shared memory would look like.

pub mod assign_latencies;
pub mod expand;
pub(crate) mod fit_stages;
pub mod loads;
pub mod schedule;
pub mod schedule_loops;
pub mod waits;
