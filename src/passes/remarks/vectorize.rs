//! `vectorize`: accesses of global memory that move fewer bytes a thread than they could, or that neighbouring threads
//! scatter.
//!
//! Which fact is missing is found by asking the analysis itself what it would know if the user had said more, so the
//! advice is what the compiler acts on, whatever arithmetic lies between a parameter and an address.
//!
//! # Algorithm
//!
//! 1. *Wanted* elements of an access: 16 bytes, but no more than each thread's share of the tensor and one run along
//!    its axes. *Actual*: what code generation moves at once. Accesses with less than wanted go on.
//! 2. What facts give an access (whatever the layout): along the best axis, the least of the pointers' contiguity,
//!    their divisibility, and the run of equal mask elements.
//! 3. Analyse as if every parameter were divisible by 16. Where that widens an access, analyse once more for each
//!    parameter, with it left out: the parameters whose absence narrows the access again are those to be stated.
//! 4. Where it does not, analyse for each integer parameter as if it were also 1: a stride that must be 1 for
//!    neighbours to be adjacent.
//! 5. Where nothing helps: addresses that depend on loaded values say so; otherwise the layout gave a thread few
//!    neighbours, or the addresses are not adjacent by their arithmetic.
//!
//! ```text
//! x = tl.load(x_ptr + offs, mask=offs < n)     n: "i32"
//! remark[E0613]: the load moves 4 bytes a thread at a time; 16 would be possible
//!   help: `n` is not known to be divisible by 16: write `n: "i32:16"`
//! ```

use crate::ir::dialects::tt::tt::{Load, Store};
use crate::ir::dialects::ttg::ttg::AsyncCopyGlobalToLocal;
use std::collections::{BTreeMap, BTreeSet};

use super::{Parameter, at, bytes};
use crate::analysis::axis_info::{AxisInfo, AxisInfoAnalysis};
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::{TtOp, TtgOp};
use crate::passes::ttg::{module_attrs, whole_vectors};

/// Bits of the widest access of one thread.
const MAX_ACCESS: u32 = 128;
/// The divisor that is worth stating: 16 elements, or 16 bytes of an address.
const DIVISOR: i64 = 16;

/// An access of global memory that is narrower than wanted.
struct NarrowAccess {
    op: Op,
    ptr: Value,
    mask: Option<Value>,
    bits: u32,
    /// Elements at a time.
    wanted: u32,
    actual: u32,
}

/// The remarks on one function.
pub(super) fn of_function(ir: &Ir, func: Op, parameters: &[Parameter]) -> Vec<Diagnostic> {
    let analysis = AxisInfoAnalysis::new(ir, func);
    let found: Vec<NarrowAccess> =
        ir.all_ops(func).into_iter().filter_map(|op| NarrowAccess::of(ir, &analysis, op)).collect();
    let slow: Vec<NarrowAccess> =
        found.into_iter().filter(|a| a.actual < a.wanted || a.is_scattered(ir, &analysis)).collect();
    if slow.is_empty() {
        return vec![];
    }
    let causes = Causes::find(ir, func, &analysis, &slow);
    let widened = whole_vectors::widened(ir, func);
    let remark = |(access, cause): (&NarrowAccess, &Cause)| {
        let remark = access.remark(ir, &analysis, cause, parameters);
        if widened.contains(&access.op) {
            remark.note("programs whose masks split no vector run a copy of the code, in which it is wider")
        } else {
            remark
        }
    };
    slow.iter().zip(&causes.of).map(remark).collect()
}

impl NarrowAccess {
    /// The access of a load, a store or an asynchronous copy of a tensor.
    fn of(ir: &Ir, analysis: &AxisInfoAnalysis, op: Op) -> Option<NarrowAccess> {
        let load = Load::of(ir, op).map(|load| (load.ptr(ir), load.mask(ir)));
        let store = || Store::of(ir, op).map(|store| (store.ptr(ir), store.mask(ir)));
        let copy = || AsyncCopyGlobalToLocal::of(ir, op).map(|copy| (copy.src(ir), copy.mask(ir)));
        let (ptr, mask) = load.or_else(store).or_else(copy)?;
        let ty = ir.ty(ptr);
        let tensor = ty.as_tensor().filter(|t| t.encoding.is_some())?;
        let bits = ty.elem().pointee().and_then(Type::bit_width).unwrap_or(8).next_multiple_of(8).min(MAX_ACCESS);
        let threads = module_attrs::threads(ir)?;
        let all = i64::from(
            module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps)
                * threads.threads_per_warp
                * threads.num_ctas,
        );
        let share = (tensor.shape.iter().product::<i64>() / all).max(1);
        let longest = tensor.shape.iter().copied().max().unwrap_or(1);
        let wanted = i64::from(MAX_ACCESS / bits).min(share).min(longest) as u32;

        let equal = mask.map_or(u32::MAX, |m| analysis.mask_alignment(ir, m));
        let actual = analysis.ptr_contiguity(ir, ptr).min(equal).clamp(1, MAX_ACCESS / bits);
        Some(NarrowAccess { op, ptr, mask, bits, wanted, actual })
    }

    /// The elements that may be accessed at once along the best axis, as far as the facts go, up to what is wanted.
    fn possible(&self, ir: &Ir, analysis: &AxisInfoAnalysis) -> u32 {
        let Some(info) = analysis.get(self.ptr) else { return 1 };
        let mask = self.mask.and_then(|m| analysis.get(m)).filter(|m| m.rank() == info.rank());
        let element = i64::from(self.bits / 8);
        let along = |d: usize| {
            let aligned = (info.divisibility[d] / element).max(1).min(info.contiguity[d]);
            aligned.min(mask.map_or(i64::MAX, |m| m.constancy[d])).min(ir.ty(self.ptr).shape()[d])
        };
        (0..info.rank()).map(along).max().unwrap_or(1).clamp(1, i64::from(self.wanted)) as u32
    }

    /// Whether neighbouring elements lie apart along every axis, and are not the same one either.
    fn is_scattered(&self, ir: &Ir, analysis: &AxisInfoAnalysis) -> bool {
        let Some(info) = analysis.get(self.ptr) else { return false };
        let shape = ir.ty(self.ptr).shape();
        let spread = (0..info.rank()).any(|d| shape[d] > 1 && info.constancy[d] < shape[d]);
        spread && (0..info.rank()).all(|d| info.contiguity[d] == 1)
    }

    fn word(&self, ir: &Ir) -> &'static str {
        if ir.is(self.op, TtOp::Store) { "store" } else { "load" }
    }

    fn remark(&self, ir: &Ir, analysis: &AxisInfoAnalysis, cause: &Cause, parameters: &[Parameter]) -> Diagnostic {
        let (word, element) = (self.word(ir), self.bits / 8);
        let remark = if self.is_scattered(ir, analysis) {
            let text = format!(
                "neighbouring threads do not {word} neighbouring addresses, as far as is known: {} may take a sector of 32",
                bytes(element)
            );
            Diagnostic::remark(&codes::SCATTERED_ACCESS, text)
        } else {
            let text = format!(
                "the {word} moves {} a thread at a time; {} would be possible",
                bytes(self.actual * element),
                self.wanted * element
            );
            Diagnostic::remark(&codes::NARROW_ACCESS, text)
        };
        cause.explain(at(remark, ir.loc(self.op), ""), ir, parameters)
    }
}

/// Why an access is narrow.
#[derive(Clone, Default)]
struct Cause {
    /// Parameters to be stated divisible by 16.
    divisible: Vec<Value>,
    /// Parameters to be stated as 1.
    one: Vec<Value>,
    /// The address depends on this load.
    loaded: Option<Op>,
    /// The facts are there, but not the layout.
    layout: bool,
}

/// The cause of each access.
struct Causes {
    of: Vec<Cause>,
}

impl Causes {
    fn find(ir: &Ir, func: Op, analysis: &AxisInfoAnalysis, slow: &[NarrowAccess]) -> Causes {
        let now: Vec<u32> = slow.iter().map(|a| a.possible(ir, analysis)).collect();
        let mut causes: Vec<Cause> =
            now.iter().zip(slow).map(|(&p, a)| Cause { layout: p > a.actual, ..Cause::default() }).collect();
        let unknown = vague(ir, func, analysis);
        let everything: BTreeMap<Value, AxisInfo> = unknown.iter().map(|&p| (p, divisible())).collect();
        let best = AxisInfoAnalysis::assuming(ir, func, everything.clone());
        let best: Vec<u32> = slow.iter().map(|a| a.possible(ir, &best)).collect();
        if best.iter().zip(&now).any(|(best, now)| best > now) {
            for &parameter in &unknown {
                let mut without = everything.clone();
                without.remove(&parameter);
                let without = AxisInfoAnalysis::assuming(ir, func, without);
                for (i, access) in slow.iter().enumerate().filter(|(i, _)| best[*i] > now[*i]) {
                    if access.possible(ir, &without) < best[i] {
                        causes[i].divisible.push(parameter);
                    }
                }
            }
        }
        strides(ir, func, slow, &everything, &best, &mut causes);
        for (cause, access) in causes.iter_mut().zip(slow) {
            if cause.divisible.is_empty() && cause.one.is_empty() {
                cause.loaded = loaded_address(ir, access.ptr);
            }
        }
        Causes { of: causes }
    }
}

/// Step 4.
fn strides(
    ir: &Ir,
    func: Op,
    slow: &[NarrowAccess],
    everything: &BTreeMap<Value, AxisInfo>,
    best: &[u32],
    causes: &mut [Cause],
) {
    let open = |causes: &[Cause], i: usize| {
        causes[i].divisible.is_empty() && !causes[i].layout && best[i] < slow[i].wanted.max(2)
    };
    if !(0..slow.len()).any(|i| open(causes, i)) {
        return;
    }
    for &parameter in parameters_of(ir, func).iter().filter(|&&p| ir.ty(p).is_int()) {
        let one = AxisInfo { contiguity: vec![1], divisibility: vec![1], constancy: vec![1], constant: Some(1) };
        let mut assumed = everything.clone();
        assumed.insert(parameter, one);
        let with = AxisInfoAnalysis::assuming(ir, func, assumed);
        let joins: Vec<usize> =
            (0..slow.len()).filter(|&i| open(causes, i) && !slow[i].is_scattered(ir, &with)).collect();
        for i in joins {
            if slow[i].possible(ir, &with) > best[i] {
                causes[i].one.push(parameter);
            }
        }
    }
}

/// All that a divisor says of a scalar.
fn divisible() -> AxisInfo {
    AxisInfo { contiguity: vec![1], divisibility: vec![DIVISOR], constancy: vec![1], constant: None }
}

fn parameters_of(ir: &Ir, func: Op) -> &[Value] {
    ir.body(func, 0).map_or(&[], |entry| ir.args(entry))
}

/// The integer and pointer parameters that are not known to be divisible by 16.
fn vague(ir: &Ir, func: Op, analysis: &AxisInfoAnalysis) -> Vec<Value> {
    let scalar = |v: Value| ir.ty(v).is_int() || ir.ty(v).is_ptr();
    let known = |v: Value| analysis.get(v).is_some_and(|i| i.divisibility[0] % DIVISOR == 0);
    parameters_of(ir, func).iter().copied().filter(|&v| scalar(v) && !known(v)).collect()
}

/// A load that an address is computed from.
fn loaded_address(ir: &Ir, ptr: Value) -> Option<Op> {
    let (mut seen, mut queue) = (BTreeSet::from([ptr]), vec![ptr]);
    while let Some(value) = queue.pop() {
        let ValueDef::Result { op, .. } = ir.def(value) else { continue };
        let is_tensor_load = ir.is(op, TtOp::Load) || ir.is(op, TtgOp::LocalLoad);
        if is_tensor_load && ir.ty(value).is_tensor() {
            return Some(op);
        }
        if ir.is(op, TtOp::Load) {
            continue;
        }
        queue.extend(ir.operands(op).iter().copied().filter(|&v| seen.insert(v)));
    }
    None
}

impl Cause {
    fn explain(&self, remark: Diagnostic, ir: &Ir, parameters: &[Parameter]) -> Diagnostic {
        if !self.divisible.is_empty() {
            let facts: Vec<String> = self.divisible.iter().map(|&v| missing_divisor(ir, v, parameters)).collect();
            return remark.help(facts.join("; "));
        }
        if let Some(&first) = self.one.first() {
            let names: Vec<String> = self.one.iter().map(|&v| format!("`{}`", name_of(ir, v, parameters).0)).collect();
            let (which, name) = (names.join(" nor "), name_of(ir, first, parameters).0);
            let known = if names.len() > 1 {
                format!("neither {which} is known to be 1: if one is")
            } else {
                format!("{which} is not known to be 1: if it is")
            };
            return remark.help(format!(
                "{known}, make it a constant, for example `{name}: tl.constexpr = 1`, or 1 in the signature"
            ));
        }
        if let Some(load) = self.loaded {
            return at(remark, ir.loc(load), "the address is computed from what is loaded here")
                .note("the addresses are data: nothing is known of them");
        }
        if self.layout {
            return remark.note(
                "the addresses would allow it, but the operations around it gave a thread fewer neighbouring elements",
            );
        }
        remark.note("no fact about a parameter would help: by their arithmetic the addresses do not run contiguously, or the mask changes inside of a run")
    }
}

/// The name and the signature's word for the type of a parameter.
fn name_of(ir: &Ir, parameter: Value, parameters: &[Parameter]) -> (String, String) {
    let ValueDef::Arg { index, .. } = ir.def(parameter) else { return (String::new(), String::new()) };
    if let Some(p) = parameters.get(index as usize) {
        return (p.name.clone(), p.ty.clone());
    }
    let name = ir.value_loc(parameter).value_name().map_or_else(|| format!("%arg{index}"), |n| n.to_string());
    (name, String::new())
}

/// `` `n` is not known to be divisible by 16: write `n: "i32:16"` ``
fn missing_divisor(ir: &Ir, parameter: Value, parameters: &[Parameter]) -> String {
    let (name, ty) = name_of(ir, parameter, parameters);
    let what = if ir.ty(parameter).is_ptr() {
        format!("pointer `{name}` is not known to be aligned to {DIVISOR} bytes")
    } else {
        format!("`{name}` is not known to be divisible by {DIVISOR}")
    };
    if ty.is_empty() {
        format!("{what}: give it `tt.divisibility = {DIVISOR}`")
    } else {
        format!("{what}: write `{name}: \"{ty}:{DIVISOR}\"`")
    }
}
