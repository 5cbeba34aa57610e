//! Expressions: every node becomes a [`Val`], known at compile time or computed by operations.
//!
//! 1. Each expression sets the current location to its own place while it is evaluated.
//! 2. Both operands of an operator are evaluated even if the first is wrong, so that both errors are reported.
//! 3. If all operands are known at compile time, the operator is applied as Python does ([`super::semantic::fold`]);
//!    otherwise it becomes operations ([`super::semantic::arith`]).

use std::rc::Rc;

use super::advice;
use super::budget::of_text;
use super::lower::{Lower, R, Reported};
use super::semantic::arith::Cmp;
use super::semantic::fold::same;
use super::value::{Class, Const, LambdaVal, SliceVal, Tensor, Val};
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::ArithOp;
use crate::parser::ast::{BinOp, BoolOp, CmpOp, Comp, Constant, Expr, ExprKind, FString, FStringPart, Slice, UnaryOp};

impl Lower<'_> {
    /// Evaluates an expression.
    pub fn expr(&mut self, e: &Expr) -> R<Val> {
        match &e.kind {
            // The frequent ones that emit nothing need no location.
            ExprKind::Constant(c) => self.at(e.span, |cx| cx.literal(c)),
            ExprKind::Name(name) => self.at(e.span, |cx| cx.name(name)),
            // What is only looked up is not made.
            ExprKind::Attribute { .. } => self.at(e.span, |cx| cx.expr_here(e)),
            ExprKind::Subscript { index, .. } if !matches!(index.kind, ExprKind::Slice(_)) => {
                self.at(e.span, |cx| cx.expr_here(e))
            }
            _ => self.at(e.span, |cx| cx.expr_here(e).and_then(|v| cx.made(v))),
        }
    }

    fn expr_here(&mut self, e: &Expr) -> R<Val> {
        match &e.kind {
            ExprKind::Constant(c) => self.literal(c),
            ExprKind::Name(name) => self.name(name),
            ExprKind::FString(f) => self.fstring(f),
            ExprKind::Attribute { value, attr } => {
                if let Some(reported) = self.host_member(value, &attr.name) {
                    return Err(reported);
                }
                let base = self.expr(value)?;
                self.attribute(&base, &attr.name)
            }
            ExprKind::Subscript { value, index } => {
                let (value, index) = (self.expr(value), self.expr(index));
                self.subscript(&value?, &index?)
            }
            ExprKind::Slice(s) => self.slice(s),
            ExprKind::Call(call) => self.call(call),
            ExprKind::UnaryOp { op, operand } => {
                let v = self.expr(operand)?;
                self.unary(*op, &v)
            }
            ExprKind::BinOp { left, op, right } => {
                let (a, b) = (self.expr(left), self.expr(right));
                self.binary_op(*op, &a?, &b?)
            }
            ExprKind::BoolOp { op, values } => self.bool_op(*op, values),
            ExprKind::Compare { left, rest } => self.comparison(left, rest),
            ExprKind::IfExp { test, body, orelse } => self.if_expr(test, body, orelse),
            ExprKind::Lambda(l) => {
                Ok(Const::Lambda(Rc::new(LambdaVal { def: Rc::new((**l).clone()), module: self.frame.module })).into())
            }
            ExprKind::Walrus { target, value } => {
                let old = self.naming.replace(target.name.clone());
                let value = self.expr(value).and_then(|v| self.assignable(&v));
                self.naming = old;
                let value = value?;
                self.set(&target.name, value.clone());
                Ok(value)
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => Ok(Val::tuple(self.exprs(items)?)),
            ExprKind::ListComp(c) | ExprKind::Generator(c) => self.comprehension(c),
            ExprKind::Starred(_) => {
                Err(self.no_syntax("a starred expression outside of a call or a tuple", "write the values one by one"))
            }
            ExprKind::Dict(items) => self.dict(items),
            ExprKind::DictComp(c) => self.dict_comprehension(c),
            ExprKind::Set(_) | ExprKind::SetComp(_) => {
                Err(self.no_syntax("a set", "use a tuple: `x in (1, 2)` works on compile-time values"))
            }
            ExprKind::Yield(_) | ExprKind::YieldFrom(_) => Err(self.no_syntax("`yield`", advice::statement("yield"))),
            ExprKind::Await(_) => Err(self.no_syntax("`await`", advice::statement("await"))),
        }
    }

    /// A feature of Python that kernels do not have, with what to write instead.
    pub fn no_syntax(&mut self, what: &str, help: &str) -> Reported {
        self.error_help(
            &names::NOT_IN_KERNELS,
            format!("{what} is not part of the kernel language"),
            "Python, but not Triton",
            help,
        )
    }

    /// Several expressions; `*x` is spread. All are evaluated even if one is wrong.
    pub fn exprs(&mut self, items: &[Expr]) -> R<Vec<Val>> {
        let mut values = Vec::with_capacity(items.len());
        let mut failed = false;
        for item in items {
            let spread = match &item.kind {
                ExprKind::Starred(inner) => Some(inner),
                _ => None,
            };
            match (self.expr(spread.map_or(item, |inner| inner)), spread.is_some()) {
                (Ok(Val::Tuple(inner)), true) => values.extend(inner.iter().cloned()),
                (Ok(other), true) => {
                    failed = true;
                    self.span = item.span;
                    let _ = self.expected("a tuple after `*`", &other);
                }
                (Ok(v), false) => values.push(v),
                (Err(_), _) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(values) }
    }

    fn literal(&mut self, c: &Constant) -> R<Val> {
        Ok(Val::Const(match c {
            Constant::None => Const::None,
            Constant::Bool(b) => Const::Bool(*b),
            Constant::Ellipsis => Const::Ellipsis,
            Constant::Int(i) => match i128::try_from(*i) {
                Ok(i) => Const::Int(i),
                Err(_) => {
                    return Err(self.error_help(
                        &types::INT_RANGE,
                        format!("the integer {i} is too large"),
                        "does not fit into 64 bits",
                        "integers go up to 2**64 - 1; write a float (`1e30`) if it need not be exact",
                    ));
                }
            },
            Constant::Float(f) => Const::Float(*f),
            Constant::Str(s) => Const::str(s),
            Constant::Imaginary(_) => {
                return Err(self.no_syntax("a complex number", "keep the real and the imaginary part in two values"));
            }
            Constant::Bytes(_) => return Err(self.no_syntax("a bytes literal", "use a string, or integers")),
        }))
    }

    fn fstring(&mut self, f: &FString) -> R<Val> {
        let mut text = String::new();
        for part in &f.parts {
            match part {
                FStringPart::Literal(s) => text.push_str(s),
                FStringPart::Field(field) => {
                    let v = self.expr(&field.value)?;
                    self.printable(&field.value, &v)?;
                    // In kernels Triton passes over what stands behind the colon; host code is Python's.
                    if self.frame.host && field.spec.is_some() {
                        return Err(self.unsupported("a format behind the colon of an f-string, in host code,"));
                    }
                    self.room(v.weight().saturating_add(of_text(text.len())))?;
                    text.push_str(&match (&v, field.conversion) {
                        (Val::Const(Const::Str(s)), Some(_)) if field.conversion != Some('s') => format!("'{s}'"),
                        _ => v.show(),
                    });
                }
            }
        }
        Ok(Const::str(&text).into())
    }

    /// Reports a value whose text is not known at compile time.
    fn printable(&mut self, e: &Expr, v: &Val) -> R<()> {
        self.known(v)?;
        let is_known = |v: &Val| matches!(v, Val::Const(_) | Val::Dict(_));
        match v {
            Val::Tuple(items) if items.iter().all(is_known) => Ok(()),
            v if is_known(v) => Ok(()),
            Val::Error => Err(Reported),
            other => {
                let (found, source) = (other.describe(), self.mods.map.text(e.span).to_owned());
                let diag = Diagnostic::error(
                    &names::NOT_CONSTEXPR,
                    format!("a string is made at compile time, but `{source}` is {found}"),
                );
                let help = format!("print it with the string beside it: `tl.device_print(\"{source}\", {source})`");
                Err(self.report(diag.at(e.span, "known only at run time").help(help)))
            }
        }
    }

    fn slice(&mut self, s: &Slice) -> R<Val> {
        let mut part = |e: &Option<Box<Expr>>| e.as_ref().map_or(Ok(Val::NONE), |e| self.expr(e));
        let (lower, upper, step) = (part(&s.lower)?, part(&s.upper)?, part(&s.step)?);
        Ok(Val::Slice(Rc::new(SliceVal { lower, upper, step })))
    }

    /// `value[index]`
    pub fn subscript(&mut self, value: &Val, index: &Val) -> R<Val> {
        match (value, index) {
            (Val::Tensor(t), _) => self.index_tensor(*t, index),
            (Val::Tuple(items), Val::Const(c)) if c.as_int().is_some() => {
                let i = c.as_int().unwrap_or(0);
                let at = if i < 0 { i + items.len() as i128 } else { i };
                match usize::try_from(at).ok().and_then(|i| items.get(i)) {
                    Some(v) => Ok(v.clone()),
                    None => Err(self.outside(i, items.len())),
                }
            }
            (Val::Tuple(items), Val::Slice(s)) => self.slice_tuple(items, s),
            (Val::Dict(items), _) => self.index_dict(items, index),
            (Val::Const(Const::Str(text)), Val::Const(Const::Int(i))) => {
                let at = if *i < 0 { i + text.chars().count() as i128 } else { *i };
                match usize::try_from(at).ok().and_then(|i| text.chars().nth(i)) {
                    Some(c) => Ok(Const::str(&c.to_string()).into()),
                    None => Err(self.outside_text(*i, text)),
                }
            }
            (Val::Tuple(_), _) => {
                Err(self.expected("a compile-time integer or a slice as the index of a tuple", index))
            }
            _ => Err(self.no_index(value)),
        }
    }

    /// Reports a value that has no elements.
    fn no_index(&mut self, value: &Val) -> Reported {
        let help = match value {
            Val::Const(Const::Func(_)) => {
                "`kernel[grid](…)` launches from the host; in a kernel call a `@triton.jit` function as `f(…)`"
            }
            Val::Desc(_) => "read a block with `desc.load([offsets])`",
            Val::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_)) => "a number has no elements; use it as it is",
            Val::Range(_) => "write a loop over the range",
            Val::Method(_) => "call the method first",
            _ => "tuples, strings and tensors (by `:` and `None`) can be indexed",
        };
        let found = value.describe();
        self.error_help(&types::INDEX, format!("{found} cannot be indexed"), "indexed here", help)
    }

    /// The message for an index outside of a tuple, whose length decides the advice.
    fn outside(&mut self, i: i128, len: usize) -> Reported {
        if self.list_changed {
            return Reported;
        }
        let help = match len {
            0 => "the tuple is empty; the shape of a scalar or a pointer is, too: sizes of arrays in memory are passed to the kernel"
                .to_owned(),
            n => format!("the indices go from 0 to {}, or from -{n} to -1", n - 1),
        };
        self.error_help(&types::INDEX, format!("the index {i} is outside of a tuple of {len}"), "out of range", help)
    }

    fn slice_tuple(&mut self, items: &[Val], s: &SliceVal) -> R<Val> {
        let n = items.len() as i128;
        let mut bound = |v: &Val, default: i128| -> R<i128> {
            match v {
                v if v.is_none() => Ok(default),
                Val::Const(c) if c.as_int().is_some() => {
                    let i = c.as_int().unwrap_or(0);
                    Ok((if i < 0 { i + n } else { i }).clamp(0, n))
                }
                other => Err(self.expected("a compile-time integer", other)),
            }
        };
        let (lo, hi) = (bound(&s.lower, 0)?, bound(&s.upper, n)?);
        let step = match &s.step {
            v if v.is_none() => 1,
            Val::Const(Const::Int(i)) if *i > 0 => usize::try_from(*i).unwrap_or(usize::MAX),
            other => return Err(self.expected("a positive step", other)),
        };
        Ok(Val::tuple(
            items.get(lo as usize..hi.max(lo) as usize).unwrap_or(&[]).iter().step_by(step).cloned().collect(),
        ))
    }

    fn outside_text(&mut self, i: i128, text: &str) -> Reported {
        let help = format!("'{text}' has {} characters", text.chars().count());
        self.error_help(&types::INDEX, format!("the index {i} is outside of the string"), "out of range", help)
    }

    /// `x[:, None]`: only whole dimensions and new ones.
    fn index_tensor(&mut self, t: Tensor, index: &Val) -> R<Val> {
        let single = [index.clone()];
        let parts: &[Val] = match index {
            Val::Tuple(items) => items,
            _ => &single,
        };
        let rank = t.ty.shape().len();
        let whole = |v: &Val| matches!(v, Val::Slice(s) if s.lower.is_none() && s.upper.is_none() && s.step.is_none());
        // Triton up to 3.6 passed over the `:` of a scalar.
        let scalar = rank == 0 && !t.ty.dtype.is_ptr() && parts.iter().any(whole);
        if scalar && parts.iter().all(|p| whole(p) || p.is_none()) {
            let message =
                format!("{} has no dimension for `:`; Triton takes this up to 3.6 only", Val::from(t).describe());
            let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(self.span, "the `:` is passed over");
            let _ = self.report(diag.help(
                "write one `None` for each dimension of 1, as in `x[None]`, or leave the index out: scalars broadcast by themselves",
            ));
        }
        let (mut result, mut used) = (t, 0);
        for (dim, part) in parts.iter().enumerate() {
            match part {
                v if v.is_none() => result = self.expand_dims(result, dim)?,
                v if whole(v) => {
                    used += 1;
                    if used > rank && !scalar {
                        return Err(self.error_help(
                            &types::INDEX,
                            format!("too many indices for {}", Val::from(t).describe()),
                            "one `:` too many",
                            format!(
                                "it has {rank} dimension{}: write one `:` for each, and `None` for new ones",
                                if rank == 1 { "" } else { "s" }
                            ),
                        ));
                    }
                }
                Val::Error => return Err(Reported),
                other => {
                    let found = other.describe();
                    if t.ty.dtype.is_ptr() {
                        return Err(self.error_help(
                            &types::INDEX,
                            format!("a pointer cannot be indexed by {found}"),
                            "memory is read by `tl.load`",
                            "add the index to the pointer: `tl.load(ptr + i)`, and `tl.store(ptr + i, value)` to write",
                        ));
                    }
                    return Err(self.error_help(
                        &types::INDEX,
                        format!("a tensor takes only `:` and `None` as indices, found {found}"),
                        "not an index of tensors",
                        "elements of a tensor cannot be picked one by one; use a reduction, `tl.gather`, or load what you need",
                    ));
                }
            }
        }
        Ok(result.into())
    }

    /// A unary operator on any value.
    pub fn unary(&mut self, op: UnaryOp, v: &Val) -> R<Val> {
        let Val::Tensor(t) = v else { return self.fold_unary(op, v) };
        Ok(match op {
            UnaryOp::Neg => self.negate(*t)?.into(),
            UnaryOp::Pos => v.clone(),
            UnaryOp::Invert => self.invert(*t)?.into(),
            UnaryOp::Not => self.logical_not(v)?.into(),
        })
    }

    /// A binary operator on any two values.
    pub fn binary_op(&mut self, op: BinOp, a: &Val, b: &Val) -> R<Val> {
        if matches!(a, Val::Tensor(_)) || matches!(b, Val::Tensor(_)) {
            if matches!(a, Val::Tuple(_)) || matches!(b, Val::Tuple(_)) {
                return Err(self.bad_operands(op.symbol(), a, b));
            }
            return self.binary(op, a, b);
        }
        self.fold_binary(op, a, b)
    }

    /// Warns of `and` and `or` between tensors: nothing is left out, both sides are computed for each element.
    fn warn_of_logic(&mut self, op: BoolOp, values: &[Val]) {
        let block = |v: &Val| matches!(v, Val::Tensor(t) if t.ty.is_block() && t.ty.dtype.is_bool());
        if !values.iter().any(block) || self.mods.get(self.frame.module).prelude {
            return;
        }
        let (word, operator) = (op.symbol(), if op == BoolOp::And { "&" } else { "|" });
        let diag = Diagnostic::warning(
            &names::DOUBTFUL,
            format!("`{word}` of tensors is deprecated: it is computed element by element"),
        )
        .at(self.span, "tensors on both sides or on one")
        .help(format!("write `{operator}`, with parentheses around comparisons: `(a < b) {operator} (c < d)`"));
        let _ = self.report(diag);
    }

    fn bool_op(&mut self, op: BoolOp, values: &[Expr]) -> R<Val> {
        let mut dynamic = vec![];
        let mut last = Val::NONE;
        for e in values {
            let v = self.expr(e)?;
            if matches!(v, Val::Tensor(_)) {
                dynamic.push(v);
                continue;
            }
            // A compile-time operand either decides the whole or has no say.
            if self.truth(&v)? == (op == BoolOp::Or) {
                return Ok(v);
            }
            last = v;
        }
        self.warn_of_logic(op, &dynamic);
        self.combine(op, dynamic, last)
    }

    /// Joins run-time truth values, the last two first.
    fn combine(&mut self, op: BoolOp, mut values: Vec<Val>, otherwise: Val) -> R<Val> {
        let kind = if op == BoolOp::And { ArithOp::Andi } else { ArithOp::Ori };
        let Some(mut acc) = values.pop() else { return Ok(otherwise) };
        while let Some(v) = values.pop() {
            acc = self.logical(kind, &v, &acc)?.into();
        }
        Ok(acc)
    }

    fn comparison(&mut self, left: &Expr, rest: &[(CmpOp, Expr)]) -> R<Val> {
        let mut a = self.expr(left);
        let (mut dynamic, mut last) = (vec![], Val::NONE);
        for (op, e) in rest {
            let b = self.expr(e);
            let (x, y) = (a?, b?);
            if matches!(op, CmpOp::Is | CmpOp::IsNot) {
                self.warn_of_identity(*op, &x, &y);
            }
            let v = self.compare_values(*op, &x, &y)?;
            a = Ok(y);
            if rest.len() == 1 {
                return Ok(v);
            }
            if matches!(v, Val::Tensor(_)) {
                dynamic.push(v);
            } else if self.truth(&v)? {
                last = v;
            } else {
                return Ok(v);
            }
        }
        self.combine(BoolOp::And, dynamic, last)
    }

    /// Warns of `is` with a string or a number, as Python does of literals.
    fn warn_of_identity(&mut self, op: CmpOp, a: &Val, b: &Val) {
        let value = |v: &Val| matches!(v, Val::Const(Const::Str(_) | Const::Int(_) | Const::Float(_)));
        if !(value(a) && value(b)) || self.frame.host {
            return;
        }
        let equal = if op == CmpOp::Is { "==" } else { "!=" };
        let message =
            format!("`{}` compares identity, which Python does not promise for strings and numbers", op.symbol());
        let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(self.span, "compared by value here");
        let _ = self.report(diag.help(format!("write `{equal}`")));
    }

    /// One comparison of any two values.
    pub fn compare_values(&mut self, op: CmpOp, a: &Val, b: &Val) -> R<Val> {
        let cmp = match op {
            CmpOp::Is => return Ok(Val::bool(identical(a, b))),
            CmpOp::IsNot => return Ok(Val::bool(!identical(a, b))),
            CmpOp::In | CmpOp::NotIn => return self.contains(a, b).map(|found| Val::bool(found == (op == CmpOp::In))),
            CmpOp::Eq => Cmp::Eq,
            CmpOp::NotEq => Cmp::Ne,
            CmpOp::Lt => Cmp::Lt,
            CmpOp::LtE => Cmp::Le,
            CmpOp::Gt => Cmp::Gt,
            CmpOp::GtE => Cmp::Ge,
        };
        if matches!(a, Val::Tensor(_)) || matches!(b, Val::Tensor(_)) {
            // Against None and the like only the outcome of `==` is known.
            let odd = |v: &Val| matches!(v, Val::Const(Const::None | Const::Str(_) | Const::Type(_)) | Val::Tuple(_));
            if (odd(a) || odd(b)) && matches!(cmp, Cmp::Eq | Cmp::Ne) {
                return Ok(Val::bool(cmp == Cmp::Ne));
            }
            return Ok(self.compare(cmp, a, b)?.into());
        }
        Ok(Val::bool(self.fold_compare(cmp, a, b)?))
    }

    fn contains(&mut self, item: &Val, container: &Val) -> R<bool> {
        self.work(container.own_weight() / 16)?;
        match (item, container) {
            (Val::Tensor(_), _) => Err(self.expected("a compile-time value before `in`", item)),
            (Val::Argument(_), _) => self.known(item).map(|()| false),
            (_, Val::Tuple(items)) => Ok(items.iter().any(|v| same(v, item))),
            (_, Val::Dict(items)) => Ok(items.iter().any(|(k, _)| same(k, item))),
            (Val::Const(Const::Str(part)), Val::Const(Const::Str(text))) => Ok(text.contains(&**part)),
            _ => Err(self.expected("a tuple or a string after `in`", container)),
        }
    }

    /// `[f(x) for x in items if c(x)]` over a tuple, at compile time.
    fn comprehension(&mut self, c: &Comp) -> R<Val> {
        if self.frame.host {
            return self.host_comprehension(c);
        }
        let [clause] = c.clauses.as_slice() else {
            return Err(
                self.no_syntax("a comprehension with several `for`", "write one comprehension inside the other")
            );
        };
        let items = self.expr(&clause.iter)?;
        let Some(items) = self.iterate(&items) else { return Err(self.no_unrolling(&items, "a comprehension")) };
        let mut out = vec![];
        for item in items {
            self.step()?;
            self.bind_target(&clause.target, item);
            let mut keep = true;
            for test in &clause.ifs {
                let v = self.expr(test)?;
                keep &= self.truth(&v)?;
            }
            if keep {
                out.push(self.expr(&c.element)?);
            }
        }
        Ok(Val::tuple(out))
    }

    /// Reports something that a loop at compile time cannot run over.
    pub fn no_unrolling(&mut self, over: &Val, what: &str) -> Reported {
        if matches!(over, Val::Error) {
            return Reported;
        }
        let (message, help) = match over {
            Val::Range(_) => (
                format!("{what} runs at compile time, but the bounds of this range are known only at run time"),
                "write a loop that adds up or stores each value: `for i in range(n): acc += …`",
            ),
            other => (
                format!("{what} cannot run over {}", other.describe()),
                "it runs over tuples, and over ranges whose bounds are `tl.constexpr`",
            ),
        };
        self.error_help(&names::NOT_CONSTEXPR, message, "runs over this", help)
    }

    /// The items of a tuple, a string or a range whose bounds are known.
    #[must_use]
    pub fn iterate(&self, v: &Val) -> Option<Vec<Val>> {
        match v {
            Val::Tuple(items) => Some(items.to_vec()),
            Val::Dict(items) => Some(items.iter().map(|(k, _)| k.clone()).collect()),
            Val::Range(r) => {
                let int = |v: &Val| v.as_const().and_then(Const::as_int);
                let (start, end, step) = (int(&r.start)?, int(&r.end)?, int(&r.step)?);
                if step == 0 || (end - start) / step > 1 << 20 {
                    return None;
                }
                let mut items = vec![];
                let mut i = start;
                while if step > 0 { i < end } else { i > end } {
                    items.push(Val::int(i));
                    i += step;
                }
                Some(items)
            }
            _ => None,
        }
    }

    /// The class that Python's `type(x)` names, for `isinstance`.
    #[must_use]
    pub fn is_instance(v: &Val, class: Class) -> bool {
        match class {
            Class::Tensor => matches!(v, Val::Tensor(_)) || matches!(v, Val::Argument(a) if a.ty.dtype.is_ptr()),
            Class::Constexpr => matches!(v, Val::Const(c) if !matches!(c, Const::Type(_))),
            Class::Tuple | Class::List => matches!(v, Val::Tuple(_)),
            Class::Dict => matches!(v, Val::Dict(_)),
            Class::Descriptor => matches!(v, Val::Desc(_)),
            Class::Int => {
                matches!(v, Val::Const(Const::Int(_) | Const::Bool(_)))
                    || matches!(v, Val::Argument(a) if a.ty.dtype.is_int())
            }
            Class::Float => {
                matches!(v, Val::Const(Const::Float(_))) || matches!(v, Val::Argument(a) if a.ty.dtype.is_float())
            }
            Class::Bool => matches!(v, Val::Const(Const::Bool(_))),
            Class::Str => matches!(v, Val::Const(Const::Str(_))),
            Class::Dtype => matches!(v, Val::Const(Const::Type(_))),
            Class::PointerType => matches!(v, Val::Const(Const::Type(t)) if t.dtype.is_ptr() && !t.is_block()),
            Class::BlockType => matches!(v, Val::Const(Const::Type(t)) if t.is_block()),
            Class::Const => false,
        }
    }
}

/// As Python's `is`: `None`, booleans, types and functions by identity, small values by equality of the same kind.
fn identical(a: &Val, b: &Val) -> bool {
    match (a, b) {
        (Val::Const(x), Val::Const(y)) => x.kind() == y.kind() && x == y,
        (Val::Tensor(x), Val::Tensor(y)) => x == y,
        (Val::Tuple(x), Val::Tuple(y)) => Rc::ptr_eq(x, y),
        _ => false,
    }
}
