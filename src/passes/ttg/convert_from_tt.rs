//! `convert-triton-to-tritongpu`: gives every tensor a layout.
//!
//! # Algorithm
//!
//! 1. Note on the module for what it is compiled: target, warps, threads a warp, blocks a cluster.
//! 2. The wanted layout of a tensor is the default blocked one of its shape: one element a thread, the last axis
//!    fastest.
//! 3. Walk the functions in order. Arguments and results of an operation get the wanted layout; operands are used in
//!    it. Exceptions give results another layout, because it follows from the operand's: `broadcast` keeps it,
//!    `expand_dims` takes a slice of a blocked layout, `reduce` gives a slice, `trans`, `join` and `split` derive it,
//!    `dot` takes operands of its result's layout.
//! 4. Where an operand is not in the layout in which it is used, a `convert_layout` right after its definition serves
//!    this operand (equal ones are merged later).
//!
//! Most conversions are removed again once loads and stores have chosen their layouts.

use super::infer;
use super::module_attrs::Threads;
use crate::diag::codes::passes as codes;
use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Block, Builder, Encoding, InsertPoint, Ir, Loc, Op, Type, TypeData, Value, ValueDef};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::discardable::{NUM_CTAS, NUM_WARPS, TARGET, THREADS_PER_WARP};
use crate::ir::dialects::keys::Slot;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{LayoutRule, TtgOp};
use crate::ir::encoding::questions::has_operand;
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "convert-triton-to-tritongpu",
    doc: "give every tensor a layout",
    input: Input::Ttir,
    options: &[
        OptionSpec { name: "target", kind: OptionKind::Str, default: "", doc: "what it is compiled for: cuda:90" },
        OptionSpec { name: "num-warps", kind: OptionKind::Int, default: "4", doc: "warps of a block" },
        OptionSpec { name: "threads-per-warp", kind: OptionKind::Int, default: "32", doc: "threads of a warp" },
        OptionSpec { name: "num-ctas", kind: OptionKind::Int, default: "1", doc: "blocks of a cluster" },
        OptionSpec {
            name: "enable-source-remat",
            kind: OptionKind::Bool,
            default: "false",
            doc: "accepted for compatibility",
        },
    ],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    if cx.str("target").is_empty() {
        return Err(cx.fail(
            &codes::MISSING_OPTION,
            ir.loc(module),
            format!("'{}' needs the option 'target'", PASS.name),
        ));
    }
    let mut count = |name: &str| {
        let value = cx.int(name);
        let ok = u32::try_from(value).ok().filter(|v| v.is_power_of_two());
        ok.ok_or_else(|| {
            cx.fail(&codes::BAD_OPTION, Loc::unknown(), format!("option '{name}' takes a power of two, got {value}"))
        })
    };
    let threads = Threads {
        num_warps: count("num-warps")?,
        threads_per_warp: count("threads-per-warp")?,
        num_ctas: count("num-ctas")?,
    };
    for (key, value) in
        [(NUM_WARPS, threads.num_warps), (THREADS_PER_WARP, threads.threads_per_warp), (NUM_CTAS, threads.num_ctas)]
    {
        ir.put(module, key, i64::from(value));
    }
    if let Some(op) =
        ir.all_ops(module).into_iter().find(|&op| ir.operands(op).iter().any(|&v| is_block_pointer(ir.ty(v))))
    {
        let text = format!("`{}` has a pointer to a block; run 'triton-rewrite-tensor-pointer' first", ir.op_name(op));
        return Err(cx.fail(&codes::PASS_FAILED, ir.loc(op), text));
    }
    ir.put(module, TARGET, cx.str("target"));
    let conversion = Conversion { threads };
    for func in ir.functions() {
        conversion.function(ir, func);
    }
    Ok(Changed::Yes)
}

/// Whether it points to a tensor, which then has no layout of its own.
fn is_block_pointer(ty: Type) -> bool {
    matches!(ty.data(), TypeData::Pointer { pointee, .. } if pointee.is_tensor())
}

/// The layout that a tensor of this shape gets when nothing else decides.
fn default_encoding(shape: &[i64], t: Threads) -> Attr {
    Attr::encoding(layout::default_blocked(shape, t.num_warps, t.threads_per_warp, t.num_ctas))
}

struct Conversion {
    threads: Threads,
}

impl Conversion {
    /// A type with the wanted layout; tensors that have one keep it.
    fn wanted(&self, ty: Type) -> Type {
        match ty.data() {
            TypeData::Tensor(t) if t.encoding.is_none() && !t.shape.is_empty() => {
                ty.with_encoding(Some(default_encoding(&t.shape, self.threads)))
            }
            _ => ty,
        }
    }

    fn function(&self, ir: &mut Ir, func: Op) {
        if let Some(TypeData::Function { inputs, results }) = ir.get(func, tt::Func::ATTR.function_type).map(Type::data)
        {
            let convert = |types: &[Type]| types.iter().map(|&t| self.wanted(t)).collect::<Vec<_>>();
            let ty = Type::function(&convert(inputs), &convert(results));
            ir.put(func, tt::Func::ATTR.function_type, ty);
        }
        for region in ir.regions_of(func).to_vec() {
            for block in ir.blocks_of(region).to_vec() {
                self.block(ir, block);
            }
        }
    }

    fn block(&self, ir: &mut Ir, block: Block) {
        for arg in ir.args(block).to_vec() {
            let ty = self.wanted(ir.ty(arg));
            ir.set_type(arg, ty);
        }
        for op in ir.op_list(block) {
            self.operation(ir, op);
            for region in ir.regions_of(op).to_vec() {
                for inner in ir.blocks_of(region).to_vec() {
                    self.block(ir, inner);
                }
            }
        }
    }

    fn operation(&self, ir: &mut Ir, op: Op) {
        for index in 0..ir.operands(op).len() {
            let value = ir.operand(op, index);
            // A value defined further on (a loop over blocks) has no layout yet and will get the wanted one.
            if ir.ty(value).as_tensor().is_some_and(|t| t.encoding.is_some()) {
                let bare = ir.ty(value).with_encoding(None);
                let used = self.converted(ir, op, value, self.wanted(bare));
                ir.set_operand(op, index, used);
            }
        }
        match ir.kind(op).layout_rule() {
            LayoutRule::Expanded => self.expand_dims(ir, op),
            LayoutRule::Reduced | LayoutRule::Permuted | LayoutRule::Joined => derived(ir, op),
            LayoutRule::Halved => self.split(ir, op),
            LayoutRule::Reshaped => self.reshape(ir, op),
            LayoutRule::Own
            | LayoutRule::Shared
            | LayoutRule::Blocked
            | LayoutRule::Carried
            | LayoutRule::Indexed
            | LayoutRule::Unpacked => self.with_own_rule(ir, op),
        }
    }

    /// Operations that ask more of their operands than a layout, or whose results have the default one.
    fn with_own_rule(&self, ir: &mut Ir, op: Op) {
        if let Some(constant) = arith::Constant::of(ir, op) {
            self.constant(ir, constant);
        } else if let Some(broadcast) = tt::Broadcast::of(ir, op) {
            let encoding = ir.ty(broadcast.src(ir)).encoding();
            set_result(ir, op, 0, encoding);
        } else if let Some(cat) = tt::Cat::of(ir, op) {
            self.cat(ir, cat);
        } else if let Some(dot) = tt::Dot::of(ir, op) {
            self.dot(ir, dot);
        } else {
            self.results(ir, op);
            if let Some(gather) = tt::DescriptorGather::of(ir, op) {
                self.row_indices(ir, op, gather.x_offsets(ir), tt::DescriptorGather::SLOT.x_offsets);
            } else if let Some(scatter) = tt::DescriptorScatter::of(ir, op) {
                self.row_indices(ir, op, scatter.x_offsets(ir), tt::DescriptorScatter::SLOT.x_offsets);
            }
        }
    }

    fn results(&self, ir: &mut Ir, op: Op) {
        for result in ir.results(op).to_vec() {
            let ty = self.wanted(ir.ty(result));
            ir.set_type(result, ty);
        }
    }

    /// The value in another type: itself, or a conversion after its definition.
    fn converted(&self, ir: &mut Ir, user: Op, value: Value, ty: Type) -> Value {
        if ir.ty(value) == ty {
            return value;
        }
        let point = match ir.def(value) {
            ValueDef::Result { op, .. } => InsertPoint::After(op),
            ValueDef::Arg { block, .. } => InsertPoint::Start(block),
        };
        let loc = ir.loc(user);
        Builder::new(ir, point, loc).value(TtgOp::ConvertLayout, &[value], ty)
    }

    /// A conversion in front of `op`, for it alone.
    fn convert_here(&self, ir: &mut Ir, op: Op, value: Value, encoding: Attr) -> Value {
        let ty = ir.ty(value).with_encoding(Some(encoding));
        Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], ty)
    }

    fn constant(&self, ir: &mut Ir, constant: arith::Constant) {
        let result = constant.result(ir);
        let ty = self.wanted(ir.ty(result));
        if infer::retype(ir, constant, ty) {
            ir.set_type(result, ty);
        }
    }

    /// The operand becomes a slice of its own blocked layout with the new axis in it.
    fn expand_dims(&self, ir: &mut Ir, op: Op) {
        let Some(expand) = tt::ExpandDims::of(ir, op) else { return };
        let (src, axis) = (expand.src(ir), usize::try_from(expand.axis(ir).unwrap_or(0)).unwrap_or(0));
        let Some(Encoding::Blocked(b)) = ir.ty(src).layout() else { return self.results(ir, op) };
        let with = |v: &[u32]| {
            let mut v = v.to_vec();
            v.insert(axis.min(v.len()), 1);
            v
        };
        let parent = Attr::encoding(Encoding::Blocked(Blocked {
            size_per_thread: with(&b.size_per_thread),
            threads_per_warp: with(&b.threads_per_warp),
            warps_per_cta: with(&b.warps_per_cta),
            order: (0..=b.order.len() as u32).collect(),
            cga: b
                .cga
                .iter()
                .map(|basis| {
                    let mut basis = basis.clone();
                    basis.insert(axis.min(basis.len()), 0);
                    basis
                })
                .collect(),
        }));
        let sliced = self.convert_here(ir, op, src, infer::slice(axis as u32, parent));
        ir.put_operands(op, tt::ExpandDims::SLOT.src, &[sliced]);
        set_result(ir, op, 0, Some(parent));
    }

    /// The source needs both halves in one thread, side by side.
    fn split(&self, ir: &mut Ir, op: Op) {
        let Some(split) = tt::Split::of(ir, op) else { return };
        let src = split.src(ir);
        let rank = ir.ty(src).rank() as u32;
        let fits = matches!(ir.ty(src).layout(), Some(Encoding::Blocked(b))
            if b.size_per_thread.last() == Some(&2) && b.order.first() == Some(&(rank - 1)));
        if !fits {
            let shape = ir.ty(split.lhs(ir)).shape().to_vec();
            let half = default_encoding(&shape, self.threads);
            // `join` of the default layout of a half is what `split` takes apart.
            if let Some(whole) = infer::joined(half, &shape) {
                let converted = self.convert_here(ir, op, src, whole);
                ir.put_operands(op, tt::Split::SLOT.src, &[converted]);
            }
        }
        derived(ir, op);
    }

    /// Source and result have the default layout, as one sees the other. Not so in a cluster with more blocks than
    /// elements: `2` gives copies to the second bit of the blocks, `2x1` to the first. Then the source is converted.
    fn reshape(&self, ir: &mut Ir, op: Op) {
        self.results(ir, op);
        let Some(reshape) = tt::Reshape::of(ir, op).filter(|r| self.threads.num_ctas > 1 && !r.allow_reorder(ir))
        else {
            return;
        };
        let (src, to) = (reshape.src(ir), ir.ty(ir.result(op)));
        let seen = to.encoding().and_then(|encoding| infer::operand_encoding(ir, op, encoding));
        let (Some(own), Some(seen)) = (ir.ty(src).encoding(), seen) else { return };
        if layout::are_layouts_equivalent(ir.ty(src).shape(), own, seen) == Ok(false) {
            let converted = self.convert_here(ir, op, src, seen);
            ir.put_operands(op, tt::Reshape::SLOT.src, &[converted]);
        }
    }

    /// The result holds as many elements a thread as both sources together.
    fn cat(&self, ir: &mut Ir, cat: tt::Cat) {
        self.results(ir, cat.0);
        let types = [cat.lhs(ir), cat.rhs(ir), cat.result(ir)].map(|value| ir.ty(value));
        let [lhs, rhs, ret] = types.map(layout::elems_per_thread);
        let wanted = (lhs + rhs).next_power_of_two();
        let Some(Encoding::Blocked(b)) = types[2].layout() else { return };
        let mut b = b.clone();
        b.size_per_thread[b.order[0] as usize] *= (wanted / ret.max(1)).max(1) as u32;
        set_result(ir, cat.0, 0, Some(Attr::encoding(Encoding::Blocked(b))));
    }

    /// The result is blocked with up to 4×4 elements a thread; the factors are operands of that layout.
    fn dot(&self, ir: &mut Ir, dot: tt::Dot) {
        let op = dot.0;
        let (t, shape) = (self.threads, ir.ty(ir.result(op)).shape().to_vec());
        let rank = shape.len();
        let per_thread = shape.iter().product::<i64>() / i64::from(t.num_warps * t.threads_per_warp);
        let edge = if per_thread >= 16 {
            4
        } else if per_thread >= 4 {
            2
        } else {
            1
        };
        let mut size = vec![1; rank];
        for d in rank.saturating_sub(2)..rank {
            size[d] = edge.min(u32::try_from(shape[d]).unwrap_or(edge));
        }
        let order: Vec<u32> = (0..rank as u32).rev().collect();
        let result = Attr::encoding(layout::blocked_from_size(
            &shape,
            &size,
            &order,
            t.num_warps,
            t.threads_per_warp,
            t.num_ctas,
        ));
        let factors = [(dot.a(ir), tt::Dot::SLOT.a), (dot.b(ir), tt::Dot::SLOT.b)];
        for (op_idx, (value, slot)) in (0..).zip(factors) {
            if !has_operand(ir.ty(value)) {
                let encoding = Attr::encoding(Encoding::DotOp { op_idx, parent: result, k_width: 0 });
                let converted = self.convert_factor(ir, op, value, encoding);
                ir.put_operands(op, slot, &[converted]);
            }
        }
        let converted = self.convert_factor(ir, op, dot.c(ir), result);
        ir.put_operands(op, tt::Dot::SLOT.c, &[converted]);
        set_result(ir, op, 0, Some(result));
    }

    /// As [`Conversion::convert_here`], with the value's own location.
    fn convert_factor(&self, ir: &mut Ir, op: Op, value: Value, encoding: Attr) -> Value {
        let (ty, loc) = (ir.ty(value).with_encoding(Some(encoding)), ir.value_loc(value));
        Builder::new(ir, InsertPoint::Before(op), loc).value(TtgOp::ConvertLayout, &[value], ty)
    }

    /// Rows are fetched four at a time, so a thread holds four consecutive indices.
    fn row_indices(&self, ir: &mut Ir, op: Op, index: Value, slot: Slot) {
        let t = self.threads;
        let parent = Attr::encoding(Encoding::Blocked(Blocked {
            size_per_thread: vec![1, 4],
            threads_per_warp: vec![t.threads_per_warp, 1],
            warps_per_cta: vec![1, t.num_warps],
            order: vec![1, 0],
            cga: (0..t.num_ctas.ilog2()).map(|bit| vec![0, 1 << bit]).collect(),
        }));
        let encoding = infer::slice(0, parent);
        if ir.ty(index).encoding() != Some(encoding) {
            let converted = self.convert_here(ir, op, index, encoding);
            ir.put_operands(op, slot, &[converted]);
        }
    }
}

fn set_result(ir: &mut Ir, op: Op, index: usize, encoding: Option<Attr>) {
    let result = ir.results(op)[index];
    let ty = ir.ty(result).with_encoding(encoding);
    ir.set_type(result, ty);
}

/// Results whose layout follows from the first operand's.
fn derived(ir: &mut Ir, op: Op) {
    let source = ir.ty(ir.operands(op)[0]).encoding();
    let encoding = source.and_then(|e| infer::result_encoding(ir, op, e));
    for index in 0..ir.results(op).len() {
        set_result(ir, op, index, encoding);
    }
}
