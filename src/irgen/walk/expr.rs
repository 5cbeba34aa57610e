//! Expressions: every node becomes an [`Object`], known at compile time or computed by operations.
//!
//! 1. Each expression sets the current location to its own place while it is evaluated.
//! 2. Both operands of an operator are evaluated even if the first is wrong, so that both errors are reported.
//! 3. If all operands are known at compile time, the operator is applied as Python does ([`super::semantic::fold`]);
//!    otherwise it becomes operations ([`super::semantic::arith`]).

use std::rc::Rc;

use super::walker::Walker;
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::ArithOp;
use crate::irgen::emit::{R, Reported, of_text};
use crate::irgen::front::advice;
use crate::irgen::semantic::{arith, faults, fold, index, items, operators};
use crate::irgen::value::{Const, Form, Object, SliceVal};
use crate::parser::ast::{BoolOp, CmpOp, Comp, Constant, Expr, ExprKind, FString, FStringPart, Slice};
use crate::source::Span;

impl Walker<'_> {
    /// Evaluates an expression.
    pub fn expr(&mut self, e: &Expr) -> R<Object> {
        let v = self.evaluated(e);
        if let Ok(v) = &v {
            self.see(e.span, v);
        }
        v
    }

    fn evaluated(&mut self, e: &Expr) -> R<Object> {
        match &e.kind {
            // The frequent ones that emit nothing need no location.
            ExprKind::Constant(c) => self.at(e.span, |cx| cx.literal(c)),
            ExprKind::Name(name) => self.at(e.span, |cx| cx.name(name)),
            // What is only looked up is not made.
            ExprKind::Attribute { .. } => self.at(e.span, |cx| cx.expr_here(e)),
            ExprKind::Subscript { index, .. } if !matches!(index.kind, ExprKind::Slice(_)) => {
                self.at(e.span, |cx| cx.expr_here(e))
            }
            _ => self.at(e.span, |cx| cx.expr_here(e).and_then(|v| fold::made(&mut cx.out, v))),
        }
    }

    fn expr_here(&mut self, e: &Expr) -> R<Object> {
        match &e.kind {
            ExprKind::Constant(c) => self.literal(c),
            ExprKind::Name(name) => self.name(name),
            ExprKind::FString(f) => self.fstring(f),
            ExprKind::Attribute { value, attr } => {
                if let Some(reported) = self.host_member(value, &attr.name) {
                    return Err(reported);
                }
                let base = self.expr(value)?;
                self.attr(&base, &attr.name)
            }
            ExprKind::Subscript { value, index } => {
                let (value, index) = (self.expr(value), self.expr(index));
                index::subscript(&mut self.out, &value?, &index?)
            }
            ExprKind::Slice(s) => self.slice(s),
            ExprKind::Call(call) => self.call_expr(call),
            ExprKind::UnaryOp { op, operand } => {
                let v = self.expr(operand)?;
                operators::unary(&mut self.out, *op, &v)
            }
            ExprKind::BinOp { left, op, right } => {
                let (a, b) = (self.expr(left), self.expr(right));
                operators::binary(&mut self.out, *op, &a?, &b?)
            }
            ExprKind::BoolOp { op, values } => self.bool_op(*op, values),
            ExprKind::Compare { left, rest } => self.comparison(left, rest),
            ExprKind::IfExp { test, body, orelse } => self.if_expr(test, body, orelse),
            ExprKind::Lambda(l) => self.lambda(l),
            ExprKind::Walrus { target, value } => {
                let old = self.naming.replace(target.name.clone());
                let pending = self.frame.pending.contains(&target.name);
                let value = self.expr(value).and_then(|v| if pending { Ok(v) } else { self.assignable(&v) });
                self.naming = old;
                let value = value?;
                self.see_bound(target.span, &value);
                self.frame.pending.retain(|n| *n != target.name);
                self.set(&target.name, value.clone());
                Ok(value)
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let form = match e.kind {
                    _ if !self.frame.host => Form::Kernel,
                    ExprKind::List(_) => Form::List,
                    _ => Form::Tuple,
                };
                Ok(Object::sequence(form, self.exprs(items)?))
            }
            ExprKind::ListComp(c) | ExprKind::Generator(c) => self.comprehension(c),
            ExprKind::Starred(_) => Err(self
                .out
                .no_syntax("a starred expression outside of a call or a tuple", "write the values one by one")),
            ExprKind::Dict(items) => self.dict(items),
            ExprKind::DictComp(c) => self.dict_comprehension(c),
            ExprKind::Set(_) | ExprKind::SetComp(_) => {
                Err(self.out.no_syntax("a set", "use a tuple: `x in (1, 2)` works on compile-time values"))
            }
            ExprKind::Yield(_) | ExprKind::YieldFrom(_) => {
                Err(self.out.no_syntax("`yield`", advice::statement("yield")))
            }
            ExprKind::Await(_) => Err(self.out.no_syntax("`await`", advice::statement("await"))),
        }
    }

    /// A feature of Python that kernels do not have, with what to write instead.
    pub fn no_syntax(&mut self, what: &str, help: &str) -> Reported {
        self.out.error_help(
            &names::NOT_IN_KERNELS,
            format!("{what} is not part of the kernel language"),
            "Python, but not Triton",
            help,
        )
    }

    /// Several expressions; `*x` is spread. All are evaluated even if one is wrong.
    pub fn exprs(&mut self, items: &[Expr]) -> R<Vec<Object>> {
        let mut values = Vec::with_capacity(items.len());
        let mut failed = false;
        for item in items {
            let spread = match &item.kind {
                ExprKind::Starred(inner) => Some(inner),
                _ => None,
            };
            match (self.expr(spread.map_or(item, |inner| inner)), spread.is_some()) {
                (Ok(Object::Tuple(inner)), true) => values.extend(inner.iter().cloned()),
                (Ok(other), true) => {
                    failed = true;
                    self.out.replace_span(item.span);
                    let _ = faults::expected(&mut self.out, "a tuple after `*`", &other);
                }
                (Ok(v), false) => values.push(v),
                (Err(_), _) => failed = true,
            }
        }
        if failed { Err(Reported) } else { Ok(values) }
    }

    fn literal(&mut self, c: &Constant) -> R<Object> {
        Ok(Object::Const(match c {
            Constant::None => Const::None,
            Constant::Bool(b) => Const::Bool(*b),
            Constant::Ellipsis => Const::Ellipsis,
            Constant::Int(i) => match i128::try_from(*i) {
                Ok(i) => Const::Int(i),
                Err(_) => {
                    return Err(self.out.error_help(
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
                return Err(self
                    .out
                    .no_syntax("a complex number", "keep the real and the imaginary part in two values"));
            }
            Constant::Bytes(_) => return Err(self.out.no_syntax("a bytes literal", "use a string, or integers")),
        }))
    }

    fn fstring(&mut self, f: &FString) -> R<Object> {
        let mut text = String::new();
        for part in &f.parts {
            match part {
                FStringPart::Literal(s) => text.push_str(s),
                FStringPart::Field(field) => {
                    let v = self.expr(&field.value)?;
                    self.printable(&field.value, &v)?;
                    // In kernels Triton passes over what stands behind the colon; host code is Python's.
                    if self.frame.host && field.spec.is_some() {
                        return Err(self.out.unsupported("a format behind the colon of an f-string, in host code,"));
                    }
                    self.out.room(v.weight().saturating_add(of_text(text.len())))?;
                    text.push_str(&match (&v, field.conversion) {
                        (Object::Const(Const::Str(s)), Some(_)) if field.conversion != Some('s') => format!("'{s}'"),
                        _ => fold::text(&mut self.out, &v)?,
                    });
                }
            }
        }
        Ok(Const::str(&text).into())
    }

    /// Reports a value whose text is not known at compile time.
    fn printable(&mut self, e: &Expr, v: &Object) -> R<()> {
        fold::known_whole(&mut self.out, v)?;
        let is_known = |v: &Object| matches!(v, Object::Const(_) | Object::Dict(_));
        match v {
            Object::Tuple(items) if items.iter().all(is_known) => Ok(()),
            v if is_known(v) => Ok(()),
            Object::Error => Err(Reported),
            other => {
                let (found, source) = (other.describe(), self.mods.map.text(e.span).to_owned());
                let diag = Diagnostic::error(
                    &names::NOT_CONSTEXPR,
                    format!("a string is made at compile time, but `{source}` is {found}"),
                );
                let help = format!("print it with the string beside it: `tl.device_print(\"{source}\", {source})`");
                Err(self.out.report(diag.at(e.span, "known only at run time").help(help)))
            }
        }
    }

    fn slice(&mut self, s: &Slice) -> R<Object> {
        let mut part = |e: &Option<Box<Expr>>| e.as_ref().map_or(Ok(Object::NONE), |e| self.expr(e));
        let (lower, upper, step) = (part(&s.lower)?, part(&s.upper)?, part(&s.step)?);
        Ok(Object::Slice(Rc::new(SliceVal { lower, upper, step })))
    }

    /// Warns of `and` and `or` between tensors: nothing is left out, both sides are computed for each element.
    fn warn_of_logic(&mut self, op: BoolOp, values: &[Object], written: &[Expr]) {
        let block = |v: &Object| matches!(v, Object::Tensor(t) if t.ty.is_block() && t.ty.dtype.is_bool());
        if !values.iter().any(block) || self.mods.get(self.frame.module).prelude {
            return;
        }
        let (word, operator) = (op.symbol(), if op == BoolOp::And { "&" } else { "|" });
        let diag = Diagnostic::warning(
            &names::DOUBTFUL,
            format!("`{word}` of tensors is deprecated: it is computed element by element"),
        )
        .at(self.out.span(), "tensors on both sides or on one")
        .help(format!("write `{operator}`, with parentheses around comparisons: `(a < b) {operator} (c < d)`"));
        let edits = self.with_operator(word, operator, written);
        let _ = self.out.report(match edits {
            Some(edits) => diag.fix_all(format!("write `{operator}`"), edits),
            None => diag,
        });
    }

    /// The edits that put one operator in the place of another between operands, with parentheses around those that
    /// bind less.
    fn with_operator(&self, word: &str, operator: &str, operands: &[Expr]) -> Option<Vec<(Span, String)>> {
        let mut edits = vec![];
        for (i, e) in operands.iter().enumerate() {
            let before = i.checked_sub(1).map(|i| Span { lo: operands[i].span.hi, hi: e.span.lo, ..e.span });
            let after = operands.get(i + 1).map(|b| Span { lo: e.span.hi, hi: b.span.lo, ..e.span });
            if let Some(gap) = before {
                let at = gap.lo + find_word(self.mods.map.text(gap), word)?;
                edits.push((Span { lo: at, hi: at + word.len() as u32, ..gap }, operator.to_owned()));
            }
            let loose = matches!(e.kind, ExprKind::Compare { .. } | ExprKind::UnaryOp { .. } | ExprKind::IfExp { .. });
            let opened = before.is_none_or(|gap| self.mods.map.text(gap).trim_end().ends_with('('));
            let closed = after.is_none_or(|gap| self.mods.map.text(gap).trim_start().starts_with(')'));
            if loose && !(opened && closed) {
                edits.push((Span { hi: e.span.lo, ..e.span }, "(".to_owned()));
                edits.push((Span { lo: e.span.hi, ..e.span }, ")".to_owned()));
            }
        }
        edits.sort_by_key(|(span, _)| (span.lo, span.hi));
        Some(edits)
    }

    fn bool_op(&mut self, op: BoolOp, values: &[Expr]) -> R<Object> {
        let mut dynamic = vec![];
        let mut last = Object::NONE;
        for e in values {
            let v = self.expr(e)?;
            if matches!(v, Object::Tensor(_)) {
                dynamic.push(v);
                continue;
            }
            // A compile-time operand either decides the whole or has no say.
            if fold::truth(&mut self.out, &v)? == (op == BoolOp::Or) {
                return Ok(v);
            }
            last = v;
        }
        self.warn_of_logic(op, &dynamic, values);
        self.combine(op, dynamic, last)
    }

    /// Joins run-time truth values, the last two first.
    fn combine(&mut self, op: BoolOp, mut values: Vec<Object>, otherwise: Object) -> R<Object> {
        let kind = if op == BoolOp::And { ArithOp::Andi } else { ArithOp::Ori };
        let Some(mut acc) = values.pop() else { return Ok(otherwise) };
        while let Some(v) = values.pop() {
            acc = arith::logical(&mut self.out, kind, &v, &acc)?.into();
        }
        Ok(acc)
    }

    fn comparison(&mut self, left: &Expr, rest: &[(CmpOp, Expr)]) -> R<Object> {
        let mut a = self.expr(left);
        let (mut dynamic, mut last) = (vec![], Object::NONE);
        let mut before = left.span.hi;
        for (op, e) in rest {
            let b = self.expr(e);
            let (x, y) = (a?, b?);
            let left_end = std::mem::replace(&mut before, e.span.hi);
            if matches!(op, CmpOp::Is | CmpOp::IsNot) {
                self.warn_of_identity(*op, &x, &y, Span { lo: left_end, hi: e.span.lo, ..e.span });
            }
            let v = operators::compare(&mut self.out, *op, &x, &y)?;
            a = Ok(y);
            if rest.len() == 1 {
                return Ok(v);
            }
            if matches!(v, Object::Tensor(_)) {
                dynamic.push(v);
            } else if fold::truth(&mut self.out, &v)? {
                last = v;
            } else {
                return Ok(v);
            }
        }
        self.combine(BoolOp::And, dynamic, last)
    }

    /// Warns of `is` with a string or a number, as Python does of literals.
    fn warn_of_identity(&mut self, op: CmpOp, a: &Object, b: &Object, gap: Span) {
        let value = |v: &Object| matches!(v, Object::Const(Const::Str(_) | Const::Int(_) | Const::Float(_)));
        if !(value(a) && value(b)) || self.frame.host {
            return;
        }
        let equal = if op == CmpOp::Is { "==" } else { "!=" };
        let message =
            format!("`{}` compares identity, which Python does not promise for strings and numbers", op.symbol());
        let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(self.out.span(), "compared by value here");
        let diag = diag.help(format!("write `{equal}`"));
        let at = find_word(self.mods.map.text(gap), op.symbol()).map(|at| Span {
            lo: gap.lo + at,
            hi: gap.lo + at + op.symbol().len() as u32,
            ..gap
        });
        let _ = self.out.report(at.map_or(diag.clone(), |at| diag.fix(at, equal)));
    }

    /// `[f(x) for x in items if c(x)]` over a tuple, at compile time.
    fn comprehension(&mut self, c: &Comp) -> R<Object> {
        if self.frame.host {
            return self.host_comprehension(c);
        }
        let [clause] = c.clauses.as_slice() else {
            return Err(self
                .out
                .no_syntax("a comprehension with several `for`", "write one comprehension inside the other"));
        };
        let items = self.expr(&clause.iter)?;
        let Some(items) = items::iterate(&items) else {
            return Err(faults::no_unrolling(&mut self.out, &items, "a comprehension"));
        };
        let mut out = vec![];
        for item in items {
            self.out.step()?;
            self.bind_target(&clause.target, item);
            let mut keep = true;
            for test in &clause.ifs {
                let v = self.expr(test)?;
                keep = fold::truth(&mut self.out, &v)?;
                if !keep {
                    break;
                }
            }
            if keep {
                out.push(self.expr(&c.element)?);
            }
        }
        Ok(Object::tuple(out))
    }
}

/// Where a word stands in a text between operands, which may hold parentheses and line breaks beside it.
fn find_word(gap: &str, word: &str) -> Option<u32> {
    gap.find(word).filter(|_| !gap.contains('#')).map(|at| at as u32)
}
