//! The bound arguments of a primitive, with the conversions that primitives need.

use crate::diag::Code;
use crate::diag::codes::names;
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R, Reported};
use crate::irgen::semantic::{convert, items};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Args, Class, Const, Object};

impl Args {
    #[must_use]
    pub fn get(&self, i: usize) -> &Object {
        self.values.get(i).unwrap_or(&Object::NONE)
    }

    /// The argument unless it is `None`.
    #[must_use]
    pub fn given(&self, i: usize) -> Option<&Object> {
        self.values.get(i).filter(|v| !v.is_none())
    }

    /// Works on an argument; what is reported stands at its place.
    pub fn placed<T>(&self, cx: &mut Emitter, i: usize, f: impl FnOnce(&mut Emitter) -> T) -> T {
        let Some(place) = self.places.get(i).copied().flatten() else { return f(cx) };
        let call = cx.replace_span(place);
        let result = f(cx);
        cx.replace_span(call);
        result
    }

    /// The argument as a tensor; numbers become constants.
    pub fn tensor(&self, cx: &mut Emitter, i: usize) -> R<Tensor> {
        self.placed(cx, i, |cx| convert::to_tensor(cx, self.get(i)))
    }

    /// The argument as a tensor unless it is `None`.
    pub fn optional_tensor(&self, cx: &mut Emitter, i: usize) -> R<Option<Tensor>> {
        self.given(i).map(|v| self.placed(cx, i, |cx| convert::to_tensor(cx, v))).transpose()
    }

    /// Reports an error of an argument, at its place.
    pub(super) fn report(
        &self,
        cx: &mut Emitter,
        i: usize,
        code: &'static Code,
        message: String,
        label: impl Into<String>,
        help: String,
    ) -> Reported {
        self.placed(cx, i, |cx| cx.error_help(code, message, label, help))
    }

    fn not_constexpr<T>(&self, cx: &mut Emitter, i: usize, what: &str) -> R<T> {
        if matches!(self.get(i), Object::Error) {
            return Err(Reported);
        }
        let (name, found) = (self.builtin.params().get(i).map_or("?", |p| p.name), self.get(i).describe());
        let help = self.constexpr_help(cx, i, name, what);
        Err(self.report(
            cx,
            i,
            &names::NOT_CONSTEXPR,
            format!("`{}` of `{}` must be {what} known at compile time, found {found}", name, self.builtin.name),
            format!("{found} for `{name}`"),
            help,
        ))
    }

    /// What to do about an argument that is not known, or that is known and of the wrong kind.
    fn constexpr_help(&self, cx: &Emitter, i: usize, name: &str, what: &str) -> String {
        // `tl.max` is written in the language itself, with `reduce`.
        let caller = cx.calls().last().map_or("", |c| c.callee.as_str());
        match (self.builtin.name, name, self.get(i)) {
            ("reduce", "axis", _) if matches!(caller, "max" | "min") => {
                format!("`tl.{caller}` reduces one tensor along an axis; of two values take `tl.{caller}imum(x, y)`")
            }
            ("arange", "start", Object::Tensor(_)) => "start at 0 and add the offset: `start + tl.arange(0, BLOCK)`".to_owned(),
            ("arange", "end", Object::Tensor(_)) => {
                "use a block size known at compile time: a parameter annotated `tl.constexpr` to which a number is passed; mask the rest: `mask=offs < n`"
                    .to_owned()
            }
            (_, _, Object::Const(Const::Lambda(_))) => "write a function at the top level of the file, with `@triton.jit`".to_owned(),
            (_, _, Object::Const(Const::Class(Class::Float))) if what == "a dtype" => "write `tl.float32`".to_owned(),
            (_, _, Object::Const(Const::Class(Class::Int))) if what == "a dtype" => "write `tl.int32`".to_owned(),
            (_, _, Object::Const(Const::Class(Class::Bool))) if what == "a dtype" => "write `tl.int1`".to_owned(),
            (_, _, Object::Const(_)) if what == "a dtype" => "pass a type, such as `tl.float32`".to_owned(),
            (_, _, Object::Tensor(_)) if what == "a dtype" => {
                "pass a type, such as `tl.float32` or `y.dtype`; of a pointer it is `y_ptr.dtype.element_ty`".to_owned()
            }
            (_, _, Object::Const(_)) => format!("pass {what}"),
            (_, "cond", Object::Tensor(_)) => {
                "check run-time values with `tl.device_assert(cond, \"message\")`, and compile with --debug".to_owned()
            }
            _ => "pass a literal or a parameter annotated `tl.constexpr`".to_owned(),
        }
    }

    /// A compile-time integer.
    pub fn int(&self, cx: &mut Emitter, i: usize) -> R<i128> {
        match self.get(i).as_const().and_then(Const::as_int) {
            Some(v) => Ok(v),
            None => self.not_constexpr(cx, i, "an integer"),
        }
    }

    /// A compile-time truth value. A string, a type or a function is taken for a mistake.
    pub fn flag(&self, cx: &mut Emitter, i: usize) -> R<bool> {
        match self.get(i) {
            Object::Const(c) if matches!(c, Const::None) || c.as_float().is_some() => Ok(c.truth()),
            _ => self.not_constexpr(cx, i, "a truth value"),
        }
    }

    /// A compile-time string; `None` counts as empty.
    pub fn text(&self, cx: &mut Emitter, i: usize) -> R<std::rc::Rc<str>> {
        match self.get(i) {
            Object::Const(Const::Str(s)) => Ok(s.clone()),
            Object::Const(Const::None) => Ok(std::rc::Rc::from("")),
            _ => self.not_constexpr(cx, i, "a string"),
        }
    }

    /// One of several words; gives what it stands for.
    pub fn word<T: Copy>(&self, cx: &mut Emitter, i: usize, words: &[(&str, T)]) -> R<T> {
        let text = self.text(cx, i)?;
        if let Some((_, v)) = words.iter().find(|(w, _)| *w == &*text) {
            return Ok(*v);
        }
        let name = self.builtin.params().get(i).map_or("?", |p| p.name);
        let choices: Vec<String> = words.iter().filter(|(w, _)| !w.is_empty()).map(|(w, _)| format!("'{w}'")).collect();
        Err(self.report(
            cx,
            i,
            &names::BAD_ARGUMENTS,
            format!("`{name}` of `{}` cannot be '{text}'", self.builtin.name),
            "not a choice",
            match (name, &*text.to_ascii_lowercase()) {
                ("input_precision", "fp32" | "float32" | "f32" | "full" | "highest") => {
                    format!("'ieee' computes in fp32; choose one of {}", choices.join(", "))
                }
                _ => match crate::diag::suggest::nearest(&text, words.iter().map(|(w, _)| *w)) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("choose one of {}", choices.join(", ")),
                },
            },
        ))
    }

    /// An element type.
    pub fn dtype(&self, cx: &mut Emitter, i: usize) -> R<Dtype> {
        match self.get(i) {
            Object::Const(Const::Type(t)) => Ok(t.dtype),
            Object::Const(Const::Str(s)) if Dtype::parse(s).is_some() => Ok(Dtype::parse(s).unwrap_or(Dtype::Void)),
            _ => self.not_constexpr(cx, i, "a dtype"),
        }
    }

    /// A function to combine elements with.
    pub fn function<'a>(&'a self, cx: &mut Emitter, i: usize) -> R<&'a Object> {
        match self.get(i) {
            v @ Object::Const(Const::Func(_) | Const::Builtin(_)) => Ok(v),
            _ => self.not_constexpr(cx, i, "a jit function"),
        }
    }

    /// A shape given as one tuple or as the remaining arguments.
    pub fn shape(&self, cx: &mut Emitter, i: usize) -> R<Vec<i64>> {
        let v = match self.get(i) {
            Object::Tuple(items) if items.len() == 1 && matches!(items[0], Object::Tuple(_)) => items[0].clone(),
            v => v.clone(),
        };
        self.placed(cx, i, |cx| items::shape_of(cx, &v))
    }
}
