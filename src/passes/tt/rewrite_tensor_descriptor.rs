//! `triton-rewrite-tensor-descriptor-to-pointer`: tensor descriptors become pointers, for GPUs without hardware that
//! reads descriptors (below sm_90). With `if-made` only in a module whose kernel makes a descriptor itself, for GPUs
//! that read descriptors but have no instructions to make them.
//!
//! # Algorithm
//!
//! 1. Check that every operation with a descriptor is one that can be rewritten; report the others before anything is
//!    changed.
//! 2. A descriptor of rank r is 1 + 2r + 2 values, its *parts*: the base, the extents and the strides as i64, whether
//!    padding is NaN, and whether f32 is rounded to tf32, as i1. Wherever a descriptor is a parameter, a block argument
//!    or a result, its parts stand in its place: functions get new types, loops, conditionals and calls are made anew.
//! 3. `tt.make_tensor_descriptor` extends its extents; `arith.select` becomes an `scf.if` that gives the parts of one
//!    or the other.
//! 4. Loads, stores, reductions, gathers and scatters compute addresses and masks from the parts ([`access`]).
//! 5. Erase the operations on descriptors, and the arguments that held them.
//!
//! Example:
//!
//! ```text
//! %d = tt.make_tensor_descriptor %x, [%n], [%c1] : <f16>, <64xf16>
//! tt.descriptor_store %d[%o], %v : !tt.tensordesc<64xf16>, tensor<64xf16>
//! ```
//! becomes
//! ```text
//! %extent = arith.extsi %n : i32 to i64
//! %i = splat(extsi %o) + extsi(make_range 0 to 64)
//! tt.store splat(%x) + %i * splat(%c1), %v, %i >= 0 and %i < splat(%extent)
//! ```

mod access;

use crate::ir::dialects::Classes;
use crate::ir::dialects::Traits;
use crate::ir::dialects::keys::{Attrs, Key};
use crate::ir::dialects::tt::tt::{Func, MakeTensorDesc};
use std::collections::BTreeMap;

use crate::diag::codes::passes as codes;
use crate::ir::core::{
    Attr, AttrData, Block, Builder, InsertPoint, Ir, Loc, LocData, Op, OpState, Type, TypeData, Value,
};
use crate::ir::dialects::enums::PaddingOption;
use crate::ir::dialects::{ArithOp, Folded, OpKind, ScfOp, TtOp};
use crate::ir::rewrite::fold;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-rewrite-tensor-descriptor-to-pointer",
    doc: "replace tensor descriptors by tensors of pointers and masks",
    input: Input::Ttir,
    options: &[OptionSpec {
        name: IF_MADE,
        kind: OptionKind::Bool,
        default: "false",
        doc: "only where the kernel makes descriptors itself",
    }],
    run,
};

/// The option that leaves modules alone whose descriptors are all parameters.
pub const IF_MADE: &str = "if-made";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let ops = ir.all_ops(ir.module());
    let wanted = |op: Op| if cx.flag(IF_MADE) { ir.is(op, TtOp::MakeTensorDesc) } else { touches_descriptor(ir, op) };
    if !ops.iter().any(|&op| wanted(op)) {
        return Ok(Changed::No);
    }
    if let Some((op, message)) = ops.iter().find_map(|&op| fault(ir, op).map(|m| (op, m))) {
        return Err(cx.fail(&codes::PASS_FAILED, ir.loc(op), message));
    }
    let mut this = Rewrite { ir, parts: BTreeMap::new(), doomed: vec![] };
    let mut blocks = vec![];
    for &op in &ops {
        this.expand_blocks(op, &mut blocks);
        this.expand_results(op);
    }
    for op in this.ir.all_ops(this.ir.module()) {
        this.rewrite(op);
    }
    this.clean_up(&blocks);
    Ok(Changed::Yes)
}

fn is_descriptor(ty: Type) -> bool {
    matches!(*ty, TypeData::TensorDesc { .. })
}

/// The types of a descriptor's parts.
fn part_types(desc: Type) -> Vec<Type> {
    let mut types = vec![Type::ptr(desc.elem())];
    types.extend(std::iter::repeat_n(Type::int(64), 2 * desc.rank()));
    types.extend([Type::int(1); 2]);
    types
}

/// The types with each descriptor replaced by its parts.
fn expanded(types: &[Type]) -> Vec<Type> {
    types.iter().flat_map(|&ty| if is_descriptor(ty) { part_types(ty) } else { vec![ty] }).collect()
}

fn touches_descriptor(ir: &Ir, op: Op) -> bool {
    let mut values = ir.operands(op).iter().chain(ir.results(op));
    values.any(|&v| is_descriptor(ir.ty(v)))
        || ir
            .regions_of(op)
            .iter()
            .flat_map(|&r| ir.blocks_of(r))
            .any(|&b| ir.args(b).iter().any(|&a| is_descriptor(ir.ty(a))))
        || signature(ir, op).is_some_and(|(inputs, results)| inputs.iter().chain(results).any(|&ty| is_descriptor(ty)))
}

fn signature(ir: &Ir, op: Op) -> Option<(&'static [Type], &'static [Type])> {
    match Func::of(ir, op)?.function_type(ir)?.data() {
        TypeData::Function { inputs, results } => Some((inputs, results)),
        _ => None,
    }
}

/// Why an operation with a descriptor cannot be rewritten.
fn fault(ir: &Ir, op: Op) -> Option<String> {
    if !touches_descriptor(ir, op) {
        return None;
    }
    if let Some(access) = access::DescriptorAccess::of(ir, op) {
        return access.fault(ir);
    }
    let message = "takes or gives a tensor descriptor, which cannot be rewritten to pointers here";
    (!hands_on(ir, op)).then(|| format!("`{}` {message}", ir.op_name(op)))
}

/// Whether the rewrite knows how to make the operation, or hand its parts on where it hands a descriptor on.
fn hands_on(ir: &Ir, op: Op) -> bool {
    if let OpKind::Scf(kind) = ir.kind(op) {
        return match kind {
            ScfOp::For | ScfOp::If | ScfOp::While | ScfOp::Yield | ScfOp::Condition => true,
            ScfOp::ExecuteRegion => false,
        };
    }
    let kind = ir.kind(op);
    kind.has(Traits::BRANCH)
        || kind.is_function()
        || [TtOp::Return, TtOp::Call, TtOp::MakeTensorDesc].into_iter().any(|known| ir.is(op, known))
        || ir.is(op, ArithOp::Select)
}

struct Rewrite<'a> {
    ir: &'a mut Ir,
    /// What descriptors were replaced by, as far as it has been made.
    parts: BTreeMap<Value, Vec<Value>>,
    /// What is left to erase.
    doomed: Vec<Op>,
}

impl Rewrite<'_> {
    /// Gives each block of the operation's regions that has descriptors among its arguments a second list of arguments,
    /// and a function its new type.
    fn expand_blocks(&mut self, op: Op, done: &mut Vec<(Block, usize)>) {
        let names = ArgNames { function: self.ir.is(op, TtOp::Func) };
        let blocks: Vec<Block> = self.ir.regions_of(op).iter().flat_map(|&r| self.ir.blocks_of(r).to_vec()).collect();
        for (index, block) in blocks.into_iter().enumerate() {
            let args = self.ir.args(block).to_vec();
            if !args.iter().any(|&a| is_descriptor(self.ir.ty(a))) {
                continue;
            }
            for (at, &arg) in args.iter().enumerate() {
                let (ty, loc) = (self.ir.ty(arg), self.ir.value_loc(arg));
                if is_descriptor(ty) {
                    let locs = if index == 0 { names.of(ty, at, loc) } else { vec![loc; part_types(ty).len()] };
                    let parts =
                        part_types(ty).into_iter().zip(locs).map(|(ty, loc)| self.ir.add_arg(block, ty, loc)).collect();
                    self.parts.insert(arg, parts);
                } else {
                    let new = self.ir.add_arg(block, ty, loc);
                    self.ir.replace_all_uses(arg, new);
                }
            }
            done.push((block, args.len()));
        }
        if let Some((inputs, results)) = signature(self.ir, op) {
            self.expand_attrs(op, Func::ATTR.arg_attrs, inputs);
            self.expand_attrs(op, Func::ATTR.res_attrs, results);
            self.ir.put(op, Func::ATTR.function_type, Type::function(&expanded(inputs), &expanded(results)));
        }
    }

    /// The first part of a parameter keeps its attributes, the others have none.
    fn expand_attrs(&mut self, op: Op, key: Key<Attrs>, types: &[Type]) {
        let Some(old) = self.ir.get(op, key) else { return };
        let mut new = vec![];
        for (&attr, &ty) in old.iter().zip(types) {
            new.push(attr);
            let more = if is_descriptor(ty) { part_types(ty).len() - 1 } else { 0 };
            new.extend(std::iter::repeat_n(Attr::new(AttrData::Dict(vec![])), more));
        }
        self.ir.put(op, key, &new);
    }

    /// Makes a loop, conditional or call that gives descriptors anew, with their parts as results; the regions move
    /// over.
    fn expand_results(&mut self, op: Op) {
        let results = self.ir.results(op).to_vec();
        let rebuilt = self.ir.is(op, TtOp::Call) || self.ir.kind(op).belongs(Classes::CONTROL_FLOW);
        if !rebuilt || !results.iter().any(|&r| is_descriptor(self.ir.ty(r))) {
            return;
        }
        let types: Vec<Type> = results.iter().map(|&r| self.ir.ty(r)).collect();
        let (operands, regions) = (self.ir.operands(op).to_vec(), self.ir.regions_of(op).to_vec());
        let state = OpState::new(self.ir.kind(op), self.ir.loc(op)).operands(&operands).results(&expanded(&types));
        let new = self.ir.create_op(state.attrs(self.ir.attrs(op)).regions(regions.len()));
        self.ir.insert_before(op, new);
        for (i, from) in regions.into_iter().enumerate() {
            let to = self.ir.region(new, i);
            self.ir.splice_region(from, to);
        }
        let mut values = self.ir.results(new).to_vec().into_iter();
        for (old, ty) in results.into_iter().zip(types) {
            if is_descriptor(ty) {
                let parts = values.by_ref().take(part_types(ty).len()).collect();
                self.parts.insert(old, parts);
            } else if let Some(value) = values.next() {
                self.ir.replace_all_uses(old, value);
            }
        }
        self.ir.set_operands(op, &[]);
        self.doomed.push(op);
    }

    fn rewrite(&mut self, op: Op) {
        let gives = self.ir.results(op).first().is_some_and(|&r| is_descriptor(self.ir.ty(r)));
        if self.ir.is(op, TtOp::MakeTensorDesc) || gives && self.ir.is(op, ArithOp::Select) {
            return self.make(op);
        }
        let Some(access) = access::DescriptorAccess::of(self.ir, op) else { return self.expand_operands(op) };
        let desc = access.descriptor(self.ir);
        let parts = self.parts_of(desc);
        let parts = access::Parts::new(&parts, self.ir.ty(desc));
        access.rewrite(self.ir, &parts);
        self.doomed.push(op);
    }

    fn parts_of(&mut self, desc: Value) -> Vec<Value> {
        if !self.parts.contains_key(&desc)
            && let Some(op) = self.ir.def_op(desc)
        {
            self.make(op);
        }
        self.parts[&desc].clone()
    }

    /// Makes the parts that an operation on descriptors gives, unless they are there already: an operation in a block
    /// that is listed later may have asked for them.
    fn make(&mut self, op: Op) {
        let result = self.ir.result(op);
        if self.parts.contains_key(&result) {
            return;
        }
        let parts = if self.ir.is(op, TtOp::MakeTensorDesc) { self.make_parts(op) } else { self.select_parts(op) };
        self.parts.insert(result, parts);
        self.doomed.push(op);
    }

    fn make_parts(&mut self, op: Op) -> Vec<Value> {
        let made = MakeTensorDesc(op);
        let nan = made.padding(self.ir) == Some(PaddingOption::Nan);
        let mut parts = vec![made.base(self.ir)];
        for extent in made.shape(self.ir).to_vec() {
            parts.push(extend(self.ir, op, extent));
        }
        parts.extend(made.strides(self.ir));
        let mut b = Builder::before(self.ir, op);
        parts.extend([nan, false].map(|flag| b.constant(Attr::bool(flag))));
        parts
    }

    fn select_parts(&mut self, op: Op) -> Vec<Value> {
        let [cond, x, y] = self.ir.all_operands(op);
        let types = part_types(self.ir.ty(x));
        let branches = [self.parts_of(x), self.parts_of(y)];
        let state = OpState::new(ScfOp::If, self.ir.loc(op)).operands(&[cond]).results(&types).regions(2);
        let new = self.ir.create_op(state.attrs(self.ir.attrs(op)));
        self.ir.insert_before(op, new);
        let loc = self.ir.loc(op);
        for (i, parts) in branches.into_iter().enumerate() {
            let region = self.ir.region(new, i);
            let block = self.ir.add_block(region, &[]);
            Builder::new(self.ir, InsertPoint::End(block), loc).op(ScfOp::Yield, &parts, &[]);
        }
        self.ir.results(new).to_vec()
    }

    /// Replaces the descriptors that an operation passes on by their parts.
    fn expand_operands(&mut self, op: Op) {
        let old = self.ir.operands(op).to_vec();
        if !old.iter().any(|&v| is_descriptor(self.ir.ty(v))) {
            return;
        }
        let mut new = vec![];
        for value in old {
            new.push(if is_descriptor(self.ir.ty(value)) { self.parts_of(value) } else { vec![value] });
        }
        self.ir.expand_operands(op, &new);
    }

    fn clean_up(&mut self, blocks: &[(Block, usize)]) {
        for &op in &self.doomed {
            self.ir.set_operands(op, &[]);
        }
        for op in std::mem::take(&mut self.doomed) {
            self.ir.erase_op(op);
        }
        for &(block, old) in blocks {
            (0..old).for_each(|_| self.ir.remove_arg(block, 0));
        }
    }
}

/// What the parts of an argument are called: those of a function's parameter `x` are `x`, `x.shape.0`, `x.stride.0`,
/// `x.padding`, …
struct ArgNames {
    function: bool,
}

impl ArgNames {
    fn of(&self, desc: Type, index: usize, loc: Loc) -> Vec<Loc> {
        let rank = desc.rank();
        if !self.function {
            return vec![loc; 2 * rank + 3];
        }
        let base = match loc.data() {
            LocData::Name { name, .. } => name.as_str().to_owned(),
            _ => format!("arg_{index}"),
        };
        let mut suffixes: Vec<String> = (0..rank).map(|d| format!("shape.{d}")).collect();
        suffixes.extend((0..rank).map(|d| format!("stride.{d}")));
        suffixes.extend(["padding", "roundF32ToTF32"].map(String::from));
        std::iter::once(loc).chain(suffixes.into_iter().map(|s| Loc::named(&format!("{base}.{s}"), loc))).collect()
    }
}

/// An i32 as an i64 before `op`; a constant becomes a constant, an extension starts from what was extended.
fn extend(ir: &mut Ir, op: Op, value: Value) -> Value {
    let (wide, loc) = (Type::int(64), ir.value_loc(value));
    let new = Builder::new(ir, InsertPoint::Before(op), loc).op(ArithOp::Extsi, &[value], &[wide]);
    let folded = match fold::fold(ir, new) {
        fold::Outcome::Replaced(results) => results[0],
        fold::Outcome::InPlace | fold::Outcome::Unchanged => return ir.result(new),
    };
    let value = match folded {
        Folded::Value(value) => value,
        Folded::Attr(attr) if attr.type_of() != Some(wide) => return ir.result(new),
        Folded::Attr(attr) => Builder::new(ir, InsertPoint::Before(op), loc).constant(attr),
    };
    ir.erase_op(new);
    value
}
