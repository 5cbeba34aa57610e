//! Attributes, which are interned and `Copy`.

use super::encoding::Encoding;
use super::float::FloatKind;
use super::intern::{Name, interned};
use super::types::{Type, TypeData};

interned!(
    /// An attribute.
    Attr => AttrData
);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AttrData {
    Unit,
    /// An integer of a type up to 64 bits, sign-extended from that type. `true` and `false` are i1 with -1 and 0, see
    /// [`Attr::bool`].
    Int(i64, Type),
    /// The bits of a float in its own format.
    Float(u64, FloatKind),
    Str(Name),
    Type(Type),
    Array(Vec<Attr>),
    /// The entries, sorted by name.
    Dict(Vec<(Name, Attr)>),
    /// `@name`
    Symbol(Name),
    /// `array<i32: 1, 2>`. The type is that of the elements.
    DenseArray(Type, Vec<i64>),
    /// `dense<…> : tensor<…>`. The type is the tensor's.
    Dense(Type, DenseData),
    /// A layout of the `ttg` or `ttng` dialect.
    Encoding(Encoding),
    /// `#ttg.shared_memory`
    SharedMemory,
    /// `#ttng.tensor_memory`
    TensorMemory,
    /// An attribute of a dialect that is not known here, kept as written (with the leading `#`).
    Opaque(Name),
}

/// The elements of a dense constant as raw bits (integers sign-extended to 64 bits, floats in their own format).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DenseData {
    Splat(u64),
    /// All elements, row-major.
    Elements(Vec<u64>),
}

/// Sign-extends the low `width` bits.
#[must_use]
pub fn sign_extend(value: i64, width: u32) -> i64 {
    if width == 0 || width >= 64 { value } else { (value << (64 - width)) >> (64 - width) }
}

/// Clears all but the low `width` bits.
#[must_use]
pub fn zero_extend(value: i64, width: u32) -> u64 {
    if width >= 64 { value as u64 } else { value as u64 & ((1u64 << width) - 1) }
}

impl Attr {
    #[must_use]
    pub fn unit() -> Attr {
        Attr::new(AttrData::Unit)
    }

    /// An i1 constant.
    #[must_use]
    pub fn bool(value: bool) -> Attr {
        Attr::int(i64::from(value), Type::int(1))
    }

    /// An integer of this type. The value is wrapped to its width.
    #[must_use]
    pub fn int(value: i64, ty: Type) -> Attr {
        let value = if let TypeData::Int(w) = *ty { sign_extend(value, w) } else { value };
        Attr::new(AttrData::Int(value, ty))
    }

    #[must_use]
    pub fn i32(value: i64) -> Attr {
        Attr::int(value, Type::int(32))
    }

    #[must_use]
    pub fn float(value: f64, kind: FloatKind) -> Attr {
        Attr::new(AttrData::Float(kind.from_f64(value), kind))
    }

    #[must_use]
    pub fn str(text: &str) -> Attr {
        Attr::new(AttrData::Str(Name::of(text)))
    }

    #[must_use]
    pub fn ty(ty: Type) -> Attr {
        Attr::new(AttrData::Type(ty))
    }

    #[must_use]
    pub fn symbol(name: &str) -> Attr {
        Attr::new(AttrData::Symbol(Name::of(name)))
    }

    #[must_use]
    pub fn i32_array(values: &[i64]) -> Attr {
        Attr::new(AttrData::DenseArray(Type::int(32), values.to_vec()))
    }

    #[must_use]
    pub fn encoding(encoding: Encoding) -> Attr {
        Attr::new(AttrData::Encoding(encoding))
    }

    /// The constant of this type (a scalar or a tensor of one) whose every element has these raw bits (see
    /// [`DenseData`]).
    #[must_use]
    pub fn splat_bits(ty: Type, bits: u64) -> Attr {
        match (ty.is_tensor(), ty.elem().data()) {
            (true, TypeData::Int(w)) => {
                Attr::new(AttrData::Dense(ty, DenseData::Splat(sign_extend(bits as i64, *w) as u64)))
            }
            (true, _) => Attr::new(AttrData::Dense(ty, DenseData::Splat(bits))),
            (false, TypeData::Float(k)) => Attr::new(AttrData::Float(bits, *k)),
            (false, _) => Attr::int(bits as i64, ty),
        }
    }

    /// The integer constant of this type, scalar or splat.
    #[must_use]
    pub fn int_splat(ty: Type, value: i64) -> Attr {
        Attr::splat_bits(ty, value as u64)
    }

    /// The float constant of this type, scalar or splat. It is `None` when the element type is no float.
    #[must_use]
    pub fn float_splat(ty: Type, value: f64) -> Option<Attr> {
        Some(Attr::splat_bits(ty, ty.elem().as_float()?.from_f64(value)))
    }

    #[must_use]
    pub fn as_int(self) -> Option<i64> {
        match *self {
            AttrData::Int(v, _) => Some(v),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        self.as_int().map(|v| v != 0)
    }

    #[must_use]
    pub fn as_str(self) -> Option<&'static str> {
        match *self {
            AttrData::Str(s) | AttrData::Symbol(s) => Some(s.as_str()),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_type(self) -> Option<Type> {
        match *self {
            AttrData::Type(t) => Some(t),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_encoding(self) -> Option<&'static Encoding> {
        match self.data() {
            AttrData::Encoding(e) => Some(e),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_array(self) -> Option<&'static [Attr]> {
        match self.data() {
            AttrData::Array(items) => Some(items),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_dense_array(self) -> Option<&'static [i64]> {
        match self.data() {
            AttrData::DenseArray(_, v) => Some(v),
            _ => None,
        }
    }

    /// The raw bits of a scalar constant or of every element of a splat.
    #[must_use]
    pub fn splat_value(self) -> Option<u64> {
        match self.data() {
            AttrData::Int(v, _) => Some(*v as u64),
            AttrData::Float(bits, _) | AttrData::Dense(_, DenseData::Splat(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// The value of an integer scalar or splat.
    #[must_use]
    pub fn int_value(self) -> Option<i64> {
        match self.data() {
            AttrData::Int(v, _) => Some(*v),
            AttrData::Dense(ty, DenseData::Splat(bits)) if ty.elem().is_int() => Some(*bits as i64),
            _ => None,
        }
    }

    /// The value of a float scalar or splat.
    #[must_use]
    pub fn float_value(self) -> Option<f64> {
        match self.data() {
            AttrData::Float(bits, k) => Some(k.to_f64(*bits)),
            AttrData::Dense(ty, DenseData::Splat(bits)) => ty.elem().as_float().map(|k| k.to_f64(*bits)),
            _ => None,
        }
    }

    /// The type of a typed attribute (a constant's type).
    #[must_use]
    pub fn type_of(self) -> Option<Type> {
        match *self {
            AttrData::Int(_, ty) | AttrData::Dense(ty, _) => Some(ty),
            AttrData::Float(_, k) => Some(Type::float(k)),
            _ => None,
        }
    }
}
