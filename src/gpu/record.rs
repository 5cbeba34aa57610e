//! A measurement as `ttc bench --json` writes it, and as a later one reads it to compare with.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::measure::Times;
use super::session::Gpu;
use crate::cases::config::COMPILE_OPTIONS;
use crate::cases::{Config, Value};
use crate::diag::codes::{cli, gpu as codes};
use crate::diag::{Diagnostic, Place};
use crate::text_file::plain;

/// The version of the format. It changes when a field changes its meaning.
pub const VERSION: u32 = 1;

/// What one command measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub version: u32,
    /// The compiler of the kernels that the rows are about.
    pub compiler: String,
    pub device: Device,
    /// The bandwidth of a copy from the GPU's memory to itself, in bytes per second that are read or written. It was
    /// measured in the same run.
    pub copy_bandwidth: f64,
    pub rows: Vec<Row>,
}

/// The GPU that was measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    pub name: String,
    /// The architecture that the kernels were compiled for.
    pub arch: String,
    pub multiprocessors: u32,
    pub clock_khz: u32,
    pub memory_clock_khz: u32,
    pub memory_bytes: u64,
    pub l2_bytes: u32,
    pub driver_version: u32,
}

/// One configuration of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub case: String,
    /// The values of the parameters, as `--param` takes them.
    pub params: BTreeMap<String, String>,
    pub time: Time,
    /// The bytes that a launch has to move, if that is known.
    pub bytes: Option<f64>,
    /// The floating-point operations of a launch, if the case says them.
    pub flops: Option<f64>,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of spill stores and loads.
    pub spills: Option<u32>,
    /// Bytes of shared memory.
    pub shared: u32,
    /// What was measured beside it, or before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
}

/// The time of the same configuration elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// The file that it comes from, without the extension.
    pub name: String,
    pub time: Time,
}

/// The times of a launch in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    pub median: f64,
    /// A fifth of the samples take no longer.
    pub p20: f64,
    /// Four fifths of the samples take no longer.
    pub p80: f64,
    pub min: f64,
    pub samples: usize,
}

impl From<&Times> for Time {
    fn from(times: &Times) -> Time {
        Time {
            median: times.median(),
            p20: times.quantile(0.2),
            p80: times.quantile(0.8),
            min: times.least(),
            samples: times.count(),
        }
    }
}

impl Device {
    /// A GPU, with kernels that were compiled for an architecture.
    #[must_use]
    pub fn new(gpu: &Gpu, arch: &str) -> Device {
        let p = &gpu.properties;
        Device {
            name: p.name.clone(),
            arch: arch.to_owned(),
            multiprocessors: p.multiprocessors,
            clock_khz: p.clock_khz,
            memory_clock_khz: p.memory_clock_khz,
            memory_bytes: p.memory,
            l2_bytes: p.l2_bytes,
            driver_version: p.driver_version,
        }
    }
}

impl Row {
    /// Bytes per second.
    #[must_use]
    pub fn bandwidth(&self, time: &Time) -> Option<f64> {
        Some(self.bytes? / (time.median * 1e-6))
    }

    /// Floating-point operations per second.
    #[must_use]
    pub fn flop_rate(&self, time: &Time) -> Option<f64> {
        Some(self.flops? / (time.median * 1e-6))
    }
}

/// The values of a configuration as texts.
#[must_use]
pub fn texts(config: &Config) -> BTreeMap<String, String> {
    let text = |v: &Value| match v {
        Value::Str(s) => s.clone(),
        other => other.to_define(),
    };
    config.params.iter().map(|(n, v)| (n.clone(), text(v))).collect()
}

impl Run {
    /// The row of a case with these values of its parameters. If there is none, it is the only one that computes the
    /// same, with other options of the compilation.
    #[must_use]
    pub fn row(&self, case: &str, params: &BTreeMap<String, String>) -> Option<&Row> {
        let own = || self.rows.iter().filter(|r| r.case == case);
        let computed = |p: &BTreeMap<String, String>| {
            p.iter()
                .filter(|(n, _)| !COMPILE_OPTIONS.contains(&n.as_str()))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect()
        };
        let meant: Vec<_> = computed(params);
        own().find(|r| r.params == *params).or_else(|| {
            let mut alike = own().filter(|r| computed(&r.params) == meant);
            alike.next().filter(|_| alike.next().is_none())
        })
    }

    /// The text of the file.
    ///
    /// # Panics
    /// Never: a measurement holds texts and numbers.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a measurement holds texts and numbers");
        text.push('\n');
        text
    }

    /// Reads a file.
    ///
    /// # Errors
    /// `E0901` for a file that cannot be read, and `E1112` for one that holds no measurement.
    pub fn read(path: &Path) -> Result<Run, Diagnostic> {
        let (shown, place) = (path.display(), Place::File(path.to_string_lossy().into_owned()));
        let text = std::fs::read(path).map_err(|e| {
            Diagnostic::error(&cli::CANNOT_READ, format!("cannot read `{shown}`: {}", plain(&e))).at(place.clone(), "")
        })?;
        let wrong = |why: String| {
            Diagnostic::error(&codes::BAD_RUN, format!("`{shown}` holds no measurement of this ttc: {why}"))
                .at(place, "")
                .help("`ttc bench --json FILE` writes one")
        };
        match serde_json::from_slice::<Run>(&text) {
            Ok(run) if run.version == VERSION => Ok(run),
            Ok(run) => Err(wrong(format!("its version is {}, and this ttc knows {VERSION}", run.version))),
            Err(e) => Err(wrong(e.to_string())),
        }
    }
}
