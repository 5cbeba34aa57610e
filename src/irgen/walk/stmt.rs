//! Statements other than control flow.
//!
//! Assigning a Python number makes it a run-time scalar (`x = 0` is an `int32`), as Triton does; a name annotated
//! `tl.constexpr` keeps the compile-time value. A statement that fails binds its targets to [`Object::Error`], so that
//! later uses report nothing again.

use std::sync::Arc;

use super::frame::{Jump, Return};
use super::host;
use super::walker::Walker;
use crate::diag::codes::names;
use crate::ir::rewrite::region_dce::erase_unreachable;
use crate::irgen::builtins;
use crate::irgen::emit::{R, Reported, quietly};
use crate::irgen::front::advice;
use crate::irgen::front::assigned::assigned;
use crate::irgen::front::top_level::Bound;
use crate::irgen::semantic::{arith, convert, fold, operators};
use crate::irgen::value::{Class, Const, Object};
use crate::parser::ast::{BinOp, Expr, ExprKind, Stmt, StmtKind};

/// What to write instead of `break` and `continue`: loops of the GPU dialects have one way out.
pub const NO_JUMP: &str =
    "put the rest of the body under an `if`; to end a loop early, write a `while` whose condition says so";

impl Walker<'_> {
    /// Lowers statements up to the first that ends the control flow.
    pub fn stmts(&mut self, body: &[Stmt]) {
        for (i, stmt) in body.iter().enumerate() {
            if !self.is_live() {
                if self.frame.host {
                    self.refuse_finally(&body[i..]);
                }
                let is_return = i > 0 && matches!(body[i - 1].kind, StmtKind::Return(_));
                if !is_return && !self.frame.host {
                    self.look_behind_return(&body[i..]);
                }
                break;
            }
            if self.at(stmt.span, |cx| cx.out.step()).is_err() {
                if self.frame.host {
                    self.frame.host_result = Some(Object::Error);
                }
                break;
            }
            self.naming = None;
            let done = self.at(stmt.span, |cx| cx.stmt(stmt));
            // An exception ends a Python function; a kernel is checked to its end.
            if done.is_err() && self.frame.host {
                self.frame.host_result = Some(Object::Error);
            }
            // In a function of the library what follows would only say the same again.
            if done.is_err() && self.mods.get(self.frame.module).prelude {
                self.poison(&body[i..]);
                break;
            }
        }
    }

    /// Reports a `finally` behind a `return`, which would run all the same.
    fn refuse_finally(&mut self, rest: &[Stmt]) {
        for stmt in rest {
            let StmtKind::Unsupported { keyword, .. } = &stmt.kind else { return };
            if !matches!(&**keyword, "except" | "else" | "finally") {
                return;
            }
            if &**keyword == "finally" && !matches!(self.frame.host_result, Some(Object::Error)) {
                self.frame.host_result = Some(Object::Error);
                let _ = self.at(stmt.span, |cx| cx.out.unsupported("a `finally` behind a `return`"));
                return;
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> R<()> {
        match &stmt.kind {
            // A docstring.
            StmtKind::Expr(Expr { kind: ExprKind::Constant(_), .. }) | StmtKind::Pass => Ok(()),
            StmtKind::Expr(Expr { kind: ExprKind::Call(call), .. }) if self.frame.host => match self.host_call(call) {
                Some(done) => done,
                None => self.call_expr(call).map(|_| ()),
            },
            StmtKind::Expr(e) => self.expr(e).map(|_| ()),
            StmtKind::Assign { targets, value } => self.assign(targets, value),
            StmtKind::AnnAssign { target, annotation, value } => self.annotated(target, annotation, value.as_ref()),
            StmtKind::AugAssign { target, op, value } => self.augmented(target, *op, value),
            StmtKind::If { branches, orelse } => self.if_stmt(branches, orelse),
            StmtKind::For { target, iter, body, orelse } => self.for_stmt(target, iter, body, orelse),
            StmtKind::While { test, body, orelse } => self.while_stmt(test, body, orelse),
            StmtKind::Return(value) => self.return_stmt(stmt, value.as_ref()),
            StmtKind::Assert { test, msg } => self.assert_stmt(test, msg.as_ref()),
            StmtKind::Raise { exc, .. } => self.raise_stmt(exc.as_ref()),
            StmtKind::With { items, body } => {
                let failed = self.out.no_syntax("`with`", advice::statement("with"));
                items.iter().filter_map(|i| i.target.as_ref()).for_each(|t| self.bind_target(t, Object::Error));
                self.stmts(body);
                Err(failed)
            }
            StmtKind::FunctionDef(f) if self.frame.host => {
                let module = self.frame.module;
                let function = if f.is_jit {
                    self.bound(module, &Bound::Function(Arc::new((**f).clone()))).unwrap_or(Object::Error)
                } else {
                    self.inner_function(f)?
                };
                self.set(&f.name.name, function);
                Ok(())
            }
            StmtKind::FunctionDef(f) => {
                self.set(&f.name.name, Object::Error);
                Err(self.out.error_help(
                    &names::NOT_IN_KERNELS,
                    "a function inside a kernel is not part of the kernel language",
                    "nested function",
                    "move it to the top level and decorate it with `@triton.jit`",
                ))
            }
            StmtKind::Break if self.frame.host => {
                self.frame.jump = Some(Jump::Break);
                Ok(())
            }
            StmtKind::Continue if self.frame.host => {
                self.frame.jump = Some(Jump::Continue);
                Ok(())
            }
            StmtKind::Break => Err(self.out.no_syntax("`break`", NO_JUMP)),
            StmtKind::Continue => Err(self.out.no_syntax("`continue`", NO_JUMP)),
            StmtKind::Del(_) => Err(self.out.no_syntax("`del`", advice::statement("del"))),
            StmtKind::Global(_) => Err(self.out.no_syntax("`global`", advice::statement("global"))),
            StmtKind::Nonlocal(_) => Err(self.out.no_syntax("`nonlocal`", advice::statement("nonlocal"))),
            StmtKind::Import(_) | StmtKind::ImportFrom(_) if self.frame.host => {
                self.host_import(stmt);
                Ok(())
            }
            StmtKind::Unsupported { keyword, body } if self.frame.host && &**keyword == "try" => self.host_try(body),
            StmtKind::Unsupported { keyword, body } if self.frame.host && host::passes_through(keyword) => {
                // If the body of a `try` fails, so does the function: what Python would have raised is not known.
                if &**keyword != "except" {
                    self.stmts(body);
                }
                Ok(())
            }
            StmtKind::Import(_) | StmtKind::ImportFrom(_) => {
                self.host_import(stmt);
                Err(self.out.no_syntax("an import inside a kernel", advice::statement("import")))
            }
            StmtKind::Unsupported { keyword, body } => self.unsupported_stmt(keyword, body),
        }
    }

    /// Evaluates the right-hand side of an assignment; operations are named after a single target.
    fn rhs(&mut self, target: Option<&Expr>, f: impl FnOnce(&mut Self) -> R<Object>) -> R<Object> {
        let name = target.and_then(|t| match &t.kind {
            ExprKind::Name(name) => Some(name.clone()),
            _ => None,
        });
        self.naming.clone_from(&name);
        if name.is_some() {
            let loc = self.loc_of(self.out.span());
            self.out.set_loc(loc);
        }
        let value = f(self).and_then(|v| target.map_or(Ok(v.clone()), |target| self.held(target, &v)));
        self.naming = None;
        value
    }

    fn assign(&mut self, targets: &[Expr], value: &Expr) -> R<()> {
        let value = self.rhs(targets.first(), |cx| cx.expr(value));
        for target in targets {
            self.bind_target(target, value.clone().unwrap_or(Object::Error));
        }
        value.map(|_| ())
    }

    /// The value as a target holds it: as it is, where the target was declared `tl.constexpr`.
    pub fn held(&mut self, target: &Expr, v: &Object) -> R<Object> {
        match (&target.kind, v) {
            (ExprKind::Name(name), _) if self.frame.pending.contains(name) => Ok(v.clone()),
            (ExprKind::Tuple(targets) | ExprKind::List(targets), Object::Tuple(items))
                if targets.len() == items.len() =>
            {
                let pairs = targets.iter().zip(items.iter());
                Ok(Object::sequence(items.form, pairs.map(|(target, v)| self.held(target, v)).collect::<R<_>>()?))
            }
            _ => self.assignable(v),
        }
    }

    /// The value as a variable holds it: numbers become run-time scalars, unless Python itself is being evaluated.
    pub fn assignable(&mut self, v: &Object) -> R<Object> {
        match v {
            _ if self.frame.host => Ok(v.clone()),
            Object::Const(c) if c.dtype().is_some() => Ok(convert::to_tensor(&mut self.out, v)?.into()),
            Object::Tuple(items) => Ok(Object::tuple(items.iter().map(|v| self.assignable(v)).collect::<R<_>>()?)),
            Object::Error => Err(Reported),
            _ => Ok(v.clone()),
        }
    }

    /// Binds a target to a value; tuples are unpacked.
    pub fn bind_target(&mut self, target: &Expr, value: Object) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.see_bound(target.span, &value);
                self.frame.pending.retain(|n| n != name);
                self.set(name, value);
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => self.unpack(target, targets, &value),
            ExprKind::Subscript { .. } if self.frame.host => {
                self.out.replace_span(target.span);
                if self.assign_item(target, value).is_err() {
                    self.frame.host_result = Some(Object::Error);
                }
            }
            ExprKind::Subscript { value: base, .. } => {
                self.out.replace_span(target.span);
                let _ = self.no_item(base);
            }
            _ => {
                self.out.replace_span(target.span);
                let _ = self.out.no_syntax(
                    "assignment to anything but names",
                    "values have no attributes to set: give the result a name of its own",
                );
            }
        }
    }

    /// Reports an assignment to an element.
    fn no_item(&mut self, base: &Expr) -> Reported {
        let held = base.as_name().and_then(|n| self.frame.scope.get(n));
        let (message, help) = match held {
            Some(Object::Tensor(t)) if t.ty.dtype.is_ptr() => (
                "memory cannot be assigned to through an index",
                "write with `tl.store(ptr + i, value)`, and read with `tl.load(ptr + i)`; where programs share the memory, `tl.atomic_add(ptr + i, x)` adds",
            ),
            Some(Object::Tuple(_)) => (
                "a list in a kernel cannot change",
                "lists are tuples here: make a new one, or use a name for each value",
            ),
            _ => (
                "elements of a tensor cannot be assigned",
                "use `tl.where` to change some elements, as in `x = tl.where(mask, x + 1, x)`, or `tl.store` to write memory",
            ),
        };
        self.out.error_help(&names::NOT_IN_KERNELS, message, "assignment to an element", help)
    }

    fn unpack(&mut self, target: &Expr, targets: &[Expr], value: &Object) {
        if let Some(star) = targets.iter().find(|t| matches!(t.kind, ExprKind::Starred(_))) {
            self.out.replace_span(star.span);
            let _ = self
                .no_syntax("a starred target", "name each value, or take a slice of the tuple: `rest = values[1:]`");
            return targets.iter().for_each(|t| self.forget_target(t));
        }
        let items: Vec<Object> = match value {
            Object::Tuple(items) if items.len() == targets.len() => items.to_vec(),
            Object::Error => vec![Object::Error; targets.len()],
            other => {
                self.out.replace_span(target.span);
                let found = other.describe();
                let help = match other {
                    Object::Tuple(items) if items.len() > targets.len() => {
                        format!("write {} names (`_` for what is not used), or take a slice of the tuple", items.len())
                    }
                    Object::Tuple(items) => format!("the tuple has {} values: name those", items.len()),
                    Object::Tensor(t) if t.ty.shape().last() == Some(&2) => {
                        "`tl.split(x)` gives the two halves along the last dimension".to_owned()
                    }
                    _ => "only tuples can be unpacked; give the value one name".to_owned(),
                };
                let _ = self.out.error_help(
                    &names::UNPACK,
                    format!("cannot unpack {found} into {} names", targets.len()),
                    format!("{} names", targets.len()),
                    help,
                );
                vec![Object::Error; targets.len()]
            }
        };
        for (t, v) in targets.iter().zip(items) {
            self.bind_target(t, v);
        }
    }

    fn annotated(&mut self, target: &Expr, annotation: &Expr, value: Option<&Expr>) -> R<()> {
        let known = quietly(self, |cx| cx.expr(annotation));
        if known.is_err() && !self.frame.host && self.is_misspelt(annotation) {
            let _ = self.expr(annotation);
        }
        let class = known.ok().as_ref().and_then(Object::as_class);
        let constexpr = class == Some(Class::Constexpr);
        let ExprKind::Name(name) = &target.kind else {
            return Err(self.out.no_syntax("an annotation on anything but a name", "leave the annotation out"));
        };
        let Some(value) = value else {
            if constexpr {
                self.frame.pending.push(name.clone());
            }
            return Ok(());
        };
        if !constexpr {
            return self.assign(std::slice::from_ref(target), value);
        }
        if matches!(self.frame.scope.get(name), Some(Object::Tensor(_))) {
            self.frame.scope.set(name, Object::Error);
            return Err(self.out.error_help(
                &names::REASSIGNED,
                format!("`{name}` is a run-time value already and cannot become a compile-time one"),
                "declared `tl.constexpr` here",
                "use another name",
            ));
        }
        let v = self.expr(value);
        if let Ok(v) = &v {
            self.see_bound(target.span, v);
        }
        self.frame.scope.set(name, v.clone().unwrap_or(Object::Error));
        v.map(|_| ())
    }

    /// Whether an annotation is a name that nothing binds, or a member that a package of Triton's lacks.
    fn is_misspelt(&mut self, annotation: &Expr) -> bool {
        match &annotation.kind {
            ExprKind::Name(name) => {
                let module = self.mods.binder(self.frame.module, name);
                let top = self.mods.get(module);
                !top.binds(name) && top.stars().is_empty()
            }
            ExprKind::Attribute { value, .. } => {
                matches!(quietly(self, |cx| cx.expr(value)), Ok(Object::Const(Const::Space(_))))
            }
            _ => false,
        }
    }

    fn augmented(&mut self, target: &Expr, op: BinOp, value: &Expr) -> R<()> {
        if !matches!(target.kind, ExprKind::Name(_)) {
            let _ = self.expr(value);
            if let ExprKind::Subscript { value: base, .. } = &target.kind {
                return Err(self.at(target.span, |cx| cx.no_item(base)));
            }
            return Err(self.out.no_syntax(
                "an augmented assignment to anything but a name",
                "values have no attributes to set: give the result a name of its own",
            ));
        }
        if let ExprKind::Name(name) = &target.kind
            && self.frame.host
            && op == BinOp::Add
        {
            // A list grows in place.
            self.own(name)?;
        }
        let result = self.rhs(Some(target), |cx| {
            let (a, b) = (cx.expr(target), cx.expr(value));
            operators::binary(&mut cx.out, op, &a?, &b?)
        });
        self.bind_target(target, result.clone().unwrap_or(Object::Error));
        result.map(|_| ())
    }

    fn return_stmt(&mut self, stmt: &Stmt, value: Option<&Expr>) -> R<()> {
        let value = match value {
            Some(e) => self.expr(e),
            None => Ok(Object::NONE),
        };
        if self.frame.host {
            self.frame.host_result = Some(value.clone().unwrap_or(Object::Error));
            return value.map(|_| ());
        }
        if self.frame.loops > 0 {
            return Err(self.return_in_loop());
        }
        if let (Ok(value), Some(block)) = (&value, self.out.block()) {
            self.frame.returns.push(Return { block, loc: self.out.loc(), value: value.clone(), span: stmt.span });
        }
        self.out.replace_block(None);
        value.map(|_| ())
    }

    /// Looks at what stands behind a `return` that a compile-time `if` runs. Nothing of it is kept but the types of
    /// what it would return: a number that is returned takes the type that all `return`s share, as in Triton.
    fn look_behind_return(&mut self, rest: &[Stmt]) {
        let is_number = |v: &Object| match v {
            Object::Const(c) => c.dtype().is_some(),
            Object::Tuple(_) => true,
            _ => false,
        };
        if self.frame.loops > 0 || !self.frame.returns.last().is_some_and(|r| is_number(&r.value)) {
            return;
        }
        let Some(block) = self.new_block() else { return };
        let known = self.frame.returns.len();
        let names = (self.frame.scope.clone(), self.frame.defs.clone(), self.frame.pending.clone());
        self.out.replace_block(Some(block));
        let _: R<()> = quietly(self, |cx| {
            cx.stmts(rest);
            Ok(())
        });
        self.out.replace_block(None);
        (self.frame.scope, self.frame.defs, self.frame.pending) = names;
        let behind = self.frame.returns.split_off(known);
        self.frame.behind.extend(behind.iter().map(|r| r.value.ty()));
        if let Some(region) = self.frame.region {
            erase_unreachable(&mut self.out.ir, region);
        }
    }

    /// A `return` where structured control flow has no way out.
    pub fn return_in_loop(&mut self) -> Reported {
        self.out.error_help(
            &names::RETURN_IN_LOOP,
            "a kernel cannot return from inside a loop",
            "this would leave the loop",
            "put the condition into the loop's bounds or mask, or use a `while` whose condition ends it",
        )
    }

    /// `assert` is `tl.device_assert`: checked on the device, in debug mode only.
    fn assert_stmt(&mut self, test: &Expr, msg: Option<&Expr>) -> R<()> {
        let test = self.expr(test);
        let msg = msg.map_or(Ok(Object::NONE), |m| self.expr(m));
        let (test, msg) = (test?, msg?);
        if self.frame.host {
            if fold::truth(&mut self.out, &test)? {
                return Ok(());
            }
            let text = if msg.is_none() { String::new() } else { format!(": {}", msg.show()) };
            return Err(self.out.error_help(
                &names::RAISED,
                format!("an assertion of a function that runs at compile time fails{text}"),
                "this does not hold",
                "change the compile-time values that lead here",
            ));
        }
        let text = if msg.is_none() { String::new() } else { msg.show() };
        builtins::asserted(&mut self.out, &test)?;
        if self.out.settings().debug {
            let cond = convert::to_tensor(&mut self.out, &test)?;
            arith::device_assert(&mut self.out, cond, &text)?;
        }
        Ok(())
    }

    fn raise_stmt(&mut self, exc: Option<&Expr>) -> R<()> {
        if self.doubtful > 0 {
            return Err(Reported);
        }
        let (class, text) = match exc.map(|e| &e.kind) {
            Some(ExprKind::Call(call)) => {
                let args = quietly(self, |cx| cx.exprs(&call.args)).unwrap_or_default();
                (call.func.dotted(), args.first().map(Object::show).unwrap_or_default())
            }
            _ => (exc.and_then(Expr::dotted), String::new()),
        };
        let class =
            class.and_then(|path| path.last().map(|n| (*n).to_owned())).unwrap_or_else(|| "an exception".to_owned());
        let colon = if text.is_empty() { "" } else { ": " };
        let entry = self.frame.region.and_then(|region| self.out.ir.entry(region));
        let help = if self.frame.host || self.out.block() == entry {
            "the compile-time values lead here: change those, or what the kernel provides for"
        } else {
            "nothing is raised on a GPU: check with `tl.device_assert(cond, \"text\")`, or make what the `if` asks a `tl.constexpr`"
        };
        Err(self.out.error_help(&names::RAISED, format!("the kernel raises {class}{colon}{text}"), "raised here", help))
    }

    /// A compound statement that kernels do not have. Its blocks are checked as far as they would run, and what they
    /// assign is not reported as missing.
    fn unsupported_stmt(&mut self, keyword: &str, body: &[Stmt]) -> R<()> {
        match keyword {
            // The other parts of a `try` were reported with it.
            "except" | "else" | "finally" => {
                self.poison(body);
                Ok(())
            }
            "try" => {
                let failed = self.out.no_syntax("`try`", advice::statement("try"));
                self.stmts(body);
                Err(failed)
            }
            _ => {
                let failed = self.out.no_syntax(&format!("`{keyword}`"), advice::statement(keyword));
                self.poison(body);
                Err(failed)
            }
        }
    }

    /// Binds the names of a target that was reported as wrong.
    fn forget_target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Starred(inner) => self.forget_target(inner),
            _ => self.bind_target(target, Object::Error),
        }
    }

    /// Binds every name that the statements assign to an erroneous value.
    pub fn poison(&mut self, body: &[Stmt]) {
        for name in assigned(body) {
            self.set(&name, Object::Error);
        }
    }

    /// Names set since `start`, for the enclosing branch.
    pub fn restore_defs(&mut self, mut before: Vec<Arc<str>>, added: &[Arc<str>]) {
        for name in added {
            if !before.contains(name) {
                before.push(name.clone());
            }
        }
        self.frame.defs = before;
    }
}
