//! Tensors as arguments of kernels that take tensor descriptors.

use std::ffi::c_void;

use crate::driver::Driver;
use crate::element::Element;
use crate::error::{BrokenTensor, Error};
use crate::memory::{DevicePtr, DevicePtrMut};
use crate::spec::Recipe;

macro_rules! tensors {
    ($($(#[$doc:meta])* $name:ident $pointer:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'a, T, const RANK: usize> {
            /// The first element.
            pub address: $pointer<'a, T>,
            /// The extents in elements, the outermost axis first.
            pub extents: [i64; RANK],
            /// The strides in elements, the outermost axis first. That of the innermost one is 1.
            pub strides: [i64; RANK],
            /// Whether what lies outside reads as NaN, and not as zero.
            pub pads_with_nan: bool,
            /// Whether elements of f32 are rounded to tf32 as they are loaded.
            pub rounds_to_tf32: bool,
        }

        impl<'a, T: Element, const RANK: usize> $name<'a, T, RANK> {
            /// A tensor without gaps, padded with zeros.
            #[must_use]
            pub fn new(address: impl Into<$pointer<'a, T>>, extents: [i64; RANK]) -> Self {
                let mut strides = [1; RANK];
                dense(&extents, &mut strides);
                $name { address: address.into(), extents, strides, pads_with_nan: false, rounds_to_tf32: false }
            }

            /// The tensor as an argument.
            #[doc(hidden)]
            #[must_use]
            pub fn raw(&self) -> RawTensor {
                let mut raw = RawTensor {
                    element_bytes: size_of::<T>() as u32,
                    base: self.address.address(),
                    rank: RANK,
                    extents: [0; MAX_RANK],
                    strides: [0; MAX_RANK],
                    nan: self.pads_with_nan,
                    tf32: self.rounds_to_tf32,
                };
                const { assert!(RANK <= MAX_RANK, "a tensor descriptor has at most five axes") };
                raw.extents[..RANK].copy_from_slice(&self.extents);
                raw.strides[..RANK].copy_from_slice(&self.strides);
                raw
            }
        }
    )* };
}

tensors! {
    /// A tensor that a kernel reads and does not write.
    Tensor DevicePtr;
    /// A tensor that a kernel writes.
    TensorMut DevicePtrMut;
}

/// The strides of a tensor without gaps. An extent that is too large for them is refused at the launch.
fn dense(extents: &[i64], strides: &mut [i64]) {
    let mut stride = 1i64;
    for (to, extent) in strides.iter_mut().zip(extents).rev() {
        *to = stride;
        stride = stride.saturating_mul(*extent);
    }
}

/// The most axes that a tensor descriptor has.
const MAX_RANK: usize = 5;

/// A tensor of any rank.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RawTensor {
    element_bytes: u32,
    pub(crate) base: u64,
    pub(crate) rank: usize,
    pub(crate) extents: [i64; MAX_RANK],
    pub(crate) strides: [i64; MAX_RANK],
    pub(crate) nan: bool,
    pub(crate) tf32: bool,
}

/// A `CUtensorMap`: what the hardware reads of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct TensorMap(pub [u64; 16]);

impl TensorMap {
    /// Writes the map's bytes.
    pub(crate) fn copy_to(self, place: &mut [u8]) {
        for (to, word) in place.chunks_exact_mut(8).zip(self.0) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
    }
}

/// `CU_TENSOR_MAP_DATA_TYPE_FLOAT32` and `CU_TENSOR_MAP_DATA_TYPE_TFLOAT32`
const F32: i32 = 7;
const TF32: i32 = 11;
/// `CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA`
const FILL_NAN: i32 = 1;
/// `CU_TENSOR_MAP_INTERLEAVE_32B`
const INTERLEAVE_32: i32 = 2;

impl RawTensor {
    /// A tensor without gaps, padded with zeros, whose element has so many bytes. `None` for more axes than a
    /// descriptor has.
    #[must_use]
    pub fn dense(base: u64, element_bytes: u32, extents: &[i64]) -> Option<RawTensor> {
        let rank = extents.len();
        let mut raw = RawTensor {
            element_bytes,
            base,
            rank,
            extents: [0; MAX_RANK],
            strides: [0; MAX_RANK],
            nan: false,
            tf32: false,
        };
        raw.extents.get_mut(..rank)?.copy_from_slice(extents);
        dense(extents, &mut raw.strides[..rank]);
        Some(raw)
    }

    /// A tensor of these extents, and strides of all axes but the innermost, whose stride is 1. `None` for more axes
    /// than a descriptor has, or another number of strides.
    #[must_use]
    pub fn strided(base: u64, element_bytes: u32, extents: &[i64], strides: &[i64]) -> Option<RawTensor> {
        let mut raw = RawTensor::dense(base, element_bytes, extents)?;
        raw.strides
            .get_mut(..extents.len().checked_sub(1)?)
            .filter(|to| to.len() == strides.len())?
            .copy_from_slice(strides);
        Some(raw)
    }

    /// Encodes the map. The rules are those of `cuTensorMapEncodeTiled`, so that a tensor that breaks one is named.
    pub(crate) fn encode(
        &self,
        recipe: &Recipe,
        driver: &Driver,
        kernel: &'static str,
        argument: &'static str,
    ) -> Result<TensorMap, Error> {
        let (extents, strides) = self
            .rows_of(recipe)
            .map_err(|reason| Error::Tensor(Box::new(BrokenTensor { kernel, argument, reason })))?;
        let data_type = if self.tf32 { TF32 } else { recipe.data_type };
        let cuda = driver.cuda().ok_or_else(|| {
            let reason = "this GPU has no tensor maps".to_owned();
            Error::Tensor(Box::new(BrokenTensor { kernel, argument, reason }))
        })?;
        let encode = cuda.encode_tiled()?;
        let mut map = TensorMap([0; 16]);
        // SAFETY: the map may be written to, and the lists have as many entries as the rank says, the strides one less.
        let status = unsafe {
            encode(
                (&raw mut map).cast::<c_void>(),
                data_type,
                self.rank as u32,
                self.base,
                extents.as_ptr(),
                strides.as_ptr(),
                recipe.box_dim.as_ptr(),
                recipe.element_strides.as_ptr(),
                recipe.interleave,
                recipe.swizzle,
                recipe.l2_promotion,
                if self.nan { FILL_NAN } else { recipe.fill },
            )
        };
        driver.check(status, "cuTensorMapEncodeTiled")?;
        Ok(map)
    }

    /// [`RawTensor::rows`] for a recipe, which is of 32-bit floats where the tensor rounds to tf32.
    pub(crate) fn rows_of(&self, recipe: &Recipe) -> Result<([u64; MAX_RANK], [u64; MAX_RANK]), String> {
        if recipe.element_strides.len() != recipe.box_dim.len() {
            return Err("its box has no stride for each axis".to_owned());
        }
        if self.tf32 && recipe.data_type != F32 {
            return Err("it rounds to tf32, which only tensors of 32-bit floats can".to_owned());
        }
        let interleaved = recipe.interleave == INTERLEAVE_32;
        self.rows(recipe.box_dim.len(), interleaved, recipe.element_bytes, recipe.packed)
    }

    /// Extents, and strides in bytes without the innermost one's, from the innermost axis on: what
    /// `cuTensorMapEncodeTiled` takes for a kernel whose map has so many axes.
    ///
    /// # Errors
    /// Says which rule of that function the tensor breaks.
    pub fn rows(
        &self,
        axes: usize,
        interleaved: bool,
        element_bytes: u32,
        packed: u32,
    ) -> Result<([u64; MAX_RANK], [u64; MAX_RANK]), String> {
        if axes != self.rank {
            return Err(format!("it has {} axes, and the kernel's has {axes}", self.rank));
        }
        self.dense_rows(if interleaved { 32 } else { 16 }, element_bytes, packed)
    }

    /// Checks what holds for every tensor descriptor, also for one that no hardware reads.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.dense_rows(16, self.element_bytes, 1).map(|_| ())
    }

    /// [`RawTensor::rows`] for addresses and strides that are multiples of `unit` bytes.
    fn dense_rows(
        &self,
        unit: u64,
        element_bytes: u32,
        packed: u32,
    ) -> Result<([u64; MAX_RANK], [u64; MAX_RANK]), String> {
        if !self.base.is_multiple_of(unit) {
            return Err(format!("its address {:#x} is no multiple of {unit}", self.base));
        }
        let (mut extents, mut strides) = ([0; MAX_RANK], [0; MAX_RANK]);
        for (i, axis) in (0..self.rank).rev().enumerate() {
            let packed = if i == 0 { i64::from(packed) } else { 1 };
            let extent = self.extents[axis].checked_mul(packed).filter(|e| (1..=1 << 32).contains(e));
            let Some(extent) = extent else {
                return Err(format!("the extent {} of axis {axis} is not in 1 to 4294967296", self.extents[axis]));
            };
            extents[i] = extent as u64;
            let stride = self.strides[axis];
            if i == 0 {
                if stride != 1 {
                    return Err(format!("the stride of the innermost axis is {stride} and not 1"));
                }
                continue;
            }
            let bytes = stride.checked_mul(i64::from(element_bytes)).filter(|b| (0..1 << 40).contains(b));
            strides[i - 1] = match bytes {
                Some(bytes) if (bytes as u64).is_multiple_of(unit) => bytes as u64,
                Some(bytes) => {
                    return Err(format!("the stride of axis {axis} is {bytes} bytes, which is no multiple of {unit}"));
                }
                None => return Err(format!("the stride {stride} of axis {axis} is negative or too large")),
            };
        }
        Ok((extents, strides))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tensors_of_32_bit_floats_round_to_tf32() {
        let recipe = |data_type| Recipe {
            data_type,
            element_bytes: 4,
            box_dim: &[4],
            element_strides: &[1],
            interleave: 0,
            swizzle: 0,
            l2_promotion: 0,
            fill: 0,
            packed: 1,
        };
        let mut tensor = RawTensor::dense(0x1000, 4, &[64]).expect("one axis");
        assert!(tensor.rows_of(&recipe(F32)).is_ok() && tensor.rows_of(&recipe(4)).is_ok());
        tensor.tf32 = true;
        assert!(tensor.rows_of(&recipe(F32)).is_ok());
        assert!(tensor.rows_of(&recipe(4)).is_err_and(|why| why.contains("rounds to tf32")));
    }
}
