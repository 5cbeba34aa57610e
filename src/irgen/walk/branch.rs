//! `if`, `elif`, `else` and the ternary.
//!
//! 1. A condition known at compile time picks its branch; the others leave nothing behind.
//! 2. A run-time condition makes `scf.if`. Both branches are lowered from the same scope; a name that differs
//!    afterwards becomes a result.
//! 3. If a branch may return, blocks and `cf.cond_br` are used instead, at the top level of the function only. A branch
//!    that returned has no say in what the names are afterwards.
//!
//! Example: `if c: x = 1.0` (x a float before) becomes `%x = scf.if %c -> (f32) { yield 1.0 } else { yield %x_before
//! }`.

use std::sync::Arc;

use super::scope::Scope;
use super::walker::Walker;
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::dialects::scf::{cf, scf};
use crate::ir::{Block, Value};
use crate::irgen::emit::{R, Reported, Tensor, in_block, quietly};
use crate::irgen::front::assigned::first_return;
use crate::irgen::semantic::{convert, fold, operators};
use crate::irgen::value::{Const, Object};
use crate::parser::ast::{Expr, IfBranch, Stmt};

/// What a branch leaves.
struct Branch {
    scope: Scope,
    defs: Vec<Arc<str>>,
    /// Where it ended; `None` if it returned.
    end: Option<Block>,
}

/// A name with its values at the end of both branches.
struct Merged {
    name: Arc<str>,
    then: Object,
    other: Object,
}

impl Merged {
    /// A name whose value was reported as wrong.
    fn error(name: &Arc<str>) -> Merged {
        Merged { name: name.clone(), then: Object::Error, other: Object::Error }
    }
}

impl Walker<'_> {
    /// An `if` with its `elif`s: the rest of the chain is the `else` of the first.
    pub fn if_stmt(&mut self, branches: &[IfBranch], orelse: &[Stmt]) -> R<()> {
        let Some((first, rest)) = branches.split_first() else {
            self.stmts(orelse);
            return Ok(());
        };
        let cond = match self.expr(&first.test) {
            Ok(cond) => cond,
            Err(e) => {
                self.check_all(branches, orelse);
                return Err(e);
            }
        };
        let Object::Tensor(_) = cond else {
            return if self.at(first.test.span, |cx| cx.known_condition(&cond))? {
                self.stmts(&first.body);
                Ok(())
            } else {
                self.else_part(rest, orelse)
            };
        };
        // Only the place of messages: operations keep the location of the statement.
        let whole = self.out.replace_span(first.test.span);
        let cond = operators::condition(&mut self.out, &cond, "an `if`");
        self.out.replace_span(whole);
        let cond = match cond {
            Ok(cond) => cond,
            Err(e) => {
                self.check_all(branches, orelse);
                return Err(e);
            }
        };
        if let Some(span) = branches.iter().find_map(|b| first_return(&b.body)).or_else(|| first_return(orelse)) {
            if self.frame.loops > 0 {
                return Err(self.at(span, Self::return_in_loop));
            }
            return self.if_blocks(cond, first, rest, orelse);
        }
        self.if_scf(cond, first, rest, orelse)
    }

    /// Whether a condition holds that is known at compile time. In a kernel it is no function or package, which Python
    /// takes for true: a call was forgotten.
    fn known_condition(&mut self, cond: &Object) -> R<bool> {
        let help = match cond {
            Object::Method(_) | Object::Const(Const::Func(_) | Const::Builtin(_) | Const::Lambda(_)) => {
                "it was named but not called: add `()`; whether there is a function at all asks `f is not None`"
            }
            Object::Const(
                Const::Space(_) | Const::Module(_) | Const::Class(_) | Const::HostClass(..) | Const::Type(_),
            ) => "compare it with something, as in `x.dtype == tl.float32`",
            _ => return fold::truth(&mut self.out, cond),
        };
        if self.frame.host {
            return Ok(true);
        }
        let found = match cond {
            Object::Const(Const::Space(space)) => format!("the package {}", space.name()),
            other => other.describe(),
        };
        Err(self.out.error_help(&types::CONDITION, format!("{found} cannot be a condition"), "always true", help))
    }

    fn else_part(&mut self, rest: &[IfBranch], orelse: &[Stmt]) -> R<()> {
        if let Some(next) = rest.first() {
            self.at(next.span, |cx| cx.if_stmt(rest, orelse))
        } else {
            self.stmts(orelse);
            Ok(())
        }
    }

    /// After an error in a condition: looks for further errors in all branches, and forgets what they assign.
    fn check_all(&mut self, branches: &[IfBranch], orelse: &[Stmt]) {
        let (scope, block) = (self.frame.scope.clone(), self.out.block());
        self.doubtful += 1;
        for body in branches.iter().map(|b| b.body.as_slice()).chain([orelse]) {
            self.stmts(body);
            self.frame.scope = scope.clone();
            self.out.replace_block(block);
        }
        self.doubtful -= 1;
        for body in branches.iter().map(|b| b.body.as_slice()).chain([orelse]) {
            self.poison(body);
        }
    }

    /// Lowers one branch from the scope before it.
    fn branch(&mut self, block: Block, live: &Scope, f: impl FnOnce(&mut Self)) -> Branch {
        self.frame.scope = live.clone();
        let before = std::mem::take(&mut self.frame.defs);
        let pending = self.frame.pending.clone();
        let ((), end) = in_block(self, block, f);
        self.frame.pending = pending;
        let defs = std::mem::replace(&mut self.frame.defs, before);
        Branch { scope: std::mem::take(&mut self.frame.scope), defs, end }
    }

    fn if_scf(&mut self, cond: Tensor, first: &IfBranch, rest: &[IfBranch], orelse: &[Stmt]) -> R<()> {
        let live = self.frame.scope.clone();
        let state = scf::If::state(self.out.loc(), cond.value).regions(2);
        let op = self.out.emit(state)?;
        let blocks: Vec<Block> =
            self.out.ir.regions_of(op).to_vec().into_iter().map(|r| self.out.ir.add_block(r, &[])).collect();
        let then = self.branch(blocks[0], &live, |cx| cx.stmts(&first.body));
        let other = self.branch(blocks[1], &live, |cx| _ = cx.else_part(rest, orelse));
        let merged = self.merge(&live, &then, &other);
        self.leave(live, &then, &other);
        let (a, b): (Vec<Value>, Vec<Value>) = (
            merged.iter().flat_map(|m| m.then.values()).collect(),
            merged.iter().flat_map(|m| m.other.values()).collect(),
        );
        for (block, values) in [(then.end, &a), (other.end, &b)] {
            let state = scf::Yield::state(self.out.loc(), values);
            in_block(self, block.unwrap_or(blocks[0]), |cx| cx.out.emit(state)).0?;
        }
        let results: Vec<Value> = a
            .iter()
            .map(|&v| self.out.ir.ty(v))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|t| self.out.ir.add_result(op, t))
            .collect();
        self.bind_merged(&merged, &mut results.into_iter());
        Ok(())
    }

    /// Comes back to the names before two branches, but for those that one of them has lost, and compile-time values
    /// that depend on the branch: these have no value any more.
    fn leave(&mut self, mut live: Scope, then: &Branch, other: &Branch) {
        let lost = |name: &Arc<str>| match (then.scope.get(name), other.scope.get(name)) {
            (Some(a), Some(b)) => is_ambiguous(a, b),
            _ => true,
        };
        let names: Vec<Arc<str>> = live.iter().map(|(name, _)| name.clone()).filter(lost).collect();
        for name in names {
            live.remove(&name);
            self.lose_for_good(&name);
        }
        self.frame.scope = live;
    }

    fn bind_merged(&mut self, merged: &[Merged], values: &mut impl Iterator<Item = Value>) {
        for m in merged {
            let v = m.then.rebuild(values);
            self.set(&m.name, v);
        }
    }

    fn if_blocks(&mut self, cond: Tensor, first: &IfBranch, rest: &[IfBranch], orelse: &[Stmt]) -> R<()> {
        let live = self.frame.scope.clone();
        let (Some(then_block), Some(else_block)) = (self.new_block(), self.new_block()) else {
            return Err(self
                .out
                .no_syntax("a run-time `if` at compile time", "decide it by values known at compile time"));
        };
        let state = cf::CondBr::state(self.out.loc(), cond.value, &[], &[]);
        self.out.emit(state.successors(&[then_block, else_block]))?;
        let then = self.branch(then_block, &live, |cx| cx.stmts(&first.body));
        let other = self.branch(else_block, &live, |cx| _ = cx.else_part(rest, orelse));
        match (then.end, other.end) {
            (None, None) => {
                self.frame.scope = live;
                self.out.replace_block(None);
            }
            (Some(end), None) => self.go_on(then, end),
            (None, Some(end)) => self.go_on(other, end),
            (Some(a), Some(b)) => self.join_blocks(live, &then, &other, [a, b])?,
        }
        Ok(())
    }

    /// Only one branch comes back: its names are the names.
    fn go_on(&mut self, branch: Branch, end: Block) {
        self.frame.scope = branch.scope;
        let before = std::mem::take(&mut self.frame.defs);
        self.restore_defs(before, &branch.defs);
        self.out.replace_block(Some(end));
    }

    fn join_blocks(&mut self, live: Scope, then: &Branch, other: &Branch, ends: [Block; 2]) -> R<()> {
        let merged = self.merge(&live, then, other);
        self.leave(live, then, other);
        let Some(join) = self.new_block() else { return Err(Reported) };
        for (end, values) in [
            (ends[0], merged.iter().flat_map(|m| m.then.values()).collect::<Vec<_>>()),
            (ends[1], merged.iter().flat_map(|m| m.other.values()).collect()),
        ] {
            let state = cf::Br::state(self.out.loc(), &values).successors(&[join]);
            in_block(self, end, |cx| cx.out.emit(state)).0?;
        }
        let mut args = vec![];
        for v in merged.iter().flat_map(|m| m.then.values()) {
            let ty = self.out.ir.ty(v);
            args.push(self.out.ir.add_arg(join, ty, self.out.loc()));
        }
        self.bind_merged(&merged, &mut args.into_iter());
        self.out.replace_block(Some(join));
        Ok(())
    }

    /// Names whose value depends on the branch taken: first those that had a value before and were given another one,
    /// then those that both branches introduce.
    fn merge(&mut self, live: &Scope, then: &Branch, other: &Branch) -> Vec<Merged> {
        let mut merged = vec![];
        for (name, before) in live.iter() {
            let (Some(a), Some(b)) = (then.scope.get(name), other.scope.get(name)) else { continue };
            if matches!((a, b), (Object::Error, _) | (_, Object::Error)) {
                merged.push(Merged::error(name));
                continue;
            }
            if identical(a, before) && identical(b, before) || is_ambiguous(a, b) {
                continue;
            }
            if a.ty().is(&b.ty()) {
                merged.push(Merged { name: name.clone(), then: a.clone(), other: b.clone() });
            } else {
                self.branch_types(name, Some(before), a, b);
                merged.push(Merged::error(name));
            }
        }
        let mut both: Vec<&Arc<str>> =
            then.defs.iter().filter(|n| other.defs.contains(n) && live.get(n).is_none()).collect();
        both.sort();
        for name in both {
            let (Some(a), Some(b)) = (then.scope.get(name), other.scope.get(name)) else { continue };
            if matches!((a, b), (Object::Error, _) | (_, Object::Error)) {
                merged.push(Merged::error(name));
            } else if a.ty().is(&b.ty()) {
                merged.push(Merged { name: name.clone(), then: a.clone(), other: b.clone() });
            } else {
                self.branch_types(name, None, a, b);
                merged.push(Merged::error(name));
            }
        }
        for name in then.defs.iter().chain(&other.defs) {
            if live.get(name).is_none() && !(then.defs.contains(name) && other.defs.contains(name)) {
                self.lose(name);
            }
        }
        merged
    }

    /// The name has no value any more, not even that of the file.
    pub fn lose_for_good(&mut self, name: &Arc<str>) {
        self.lose(name);
        if !self.frame.hiding.contains(name) {
            self.frame.hiding.push(name.clone());
        }
    }

    /// The name has no value any more.
    pub fn lose(&mut self, name: &Arc<str>) {
        if !self.frame.lost.contains(name) {
            self.frame.lost.push(name.clone());
        }
    }

    fn branch_types(&mut self, name: &Arc<str>, before: Option<&Object>, a: &Object, b: &Object) {
        let (x, y) = (a.ty().to_string(), b.ty().to_string());
        let was = before.map(|v| format!(" (it was {} before)", v.ty())).unwrap_or_default();
        let number = |v: &Object| matches!(v, Object::Const(c) if c.as_float().is_some());
        let shapes = |v: &Object| v.as_tensor().map(|t| t.ty.shape());
        let help = match (a, b) {
            _ if before.is_some_and(number) => {
                format!("`{name}` is a compile-time value and cannot depend on a run-time condition: use another name")
            }
            _ if shapes(a).is_some() && shapes(b).is_some() && shapes(a) != shapes(b) => {
                format!("give `{name}` one shape on both paths, for example with `tl.broadcast_to` or other sizes")
            }
            (Object::Tensor(_), Object::Tensor(_)) => {
                format!("give `{name}` one type on both paths, for example with `.to(...)`")
            }
            _ => format!("give `{name}` the same kind of value on both paths, or use two names"),
        };
        let diag = Diagnostic::error(
            &types::BRANCH_TYPE,
            format!("after this `if`, `{name}` would be {x} or {y}, depending on the branch{was}"),
        )
        .at(self.out.span(), format!("{x} if the condition holds, else {y}"))
        .help(help);
        let _ = self.out.report(diag);
    }

    /// The value that both sides have, as in `N = tl.constexpr(8) if HAS_TRITON else 8`.
    fn same_either_way(&mut self, body: &Expr, orelse: &Expr) -> Option<Object> {
        let [a, b] = [body, orelse].map(|side| quietly(self, |cx| cx.expr(side)).ok());
        a.filter(|a| b.is_some_and(|b| fold::same(a, &b)))
    }

    /// `a if c else b`
    pub fn if_expr(&mut self, test: &Expr, body: &Expr, orelse: &Expr) -> R<Object> {
        if self.frame.host
            && quietly(self, |cx| cx.expr(test)).is_err()
            && let Some(value) = self.same_either_way(body, orelse)
        {
            return Ok(value);
        }
        let cond = self.expr(test)?;
        if !matches!(cond, Object::Tensor(_)) {
            let holds = self.at(test.span, |cx| cx.known_condition(&cond))?;
            return if holds { self.expr(body) } else { self.expr(orelse) };
        }
        let cond = operators::condition(&mut self.out, &cond, "a conditional expression")?;
        let state = scf::If::state(self.out.loc(), cond.value).regions(2);
        let op = self.out.emit(state)?;
        let mut values = vec![];
        let (live, mut sides) = (self.frame.scope.clone(), vec![]);
        for (i, e) in [body, orelse].into_iter().enumerate() {
            let region = self.out.ir.region(op, i);
            let block = self.out.ir.add_block(region, &[]);
            let (v, _) = in_block(self, block, |cx| {
                let v = cx.expr(e)?;
                // Two calls for their effects, as in `tl.store(p, x) if c else tl.store(q, x)`.
                let t = if v.is_none() { None } else { Some(convert::to_tensor(&mut cx.out, &v)?) };
                let held: Vec<Value> = t.iter().map(|t| t.value).collect();
                let state = scf::Yield::state(cx.out.loc(), &held);
                cx.out.emit(state)?;
                Ok((t, v))
            });
            values.push(v);
            sides.push(std::mem::replace(&mut self.frame.scope, live.clone()));
        }
        self.lose_what_changed(&sides);
        let [a, b] = values.try_into().map_err(|_| Reported)?;
        let ((a, x), (b, y)) = (a?, b?);
        let (a, b) = match (a, b) {
            (None, None) => return Ok(Object::NONE),
            (Some(a), Some(b)) => (a, b),
            _ => {
                let found = [&x, &y].map(Object::describe);
                return Err(self.out.error_help(
                    &types::BRANCH_TYPE,
                    format!("this expression would be {} or {}, depending on a run-time condition", found[0], found[1]),
                    "one side has no value",
                    "write an `if` statement",
                ));
            }
        };
        if a.ty != b.ty {
            return Err(self.out.error_help(
                &types::BRANCH_TYPE,
                format!("this expression would be {} or {}, depending on a run-time condition", a.ty, b.ty),
                "the two sides differ in type",
                "convert one of them, or use `tl.where`",
            ));
        }
        let value = self.out.ir.add_result(op, a.ty.to_ir());
        Ok(Tensor { value, ty: a.ty }.into())
    }

    /// Names that one side of an expression has bound have no value behind it.
    fn lose_what_changed(&mut self, sides: &[Scope]) {
        for (name, v) in sides.iter().flat_map(Scope::iter) {
            if !self.frame.scope.get(name).is_some_and(|before| identical(v, before)) {
                self.frame.scope.remove(name);
                self.lose_for_good(name);
            }
        }
    }

    /// Reports an `else` on a loop.
    pub fn no_loop_else(&mut self, orelse: &[Stmt]) -> R<()> {
        match orelse.first() {
            Some(s) => {
                self.out.replace_span(s.span);
                Err(self.out.error_help(
                    &names::NOT_IN_KERNELS,
                    "`else` on a loop is not part of the kernel language",
                    "the loop's `else`",
                    "put its statements behind the loop: without `break` they always run",
                ))
            }
            None => Ok(()),
        }
    }
}

/// Whether two values at the ends of two branches are of compile time and differ.
fn is_ambiguous(a: &Object, b: &Object) -> bool {
    let is_known = |v: &Object| !matches!(v, Object::Error | Object::Tensor(_)) && v.values().is_empty();
    is_known(a) && is_known(b) && !a.ty().is(&b.ty())
}

/// Whether two values are one: the same run-time values, and compile-time values of the same kind.
fn identical(a: &Object, b: &Object) -> bool {
    a.values() == b.values() && a.ty().is(&b.ty())
}
