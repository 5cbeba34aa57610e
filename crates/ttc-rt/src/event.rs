//! Events: marks in a stream, and the time between two of them as the GPU measures it.

use crate::context::Context;
use crate::driver::Handle;
use crate::error::Error;
use crate::stream::AsStream;

/// An event of a context, destroyed when it is dropped.
#[derive(Debug)]
pub struct Event {
    context: Context,
    raw: Handle,
}

// SAFETY: the driver's calls on an event are safe from every thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Makes an event that measures time.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(context: &Context) -> Result<Event, Error> {
        let (driver, _entered) = (context.driver(), context.enter()?);
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` may be written to, and the context is current. 0 is `CU_EVENT_DEFAULT`.
        driver.check(unsafe { (driver.functions.event)(&raw mut raw, 0) }, "cuEventCreate")?;
        Ok(Event { context: context.clone(), raw })
    }

    /// Queues the event behind what is queued on the stream, which is one of the same context.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(&self, stream: &(impl AsStream + ?Sized)) -> Result<(), Error> {
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // SAFETY: the event lives as long as `self`.
        driver.check(unsafe { (driver.functions.record_event)(self.raw, stream.as_raw_stream()) }, "cuEventRecord")
    }

    /// Waits until the GPU has come to the event.
    ///
    /// # Errors
    /// Also those of kernels that ran.
    pub fn synchronize(&self) -> Result<(), Error> {
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // SAFETY: the event lives as long as `self`.
        driver.check(unsafe { (driver.functions.synchronize_event)(self.raw) }, "cuEventSynchronize")
    }

    /// The milliseconds from an earlier event to this one, which the GPU has come to. The driver measures them to about
    /// half a microsecond.
    ///
    /// # Errors
    /// What the driver says, for example of an event that was never recorded.
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f32, Error> {
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        let mut time = 0.0;
        // SAFETY: `time` may be written to, and both events live during the call.
        let status = unsafe { (driver.functions.elapsed)(&raw mut time, earlier.raw, self.raw) };
        driver.check(status, "cuEventElapsedTime")?;
        Ok(time)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the event was made by `new`, and nobody uses it any more. A failure leaves nothing to do.
            unsafe { (self.context.driver().functions.destroy_event)(self.raw) };
        }
    }
}
