//! How a kernel is launched: the options that a configuration, a heuristic or the command line can give.

use crate::target::{AmdOptions, Target};

/// How a kernel is launched and compiled: options that a configuration, a heuristic or the command line can give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    pub num_warps: u32,
    pub num_stages: u32,
    pub num_ctas: u32,
    pub maxnreg: Option<u32>,
    pub amd: AmdOptions,
}

impl Default for Launch {
    fn default() -> Launch {
        Launch { num_warps: 4, num_stages: 3, num_ctas: 1, maxnreg: None, amd: AmdOptions::default() }
    }
}

impl Launch {
    /// What a launch on this target has where nobody says otherwise.
    #[must_use]
    pub fn usual(target: &Target) -> Launch {
        Launch { num_stages: target.usual_stages(), ..Launch::default() }
    }

    /// The launch as it is on this target: options of other vendors' GPUs go, and its own get Triton's defaults.
    #[must_use]
    pub fn for_target(self, target: &Target) -> Launch {
        Launch { amd: self.amd.or(AmdOptions::usual()).for_target(target), ..self }
    }

    /// The options that are out of their range on every target; [`Launch::amd_faults`] has the others.
    #[must_use]
    pub fn faults(&self) -> Vec<LaunchFault> {
        let mut faults = vec![];
        let mut need = |name, value: u32, nearest: u32, expected: String| {
            if value != nearest {
                faults.push(LaunchFault { name, value, nearest, expected });
            }
        };
        let Launch { num_warps, num_stages, num_ctas, maxnreg, amd: _ } = *self;
        let power = |n: u32, most: u32| 1 << n.clamp(1, most).ilog2();
        let block = "a power of two from 1 to 32 (a block has at most 1024 threads)";
        need("num_warps", num_warps, power(num_warps, 32), block.to_owned());
        // 0 is 1: no pipelining.
        need("num_stages", num_stages, num_stages.min(32), "0 to 32".to_owned());
        let blocks = Target::MAX_PORTABLE_CLUSTER;
        need("num_ctas", num_ctas, power(num_ctas, blocks), format!("a power of two from 1 to {blocks}"));
        if let Some(n) = maxnreg {
            let most = Target::MAX_REGISTERS_PER_THREAD;
            need("maxnreg", n, n.clamp(1, most), format!("1 to {most}"));
        }
        faults
    }

    /// The options that AMD's GPUs alone have and that are out of their range.
    #[must_use]
    pub fn amd_faults(&self) -> Vec<LaunchFault> {
        let nearest = |name, value: u32| match name {
            "matrix_instr_nonkdim" => ([0, 16, 32].into_iter().rfind(|&n| n <= value).unwrap_or(0), "0, 16 or 32"),
            "kpack" => (value.clamp(1, 2), "1 or 2"),
            // No SIMD unit of any of the GPUs holds more.
            _ => (value.min(16), "0 to 16"),
        };
        let fault = |(name, value)| {
            let (nearest, expected) = nearest(name, value);
            (value != nearest).then(|| LaunchFault { name, value, nearest, expected: expected.to_owned() })
        };
        self.amd.given().filter_map(fault).collect()
    }
}

/// An option of the launch that is out of its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchFault {
    pub name: &'static str,
    pub value: u32,
    /// A value in the range, the next one below where there is one.
    pub nearest: u32,
    /// The range, in words.
    pub expected: String,
}

/// What the user said of the launch; the rest is for configurations, heuristics and defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Given {
    pub num_warps: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    pub maxnreg: Option<u32>,
    pub amd: AmdOptions,
}

impl Given {
    /// These options, and those that are left open from `rest`.
    #[must_use]
    pub fn or(&self, rest: Given) -> Given {
        Given {
            num_warps: self.num_warps.or(rest.num_warps),
            num_stages: self.num_stages.or(rest.num_stages),
            num_ctas: self.num_ctas.or(rest.num_ctas),
            maxnreg: self.maxnreg.or(rest.maxnreg),
            amd: self.amd.or(rest.amd),
        }
    }

    /// These options, and the others from `rest`.
    #[must_use]
    pub fn over(&self, rest: Launch) -> Launch {
        Launch {
            num_warps: self.num_warps.unwrap_or(rest.num_warps),
            num_stages: self.num_stages.unwrap_or(rest.num_stages),
            num_ctas: self.num_ctas.unwrap_or(rest.num_ctas),
            maxnreg: self.maxnreg.or(rest.maxnreg),
            amd: self.amd.or(rest.amd),
        }
    }
}
