//! `triton-nvidia-optimize-descriptor-encoding`: how the blocks of each tensor descriptor lie in shared memory.
//!
//! The layout belongs to the descriptor: hardware swizzles as the descriptor says. So what reads a loaded block
//! decides, and whatever holds the same descriptor must agree.
//!
//! # Algorithm
//!
//! 1. Descriptors that control flow joins (arguments and results of loops and branches, selects) are one *family*.
//! 2. Each access through a descriptor says what it would like: a load the layout of the first buffer that its result
//!    is stored to, where that is an `nvmma_shared` layout that is not transposed; every access the shape that it
//!    moves.
//! 3. The wishes of a family are joined: two different layouts cancel each other, shapes become the least along each
//!    axis. Descriptors that are handed to or come from another function, or are made from a pointer, have the layout
//!    that their type alone gives.
//! 4. Without a wish, the layout has the widest swizzle that a row of the shape fills.
//!
//! ```text
//! %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<128x64xf16>      → !tt.tensordesc<128x64xf16, #shared>
//! %s = ttg.local_alloc %x : … -> !ttg.memdesc<128x64xf16, #shared>
//! ```

use std::collections::BTreeMap;

use crate::analysis::flow::value_edges;
use crate::ir::core::encoding::{Bases, NvmmaShared};
use crate::ir::core::{Attr, Encoding, Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::classes::moved_tensor;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{TtOp, TtngOp};
use crate::ir::encoding::questions::cga_of;
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::nvidia::shared_encodings;
use crate::passes::nvidia::tma_lowering::descriptor;
use crate::passes::ttg::module_attrs;

pub static PASS: Pass = Pass {
    name: "triton-nvidia-optimize-descriptor-encoding",
    doc: "choose how blocks of tensor descriptors lie in shared memory",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// What is wanted of a family of descriptors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Wish {
    encoding: Option<Attr>,
    cga: Option<Bases>,
    shape: Vec<i64>,
    /// What the type alone gives.
    plain: bool,
}

impl Wish {
    /// Step 3.
    fn join(&mut self, other: &Wish) {
        self.plain |= other.plain;
        match (self.encoding, other.encoding) {
            (Some(a), Some(b)) if a != b => self.plain = true,
            (None, wanted) => self.encoding = wanted,
            _ => {}
        }
        self.shape = match (&self.shape[..], &other.shape[..]) {
            ([], shape) | (shape, []) => shape.to_vec(),
            (a, b) => a.iter().zip(b).map(|(&a, &b)| a.min(b)).collect(),
        };
        match (&self.cga, &other.cga) {
            (Some(a), Some(b)) if a != b => {
                self.cga = Some(along_last_axis(1 << a.len(), a.first().map_or(0, Vec::len)));
            }
            (None, cga) => self.cga.clone_from(cga),
            _ => {}
        }
    }
}

/// The blocks of a cluster side by side along the last axis.
fn along_last_axis(blocks: u32, rank: usize) -> Bases {
    let basis = |bit: u32| {
        let mut new = vec![0; rank];
        if let Some(last) = new.last_mut() {
            *last = 1 << bit;
        }
        new
    };
    (0..blocks.max(1).trailing_zeros()).map(basis).collect()
}

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut plan: Vec<(Value, Type)> = vec![];
    let blocks = module_attrs::threads(ir).map_or(1, |t| t.num_ctas);
    for func in ir.functions() {
        plan.extend(decide(ir, func, blocks));
    }
    let mut changed = false;
    for (value, ty) in plan {
        changed |= ir.ty(value) != ty;
        ir.set_type(value, ty);
    }
    for func in ir.functions() {
        update_signature(ir, func, blocks);
    }
    Ok(Changed::from(changed))
}

fn is_descriptor(ty: Type) -> bool {
    matches!(*ty, TypeData::TensorDesc { im2col: false, .. })
}

/// The new type of every descriptor of a function.
fn decide(ir: &Ir, func: Op, blocks: u32) -> Vec<(Value, Type)> {
    let mut families = Families::default();
    if let Some(entry) = ir.body(func, 0) {
        let kernel = !ir.is_private(func);
        for &arg in ir.args(entry).iter().filter(|&&a| is_descriptor(ir.ty(a))) {
            families.wish(arg, Wish { plain: !kernel, ..Wish::default() });
        }
    }
    let ops = ir.all_ops(func);
    for &op in &ops {
        let handed_on = ir.is(op, TtOp::Call) || ir.is(op, TtOp::Return);
        let plain = handed_on || ir.is(op, TtngOp::ReinterpretTensorDescriptor);
        for &value in ir.operands(op).iter().chain(ir.results(op)).filter(|&&v| is_descriptor(ir.ty(v))) {
            families.wish(value, Wish { plain, ..Wish::default() });
        }
        if let Some((descriptor, wish)) = of_access(ir, op) {
            families.wish(descriptor, wish);
        }
    }
    for select in ops.iter().filter_map(|&op| arith::Select::of(ir, op)) {
        for value in [select.true_value(ir), select.false_value(ir)] {
            families.tie(ir, value, select.result(ir));
        }
    }
    for (from, to) in value_edges(ir, func) {
        families.tie(ir, from, to);
    }
    let mut plan = vec![];
    for &value in families.parent.keys() {
        let wish = &families.wishes[&families.root(value)];
        plan.push((value, with_layout(ir.ty(value), wish, blocks)));
    }
    plan
}

/// Descriptors that must have one layout, each family with its wishes.
#[derive(Default)]
struct Families {
    parent: BTreeMap<Value, Value>,
    wishes: BTreeMap<Value, Wish>,
}

impl Families {
    fn root(&self, value: Value) -> Value {
        let mut at = value;
        while let Some(&next) = self.parent.get(&at).filter(|&&p| p != at) {
            at = next;
        }
        at
    }

    fn wish(&mut self, value: Value, wish: Wish) {
        self.parent.entry(value).or_insert(value);
        let root = self.root(value);
        self.wishes.entry(root).or_default().join(&wish);
    }

    fn tie(&mut self, ir: &Ir, a: Value, b: Value) {
        if !is_descriptor(ir.ty(a)) || !is_descriptor(ir.ty(b)) {
            return;
        }
        self.wish(a, Wish::default());
        self.wish(b, Wish::default());
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent.insert(b, a);
            let moved = self.wishes.remove(&b).unwrap_or_default();
            self.wish(a, moved);
        }
    }
}

/// Step 2: the descriptor that an operation accesses memory through, and what it would like.
fn of_access(ir: &Ir, op: Op) -> Option<(Value, Wish)> {
    let moved = moved_tensor(ir, op)?;
    let tensor = ir.ty(moved);
    let encoding = if ir.kind(op).is_load() { stored_to(ir, moved) } else { None };
    let descriptor = descriptor(ir, op);
    let cga = match encoding.and_then(Attr::as_encoding) {
        Some(Encoding::NvmmaShared(e)) => e.cga.clone(),
        _ => cga_of(tensor),
    };
    let missing = ir.ty(descriptor).rank().saturating_sub(tensor.rank());
    let shape = std::iter::repeat_n(1, missing).chain(tensor.shape().iter().copied()).collect();
    Some((descriptor, Wish { encoding, cga: Some(cga), shape, plain: false }))
}

/// The layout of the first buffer that a value is stored to, if TMA can fill it.
fn stored_to(ir: &Ir, value: Value) -> Option<Attr> {
    ir.users(value).into_iter().find_map(|user| {
        let alloc = || ttg::LocalAlloc::of(ir, user).map(|alloc| alloc.result(ir));
        let buffer = ttg::LocalStore::of(ir, user).map(|store| store.dst(ir)).or_else(alloc)?;
        compatible(ir.ty(buffer))
    })
}

/// An `nvmma_shared` layout that is not transposed and lays the buffer out as its own does.
fn compatible(buffer: Type) -> Option<Attr> {
    let encoding = buffer.encoding()?;
    match encoding.as_encoding()? {
        Encoding::NvmmaShared(e) => (!e.transposed).then_some(encoding),
        Encoding::SharedLinear { block, .. } => {
            let wanted = layout::try_to_linear_layout(buffer.shape(), encoding).ok()?;
            let bits = buffer.bit_width()?.max(8);
            let candidates = [0, 32, 64, 128].into_iter().flat_map(|width| [false, true].map(|padded| (width, padded)));
            candidates
                .map(|(swizzling_byte_width, fp4_padded)| {
                    Attr::encoding(Encoding::NvmmaShared(NvmmaShared {
                        swizzling_byte_width,
                        transposed: false,
                        element_bit_width: bits,
                        fp4_padded,
                        rank: buffer.rank() as u32,
                        cga: block.clone(),
                    }))
                })
                .find(|&e| layout::try_to_linear_layout(buffer.shape(), e).is_ok_and(|l| l == wanted))
        }
        _ => None,
    }
}

/// Step 4: a descriptor's type with its layout.
fn with_layout(ty: Type, wish: &Wish, blocks: u32) -> Type {
    let TypeData::TensorDesc { shape, elem, im2col, .. } = ty.data() else { return ty };
    let layout = match wish.encoding.filter(|_| !wish.plain) {
        Some(encoding) => encoding,
        None if wish.plain || wish.shape.is_empty() => widest(shape, ty.elem(), &along_last_axis(blocks, shape.len())),
        None => widest(&wish.shape, ty.elem(), wish.cga.as_deref().unwrap_or(&[])),
    };
    let layout = Some(shared_encodings::of_rank(layout, shape.len()));
    Type::new(TypeData::TensorDesc { shape: shape.clone(), elem: *elem, layout, im2col: *im2col })
}

/// The layout for rows of this shape.
fn widest(shape: &[i64], elem: Type, cga: &[Vec<i32>]) -> Attr {
    let order: Vec<u32> = (0..shape.len() as u32).rev().collect();
    Attr::encoding(shared_encodings::nvmma_of(shape, elem, &order, &shared_encodings::cga_of_rank(cga, shape.len())))
}

/// A function's type follows its arguments; results have the layout that their type alone gives.
fn update_signature(ir: &mut Ir, func: Op, blocks: u32) {
    let Some(TypeData::Function { inputs, results }) = ir.get(func, tt::Func::ATTR.function_type).map(Type::data)
    else {
        return;
    };
    let Some(entry) = ir.body(func, 0) else { return };
    let new: Vec<Type> = ir.args(entry).iter().map(|&a| ir.ty(a)).collect();
    let plain = Wish { plain: true, ..Wish::default() };
    let given: Vec<Type> =
        results.iter().map(|&ty| if is_descriptor(ty) { with_layout(ty, &plain, blocks) } else { ty }).collect();
    if new != *inputs || given != *results {
        ir.put(func, tt::Func::ATTR.function_type, Type::function(&new, &given));
    }
}
