//! Calls: of primitives, of jit functions (specialised by the types of their arguments and the values of compile-time
//! ones), of plain Python functions (evaluated at compile time), and of types.
//!
//! A jit function becomes a private `tt.func` once for each specialisation, named after its types, and a `tt.call`; the
//! inliner pass puts it in place. Example: `helper(pid, 3)` calls `@m.helper__i32_c3`, whose second parameter exists at
//! compile time only.

use std::rc::Rc;
use std::sync::Arc;

use super::bind::Keyword;
use super::frame::Frame;
use super::scope::Scope;
use super::walker::{MAX_DEPTH, Specialisation, Walker};
use crate::diag::codes::names;
use crate::ir::Type;
use crate::ir::dialects::tt::tt;
use crate::irgen::builtins::DECORATORS;
use crate::irgen::emit::{CallSite, R, Reported};
use crate::irgen::front::assigned::assigned;
use crate::irgen::front::free_names::free_names;
use crate::irgen::semantic::faults;
use crate::irgen::value::{Args, Around, Builtin, Const, Func, LambdaVal, Object, ObjectType, Run};
use crate::parser::ast::{Call, ExprKind, FunctionDef, Ident, Lambda, Param, ParamKind};
use crate::parser::visit;
use crate::source::Span;

impl Walker<'_> {
    /// A call expression.
    pub(super) fn call_expr(&mut self, call: &Call) -> R<Object> {
        let f = self.expr(&call.func);
        if let Ok(Object::Const(Const::Builtin(b))) = &f
            && DECORATORS.contains(&b.name)
        {
            return Ok(Object::Tuner(Rc::new(self.tuner(b.name, call))));
        }
        // Triton evaluates keyword arguments first, and operations appear in that order.
        let mut keywords = vec![];
        let mut failed = false;
        for k in &call.keywords {
            // A hook runs at a launch; nothing of it need be known here.
            if matches!(&f, Ok(Object::Const(Const::Builtin(b))) if b.name == "Config")
                && k.name.as_ref().is_some_and(|n| n == "pre_hook")
            {
                continue;
            }
            match (&k.name, self.expr(&k.value)) {
                (Some(name), Ok(v)) => keywords.push((name.clone(), v)),
                (None, Ok(Object::Dict(items))) => {
                    for (key, v) in items.iter() {
                        keywords.push((Ident { name: Arc::from(key.show()), span: k.span }, v.clone()));
                    }
                }
                (None, Ok(_)) => {
                    failed = true;
                    let _ = self.out.no_syntax("`**` in a call", "write the keywords one by one");
                }
                (_, Err(_)) => failed = true,
            }
        }
        let args = self.exprs(&call.args);
        let (f, args) = (f?, args?);
        if failed {
            return Err(Reported);
        }
        self.places = places(&f, call);
        let result = self.apply(&f, args, keywords);
        self.places.clear();
        result
    }

    /// Calls any callable value.
    pub fn apply(&mut self, f: &Object, mut args: Vec<Object>, keywords: Vec<Keyword>) -> R<Object> {
        self.out.step()?;
        match f {
            Object::Const(Const::Builtin(b)) => self.call_builtin(b, args, keywords),
            Object::Const(Const::Func(func)) if func.jit => self.call_jit(func, args, keywords),
            Object::Const(Const::Func(func)) => self.call_host(func, args, keywords),
            Object::Const(Const::Lambda(l)) => self.call_lambda(l, &args, &keywords),
            Object::Const(Const::Class(c)) => self.construct(*c, &args, &keywords),
            Object::Method(m) => {
                args.insert(0, m.receiver.clone());
                self.apply(&Object::Const(m.callee.clone()), args, keywords)
            }
            Object::Tuner(t) => match args.as_slice() {
                [Object::Const(Const::Func(func))] => Ok(Const::Func(func.with_tuner(t)).into()),
                [other, ..] => Err(faults::expected(&mut self.out, "a function", other)),
                [] => Err(self.bad_arguments("a decorator", "needs a function".to_owned(), "function")),
            },
            Object::Error => Err(Reported),
            other => {
                let help = match other {
                    Object::Const(Const::Type(_)) => "convert a value with its method: `x.to(dtype)`",
                    Object::Const(Const::Space(_) | Const::Module(_)) => {
                        "this is a package: call one of its functions, as in `tl.load(…)`"
                    }
                    Object::Const(Const::HostClass(..)) => {
                        "kernels make no objects: pass the values one by one, or as a tuple"
                    }
                    Object::Tuple(_) => "a tuple is no function: take a value out of it with `[…]`, as in `x.shape[0]`",
                    Object::Tensor(_) => {
                        "a value is no function; for a product write `*`, for elements in memory `tl.load(ptr + i)`"
                    }
                    _ => "this is a value, not a function: leave out the `()`",
                };
                Err(self.out.error_help(
                    &names::NOT_CALLABLE,
                    format!("{} cannot be called", other.describe()),
                    "called here",
                    help,
                ))
            }
        }
    }

    fn call_builtin(&mut self, b: &'static Builtin, args: Vec<Object>, keywords: Vec<Keyword>) -> R<Object> {
        let places = std::mem::take(&mut self.places);
        let values = self.bind_builtin(b, args, keywords)?;
        let args = Args { builtin: b, values, places };
        match b.run {
            Run::Values(run) => run(&mut self.out, &args),
            Run::Calls(run) => run(self, &args),
        }
    }

    /// Calls a jit function: lowers the specialisation if it is new, and emits `tt.call`.
    pub fn call_jit(&mut self, func: &Func, args: Vec<Object>, keywords: Vec<Keyword>) -> R<Object> {
        if self.frame.host {
            return self.call_host(func, args, keywords);
        }
        let bound = self.bind(func, args, keywords)?;
        if bound.iter().any(|(_, v)| matches!(v, Object::Error)) {
            return Err(Reported);
        }
        if let Some((name, v)) = bound.iter().find(|(_, v)| v.ty() == ObjectType::Other) {
            let found = v.describe();
            return Err(self.out.error_help(
                &names::BAD_ARGUMENTS,
                format!("{found} cannot be passed to a function (parameter `{name}`)"),
                "in this call",
                "pass its parts, or write it in the function itself",
            ));
        }
        // The name of a specialisation holds the values.
        self.out.work(bound.iter().map(|(_, v)| v.weight()).fold(0, u64::saturating_add))?;
        let mangled: Vec<String> = bound.iter().map(|(_, v)| v.ty().mangle(&self.mods)).collect();
        let symbol = format!("{}__{}", self.mods.qualified(func.module, &func.def), mangled.join("_"));
        match self.functions.get(&symbol) {
            Some(Specialisation { result: Some(Object::Error) }) => return Err(Reported),
            Some(Specialisation { result: Some(_) }) => {}
            Some(Specialisation { result: None }) => {
                return Err(self.out.error_help(
                    &names::RECURSION,
                    format!("`{}` calls itself", func.name()),
                    "recursion is not possible on the GPU",
                    "write a loop; to go on for a known number of times use `tl.static_range`",
                ));
            }
            None => self.lower_callee(func, &symbol, &bound)?,
        }
        let result = match self.functions.get(&symbol) {
            Some(Specialisation { result: Some(v) }) if !matches!(v, Object::Error) => v.clone(),
            _ => return Err(Reported),
        };
        let mut operands = vec![];
        for (_, v) in &bound {
            v.flatten(&mut operands);
        }
        let tys: Vec<Type> = result.values().iter().map(|&v| self.out.ir.ty(v)).collect();
        let state = tt::Call::state(self.out.loc(), &operands).results(&tys).with(tt::Call::ATTR.callee, &symbol);
        let op = self.out.emit(state)?;
        let mut values = self.out.ir.results(op).to_vec().into_iter();
        Ok(result.rebuild(&mut values))
    }

    fn lower_callee(&mut self, func: &Func, symbol: &str, bound: &[(Arc<str>, Object)]) -> R<()> {
        if self.out.calls().len() as u32 >= MAX_DEPTH {
            return Err(self.out.error_help(
                &names::RECURSION,
                format!("calls nest deeper than {MAX_DEPTH}"),
                "this call is one too deep",
                "functions that call each other without end cannot be compiled; write a loop",
            ));
        }
        if func.def.broken {
            let errors = self.mods.get(func.module).errors.clone();
            for e in errors {
                let _ = self.out.report(e);
            }
        }
        if !self.mods.get(func.module).prelude {
            self.check_annotations(func)?;
        }
        self.functions.insert(symbol.to_owned(), Specialisation { result: None });
        self.out.push_call(CallSite { span: self.out.span(), callee: func.name().to_owned(), host: None });
        let saved = (self.out.replace_block(None), self.naming.take(), self.out.here());
        let result = self.function(func, symbol, bound, &[], false);
        let (block, naming, here) = saved;
        self.naming = naming;
        self.out.replace_block(block);
        self.out.replace_here(here);
        self.out.pop_call();
        self.functions.insert(symbol.to_owned(), Specialisation { result: Some(result.unwrap_or(Object::Error)) });
        Ok(())
    }

    /// Evaluates a plain Python function (or one marked `constexpr_function`) on compile-time values.
    fn call_host(&mut self, func: &Func, args: Vec<Object>, keywords: Vec<Keyword>) -> R<Object> {
        if self.depth > MAX_DEPTH {
            return Err(self.out.error_help(
                &names::RECURSION,
                format!("calls nest deeper than {MAX_DEPTH}"),
                "this call is one too deep",
                "functions that call each other without end cannot be compiled; write a loop",
            ));
        }
        let bound = self.bind(func, args, keywords)?;
        self.depth += 1;
        let host = (!self.frame.host).then_some(func.def.header);
        self.out.push_call(CallSite { span: self.out.span(), callee: func.name().to_owned(), host });
        let errors = self.out.errors();
        let (mut seen, mut lacking) = func.around.as_ref().map(|a| self.seen_around(a)).unwrap_or_default();
        if let Some(own) = lacking.iter().position(|name| *name == func.def.name.name) {
            seen.set(&lacking.swap_remove(own), Const::Func(func.clone()).into());
        }
        let result = self.called(func.module, |cx| {
            lacking.extend(assigned(&func.def.body));
            (cx.frame.outer, cx.frame.own) = (seen, lacking);
            for (name, v) in &bound {
                cx.frame.scope.set(name, v.clone());
            }
            cx.stmts(&func.def.body);
            let result = cx.frame.host_result.take().unwrap_or(Object::NONE);
            cx.as_left(&result)
        });
        self.out.pop_call();
        self.depth -= 1;
        let failed = self.out.errors() > errors || matches!(result, Object::Error);
        if failed { Err(Reported) } else { Ok(result) }
    }

    /// A lambda with the values of its defaults, and of the names around it.
    pub(super) fn lambda(&mut self, l: &Lambda) -> R<Object> {
        let mut used = vec![];
        visit::expressions(&l.body, &mut |e| match &e.kind {
            ExprKind::Name(name) if l.params.iter().all(|p| p.name.name != *name) => used.push(name.clone()),
            _ => {}
        });
        let (module, around) = (self.frame.module, self.around(used, &l.params)?);
        Ok(Const::Lambda(Rc::new(LambdaVal { def: Rc::new(l.clone()), module, around })).into())
    }

    /// A function inside of one that is evaluated.
    pub(super) fn inner_function(&mut self, def: &FunctionDef) -> R<Object> {
        let around = self.around(free_names(def).into_iter().collect(), &def.params)?;
        let func = Func::new(Arc::new(def.clone()), self.frame.module, false);
        Ok(Const::Func(Func { around: Some(Rc::new(around)), ..func }).into())
    }

    /// What is around a function that is made here and uses these names.
    fn around(&mut self, used: Vec<Arc<str>>, params: &[Param]) -> R<Around> {
        let defaults = params.iter().map(|p| p.default.as_ref().map(|e| self.expr(e)).transpose()).collect::<R<_>>()?;
        let mut bound: Vec<Arc<str>> = vec![];
        for name in used {
            if self.frame.binds(&name) && !bound.contains(&name) {
                bound.push(name);
            }
        }
        let names = self.captured(&bound);
        Ok(Around { frame: self.frame.number, number: self.number(), bound, names, defaults })
    }

    fn captured(&self, bound: &[Arc<str>]) -> Vec<(Arc<str>, Object)> {
        bound.iter().filter_map(|name| Some((name.clone(), self.frame.local(name)?.clone()))).collect()
    }

    /// A value that leaves the current function: its functions see the names as they are in the end.
    fn as_left(&self, v: &Object) -> Object {
        let in_the_end = |a: &Around| Around {
            names: self.captured(&a.bound),
            bound: a.bound.clone(),
            defaults: a.defaults.clone(),
            ..*a
        };
        let is_function = |v: &Object| matches!(v, Object::Const(Const::Lambda(_) | Const::Func(_)));
        match v {
            Object::Const(Const::Lambda(l)) if l.around.frame == self.frame.number => {
                let around = in_the_end(&l.around);
                Const::Lambda(Rc::new(LambdaVal { def: l.def.clone(), module: l.module, around })).into()
            }
            Object::Const(Const::Func(f)) => match &f.around {
                Some(a) if a.frame == self.frame.number => {
                    Const::Func(Func { around: Some(Rc::new(in_the_end(a))), ..f.clone() }).into()
                }
                _ => v.clone(),
            },
            Object::Tuple(items) if items.iter().any(is_function) => {
                Object::sequence(items.form, items.iter().map(|v| self.as_left(v)).collect())
            }
            Object::Dict(items) if items.iter().any(|(_, v)| is_function(v)) => {
                Object::dict(items.iter().map(|(k, v)| (k.clone(), self.as_left(v))).collect())
            }
            _ => v.clone(),
        }
    }

    /// The names that a function sees of those around it, and those that have no value now: as they are while the frame
    /// that made it runs, else as they were. Run-time values belong to that frame.
    fn seen_around(&self, a: &Around) -> (Scope, Vec<Arc<str>>) {
        let is_here = a.frame == self.frame.number;
        let waiting = || self.waiting.iter().rev().find(|(number, _)| *number == a.frame).map(|(_, scope)| scope);
        let mut seen = Scope::default();
        for name in &a.bound {
            let v = match waiting() {
                _ if is_here => self.frame.local(name),
                Some(scope) => scope.get(name),
                None => a.names.iter().find(|(known, _)| known == name).map(|(_, v)| v),
            };
            if let Some(v) = v.filter(|v| is_here || self.frame.host || v.values().is_empty()) {
                seen.set(name, v.clone());
            }
        }
        let lacking = a.bound.iter().filter(|name| seen.get(name).is_none()).cloned().collect();
        (seen, lacking)
    }

    /// Calls a lambda. It sees the names of the function that made it: as they are now while that runs, else as they
    /// were, but for run-time values, which belong to that function.
    fn call_lambda(&mut self, l: &Rc<LambdaVal>, args: &[Object], keywords: &[Keyword]) -> R<Object> {
        let values = self.lambda_arguments(l, args, keywords)?;
        if self.depth > MAX_DEPTH {
            return Err(self.out.error_help(
                &names::RECURSION,
                format!("calls nest deeper than {MAX_DEPTH}"),
                "this call is one too deep",
                "write a loop, or end the recursion earlier with a compile-time `if`",
            ));
        }
        self.depth += 1;
        let (seen, lacking) = self.seen_around(&l.around);
        let before = self.horizon().filter(|_| l.module == self.frame.module);
        let (number, host, region) = (self.number(), self.frame.host, self.frame.region);
        let outer = std::mem::replace(&mut self.frame, Frame::new(number, l.module, region, host));
        self.waiting.push((outer.number, outer.visible()));
        (self.frame.before, self.frame.loops) = (before, outer.loops);
        (self.frame.outer, self.frame.own) = (seen, lacking);
        for (p, v) in l.def.params.iter().zip(values) {
            self.frame.scope.set(&p.name.name, v);
        }
        let result = self.expr(&l.def.body);
        self.depth -= 1;
        self.waiting.pop();
        self.frame = outer;
        result
    }

    /// What the parameters of a lambda are in a call.
    fn lambda_arguments(&mut self, l: &LambdaVal, args: &[Object], keywords: &[Keyword]) -> R<Vec<Object>> {
        let params = &l.def.params;
        if let Some(p) = params.iter().find(|p| matches!(p.kind, ParamKind::VarArgs | ParamKind::VarKwargs)) {
            return Err(self
                .out
                .unsupported(&format!("`{}` of a lambda, which takes any number of arguments,", p.name)));
        }
        let known = |name: &Ident| params.iter().skip(args.len()).any(|p| p.name.name == name.name);
        let wrong = match keywords.iter().find(|(name, _)| !known(name)) {
            _ if args.len() > params.len() => Some("too many arguments for a lambda".to_owned()),
            Some((name, _)) => Some(format!("`{name}` is no parameter that is left of the lambda")),
            None => None,
        };
        if let Some(wrong) = wrong {
            let help = format!("it has {} parameters", params.len());
            return Err(self.out.error_help(&names::BAD_ARGUMENTS, wrong, "in this call", help));
        }
        let mut values = vec![];
        for (i, p) in params.iter().enumerate() {
            let named = || keywords.iter().find(|(name, _)| name.name == p.name.name).map(|(_, v)| v.clone());
            let Some(v) = args.get(i).cloned().or_else(named).or_else(|| l.around.defaults[i].clone()) else {
                let (message, help) = (format!("a lambda needs a value for `{}`", p.name), "pass one");
                return Err(self.out.error_help(&names::BAD_ARGUMENTS, message, "in this call", help));
            };
            values.push(v);
        }
        Ok(values)
    }
}

/// Where the arguments for the parameters of a primitive are written in a call of it.
fn places(f: &Object, call: &Call) -> Vec<Option<Span>> {
    let (builtin, receivers) = match f {
        Object::Const(Const::Builtin(b)) => (b, 0),
        Object::Method(m) => match &m.callee {
            Const::Builtin(b) => (b, 1),
            _ => return vec![],
        },
        _ => return vec![],
    };
    let params = builtin.params();
    let mut places = vec![None; params.len()];
    if !call.args.iter().any(|a| matches!(a.kind, ExprKind::Starred(_))) {
        let written = call.args.iter().map(|a| a.span);
        let singles = params.iter().take_while(|p| !p.variadic && !p.keyword_only).count();
        places.iter_mut().take(singles).skip(receivers).zip(written).for_each(|(place, at)| *place = Some(at));
    }
    for k in &call.keywords {
        let Some(name) = &k.name else { continue };
        if let Some(i) = params.iter().position(|p| *name == p.name) {
            places[i] = Some(k.value.span);
        }
    }
    places
}
