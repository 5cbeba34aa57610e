//! The greedy rewrite driver: folds, drops dead operations and applies patterns until nothing changes.
//!
//! # Algorithm
//!
//! One iteration, repeated until it changes nothing (at most [`Config::max_iterations`] times):
//!
//! 1. Walk the operation in order. Every constant met is looked up by value and type among those of its isolated
//!    region: a second copy is replaced by the first, and the first moves to the front of the region's entry block
//!    unless constants already stand there. All other operations go to the worklist.
//! 2. Take operations from the worklist, first to last or last to first ([`Config::top_down`]). A dead one goes. One
//!    that folds is replaced by its fold; constants are made in front of it. Otherwise patterns are tried, the most
//!    beneficial first.
//! 3. Whatever was created or changed, with everything around it, and the producers of what was erased, goes on the
//!    worklist, to be looked at next.
//! 4. Unreachable blocks and values that only feed themselves are removed ([`region_dce`]).
//!
//! The order of steps 1 to 3 is MLIR's, so constants end up in the order in which MLIR leaves them.
//!
//! A module that has got too large ([`Ir::is_full_with`]) is left as it is; whoever runs the pass reports it.
//!
//! A [`Pattern`] must either change nothing and return `false`, or make progress through the [`Rewriter`], which tells
//! the worklist.

pub mod fold;
pub mod region_dce;

use crate::ir::core::entity::Entity;
use crate::ir::core::hash::{Map, Set};
use crate::ir::core::{Attr, Block, InsertPoint, Ir, Loc, Op, OpState, Region, Type, Value};
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::keys::Slot;
use crate::ir::dialects::{Classes, OpKind, Traits, UbOp};
use crate::ir::effects;

/// A rewrite of operations of one kind or class.
pub struct Pattern {
    /// What it does, in a few words: `addi(addi(x, c), d) -> addi(x, c + d)`.
    pub name: &'static str,
    /// The operations that it applies to.
    pub root: Root,
    /// Patterns of greater benefit are tried first.
    pub benefit: u16,
    /// Rewrites and returns `true`, or changes nothing and returns `false`.
    pub apply: fn(&mut Rewriter<'_>, Op) -> bool,
}

impl Pattern {
    #[must_use]
    pub const fn new(name: &'static str, root: OpKind, apply: fn(&mut Rewriter<'_>, Op) -> bool) -> Pattern {
        Pattern { name, root: Root::Kind(root), benefit: 1, apply }
    }

    /// A pattern for all kinds that belong to these classes.
    #[must_use]
    pub const fn of_class(name: &'static str, root: Classes, apply: fn(&mut Rewriter<'_>, Op) -> bool) -> Pattern {
        Pattern { name, root: Root::Class(root), benefit: 1, apply }
    }
}

/// The operations that a pattern applies to.
#[derive(Clone, Copy)]
pub enum Root {
    Kind(OpKind),
    Class(Classes),
    Any,
}

/// How the driver works.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub max_iterations: usize,
    /// Whether operations are folded too.
    pub fold: bool,
    /// Whether the first operation is looked at first, rather than the last.
    pub top_down: bool,
    /// Whether equal blocks are merged.
    pub merge_blocks: bool,
}

impl Config {
    /// What canonicalization uses.
    pub const CANONICALIZE: Config = Config { max_iterations: 10, fold: true, top_down: true, merge_blocks: false };
}

impl Default for Config {
    fn default() -> Config {
        Config { max_iterations: 10, fold: true, top_down: false, merge_blocks: true }
    }
}

/// Operations that wait to be looked at; the last one pushed comes first, and none waits twice.
#[derive(Default)]
struct Worklist {
    items: Vec<Option<Op>>,
    /// Position in `items` plus 1, by operation; 0 when absent.
    position: Vec<u32>,
}

impl Worklist {
    fn push(&mut self, op: Op) {
        let at = op.index();
        if at >= self.position.len() {
            self.position.resize(at + 1, 0);
        }
        if self.position[at] == 0 {
            self.items.push(Some(op));
            self.position[at] = self.items.len() as u32;
        }
    }

    fn pop(&mut self) -> Option<Op> {
        while let Some(item) = self.items.pop() {
            if let Some(op) = item {
                self.position[op.index()] = 0;
                return Some(op);
            }
        }
        None
    }

    fn remove(&mut self, op: Op) {
        if let Some(slot) = self.position.get_mut(op.index())
            && *slot != 0
        {
            self.items[*slot as usize - 1] = None;
            *slot = 0;
        }
    }

    fn reverse(&mut self) {
        self.items.reverse();
        for (i, op) in self.items.iter().enumerate().filter_map(|(i, op)| op.map(|op| (i, op))) {
            self.position[op.index()] = i as u32 + 1;
        }
    }
}

/// Changes the IR and keeps the driver informed. New operations go where [`Rewriter::at`] points, before the root of
/// the pattern at first.
pub struct Rewriter<'a> {
    pub ir: &'a mut Ir,
    pub at: InsertPoint,
    worklist: Worklist,
    /// The operation whose contents are rewritten; it is never touched itself.
    scope: Op,
}

impl Rewriter<'_> {
    /// Makes an operation at the insertion point.
    pub fn insert(&mut self, state: OpState) -> Op {
        let op = self.ir.create_op(state);
        self.place(op);
        op
    }

    /// Puts a detached operation, with what is in it, at the insertion point.
    pub fn place(&mut self, op: Op) {
        match self.at {
            InsertPoint::Start(b) => self.ir.prepend(b, op),
            InsertPoint::End(b) => self.ir.append(b, op),
            InsertPoint::Before(o) => self.ir.insert_before(o, op),
            InsertPoint::After(o) => self.ir.insert_after(o, op),
        }
        if matches!(self.at, InsertPoint::Start(_) | InsertPoint::After(_)) {
            self.at = InsertPoint::After(op);
        }
        for inner in self.ir.all_ops(op) {
            self.touch(inner);
        }
    }

    /// An operation of one result without attributes.
    pub fn value(&mut self, kind: impl Into<OpKind>, loc: Loc, operands: &[Value], ty: Type) -> Value {
        let op = self.insert(OpState::new(kind, loc).operands(operands).results(&[ty]));
        self.ir.result(op)
    }

    /// `arith.constant`
    pub fn constant(&mut self, value: Attr, loc: Loc) -> Value {
        let ty = value.type_of().expect("a constant's attribute is typed");
        let op = self.insert(Constant::state(loc).results(&[ty]).with(Constant::ATTR.value, value));
        self.ir.result(op)
    }

    /// Says that an operation was created or changed.
    pub fn touch(&mut self, op: Op) {
        let mut at = op;
        while at != self.scope {
            self.worklist.push(at);
            match self.ir.parent_op(at) {
                Some(parent) => at = parent,
                None => break,
            }
        }
    }

    /// Makes every use of `old` a use of `new`.
    pub fn replace_all_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        let users: Vec<Op> = self.ir.uses(old).iter().rev().map(|u| u.op).collect();
        self.ir.replace_all_uses(old, new);
        for user in users {
            self.touch(user);
        }
    }

    /// Replaces the results of `op` and erases it.
    pub fn replace(&mut self, op: Op, values: &[Value]) {
        let results = self.ir.results(op).to_vec();
        assert_eq!(results.len(), values.len(), "one replacement a result");
        for (old, &new) in results.into_iter().zip(values) {
            self.replace_all_uses(old, new);
        }
        self.erase(op);
    }

    /// Makes an operation in front of `op` with its location and result types, and replaces `op` by it.
    pub fn replace_with(&mut self, op: Op, kind: impl Into<OpKind>, operands: &[Value]) -> Op {
        self.replace_with_attrs(op, kind, operands, &[])
    }

    /// As [`Rewriter::replace_with`], with attributes.
    pub fn replace_with_attrs(
        &mut self,
        op: Op,
        kind: impl Into<OpKind>,
        operands: &[Value],
        attrs: &[(&str, Attr)],
    ) -> Op {
        let state = OpState::new(kind, self.ir.loc(op)).operands(operands);
        self.replace_by(op, attrs.iter().fold(state, |state, &(name, value)| state.attr(name, value)))
    }

    /// Erases an operation whose results are unused, and what is in it.
    pub fn erase(&mut self, op: Op) {
        for inner in self.ir.all_ops_post(op) {
            self.revisit_producers(inner);
            self.worklist.remove(inner);
        }
        if matches!(self.at, InsertPoint::Before(o) | InsertPoint::After(o) if o == op)
            && let Some(block) = self.ir.parent_block(op)
        {
            self.at = self.ir.next_op(op).map_or(InsertPoint::End(block), InsertPoint::Before);
        }
        self.ir.erase_op(op);
    }

    /// Producers that lose a use may become dead or simpler.
    fn revisit_producers(&mut self, op: Op) {
        for operand in self.ir.operands(op).to_vec() {
            let Some(def) = self.ir.def_op(operand) else { continue };
            let mut other = None;
            let crowded = self.ir.uses(operand).iter().rev().any(|u| {
                if u.op == op || Some(u.op) == other {
                    return false;
                }
                other.replace(u.op).is_some()
            });
            if !crowded {
                self.touch(def);
            }
        }
    }

    /// Makes an operation of these parts in front of `op`, with its location and, unless it has some, its result types,
    /// and replaces `op` by it.
    pub fn replace_by(&mut self, op: Op, mut state: OpState) -> Op {
        state.loc = self.ir.loc(op);
        if state.result_types.is_empty() {
            state.result_types = self.ir.results(op).iter().map(|&r| self.ir.ty(r)).collect();
        }
        self.at = InsertPoint::Before(op);
        let new = self.insert(state);
        let values = self.ir.results(new).to_vec();
        self.replace(op, &values);
        new
    }

    /// Makes these the operands of an operation that has as many.
    pub fn set_operands(&mut self, op: Op, operands: &[Value]) {
        operands.iter().enumerate().for_each(|(index, &value)| self.ir.set_operand(op, index, value));
        self.touch(op);
    }

    /// Puts values where the operation has those of `slot` now.
    pub fn put_operands(&mut self, op: Op, slot: Slot, values: &[Value]) {
        self.ir.put_operands(op, slot, values);
        self.touch(op);
    }

    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        self.ir.set_operand(op, index, value);
        self.touch(op);
    }

    /// Moves all operations of `from` but its terminator in front of `anchor`, with `args` for its arguments; gives the
    /// values that the terminator named (from operand `skip` on). `from` is left with its terminator only.
    pub fn inline_before(&mut self, from: Block, anchor: Op, args: &[Value], skip: usize) -> Vec<Value> {
        for (old, &new) in self.ir.args(from).to_vec().into_iter().zip(args) {
            self.replace_all_uses(old, new);
        }
        let terminator = self.ir.last_op(from).expect("a block to inline has a terminator");
        for op in self.ir.op_list(from) {
            if op != terminator {
                self.ir.detach(op);
                self.ir.insert_before(anchor, op);
            }
        }
        self.ir.operands(terminator)[skip..].to_vec()
    }

    /// The value of the constant that defines `value`.
    #[must_use]
    pub fn const_of(&self, value: Value) -> Option<Attr> {
        fold::const_of(self.ir, value)
    }
}

/// Applies patterns to everything inside `scope`. Returns whether anything changed.
pub fn rewrite_greedily(ir: &mut Ir, scope: Op, patterns: &[&'static Pattern], config: Config) -> bool {
    let table = PatternTable::new(patterns);
    let mut rewriter = Rewriter { ir, at: InsertPoint::Before(scope), worklist: Worklist::default(), scope };
    let mut changed = false;
    for _ in 0..config.max_iterations {
        let again = iterate(&mut rewriter, &table, config);
        changed |= again;
        if !again || rewriter.ir.is_full_with(0) {
            break;
        }
    }
    changed
}

/// Patterns by root kind, the best first.
struct PatternTable {
    by_kind: Map<OpKind, Vec<&'static Pattern>>,
    any: Vec<&'static Pattern>,
}

impl PatternTable {
    fn new(patterns: &[&'static Pattern]) -> PatternTable {
        let mut table = PatternTable { by_kind: Map::default(), any: vec![] };
        let mut sorted = patterns.to_vec();
        sorted.sort_by_key(|p| std::cmp::Reverse(p.benefit));
        for p in sorted {
            match p.root {
                Root::Kind(kind) => table.by_kind.entry(kind).or_default().push(p),
                Root::Class(classes) => {
                    for kind in OpKind::all().filter(|kind| kind.belongs(classes)) {
                        table.by_kind.entry(kind).or_default().push(p);
                    }
                }
                Root::Any => table.any.push(p),
            }
        }
        table
    }

    fn of(&self, kind: OpKind) -> impl Iterator<Item = &'static Pattern> {
        self.by_kind.get(&kind).into_iter().flatten().chain(&self.any).copied()
    }
}

fn iterate(rw: &mut Rewriter<'_>, table: &PatternTable, config: Config) -> bool {
    rw.worklist = Worklist::default();
    let mut changed = collect(rw, config.top_down);
    while let Some(op) = rw.worklist.pop() {
        if rw.ir.is_full_with(0) {
            break;
        }
        changed |= visit(rw, op, table, config);
    }
    changed | region_dce::simplify_regions(rw.ir, rw.scope, config.merge_blocks)
}

/// Step 1: constants made unique and moved, everything else put on the worklist. Returns whether a constant was merged.
fn collect(rw: &mut Rewriter<'_>, top_down: bool) -> bool {
    let mut constants = Constants::default();
    let mut merged = false;
    let order = if top_down { rw.ir.all_ops(rw.scope) } else { rw.ir.all_ops_post(rw.scope) };
    for op in order {
        if op == rw.scope {
            continue;
        }
        if constants.unique(rw, op) {
            rw.touch(op);
        } else {
            merged = true;
        }
    }
    if top_down {
        rw.worklist.reverse();
    }
    merged
}

/// The constants of each isolated region.
#[derive(Default)]
struct Constants {
    known: Map<(Region, Attr, Type), Op>,
    owned: Set<Op>,
}

impl Constants {
    /// Registers `op` if it is a constant. Returns `false` if it was replaced by an equal one.
    fn unique(&mut self, rw: &mut Rewriter<'_>, op: Op) -> bool {
        let ir = &mut *rw.ir;
        let value = match ir.kind(op) {
            OpKind::Ub(UbOp::Poison) => Some(Attr::unit()),
            kind if kind.has(Traits::CONSTANT) => Constant(op).value(ir),
            _ => None,
        };
        let (Some(value), Some(block)) = (value, ir.parent_block(op)) else { return true };
        let Some(region) = insertion_region(ir, block) else { return true };
        let key = (region, value, ir.ty(ir.result(op)));
        if let Some(&first) = self.known.get(&key) {
            ir.set_loc(first, Loc::unknown());
            let value = ir.result(first);
            rw.replace(op, &[value]);
            return false;
        }
        let entry = ir.entry(region).expect("a region with operations has a block");
        let front = ir.first_op(entry).expect("a block with operations in or under it is not empty");
        if block != entry {
            ir.move_before(op, front);
            ir.set_loc(op, Loc::unknown());
        } else if front != op && !ir.prev_op(op).is_some_and(|p| self.owned.contains(&p)) {
            ir.move_before(op, front);
        }
        self.known.insert(key, op);
        self.owned.insert(op);
        true
    }
}

/// The innermost isolated region around a block: where its constants live.
#[must_use]
pub fn insertion_region(ir: &Ir, block: Block) -> Option<Region> {
    let mut block = block;
    loop {
        let region = ir.parent_region(block)?;
        let parent = ir.region_op(region)?;
        if ir.kind(parent).has(Traits::ISOLATED_FROM_ABOVE) {
            return Some(region);
        }
        match ir.parent_block(parent) {
            Some(outer) => block = outer,
            None => return Some(region),
        }
    }
}

/// Step 2 for one operation.
fn visit(rw: &mut Rewriter<'_>, op: Op, table: &PatternTable, config: Config) -> bool {
    if effects::is_trivially_dead(rw.ir, op) {
        rw.erase(op);
        return true;
    }
    if config.fold && !rw.ir.kind(op).has(Traits::CONSTANT) && try_fold(rw, op) {
        return true;
    }
    for pattern in table.of(rw.ir.kind(op)) {
        rw.at = InsertPoint::Before(op);
        if (pattern.apply)(rw, op) {
            return true;
        }
    }
    false
}

fn try_fold(rw: &mut Rewriter<'_>, op: Op) -> bool {
    match fold::fold(rw.ir, op) {
        fold::Outcome::Unchanged => false,
        fold::Outcome::InPlace => {
            rw.touch(op);
            true
        }
        fold::Outcome::Replaced(results) => {
            rw.at = InsertPoint::Before(op);
            let loc = rw.ir.loc(op);
            let types: Vec<Type> = rw.ir.results(op).iter().map(|&r| rw.ir.ty(r)).collect();
            let values: Vec<Value> =
                results.into_iter().zip(types).map(|(r, ty)| fold::materialize(rw, r, ty, loc)).collect();
            rw.replace(op, &values);
            true
        }
    }
}
