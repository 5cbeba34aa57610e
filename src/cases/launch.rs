//! Running a configuration in the interpreter, and comparing what came out with what was expected.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::{Buffer, Instance, InstanceArg};
use super::random::{self, Fill};
use super::value::{Env, Value};
use super::{Loaded, random::decode};
use crate::diag::Diagnostic;
use crate::driver::{Job, request};
use crate::interp::{self, Arg, BufferId, MAX_DESCRIPTOR_RANK, Memory, RunOptions};
use crate::ir::Ir;
use crate::irgen::{self, Lowered};
use crate::source::SourceMap;
use crate::target::Target;

/// The values that a reference computes from.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    arrays: BTreeMap<String, (Vec<usize>, Vec<f64>)>,
    values: Env,
}

/// Panics for a wrong name, which is a defect of the reference that asks for it.
fn no_such(name: &str) -> ! {
    panic!("the case has no `{name}` of this kind")
}

impl Inputs {
    #[must_use]
    pub fn new(instance: &Instance) -> Inputs {
        let array = |b: &Buffer| (b.shape.clone(), decode(b.dtype, &b.bytes()));
        Inputs {
            arrays: instance.buffers().map(|b| (b.name.clone(), array(b))).collect(),
            values: instance.values.clone(),
        }
    }

    /// The elements of a buffer before the launch, row-major. An integer counts with the sign of its type.
    #[must_use]
    pub fn array(&self, name: &str) -> &[f64] {
        self.arrays.get(name).map_or_else(|| no_such(name), |(_, v)| v)
    }

    #[must_use]
    pub fn shape(&self, name: &str) -> &[usize] {
        self.arrays.get(name).map_or_else(|| no_such(name), |(s, _)| s)
    }

    /// The value of a parameter, a constant or a scalar argument.
    #[must_use]
    pub fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or_else(|| no_such(name))
    }

    #[must_use]
    pub fn int(&self, name: &str) -> i64 {
        self.value(name).as_int().unwrap_or_else(|| no_such(name))
    }

    /// A value that is a size or a count.
    #[must_use]
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or_else(|_| no_such(name))
    }

    #[must_use]
    pub fn float(&self, name: &str) -> f64 {
        self.value(name).as_f64().unwrap_or_else(|| no_such(name))
    }

    #[must_use]
    pub fn bool(&self, name: &str) -> bool {
        self.value(name).is_true()
    }

    #[must_use]
    pub fn str(&self, name: &str) -> &str {
        match self.value(name) {
            Value::Str(s) | Value::Name(s) => s,
            _ => no_such(name),
        }
    }
}

impl Instance {
    pub fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.args.iter().filter_map(|a| match a {
            InstanceArg::Buffer(b) => Some(b),
            InstanceArg::Scalar { .. } => None,
        })
    }

    /// The buffers that are compared with the reference.
    pub fn outputs(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers().filter(|b| b.out)
    }
}

/// Lowers the kernel to TTIR, before any pass.
pub fn lower(sources: &mut SourceMap, loaded: &Loaded, instance: &Instance) -> Result<Lowered, Vec<Diagnostic>> {
    let target = Target::parse("sm_90a").map_err(|d| vec![d])?;
    let job =
        Job { kernel: Some(loaded.kernel.name.clone()), ..Job::new(loaded.input.clone(), target, Arc::default()) };
    let request = irgen::KernelRequest {
        include_dirs: loaded.include.clone(),
        ..request::kernel_request(&job, &instance.options)
    };
    irgen::lower_kernel(sources, loaded.input.file, &request)
}

/// The result of a run.
pub struct Done {
    pub report: interp::Report,
    /// The bytes of the output buffers by name.
    pub outputs: BTreeMap<String, Vec<u8>>,
}

/// The arguments of a configuration, with its buffers in memory.
pub struct Arguments<'a> {
    pub memory: Memory,
    pub args: Vec<Arg>,
    pub buffers: Vec<(&'a Buffer, BufferId)>,
}

/// Makes the buffers of a configuration.
#[must_use]
pub fn arguments(instance: &Instance) -> Arguments<'_> {
    let (mut memory, mut args, mut buffers) = (Memory::new(), vec![], vec![]);
    for arg in &instance.args {
        args.push(match arg {
            InstanceArg::Scalar { value: Value::Float(v), .. } => Arg::Float(*v),
            InstanceArg::Scalar { value, .. } => Arg::Int(value.as_int().unwrap_or_default()),
            InstanceArg::Buffer(b) => {
                let id = match b.fill {
                    Fill::Poison => {
                        memory.add_uninit(&b.name, b.dtype.to_ir(), b.len() * random::element_size(b.dtype))
                    }
                    _ => memory.add(&b.name, b.dtype.to_ir(), &b.bytes()),
                };
                buffers.push((b, id));
                if !b.block.is_empty() {
                    describe(&mut args, b, id);
                    continue;
                }
                Arg::Ptr(id, 0)
            }
        });
    }
    Arguments { memory, args, buffers }
}

/// Adds the arguments that stand for a descriptor of a buffer: the buffer itself, its extents, and its strides.
fn describe(args: &mut Vec<Arg>, b: &Buffer, id: BufferId) {
    let size = |d: usize| i64::try_from(b.shape[d]).unwrap_or(i64::MAX);
    let rank = b.shape.len();
    let mut extents = [0; MAX_DESCRIPTOR_RANK];
    (0..rank).for_each(|d| extents[d] = size(d));
    args.push(Arg::Desc(id, extents));
    args.extend((0..rank).map(|d| Arg::Int(size(d))));
    args.extend((0..rank).map(|d| Arg::Int((d + 1..rank).map(size).product())));
}

/// Runs a configuration on TTIR, before or after any pass.
pub fn run(ir: &Ir, kernel: &str, instance: &Instance, options: &RunOptions) -> Result<Done, Vec<Diagnostic>> {
    let mut a = arguments(instance);
    let report = interp::run(ir, kernel, instance.grid, &a.args, &mut a.memory, options)?;
    let outputs =
        a.buffers.iter().filter(|(b, _)| b.out).map(|(b, id)| (b.name.clone(), a.memory.bytes(*id))).collect();
    Ok(Done { report, outputs })
}

/// The worst of the places at which two arrays differ by more than the tolerance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mismatch {
    /// The index of the worst element.
    pub index: usize,
    pub got: f64,
    pub want: f64,
    /// How many elements differ by more than the tolerance.
    pub count: usize,
}

/// Compares element by element: `|got - want| <= tolerance * max(1, |want|)`, or equality without a tolerance. Two NaNs
/// count as equal.
///
/// # Errors
/// The worst element, if one differs by too much.
#[allow(clippy::float_cmp)] // equality is what an exact comparison asks for
pub fn compare(got: &[f64], want: &[f64], tolerance: Option<f64>) -> Result<(), Mismatch> {
    if got.len() != want.len() {
        let index = got.len().min(want.len());
        return Err(Mismatch { index, got: f64::NAN, want: f64::NAN, count: got.len().abs_diff(want.len()) });
    }
    let mut worst: Option<(f64, Mismatch)> = None;
    let mut count = 0;
    for (index, (&g, &w)) in got.iter().zip(want).enumerate() {
        if g == w || g.is_nan() && w.is_nan() {
            continue;
        }
        let error = (g - w).abs() / w.abs().max(1.0);
        // If one of the two is an infinity or a NaN and the other is not, the error is no number.
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if tolerance.is_some_and(|t| error <= t) {
            continue;
        }
        count += 1;
        if worst.as_ref().is_none_or(|(e, _)| error > *e) {
            worst = Some((error, Mismatch { index, got: g, want: w, count }));
        }
    }
    worst.map_or(Ok(()), |(_, m)| Err(Mismatch { count, ..m }))
}

/// Compares the outputs of a run with those of a reference. The result has one line for each buffer that is wrong.
#[must_use]
pub fn check(
    instance: &Instance,
    outputs: &BTreeMap<String, Vec<u8>>,
    expected: &BTreeMap<String, Vec<f64>>,
) -> Vec<String> {
    let mut wrong = vec![];
    for b in instance.outputs() {
        let (Some(bytes), Some(want)) = (outputs.get(&b.name), expected.get(&b.name)) else {
            wrong.push(format!("{}: the reference says nothing about it", b.name));
            continue;
        };
        // A value that the type cannot represent is compared with what it rounds to.
        let want = decode(b.dtype, &random::encode(b.dtype, want.iter().copied()));
        if let Err(m) = compare(&decode(b.dtype, bytes), &want, b.tolerance) {
            wrong.push(format!(
                "{}: {} of {} elements differ, the worst is [{}]: got {}, want {}",
                b.name,
                m.count,
                want.len(),
                m.index,
                m.got,
                m.want
            ));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn comparison_is_relative_above_one_and_absolute_below() {
        assert!(compare(&[0.001], &[0.0], Some(0.01)).is_ok());
        assert!(compare(&[1001.0], &[1000.0], Some(0.01)).is_ok());
        assert!(compare(&[1.02], &[1.0], Some(0.01)).is_err());
        assert!(compare(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY], None).is_ok());
        let m = compare(&[f64::NAN, 1.0, 5.0], &[1.0, 1.0, 4.0], Some(0.01)).unwrap_err();
        assert_eq!((m.index, m.count), (0, 2));
        assert!(compare(&[f64::INFINITY], &[1.0], Some(1.0)).is_err());
        assert!(compare(&[1.0], &[f64::INFINITY], Some(1.0)).is_err());
    }
}
