//! Checks the types of tensors and memory descriptors: their sizes, and that their layouts fit what the module says of
//! its target.
//!
//! Each distinct type is judged once, and each value remembers the judgement. As in Triton, the rules bind the
//! operations of `tt`, `ttg` and `ttng` only: an `arith` operation on `tensor<3xi32>` is valid until one of those meets
//! its result.
//!
//! - Every dimension is a power of two, and there are at most 2^20 elements.
//! - A tensor's layout is distributed, of the tensor's rank, with the module's numbers of threads, warps and blocks.
//! - A memory descriptor's layout has its rank, or one less when it has a leading dimension of buffers, and the
//!   module's number of blocks.

use super::{Context, LayoutRules, Verifier};
use crate::diag::Code;
use crate::diag::codes::verify as codes;
use crate::ir::core::entity::Entity;
use crate::ir::core::hash::Map;
use crate::ir::core::{Attr, Bases, Encoding, Ir, MemDesc, Op, TensorType, Type, TypeData};
use crate::ir::dialects::OpKind;
use crate::ir::encoding::{questions, wellformed};

/// The most elements that a tensor may have.
pub(super) const MAX_ELEMENTS: i64 = 1 << 20;

/// The numbers with which layouts have to agree.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Target {
    /// The value of `ttg.num-warps`. There is none before the conversion to TTGIR.
    warps: Option<i64>,
    threads: i64,
    ctas: i64,
}

/// What is known of a value's type.
#[derive(Clone, Copy, PartialEq)]
enum Judgement {
    Unknown,
    Good,
    Bad,
    Reported,
}

pub(super) struct TypeRules {
    pub(super) targets: Vec<Target>,
    judged: Map<(Type, usize), bool>,
    values: Vec<Judgement>,
}

impl TypeRules {
    pub(super) fn new(ir: &Ir) -> TypeRules {
        let outside = Target { warps: None, threads: 32, ctas: 1 };
        TypeRules {
            targets: vec![outside],
            judged: Map::default(),
            values: vec![Judgement::Unknown; ir.value_capacity()],
        }
    }

    /// The target inside an operation, given the one around it. The operation's own attributes prevail.
    pub(super) fn target_inside(&mut self, ir: &Ir, op: Op, around: usize) -> usize {
        let stored = |name| ir.stored_attr(op, name).and_then(Attr::as_int);
        let mut target = self.targets[around];
        target.warps = stored("ttg.num-warps").or(target.warps);
        target.threads = stored("ttg.threads-per-warp").unwrap_or(target.threads);
        target.ctas = stored("ttg.num-ctas").unwrap_or(target.ctas);
        self.index_of(target, around)
    }

    /// The target inside region `index` of an operation. The partitions of a warp-specialized operation have warps of
    /// their own.
    pub(super) fn target_of_partition(&mut self, ir: &Ir, op: Op, index: usize, around: usize) -> usize {
        if ir.op_name(op) != "ttg.warp_specialize.partitions" {
            return around;
        }
        let counts =
            ir.parent_op(op).and_then(|p| ir.stored_attr(p, "partitionNumWarps")).and_then(Attr::as_dense_array);
        let warps = counts.and_then(|c| c.get(index).copied());
        self.index_of(Target { warps: warps.or(self.targets[around].warps), ..self.targets[around] }, around)
    }

    fn index_of(&mut self, target: Target, around: usize) -> usize {
        if self.targets[around] == target {
            return around;
        }
        let found = self.targets.iter().position(|t| *t == target);
        found.unwrap_or_else(|| {
            self.targets.push(target);
            self.targets.len() - 1
        })
    }
}

impl Verifier<'_> {
    /// Checks that the types of all operands and results are what the operation's own rule may expect, and reports
    /// those that are not.
    pub(super) fn check_types(&mut self, op: Op, context: Context) -> bool {
        let ir = self.ir;
        let binds = matches!(ir.kind(op), OpKind::Tt(_) | OpKind::Ttg(_) | OpKind::Ttng(_) | OpKind::Amdg(_));
        let operands = ir.operands(op).len();
        let mut sound = true;
        for (at, &value) in ir.operands(op).iter().chain(ir.results(op)).enumerate() {
            let known = self.types.values[value.index()];
            let known = if known == Judgement::Unknown { self.judge(ir.ty(value), context.target) } else { known };
            self.types.values[value.index()] = known;
            sound &= known == Judgement::Good || !binds;
            if known == Judgement::Bad && binds {
                self.types.values[value.index()] = Judgement::Reported;
                if let Err((code, message)) = type_rule(ir.ty(value), self.types.targets[context.target], self.layouts)
                {
                    let name =
                        if at < operands { format!("operand #{at}") } else { format!("result #{}", at - operands) };
                    self.fault(code, op, &format!("{name} has type {}: {message}", ir.ty(value)));
                    return false;
                }
            }
        }
        sound
    }

    fn judge(&mut self, ty: Type, target: usize) -> Judgement {
        if !matches!(*ty, TypeData::Tensor(_) | TypeData::MemDesc(_)) {
            return Judgement::Good;
        }
        let (targets, layouts) = (&self.types.targets, self.layouts);
        let good =
            *self.types.judged.entry((ty, target)).or_insert_with(|| type_rule(ty, targets[target], layouts).is_ok());
        if good { Judgement::Good } else { Judgement::Bad }
    }
}

type Rule = Result<(), (&'static Code, String)>;

fn type_rule(ty: Type, target: Target, layouts: Option<LayoutRules>) -> Rule {
    let layout = |reason: String| (&codes::INVALID_LAYOUT, reason);
    match ty.data() {
        TypeData::Tensor(t) => {
            size_rule(t).map_err(|reason| (&codes::INVALID_TENSOR, reason))?;
            tensor_layout_rule(t, target).map_err(layout)?;
        }
        TypeData::MemDesc(m) => {
            let negative = m.shape.iter().chain(&m.alloc_shape).any(|&s| s < 0);
            if negative || checked_count(&m.shape).is_none() || checked_count(&m.alloc_shape).is_none() {
                return Err((
                    &codes::INVALID_TENSOR,
                    "a dimension is negative, or there are too many elements".to_owned(),
                ));
            }
            memdesc_layout_rule(m, target).map_err(layout)?;
        }
        _ => return Ok(()),
    }
    match layouts {
        Some(rules) if ty.is_tensor() && ty.layout().is_some() => (rules.fits)(ty).map_err(layout),
        _ => Ok(()),
    }
}

fn size_rule(t: &TensorType) -> Result<(), String> {
    for (dim, &size) in t.shape.iter().enumerate() {
        if size <= 0 || size & (size - 1) != 0 {
            return Err(format!("dimension {dim} has size {size}, expected a power of two"));
        }
    }
    match checked_count(&t.shape) {
        Some(n) if n <= MAX_ELEMENTS => Ok(()),
        Some(n) => Err(format!("it has {n} elements, and a tensor has at most {MAX_ELEMENTS}")),
        None => Err(format!("it has more than 2^63 elements, and a tensor has at most {MAX_ELEMENTS}")),
    }
}

fn checked_count(shape: &[i64]) -> Option<i64> {
    shape.iter().try_fold(1i64, |n, &s| n.checked_mul(s))
}

fn tensor_layout_rule(t: &TensorType, target: Target) -> Result<(), String> {
    let Some(encoding) = t.encoding.and_then(Attr::as_encoding) else { return Ok(()) };
    let counts = distributed(encoding)?;
    if let Some(rank) = counts.rank.filter(|&r| r != t.shape.len()) {
        return Err(format!("its layout has rank {rank}, and the tensor has rank {}", t.shape.len()));
    }
    let Some(warps) = target.warps else {
        return Err("it has a layout, and nothing around the operation says `ttg.num-warps`".to_owned());
    };
    agree("threads per warp", counts.threads, target.threads)?;
    agree("warps per block", counts.warps, warps)?;
    agree("blocks per cluster", counts.ctas, target.ctas)
}

fn agree(what: &str, found: i64, expected: i64) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("its layout has {found} {what}, and the module has {expected}"))
    }
}

fn memdesc_layout_rule(m: &MemDesc, target: Target) -> Result<(), String> {
    wellformed::memdesc(m)?;
    match m.encoding.as_encoding().and_then(questions::stated_cga) {
        Some(cga) => agree("blocks per cluster", places(cga)?, target.ctas),
        None => Ok(()),
    }
}

/// The numbers that a distributed encoding states by itself.
struct Counts {
    /// The rank. It is not known of a linear layout without bases.
    rank: Option<usize>,
    threads: i64,
    warps: i64,
    ctas: i64,
}

/// The counts of an encoding, or the reason why it is not well-formed or not distributed. A parent is read in a loop,
/// since text may nest encodings deeply.
fn distributed(mut encoding: &Encoding) -> Result<Counts, String> {
    let mut removed: Vec<u32> = vec![];
    let mut counts = loop {
        if questions::is_distributed(encoding) {
            wellformed::encoding(encoding).map_err(|e| format!("its layout is not well-formed: {e}"))?;
        }
        match encoding {
            Encoding::Slice { dim, parent } => {
                removed.push(*dim);
                encoding = parent.as_encoding().ok_or("the parent of its layout is no layout")?;
            }
            Encoding::DotOp { parent, .. } => {
                encoding = parent.as_encoding().ok_or("the parent of its layout is no layout")?;
            }
            Encoding::Blocked(e) => {
                let (threads, warps) =
                    (product("threadsPerWarp", &e.threads_per_warp)?, product("warpsPerCTA", &e.warps_per_cta)?);
                break Counts { rank: Some(e.order.len()), threads, warps, ctas: places(&e.cga)? };
            }
            Encoding::NvidiaMma(e) => {
                let warps = product("warpsPerCTA", &e.warps_per_cta)?;
                break Counts { rank: Some(e.warps_per_cta.len()), threads: 32, warps, ctas: places(&e.cga)? };
            }
            Encoding::AmdMfma(e) => {
                let warps = product("warpsPerCTA", &e.warps_per_cta)?;
                break Counts { rank: Some(e.warps_per_cta.len()), threads: 64, warps, ctas: places(&e.cga)? };
            }
            Encoding::AmdWmma(e) => {
                let (rank, warps) = (Some(e.rank as usize), places(&e.warps)?);
                break Counts { rank, threads: 32, warps, ctas: places(&e.cga)? };
            }
            Encoding::Linear(e) | Encoding::GenericLinear(e) => {
                let rank = questions::rank_of_bases(&[&e.register, &e.lane, &e.warp, &e.block]);
                break Counts { rank, threads: places(&e.lane)?, warps: places(&e.warp)?, ctas: places(&e.block)? };
            }
            _ => return Err("its layout is one of memory, expected one of registers".to_owned()),
        }
    };
    for dim in removed.into_iter().rev() {
        if let Some(rank) = counts.rank {
            if dim as usize >= rank {
                return Err(format!("its layout removes dimension {dim} of one of rank {rank}"));
            }
            counts.rank = Some(rank - 1);
        }
    }
    Ok(counts)
}

fn product(what: &str, list: &[u32]) -> Result<i64, String> {
    if let Some(bad) = list.iter().find(|s| !s.is_power_of_two()) {
        return Err(format!("{what} of its layout has an entry {bad}, expected a power of two"));
    }
    list.iter()
        .try_fold(1i64, |n, &s| n.checked_mul(i64::from(s)))
        .ok_or_else(|| format!("{what} of its layout is too large"))
}

/// How many places an input dimension with these bases numbers: 2^bits.
fn places(bases: &Bases) -> Result<i64, String> {
    if bases.len() < 32 { Ok(1 << bases.len()) } else { Err(format!("its layout has a list of {} bases", bases.len())) }
}
