//! [`Ir`]: the arenas of one module and every primitive that changes them.
//!
//! An operation sits in a block through intrusive `prev`/`next` links, so insertion, removal and moving are O(1). A
//! value knows its uses as `(operation, operand index)` pairs, and all primitives here keep them exact. Erased entities
//! keep their index, which is never reused.
//!
//! The module itself is the root operation (`builtin.module`), so one pattern serves all: [`Ir::module`] → region →
//! block → operations.

mod order;

use super::attrs::Attr;
use super::entity::{Arena, Block, Op, Region, Value};
use super::intern::Name;
use super::loc::Loc;
use super::types::Type;
use crate::ir::dialects::tt::tt::Func;
use crate::ir::dialects::{BuiltinOp, OpKind, OpSpec};

/// One use of a value: operand `index` of `op`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Use {
    pub op: Op,
    pub index: u32,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ValueDef {
    Result { op: Op, index: u32 },
    Arg { block: Block, index: u32 },
}

#[derive(Clone)]
struct OpData {
    kind: OpKind,
    loc: Loc,
    operands: Vec<Value>,
    results: Vec<Value>,
    /// The attributes, sorted by name.
    attrs: Vec<(Name, Attr)>,
    regions: Vec<Region>,
    successors: Vec<Block>,
    parent: Option<Block>,
    prev: Option<Op>,
    next: Option<Op>,
    /// The label of the operation, which grows along the block ([`order`]).
    order: u64,
    erased: bool,
}

#[derive(Clone)]
struct ValueData {
    ty: Type,
    def: ValueDef,
    uses: Vec<Use>,
    /// The location of a block argument. A result's location is its operation's.
    loc: Option<Loc>,
}

#[derive(Clone)]
struct BlockData {
    args: Vec<Value>,
    first: Option<Op>,
    last: Option<Op>,
    parent: Option<Region>,
}

#[derive(Clone)]
struct RegionData {
    blocks: Vec<Block>,
    parent: Option<Op>,
}

/// What an operation is made of, before it exists.
#[derive(Clone, Debug)]
pub struct OpState {
    pub kind: OpKind,
    pub loc: Loc,
    pub operands: Vec<Value>,
    pub result_types: Vec<Type>,
    pub attrs: Vec<(Name, Attr)>,
    /// How many empty regions to make.
    pub regions: usize,
    pub successors: Vec<Block>,
}

impl OpState {
    #[must_use]
    pub fn new(kind: impl Into<OpKind>, loc: Loc) -> OpState {
        OpState {
            kind: kind.into(),
            loc,
            operands: vec![],
            result_types: vec![],
            attrs: vec![],
            regions: 0,
            successors: vec![],
        }
    }

    #[must_use]
    pub fn operands(mut self, operands: &[Value]) -> OpState {
        self.operands.extend_from_slice(operands);
        self
    }

    #[must_use]
    pub fn results(mut self, types: &[Type]) -> OpState {
        self.result_types.extend_from_slice(types);
        self
    }

    #[must_use]
    pub fn attr(mut self, name: &str, value: Attr) -> OpState {
        self.attrs.push((Name::of(name), value));
        self
    }

    #[must_use]
    pub fn attrs(mut self, attrs: &[(Name, Attr)]) -> OpState {
        self.attrs.extend_from_slice(attrs);
        self
    }

    #[must_use]
    pub fn regions(mut self, n: usize) -> OpState {
        self.regions = n;
        self
    }

    #[must_use]
    pub fn successors(mut self, blocks: &[Block]) -> OpState {
        self.successors.extend_from_slice(blocks);
        self
    }
}

/// One module with everything in it.
#[derive(Clone)]
pub struct Ir {
    ops: Arena<Op, OpData>,
    values: Arena<Value, ValueData>,
    blocks: Arena<Block, BlockData>,
    regions: Arena<Region, RegionData>,
    module: Op,
    max_ops: usize,
}

/// How many operations may be made for a module unless [`Ir::set_max_ops`] says something else.
pub const MAX_OPS: usize = 4_000_000;

impl Ir {
    /// Makes an empty module.
    #[must_use]
    pub fn new(loc: Loc) -> Ir {
        let mut ops = Arena::new();
        let module = ops.push(OpData {
            kind: OpKind::Builtin(BuiltinOp::Module),
            loc,
            operands: vec![],
            results: vec![],
            attrs: vec![],
            regions: vec![],
            successors: vec![],
            parent: None,
            prev: None,
            next: None,
            order: 0,
            erased: false,
        });
        let mut ir =
            Ir { ops, values: Arena::new(), blocks: Arena::new(), regions: Arena::new(), module, max_ops: MAX_OPS };
        let region = ir.regions.push(RegionData { blocks: vec![], parent: Some(module) });
        ir.ops[module].regions.push(region);
        ir.add_block(region, &[]);
        ir
    }

    /// Sets how many operations may be made, erased ones counted. That bounds the memory and the time that the module
    /// takes.
    pub fn set_max_ops(&mut self, max_ops: usize) {
        self.max_ops = max_ops;
    }

    #[must_use]
    pub fn max_ops(&self) -> usize {
        self.max_ops
    }

    /// Whether more operations have been made than may be, or would be with `more`. Whoever makes many operations asks
    /// this and stops. The pass manager and the front end report it.
    #[must_use]
    pub fn is_full_with(&self, more: usize) -> bool {
        self.ops.len().saturating_add(more) > self.max_ops
    }

    /// The root operation.
    #[must_use]
    pub fn module(&self) -> Op {
        self.module
    }

    /// The block that holds the module's functions.
    #[must_use]
    pub fn module_block(&self) -> Block {
        self.blocks_of(self.regions_of(self.module)[0])[0]
    }

    // ---- reading operations ----

    #[must_use]
    pub fn kind(&self, op: Op) -> OpKind {
        self.ops[op].kind
    }

    /// The operation's entry in its dialect's table.
    #[must_use]
    pub fn spec(&self, op: Op) -> &'static OpSpec {
        self.ops[op].kind.spec()
    }

    /// Whether the operation is of this kind: `ir.is(op, TtOp::Load)`.
    #[must_use]
    pub fn is(&self, op: Op, kind: impl Into<OpKind>) -> bool {
        self.ops[op].kind == kind.into()
    }

    /// The name of the operation, such as `tt.load`.
    #[must_use]
    pub fn op_name(&self, op: Op) -> &'static str {
        self.ops[op].kind.name()
    }

    #[must_use]
    pub fn loc(&self, op: Op) -> Loc {
        self.ops[op].loc
    }

    #[must_use]
    pub fn operands(&self, op: Op) -> &[Value] {
        &self.ops[op].operands
    }

    #[must_use]
    pub fn operand(&self, op: Op, index: usize) -> Value {
        self.ops[op].operands[index]
    }

    #[must_use]
    pub fn results(&self, op: Op) -> &[Value] {
        &self.ops[op].results
    }

    /// The first result.
    #[must_use]
    pub fn result(&self, op: Op) -> Value {
        self.ops[op].results[0]
    }

    #[must_use]
    pub fn regions_of(&self, op: Op) -> &[Region] {
        &self.ops[op].regions
    }

    #[must_use]
    pub fn region(&self, op: Op, index: usize) -> Region {
        self.ops[op].regions[index]
    }

    #[must_use]
    pub fn successors(&self, op: Op) -> &[Block] {
        &self.ops[op].successors
    }

    /// Attributes, sorted by name.
    #[must_use]
    pub fn attrs(&self, op: Op) -> &[(Name, Attr)] {
        &self.ops[op].attrs
    }

    /// The attribute of this name, or the default that the operation's table gives it.
    #[must_use]
    pub fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.stored_attr(op, name).or_else(|| self.spec(op).attr_default(name))
    }

    /// The attribute of this name if it is stored. Defaults do not count.
    #[must_use]
    pub fn stored_attr(&self, op: Op, name: &str) -> Option<Attr> {
        let attrs = &self.ops[op].attrs;
        attrs.binary_search_by(|(n, _)| n.as_str().cmp(name)).ok().map(|i| attrs[i].1)
    }

    #[must_use]
    pub fn int_attr(&self, op: Op, name: &str) -> Option<i64> {
        self.attr(op, name).and_then(Attr::as_int)
    }

    #[must_use]
    pub fn bool_attr(&self, op: Op, name: &str) -> bool {
        self.attr(op, name).and_then(Attr::as_bool).unwrap_or(false)
    }

    #[must_use]
    pub fn str_attr(&self, op: Op, name: &str) -> Option<&'static str> {
        self.attr(op, name).and_then(Attr::as_str)
    }

    #[must_use]
    pub fn is_erased(&self, op: Op) -> bool {
        self.ops[op].erased
    }

    /// The operands of group `group` in the table's order. A group holds one value, none or one, or any number.
    #[must_use]
    pub fn operand_group(&self, op: Op, group: usize) -> &[Value] {
        let (start, len) = crate::ir::dialects::spec::operand_range(self, op, group);
        &self.ops[op].operands[start..start + len]
    }

    // ---- reading values ----

    #[must_use]
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    #[must_use]
    pub fn def(&self, value: Value) -> ValueDef {
        self.values[value].def
    }

    /// The operation that defines the value, unless it is a block argument.
    #[must_use]
    pub fn def_op(&self, value: Value) -> Option<Op> {
        match self.values[value].def {
            ValueDef::Result { op, .. } => Some(op),
            ValueDef::Arg { .. } => None,
        }
    }

    /// All uses. Their order is deterministic but has no meaning.
    #[must_use]
    pub fn uses(&self, value: Value) -> &[Use] {
        &self.values[value].uses
    }

    #[must_use]
    pub fn has_uses(&self, value: Value) -> bool {
        !self.values[value].uses.is_empty()
    }

    #[must_use]
    pub fn has_one_use(&self, value: Value) -> bool {
        self.values[value].uses.len() == 1
    }

    /// The operations that use the value, each once, in the order of their entities.
    #[must_use]
    pub fn users(&self, value: Value) -> Vec<Op> {
        let mut users: Vec<Op> = self.values[value].uses.iter().map(|u| u.op).collect();
        users.sort_unstable();
        users.dedup();
        users
    }

    #[must_use]
    pub fn value_loc(&self, value: Value) -> Loc {
        match self.values[value].def {
            ValueDef::Result { op, .. } => self.loc(op),
            ValueDef::Arg { .. } => self.values[value].loc.unwrap_or_else(Loc::unknown),
        }
    }

    // ---- reading blocks and regions ----

    #[must_use]
    pub fn args(&self, block: Block) -> &[Value] {
        &self.blocks[block].args
    }

    #[must_use]
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].first
    }

    #[must_use]
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].last
    }

    #[must_use]
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.ops[op].next
    }

    #[must_use]
    pub fn prev_op(&self, op: Op) -> Option<Op> {
        self.ops[op].prev
    }

    /// The operations of a block in order. The iterator borrows the IR, so take [`Ir::op_list`] to mutate while
    /// walking.
    pub fn ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        std::iter::successors(self.blocks[block].first, |&op| self.ops[op].next)
    }

    /// A snapshot of the operations of a block.
    #[must_use]
    pub fn op_list(&self, block: Block) -> Vec<Op> {
        self.ops(block).collect()
    }

    /// The block's terminator: its last operation, if that one ends a block.
    #[must_use]
    pub fn terminator(&self, block: Block) -> Option<Op> {
        self.last_op(block).filter(|&op| self.kind(op).is_terminator())
    }

    #[must_use]
    pub fn blocks_of(&self, region: Region) -> &[Block] {
        &self.regions[region].blocks
    }

    /// The first block of a region.
    #[must_use]
    pub fn entry(&self, region: Region) -> Option<Block> {
        self.regions[region].blocks.first().copied()
    }

    /// The only block of the operation's region `index`.
    #[must_use]
    pub fn body(&self, op: Op, index: usize) -> Option<Block> {
        self.ops[op].regions.get(index).and_then(|&r| self.entry(r))
    }

    #[must_use]
    pub fn parent_block(&self, op: Op) -> Option<Block> {
        self.ops[op].parent
    }

    #[must_use]
    pub fn parent_region(&self, block: Block) -> Option<Region> {
        self.blocks[block].parent
    }

    #[must_use]
    pub fn region_op(&self, region: Region) -> Option<Op> {
        self.regions[region].parent
    }

    /// The operation whose region holds this one.
    #[must_use]
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.parent_block(op).and_then(|b| self.block_op(b))
    }

    /// The operation whose region holds this block.
    #[must_use]
    pub fn block_op(&self, block: Block) -> Option<Op> {
        self.parent_region(block).and_then(|r| self.region_op(r))
    }

    /// The block that defines the value or holds the operation that does.
    #[must_use]
    pub fn value_block(&self, value: Value) -> Option<Block> {
        match self.values[value].def {
            ValueDef::Result { op, .. } => self.parent_block(op),
            ValueDef::Arg { block, .. } => Some(block),
        }
    }

    /// Whether `ancestor` is `op` or one of the operations around it.
    #[must_use]
    pub fn is_ancestor(&self, ancestor: Op, op: Op) -> bool {
        std::iter::successors(Some(op), |&o| self.parent_op(o)).any(|o| o == ancestor)
    }

    // ---- creating ----

    /// Makes an operation that is in no block yet.
    pub fn create_op(&mut self, state: OpState) -> Op {
        let mut attrs = state.attrs;
        attrs.sort_by_key(|a| a.0);
        attrs.dedup_by(|a, b| a.0 == b.0);
        let op = self.ops.push(OpData {
            kind: state.kind,
            loc: state.loc,
            operands: vec![],
            results: vec![],
            attrs,
            regions: vec![],
            successors: state.successors,
            parent: None,
            prev: None,
            next: None,
            order: 0,
            erased: false,
        });
        for (index, &value) in state.operands.iter().enumerate() {
            self.values[value].uses.push(Use { op, index: index as u32 });
        }
        self.ops[op].operands = state.operands;
        for (index, &ty) in state.result_types.iter().enumerate() {
            let value = self.values.push(ValueData {
                ty,
                def: ValueDef::Result { op, index: index as u32 },
                uses: vec![],
                loc: None,
            });
            self.ops[op].results.push(value);
        }
        for _ in 0..state.regions {
            self.add_region(op);
        }
        op
    }

    /// Appends an empty region to an operation.
    pub fn add_region(&mut self, op: Op) -> Region {
        let region = self.regions.push(RegionData { blocks: vec![], parent: Some(op) });
        self.ops[op].regions.push(region);
        region
    }

    /// Appends a block with arguments of these types to a region.
    pub fn add_block(&mut self, region: Region, args: &[(Type, Loc)]) -> Block {
        let at = self.regions[region].blocks.len();
        self.insert_block(region, at, args)
    }

    /// Inserts a block at a position of a region.
    pub fn insert_block(&mut self, region: Region, at: usize, args: &[(Type, Loc)]) -> Block {
        let block = self.blocks.push(BlockData { args: vec![], first: None, last: None, parent: Some(region) });
        self.regions[region].blocks.insert(at, block);
        for &(ty, loc) in args {
            self.add_arg(block, ty, loc);
        }
        block
    }

    /// Appends an argument to a block.
    pub fn add_arg(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        let index = self.blocks[block].args.len() as u32;
        let value =
            self.values.push(ValueData { ty, def: ValueDef::Arg { block, index }, uses: vec![], loc: Some(loc) });
        self.blocks[block].args.push(value);
        value
    }

    /// Removes an argument that has no uses.
    pub fn remove_arg(&mut self, block: Block, index: usize) {
        let value = self.blocks[block].args.remove(index);
        assert!(self.values[value].uses.is_empty(), "a removed block argument has no uses");
        for i in index..self.blocks[block].args.len() {
            let arg = self.blocks[block].args[i];
            self.values[arg].def = ValueDef::Arg { block, index: i as u32 };
        }
    }

    // ---- placing ----

    /// Puts a detached operation at the end of a block.
    pub fn append(&mut self, block: Block, op: Op) {
        let last = self.blocks[block].last;
        self.link(block, op, last, None);
    }

    /// Puts a detached operation at the start of a block.
    pub fn prepend(&mut self, block: Block, op: Op) {
        let first = self.blocks[block].first;
        self.link(block, op, None, first);
    }

    /// Puts a detached operation before another.
    pub fn insert_before(&mut self, anchor: Op, op: Op) {
        let block = self.ops[anchor].parent.expect("the anchor is in a block");
        let prev = self.ops[anchor].prev;
        self.link(block, op, prev, Some(anchor));
    }

    /// Puts a detached operation after another.
    pub fn insert_after(&mut self, anchor: Op, op: Op) {
        let block = self.ops[anchor].parent.expect("the anchor is in a block");
        let next = self.ops[anchor].next;
        self.link(block, op, Some(anchor), next);
    }

    fn link(&mut self, block: Block, op: Op, prev: Option<Op>, next: Option<Op>) {
        let data = &mut self.ops[op];
        assert!(data.parent.is_none() && !data.erased, "only a detached operation can be placed");
        (data.parent, data.prev, data.next) = (Some(block), prev, next);
        match prev {
            Some(p) => self.ops[p].next = Some(op),
            None => self.blocks[block].first = Some(op),
        }
        match next {
            Some(n) => self.ops[n].prev = Some(op),
            None => self.blocks[block].last = Some(op),
        }
        self.set_order(op, prev, next);
    }

    /// Takes an operation out of its block and leaves it detached.
    pub fn detach(&mut self, op: Op) {
        let data = &mut self.ops[op];
        let Some(block) = data.parent.take() else { return };
        let (prev, next) = (data.prev.take(), data.next.take());
        match prev {
            Some(p) => self.ops[p].next = next,
            None => self.blocks[block].first = next,
        }
        match next {
            Some(n) => self.ops[n].prev = prev,
            None => self.blocks[block].last = prev,
        }
    }

    pub fn move_before(&mut self, op: Op, anchor: Op) {
        if op != anchor {
            self.detach(op);
            self.insert_before(anchor, op);
        }
    }

    pub fn move_after(&mut self, op: Op, anchor: Op) {
        if op != anchor {
            self.detach(op);
            self.insert_after(anchor, op);
        }
    }

    /// Moves the operations from `first` on to the end of another block.
    pub fn splice_tail(&mut self, from: Block, first: Option<Op>, to: Block) {
        let mut next = first;
        while let Some(op) = next {
            debug_assert_eq!(self.parent_block(op), Some(from));
            next = self.next_op(op);
            self.detach(op);
            self.append(to, op);
        }
    }

    /// Moves all blocks of a region to the end of another.
    pub fn splice_region(&mut self, from: Region, to: Region) {
        let blocks = std::mem::take(&mut self.regions[from].blocks);
        for &b in &blocks {
            self.blocks[b].parent = Some(to);
        }
        self.regions[to].blocks.extend(blocks);
    }

    /// Moves a block to a position of a region. The region may be its own; the position then counts without the block.
    pub fn move_block(&mut self, block: Block, region: Region, at: usize) {
        if let Some(old) = self.blocks[block].parent {
            self.regions[old].blocks.retain(|&b| b != block);
        }
        self.blocks[block].parent = Some(region);
        self.regions[region].blocks.insert(at, block);
    }

    // ---- changing ----

    pub fn set_kind(&mut self, op: Op, kind: impl Into<OpKind>) {
        self.ops[op].kind = kind.into();
    }

    pub fn set_loc(&mut self, op: Op, loc: Loc) {
        self.ops[op].loc = loc;
    }

    pub fn set_arg_loc(&mut self, value: Value, loc: Loc) {
        self.values[value].loc = Some(loc);
    }

    /// Changes a value's type in place. The caller keeps the users consistent.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.values[value].ty = ty;
    }

    pub fn set_attr(&mut self, op: Op, name: &str, value: Attr) {
        let attrs = &mut self.ops[op].attrs;
        match attrs.binary_search_by(|(n, _)| n.as_str().cmp(name)) {
            Ok(i) => attrs[i].1 = value,
            Err(i) => attrs.insert(i, (Name::of(name), value)),
        }
    }

    pub fn remove_attr(&mut self, op: Op, name: &str) -> Option<Attr> {
        let attrs = &mut self.ops[op].attrs;
        attrs.binary_search_by(|(n, _)| n.as_str().cmp(name)).ok().map(|i| attrs.remove(i).1)
    }

    pub fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        self.ops[op].successors[index] = block;
    }

    /// Replaces all successors.
    pub fn set_successors(&mut self, op: Op, blocks: &[Block]) {
        self.ops[op].successors = blocks.to_vec();
    }

    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let old = std::mem::replace(&mut self.ops[op].operands[index], value);
        let this = Use { op, index: index as u32 };
        self.drop_use(old, this);
        self.values[value].uses.push(this);
    }

    /// Replaces all operands. With operand groups, `operandSegmentSizes` must be set too.
    pub fn set_operands(&mut self, op: Op, operands: &[Value]) {
        for (index, value) in std::mem::take(&mut self.ops[op].operands).into_iter().enumerate() {
            self.drop_use(value, Use { op, index: index as u32 });
        }
        for (index, &value) in operands.iter().enumerate() {
            self.values[value].uses.push(Use { op, index: index as u32 });
        }
        self.ops[op].operands = operands.to_vec();
    }

    /// Appends a result to an operation.
    pub fn add_result(&mut self, op: Op, ty: Type) -> Value {
        let index = self.ops[op].results.len() as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::Result { op, index }, uses: vec![], loc: None });
        self.ops[op].results.push(value);
        value
    }

    fn drop_use(&mut self, value: Value, gone: Use) {
        let uses = &mut self.values[value].uses;
        if let Some(at) = uses.iter().rposition(|&u| u == gone) {
            uses.remove(at);
        }
    }

    /// Makes every use of `old` a use of `new`.
    pub fn replace_all_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        let uses = std::mem::take(&mut self.values[old].uses);
        for u in &uses {
            self.ops[u.op].operands[u.index as usize] = new;
        }
        self.values[new].uses.extend(uses);
    }

    /// Makes those uses of `old` that `keep` selects uses of `new`.
    pub fn replace_uses_if(&mut self, old: Value, new: Value, mut select: impl FnMut(&Ir, Use) -> bool) {
        let uses: Vec<Use> = self.values[old].uses.clone();
        for u in uses {
            if select(self, u) {
                self.set_operand(u.op, u.index as usize, new);
            }
        }
    }

    /// Replaces the results of `op` by `values` everywhere and erases it.
    pub fn replace_op(&mut self, op: Op, values: &[Value]) {
        let results = self.ops[op].results.clone();
        assert_eq!(results.len(), values.len(), "one replacement a result");
        for (old, &new) in results.into_iter().zip(values) {
            self.replace_all_uses(old, new);
        }
        self.erase_op(op);
    }

    /// Erases an operation with its regions. Its results must have no uses outside of it.
    pub fn erase_op(&mut self, op: Op) {
        self.detach(op);
        for region in std::mem::take(&mut self.ops[op].regions) {
            self.erase_region(region);
        }
        for (index, value) in std::mem::take(&mut self.ops[op].operands).into_iter().enumerate() {
            self.drop_use(value, Use { op, index: index as u32 });
        }
        debug_assert!(
            self.ops[op].results.iter().all(|&r| self.values[r].uses.is_empty()),
            "{} {op:?} is erased but its results are used",
            self.op_name(op)
        );
        self.ops[op].erased = true;
    }

    fn erase_region(&mut self, region: Region) {
        let blocks = std::mem::take(&mut self.regions[region].blocks);
        self.erase_blocks(&blocks);
    }

    /// Erases the blocks with all operations in them. Uses among them may be in any order.
    pub fn erase_blocks(&mut self, blocks: &[Block]) {
        // All operands are dropped first, so that no value has uses by the time its operation goes.
        let all: Vec<Op> = blocks.iter().flat_map(|&b| self.op_list(b)).collect();
        for &op in &all {
            self.drop_operands_deep(op);
        }
        for op in all.into_iter().rev() {
            self.erase_op(op);
        }
        for &block in blocks {
            if let Some(region) = self.blocks[block].parent.take() {
                self.regions[region].blocks.retain(|&b| b != block);
            }
        }
    }

    fn drop_operands_deep(&mut self, op: Op) {
        self.set_operands(op, &[]);
        for region in self.ops[op].regions.clone() {
            for block in self.regions[region].blocks.clone() {
                for inner in self.op_list(block) {
                    self.drop_operands_deep(inner);
                }
            }
        }
    }

    // ---- functions ----

    /// All functions of the module (operations that are symbols with a body), in order.
    #[must_use]
    pub fn functions(&self) -> Vec<Op> {
        self.ops(self.module_block()).filter(|&op| self.kind(op).is_function()).collect()
    }

    /// The function with this symbol name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Op> {
        self.functions().into_iter().find(|&f| Func::of(self, f).and_then(|f| f.sym_name(self)) == Some(name))
    }

    /// An upper bound on operation indices, for tables indexed by operation.
    #[must_use]
    pub fn op_capacity(&self) -> usize {
        self.ops.len()
    }

    /// An upper bound on value indices, for tables indexed by value.
    #[must_use]
    pub fn value_capacity(&self) -> usize {
        self.values.len()
    }
}
