//! Functions of the language: arguments of the first block, the body, and the `tt.return`s, whose type is that of all
//! returned values together.

use std::sync::Arc;

use super::frame::Frame;
use super::walker::Walker;
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::dialects::discardable;
use crate::ir::dialects::tt::tt;
use crate::ir::{Attr, AttrData, Block, Loc, Type, UbOp, Value};
use crate::irgen::emit::{Here, R, Reported, in_block};
use crate::irgen::semantic::convert;
use crate::irgen::types::Ty;
use crate::irgen::value::{Const, Func, Object, ObjectType};
use crate::parser::ast::{Constant, ExprKind, FunctionDef};

impl Walker<'_> {
    /// Lowers one function with these argument values, whose IR values only say the types. Gives the form of its
    /// result.
    pub fn function(
        &mut self,
        func: &Func,
        symbol: &str,
        bound: &[(Arc<str>, Object)],
        facts: &[Option<Attr>],
        public: bool,
    ) -> R<Object> {
        let errors = self.out.errors();
        let loc = self.loc_of(func.def.header);
        let mut inputs = vec![];
        for (_, v) in bound {
            inputs.extend(v.values().iter().map(|&v| self.out.ir.ty(v)));
        }
        let mut state = tt::Func::state(loc)
            .with(tt::Func::ATTR.sym_name, symbol)
            .with(tt::Func::ATTR.sym_visibility, if public { "public" } else { "private" })
            .with(tt::Func::ATTR.function_type, Type::function(&inputs, &[]))
            .with(discardable::NOINLINE, is_set(&func.def, "noinline"))
            .regions(1);
        if facts.iter().any(Option::is_some) {
            let dict = |fact: &Option<Attr>| {
                Attr::new(AttrData::Dict(fact.and_then(|f| discardable::DIVISIBILITY.entry(f)).into_iter().collect()))
            };
            state = state.with(tt::Func::ATTR.arg_attrs, &facts.iter().map(dict).collect::<Vec<_>>());
        }
        let op = self.out.ir.create_op(state);
        let module = self.out.ir.module_block();
        self.out.ir.append(module, op);
        let region = self.out.ir.region(op, 0);
        let entry = self.out.ir.add_block(region, &[]);
        let new = Frame::new(self.number(), func.module, Some(region), false);
        let outer = std::mem::replace(&mut self.frame, new);
        self.enter(entry, bound, loc);
        for p in &func.def.params {
            if let Some(v) = self.frame.scope.get(&p.name.name).cloned() {
                self.see_bound(p.name.span, &v);
            }
        }
        self.out.set_loc(loc);
        self.stmts(&func.def.body);
        let result = self.finish_function(loc, public);
        self.frame = outer;
        let (result, outputs) = result?;
        self.out.ir.put(op, tt::Func::ATTR.function_type, Type::function(&inputs, &outputs));
        let failed = self.out.errors() > errors;
        if failed { Err(Reported) } else { Ok(result) }
    }

    /// Makes the arguments of a function's first block and binds its parameters to them.
    fn enter(&mut self, entry: Block, bound: &[(Arc<str>, Object)], loc: Loc) {
        for (name, v) in bound {
            let part = |i: usize| match v {
                Object::Tensor(_) => name.to_string(),
                // As a launcher passes them: the descriptor, then extents and strides.
                Object::Desc(_) if i == 0 => name.to_string(),
                Object::Desc(d) if i <= d.shape.len() => format!("{name}.shape.{}", i - 1),
                Object::Desc(d) => format!("{name}.stride.{}", i - 1 - d.shape.len()),
                _ => format!("{name}.{i}"),
            };
            let args: Vec<Value> = v
                .values()
                .iter()
                .enumerate()
                .map(|(i, &value)| {
                    let ty = self.out.ir.ty(value);
                    let loc = Loc::named(&part(i), loc);
                    self.out.ir.add_arg(entry, ty, loc)
                })
                .collect();
            let value = v.rebuild(&mut args.into_iter());
            self.frame.scope.set(name, value);
        }
        self.out.replace_block(Some(entry));
    }

    /// Ends a function: settles the type of its result and makes the `tt.return`s.
    fn finish_function(&mut self, loc: Loc, kernel: bool) -> R<(Object, Vec<Type>)> {
        let returns = std::mem::take(&mut self.frame.returns);
        if let Some(r) = returns.iter().find(|r| kernel && !r.value.values().is_empty()) {
            let diag = Diagnostic::error(&names::NOT_IN_KERNELS, "a kernel cannot return a value")
                .at(r.span, format!("returns {}", r.value.describe()))
                .help("nobody receives it: store it through a pointer with `tl.store`, and end the kernel with a plain `return`");
            return Err(self.out.report(diag));
        }
        let mut ty: Option<ObjectType> = None;
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
                        return Err(self.out.report(diag));
                    }
                }
            });
        }
        let behind = std::mem::take(&mut self.frame.behind);
        let ty = ty.unwrap_or(ObjectType::Const(Const::None));
        let ty = behind.iter().fold(ty, |ty, other| Self::common(&ty, other).unwrap_or(ty));
        let mut result: Option<Object> = None;
        for r in returns {
            self.out.replace_here(Here { loc: r.loc, span: r.span });
            let (value, _) = in_block(self, r.block, |cx| -> R<Object> {
                let value = cx.convert_result(&r.value, &ty)?;
                let state = tt::Return::state(cx.out.loc(), &value.values());
                cx.out.emit(state)?;
                Ok(value)
            });
            // Of constants that are equal, as `1` and `1.0`, the first is the function's value.
            result = result.or(Some(value?));
        }
        let result = result.unwrap_or(Object::NONE);
        let outputs: Vec<Type> = result.values().iter().map(|&v| self.out.ir.ty(v)).collect();
        self.out.set_loc(loc);
        if self.out.block().is_some() {
            // Falling off the end of a function with a result leaves the result undefined.
            let poison: Vec<Value> = outputs.iter().map(|&t| self.out.value(UbOp::Poison, &[], t)).collect::<R<_>>()?;
            let state = tt::Return::state(loc, &poison);
            self.out.emit(state)?;
        }
        Ok((result, outputs))
    }

    /// The type that two returned values share; a constant takes the other's type only if it is that type's by itself.
    fn common(a: &ObjectType, b: &ObjectType) -> Option<ObjectType> {
        let tensor = |t: &ObjectType| match t {
            ObjectType::Const(c) => c.dtype().map(|d| ObjectType::Tensor(Ty::scalar(d))),
            other => Some(other.clone()),
        };
        match (a, b) {
            (ObjectType::Tuple(x), ObjectType::Tuple(y)) if x.len() == y.len() => {
                x.iter().zip(y).map(|(x, y)| Self::common(x, y)).collect::<Option<Vec<_>>>().map(ObjectType::Tuple)
            }
            _ if a == b => Some(a.clone()),
            _ => {
                let (x, y) = (tensor(a)?, tensor(b)?);
                (x == y).then_some(x)
            }
        }
    }

    fn convert_result(&mut self, v: &Object, ty: &ObjectType) -> R<Object> {
        match (v, ty) {
            (Object::Const(c), ObjectType::Tensor(t)) => {
                Ok(convert::scalar_constant(&mut self.out, c, t.dtype)?.into())
            }
            (Object::Tuple(items), ObjectType::Tuple(tys)) => {
                Ok(Object::tuple(items.iter().zip(tys).map(|(v, t)| self.convert_result(v, t)).collect::<R<_>>()?))
            }
            _ => Ok(v.clone()),
        }
    }
}

/// Whether a decorator sets an option, as in `@triton.jit(noinline=True)`.
#[must_use]
pub fn is_set(def: &FunctionDef, option: &str) -> bool {
    def.decorators
        .iter()
        .filter_map(|d| d.call())
        .any(|c| c.keyword(option).is_some_and(|e| matches!(&e.kind, ExprKind::Constant(Constant::Bool(true)))))
}
