//! Calls: of primitives, of jit functions (specialised by the types of their arguments and the values of compile-time
//! ones), of plain Python functions (evaluated at compile time), and of types.
//!
//! A jit function becomes a private `tt.func` once for each specialisation, named after its types, and a `tt.call`; the
//! inliner pass puts it in place. Example: `helper(pid, 3)` calls `@m.helper__i32_c3`, whose second parameter exists at
//! compile time only.

use std::rc::Rc;
use std::sync::Arc;

use super::builtins::{Args, Builtin, DECORATORS};
use super::lower::{CallSite, Frame, Lower, Lowered, MAX_DEPTH, R, Reported};
use super::types::{Dtype, Ty};
use super::value::{Class, Const, Func, LambdaVal, Val, ValTy};
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::diag::suggest::nearest;
use crate::ir::{Attr, AttrData, Block, Loc, Name, OpState, TtOp, Type, UbOp, Value};
use crate::parser::ast::{Call, Expr, ExprKind, FunctionDef, Param, ParamKind};

/// Keywords of NumPy, PyTorch and CUDA, with those that have their meaning here.
const KEYWORDS_OF_OTHERS: &[(&[&str], &str)] = &[
    (&["dim", "dims", "axes"], "axis"),
    (&["keepdim", "keepdims", "keep_dim"], "keep_dims"),
    (&["default", "fill", "fill_value", "padding", "else_"], "other"),
    (&["cond"], "condition"),
    (&["type"], "dtype"),
    (&["accumulator", "c"], "acc"),
    (&["memory_order", "order"], "sem"),
];

/// Why a keyword does not fit, with the parameter that was probably meant.
fn no_parameter(name: &str, params: &[&str]) -> String {
    let known = KEYWORDS_OF_OTHERS.iter().find(|(words, _)| words.contains(&name)).map(|(_, here)| *here);
    let meant = known.filter(|here| params.contains(here)).or_else(|| nearest(name, params.iter().copied()));
    meant.map_or_else(
        || format!("has no parameter `{name}`"),
        |n| format!("has no parameter `{name}`; did you mean `{n}`?"),
    )
}

/// `1 argument`, `2 arguments`
fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A keyword argument.
pub type Keyword = (Arc<str>, Val);

impl Lower<'_> {
    /// A call expression.
    pub fn call(&mut self, call: &Call) -> R<Val> {
        let f = self.expr(&call.func);
        if let Ok(Val::Const(Const::Builtin(b))) = &f
            && DECORATORS.contains(&b.name)
        {
            // `triton.heuristics({…})` is a decorator; applied to a function it gives the function.
            return match call.args.as_slice() {
                [Expr { kind: ExprKind::Dict(_), .. }] | [] => f,
                [function] => self.expr(function),
                _ => f,
            };
        }
        // Triton evaluates keyword arguments first, and operations appear in that order.
        let mut keywords = vec![];
        let mut failed = false;
        for k in &call.keywords {
            // A hook runs at a launch; nothing of it need be known here.
            if matches!(&f, Ok(Val::Const(Const::Builtin(b))) if b.name == "Config")
                && k.name.as_ref().is_some_and(|n| n == "pre_hook")
            {
                continue;
            }
            match (&k.name, self.expr(&k.value)) {
                (Some(name), Ok(v)) => keywords.push((name.name.clone(), v)),
                (None, Ok(Val::Dict(items))) => {
                    for (key, v) in items.iter() {
                        keywords.push((Arc::from(key.show()), v.clone()));
                    }
                }
                (None, Ok(_)) => {
                    failed = true;
                    let _ = self.no_syntax("`**` in a call", "write the keywords one by one");
                }
                (_, Err(_)) => failed = true,
            }
        }
        let args = self.exprs(&call.args);
        let (f, args) = (f?, args?);
        if failed {
            return Err(Reported);
        }
        self.apply(&f, args, keywords)
    }

    /// Calls any callable value.
    pub fn apply(&mut self, f: &Val, mut args: Vec<Val>, keywords: Vec<Keyword>) -> R<Val> {
        self.step()?;
        match f {
            Val::Const(Const::Builtin(b)) => self.call_builtin(b, args, keywords),
            Val::Const(Const::Func(func)) if func.jit => self.call_jit(func, args, keywords),
            Val::Const(Const::Func(func)) => self.call_host(func, args, keywords),
            Val::Const(Const::Lambda(l)) => self.call_lambda(l, &args),
            Val::Const(Const::Class(c)) => self.construct(*c, &args, &keywords),
            Val::Method(m) => {
                args.insert(0, m.receiver.clone());
                self.apply(&Val::Const(m.callee.clone()), args, keywords)
            }
            Val::Error => Err(Reported),
            other => {
                let help = match other {
                    Val::Const(Const::Type(_)) => "convert a value with its method: `x.to(dtype)`",
                    Val::Const(Const::Space(_) | Const::Module(_)) => {
                        "this is a package: call one of its functions, as in `tl.load(…)`"
                    }
                    Val::Tensor(_) => {
                        "a value is no function; for a product write `*`, for elements in memory `tl.load(ptr + i)`"
                    }
                    _ => "this is a value, not a function: leave out the `()`",
                };
                Err(self.error_help(
                    &names::NOT_CALLABLE,
                    format!("{} cannot be called", other.describe()),
                    "called here",
                    help,
                ))
            }
        }
    }

    fn call_builtin(&mut self, b: &'static Builtin, args: Vec<Val>, keywords: Vec<Keyword>) -> R<Val> {
        let values = self.bind_builtin(b, args, keywords)?;
        (b.run)(self, &Args { builtin: b, values })
    }

    /// Reports arguments that do not fit a function's parameters.
    pub fn bad_arguments(&mut self, callee: &str, what: String, signature: &str) -> Reported {
        self.error_help(
            &names::BAD_ARGUMENTS,
            format!("`{callee}` {what}"),
            "in this call",
            format!("its parameters are ({signature})"),
        )
    }

    /// Binds arguments to the parameters of a primitive, with defaults.
    pub fn bind_builtin(&mut self, b: &'static Builtin, args: Vec<Val>, keywords: Vec<Keyword>) -> R<Vec<Val>> {
        let params = b.params();
        let mut slots: Vec<Option<Val>> = vec![None; params.len()];
        let variadic = params.iter().position(|p| p.variadic);
        let positional = variadic.unwrap_or_else(|| params.iter().take_while(|p| !p.keyword_only).count());
        if variadic.is_none() && args.len() > positional {
            return Err(self.bad_arguments(
                b.name,
                format!("takes at most {}, {} were given", plural(positional, "positional argument"), args.len()),
                b.sig,
            ));
        }
        let mut rest = vec![];
        for (i, v) in args.into_iter().enumerate() {
            if i < positional { slots[i] = Some(v) } else { rest.push(v) }
        }
        let (mut more, collects) = (vec![], params.iter().position(|p| p.keywords));
        for (name, v) in keywords {
            let Some(i) = params.iter().position(|p| p.name == &*name && !p.variadic && !p.keywords) else {
                if collects.is_some() {
                    more.push((Const::str(&name).into(), v));
                    continue;
                }
                let known: Vec<&str> = params.iter().map(|p| p.name).collect();
                return Err(self.bad_arguments(b.name, no_parameter(&name, &known), b.sig));
            };
            if slots[i].is_some() {
                return Err(self.bad_arguments(b.name, format!("got two values for `{name}`"), b.sig));
            }
            slots[i] = Some(v);
        }
        if let Some(i) = variadic {
            slots[i] = Some(Val::tuple(rest));
        }
        if let Some(i) = collects {
            slots[i] = Some(Val::dict(more));
        }
        let mut values = vec![];
        for (slot, p) in slots.into_iter().zip(&params) {
            match slot.or_else(|| p.default.clone()) {
                Some(v) => values.push(v),
                None => return Err(self.bad_arguments(b.name, format!("needs a value for `{}`", p.name), b.sig)),
            }
        }
        Ok(values)
    }

    // ---- functions of the language ----

    /// Binds arguments to a function's parameters, with defaults.
    pub fn bind(&mut self, func: &Func, args: Vec<Val>, keywords: Vec<Keyword>) -> R<Vec<(Arc<str>, Val)>> {
        let params = &func.def.params;
        let mut slots: Vec<Option<Val>> = vec![None; params.len()];
        let (mut rest, mut given) = (vec![], 0usize);
        let count = args.len();
        for v in args {
            match params.get(given).map(|p| p.kind) {
                Some(ParamKind::PositionalOnly | ParamKind::Normal) => {
                    slots[given] = Some(v);
                    given += 1;
                }
                Some(ParamKind::VarArgs) => rest.push(v),
                _ => {
                    return Err(self.bad_arguments(
                        func.name(),
                        format!("takes {}, {count} were given", plural(given, "positional argument")),
                        &signature(&func.def),
                    ));
                }
            }
        }
        for (name, v) in keywords {
            let at = params
                .iter()
                .position(|p| p.name.name == name && !matches!(p.kind, ParamKind::VarArgs | ParamKind::VarKwargs));
            let Some(i) = at else {
                let known: Vec<&str> = params.iter().map(|p| &*p.name.name).collect();
                return Err(self.bad_arguments(func.name(), no_parameter(&name, &known), &signature(&func.def)));
            };
            if slots[i].replace(v).is_some() {
                return Err(self.bad_arguments(
                    func.name(),
                    format!("got two values for `{name}`"),
                    &signature(&func.def),
                ));
            }
        }
        let mut bound = vec![];
        for (slot, p) in slots.into_iter().zip(params) {
            let value = match (slot, p.kind, &p.default) {
                (Some(v), ..) => v,
                (None, ParamKind::VarArgs, _) => Val::tuple(std::mem::take(&mut rest)),
                (None, ParamKind::VarKwargs, _) => continue,
                (None, _, Some(default)) => self.default_value(func, p, default)?,
                (None, _, None) => {
                    return Err(self.bad_arguments(
                        func.name(),
                        format!("needs a value for `{}`", p.name),
                        &signature(&func.def),
                    ));
                }
            };
            bound.push((p.name.name.clone(), value));
        }
        Ok(bound)
    }

    /// A parameter's default, evaluated where the function was written.
    pub fn default_value(&mut self, func: &Func, p: &Param, default: &Expr) -> R<Val> {
        if let Some(v) = self.evaluate(func.module, default) {
            Ok(v)
        } else {
            let diag = Diagnostic::error(
                &names::NOT_CONSTEXPR,
                format!("the default of `{}` is no compile-time value", p.name),
            );
            let why = self.attempt(func.module, |cx| cx.expr(default)).err().flatten();
            let diag = super::config::because(diag.at(default.span, "cannot be evaluated"), why);
            Err(self.report(diag.help(format!("pass a value for `{}` in this call", p.name))))
        }
    }

    /// Calls a jit function: lowers the specialisation if it is new, and emits `tt.call`.
    pub fn call_jit(&mut self, func: &Func, args: Vec<Val>, keywords: Vec<Keyword>) -> R<Val> {
        if self.frame.host {
            return self.call_host(func, args, keywords);
        }
        let bound = self.bind(func, args, keywords)?;
        if bound.iter().any(|(_, v)| matches!(v, Val::Error)) {
            return Err(Reported);
        }
        if let Some((name, v)) = bound.iter().find(|(_, v)| v.ty() == ValTy::Other) {
            let found = v.describe();
            return Err(self.error_help(
                &names::BAD_ARGUMENTS,
                format!("{found} cannot be passed to a function (parameter `{name}`)"),
                "in this call",
                "pass its parts, or write it in the function itself",
            ));
        }
        // The name of a specialisation holds the values.
        self.work(bound.iter().map(|(_, v)| v.weight()).fold(0, u64::saturating_add))?;
        let mangled: Vec<String> = bound.iter().map(|(_, v)| v.ty().mangle(&self.mods)).collect();
        let symbol = format!("{}__{}", self.mods.qualified(func), mangled.join("_"));
        match self.functions.get(&symbol) {
            Some(Lowered { result: Some(Val::Error) }) => return Err(Reported),
            Some(Lowered { result: Some(_) }) => {}
            Some(Lowered { result: None }) => {
                return Err(self.error_help(
                    &names::RECURSION,
                    format!("`{}` calls itself", func.name()),
                    "recursion is not possible on the GPU",
                    "write a loop; to go on for a known number of times use `tl.static_range`",
                ));
            }
            None => self.lower_callee(func, &symbol, &bound)?,
        }
        let result = match self.functions.get(&symbol) {
            Some(Lowered { result: Some(v) }) if !matches!(v, Val::Error) => v.clone(),
            _ => return Err(Reported),
        };
        let mut operands = vec![];
        for (_, v) in &bound {
            v.flatten(&mut operands);
        }
        let tys: Vec<Type> = result.values().iter().map(|&v| self.ir.ty(v)).collect();
        let state =
            OpState::new(TtOp::Call, self.loc).operands(&operands).results(&tys).attr("callee", Attr::symbol(&symbol));
        let op = self.emit(state)?;
        let mut values = self.ir.results(op).to_vec().into_iter();
        Ok(result.rebuild(&mut values))
    }

    fn lower_callee(&mut self, func: &Func, symbol: &str, bound: &[(Arc<str>, Val)]) -> R<()> {
        if self.calls.len() as u32 >= MAX_DEPTH {
            return Err(self.error_help(
                &names::RECURSION,
                format!("calls nest deeper than {MAX_DEPTH}"),
                "this call is one too deep",
                "functions that call each other without end cannot be compiled; write a loop",
            ));
        }
        if func.def.broken {
            let errors = self.mods.get(func.module).errors.clone();
            for e in errors {
                let _ = self.report(e);
            }
        }
        if !self.mods.get(func.module).prelude {
            self.check_annotations(func)?;
        }
        self.functions.insert(symbol.to_owned(), Lowered { result: None });
        self.calls.push(CallSite { span: self.span, callee: func.name().to_owned(), host: None });
        let saved = (self.block.take(), self.naming.take(), self.loc, self.span);
        let result = self.function(func, symbol, bound, &[], false);
        (self.block, self.naming, self.loc, self.span) = saved;
        self.calls.pop();
        self.functions.insert(symbol.to_owned(), Lowered { result: Some(result.unwrap_or(Val::Error)) });
        Ok(())
    }

    /// Lowers one function with these argument values, whose IR values only say the types. Gives the form of its
    /// result.
    pub fn function(
        &mut self,
        func: &Func,
        symbol: &str,
        bound: &[(Arc<str>, Val)],
        facts: &[Option<Attr>],
        public: bool,
    ) -> R<Val> {
        let errors = self.errors;
        let loc = self.loc_of(func.def.header);
        let mut inputs = vec![];
        for (_, v) in bound {
            inputs.extend(v.values().iter().map(|&v| self.ir.ty(v)));
        }
        let mut state = OpState::new(TtOp::Func, loc)
            .attr("sym_name", Attr::str(symbol))
            .attr("sym_visibility", Attr::str(if public { "public" } else { "private" }))
            .attr("function_type", Attr::ty(Type::function(&inputs, &[])))
            .attr("noinline", Attr::bool(is_noinline(&func.def)))
            .regions(1);
        if facts.iter().any(Option::is_some) {
            let dict = |f: &Option<Attr>| {
                Attr::new(AttrData::Dict(f.iter().map(|&a| (Name::of("tt.divisibility"), a)).collect()))
            };
            state = state.attr("arg_attrs", Attr::new(AttrData::Array(facts.iter().map(dict).collect())));
        }
        let op = self.ir.create_op(state);
        let module = self.ir.module_block();
        self.ir.append(module, op);
        let region = self.ir.region(op, 0);
        let entry = self.ir.add_block(region, &[]);
        let outer = std::mem::replace(&mut self.frame, Frame::new(func.module, Some(region), false));
        self.enter(entry, bound, loc);
        self.loc = loc;
        self.stmts(&func.def.body);
        let result = self.finish(loc, public);
        self.frame = outer;
        let (result, outputs) = result?;
        self.ir.set_attr(op, "function_type", Attr::ty(Type::function(&inputs, &outputs)));
        let failed = self.errors > errors;
        if failed { Err(Reported) } else { Ok(result) }
    }

    /// Makes the arguments of a function's first block and binds its parameters to them.
    fn enter(&mut self, entry: Block, bound: &[(Arc<str>, Val)], loc: Loc) {
        for (name, v) in bound {
            let part = |i: usize| match v {
                Val::Tensor(_) => name.to_string(),
                // As a launcher passes them: the descriptor, then extents and strides.
                Val::Desc(_) if i == 0 => name.to_string(),
                Val::Desc(d) if i <= d.shape.len() => format!("{name}.shape.{}", i - 1),
                Val::Desc(d) => format!("{name}.stride.{}", i - 1 - d.shape.len()),
                _ => format!("{name}.{i}"),
            };
            let args: Vec<Value> = v
                .values()
                .iter()
                .enumerate()
                .map(|(i, &value)| {
                    let ty = self.ir.ty(value);
                    let loc = Loc::named(&part(i), loc);
                    self.ir.add_arg(entry, ty, loc)
                })
                .collect();
            let value = v.rebuild(&mut args.into_iter());
            self.frame.scope.set(name, value);
        }
        self.block = Some(entry);
    }

    /// Ends a function: settles the type of its result and makes the `tt.return`s.
    fn finish(&mut self, loc: Loc, kernel: bool) -> R<(Val, Vec<Type>)> {
        let returns = std::mem::take(&mut self.frame.returns);
        if let Some(r) = returns.iter().find(|r| kernel && !r.value.values().is_empty()) {
            let diag = Diagnostic::error(&names::NOT_IN_KERNELS, "a kernel cannot return a value")
                .at(r.span, format!("returns {}", r.value.describe()))
                .help("nobody receives it: store it through a pointer with `tl.store`, and end the kernel with a plain `return`");
            return Err(self.report(diag));
        }
        let mut ty: Option<ValTy> = None;
        for r in &returns {
            ty = Some(match ty {
                None => r.value.ty(),
                Some(old) => {
                    if let Some(common) = Self::common(&old, &r.value.ty()) {
                        common
                    } else {
                        let (a, b) = (old.to_string(), r.value.ty().to_string());
                        let diag = Diagnostic::error(
                            &types::RETURN_TYPE,
                            format!("the function returns {a} in one place and {b} in another"),
                        )
                        .at(r.span, format!("returns {b}"))
                        .at(returns[0].span, format!("returns {}", returns[0].value.ty()))
                        .help("convert the values to one type with `.to(...)`");
                        return Err(self.report(diag));
                    }
                }
            });
        }
        let ty = ty.unwrap_or(ValTy::Const(Const::None));
        let mut result = Val::NONE;
        for r in returns {
            self.span = r.span;
            self.loc = r.loc;
            let (value, _) = self.in_block(r.block, |cx| -> R<Val> {
                let value = cx.convert_result(&r.value, &ty)?;
                let state = OpState::new(TtOp::Return, cx.loc).operands(&value.values());
                cx.emit(state)?;
                Ok(value)
            });
            result = value?;
        }
        let outputs: Vec<Type> = result.values().iter().map(|&v| self.ir.ty(v)).collect();
        self.loc = loc;
        if self.block.is_some() {
            // Falling off the end of a function with a result leaves the result undefined.
            let poison: Vec<Value> = outputs.iter().map(|&t| self.value(UbOp::Poison, &[], t)).collect::<R<_>>()?;
            let state = OpState::new(TtOp::Return, loc).operands(&poison);
            self.emit(state)?;
        }
        Ok((result, outputs))
    }

    /// The type that two returned values share; a constant takes the other's type only if it is that type's by itself.
    fn common(a: &ValTy, b: &ValTy) -> Option<ValTy> {
        let tensor = |t: &ValTy| match t {
            ValTy::Const(c) => super::semantic::convert::const_dtype(c).map(|d| ValTy::Tensor(Ty::scalar(d))),
            other => Some(other.clone()),
        };
        match (a, b) {
            (ValTy::Tuple(x), ValTy::Tuple(y)) if x.len() == y.len() => {
                x.iter().zip(y).map(|(x, y)| Self::common(x, y)).collect::<Option<Vec<_>>>().map(ValTy::Tuple)
            }
            _ if a == b => Some(a.clone()),
            _ => {
                let (x, y) = (tensor(a)?, tensor(b)?);
                (x == y).then_some(x)
            }
        }
    }

    fn convert_result(&mut self, v: &Val, ty: &ValTy) -> R<Val> {
        match (v, ty) {
            (Val::Const(c), ValTy::Tensor(t)) => Ok(self.scalar_constant(c, t.dtype)?.into()),
            (Val::Tuple(items), ValTy::Tuple(tys)) => {
                Ok(Val::tuple(items.iter().zip(tys).map(|(v, t)| self.convert_result(v, t)).collect::<R<_>>()?))
            }
            _ => Ok(v.clone()),
        }
    }

    // ---- compile-time functions ----

    /// Evaluates a plain Python function (or one marked `constexpr_function`) on compile-time values.
    fn call_host(&mut self, func: &Func, args: Vec<Val>, keywords: Vec<Keyword>) -> R<Val> {
        if self.depth > MAX_DEPTH {
            return Err(self.error_help(
                &names::RECURSION,
                format!("calls nest deeper than {MAX_DEPTH}"),
                "this call is one too deep",
                "functions that call each other without end cannot be compiled; write a loop",
            ));
        }
        let bound = self.bind(func, args, keywords)?;
        self.depth += 1;
        let host = (!self.frame.host).then_some(func.def.header);
        self.calls.push(CallSite { span: self.span, callee: func.name().to_owned(), host });
        let errors = self.errors;
        let result = self.isolated(func.module, |cx| {
            for (name, v) in &bound {
                cx.frame.scope.set(name, v.clone());
            }
            cx.stmts(&func.def.body);
            cx.frame.host_result.take().unwrap_or(Val::NONE)
        });
        self.calls.pop();
        self.depth -= 1;
        let failed = self.errors > errors || matches!(result, Val::Error);
        if failed { Err(Reported) } else { Ok(result) }
    }

    fn call_lambda(&mut self, l: &Rc<LambdaVal>, args: &[Val]) -> R<Val> {
        if args.len() > l.def.params.len() {
            return Err(self.error_help(
                &names::BAD_ARGUMENTS,
                "too many arguments for a lambda",
                "in this call",
                format!("it has {} parameters", l.def.params.len()),
            ));
        }
        if self.depth > MAX_DEPTH {
            return Err(self.error_help(
                &names::RECURSION,
                format!("calls nest deeper than {MAX_DEPTH}"),
                "this call is one too deep",
                "write a loop, or end the recursion earlier with a compile-time `if`",
            ));
        }
        self.depth += 1;
        let saved = self.frame.scope.clone();
        let module = std::mem::replace(&mut self.frame.module, l.module);
        for (p, v) in l.def.params.iter().zip(args) {
            self.frame.scope.set(&p.name.name, v.clone());
        }
        let result = self.expr(&l.def.body);
        self.depth -= 1;
        self.frame.scope = saved;
        self.frame.module = module;
        result
    }

    /// `tl.constexpr(x)`, `tl.pointer_type(t)`, `float(x)`, …
    fn construct(&mut self, class: Class, args: &[Val], keywords: &[Keyword]) -> R<Val> {
        let arg = args.first().or(keywords.first().map(|(_, v)| v)).cloned();
        match (class, arg) {
            (Class::Constexpr, Some(v)) => match v {
                Val::Tensor(_) => Err(self.expected("a compile-time value", &v)),
                v => Ok(v),
            },
            (Class::PointerType, Some(Val::Const(Const::Type(t)))) => {
                Ok(Const::Type(Ty::scalar(Dtype::pointer_to(t, false))).into())
            }
            (Class::Dtype, Some(Val::Const(Const::Str(name)))) => match Dtype::parse(&name) {
                Some(d) => Ok(Val::dtype(d)),
                None => Err(self.error_help(
                    &types::CAST,
                    format!("`{name}` names no type"),
                    "not a type",
                    "types are named as in signatures: `fp16`, `int32`",
                )),
            },
            (Class::BlockType, Some(Val::Const(Const::Type(t)))) => {
                let shape = args.get(1).cloned().unwrap_or(Val::NONE);
                let shape = self.shape_of(&shape)?;
                Ok(Const::Type(Ty::block(t.dtype, &shape)).into())
            }
            (Class::Tuple | Class::List, None) => Ok(Val::tuple(vec![])),
            (Class::Dict, None) => Ok(Val::dict(vec![])),
            (Class::Dict, Some(_)) if !keywords.is_empty() => {
                let items = keywords.iter().map(|(k, v)| (Const::str(k).into(), v.clone())).collect::<Vec<_>>();
                Ok(Val::dict(items))
            }
            (Class::Dict, Some(Val::Dict(items))) => Ok(Val::dict(items.to_vec())),
            (Class::Tuple | Class::List, Some(v)) => match self.iterate(&v) {
                Some(items) => Ok(Val::tuple(items)),
                None => Err(self.expected("something to run over", &v)),
            },
            (Class::Int | Class::Float | Class::Bool | Class::Str, Some(v)) => self.convert_python(class, &v),
            (Class::Int, None) => Ok(Val::int(0)),
            (Class::Float, None) => Ok(Const::Float(0.0).into()),
            (_, arg) => {
                let found = arg.map_or_else(|| "no argument".to_owned(), |v| v.describe());
                Err(self.error_help(
                    &names::BAD_ARGUMENTS,
                    format!("`{}` does not take {found}", class.name()),
                    "in this call",
                    "see docs/language.md for what it takes",
                ))
            }
        }
    }

    /// `int(x)`, `float(x)`, `bool(x)`, `str(x)` of compile-time values.
    fn convert_python(&mut self, class: Class, v: &Val) -> R<Val> {
        let converted = match (class, v) {
            (Class::Bool, _) => return Ok(Val::bool(self.truth(v)?)),
            (Class::Str, _) => return Ok(Const::str(&v.show()).into()),
            _ if matches!(v, Val::Argument(_)) => return self.known(v).map(|()| Val::NONE),
            (Class::Float, Val::Const(Const::Str(s))) => parse_float(s).map(Const::Float),
            (Class::Float, Val::Const(c)) => c.as_float().map(Const::Float),
            (Class::Int, Val::Const(Const::Str(s))) => s.trim().replace('_', "").parse().ok().map(Const::Int),
            (Class::Int, Val::Const(Const::Float(f))) if f.is_finite() => Some(Const::Int(f.trunc() as i128)),
            (Class::Int, Val::Const(c)) => c.as_int().map(Const::Int),
            _ => None,
        };
        converted.map(Val::from).ok_or_else(|| {
            if matches!(v, Val::Tensor(_)) {
                let found = v.describe();
                return self.error_help(
                    &names::NOT_CONSTEXPR,
                    format!("`{}` needs a compile-time value, found {found}", class.name()),
                    "known only at run time",
                    "convert a run-time value with `.to(tl.float32)` or the like",
                );
            }
            self.expected(&format!("a value that `{}` converts", class.name()), v)
        })
    }
}

/// As Python's `float("…")`.
fn parse_float(text: &str) -> Option<f64> {
    let t = text.trim().to_ascii_lowercase().replace('_', "");
    match t.trim_start_matches(['+', '-']) {
        "inf" | "infinity" => Some(if t.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        "nan" => Some(f64::NAN),
        _ => t.parse().ok(),
    }
}

/// A function's parameters as text.
#[must_use]
pub fn signature(def: &FunctionDef) -> String {
    let show = |p: &Param| match p.kind {
        ParamKind::VarArgs => format!("*{}", p.name),
        ParamKind::VarKwargs => format!("**{}", p.name),
        _ if p.default.is_some() => format!("{}=…", p.name),
        _ => p.name.to_string(),
    };
    def.params.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// `@triton.jit(noinline=True)`
fn is_noinline(def: &FunctionDef) -> bool {
    def.decorators.iter().filter_map(|d| d.call()).any(|c| {
        c.keyword("noinline")
            .is_some_and(|e| matches!(&e.kind, ExprKind::Constant(crate::parser::ast::Constant::Bool(true))))
    })
}
