//! Types of the language: what a kernel's author sees, with signedness, as opposed to the IR's signless types.
//!
//! A [`Ty`] is a [`Dtype`] with a shape or without one; handles are `Copy`. Names are those of Triton's signatures
//! (`i32`, `*fp16`) in [`Dtype::short`] and Triton's own (`int32`, `fp16`, `pointer<fp16>`) in `Display`.
//!
//! Example: `Ty::block(Dtype::Uint8, &[64])` prints as `uint8[64]`, is `tensor<64xi8>` in the IR and mangles to
//! `u8S64S`.

use std::fmt;

use crate::ir::core::intern::interned;
use crate::ir::{FloatKind, Type};

interned!(
    /// A pointer's pointee and constness.
    Pointer => PointerData
);

/// What a pointer points at; a block for a block pointer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PointerData {
    pub elem: Ty,
    /// `*k…`: nothing may be stored through it.
    pub constant: bool,
}

interned!(
    /// The extents of a block, outermost first.
    Shape => Vec<i64>
);

/// The most elements that a tensor may have.
pub const MAX_NUMEL: i64 = 1_048_576;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident $triton:literal $short:literal $attr:literal $bits:literal $mantissa:literal;)*) => {
        /// An element type.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Dtype {
            $($(#[$doc])* $name,)*
            Ptr(Pointer),
        }

        impl Dtype {
            /// All but the pointers.
            pub const ALL: &'static [Dtype] = &[$(Dtype::$name),*];

            /// Triton's name of the type: `int32`, `fp16`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Dtype::$name => $triton,)*
                    Dtype::Ptr(_) => "pointer",
                }
            }

            /// The attribute of `triton.language` that holds it: `int32`, `float16`.
            #[must_use]
            pub fn attr_name(self) -> &'static str {
                match self {
                    $(Dtype::$name => $attr,)*
                    Dtype::Ptr(_) => "pointer_type",
                }
            }

            fn scalar_short(self) -> &'static str {
                match self {
                    $(Dtype::$name => $short,)*
                    Dtype::Ptr(_) => "*",
                }
            }

            /// Width in bits; a pointer counts 64.
            #[must_use]
            pub fn bits(self) -> u32 {
                match self {
                    $(Dtype::$name => $bits,)*
                    Dtype::Ptr(_) => 64,
                }
            }

            /// Bits of a float's mantissa; 0 for others.
            #[must_use]
            pub fn mantissa(self) -> u32 {
                match self {
                    $(Dtype::$name => $mantissa,)*
                    Dtype::Ptr(_) => 0,
                }
            }
        }
    };
}

dtypes! {
    /// What a function without a value returns.
    Void "void" "void" "void" 0 0;
    /// A truth value; counts as unsigned.
    Int1 "int1" "u1" "int1" 1 0;
    Int8 "int8" "i8" "int8" 8 0;
    Int16 "int16" "i16" "int16" 16 0;
    Int32 "int32" "i32" "int32" 32 0;
    Int64 "int64" "i64" "int64" 64 0;
    Uint8 "uint8" "u8" "uint8" 8 0;
    Uint16 "uint16" "u16" "uint16" 16 0;
    Uint32 "uint32" "u32" "uint32" 32 0;
    Uint64 "uint64" "u64" "uint64" 64 0;
    Fp8e4nv "fp8e4nv" "fp8e4nv" "float8e4nv" 8 3;
    Fp8e5 "fp8e5" "fp8e5" "float8e5" 8 2;
    Fp8e4b15 "fp8e4b15" "fp8e4b15" "float8e4b15" 8 3;
    Fp8e4b8 "fp8e4b8" "fp8e4b8" "float8e4b8" 8 3;
    Fp8e5b16 "fp8e5b16" "fp8e5b16" "float8e5b16" 8 2;
    Fp16 "fp16" "fp16" "float16" 16 10;
    Bf16 "bf16" "bf16" "bfloat16" 16 7;
    Fp32 "fp32" "fp32" "float32" 32 23;
    Fp64 "fp64" "fp64" "float64" 64 52;
}

impl Dtype {
    /// The type with this name in a signature (`i32`, `fp16`, `u8`), in Triton (`int32`) or as an attribute of `tl`
    /// (`float16`).
    #[must_use]
    pub fn parse(name: &str) -> Option<Dtype> {
        let alias = match name {
            "bool" | "i1" | "uint1" => "int1",
            "half" => "fp16",
            "float" => "fp32",
            "double" => "fp64",
            "int" => "int32",
            "float8_e4m3fn" => "fp8e4nv",
            "float8_e4m3fnuz" => "fp8e4b8",
            "float8_e5m2" => "fp8e5",
            "float8_e5m2fnuz" => "fp8e5b16",
            other => other,
        };
        Dtype::ALL.iter().copied().find(|d| [d.name(), d.scalar_short(), d.attr_name()].contains(&alias))
    }

    /// A pointer to this type.
    #[must_use]
    pub fn pointer_to(elem: Ty, constant: bool) -> Dtype {
        Dtype::Ptr(Pointer::new(PointerData { elem, constant }))
    }

    /// The integer type of this width and signedness.
    #[must_use]
    pub fn int(bits: u32, signed: bool) -> Option<Dtype> {
        Some(match (bits, signed) {
            (1, _) => Dtype::Int1,
            (8, true) => Dtype::Int8,
            (8, false) => Dtype::Uint8,
            (16, true) => Dtype::Int16,
            (16, false) => Dtype::Uint16,
            (32, true) => Dtype::Int32,
            (32, false) => Dtype::Uint32,
            (64, true) => Dtype::Int64,
            (64, false) => Dtype::Uint64,
            _ => return None,
        })
    }

    #[must_use]
    pub fn is_ptr(self) -> bool {
        matches!(self, Dtype::Ptr(_))
    }

    #[must_use]
    pub fn is_float(self) -> bool {
        self.mantissa() > 0
    }

    #[must_use]
    pub fn is_fp8(self) -> bool {
        self.is_float() && self.bits() == 8
    }

    /// A float of 16 bits or more.
    #[must_use]
    pub fn is_standard_float(self) -> bool {
        self.is_float() && self.bits() > 8
    }

    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64)
    }

    #[must_use]
    pub fn is_unsigned(self) -> bool {
        matches!(self, Dtype::Int1 | Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64)
    }

    #[must_use]
    pub fn is_int(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    #[must_use]
    pub fn is_bool(self) -> bool {
        self == Dtype::Int1
    }

    /// 0 for booleans, 1 for integers, 2 for floats: a Python scalar of a lower or equal kind takes the tensor's type.
    #[must_use]
    pub fn kind(self) -> u32 {
        if self.is_bool() {
            0
        } else if self.is_int() {
            1
        } else {
            2
        }
    }

    /// The least and the greatest value of an integer type.
    #[must_use]
    pub fn int_range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) }
    }

    /// What a pointer points at.
    #[must_use]
    pub fn pointee(self) -> Option<Ty> {
        match self {
            Dtype::Ptr(p) => Some(p.elem),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_const_ptr(self) -> bool {
        matches!(self, Dtype::Ptr(p) if p.constant)
    }

    /// As in a signature: `i32`, `*fp16`, `*kfp32`.
    #[must_use]
    pub fn short(self) -> String {
        match self {
            Dtype::Ptr(p) => format!("*{}{}", if p.constant { "k" } else { "" }, p.elem.dtype.short()),
            Dtype::Int1 => "i1".to_owned(),
            other => other.scalar_short().to_owned(),
        }
    }

    /// Part of a function's mangled name: `i32`, `Pfp16`.
    #[must_use]
    pub fn mangle(self) -> String {
        match self {
            Dtype::Ptr(p) => format!("P{}", p.elem.mangle()),
            Dtype::Void => "V".to_owned(),
            other => other.scalar_short().to_owned(),
        }
    }

    /// The IR's type. A float with no IR type of its own (`fp8e4b15`) is kept as its bits.
    #[must_use]
    pub fn to_ir(self) -> Type {
        match self {
            Dtype::Void => Type::new(crate::ir::TypeData::None),
            Dtype::Ptr(p) if p.constant => {
                Type::new(crate::ir::TypeData::Pointer { pointee: p.elem.to_ir(), space: 4 })
            }
            Dtype::Ptr(p) => Type::ptr(p.elem.to_ir()),
            Dtype::Fp8e4nv => Type::float(FloatKind::F8E4M3FN),
            Dtype::Fp8e5 => Type::float(FloatKind::F8E5M2),
            Dtype::Fp8e4b8 => Type::float(FloatKind::F8E4M3FNUZ),
            Dtype::Fp8e5b16 => Type::float(FloatKind::F8E5M2FNUZ),
            Dtype::Fp16 => Type::float(FloatKind::F16),
            Dtype::Bf16 => Type::float(FloatKind::BF16),
            Dtype::Fp32 => Type::float(FloatKind::F32),
            Dtype::Fp64 => Type::float(FloatKind::F64),
            other => Type::int(other.bits()),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dtype::Ptr(p) => write!(f, "{}pointer<{}>", if p.constant { "const_" } else { "" }, p.elem),
            other => f.write_str(other.name()),
        }
    }
}

/// The type of a run-time value: a scalar, or a block of a shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ty {
    pub dtype: Dtype,
    pub block: Option<Shape>,
}

impl Ty {
    #[must_use]
    pub const fn scalar(dtype: Dtype) -> Ty {
        Ty { dtype, block: None }
    }

    #[must_use]
    pub fn block(dtype: Dtype, shape: &[i64]) -> Ty {
        Ty { dtype, block: (!shape.is_empty()).then(|| Shape::new(shape.to_vec())) }
    }

    #[must_use]
    pub fn is_block(self) -> bool {
        self.block.is_some()
    }

    #[must_use]
    pub fn shape(self) -> &'static [i64] {
        self.block.map_or(&[], |s| s.data().as_slice())
    }

    #[must_use]
    pub fn numel(self) -> i64 {
        self.shape().iter().product()
    }

    /// The same shape with other elements.
    #[must_use]
    pub fn with(self, dtype: Dtype) -> Ty {
        Ty { dtype, block: self.block }
    }

    #[must_use]
    pub fn to_ir(self) -> Type {
        match self.block {
            Some(shape) => Type::tensor(&shape, self.dtype.to_ir(), None),
            None => self.dtype.to_ir(),
        }
    }

    #[must_use]
    pub fn mangle(self) -> String {
        let shape: Vec<String> = self.shape().iter().map(ToString::to_string).collect();
        if shape.is_empty() { self.dtype.mangle() } else { format!("{}S{}S", self.dtype.mangle(), shape.join("_")) }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype)?;
        if self.is_block() {
            write!(f, "{:?}", self.shape())?;
        }
        Ok(())
    }
}

/// Integer promotion as C's usual arithmetic conversions.
#[must_use]
pub fn promote_ints(a: Dtype, b: Dtype) -> Dtype {
    let (wa, wb) = (a.bits(), b.bits());
    match (a.is_signed(), b.is_signed()) {
        (x, y) if x == y => {
            if wa > wb {
                a
            } else {
                b
            }
        }
        (false, _) => {
            if wa >= wb {
                a
            } else {
                b
            }
        }
        _ => {
            if wb >= wa {
                b
            } else {
                a
            }
        }
    }
}

/// Why two types have no common computation type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoCommonType {
    /// Not both numbers.
    NotNumbers,
    /// A division of integers of different signedness.
    Signedness,
}

/// The type in which a binary operation of these element types is computed. `a_is_scalar` marks a Python number: it
/// takes part in the promotion only if its kind is higher than the tensor's. `division` marks `/`, `//` and `%`, which
/// are never computed in 16 bits.
///
/// # Errors
/// When there is no such type.
pub fn computation_type(
    a: Dtype,
    a_is_scalar: bool,
    b: Dtype,
    b_is_scalar: bool,
    division: bool,
) -> Result<Dtype, NoCommonType> {
    let number = |d: Dtype| d.is_int() || d.is_float();
    if !number(a) || !number(b) {
        return Err(NoCommonType::NotNumbers);
    }
    let (mut a, mut b) = (a, b);
    if a_is_scalar != b_is_scalar {
        let (scalar, tensor) = if a_is_scalar { (a, b) } else { (b, a) };
        if scalar.kind() <= tensor.kind() {
            (a, b) = (tensor, tensor);
        }
    }
    let either = |d: Dtype| a == d || b == d;
    if either(Dtype::Fp64) {
        return Ok(Dtype::Fp64);
    }
    if division && (a.is_float() || b.is_float()) || either(Dtype::Fp32) {
        return Ok(Dtype::Fp32);
    }
    if either(Dtype::Fp16) {
        return Ok(Dtype::Fp16);
    }
    if either(Dtype::Bf16) {
        return Ok(if a == b { Dtype::Bf16 } else { Dtype::Fp32 });
    }
    if a.is_fp8() && b.is_fp8() {
        return Ok(if a == b { a } else { Dtype::Fp16 });
    }
    if !a.is_int() || !b.is_int() {
        return Err(NoCommonType::NotNumbers);
    }
    if division && a.is_signed() != b.is_signed() {
        return Err(NoCommonType::Signedness);
    }
    Ok(promote_ints(a, b))
}
