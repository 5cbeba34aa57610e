//! How an operation moves elements between threads: the plan that allocation takes its size from, that barriers are
//! placed by, and that code generation emits. There is one for an operation, made when shared memory is laid out
//! ([`super::allocation`]), so these three cannot disagree.

use super::scratch::{element_bits, operand_bytes};
use crate::ir::dialects::Exchange;
use crate::ir::dialects::discardable::{AT_ONCE, SPARING};
use crate::ir::dialects::tt::tt::{Gather, Reduce, Scan};
use crate::ir::{Ir, Op, OpKind, TtOp};
use crate::layout::plan::reduce::Delivery;
use crate::layout::plan::{Among, ConversionPlan, GatherPlan, ReducePlan, ScanPlan, Weights};
use crate::layout::{LayoutError, layout_of};
use crate::target::{SharedMemory, Target};

/// The plan of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExchangePlan {
    Conversion(ConversionPlan),
    Reduce(ReducePlan),
    Scan(ScanPlan),
    Gather(GatherPlan),
}

/// A plan, or why there is none: a type has no layout, or the blocks of a cluster would have to exchange elements.
pub type Planned = Result<ExchangePlan, LayoutError>;

impl ExchangePlan {
    /// Plans an operation; `None` for one that moves nothing between threads, or does so without a plan.
    #[must_use]
    pub fn of(ir: &Ir, op: Op, target: &Target) -> Option<Planned> {
        match ir.spec(op).exchange? {
            Exchange::Conversion => Some(conversion(ir, op, target).map(ExchangePlan::Conversion)),
            Exchange::Reduce => Some(reduce(ir, op, target.shared.ample_for_reductions).map(ExchangePlan::Reduce)),
            Exchange::Scan => Some(scan(ir, op).map(ExchangePlan::Scan)),
            Exchange::Gather => Some(gather(ir, op).map(ExchangePlan::Gather)),
            Exchange::Copies | Exchange::Count | Exchange::Descriptor => None,
        }
    }

    /// Bytes of shared memory that it needs.
    #[must_use]
    pub fn scratch_bytes(&self, ir: &Ir, op: Op) -> u32 {
        let bytes = operand_bytes(ir, op);
        match self {
            ExchangePlan::Conversion(plan) => plan.scratch_bytes(),
            ExchangePlan::Reduce(plan) => plan.scratch_bytes(&bytes),
            ExchangePlan::Scan(plan) => plan.scratch_bytes(&bytes),
            ExchangePlan::Gather(plan) => plan.scratch_bytes(bytes[0]),
        }
    }

    /// Which threads wait for each other.
    #[must_use]
    pub fn among(&self) -> Among {
        match self {
            ExchangePlan::Conversion(ConversionPlan::Shared(plan)) => plan.among(),
            ExchangePlan::Reduce(ReducePlan { delivery: Delivery::Shared(partials), .. }) => partials.among(),
            _ => Among::Block,
        }
    }
}

/// The plan of a `ttg.convert_layout`.
///
/// # Errors
/// When a type has no layout.
pub fn conversion(ir: &Ir, op: Op, target: &Target) -> Result<ConversionPlan, LayoutError> {
    let [source] = ir.all_operands(op);
    let (from, to) = (ir.ty(source), ir.ty(ir.result(op)));
    let ample_for_conversions = target.shared.ample_for_conversions && !ir.stores(op, SPARING);
    let conversions_at_once = ir.stores(op, AT_ONCE);
    let memory = SharedMemory { ample_for_conversions, conversions_at_once, ..target.shared };
    ConversionPlan::new(layout_of(from)?, layout_of(to)?, element_bits(from), &memory)
}

/// The plan of a `tt.reduce`. `ample` says whether it may take more bytes than it needs, for fewer barriers.
///
/// # Errors
/// When a type has no layout, or the blocks of a cluster cannot combine their parts in one step.
pub fn reduce(ir: &Ir, op: Op, ample: bool) -> Result<ReducePlan, LayoutError> {
    let result = ir.ty(*ir.results(op).first().ok_or_else(|| LayoutError::new("a reduction without results"))?);
    let result = if result.is_tensor() { Some(layout_of(result)?) } else { None };
    let reduce = Reduce(op);
    let source = reduce.srcs(ir).first().ok_or_else(|| LayoutError::new("a reduction without operands"))?;
    let weights = Weights { element_bytes: &operand_bytes(ir, op), combine: combining(ir, op), ample };
    ReducePlan::new(layout_of(ir.ty(*source))?, axis(reduce.axis(ir)), result, weights)
}

/// The instructions that combine two partial results, roughly: a division takes several, and the end of the region
/// none.
fn combining(ir: &Ir, op: Op) -> u32 {
    const EXPENSIVE: u32 = 8;
    let each = |inner: Op| match ir.kind(inner) {
        kind if kind.is_expensive_math() => EXPENSIVE,
        OpKind::Tt(TtOp::ReduceReturn) => 0,
        _ => 1,
    };
    ir.all_ops(op).into_iter().filter(|&inner| inner != op).map(each).sum()
}

fn scan(ir: &Ir, op: Op) -> Result<ScanPlan, LayoutError> {
    let scan = Scan(op);
    let source = scan.srcs(ir).first().ok_or_else(|| LayoutError::new("a scan without operands"))?;
    ScanPlan::new(layout_of(ir.ty(*source))?, axis(scan.axis(ir)), scan.reverse(ir))
}

fn gather(ir: &Ir, op: Op) -> Result<GatherPlan, LayoutError> {
    let gather = Gather(op);
    let (source, indices) = (ir.ty(gather.src(ir)), ir.ty(gather.indices(ir)));
    GatherPlan::new(layout_of(source)?, layout_of(indices)?, axis(gather.axis(ir)))
}

/// An axis as an index; one that no tensor has where none is stated.
fn axis(stated: Option<i64>) -> usize {
    stated.and_then(|a| usize::try_from(a).ok()).unwrap_or(usize::MAX)
}
