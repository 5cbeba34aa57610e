//! Types, which are interned and `Copy`. `Deref` gives the data, so `ty.shape()` and `match *ty` need no context.

use super::attrs::Attr;
use super::encoding::Encoding;
use super::float::FloatKind;
use super::intern::{Name, interned};

interned!(
    /// A type.
    Type => TypeData
);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TypeData {
    /// A signless integer, `i32`.
    Int(u32),
    /// An integer that says how it is to be read: `si8` or `ui8`. Only tensor descriptors have such elements; values in
    /// registers are signless.
    SignedInt {
        width: u32,
        signed: bool,
    },
    /// `index`
    Index,
    Float(FloatKind),
    /// `none`
    None,
    /// `(i32) -> (f32)`
    Function {
        inputs: Vec<Type>,
        results: Vec<Type>,
    },
    /// `tensor<128x64xf16, #blocked>`
    Tensor(TensorType),
    /// `!tt.ptr<f32>` or `!tt.ptr<f32, 3>`. Address space 1 is global and not printed. The pointee may be a tensor (a
    /// block pointer).
    Pointer {
        pointee: Type,
        space: u32,
    },
    /// `!tt.tensordesc<128x64xf16, #shared>`. With `im2col` it is `!ttng.tensordesc_im2col<128x64xf16>`, the rows of an
    /// image as a convolution reads them.
    TensorDesc {
        shape: Vec<i64>,
        /// The element type with its sign, unlike [`Type::elem`].
        elem: Type,
        layout: Option<Attr>,
        im2col: bool,
    },
    /// `!ttg.memdesc<…>`
    MemDesc(MemDesc),
    /// `!ttg.async.token`
    AsyncToken,
    /// A type of a dialect that is not known here, kept as it was written (with the leading `!`).
    Opaque(Name),
}

/// A ranked tensor of static shape. The encoding says which thread holds which element.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TensorType {
    pub shape: Vec<i64>,
    pub elem: Type,
    pub encoding: Option<Attr>,
}

/// A piece of shared or tensor memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemDesc {
    pub shape: Vec<i64>,
    pub elem: Type,
    pub encoding: Attr,
    pub memory_space: Attr,
    pub mutable: bool,
    /// The shape of the allocation. It equals `shape` unless this is a view of something larger.
    pub alloc_shape: Vec<i64>,
}

impl Type {
    #[must_use]
    pub fn int(width: u32) -> Type {
        Type::new(TypeData::Int(width))
    }

    #[must_use]
    pub fn float(kind: FloatKind) -> Type {
        Type::new(TypeData::Float(kind))
    }

    #[must_use]
    pub fn f32() -> Type {
        Type::float(FloatKind::F32)
    }

    #[must_use]
    pub fn index() -> Type {
        Type::new(TypeData::Index)
    }

    #[must_use]
    pub fn tensor(shape: &[i64], elem: Type, encoding: Option<Attr>) -> Type {
        Type::new(TypeData::Tensor(TensorType { shape: shape.to_vec(), elem, encoding }))
    }

    /// A pointer to global memory.
    #[must_use]
    pub fn ptr(pointee: Type) -> Type {
        Type::new(TypeData::Pointer { pointee, space: 1 })
    }

    #[must_use]
    pub fn function(inputs: &[Type], results: &[Type]) -> Type {
        Type::new(TypeData::Function { inputs: inputs.to_vec(), results: results.to_vec() })
    }

    #[must_use]
    pub fn as_tensor(self) -> Option<&'static TensorType> {
        match self.data() {
            TypeData::Tensor(t) => Some(t),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_memdesc(self) -> Option<&'static MemDesc> {
        match self.data() {
            TypeData::MemDesc(m) => Some(m),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_tensor(self) -> bool {
        self.as_tensor().is_some()
    }

    /// The dimensions of a tensor, memdesc or tensor descriptor. A scalar has none.
    #[must_use]
    pub fn shape(self) -> &'static [i64] {
        match self.data() {
            TypeData::Tensor(t) => &t.shape,
            TypeData::MemDesc(m) => &m.shape,
            TypeData::TensorDesc { shape, .. } => shape,
            _ => &[],
        }
    }

    #[must_use]
    pub fn rank(self) -> usize {
        self.shape().len()
    }

    /// The number of elements of a tensor or memdesc. A scalar has 1.
    #[must_use]
    pub fn num_elements(self) -> i64 {
        self.shape().iter().product()
    }

    /// The element type of a tensor, memdesc or tensor descriptor. A scalar is its own. A descriptor's integers are
    /// given as the signless ones that are loaded and stored through it.
    #[must_use]
    pub fn elem(self) -> Type {
        match self.data() {
            TypeData::Tensor(t) => t.elem,
            TypeData::MemDesc(m) => m.elem,
            TypeData::TensorDesc { elem, .. } => elem.signless(),
            _ => self,
        }
    }

    /// `i8` for `si8` and `ui8`. Any other type is returned as it is.
    #[must_use]
    pub fn signless(self) -> Type {
        match *self {
            TypeData::SignedInt { width, .. } => Type::int(width),
            _ => self,
        }
    }

    /// The encoding attribute of a tensor or memdesc.
    #[must_use]
    pub fn encoding(self) -> Option<Attr> {
        match self.data() {
            TypeData::Tensor(t) => t.encoding,
            TypeData::MemDesc(m) => Some(m.encoding),
            _ => None,
        }
    }

    /// The encoding's data, if the encoding is a layout.
    #[must_use]
    pub fn layout(self) -> Option<&'static Encoding> {
        self.encoding().and_then(Attr::as_encoding)
    }

    /// The same tensor or memory descriptor with another element type. A scalar becomes that type.
    #[must_use]
    pub fn with_elem(self, elem: Type) -> Type {
        match self.data() {
            TypeData::Tensor(t) => Type::tensor(&t.shape, elem, t.encoding),
            TypeData::MemDesc(m) => Type::new(TypeData::MemDesc(MemDesc { elem, ..m.clone() })),
            _ => elem,
        }
    }

    /// The same tensor with another shape and encoding. A scalar becomes a tensor.
    #[must_use]
    pub fn with_shape(self, shape: &[i64], encoding: Option<Attr>) -> Type {
        Type::tensor(shape, self.elem(), encoding)
    }

    /// The same tensor with another encoding. Anything else is returned as it is.
    #[must_use]
    pub fn with_encoding(self, encoding: Option<Attr>) -> Type {
        self.as_tensor().map_or(self, |t| Type::tensor(&t.shape, t.elem, encoding))
    }

    #[must_use]
    pub fn is_int(self) -> bool {
        matches!(*self, TypeData::Int(_))
    }

    #[must_use]
    pub fn is_int_of(self, width: u32) -> bool {
        matches!(*self, TypeData::Int(w) if w == width)
    }

    #[must_use]
    pub fn as_float(self) -> Option<FloatKind> {
        match *self {
            TypeData::Float(k) => Some(k),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_float(self) -> bool {
        self.as_float().is_some()
    }

    #[must_use]
    pub fn is_ptr(self) -> bool {
        matches!(*self, TypeData::Pointer { .. })
    }

    /// The type that a pointer points at.
    #[must_use]
    pub fn pointee(self) -> Option<Type> {
        match *self {
            TypeData::Pointer { pointee, .. } => Some(pointee),
            _ => None,
        }
    }

    /// The width in bits of a scalar, or of a tensor's element. Pointers and `index` count 64. It is `None` for what
    /// has no width.
    #[must_use]
    pub fn bit_width(self) -> Option<u32> {
        match *self.elem() {
            TypeData::Int(w) | TypeData::SignedInt { width: w, .. } => Some(w),
            TypeData::Float(k) => Some(k.bits()),
            TypeData::Pointer { .. } | TypeData::Index => Some(64),
            _ => None,
        }
    }
}
