//! AMD's GPUs: to TTGIR, which Triton's own back end can finish. Nothing here generates code yet.

mod pipelines;

use super::{Backend, Generator, GpuOptions, Stage};
use crate::passes::manager::Pipeline;

/// AMD's GPUs.
pub(super) struct AmdBackend;

/// What the list of vendors leads to.
pub(super) static BACK_END: AmdBackend = AmdBackend;

impl Backend for AmdBackend {
    fn stages(&self) -> &'static [(Stage, &'static str)] {
        &[(Stage::Ttir, "ttir"), (Stage::Ttgir, "ttgir")]
    }

    fn ttir(&self, _: &GpuOptions) -> Pipeline {
        pipelines::ttir()
    }

    fn ttgir(&self, options: &GpuOptions) -> Pipeline {
        pipelines::ttgir(options)
    }

    fn generator(&self) -> Option<&'static dyn Generator> {
        None
    }
}
