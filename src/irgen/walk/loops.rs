//! `for` and `while`.
//!
//! A loop over compile-time items (`tl.static_range`, a tuple) is unrolled. Any other becomes `scf.for` or `scf.while`
//! in one pass:
//!
//! 1. Every name that the body assigns and that has a value before the loop becomes a block argument.
//! 2. The body is lowered; what the names are at its end is what the next iteration starts with.
//! 3. Names that did not change (they were assigned on a path not taken) are taken out again: their argument becomes
//!    the value before.
//! 4. The rest are the carried values: initial operands, yield, results.
//!
//! The variables of loops inside have no value where the body begins and behind the loop, since that would depend on
//! how often the loop runs.
//!
//! A negative constant step, which `scf.for` does not have, runs the loop upwards and mirrors the induction variable:
//! `range(8, 0, -1)` is `for t in 0..8` with `i = 8 - t + 0`.

use std::sync::Arc;

use super::scope::Scope;
use super::walker::Walker;
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::dialects::discardable;
use crate::ir::dialects::scf::scf;
use crate::ir::{ArithOp, Block, Loc, Op, Type, Value};
use crate::irgen::emit::{R, Reported, Tensor, in_block};
use crate::irgen::front::assigned::{assigned, assigned_in, bound_by_comprehensions, only_counted};
use crate::irgen::semantic::{convert, faults, fold, items, operators, shape};
use crate::irgen::types::{Ty, promote_ints};
use crate::irgen::value::{Const, Object, Range, RangeKind};
use crate::parser::ast::{Expr, Stmt, StmtKind};
use crate::source::Span;

/// A name that a loop may carry.
struct Carried {
    name: Arc<str>,
    before: Object,
    init: Vec<Value>,
    /// Arguments of the body's block.
    args: Vec<Value>,
}

impl Walker<'_> {
    /// A `for` statement.
    pub fn for_stmt(&mut self, target: &Expr, iter: &Expr, body: &[Stmt], orelse: &[Stmt]) -> R<()> {
        let over = self.expr(iter);
        if !self.frame.host {
            let _ = self.no_loop_else(orelse);
        }
        let over = match over {
            Ok(v) => v,
            Err(e) => {
                self.bind_target(target, Object::Error);
                let scope = self.frame.scope.clone();
                self.stmts(body);
                self.frame.scope = scope;
                self.poison(body);
                return Err(e);
            }
        };
        let unroll = self.frame.host
            || matches!(&over, Object::Tuple(_))
            || matches!(&over, Object::Range(r) if r.kind == RangeKind::Static);
        if unroll {
            let Some(items) = items::iterate(&over) else {
                return Err(self.at(iter.span, |cx| faults::no_unrolling(&mut cx.out, &over, "an unrolled loop")));
            };
            let kept = self.lists_in(iter);
            for item in items {
                if !self.is_live() {
                    break;
                }
                self.bind_unrolled(target, item);
                self.stmts(body);
                if self.frame.host && !self.next_round()? {
                    return Ok(());
                }
            }
            drop(kept);
            if self.frame.host {
                self.stmts(orelse);
            }
            return Ok(());
        }
        let Object::Range(range) = over else {
            return Err(self.at(iter.span, |cx| cx.no_loop_over(&over)));
        };
        self.counted_loop(target, iter, &range, body)
    }

    /// Reports something that a loop cannot run over.
    fn no_loop_over(&mut self, over: &Object) -> Reported {
        if matches!(over, Object::Error) {
            return Reported;
        }
        let help = match over {
            Object::Tensor(t) if t.ty.is_block() => {
                "the elements of a tensor are computed all at once: write the body for the whole tensor"
            }
            Object::Tensor(t) if t.ty.dtype.is_ptr() => {
                "count, and load each element: `for i in range(n): x = tl.load(ptr + i)`"
            }
            _ => "loops run over `range`, `tl.range`, `tl.static_range`, and tuples: write `for i in range(n)`",
        };
        let found = over.describe();
        self.out.error_help(&types::ARGUMENT_TYPE, format!("a loop cannot run over {found}"), "runs over this", help)
    }

    /// The loop variable of an unrolled loop is a compile-time value and not carried by anything.
    fn bind_unrolled(&mut self, target: &Expr, item: Object) {
        match target.as_name() {
            Some(_) => {
                if let crate::parser::ast::ExprKind::Name(name) = &target.kind {
                    self.see_bound(target.span, &item);
                    self.frame.scope.set(name, item);
                }
            }
            None => self.bind_target(target, item),
        }
    }

    fn counted_loop(&mut self, target: &Expr, iter: &Expr, range: &Range, body: &[Stmt]) -> R<()> {
        let crate::parser::ast::ExprKind::Name(iv_name) = &target.kind else {
            return Err(self.out.no_syntax(
                "a loop variable that is not a name",
                "name the variable, and unpack it in the loop's body",
            ));
        };
        let (mut lower, mut upper, mut step) = (range.start.clone(), range.end.clone(), range.step.clone());
        let backwards = step.as_const().and_then(Const::as_int).filter(|&s| s <= 0);
        if let Some(s) = backwards {
            if s == 0 {
                let diag = Diagnostic::error(&types::INT_RANGE, "the step of a range must not be zero");
                let diag = diag.at(iter.span, "never ends");
                return Err(self.out.report(diag.help("give a step of 1 or more, or of -1 or less")));
            }
            std::mem::swap(&mut lower, &mut upper);
            step = Object::int(-s);
        }
        let names = if backwards.is_some() { ["end", "start", "step"] } else { ["start", "end", "step"] };
        let bounds = [&lower, &upper, &step]
            .into_iter()
            .zip(names)
            .map(|(v, name)| self.bound_of(v, name, iter.span))
            .collect::<R<Vec<_>>>()?;
        let bounds = [bounds[0], bounds[1], bounds[2]];
        let dtype = promote_ints(promote_ints(bounds[0].ty.dtype, bounds[1].ty.dtype), bounds[2].ty.dtype);
        let mut operands = bounds.map(|b| b.value);
        for (operand, b) in operands.iter_mut().zip(bounds) {
            *operand = convert::int_cast(&mut self.out, b, dtype, dtype.is_signed())?.value;
        }
        let iv_ty = Ty::scalar(dtype);
        let loc = self.out.loc();
        let [lower, upper, step] = operands;
        let mut state = scf::For::state(loc, lower, upper, step, &[]).regions(1);
        state.attrs.extend_from_slice(&range.attrs);
        let op = self.out.emit(state)?;
        let region = self.out.ir.region(op, 0);
        let block = self.out.ir.add_block(region, &[(iv_ty.to_ir(), Loc::named(iv_name, loc))]);
        self.forget_counted(body, iv_name);
        let mut live = self.frame.scope.clone();
        let carried = self.carry(body, iv_name, &[block], loc);
        let before = std::mem::take(&mut self.frame.defs);
        self.frame.loops += 1;
        let iv = self.out.ir.args(block)[0];
        let (result, _) = in_block(self, block, |cx| -> R<()> {
            let iv = if backwards.is_some() { cx.mirrored(iv, &operands, iv_ty)? } else { iv };
            let iv = Tensor { value: iv, ty: iv_ty }.into();
            cx.see_bound(target.span, &iv);
            cx.set(iv_name, iv);
            cx.stmts(body);
            Ok(())
        });
        self.frame.loops -= 1;
        result?;
        let kept = self.settle(&carried);
        let yields: Vec<Value> = kept.iter().flat_map(|(_, v)| v.values()).collect();
        let state = scf::Yield::state(loc, &yields);
        in_block(self, block, |cx| cx.out.emit(state)).0?;
        self.keep_what_is_left(&mut live);
        self.frame.scope = live;
        self.frame.scope.remove(iv_name);
        self.lose_for_good(iv_name);
        self.close(op, &carried, &kept, &operands, &[(block, 1)], before);
        Ok(())
    }

    /// `upper - t + lower`, see the module's documentation.
    fn mirrored(&mut self, t: Value, bounds: &[Value], ty: Ty) -> R<Value> {
        let from_top = self.out.value(ArithOp::Subi, &[bounds[1], t], ty.to_ir())?;
        self.out.value(ArithOp::Addi, &[from_top, bounds[0]], ty.to_ir())
    }

    /// A bound or step of the range at a place as an integer scalar; `name` says which.
    fn bound_of(&mut self, v: &Object, name: &str, range: Span) -> R<Tensor> {
        let t = convert::to_tensor(&mut self.out, v)?;
        if !t.ty.dtype.is_int() || t.ty.numel() != 1 {
            let found = v.describe();
            let help = match v {
                Object::Const(_) => "count in integers, and compute the number from the loop's variable: `x = i * 0.5`",
                _ if t.ty.is_block() => "reduce the tensor to one value first",
                _ => "convert it with `.to(tl.int32)`, or divide with `//`",
            };
            let message = format!("the {name} of a range must be an integer scalar, found {found}");
            let diag = Diagnostic::error(&types::ARGUMENT_TYPE, message).at(range, format!("its {name} is {found}"));
            return Err(self.out.report(diag.help(help)));
        }
        shape::unsplat(&mut self.out, t)
    }

    /// Makes block arguments (one list in each of the blocks) for the names that the body may change, and binds them to
    /// those of the last.
    fn carry(&mut self, body: &[Stmt], iv: &str, blocks: &[Block], loc: Loc) -> Vec<Carried> {
        let mut changed = assigned(body);
        changed.extend(bound_by_comprehensions(body));
        let candidates: Vec<(Arc<str>, Object)> = self
            .frame
            .scope
            .iter()
            .filter(|(n, v)| &***n != iv && changed.contains(n) && !matches!(v, Object::Error))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let mut carried = vec![];
        for (name, before) in candidates {
            let init = before.values();
            let mut args = vec![];
            for &block in blocks {
                args = init
                    .iter()
                    .map(|&v| {
                        let ty = self.out.ir.ty(v);
                        let arg = self.out.ir.add_arg(block, ty, Loc::named(&name, loc));
                        self.out.starts.insert(arg, v);
                        arg
                    })
                    .collect();
            }
            let inside = before.rebuild(&mut args.clone().into_iter());
            self.frame.scope.set(&name, inside);
            carried.push(Carried { name, before, init, args });
        }
        carried
    }

    /// What each carried name is at the end of the body; leaves out those that did not change, and those that have no
    /// value any more. Reports changes of type.
    fn settle(&mut self, carried: &[Carried]) -> Vec<(usize, Object)> {
        let mut kept = vec![];
        for (i, c) in carried.iter().enumerate() {
            let Some(now) = self.frame.scope.get(&c.name).cloned() else {
                self.lose_for_good(&c.name);
                continue;
            };
            if matches!(now, Object::Error) {
                kept.push((i, Object::Error));
                continue;
            }
            let values = now.values();
            let unchanged = match (&now, &c.before) {
                (Object::Const(a), Object::Const(b)) => a.is(b),
                _ => values == c.args || values == c.init,
            };
            if unchanged && now.ty().is(&c.before.ty()) {
                continue;
            }
            if now.ty().is(&c.before.ty()) {
                kept.push((i, now));
                continue;
            }
            self.loop_types(&c.name, &c.before, &now);
            kept.push((i, Object::Error));
        }
        kept
    }

    /// Forgets compile-time values of names that are nothing but variables of loops inside.
    fn forget_counted(&mut self, body: &[Stmt], iv: &str) {
        for name in only_counted(body).iter().filter(|n| &***n != iv) {
            if matches!(self.frame.scope.get(name), Some(Object::Const(_))) {
                self.frame.scope.remove(name);
                self.lose_for_good(name);
            }
        }
    }

    /// Takes the names out of those before a loop that its body has lost.
    fn keep_what_is_left(&self, live: &mut Scope) {
        let gone = |name: &Arc<str>| self.frame.scope.get(name).is_none();
        let names: Vec<Arc<str>> = live.iter().map(|(name, _)| name.clone()).filter(gone).collect();
        names.iter().for_each(|name| live.remove(name));
    }

    fn loop_types(&mut self, name: &Arc<str>, before: &Object, now: &Object) {
        let (x, y) = (before.ty().to_string(), now.ty().to_string());
        let constant = matches!(before, Object::Const(_));
        let number = matches!(before, Object::Const(c) if c.dtype().is_some());
        let diag = if constant {
            Diagnostic::error(
                &names::REASSIGNED,
                format!("`{name}` is a compile-time value, {}, and the loop changes it", before.describe()),
            )
            .at(self.out.span(), format!("{y} at the end of the loop's body"))
            .help(match now.as_tensor().map(|t| t.ty).filter(|t| !t.dtype.is_ptr()) {
                Some(t) if number => format!(
                    "give it a run-time value before the loop: assign it to a new name, or use `tl.full({:?}, {name}, tl.{})`",
                    t.shape(),
                    t.dtype.attr_name()
                ),
                Some(t) => format!(
                    "start with a value of the type {y}: `{name} = tl.zeros({:?}, tl.{})`",
                    t.shape(),
                    t.dtype.attr_name()
                ),
                None => format!("start with a value of the type {y}, or use another name in the loop"),
            })
        } else {
            Diagnostic::error(
                &types::LOOP_TYPE,
                format!("the loop changes the type of `{name}`: {x} before it, {y} at the end of its body"),
            )
            .at(self.out.span(), "one type is needed in all iterations")
            .help(match now.as_tensor().map(|t| t.ty) {
                Some(t) if t.is_block() && !t.dtype.is_ptr() && before.ty() != now.ty() => {
                    format!(
                        "start with the type {y}, for example `{name} = tl.zeros({:?}, tl.{})`",
                        t.shape(),
                        t.dtype.attr_name()
                    )
                }
                _ => format!(
                    "give `{name}` the type {y} before the loop, or convert it with `.to(...)` at the end of the body"
                ),
            })
        };
        let _ = self.out.report(diag);
    }

    /// Takes unchanged names out of the blocks and gives the operation its operands and results.
    fn close(
        &mut self,
        op: Op,
        carried: &[Carried],
        kept: &[(usize, Object)],
        fixed: &[Value],
        blocks: &[(Block, usize)],
        before: Vec<Arc<str>>,
    ) {
        for &(block, first) in blocks {
            let mut at = first + carried.iter().map(|c| c.init.len()).sum::<usize>();
            for (i, c) in carried.iter().enumerate().rev() {
                at -= c.init.len();
                if kept.iter().any(|(k, v)| *k == i && !matches!(v, Object::Error)) {
                    continue;
                }
                for (j, &init) in c.init.iter().enumerate().rev() {
                    let arg = self.out.ir.args(block)[at + j];
                    self.out.ir.replace_all_uses(arg, init);
                    self.out.ir.remove_arg(block, at + j);
                }
            }
        }
        let mut operands = fixed.to_vec();
        let mut loc = self.out.ir.loc(op);
        for (i, v) in kept {
            if !matches!(v, Object::Error) {
                operands.extend(&carried[*i].init);
                loc = Loc::named(&carried[*i].name, loc);
            }
        }
        self.out.ir.set_operands(op, &operands);
        self.out.ir.set_loc(op, loc);
        let mut changed = vec![];
        for (i, v) in kept {
            let c = &carried[*i];
            changed.push(c.name.clone());
            let tys: Vec<Type> =
                if matches!(v, Object::Error) { vec![] } else { c.init.iter().map(|&v| self.out.ir.ty(v)).collect() };
            let results: Vec<Value> = tys.into_iter().map(|t| self.out.ir.add_result(op, t)).collect();
            let value =
                if matches!(v, Object::Error) { Object::Error } else { c.before.rebuild(&mut results.into_iter()) };
            self.frame.scope.set(&c.name, value);
        }
        let inner = std::mem::take(&mut self.frame.defs);
        for name in inner {
            if self.frame.scope.get(&name).is_none() {
                self.lose(&name);
            }
        }
        self.restore_defs(before, &changed);
    }

    /// A `while` statement.
    pub fn while_stmt(&mut self, test: &Expr, body: &[Stmt], orelse: &[Stmt]) -> R<()> {
        if self.frame.host {
            return self.host_while(test, body, orelse);
        }
        let _ = self.no_loop_else(orelse);
        let loc = self.out.loc();
        let op = self.out.emit(scf::While::state(loc, &[]).regions(2))?;
        let (first, second) = (self.out.ir.region(op, 0), self.out.ir.region(op, 1));
        let (head, inside) = (self.out.ir.add_block(first, &[]), self.out.ir.add_block(second, &[]));
        if let Some(name) = assigned_in(test).first() {
            let message = format!("`{name} := …` in the condition of a `while` is not part of the kernel language");
            return Err(self.at(test.span, |cx| {
                let help = format!("set `{name}` before the loop and at the end of its body");
                cx.out.error_help(&names::NOT_IN_KERNELS, message, "sets a name in each iteration", help)
            }));
        }
        self.forget_counted(body, "");
        let mut live = self.frame.scope.clone();
        let mut carried = self.carry(body, "", &[inside, head], loc);
        let before = std::mem::take(&mut self.frame.defs);
        self.frame.loops += 1;
        let (mut constant, errors) = (None, self.out.errors());
        let (mut cond, _) = in_block(self, head, |cx| {
            let (v, no_licm) = match cx.expr(test)? {
                Object::Condition(c) => (c.0.clone(), c.1),
                v => (v, false),
            };
            if let Object::Const(c) = &v {
                // Its `break` is reported, and says more.
                if c.truth() && leaves(body) {
                    constant = Some(v.clone());
                    return Err(Reported);
                }
                return Err(cx.constant_while(test, &v));
            }
            cx.at(test.span, |cx| operators::condition(&mut cx.out, &v, "a `while`")).map(|t| (t, no_licm))
        });
        self.rebind(&mut carried, inside);
        in_block(self, inside, |cx| cx.stmts(body));
        if let Some(v) = constant.filter(|_| self.out.errors() == errors) {
            cond = Err(self.constant_while(test, &v));
        }
        self.frame.loops -= 1;
        let kept = self.settle(&carried);
        let yields: Vec<Value> = kept.iter().flat_map(|(_, v)| v.values()).collect();
        in_block(self, inside, |cx| cx.out.emit(scf::Yield::state(loc, &yields))).0?;
        if let Ok((cond, no_licm)) = cond {
            let test_loc = self.loc_of(test.span);
            let passed: Vec<Value> = kept
                .iter()
                .filter(|(_, v)| !matches!(v, Object::Error))
                .flat_map(|(i, _)| self.head_args(&carried, *i, head))
                .collect();
            let state = scf::Condition::state(test_loc, cond.value, &passed);
            in_block(self, head, |cx| cx.out.emit(state)).0?;
            if no_licm {
                self.out.ir.put(op, discardable::LOOP_ANNOTATION, operators::no_licm());
            }
        }
        self.keep_what_is_left(&mut live);
        self.frame.scope = live;
        self.close(op, &carried, &kept, &[], &[(head, 0), (inside, 0)], before);
        cond.map(|_| ())
    }

    /// Reports a `while` whose condition never changes.
    fn constant_while(&mut self, test: &Expr, v: &Object) -> Reported {
        let always = matches!(v, Object::Const(c) if c.truth());
        let what = if always { "never ends" } else { "never runs" };
        self.at(test.span, |cx| {
            cx.out.error_help(
                &names::NOT_IN_KERNELS,
                format!("the condition of this `while` is known at compile time: the loop {what}"),
                format!("this is {}", v.describe()),
                "compare something that the body changes; what is known at compile time belongs into an `if`",
            )
        })
    }

    /// Binds the carried names to the arguments of another block.
    fn rebind(&mut self, carried: &mut [Carried], block: Block) {
        let mut args = self.out.ir.args(block).to_vec().into_iter();
        for c in carried {
            c.args = args.clone().take(c.init.len()).collect();
            let value = c.before.rebuild(&mut args);
            self.frame.scope.set(&c.name, value);
        }
    }

    fn head_args(&self, carried: &[Carried], index: usize, head: Block) -> Vec<Value> {
        let start: usize = carried[..index].iter().map(|c| c.init.len()).sum();
        self.out.ir.args(head)[start..start + carried[index].init.len()].to_vec()
    }

    fn host_while(&mut self, test: &Expr, body: &[Stmt], orelse: &[Stmt]) -> R<()> {
        loop {
            let v = self.expr(test)?;
            if !fold::truth(&mut self.out, &v)? {
                self.stmts(orelse);
                return Ok(());
            }
            if !self.is_live() {
                return Ok(());
            }
            let errors = self.out.errors();
            self.stmts(body);
            if self.out.errors() > errors {
                return Err(Reported);
            }
            if !self.next_round()? {
                return Ok(());
            }
        }
    }
}

/// Whether a `break` or a `return` leaves a loop with this body.
fn leaves(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break | StmtKind::Return(_) => true,
        StmtKind::If { branches, orelse } => branches.iter().any(|b| leaves(&b.body)) || leaves(orelse),
        StmtKind::With { body, .. } | StmtKind::Unsupported { body, .. } => leaves(body),
        _ => false,
    })
}
