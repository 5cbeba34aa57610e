//! Names values and blocks as MLIR does.
//!
//! A region inherits the names and counters of the regions around it, and all of its own values are named before those
//! of nested regions. A value wishes for its location's name. Without one, it wishes for what its operation suggests
//! (`c4_i32`, `true`, `cst`), else for `argN` if it is an argument of an entry block, else for the next number. A wish
//! that is taken gets `_N` from a counter that only grows: `x`, `x_0`, `y_1`.

use super::printer::result_group;
use crate::ir::core::entity::Entity;
use crate::ir::core::hash::Set;
use crate::ir::core::{AttrData, Block, Ir, Name, Op, Region, TypeData, Value, ValueDef};
use crate::ir::dialects::{ArithOp, OpKind, TtOp};

/// The names of one module.
#[derive(Default)]
pub struct Names {
    /// The names by value. Of a result group, the first value holds the name.
    values: Vec<Option<Box<str>>>,
    /// `(block, number in its region)` for each block.
    blocks: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Counters {
    value: u32,
    arg: u32,
    conflict: u32,
}

struct Namer<'a> {
    ir: &'a Ir,
    names: Names,
    /// The names in use in the open regions, and the order in which they came.
    used: Set<String>,
    trail: Vec<String>,
    next: Counters,
    generic: bool,
}

impl Names {
    /// Names everything nested in `root`, and its results.
    #[must_use]
    pub fn new(ir: &Ir, root: Op, generic: bool) -> Names {
        let mut namer = Namer {
            ir,
            names: Names { values: vec![None; ir.value_capacity()], blocks: vec![] },
            used: Set::default(),
            trail: vec![],
            next: Counters { value: 0, arg: 0, conflict: 0 },
            generic,
        };
        namer.op(root);
        let start = namer.next;
        for &region in ir.regions_of(root) {
            namer.next = start;
            namer.region(region);
        }
        namer.names
    }

    /// Appends `%x` or `%x#1`. Where a whole group is meant, `#1` is left out.
    pub fn write(&self, ir: &Ir, value: Value, out: &mut String) {
        let (first, index) = match ir.def(value) {
            ValueDef::Result { op, .. } if self.is_separate(ir, op) => (value, None),
            ValueDef::Result { op, index } => (ir.results(op)[0], (ir.results(op).len() > 1).then_some(index)),
            ValueDef::Arg { .. } => (value, None),
        };
        self.write_group(first, out);
        if let Some(index) = index {
            out.push_str(&format!("#{index}"));
        }
    }

    /// Whether each result of the operation has a name of its own.
    #[must_use]
    pub fn is_separate(&self, ir: &Ir, op: Op) -> bool {
        has_separate_results(ir, op)
            && ir.results(op).last().is_some_and(|r| self.values.get(r.index()).is_some_and(Option::is_some))
    }

    /// Appends the name of a result group, `%x`.
    pub fn write_group(&self, first: Value, out: &mut String) {
        match self.values.get(first.index()).and_then(|n| n.as_deref()) {
            Some(name) => {
                out.push('%');
                out.push_str(name);
            }
            None => out.push_str("<<unknown value>>"),
        }
    }

    /// The label of a block: `^bb1`.
    #[must_use]
    pub fn block(&self, block: Block) -> String {
        format!("^bb{}", self.block_number(block))
    }

    /// The block's number in its region.
    #[must_use]
    pub fn block_number(&self, block: Block) -> u32 {
        self.blocks.get(block.index()).copied().unwrap_or(u32::MAX)
    }
}

impl Namer<'_> {
    fn region(&mut self, region: Region) {
        let mark = self.trail.len();
        let blocks = self.ir.blocks_of(region);
        for (i, &block) in blocks.iter().enumerate() {
            self.block(block, i);
        }
        let start = self.next;
        for &block in blocks {
            for op in self.ir.ops(block) {
                for &inner in self.ir.regions_of(op) {
                    self.next = start;
                    self.region(inner);
                }
            }
        }
        for name in self.trail.drain(mark..) {
            self.used.remove(&name);
        }
    }

    fn block(&mut self, block: Block, number: usize) {
        if self.names.blocks.len() <= block.index() {
            self.names.blocks.resize(block.index() + 1, u32::MAX);
        }
        self.names.blocks[block.index()] = number as u32;
        for &arg in self.ir.args(block) {
            let mut wish = None;
            if number == 0 {
                wish = Some(format!("arg{}", self.next.arg));
                self.next.arg += 1;
            }
            let wish = self.ir.value_loc(arg).value_name().map(|n| n.as_str().to_owned()).or(wish);
            self.name(arg, wish);
        }
        for op in self.ir.ops(block) {
            self.op(op);
        }
    }

    fn op(&mut self, op: Op) {
        if has_separate_results(self.ir, op) && !self.generic {
            for (group, spec) in self.ir.spec(op).results.iter().enumerate() {
                let Some(&result) = result_group(self.ir, op, group).first() else { continue };
                let own = if self.ir.is(op, TtOp::Split) { ["outLHS", "outRHS"][group] } else { spec.name };
                let wish = self.ir.loc(op).value_name().map_or(own, Name::as_str);
                self.name(result, Some(wish.to_owned()));
            }
            return;
        }
        if let Some(&first) = self.ir.results(op).first() {
            let wish = self.ir.loc(op).value_name().map(|n| n.as_str().to_owned());
            let wish = wish.or_else(|| if self.generic { None } else { suggested(self.ir, op) });
            self.name(first, wish);
        }
    }

    fn name(&mut self, value: Value, wish: Option<String>) {
        let name = match wish.filter(|w| !w.is_empty()) {
            None => {
                self.next.value += 1;
                (self.next.value - 1).to_string()
            }
            Some(wish) => {
                let base = identifier(&wish);
                let mut name = base.clone();
                while self.used.contains(&name) {
                    name = format!("{base}_{}", self.next.conflict);
                    self.next.conflict += 1;
                }
                self.used.insert(name.clone());
                self.trail.push(name.clone());
                name
            }
        };
        self.names.values[value.index()] = Some(name.into());
    }
}

/// Operations whose table has several results name them one by one, after the table.
fn has_separate_results(ir: &Ir, op: Op) -> bool {
    let groups = ir.spec(op).results.len();
    groups > 1 && (0..groups).map(|g| result_group(ir, op, g).len().min(1)).sum::<usize>() == ir.results(op).len()
}

/// The name that an operation would give its result.
fn suggested(ir: &Ir, op: Op) -> Option<String> {
    if ir.kind(op) != OpKind::Arith(ArithOp::Constant) {
        return None;
    }
    let value = ir.stored_attr(op, "value")?;
    Some(match (value.data(), ir.ty(ir.result(op)).data()) {
        (AttrData::Int(v, _), TypeData::Int(1)) => if *v != 0 { "true" } else { "false" }.to_owned(),
        (AttrData::Int(v, _), TypeData::Int(w)) => format!("c{v}_i{w}"),
        (AttrData::Int(v, _), _) => format!("c{v}"),
        _ => "cst".to_owned(),
    })
}

/// A name made of letters, digits, `$`, `.`, `_` and `-` that does not start with a digit. A blank becomes `_`, and
/// anything else its hexadecimal code.
fn identifier(name: &str) -> String {
    let mut out = String::new();
    for b in name.bytes() {
        match b {
            b' ' => out.push('_'),
            b if b.is_ascii_alphanumeric() || b"$._-".contains(&b) => out.push(char::from(b)),
            b => out.push_str(&format!("{b:X}")),
        }
    }
    // A code may start with a digit too.
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}
