//! Rules on types, which the tables name for operands and results.

use crate::ir::core::{FloatKind, Type, TypeData};

/// A rule on a type, with the words the verifier uses for it.
pub struct Constraint {
    /// "floating-point-like"
    pub what: &'static str,
    pub holds: fn(Type) -> bool,
    /// Whether it is made for memory descriptors, so that an entry states what is done to the memory.
    pub memory: bool,
    /// Makes the only type that it admits, if there is just one, which text then need not state.
    pub only: Option<fn() -> Type>,
}

macro_rules! constraints {
    ($($name:ident = $what:literal, $holds:expr $(, memory: $memory:literal)? $(, only: $only:expr)?;)*) => {
        $(pub static $name: Constraint = Constraint {
            what: $what,
            holds: $holds,
            memory: false $(|| $memory)?,
            only: constraints!(@only $($only)?),
        };)*
    };
    (@only) => { None };
    (@only $only:expr) => { Some($only) };
}

constraints! {
    ANY = "any type", |_| true;
    INT_LIKE = "signless-integer-like",
        |t| matches!(*t.elem(), TypeData::Int(_) | TypeData::Index) && scalar_or_tensor(t);
    FLOAT_LIKE = "floating-point-like", |t| t.elem().is_float() && scalar_or_tensor(t);
    INT_OR_FLOAT_LIKE = "integer- or floating-point-like",
        |t| (t.elem().is_float() || t.elem().is_int()) && scalar_or_tensor(t);
    BOOL_LIKE = "bool-like", |t| t.elem().is_int_of(1) && scalar_or_tensor(t);
    I32_LIKE = "32-bit-integer-like", |t| t.elem().is_int_of(32) && scalar_or_tensor(t);
    I64_LIKE = "64-bit-integer-like", |t| t.elem().is_int_of(64) && scalar_or_tensor(t);
    PTR_LIKE = "pointer or tensor of pointers", |t| t.elem().is_ptr() && scalar_or_tensor(t);
    PTR = "pointer", |t| t.is_ptr();
    I1 = "1-bit signless integer", |t| t.is_int_of(1), only: || Type::int(1);
    I32 = "32-bit signless integer", |t| t.is_int_of(32), only: || Type::int(32);
    I64 = "64-bit signless integer", |t| t.is_int_of(64), only: || Type::int(64);
    INT_OR_INDEX = "signless integer or index", |t| t.is_int() || matches!(*t, TypeData::Index);
    TENSOR = "ranked tensor", Type::is_tensor;
    INT_TENSOR = "tensor of integers", |t| t.is_tensor() && t.elem().is_int();
    INT_VECTOR = "tensor of integers in one dimension", |t| t.is_tensor() && t.elem().is_int() && t.rank() == 1;
    I32_TENSOR = "tensor of 32-bit integers", |t| t.is_tensor() && t.elem().is_int_of(32);
    I32_VECTOR = "tensor of 32-bit integers in one dimension",
        |t| t.is_tensor() && t.elem().is_int_of(32) && t.rank() == 1;
    FLOAT_TENSOR = "tensor of floats", |t| t.is_tensor() && t.elem().is_float();
    SCALAR = "scalar (integer, float or pointer)",
        |t| t.is_int() || t.is_float() || t.is_ptr() || matches!(*t, TypeData::Index);
    TENSOR_OR_SCALAR = "tensor or scalar", scalar_or_tensor;
    MEMDESC = "memory descriptor", |t| t.as_memdesc().is_some(), memory: true;
    TENSOR_OR_MEMDESC = "tensor or memory descriptor", |t| t.is_tensor() || t.as_memdesc().is_some(), memory: true;
    I16 = "16-bit signless integer", |t| t.is_int_of(16), only: || Type::int(16);
    I128 = "128-bit signless integer", |t| t.is_int_of(128), only: || Type::int(128);
    TENSORDESC = "tensor descriptor", |t| matches!(*t, TypeData::TensorDesc { .. });
    PACKED_OPERAND = "tensor of i8, f8E8M0FNU, f8E4M3FN, f8E5M2, f16, bf16 or f32",
        |t| t.is_tensor() && (t.elem().is_int_of(8) || is_packed(t, true));
    PACKED_RESULT = "tensor of f8E4M3FN, f8E5M2, f16, bf16 or f32", |t| t.is_tensor() && is_packed(t, false);
    TOKEN = "async token", |t| matches!(*t, TypeData::AsyncToken), only: || Type::new(TypeData::AsyncToken);
}

/// Whether a constraint admits exactly one type of a dialect, which declarative formats then write without its name
/// (`<64x16xi8, #shared>`).
#[must_use]
pub fn constraints_print_bare(constraint: &'static Constraint) -> bool {
    [&PTR, &MEMDESC, &TENSORDESC].into_iter().any(|c| std::ptr::eq(c, constraint))
}

/// Whether an instruction computes with several of these floats at once; scales only as operands.
fn is_packed(t: Type, operand: bool) -> bool {
    use FloatKind::{BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F16, F32};
    t.elem()
        .as_float()
        .is_some_and(|k| matches!(k, F8E4M3FN | F8E5M2 | F16 | BF16 | F32) || (operand && k == F8E8M0FNU))
}

fn scalar_or_tensor(t: Type) -> bool {
    t.as_memdesc().is_none()
        && !matches!(*t, TypeData::TensorDesc { .. } | TypeData::AsyncToken | TypeData::Function { .. })
}
