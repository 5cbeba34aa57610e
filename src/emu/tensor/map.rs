//! Tensor maps: a tensor in global memory, and the box of it that one copy moves (PTX ISA, "Tensors", "Tensor-map",
//! "tensormap.replace"; CUDA driver API, "Tensor Map Object Management").
//!
//! The hardware's 128 bytes are not published. The emulator has a form of its own ([`TensorMap::encode`]), in which
//! zeros mean what a kernel relies on that clears a map and then replaces fields: no swizzle, zeros for what lies
//! outside.
//!
//! A copy in tile mode has the coordinates of the box's first element, innermost axis first. Elements follow one
//! another in shared memory, the innermost axis fastest, and then the swizzle moves chunks. Elements outside of the
//! tensor are filled on the way to shared memory, and left out on the way back.
//!
//! On the way back, also of reductions, a chunk of 16 bytes of a row is written to its end if its first byte is inside.
//! No manual says so; an H200 does it (docs/testing.md, "On a GPU").
//!
//! Example: f16, a tensor of 100 columns with 208 bytes from row to row, a box of 8×4 at (96, 2): the element (1, 2) of
//! the box is column 97 of row 4, byte 208 · 4 + 2 · 97 of the tensor, and byte 2 · (8 · 2 + 1) of the box. Its columns
//! 4 to 7 are outside.

use super::swizzle::Swizzle;

/// The bytes of the largest shared memory of a block.
const MOST_BYTES: u64 = 227 << 10;

/// The most axes of a tensor.
pub const MOST_AXES: usize = 5;
/// The bytes of a tensor map in memory.
pub const BYTES: usize = 128;

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident $number:literal $bytes:literal,)*) => {
        /// The type of a tensor's elements, with the numbers of `tensormap.replace`'s `.elemtype`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum Element { $($(#[$doc])* $name,)* }

        impl Element {
            /// The type of this number.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Element> {
                match number { $($number => Some(Element::$name),)* _ => None }
            }

            /// Its number.
            #[must_use]
            pub fn number(self) -> u32 {
                match self { $(Element::$name => $number,)* }
            }

            /// The bytes of an element.
            #[must_use]
            pub fn bytes(self) -> u32 {
                match self { $(Element::$name => $bytes,)* }
            }
        }
    };
}

elements! {
    #[default]
    U8 0 1, U16 1 2, U32 2 4, S32 3 4, U64 4 8, S64 5 8, F16 6 2, F32 7 4,
    /// f32, of which subnormal numbers are flushed.
    F32Ftz 8 4,
    F64 9 8, BF16 10 2, TF32 11 4,
    /// tf32, of which subnormal numbers are flushed.
    TF32Ftz 12 4,
}

/// A field that `tensormap.replace` replaces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Field {
    GlobalAddress,
    Rank,
    BoxDim,
    GlobalDim,
    GlobalStride,
    ElementStride,
    ElementType,
    Interleave,
    Swizzle,
    Fill,
}

impl Field {
    /// The field of this modifier, without the dot.
    #[must_use]
    pub fn parse(name: &str) -> Option<Field> {
        Some(match name {
            "global_address" => Field::GlobalAddress,
            "rank" => Field::Rank,
            "box_dim" => Field::BoxDim,
            "global_dim" => Field::GlobalDim,
            "global_stride" => Field::GlobalStride,
            "element_stride" => Field::ElementStride,
            "elemtype" => Field::ElementType,
            "interleave_layout" => Field::Interleave,
            "swizzle_mode" => Field::Swizzle,
            "fill_mode" => Field::Fill,
            _ => return None,
        })
    }
}

/// What a tensor map says. All lists have the innermost axis first, and as many entries as [`TensorMap::rank`] count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TensorMap {
    pub element: Element,
    /// The axes, 1 to 5.
    pub rank: u32,
    /// The address of the first element.
    pub address: u64,
    /// Elements along each axis.
    pub dims: [u32; MOST_AXES],
    /// Bytes from one place along axis `i + 1` to the next. Along axis 0 elements follow one another.
    pub strides: [u64; MOST_AXES - 1],
    /// What the box covers along each axis, in elements of the tensor.
    pub box_dims: [u32; MOST_AXES],
    /// The box takes every so many of the elements that it covers. The innermost axis's number is ignored: the hardware
    /// takes all its elements.
    pub element_strides: [u32; MOST_AXES],
    /// 0 for none, 1 and 2 for channels interleaved in 16 and 32 bytes.
    pub interleave: u32,
    pub swizzle: Swizzle,
    /// Whether floats outside of the tensor are NaN instead of zero.
    pub fill_nan: bool,
}

/// An element of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its address in global memory, or `None` outside of the tensor.
    pub global: Option<u64>,
    /// Its byte in the box, before the swizzle.
    pub offset: u32,
}

impl TensorMap {
    /// What keeps the emulator from copying boxes of this map, if anything does.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let axes = self.axes();
        if self.rank == 0 || self.rank as usize > MOST_AXES {
            return Some(format!("it has {} axes, expected 1 to {MOST_AXES}", self.rank));
        }
        if matches!(self.element, Element::F32Ftz | Element::TF32 | Element::TF32Ftz) {
            return Some("its elements are converted on the way, which the emulator does not know".into());
        }
        if self.interleave != 0 {
            return Some("its channels are interleaved, which the emulator does not know".into());
        }
        if let Some(axis) = (0..axes).find(|&i| !(1..=256).contains(&self.box_dims[i])) {
            return Some(format!(
                "its box covers {} elements along axis {axis}, expected 1 to 256",
                self.box_dims[axis]
            ));
        }
        if let Some(axis) = (1..axes).find(|&i| !(1..=8).contains(&self.element_strides[i])) {
            return Some(format!(
                "its box takes every {}th element along axis {axis}, expected 1 to 8",
                self.element_strides[axis]
            ));
        }
        let bytes = (0..axes).map(|i| u64::from(self.shape(i))).product::<u64>() * u64::from(self.element.bytes());
        if bytes > MOST_BYTES {
            return Some(format!("its box has {bytes} bytes, and shared memory at most {MOST_BYTES}"));
        }
        if !self.address.is_multiple_of(16) {
            return Some(format!("its address {:#x} is no multiple of 16", self.address));
        }
        if let Some(axis) = (1..axes).find(|&i| !self.strides[i - 1].is_multiple_of(16)) {
            return Some(format!(
                "the stride of axis {axis} is {} bytes, expected a multiple of 16",
                self.strides[axis - 1]
            ));
        }
        let line = self.shape(0) * self.element.bytes();
        if !line.is_multiple_of(16) {
            return Some(format!("a line of its box has {line} bytes, expected a multiple of 16"));
        }
        if self.swizzle != Swizzle::None && line > self.swizzle.span() {
            return Some(format!(
                "a line of its box has {line} bytes, more than the swizzle's {}",
                self.swizzle.span()
            ));
        }
        None
    }

    fn axes(&self) -> usize {
        (self.rank as usize).min(MOST_AXES)
    }

    /// How far apart the elements are that the box takes along an axis.
    fn step(&self, axis: usize) -> u32 {
        if axis == 0 { 1 } else { self.element_strides[axis] }
    }

    /// The elements that the box takes along an axis.
    #[must_use]
    pub fn shape(&self, axis: usize) -> u32 {
        self.box_dims[axis].div_ceil(self.step(axis).max(1))
    }

    /// The bytes of a box in shared memory. A copy completes that many, also where elements are outside.
    #[must_use]
    pub fn box_bytes(&self) -> u32 {
        (0..self.axes()).map(|i| self.shape(i)).product::<u32>() * self.element.bytes()
    }

    /// The elements of the box at these coordinates, in the order of shared memory. A copy to the tensor (`store`), and
    /// a reduction too, moves whole chunks of 16 bytes: one that starts inside of the innermost axis is written to its
    /// end.
    pub fn places<'a>(&'a self, coordinates: &'a [i32], store: bool) -> impl Iterator<Item = Place> + 'a {
        let bytes = self.element.bytes();
        let per_chunk = if store { i64::from(16 / bytes) } else { 1 };
        (0..self.box_bytes() / bytes).map(move |number| {
            let mut rest = number;
            let mut global = Some(self.address);
            for (axis, &start) in coordinates.iter().enumerate().take(self.axes()) {
                let (place, shape) = (rest % self.shape(axis), self.shape(axis));
                rest /= shape;
                let at = i64::from(start) + i64::from(place * self.step(axis));
                let step = if axis == 0 { u64::from(bytes) } else { self.strides[axis - 1] };
                let extent = i64::from(self.dims[axis]);
                let end = if axis == 0 { (extent + per_chunk - 1) / per_chunk * per_chunk } else { extent };
                let inside = (0..end).contains(&at);
                global = global.filter(|_| inside).map(|g| g.wrapping_add(at as u64 * step));
            }
            Place { global, offset: number * bytes }
        })
    }

    /// The address in shared memory of a byte of a box that starts at `base`.
    #[must_use]
    pub fn shared(&self, base: u32, offset: u32) -> u32 {
        self.swizzle.apply(base + offset)
    }

    /// What an element outside of the tensor becomes, in its low bits. The NaN is that of an H200: the same 16 bits
    /// over and over, in floats of all widths.
    #[must_use]
    pub fn fill(&self) -> u64 {
        let is_float = match self.element {
            Element::F16 | Element::BF16 | Element::F64 => true,
            Element::F32 | Element::F32Ftz | Element::TF32 | Element::TF32Ftz => true,
            Element::U8 | Element::U16 | Element::U32 | Element::S32 | Element::U64 | Element::S64 => false,
        };
        if self.fill_nan && is_float { 0x7ff7_7ff7_7ff7_7ff7 } else { 0 }
    }

    /// `tensormap.replace`. `index` is the axis, for fields that have one an axis; the stride of axis 1 has index 0. A
    /// rank is given less one.
    ///
    /// # Errors
    /// What is wrong with the value or the index.
    pub fn replace(&mut self, field: Field, index: usize, value: u64) -> Result<(), String> {
        let word = value as u32;
        let out_of_range = || format!("{value} is no value of this field");
        let slot = |list: &mut [u32; MOST_AXES]| {
            let place = list.get_mut(index).ok_or_else(|| format!("there is no axis {index}"))?;
            *place = word;
            Ok::<(), String>(())
        };
        match field {
            Field::GlobalAddress => self.address = value,
            Field::Rank => {
                self.rank = word.checked_add(1).filter(|&r| r <= MOST_AXES as u32).ok_or_else(out_of_range)?;
            }
            Field::BoxDim => slot(&mut self.box_dims)?,
            Field::GlobalDim => slot(&mut self.dims)?,
            Field::ElementStride => slot(&mut self.element_strides)?,
            Field::GlobalStride => {
                *self.strides.get_mut(index).ok_or_else(|| format!("there is no stride {index}"))? = value;
            }
            Field::ElementType => self.element = Element::from_number(word).ok_or_else(out_of_range)?,
            Field::Interleave => self.interleave = Some(word).filter(|&i| i <= 2).ok_or_else(out_of_range)?,
            Field::Swizzle => self.swizzle = swizzle(word).ok_or_else(out_of_range)?,
            Field::Fill => self.fill_nan = Some(word).filter(|&f| f <= 1).ok_or_else(out_of_range)? == 1,
        }
        Ok(())
    }

    /// The map as bytes in memory.
    #[must_use]
    pub fn encode(&self) -> [u8; BYTES] {
        let mode = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::Bytes32 => 1,
            Swizzle::Bytes64 => 2,
            Swizzle::Bytes128 => 3,
        };
        let small = [self.element.number(), self.rank, self.interleave, mode, u32::from(self.fill_nan)];
        let mut bytes = vec![];
        bytes.extend(self.address.to_le_bytes());
        bytes.extend(self.strides.iter().flat_map(|x| x.to_le_bytes()));
        for list in [&self.dims, &self.box_dims, &self.element_strides] {
            bytes.extend(list.iter().flat_map(|x| x.to_le_bytes()));
        }
        bytes.extend(small.iter().map(|&x| x as u8));
        let mut out = [0; BYTES];
        out[..bytes.len()].copy_from_slice(&bytes);
        out
    }

    /// The map that these bytes hold; `None` if [`TensorMap::encode`] did not make them.
    #[must_use]
    pub fn decode(bytes: &[u8; BYTES]) -> Option<TensorMap> {
        let long = |at: usize| bytes[at..at + 8].iter().rev().fold(0, |x, &b| x << 8 | u64::from(b));
        let word = |at: usize| bytes[at..at + 4].iter().rev().fold(0, |x, &b| x << 8 | u32::from(b));
        let list = |at: usize| std::array::from_fn(|i| word(at + 4 * i));
        let small = |i: usize| u32::from(bytes[SMALL + i]);
        let rest = &bytes[SMALL + 5..];
        if small(1) as usize > MOST_AXES || small(2) > 2 || small(4) > 1 || rest.iter().any(|&b| b != 0) {
            return None;
        }
        Some(TensorMap {
            element: Element::from_number(small(0))?,
            rank: small(1),
            address: long(0),
            strides: std::array::from_fn(|i| long(8 + 8 * i)),
            dims: list(LISTS),
            box_dims: list(LISTS + 4 * MOST_AXES),
            element_strides: list(LISTS + 8 * MOST_AXES),
            interleave: small(2),
            swizzle: swizzle(small(3))?,
            fill_nan: small(4) == 1,
        })
    }
}

/// Where the lists of 32-bit numbers start in the encoded form: behind the address and the strides.
const LISTS: usize = 8 + 8 * (MOST_AXES - 1);
/// Where the small numbers start.
const SMALL: usize = LISTS + 12 * MOST_AXES;

/// The swizzle of a number of `.swizzle_mode`.
#[must_use]
pub fn swizzle(number: u32) -> Option<Swizzle> {
    [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128].get(number as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 columns and 6 rows of f16, in boxes of 8 columns and 4 rows.
    fn halves() -> TensorMap {
        TensorMap {
            element: Element::F16,
            rank: 2,
            address: 0x1000,
            dims: [100, 6, 0, 0, 0],
            strides: [208, 0, 0, 0],
            box_dims: [8, 4, 0, 0, 0],
            element_strides: [1, 1, 0, 0, 0],
            ..TensorMap::default()
        }
    }

    #[test]
    fn elements_of_a_box() {
        let map = halves();
        assert_eq!((map.fault(), map.box_bytes()), (None, 64));
        let at = [96, 2];
        let places: Vec<Place> = map.places(&at, false).collect();
        assert_eq!(places[17], Place { global: Some(0x1000 + 208 * 4 + 2 * 97), offset: 34 });
        assert_eq!(places[17 + 3].global, None, "column 100 is outside");
        assert_eq!(places.iter().filter(|p| p.global.is_some()).count(), 16);
        let before = [-3, -1];
        let places: Vec<Place> = map.places(&before, false).collect();
        assert_eq!(places[8 + 3].global, Some(0x1000));
        assert_eq!(places[8 + 2].global, None);
    }

    #[test]
    fn a_store_writes_whole_chunks_of_the_innermost_axis() {
        let map = TensorMap { dims: [60, 30, 0, 0, 0], ..halves() };
        let inside = |at: i32, store| map.places(&[at, 0], store).take(8).filter(|p| p.global.is_some()).count();
        assert_eq!((inside(56, false), inside(56, true)), (4, 8), "60 columns end within a chunk of 8");
        assert_eq!(inside(64, true), 0, "a chunk that starts outside is left out");
    }

    #[test]
    fn strided_elements_are_skipped() {
        let map = TensorMap { element_strides: [2, 3, 0, 0, 0], box_dims: [8, 4, 0, 0, 0], ..halves() };
        assert_eq!((map.fault(), map.box_bytes()), (None, 8 * 2 * 2));
        let places: Vec<Place> = map.places(&[0, 0], false).collect();
        assert_eq!(places[9].global, Some(0x1000 + 3 * 208 + 2));
    }

    #[test]
    fn a_box_is_swizzled_by_its_address() {
        let map = TensorMap { swizzle: Swizzle::Bytes128, box_dims: [64, 8, 0, 0, 0], ..halves() };
        assert_eq!(map.shared(0x400, 128), 0x400 + 128 + 16);
        assert_eq!(map.shared(0x480, 0), 0x490);
    }

    #[test]
    fn maps_round_trip_through_memory() {
        let map = TensorMap {
            swizzle: Swizzle::Bytes64,
            fill_nan: true,
            interleave: 1,
            strides: [1 << 40, 2, 3, 4],
            ..halves()
        };
        assert_eq!(TensorMap::decode(&map.encode()), Some(map));
        assert_eq!(TensorMap::decode(&[0; BYTES]), Some(TensorMap::default()));
        assert_eq!(TensorMap::decode(&[0xff; BYTES]), None);
    }

    #[test]
    fn a_cleared_map_is_filled_field_by_field() {
        let mut map = TensorMap::default();
        let want = halves();
        let steps = [
            (Field::GlobalAddress, 0, 0x1000),
            (Field::Rank, 0, 1),
            (Field::BoxDim, 0, 8),
            (Field::BoxDim, 1, 4),
            (Field::GlobalDim, 0, 100),
            (Field::GlobalDim, 1, 6),
            (Field::GlobalStride, 0, 208),
            (Field::ElementStride, 0, 1),
            (Field::ElementStride, 1, 1),
            (Field::ElementType, 0, 6),
        ];
        for (field, index, value) in steps {
            map.replace(field, index, value).unwrap();
        }
        assert_eq!(map, want);
        assert!(map.replace(Field::Swizzle, 0, 9).is_err());
        assert!(map.replace(Field::BoxDim, 5, 1).is_err());
    }

    #[test]
    fn maps_that_cannot_be_copied() {
        let fault = |map: TensorMap| map.fault().unwrap();
        assert!(fault(TensorMap { box_dims: [7, 4, 0, 0, 0], ..halves() }).contains("14 bytes"));
        assert!(
            fault(TensorMap { swizzle: Swizzle::Bytes32, box_dims: [64, 4, 0, 0, 0], ..halves() })
                .contains("more than")
        );
        assert!(fault(TensorMap { rank: 0, ..halves() }).contains("0 axes"));
        assert!(fault(TensorMap { strides: [200, 0, 0, 0], ..halves() }).contains("200 bytes"));
    }
}
