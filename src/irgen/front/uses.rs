//! How a function uses its parameters, as far as its text shows. This is for guesses that a person corrects: nothing is
//! compiled by what stands here.
//!
//! 1. What is loaded from or stored to is an address. Its base is the leftmost summand that leads to a parameter,
//!    directly or through local names: `tl.load(ptrs + offs)` with `ptrs = x_ptr + row` is about `x_ptr`.
//! 2. Everything else in an address, the bounds of loops, and the operands of shifts and bit operations are integers. A
//!    load among them shows that its base points to integers.
//! 3. A call of another function of the file uses its arguments as that function uses its parameters.
//!
//! Example: in `tl.load(x_ptr + tl.load(index_ptr + i) * stride)` two parameters are addresses, `index_ptr` is one of
//! integers, and `stride` is an integer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::parser::ast::{BinOp, Call, Expr, ExprKind, FunctionDef, StmtKind};
use crate::parser::visit;

/// How deep calls of other functions are followed.
const MAX_DEPTH: u32 = 6;

/// What a function does with a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Use {
    /// It is the base of an address.
    pub address: bool,
    /// Something is stored there.
    pub stored: bool,
    /// What is loaded from there serves as an integer.
    pub of_integers: bool,
    /// It serves as an integer.
    pub integer: bool,
    /// The number of axes of the tensor descriptor that it is.
    pub descriptor: Option<usize>,
}

impl Use {
    fn join(&mut self, other: Use) {
        self.address |= other.address;
        self.stored |= other.stored;
        self.of_integers |= other.of_integers;
        self.integer |= other.integer;
        self.descriptor = self.descriptor.or(other.descriptor);
    }
}

/// How a function uses its parameters. `functions` are those of its file.
#[must_use]
pub fn uses(def: &FunctionDef, functions: &[Arc<FunctionDef>]) -> BTreeMap<String, Use> {
    of_function(def, functions, MAX_DEPTH, &mut BTreeMap::new())
}

/// What is known of functions that were looked at, by name. One that is being looked at uses nothing.
type Known = BTreeMap<String, BTreeMap<String, Use>>;

fn of_function(
    def: &FunctionDef,
    functions: &[Arc<FunctionDef>],
    depth: u32,
    known: &mut Known,
) -> BTreeMap<String, Use> {
    if let Some(uses) = known.get(&*def.name.name) {
        return uses.clone();
    }
    known.insert(def.name.to_string(), BTreeMap::new());
    let mut walk = Walk::new(def);
    visit::statements(&def.body, &mut |stmt| {
        if let StmtKind::For { iter, .. } = &stmt.kind
            && let ExprKind::Call(call) = &iter.kind
        {
            call.args.iter().for_each(|bound| walk.integer(bound));
        }
        for e in visit::own_expressions(stmt) {
            visit::expressions(e, &mut |e| walk.expression(e));
        }
    });
    if depth > 0 {
        visit::calls(&def.body, &mut |call| {
            let callee = call.func.as_name().and_then(|name| functions.iter().rev().find(|f| *f.name.name == *name));
            let Some(callee) = callee else { return };
            let theirs = of_function(callee, functions, depth - 1, known);
            for (i, p) in callee.params.iter().enumerate() {
                let arg = call.args.get(i).or_else(|| call.keyword(&p.name.name));
                if let (Some(arg), Some(&how)) = (arg, theirs.get(&*p.name.name)) {
                    walk.passed(arg, how);
                }
            }
        });
    }
    known.insert(def.name.to_string(), walk.uses.clone());
    walk.uses
}

/// A function whose statements are being looked at.
struct Walk<'a> {
    /// What local names, and parameters that change, are assigned.
    assigned: BTreeMap<&'a str, Vec<&'a Expr>>,
    params: BTreeSet<&'a str>,
    /// The names that were found to be integers.
    integers: BTreeSet<&'a str>,
    uses: BTreeMap<String, Use>,
}

impl<'a> Walk<'a> {
    fn new(def: &'a FunctionDef) -> Walk<'a> {
        let mut assigned: BTreeMap<&str, Vec<&Expr>> = BTreeMap::new();
        visit::statements(&def.body, &mut |stmt| match &stmt.kind {
            StmtKind::Assign { targets, value } => targets.iter().for_each(|t| assign(&mut assigned, t, value)),
            StmtKind::AnnAssign { target, value: Some(value), .. } | StmtKind::AugAssign { target, value, .. } => {
                assign(&mut assigned, target, value);
            }
            _ => {}
        });
        let params = def.params.iter().map(|p| &*p.name.name).collect();
        Walk { assigned, params, integers: BTreeSet::new(), uses: BTreeMap::new() }
    }

    fn note(&mut self, name: &str, how: Use) {
        self.uses.entry(name.to_owned()).or_default().join(how);
    }

    /// Looks at one expression alone, without those inside of it.
    fn expression(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Call(call) => self.call(call),
            ExprKind::BinOp { left, op, right } if is_bitwise(*op) => {
                self.integer(left);
                self.integer(right);
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &'a Call) {
        if let ExprKind::Attribute { value, attr } = &call.func.kind
            && let Some(name) = value.as_name().filter(|n| self.params.contains(n))
        {
            return self.method(name, &attr.name, call);
        }
        let Some(how) = access(call) else { return };
        let Some(address) = call.args.first().or_else(|| address_keyword(call)) else { return };
        self.address(address, how);
        self.integer(address);
    }

    /// `desc.load([i, j])`, where the parameter is a descriptor.
    fn method(&mut self, name: &str, method: &str, call: &'a Call) {
        let Some(ExprKind::List(offsets) | ExprKind::Tuple(offsets)) = call.args.first().map(|a| &a.kind) else {
            return;
        };
        if matches!(method, "load" | "store") || method.starts_with("atomic_") {
            self.note(name, Use { descriptor: Some(offsets.len()), stored: method != "load", ..Use::default() });
            offsets.iter().for_each(|o| self.integer(o));
        }
    }

    /// Takes over what a called function does with an argument.
    fn passed(&mut self, arg: &'a Expr, how: Use) {
        if how.address {
            self.address(arg, how);
        }
        if how.integer || how.address {
            self.integer(arg);
        }
        if let Some(name) = arg.as_name().filter(|n| self.params.contains(n) && how.descriptor.is_some()) {
            self.note(name, how);
        }
    }

    /// Marks the base of an address.
    fn address(&mut self, e: &'a Expr, how: Use) {
        if let Some(base) = self.base(e, &mut BTreeSet::new()) {
            self.note(base, Use { address: true, ..how });
        }
    }

    /// The parameter that an address is made from. `seen` are the local names that were tried.
    fn base(&self, e: &'a Expr, seen: &mut BTreeSet<&'a str>) -> Option<&'a str> {
        let mut leaves = vec![];
        summands(e, &mut leaves);
        leaves.into_iter().find_map(|name| {
            if self.params.contains(name) {
                return Some(name);
            }
            let values = self.assigned.get(name).filter(|_| seen.insert(name))?;
            values.iter().find_map(|v| self.base(v, seen))
        })
    }

    /// Marks what an integer is made from.
    fn integer(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Name(name) => {
                if !self.integers.insert(name) {
                    return;
                }
                if self.params.contains(&**name) {
                    self.note(name, Use { integer: true, ..Use::default() });
                }
                for value in self.assigned.get(&**name).cloned().unwrap_or_default() {
                    self.integer(value);
                }
            }
            ExprKind::Call(call) if is_load(call) => {
                let how = Use { of_integers: true, ..Use::default() };
                call.args.first().into_iter().for_each(|address| self.address(address, how));
            }
            // What is compared may be of another type than the result.
            ExprKind::Compare { .. } => {}
            ExprKind::Call(call) => call.args.iter().chain(receiver(call)).for_each(|a| self.integer(a)),
            ExprKind::IfExp { body, orelse, .. } => {
                self.integer(body);
                self.integer(orelse);
            }
            ExprKind::Attribute { .. } => {}
            _ => visit::children(e).into_iter().for_each(|e| self.integer(e)),
        }
    }
}

fn assign<'a>(assigned: &mut BTreeMap<&'a str, Vec<&'a Expr>>, target: &'a Expr, value: &'a Expr) {
    match (&target.kind, &value.kind) {
        (ExprKind::Name(name), _) => assigned.entry(name).or_default().push(value),
        (ExprKind::Tuple(names), ExprKind::Tuple(values)) if names.len() == values.len() => {
            names.iter().zip(values).for_each(|(n, v)| assign(assigned, n, v));
        }
        _ => {}
    }
}

fn is_bitwise(op: BinOp) -> bool {
    matches!(op, BinOp::LShift | BinOp::RShift | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor)
}

fn is_load(call: &Call) -> bool {
    call.func.dotted().is_some_and(|path| path.last() == Some(&"load"))
}

/// The value on which a method is called: `x` of `x.to(tl.int32)`, but not `tl` of `tl.load`.
fn receiver(call: &Call) -> Option<&Expr> {
    match &call.func.kind {
        ExprKind::Attribute { value, .. } if call.func.dotted().is_none_or(|p| p[0] != "tl") => Some(value),
        _ => None,
    }
}

/// What a call does with the address that it is given, if it is an access to memory.
fn access(call: &Call) -> Option<Use> {
    let path = call.func.dotted()?;
    let name = *path.last()?;
    let stored = name == "store" || name.starts_with("atomic_");
    let memory = stored || matches!(name, "load" | "make_block_ptr" | "make_tensor_descriptor" | "advance");
    memory.then(|| Use { address: true, stored, ..Use::default() })
}

fn address_keyword(call: &Call) -> Option<&Expr> {
    ["pointer", "base"].iter().find_map(|k| call.keyword(k))
}

/// The names that an expression adds up, from left to right.
fn summands<'a>(e: &'a Expr, out: &mut Vec<&'a str>) {
    match &e.kind {
        ExprKind::Name(name) => out.push(name),
        ExprKind::BinOp { left, op: BinOp::Add | BinOp::Sub, right } => {
            summands(left, out);
            summands(right, out);
        }
        ExprKind::IfExp { body, orelse, .. } => {
            summands(body, out);
            summands(orelse, out);
        }
        // A pointer that was cast, broadcast or given a hint: `x.to(tl.pointer_type(…))`, `tl.multiple_of(x, 16)`.
        ExprKind::Call(call) => match receiver(call).or(call.args.first()) {
            Some(inner) if !is_load(call) => summands(inner, out),
            _ => {}
        },
        ExprKind::Subscript { value, .. } => summands(value, out),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irgen::front::top_level::TopLevel;
    use crate::source::SourceMap;

    /// What is known of the last function of a file, a word for each parameter.
    fn check(text: &str, expected: &[(&str, &str)]) {
        let mut map = SourceMap::default();
        let file = map.add("k.py", None, text);
        let top = TopLevel::of(&map, file);
        let found = uses(top.functions.last().expect("the text holds a function"), &top.functions);
        let word = |u: &Use| {
            let mut words = vec![];
            if let Some(n) = u.descriptor {
                words.push(format!("descriptor{n}"));
            }
            for (set, word) in
                [(u.address, "address"), (u.stored, "stored"), (u.of_integers, "of_integers"), (u.integer, "integer")]
            {
                words.extend(set.then(|| word.to_owned()));
            }
            words.join(" ")
        };
        let found: Vec<(String, String)> = found.iter().map(|(n, u)| (n.clone(), word(u))).collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(n, w)| ((*n).to_owned(), (*w).to_owned())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn addresses_and_integers_are_told_apart() {
        check(
            "def k(x, out, index, stride, n, scale):\n    i = tl.program_id(0) * n\n    ptrs = x + tl.load(index + i) * stride\n    v = tl.load(ptrs[:, None]) * scale\n    tl.store(out + i, v)\n",
            &[
                ("index", "address of_integers integer"),
                ("n", "integer"),
                ("out", "address stored integer"),
                ("stride", "integer"),
                ("x", "address integer"),
            ],
        );
    }

    #[test]
    fn a_called_function_says_what_its_arguments_are() {
        check(
            "def inner(p, n):\n    for i in range(0, n):\n        tl.store(p + i, 1.0)\n\ndef k(x, m, s):\n    inner(x + s, n=m)\n",
            &[("m", "integer"), ("s", "integer"), ("x", "address stored integer")],
        );
        // A function that calls itself ends.
        check("def k(x, n):\n    k(x, n)\n    tl.load(x)\n", &[("x", "address integer")]);
    }

    #[test]
    fn descriptors_and_names_that_change_are_followed() {
        check("def k(d, i):\n    d.store([i, 0], d.load([i, 0]))\n", &[("d", "descriptor2 stored"), ("i", "integer")]);
        check(
            "def k(x, n):\n    x += n\n    y = x\n    y = y + 1\n    tl.load(y)\n",
            &[("n", "integer"), ("x", "address integer")],
        );
        check(
            "def k(bits, x):\n    w = tl.load(x) >> 4\n    return w & bits\n",
            &[("bits", "integer"), ("x", "address of_integers integer")],
        );
    }
}
