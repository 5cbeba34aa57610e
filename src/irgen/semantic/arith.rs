//! The operators on tensors: operands are promoted to a common type, broadcast to a common shape, and one operation is
//! emitted.
//!
//! A Python number that stands beside a tensor takes the tensor's type unless its kind is higher (a float beside
//! integers), so `x * 2.0` stays `fp16` for an `fp16` x. See [`crate::irgen::types::computation_type`].

use super::convert::const_dtype;
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate, Enumeration};
use crate::ir::{ArithOp, Attr, OpKind, TtOp};
use crate::irgen::lower::{Lower, R, Reported};
use crate::irgen::types::{Dtype, NoCommonType, Ty, computation_type, promote_ints};
use crate::irgen::value::{Const, Tensor, Val};
use crate::parser::ast::BinOp;

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Cmp::Eq => "==",
            Cmp::Ne => "!=",
            Cmp::Lt => "<",
            Cmp::Le => "<=",
            Cmp::Gt => ">",
            Cmp::Ge => ">=",
        }
    }

    /// The predicate for this operand type, as an attribute.
    fn predicate(self, dtype: Dtype) -> Attr {
        let (float, int) = match self {
            Cmp::Eq => (CmpfPredicate::Oeq, CmpiPredicate::Eq),
            Cmp::Ne => (CmpfPredicate::Une, CmpiPredicate::Ne),
            Cmp::Lt => (CmpfPredicate::Olt, CmpiPredicate::Slt),
            Cmp::Le => (CmpfPredicate::Ole, CmpiPredicate::Sle),
            Cmp::Gt => (CmpfPredicate::Ogt, CmpiPredicate::Sgt),
            Cmp::Ge => (CmpfPredicate::Oge, CmpiPredicate::Sge),
        };
        match (dtype.is_float(), dtype.is_signed()) {
            (true, _) => float.attr(),
            (false, true) => int.attr(),
            (false, false) => int.unsigned().attr(),
        }
    }
}

/// What a binary operation allows.
#[derive(Clone, Copy, Default)]
pub struct Rules {
    pub left_ptr: bool,
    pub right_ptr: bool,
    pub division: bool,
}

/// What to do about operands that do not go together.
fn operand_help(op: &str, a: &Val, b: &Val) -> &'static str {
    let any = |test: &dyn Fn(&Val) -> bool| test(a) || test(b);
    let dtype = |v: &Val| v.as_tensor().map(|t| t.ty.dtype);
    let pointers = [a, b].into_iter().filter(|v| dtype(v).is_some_and(Dtype::is_ptr)).count();
    let floats = any(&|v| dtype(v).is_some_and(Dtype::is_float) || matches!(v, Val::Const(Const::Float(_))));
    match () {
        () if any(&Val::is_none) => "one side is None: ask `if x is not None` before it is used",
        () if any(&|v| matches!(v, Val::Const(Const::Str(_)))) => {
            "strings are known at compile time only; to print a value write `tl.device_print(\"x\", x)`"
        }
        () if any(&|v| matches!(v, Val::Const(Const::Func(_) | Const::Builtin(_)) | Val::Method(_))) => {
            "a function was named but not called: add `(…)`"
        }
        () if any(&|v| matches!(v, Val::Tuple(_))) => {
            "take the values out of the tuple first: `a, b = values`, or `values[0]`"
        }
        () if any(&|v| matches!(v, Val::Desc(_))) => {
            "a descriptor is no pointer: load a block with `desc.load([offsets])`"
        }
        () if pointers == 2 && matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=") => {
            "compare addresses as integers: `p.to(tl.int64)`"
        }
        () if pointers > 0 && floats && matches!(op, "+" | "-") => {
            "an offset counts elements, so it is an integer: divide with `//`, or convert with `.to(tl.int32)`; as in `x_ptr + row * stride`"
        }
        () if pointers > 0 => {
            "integers can be added to a pointer and subtracted from it; compute the offset first, as in `x_ptr + row * stride`"
        }
        () if floats && matches!(op, "&" | "|" | "^" | "<<" | ">>") => {
            "bit operations take integers: compare floats first (`x > 0`), or take their bits with `x.to(tl.int32, bitcast=True)`"
        }
        () => "convert one side with `.to(...)`, or compute it in another way",
    }
}

impl Lower<'_> {
    /// Reports operands that an operator does not take.
    pub fn bad_operands(&mut self, op: &str, a: &Val, b: &Val) -> Reported {
        if matches!(a, Val::Error) || matches!(b, Val::Error) {
            return Reported;
        }
        if let Some(reported) = [a, b].into_iter().find_map(|v| self.too_large(v)) {
            return reported;
        }
        let help = operand_help(op, a, b);
        let (a, b) = (a.describe(), b.describe());
        self.error_help(
            &types::OPERAND_TYPES,
            format!("`{op}` does not take {a} and {b}"),
            format!("{a} {op} {b}"),
            help,
        )
    }

    /// Reports an integer that no type of the language holds.
    pub fn too_large(&mut self, v: &Val) -> Option<Reported> {
        match v {
            Val::Const(c @ Const::Int(_)) if const_dtype(c).is_none() => Some(self.error_help(
                &types::INT_RANGE,
                format!("the integer {c} does not fit into 64 bits"),
                "too large for any integer type",
                "integers go from -2**63 to 2**64 - 1; write a float (`2.0 ** 70`) if it need not be exact",
            )),
            _ => None,
        }
    }

    fn operand_dtype(v: &Val) -> Option<(Dtype, bool)> {
        match v {
            Val::Tensor(t) => Some((t.ty.dtype, false)),
            Val::Const(c) => const_dtype(c).map(|d| (d, true)),
            _ => None,
        }
    }

    /// Promotes and broadcasts two operands.
    pub fn operands(&mut self, op: &str, a: &Val, b: &Val, rules: Rules) -> R<(Tensor, Tensor)> {
        let (Some((da, a_scalar)), Some((db, b_scalar))) = (Self::operand_dtype(a), Self::operand_dtype(b)) else {
            return Err(self.bad_operands(op, a, b));
        };
        let ptr_ok =
            |x: Dtype, y: Dtype, allowed: bool| !x.is_ptr() || (allowed && !y.is_float() && (!y.is_ptr() || x == y));
        if !ptr_ok(da, db, rules.left_ptr) || !ptr_ok(db, da, rules.right_ptr) {
            return Err(self.bad_operands(op, a, b));
        }
        if da.is_ptr() || db.is_ptr() {
            let (a, b) = (self.to_tensor(a)?, self.to_tensor(b)?);
            return self.broadcast(a, b);
        }
        let common = match computation_type(da, a_scalar, db, b_scalar, rules.division) {
            Ok(common) => common,
            Err(NoCommonType::NotNumbers) => return Err(self.bad_operands(op, a, b)),
            Err(NoCommonType::Signedness) => {
                return Err(self.error_help(
                    &types::OPERAND_TYPES,
                    format!("`{op}` does not take {da} and {db}: one is signed, the other is not"),
                    "different signedness",
                    "convert one of them first, for example with `.to(tl.int32)`",
                ));
            }
        };
        let a = self.in_type(a, common)?;
        let b = self.in_type(b, common)?;
        self.broadcast(a, b)
    }

    /// An operand in the computation type; a Python number must fit into it.
    fn in_type(&mut self, v: &Val, dtype: Dtype) -> R<Tensor> {
        let Val::Const(c) = v else {
            let t = self.to_tensor(v)?;
            return self.cast(t, dtype, None);
        };
        if let (true, Some(i)) = (dtype.is_int(), c.as_int()) {
            let (lo, hi) = dtype.int_range();
            if !(lo..=hi).contains(&i) {
                return Err(self.error_help(
                    &types::INT_RANGE,
                    format!("the number {i} does not fit into {dtype}, the type of the other operand"),
                    format!("{dtype} holds {lo} to {hi}"),
                    "convert the other operand to a wider or a signed type first",
                ));
            }
        }
        self.scalar_constant(c, dtype)
    }

    /// A binary operator with at least one tensor.
    pub fn binary(&mut self, op: BinOp, a: &Val, b: &Val) -> R<Val> {
        let t = match op {
            BinOp::Add => self.add(a, b)?,
            BinOp::Sub => self.sub(a, b)?,
            BinOp::Mul => self.mul(a, b)?,
            BinOp::Div => self.true_div(a, b)?,
            BinOp::FloorDiv => self.floor_div(a, b)?,
            BinOp::Mod => self.modulo(a, b)?,
            BinOp::BitAnd => self.bitwise(ArithOp::Andi, "&", a, b)?,
            BinOp::BitOr => self.bitwise(ArithOp::Ori, "|", a, b)?,
            BinOp::BitXor => self.bitwise(ArithOp::Xori, "^", a, b)?,
            BinOp::LShift => self.bitwise(ArithOp::Shli, "<<", a, b)?,
            BinOp::RShift => {
                // The shifted tensor's signedness decides; beside a Python number, the amount's does.
                let signed = a.as_tensor().or(b.as_tensor()).is_some_and(|t| t.ty.dtype.is_signed());
                self.bitwise(if signed { ArithOp::Shrsi } else { ArithOp::Shrui }, ">>", a, b)?
            }
            BinOp::Pow => {
                return Err(self.error_help(
                    &types::OPERAND_TYPES,
                    format!("`**` does not take {} and {}", a.describe(), b.describe()),
                    "no power operator for tensors",
                    "multiply, or use `libdevice.pow` or `tl.exp2(y * tl.log2(x))`",
                ));
            }
            BinOp::MatMul => {
                return Err(self.error_help(
                    &types::OPERAND_TYPES,
                    format!("`@` does not take {} and {}", a.describe(), b.describe()),
                    "no matrix operator",
                    "use `tl.dot(a, b)`",
                ));
            }
        };
        Ok(t.into())
    }

    /// One operation on two operands of one type.
    fn same(&mut self, kind: impl Into<OpKind>, a: Tensor, b: Tensor) -> R<Tensor> {
        self.tensor(kind, &[a.value, b.value], a.ty)
    }

    pub fn add(&mut self, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands("+", a, b, Rules { left_ptr: true, right_ptr: true, division: false })?;
        if x.ty.dtype.is_ptr() && y.ty.dtype.is_ptr() {
            return Err(self.bad_operands("+", a, b));
        }
        let (x, y) = if y.ty.dtype.is_ptr() { (y, x) } else { (x, y) };
        if x.ty.dtype.is_ptr() {
            return self.addptr(x, y);
        }
        self.checked(ArithOp::Addf, ArithOp::Addi, "add", x, y)
    }

    /// A pointer moved by elements; the offset counts as signed, so narrow unsigned ones are extended first.
    fn addptr(&mut self, ptr: Tensor, offset: Tensor) -> R<Tensor> {
        let unsigned = offset.ty.dtype.is_unsigned() && offset.ty.dtype.bits() < 64;
        let offset = if unsigned { self.int_cast(offset, Dtype::Int64, false)? } else { offset };
        self.tensor(TtOp::Addptr, &[ptr.value, offset.value], ptr.ty)
    }

    pub fn sub(&mut self, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands("-", a, b, Rules { left_ptr: true, ..Rules::default() })?;
        if x.ty.dtype.is_ptr() {
            if y.ty.dtype.is_ptr() {
                return Err(self.bad_operands("-", a, b));
            }
            let negated = self.negate(y)?;
            return self.addptr(x, negated);
        }
        self.checked(ArithOp::Subf, ArithOp::Subi, "sub", x, y)
    }

    pub fn mul(&mut self, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands("*", a, b, Rules::default())?;
        self.checked(ArithOp::Mulf, ArithOp::Muli, "mul", x, y)
    }

    /// The float or the integer operation; in debug mode narrow integers are checked for overflow in 64 bits.
    fn checked(&mut self, float: ArithOp, int: ArithOp, name: &str, x: Tensor, y: Tensor) -> R<Tensor> {
        let dtype = x.ty.dtype;
        if dtype.is_float() {
            return self.same(float, x, y);
        }
        if self.options.debug && dtype.bits() < 64 {
            let (wx, wy) = (self.cast(x, Dtype::Int64, None)?, self.cast(y, Dtype::Int64, None)?);
            let wide = self.same(int, wx, wy)?;
            let (lo, hi) = dtype.int_range();
            let below = self.compare(Cmp::Le, &wide.into(), &Val::int(hi))?;
            let above = self.compare(Cmp::Ge, &wide.into(), &Val::int(lo))?;
            let fits = self.same(ArithOp::Andi, below, above)?;
            self.device_assert(fits, &format!("int{} overflow detected for operation {name}", dtype.bits()))?;
        }
        self.same(int, x, y)
    }

    /// `tt.assert`
    pub fn device_assert(&mut self, cond: Tensor, message: &str) -> R<()> {
        let state =
            crate::ir::OpState::new(TtOp::Assert, self.loc).operands(&[cond.value]).attr("message", Attr::str(message));
        self.emit(state).map(|_| ())
    }

    fn true_div(&mut self, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands("/", a, b, Rules { division: true, ..Rules::default() })?;
        let (x, y) = if x.ty.dtype.is_int() {
            (self.cast(x, Dtype::Fp32, None)?, self.cast(y, Dtype::Fp32, None)?)
        } else {
            (x, y)
        };
        self.same(ArithOp::Divf, x, y)
    }

    fn floor_div(&mut self, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands("//", a, b, Rules { division: true, ..Rules::default() })?;
        if !x.ty.dtype.is_int() {
            return Err(self.error_help(
                &types::OPERAND_TYPES,
                format!("`//` does not take {} and {}", a.describe(), b.describe()),
                "integer division of floats",
                "use `tl.floor(a / b)`",
            ));
        }
        self.same(if x.ty.dtype.is_signed() { ArithOp::Divsi } else { ArithOp::Divui }, x, y)
    }

    fn modulo(&mut self, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands("%", a, b, Rules { division: true, ..Rules::default() })?;
        let kind = match x.ty.dtype {
            d if d.is_float() => ArithOp::Remf,
            d if d.is_signed() => ArithOp::Remsi,
            _ => ArithOp::Remui,
        };
        self.same(kind, x, y)
    }

    /// A bit operation: integers only, promoted to the wider.
    pub fn bitwise(&mut self, kind: ArithOp, op: &str, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands(op, a, b, Rules::default())?;
        if !x.ty.dtype.is_int() || !y.ty.dtype.is_int() {
            return Err(self.bad_operands(op, a, b));
        }
        let ty = promote_ints(x.ty.dtype, y.ty.dtype);
        let (x, y) = (self.cast(x, ty, None)?, self.cast(y, ty, None)?);
        self.same(kind, x, y)
    }

    /// `and` / `or` of truth values.
    pub fn logical(&mut self, kind: ArithOp, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = (self.truth_bits(a)?, self.truth_bits(b)?);
        self.bitwise(kind, if kind == ArithOp::Andi { "and" } else { "or" }, &x.into(), &y.into())
    }

    fn truth_bits(&mut self, v: &Val) -> R<Tensor> {
        let t = self.to_tensor(v)?;
        if t.ty.dtype.is_bool() {
            return Ok(t);
        }
        Err(self.error_help(
            &types::CONDITION,
            format!("`and`, `or` and `not` need a truth value, found {}", Val::from(t).describe()),
            "no truth value",
            "compare it first, for example with `!= 0`",
        ))
    }

    /// `not x`
    pub fn logical_not(&mut self, v: &Val) -> R<Tensor> {
        let t = self.truth_bits(v)?;
        self.invert(t)
    }

    /// `-x`
    pub fn negate(&mut self, t: Tensor) -> R<Tensor> {
        if t.ty.dtype.is_float() {
            return self.tensor(ArithOp::Negf, &[t.value], t.ty);
        }
        if !t.ty.dtype.is_int() {
            let help = "subtract from a pointer instead: `ptr - offset`";
            return Err(self.error_help(
                &types::OPERAND_TYPES,
                format!("`-` does not take {}", Val::from(t).describe()),
                "negated here",
                help,
            ));
        }
        let zero = self.scalar_constant(&Const::Int(0), t.ty.dtype)?;
        self.sub(&zero.into(), &t.into())
    }

    /// `~x`
    pub fn invert(&mut self, t: Tensor) -> R<Tensor> {
        let ty = Ty::scalar(t.ty.dtype);
        if !ty.dtype.is_int() {
            let help = "`~` inverts the bits of integers and truth values; to negate a number write `-x`, to invert a condition `~(x > 0)`";
            return Err(self.error_help(
                &types::OPERAND_TYPES,
                format!("`~` does not take {}", Val::from(t).describe()),
                "inverted here",
                help,
            ));
        }
        let ones = self.constant(Attr::int(-1, ty.to_ir()), ty)?;
        self.bitwise(ArithOp::Xori, "^", &t.into(), &ones.into())
    }

    /// A comparison with at least one tensor.
    pub fn compare(&mut self, cmp: Cmp, a: &Val, b: &Val) -> R<Tensor> {
        let (wide_a, wide_b) = (self.own_type(a, b)?, self.own_type(b, a)?);
        let (a, b) = (wide_a.as_ref().unwrap_or(a), wide_b.as_ref().unwrap_or(b));
        let (x, y) = self.operands(cmp.symbol(), a, b, Rules::default())?;
        let dtype = x.ty.dtype;
        let kind = if dtype.is_float() { ArithOp::Cmpf } else { ArithOp::Cmpi };
        let ty = x.ty.with(Dtype::Int1);
        let value = self.value_with(kind, &[x.value, y.value], ty.to_ir(), &[("predicate", cmp.predicate(dtype))])?;
        Ok(Tensor { value, ty })
    }

    /// A number that does not fit the integer tensor that it is compared with, as a run-time value of its own type:
    /// Triton up to 3.6 compares in the type that both promote to (4294967295 with an int32 as uint32), later ones
    /// refuse it. `None` for any other operand.
    fn own_type(&mut self, v: &Val, other: &Val) -> R<Option<Val>> {
        let (Val::Const(Const::Int(i)), Val::Tensor(t)) = (v, other) else { return Ok(None) };
        let dtype = t.ty.dtype;
        let Some(own) = const_dtype(&Const::Int(*i)).filter(|_| dtype.is_int() && !dtype.is_bool()) else {
            return Ok(None);
        };
        let (lo, hi) = dtype.int_range();
        if (lo..=hi).contains(i) {
            return Ok(None);
        }
        let common = promote_ints(dtype, own);
        let message = format!(
            "{i} does not fit into {dtype}: compared as {common}, as Triton does up to 3.6; later ones refuse it"
        );
        let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(self.span, format!("{dtype} holds {lo} to {hi}"));
        let same_bits = (i - lo).rem_euclid(hi - lo + 1) + lo;
        let help = format!(
            "its bits in {dtype} are {same_bits}; compare with that, or convert the tensor first: `x.to(tl.{})`",
            common.attr_name()
        );
        let _ = self.report(diag.help(help));
        Ok(Some(self.scalar_constant(&Const::Int(*i), own)?.into()))
    }

    /// `tl.minimum` and `tl.maximum`.
    pub fn extremum(&mut self, max: bool, all_nan: bool, a: &Val, b: &Val) -> R<Tensor> {
        let (x, y) = self.operands(if max { "maximum" } else { "minimum" }, a, b, Rules::default())?;
        let kind = match (x.ty.dtype, max) {
            (d, true) if d.is_float() => [ArithOp::Maxnumf, ArithOp::Maximumf][usize::from(all_nan)],
            (d, false) if d.is_float() => [ArithOp::Minnumf, ArithOp::Minimumf][usize::from(all_nan)],
            (d, true) => [ArithOp::Maxui, ArithOp::Maxsi][usize::from(d.is_signed())],
            (d, false) => [ArithOp::Minui, ArithOp::Minsi][usize::from(d.is_signed())],
        };
        self.same(kind, x, y)
    }

    /// Three operands in one type and one shape.
    pub fn ternary(&mut self, op: &str, args: [&Val; 3]) -> R<[Tensor; 3]> {
        let (mut tensor, mut scalar): (Option<Dtype>, Option<Dtype>) = (None, None);
        for v in args {
            let Some((d, is_scalar)) = Self::operand_dtype(v) else {
                return Err(self.expected("a tensor or a number", v));
            };
            let slot = if is_scalar { &mut scalar } else { &mut tensor };
            *slot = match *slot {
                None => Some(d),
                Some(old) => computation_type(old, is_scalar, d, is_scalar, false).ok(),
            };
            if slot.is_none() {
                return Err(self.bad_operands(op, args[0], v));
            }
        }
        let common = match (tensor, scalar) {
            (Some(t), Some(s)) => computation_type(t, false, s, true, false).ok(),
            (t, s) => t.or(s),
        };
        let Some(common) = common else { return Err(self.bad_operands(op, args[0], args[1])) };
        let a = self.in_type(args[0], common)?;
        let b = self.in_type(args[1], common)?;
        let c = self.in_type(args[2], common)?;
        let (a, b) = self.broadcast(a, b)?;
        let (a, c) = self.broadcast(a, c)?;
        let (b, c) = self.broadcast(b, c)?;
        Ok([a, b, c])
    }

    /// `tl.where`
    pub fn select(&mut self, cond: &Val, a: &Val, b: &Val) -> R<Tensor> {
        let cond = self.to_tensor(cond)?;
        let cond = self.cast(cond, Dtype::Int1, None)?;
        let (x, y) = self.operands("where", a, b, Rules { left_ptr: true, right_ptr: true, division: false })?;
        let (cond, x, y) = if cond.ty.is_block() {
            let (cond, x) = self.broadcast(cond, x)?;
            let (x, y) = self.broadcast(x, y)?;
            (cond, x, y)
        } else {
            (self.broadcast(cond, x)?.0, x, y)
        };
        self.tensor(ArithOp::Select, &[cond.value, x.value, y.value], x.ty)
    }
}
