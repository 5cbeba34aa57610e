//! How long launches take, by the GPU's own clock.
//!
//! 1. A sample is the time between two events around one launch. Before each one, a buffer of twice the L2 cache is
//!    filled, so that the kernel finds none of its data there.
//! 2. Warm-up and repetition are bounded by time: a few samples say how many launches fit into it.
//! 3. Several launches that are measured together take turns, so that a change of the GPU's clock meets them all.
//!
//! The way from one event to the other is part of every sample, so launches of a few microseconds measure mostly that.

use ttc_rt::{DeviceBuffer, Event};

use super::explain::{self, About};
use super::ready::Ready;
use super::session::Gpu;
use crate::diag::Diagnostic;

/// How long to warm up and to measure, in milliseconds of launches.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub warm_up: f64,
    pub repeat: f64,
}

/// The samples of a launch in microseconds, sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    sorted: Vec<f64>,
}

impl Times {
    /// Sorts samples. There is at least one.
    #[must_use]
    pub fn new(mut samples: Vec<f64>) -> Times {
        samples.sort_by(f64::total_cmp);
        Times { sorted: samples }
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The time that a share of the samples does not exceed, between samples on the line through both: 0.5 is the
    /// median, 0 the least.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        let place = share.clamp(0.0, 1.0) * last as f64;
        let at = |i: usize| self.sorted.get(i.min(last)).copied().unwrap_or(f64::NAN);
        let low = place.floor();
        at(low as usize) + (at(low as usize + 1) - at(low as usize)) * (place - low)
    }

    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    #[must_use]
    pub fn least(&self) -> f64 {
        self.quantile(0.0)
    }
}

/// Samples that are queued before the first of them is waited for. Each has two events.
const QUEUED: usize = 256;
/// The least number of samples of a measurement.
const LEAST: usize = 10;
/// The largest number of samples of a measurement. With more, the medians of short kernels do not change.
const MOST: usize = 2000;
/// The samples that say how many more fit into a time.
const FIRST: usize = 5;

/// What measures on a GPU.
pub struct Clock<'a> {
    gpu: &'a Gpu,
    /// Twice the L2 cache.
    flush: DeviceBuffer<u8>,
    events: Vec<(Event, Event)>,
}

impl<'a> Clock<'a> {
    /// Takes the memory and the events that measuring needs.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(gpu: &'a Gpu) -> Result<Clock<'a>, Diagnostic> {
        let l2 = gpu.properties.l2_bytes as usize;
        let flush = DeviceBuffer::new(&gpu.context, 2 * l2.max(16 << 20)).map_err(said)?;
        let event = || Event::new(&gpu.context).map_err(said);
        let events = (0..QUEUED).map(|_| Ok((event()?, event()?))).collect::<Result<_, Diagnostic>>()?;
        Ok(Clock { gpu, flush, events })
    }

    /// Measures launches that take turns. The result has the times of each, in their order.
    ///
    /// # Errors
    /// What a launch does wrong.
    pub fn measure(&mut self, launches: &mut [Ready<'_>], plan: Plan) -> Result<Vec<Times>, Diagnostic> {
        let first = self.samples(launches, FIRST)?;
        let turn: f64 = first.iter().map(Times::median).sum::<f64>() / 1e3;
        let fit = |time: f64| (time / turn.max(1e-4)) as usize;
        self.samples(launches, fit(plan.warm_up).clamp(1, MOST))?;
        self.samples(launches, fit(plan.repeat).clamp(LEAST, MOST))
    }

    /// Takes so many samples of each launch.
    ///
    /// # Errors
    /// What a launch does wrong.
    pub fn samples(&mut self, launches: &mut [Ready<'_>], turns: usize) -> Result<Vec<Times>, Diagnostic> {
        let mut all = vec![Vec::with_capacity(turns); launches.len()];
        let at_once = (QUEUED / launches.len().max(1)).max(1);
        let mut left = turns;
        while left > 0 {
            let now = left.min(at_once);
            self.batch(launches, now, &mut all)?;
            left -= now;
        }
        Ok(all.into_iter().map(Times::new).collect())
    }

    /// Takes as many samples as there are events for.
    fn batch(&mut self, launches: &mut [Ready<'_>], turns: usize, all: &mut [Vec<f64>]) -> Result<(), Diagnostic> {
        let mut events = self.events.iter();
        let mut queued = vec![];
        for _ in 0..turns {
            for (n, launch) in launches.iter_mut().enumerate() {
                let Some((start, end)) = events.next() else { break };
                self.flush.fill_on(&self.gpu.stream, 0).map_err(|e| launch.explain(&e))?;
                start.record(&self.gpu.stream).map_err(|e| launch.explain(&e))?;
                launch.launch()?;
                end.record(&self.gpu.stream).map_err(|e| launch.explain(&e))?;
                queued.push((n, start, end));
            }
        }
        if let Some(launch) = launches.first() {
            launch.wait()?;
        }
        for (n, start, end) in queued {
            all[n].push(f64::from(end.milliseconds_since(start).map_err(said)?) * 1e3);
        }
        Ok(())
    }

    /// The largest bandwidth at which the GPU copies memory, in bytes that are read or written per second: the best of
    /// some copies that are larger than the L2 cache.
    ///
    /// # Errors
    /// What the driver says.
    pub fn copy_bandwidth(&mut self) -> Result<f64, Diagnostic> {
        const COPIES: usize = 20;
        let bytes = (256 << 20).max(4 * self.gpu.properties.l2_bytes as usize);
        let buffer = || DeviceBuffer::<u8>::new(&self.gpu.context, bytes).map_err(said);
        let (mut from, mut to) = (buffer()?, buffer()?);
        from.poison(0).map_err(said)?;
        let stream = &self.gpu.stream;
        for (start, end) in self.events.iter().take(COPIES) {
            start.record(stream).map_err(said)?;
            to.copy_on(stream, &from).map_err(said)?;
            end.record(stream).map_err(said)?;
        }
        stream.synchronize().map_err(said)?;
        let time = |(start, end): &(Event, Event)| end.milliseconds_since(start).map_err(said);
        let times = self.events.iter().take(COPIES).map(time).collect::<Result<Vec<f32>, _>>()?;
        let best = times.into_iter().fold(f32::INFINITY, f32::min);
        Ok(2.0 * bytes as f64 / (f64::from(best) / 1e3))
    }
}

fn said(error: ttc_rt::Error) -> Diagnostic {
    explain::error(&error, &About::default())
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn quantiles_lie_between_samples() {
        let times = Times::new(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((times.least(), times.median(), times.quantile(1.0), times.count()), (1.0, 2.5, 4.0, 4));
        assert!((times.quantile(0.2) - 1.6).abs() < 1e-12);
        assert!((Times::new(vec![7.0]).quantile(0.8) - 7.0).abs() < 1e-12);
    }
}
