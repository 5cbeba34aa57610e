//! The arguments of a run in the interpreter, made from slices and numbers.

use std::collections::BTreeMap;

use crate::cases::manual::Given;
use crate::interp::npy::Array;
use crate::irgen::types::Dtype;

/// A grid and the arguments of a kernel by the names of its parameters.
///
/// Where neither an annotation nor a signature says what a parameter is, the argument does: a slice of `f32` is
/// `*fp32`, an integer is `i32` where it fits and else `i64`, a float is `fp32`.
#[derive(Default)]
pub struct Launch<'a> {
    pub(super) grid: [u32; 3],
    pub(super) given: BTreeMap<String, Given>,
    /// The buffers whose contents are wanted after the run, with who wants them.
    pub(super) wanted: BTreeMap<String, Back<'a>>,
}

/// Takes the bytes of a buffer back to where they came from.
pub(super) type Back<'a> = Box<dyn FnOnce(&[u8]) + Send + 'a>;

/// A number that a buffer can hold.
pub trait Element: Copy + Send + sealed::Bytes {}

mod sealed {
    use crate::irgen::types::Dtype;

    /// How a number lies in memory.
    pub trait Bytes: Sized {
        const DTYPE: Dtype;

        fn put(self, bytes: &mut Vec<u8>);

        /// Reads a number from as many bytes as [`Bytes::put`] writes.
        fn take(bytes: &[u8]) -> Self;
    }
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident),* $(,)?) => {$(
        impl Element for $ty {}

        impl sealed::Bytes for $ty {
            const DTYPE: Dtype = Dtype::$dtype;

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn take(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().expect("a chunk of the size of one element"))
            }
        }
    )*};
}

elements! {
    f32 => Fp32, f64 => Fp64,
    i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64,
    u8 => Uint8, u16 => Uint16, u32 => Uint32, u64 => Uint64,
}

/// A number that a kernel is given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    Int(i64),
    Float(f64),
}

macro_rules! scalars {
    ($($ty:ty => $kind:ident($wide:ty)),* $(,)?) => {$(
        impl From<$ty> for Scalar {
            fn from(value: $ty) -> Scalar {
                Scalar::$kind(<$wide>::from(value))
            }
        }
    )*};
}

scalars! { bool => Int(i64), i32 => Int(i64), u32 => Int(i64), i64 => Int(i64), f32 => Float(f64), f64 => Float(f64) }

impl<'a> Launch<'a> {
    /// Starts a launch of so many programs along each axis. If one of the numbers is 0, nothing runs.
    #[must_use]
    pub fn new(grid: [u32; 3]) -> Launch<'a> {
        Launch { grid, ..Launch::default() }
    }

    /// Adds a buffer with a copy of the elements. What the kernel stores into it is not given back.
    #[must_use]
    pub fn input<T: Element>(mut self, name: &str, elements: &[T]) -> Launch<'a> {
        let mut bytes = Vec::with_capacity(size_of_val(elements));
        elements.iter().for_each(|e| e.put(&mut bytes));
        self.given.insert(name.to_owned(), array(T::DTYPE, elements.len(), bytes));
        self
    }

    /// Adds a buffer with the elements. When the run has ended without a fault, they are what the kernel left.
    #[must_use]
    pub fn buffer<T: Element>(self, name: &str, elements: &'a mut [T]) -> Launch<'a> {
        let mut launch = self.input(name, elements);
        let back = |bytes: &[u8]| {
            let chunks = bytes.chunks_exact(size_of::<T>());
            elements.iter_mut().zip(chunks).for_each(|(e, chunk)| *e = T::take(chunk));
        };
        launch.wanted.insert(name.to_owned(), Box::new(back));
        launch
    }

    /// Adds a buffer of elements that Rust has no type for, as little-endian bytes. The kernel's parameter gives them a
    /// meaning: its annotation or the signature says that it points to `fp16`, `bf16`, `fp8e4nv` and so on.
    #[must_use]
    pub fn bytes(mut self, name: &str, bytes: &'a mut [u8]) -> Launch<'a> {
        self.given.insert(name.to_owned(), Given::Bytes(bytes.to_vec()));
        self.wanted.insert(name.to_owned(), Box::new(|left| bytes.copy_from_slice(left)));
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn value(mut self, name: &str, value: impl Into<Scalar>) -> Launch<'a> {
        let given = match value.into() {
            Scalar::Int(v) => Given::Int(v),
            Scalar::Float(v) => Given::Float(v),
        };
        self.given.insert(name.to_owned(), given);
        self
    }
}

fn array(dtype: Dtype, count: usize, bytes: Vec<u8>) -> Given {
    Given::Array(Array { elem: dtype.to_ir(), unsigned: dtype.is_unsigned(), shape: vec![count], bytes })
}
