//! The GPU that a command works on: its context, a stream, what it is, and what is compiled for it.

use ttc_rt::{Context, Properties, Stream};

use super::explain::{self, About};
use crate::diag::Diagnostic;
use crate::diag::codes::gpu as codes;
use crate::target::Target;

/// A GPU that is ready to work.
pub struct Gpu {
    pub context: Context,
    pub stream: Stream,
    pub properties: Properties,
    /// The target that has all instructions of the GPU.
    pub target: Target,
}

impl Gpu {
    /// Opens the driver, and the GPU of this number.
    ///
    /// # Errors
    /// `E1101` if there is no driver, and `E1102` if there is no such GPU, or if ttc compiles nothing for it.
    pub fn open(number: usize) -> Result<Gpu, Diagnostic> {
        let said = |e: ttc_rt::Error| explain::error(&e, &About::default());
        let count = ttc_rt::device_count().map_err(said)?;
        if number >= count {
            let there = match count {
                0 => "the driver finds none".to_owned(),
                1 => "there is one, which has the number 0".to_owned(),
                n => format!("there are {n}, from 0 on"),
            };
            let message = format!("there is no GPU {number}: {there}");
            let hidden = std::env::var("CUDA_VISIBLE_DEVICES").ok();
            let d = Diagnostic::error(&codes::WRONG_GPU, message);
            return Err(match hidden {
                Some(list) => d.note(format!("CUDA_VISIBLE_DEVICES is `{list}`, and the driver shows no other GPUs")),
                None => d,
            });
        }
        let context = Context::primary(number).map_err(said)?;
        let properties = context.properties().map_err(said)?;
        let target = match &properties.gpu {
            &ttc_rt::Gpu::Nvidia { major, minor } => Target::of_gpu((major, minor)),
            ttc_rt::Gpu::Amd { processor } => Target::parse(processor).ok(),
            _ => None,
        };
        let target = target.ok_or_else(|| {
            let message = format!("ttc compiles nothing for {}, which {}", properties.name, properties.gpu);
            Diagnostic::error(&codes::WRONG_GPU, message)
                .help("`ttc explain E0912` names the GPUs that it compiles for")
        })?;
        let stream = Stream::new(&context).map_err(said)?;
        Ok(Gpu { context, stream, properties, target })
    }

    /// The GPU in words: `NVIDIA H100 80GB HBM3 (sm_90a)`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} ({})", self.properties.name, self.target)
    }
}
