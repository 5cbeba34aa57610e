//! A kernel that is loaded where it is first launched, for programs whose functions get no object from their callers.

use std::sync::{Arc, PoisonError, RwLock};

use crate::context::Context;
use crate::error::Error;

/// What was loaded into each context, by the first thread that asked for it there.
///
/// An engine whose functions take pointers and a stream, and know nothing of what was loaded, keeps one of these in a
/// `static`. A context that is destroyed must not come back: its handle may be that of another one, so nothing of it is
/// loaded again. Primary contexts that stay for the time of the program are safe.
///
/// ```no_run
/// # struct Kernel;
/// # impl Kernel { fn load(_: &ttc_rt::Context) -> Result<Kernel, ttc_rt::Error> { Ok(Kernel) } }
/// static ADD: ttc_rt::PerContext<Kernel> = ttc_rt::PerContext::new();
/// let kernel = ADD.current(Kernel::load)?;
/// # Ok::<(), ttc_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct PerContext<K> {
    loaded: RwLock<Vec<(usize, Arc<K>)>>,
}

impl<K> PerContext<K> {
    /// Nothing is loaded yet.
    #[must_use]
    pub const fn new() -> PerContext<K> {
        PerContext { loaded: RwLock::new(vec![]) }
    }

    /// What is loaded into the calling thread's current context. `load` loads it if nobody did. A failure is not kept,
    /// so the next call tries again.
    ///
    /// # Errors
    /// There is no current context, or those of `load`.
    pub fn current(&self, load: impl FnOnce(&Context) -> Result<K, Error>) -> Result<Arc<K>, Error> {
        let context = Context::current()?;
        let handle = context.as_raw() as usize;
        let find = |all: &[(usize, Arc<K>)]| all.iter().find(|(h, _)| *h == handle).map(|(_, k)| k.clone());
        if let Some(known) = find(&self.loaded.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        let mut all = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        if let Some(known) = find(&all) {
            return Ok(known);
        }
        let made = Arc::new(load(&context)?);
        all.push((handle, made.clone()));
        Ok(made)
    }
}

impl<K> Default for PerContext<K> {
    fn default() -> PerContext<K> {
        PerContext::new()
    }
}
