//! Moving values between the lanes of a warp, and stores that only some threads do.
//!
//! A shuffle moves 32 bits. Narrow elements share a word: two halves are one shuffle. Wide
//! ones are cut into words.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, IntValue, PointerValue};

use super::bits::bits_as;
use super::lower::{Lower, Res, Val, as_int, defect};
use super::machine::Source;

const WORD: u32 = 32;

/// The bits of the widest access to shared memory.
const WIDEST: u32 = 128;

impl<'c> Lower<'c, '_> {
    /// The values that another lane has in place of these, which are of one type.
    pub(crate) fn shuffle(&mut self, values: &[Val<'c>], from: Source<'c>) -> Res<Vec<Val<'c>>> {
        let Some(first) = values.first() else { return Ok(vec![]) };
        let elem = first.get_type();
        let stored = self.stored_type(elem);
        let bits = self.bits_of(stored);
        let per_word = (WORD / bits).max(1) as usize;
        let mut moved = Vec::with_capacity(values.len());
        for chunk in values.chunks(per_word) {
            let mut words = self.words_of(chunk, stored)?;
            for word in &mut words {
                *word = self.machine.shuffle(self, *word, from)?;
            }
            self.elements_of(&words, stored, elem, chunk.len(), &mut moved)?;
        }
        Ok(moved)
    }

    /// Elements side by side as 32-bit words; fewer than fill a word leave the rest 0.
    fn words_of(&mut self, elements: &[Val<'c>], stored: BasicTypeEnum<'c>) -> Res<Vec<IntValue<'c>>> {
        let bits = self.bits_of(stored);
        let elements = elements.iter().map(|&e| self.as_stored(e)).collect::<Res<Vec<_>>>()?;
        if let [one] = elements[..] {
            let int = as_int(bits_as(self, one, self.int_type(bits).into())?)?;
            if bits <= WORD {
                return Ok(vec![if bits < WORD {
                    self.b.build_int_z_extend(int, self.int_type(WORD), "")?
                } else {
                    int
                }]);
            }
            let part = |i: u32| {
                let shifted = self.b.build_right_shift(
                    int,
                    self.int_type(bits).const_int(u64::from(i * WORD), false),
                    false,
                    "",
                )?;
                Ok(self.b.build_int_truncate(shifted, self.int_type(WORD), "")?)
            };
            return (0..bits / WORD).map(part).collect();
        }
        let mut vector = Lower::vector_type(stored, WORD / bits)?.const_zero();
        for (i, &e) in elements.iter().enumerate() {
            vector = self.b.build_insert_element(vector, e, self.i32(i as u64), "")?;
        }
        Ok(vec![as_int(bits_as(self, vector.as_basic_value_enum(), self.int_type(WORD).into())?)?])
    }

    /// The reverse of [`Lower::words_of`] for `count` elements.
    fn elements_of(
        &mut self,
        words: &[IntValue<'c>],
        stored: BasicTypeEnum<'c>,
        elem: BasicTypeEnum<'c>,
        count: usize,
        out: &mut Vec<Val<'c>>,
    ) -> Res<()> {
        let bits = self.bits_of(stored);
        if count > 1 {
            let Val::VectorValue(vector) =
                self.b.build_bit_cast(words[0], Lower::vector_type(stored, WORD / bits)?, "")?
            else {
                return Err(defect("a word is no vector"));
            };
            for i in 0..count {
                let e = self.b.build_extract_element(vector, self.i32(i as u64), "")?;
                out.push(self.restored(e, elem)?);
            }
            return Ok(());
        }
        let int_type = self.int_type(bits);
        let mut whole = if bits < WORD { self.b.build_int_truncate(words[0], int_type, "")? } else { words[0] };
        if bits > WORD {
            whole = int_type.const_zero();
            for (i, &word) in words.iter().enumerate() {
                let wide = self.b.build_int_z_extend(word, int_type, "")?;
                let moved = self.b.build_left_shift(wide, int_type.const_int(i as u64 * u64::from(WORD), false), "")?;
                whole = self.b.build_or(whole, moved, "")?;
            }
        }
        let stored_value = bits_as(self, whole.into(), stored)?;
        out.push(self.restored(stored_value, elem)?);
        Ok(())
    }

    /// Stores an element where a predicate holds.
    pub(crate) fn store_shared_if(
        &mut self,
        pred: Option<IntValue<'c>>,
        ptr: PointerValue<'c>,
        value: Val<'c>,
    ) -> Res<()> {
        self.store_shared_run_if(pred, ptr, &[value])
    }

    /// Stores elements that lie side by side where a predicate holds, in accesses of up to 16 bytes. Elements below 16
    /// bits are stored one by one.
    pub(crate) fn store_shared_run_if(
        &mut self,
        pred: Option<IntValue<'c>>,
        ptr: PointerValue<'c>,
        values: &[Val<'c>],
    ) -> Res<()> {
        let stored = values.iter().map(|&v| self.as_stored(v)).collect::<Res<Vec<_>>>()?;
        let Some(&first) = stored.first() else { return Ok(()) };
        let bits = self.bits_of(first.get_type());
        let per_access = if bits < 16 { 1 } else { (WIDEST / bits).clamp(1, 4) as usize };
        for (i, values) in stored.chunks(per_access).enumerate() {
            let bytes = (i * per_access) as u64 * u64::from(bits / 8);
            let at = if i == 0 { ptr } else { self.shared_at(ptr, self.i32(bytes))? };
            let Some(pred) = pred else {
                self.store_shared(at, values)?;
                continue;
            };
            let mut words: Vec<Val<'c>> = vec![];
            for &value in values {
                let mut int = as_int(bits_as(self, value, self.int_type(bits).into())?)?;
                if bits < 16 {
                    int = self.b.build_int_z_extend(int, self.int_type(16), "")?;
                }
                words.push(int.into());
            }
            let address = self.shared_address_bits(at)?;
            self.machine.store_shared(self, pred, address, (&words, bits), false)?;
        }
        Ok(())
    }

    /// Loads `count` elements that lie side by side, in accesses of up to 16 bytes.
    pub(crate) fn load_shared_run(
        &mut self,
        ptr: PointerValue<'c>,
        elem: BasicTypeEnum<'c>,
        count: usize,
    ) -> Res<Vec<Val<'c>>> {
        let stored = self.stored_type(elem);
        let bits = self.bits_of(stored);
        let per_access = ((WIDEST / bits).max(1) as usize).min(count);
        let mut values = Vec::with_capacity(count);
        for first in (0..count).step_by(per_access) {
            let at = if first == 0 { ptr } else { self.shared_at(ptr, self.i32(first as u64 * u64::from(bits / 8)))? };
            for value in self.load_shared(at, stored, per_access)? {
                values.push(self.restored(value, elem)?);
            }
        }
        Ok(values)
    }
}
