//! Binds the arguments of a call to parameters: of primitives, whose defaults are literals, and of functions, whose
//! defaults are evaluated where the function was written.

use std::sync::Arc;

use super::attempt::because;
use super::walker::Walker;
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::diag::suggest::nearest;
use crate::irgen::emit::{R, Reported};
use crate::irgen::value::{Builtin, Const, Form, Func, Object};
use crate::parser::ast::{Expr, FunctionDef, Ident, Param, ParamKind};

/// A keyword argument, with the place of its name.
pub(super) type Keyword = (Ident, Object);

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

/// Keywords by which Triton's functions in Python hand their compiler on to each other. They say nothing of a kernel.
const COMPILER: [&str; 3] = ["_semantic", "_builder", "_generator"];

impl Walker<'_> {
    /// Binds arguments to the parameters of a primitive, with defaults.
    pub fn bind_builtin(&mut self, b: &'static Builtin, args: Vec<Object>, keywords: Vec<Keyword>) -> R<Vec<Object>> {
        let params = b.params();
        let mut slots: Vec<Option<Object>> = vec![None; params.len()];
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
            let Some(i) = params.iter().position(|p| name == p.name && !p.variadic && !p.keywords) else {
                if COMPILER.contains(&&*name.name) {
                    continue;
                }
                if collects.is_some() {
                    more.push((Const::str(&name.name).into(), v));
                    continue;
                }
                let known: Vec<&str> = params.iter().map(|p| p.name).collect();
                return Err(self.no_parameter(b.name, &name, &known, b.sig));
            };
            if slots[i].is_some() {
                return Err(self.bad_arguments(b.name, format!("got two values for `{name}`"), b.sig));
            }
            slots[i] = Some(v);
        }
        if let Some(i) = variadic {
            slots[i] = Some(Object::tuple(rest));
        }
        if let Some(i) = collects {
            slots[i] = Some(Object::dict(more));
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

    /// Binds arguments to a function's parameters, with defaults.
    pub fn bind(&mut self, func: &Func, args: Vec<Object>, keywords: Vec<Keyword>) -> R<Vec<(Arc<str>, Object)>> {
        let params = &func.def.params;
        let mut slots: Vec<Option<Object>> = vec![None; params.len()];
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
                .position(|p| p.name.name == name.name && !matches!(p.kind, ParamKind::VarArgs | ParamKind::VarKwargs));
            let Some(i) = at else {
                let known: Vec<&str> = params.iter().map(|p| &*p.name.name).collect();
                return Err(self.no_parameter(func.name(), &name, &known, &signature(&func.def)));
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
        for (i, (slot, p)) in slots.into_iter().zip(params).enumerate() {
            let value = match (slot, p.kind, &p.default) {
                (Some(v), ..) => v,
                (None, ParamKind::VarArgs, _) => {
                    let form = if func.jit && !self.frame.host { Form::Kernel } else { Form::Tuple };
                    Object::sequence(form, std::mem::take(&mut rest))
                }
                (None, ParamKind::VarKwargs, _) => continue,
                (None, _, Some(default)) => match func.around.as_ref().and_then(|a| a.defaults[i].clone()) {
                    Some(v) => v,
                    None => self.default_value(func, p, default)?,
                },
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
    pub fn default_value(&mut self, func: &Func, p: &Param, default: &Expr) -> R<Object> {
        if let Some(v) = self.evaluate(func.module, default) {
            Ok(v)
        } else {
            let diag = Diagnostic::error(
                &names::NOT_CONSTEXPR,
                format!("the default of `{}` is no compile-time value", p.name),
            );
            let why = self.attempt(func.module, |cx| cx.expr(default)).err().flatten();
            let diag = because(diag.at(default.span, "cannot be evaluated"), why);
            Err(self.out.report(diag.help(format!("pass a value for `{}` in this call", p.name))))
        }
    }

    /// Reports a keyword that does not fit, with the parameter that was probably meant.
    fn no_parameter(&mut self, callee: &str, keyword: &Ident, params: &[&str], signature: &str) -> Reported {
        let name = &*keyword.name;
        let known = KEYWORDS_OF_OTHERS.iter().find(|(words, _)| words.contains(&name)).map(|(_, here)| *here);
        let meant = known.filter(|here| params.contains(here)).or_else(|| nearest(name, params.iter().copied()));
        let what = format!("`{callee}` has no parameter `{name}`");
        let message = meant.map_or_else(|| what.clone(), |n| format!("{what}; did you mean `{n}`?"));
        let diag = Diagnostic::error(&names::BAD_ARGUMENTS, message)
            .at(self.out.span(), "in this call")
            .help(format!("its parameters are ({signature})"));
        self.out.report(match meant {
            Some(near) => diag.fix(keyword.span, near),
            None => diag,
        })
    }

    /// Reports arguments that do not fit a function's parameters.
    pub fn bad_arguments(&mut self, callee: &str, what: String, signature: &str) -> Reported {
        self.out.error_help(
            &names::BAD_ARGUMENTS,
            format!("`{callee}` {what}"),
            "in this call",
            format!("its parameters are ({signature})"),
        )
    }
}

/// `1 argument`, `2 arguments`
fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A function's parameters as text.
#[must_use]
pub(super) fn signature(def: &FunctionDef) -> String {
    let show = |p: &Param| match p.kind {
        ParamKind::VarArgs => format!("*{}", p.name),
        ParamKind::VarKwargs => format!("**{}", p.name),
        _ if p.default.is_some() => format!("{}=…", p.name),
        _ => p.name.to_string(),
    };
    def.params.iter().map(show).collect::<Vec<_>>().join(", ")
}
