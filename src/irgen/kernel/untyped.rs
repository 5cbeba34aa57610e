//! What can be said of kernels whose parameters have no types: names, members of packages, keywords of calls, and
//! statements that kernels do not have.
//!
//! 1. Every `@triton.jit` function of a file is walked once, but for those that a typed kernel reaches: lowering those
//!    says more.
//! 2. Code is *certain* if every compilation reaches it. What stands under an `if` is certain only if the condition is
//!    a run-time value: of an `if` that compile-time values decide one side is never compiled, and may name what does
//!    not exist. An `if` that constants of the file decide is decided.
//! 3. A fault in certain code is an error, the message being the one of lowering; elsewhere it is a warning.
//! 4. Names that `-D` can give (what host code computes) are not reported: the value may come later.
//!
//! Example: `tl.aragne(0, B)` is an error without any type; `if USE_TMA: tl.new_function(x)` a warning.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::entry::unread;
use super::faults;
use super::request::start;
use crate::diag::{Diagnostic, Severity};
use crate::ir::MAX_OPS;
use crate::irgen::builtins;
use crate::irgen::emit::{Emits, Settings, quietly};
use crate::irgen::front::advice;
use crate::irgen::front::assigned::assigned;
use crate::irgen::front::launch::Launch;
use crate::irgen::front::top_level::Bound;
use crate::irgen::semantic::fold;
use crate::irgen::value::{Const, Func, Object};
use crate::irgen::walk::{NO_DICT, NO_JUMP, Walker};
use crate::parser::ast::{Call, CmpOp, Comp, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use crate::parser::visit;
use crate::source::{FileId, SourceMap, Span};
use crate::target::Target;

/// Builtins whose result exists only at run time, whatever they are given.
const RUN_TIME: [&str; 12] = [
    "program_id",
    "num_programs",
    "load",
    "arange",
    "zeros",
    "full",
    "rand",
    "randn",
    "randint",
    "dot",
    "sum",
    "make_tensor_descriptor",
];

/// Faults of the functions of a file that need no types to be seen. `typed` names the kernels that are checked with
/// their types.
#[must_use]
pub fn check_untyped(
    map: &mut SourceMap,
    file: FileId,
    include_dirs: &[PathBuf],
    typed: &[String],
    defines: &[String],
) -> Vec<Diagnostic> {
    let settings = Settings { target: Target::usual(), launch: Launch::default(), debug: false, max_ops: MAX_OPS };
    let (mut cx, module) = start(map, file, include_dirs, settings);
    let functions = cx.modules().get(module).functions.clone();
    let reached = reached(&functions, typed);
    for def in functions.iter().filter(|f| f.is_jit && !f.broken && !reached.contains(&*f.name.name)) {
        let nested =
            functions.iter().any(|f| f.span != def.span && f.span.lo <= def.span.lo && def.span.hi <= f.span.hi);
        let func = Func::new(def.clone(), cx.modules_mut().home(module, def), true);
        if !nested {
            let _ = cx.check_annotations(&func);
            faults::check_nearly_types(&mut cx, &func);
        }
        for certain in [true, false] {
            let mut scan = Scan::new(&mut cx, def, certain, nested);
            scan.given.extend(defines.iter().cloned());
            scan.body(&def.body, true, 0);
        }
    }
    let mut diags = cx.out().take_diags();
    diags.extend((0..cx.modules().len()).filter(|&m| m != module).flat_map(|import| unread(&cx, import)));
    diags.sort_by_key(|d| match d.place() {
        Some(crate::diag::Place::Span(s)) => (s.file.0, s.lo),
        _ => (u32::MAX, 0),
    });
    diags
}

/// The names of functions that the typed kernels call, directly or not, and their own.
fn reached(functions: &[Arc<FunctionDef>], typed: &[String]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = typed.iter().cloned().collect();
    loop {
        let before = found.len();
        for f in functions.iter().filter(|f| found.contains(&*f.name.name)).cloned().collect::<Vec<_>>() {
            visit::statements(&f.body, &mut |stmt| {
                for e in visit::own_expressions(stmt) {
                    visit::expressions(e, &mut |e| {
                        if let Some(name) = e.as_name().filter(|n| functions.iter().any(|f| *f.name.name == **n)) {
                            found.insert(name.to_owned());
                        }
                    });
                }
            });
        }
        if found.len() == before {
            return found;
        }
    }
}

/// One walk over a function.
struct Scan<'a, 'm> {
    cx: &'a mut Walker<'m>,
    /// Whether this walk reports certain code, or the rest.
    certain: bool,
    /// Whether the function stands in another one, whose names it may use.
    nested: bool,
    /// Local names whose value exists only at run time.
    run_time: BTreeSet<Arc<str>>,
    given: BTreeSet<String>,
}

impl<'a, 'm> Scan<'a, 'm> {
    fn new(cx: &'a mut Walker<'m>, def: &FunctionDef, certain: bool, nested: bool) -> Scan<'a, 'm> {
        cx.begin_untyped(def.params.iter().map(|p| p.name.name.clone()).chain(assigned(&def.body)));
        let mut scan = Scan { cx, certain, nested, run_time: BTreeSet::new(), given: BTreeSet::new() };
        scan.find_run_time(&def.body);
        scan
    }

    /// Names that some assignment gives a run-time value and no other one: a name that is set to something unknown as
    /// well is not counted.
    fn find_run_time(&mut self, body: &[Stmt]) {
        for _ in 0..4 {
            let (mut yes, mut no) = (BTreeSet::new(), BTreeSet::new());
            visit::statements(body, &mut |stmt| match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    for name in targets.iter().filter_map(name_of) {
                        if self.is_run_time(value) {
                            yes.insert(name)
                        } else {
                            no.insert(name)
                        };
                    }
                }
                StmtKind::For { target, iter, .. } => {
                    let counted = matches!(&iter.kind, ExprKind::Call(c) if c.func.dotted().is_some_and(|p| p.last() == Some(&"range")));
                    if let (Some(name), true) = (name_of(target), counted) {
                        yes.insert(name);
                    }
                }
                _ => {}
            });
            self.run_time = yes.difference(&no).cloned().collect();
        }
    }

    /// Whether the value surely exists only at run time.
    fn is_run_time(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.run_time.contains(name),
            ExprKind::Call(call) => match &call.func.kind {
                ExprKind::Attribute { value, attr } => {
                    let package = value.as_name() == Some("tl");
                    package && RUN_TIME.contains(&&*attr.name)
                        || !package && *attr.name == *"to" && self.is_run_time(value)
                }
                _ => false,
            },
            ExprKind::BinOp { left, right, .. } => self.is_run_time(left) || self.is_run_time(right),
            ExprKind::UnaryOp { operand, .. } => self.is_run_time(operand),
            ExprKind::Compare { left, rest } => {
                let plain =
                    rest.iter().all(|(op, _)| !matches!(op, CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn));
                plain && (self.is_run_time(left) || rest.iter().any(|(_, e)| self.is_run_time(e)))
            }
            _ => false,
        }
    }

    /// The outcome of a condition that constants of the file decide.
    fn decided(&mut self, test: &Expr) -> Option<bool> {
        let mut local = false;
        visit::expressions(test, &mut |e| {
            local |= e.as_name().is_some_and(|n| self.cx.is_local(n) || self.given.contains(n));
        });
        if local {
            return None;
        }
        let v = self.cx.evaluate(self.cx.module(), test)?;
        quietly(self.cx.out(), |cx| fold::truth(cx, &v)).ok()
    }

    /// Reports through `fault` if this walk is the one for such code, as a warning if the code is not certain.
    fn fault(&mut self, certain: bool, at: Span, fault: impl FnOnce(&mut Walker<'m>)) {
        if certain != self.certain {
            return;
        }
        let known = self.cx.out().diags().len();
        self.cx.out().replace_span(at);
        fault(self.cx);
        if !certain {
            for d in self.cx.out().diags_from(known) {
                d.severity = Severity::Warning;
                d.notes
                    .push("this stands under an `if`: if compile-time values decide that it is never reached, it does no harm".to_owned());
            }
        }
    }

    // ---- statements ----

    fn body(&mut self, body: &[Stmt], certain: bool, loops: u32) {
        for stmt in body {
            self.stmt(stmt, certain, loops);
            if matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Raise { .. }) {
                break;
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, certain: bool, loops: u32) {
        let lacks = |scan: &mut Self, what: &str, help: &str| {
            let (what, help) = (format!("`{what}`"), help.to_owned());
            scan.fault(certain, stmt.span, |cx| _ = cx.out().no_syntax(&what, &help));
        };
        match &stmt.kind {
            // The arguments of an exception are not compiled.
            StmtKind::Raise { .. } => return,
            StmtKind::If { branches, orelse } => return self.if_stmt(branches, orelse, certain, loops),
            StmtKind::For { iter, body, orelse, .. } => {
                self.expr(iter, certain);
                self.body(body, certain, loops + 1);
                return self.body(orelse, certain, loops);
            }
            StmtKind::While { test, body, .. } => {
                self.expr(test, certain);
                return self.body(body, certain, loops + 1);
            }
            StmtKind::Break => lacks(self, "break", NO_JUMP),
            StmtKind::Continue => lacks(self, "continue", NO_JUMP),
            StmtKind::Del(_) => return lacks(self, "del", advice::statement("del")),
            StmtKind::Global(_) => lacks(self, "global", advice::statement("global")),
            StmtKind::Nonlocal(_) => lacks(self, "nonlocal", advice::statement("nonlocal")),
            StmtKind::Import(_) | StmtKind::ImportFrom(_) => lacks(self, "import", advice::statement("import")),
            StmtKind::FunctionDef(_) => {
                return lacks(self, "def", "move the function to the top level and decorate it with `@triton.jit`");
            }
            StmtKind::With { body, .. } => {
                lacks(self, "with", advice::statement("with"));
                return self.body(body, certain, loops);
            }
            StmtKind::Unsupported { keyword, body } => {
                if !matches!(&**keyword, "except" | "else" | "finally") {
                    lacks(self, keyword, advice::statement(keyword));
                }
                if &**keyword == "try" {
                    self.body(body, certain, loops);
                }
                return;
            }
            StmtKind::AnnAssign { value, .. } => return value.iter().for_each(|e| self.expr(e, certain)),
            StmtKind::Assign { value, .. } | StmtKind::AugAssign { value, .. } => return self.expr(value, certain),
            _ => {}
        }
        for e in visit::own_expressions(stmt) {
            self.expr(e, certain);
        }
    }

    fn if_stmt(&mut self, branches: &[crate::parser::ast::IfBranch], orelse: &[Stmt], certain: bool, loops: u32) {
        let mut certain = certain;
        for b in branches {
            self.expr(&b.test, certain);
            match self.decided(&b.test) {
                Some(true) => return self.body(&b.body, certain, loops),
                Some(false) => {}
                None => {
                    certain = certain && self.is_run_time(&b.test);
                    self.body(&b.body, certain, loops);
                }
            }
        }
        self.body(orelse, certain, loops);
    }

    // ---- expressions ----

    fn expr(&mut self, e: &Expr, certain: bool) {
        match &e.kind {
            ExprKind::Name(name) => self.name(name, e.span, certain),
            ExprKind::Attribute { .. } if self.member(e, certain).is_some() => {}
            ExprKind::Call(call) => self.call(e, call, certain),
            ExprKind::IfExp { test, body, orelse } => {
                self.expr(test, certain);
                let decided = self.decided(test);
                let inner = certain && (decided.is_some() || self.is_run_time(test));
                if decided != Some(false) {
                    self.expr(body, inner);
                }
                if decided != Some(true) {
                    self.expr(orelse, inner);
                }
            }
            ExprKind::BoolOp { values, .. } => {
                for (i, v) in values.iter().enumerate() {
                    self.expr(v, certain && i == 0);
                }
            }
            ExprKind::Lambda(l) => {
                self.with_names(&l.params.iter().map(|p| p.name.name.clone()).collect::<Vec<_>>(), |scan| {
                    scan.expr(&l.body, false);
                });
            }
            ExprKind::ListComp(c) | ExprKind::Generator(c) => self.comprehension(c, certain),
            ExprKind::Set(_) | ExprKind::SetComp(_) => {
                self.fault(certain, e.span, |cx| {
                    _ = cx.out().no_syntax("a set", "use a tuple: `x in (1, 2)` works on compile-time values");
                });
            }
            ExprKind::Dict(_) | ExprKind::DictComp(_) => {
                self.fault(certain, e.span, |cx| _ = cx.out().no_syntax("a dict", NO_DICT));
            }
            ExprKind::Yield(_) | ExprKind::YieldFrom(_) => {
                self.fault(certain, e.span, |cx| _ = cx.out().no_syntax("`yield`", advice::statement("yield")));
            }
            ExprKind::Await(_) => {
                self.fault(certain, e.span, |cx| _ = cx.out().no_syntax("`await`", advice::statement("await")));
            }
            _ => visit::children(e).into_iter().for_each(|c| self.expr(c, certain)),
        }
    }

    fn comprehension(&mut self, c: &Comp, certain: bool) {
        let mut names = vec![];
        for clause in &c.clauses {
            self.expr(&clause.iter, certain);
            visit::expressions(&clause.target, &mut |e| names.extend(name_of(e)));
        }
        self.with_names(&names, |scan| {
            c.clauses.iter().flat_map(|c| &c.ifs).for_each(|e| scan.expr(e, false));
            scan.expr(&c.element, false);
        });
    }

    /// Runs `f` with further local names.
    fn with_names(&mut self, names: &[Arc<str>], f: impl FnOnce(&mut Self)) {
        let before = self.cx.add_locals(names);
        f(self);
        self.cx.restore_locals(before);
    }

    fn name(&mut self, name: &str, at: Span, certain: bool) {
        if self.value_of(name).is_some() || self.given.contains(name) || self.cx.is_local(name) {
            return;
        }
        let bound = self.cx.modules().bindings(self.cx.module(), name).first().map(|b| b.bound.clone());
        let report = match bound {
            None => !self.nested,
            Some(Bound::Import(_) | Bound::From { .. }) => true,
            Some(_) => false,
        };
        if report {
            self.fault(certain, at, |cx| _ = cx.unknown_name(name));
        }
    }

    /// What a name that is no local stands for.
    fn value_of(&mut self, name: &str) -> Option<Object> {
        if self.cx.is_local(name) {
            return None;
        }
        let module = self.cx.module();
        self.cx.global(module, name).or_else(|| builtins::python(name))
    }

    /// The value of `package.member`, with packages in packages; a member that does not exist is reported. `None` if
    /// this is something else.
    #[allow(clippy::option_option)]
    fn member(&mut self, e: &Expr, certain: bool) -> Option<Option<Object>> {
        let ExprKind::Attribute { value, attr } = &e.kind else { return None };
        if certain == self.certain {
            self.cx.out().replace_span(e.span);
        }
        if let ExprKind::Name(name) = &value.kind
            && !self.cx.is_local(name)
        {
            let known = self.cx.out().diags().len();
            let mut host = false;
            self.fault(certain, e.span, |cx| host = cx.host_member(value, &attr.name).is_some());
            if host || self.cx.out().diags().len() > known {
                return Some(None);
            }
        }
        let base = match &value.kind {
            ExprKind::Name(name) => self.value_of(name)?,
            ExprKind::Attribute { .. } => self.member(value, certain)??,
            _ => return None,
        };
        let Object::Const(Const::Space(_) | Const::Module(_) | Const::HostClass(..)) = base else { return None };
        let found = quietly(&mut *self.cx, |cx| cx.attr(&base, &attr.name)).ok();
        if found.is_none() && !matches!(base, Object::Const(Const::Module(_) | Const::HostClass(..))) {
            self.fault(certain, e.span, |cx| _ = cx.unknown_attribute(&base, &attr.name));
        }
        Some(found)
    }

    fn call(&mut self, e: &Expr, call: &Call, certain: bool) {
        let callee = match &call.func.kind {
            ExprKind::Name(name) => {
                self.name(name, call.func.span, certain);
                self.value_of(name)
            }
            ExprKind::Attribute { .. } => {
                if let Some(found) = self.member(&call.func, certain) {
                    found
                } else {
                    self.expr(&call.func, certain);
                    None
                }
            }
            _ => {
                self.expr(&call.func, certain);
                None
            }
        };
        call.args.iter().chain(call.keywords.iter().map(|k| &k.value)).for_each(|a| self.expr(a, certain));
        let spread = call.args.iter().any(|a| matches!(a.kind, ExprKind::Starred(_)))
            || call.keywords.iter().any(|k| k.name.is_none());
        let Some(callee) = callee.filter(|_| !spread) else { return };
        let args = vec![Object::NONE; call.args.len()];
        let keywords =
            call.keywords.iter().filter_map(|k| k.name.as_ref().map(|n| (n.clone(), Object::NONE))).collect();
        match callee {
            Object::Const(Const::Builtin(b)) => {
                self.fault(certain, e.span, |cx| _ = cx.bind_builtin(b, args, keywords));
            }
            Object::Const(Const::Func(f)) => self.fault(certain, e.span, |cx| _ = cx.bind(&f, args, keywords)),
            _ => {}
        }
    }
}

fn name_of(e: &Expr) -> Option<Arc<str>> {
    match &e.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}
