//! Types and constants of the IR in LLVM.
//!
//! | IR | LLVM |
//! |---|---|
//! | `iN` | `iN` |
//! | `index` | `i32` |
//! | `f16` `bf16` `f32` `f64` | `half` `bfloat` `float` `double` |
//! | 8-bit floats | `i8` |
//! | `!tt.ptr<T, S>` | `ptr addrspace(S)` |
//! | `!tt.tensordesc<…>` | `ptr`, of the descriptor |
//! | `tensor<…xT, #layout>` | one `T` per register of the layout |

use std::num::NonZeroU32;

use inkwell::AddressSpace;
use inkwell::module::Linkage;
use inkwell::types::{BasicType, BasicTypeEnum, IntType};
use inkwell::values::BasicValueEnum;

use super::lower::{Lower, Regs, Res};
use crate::analysis::shared_alias::is_shared;
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::{Attr, AttrData, DenseData, FloatKind, Type, TypeData};
use crate::layout::{Dim, LinearLayout, layout_of};

impl<'c> Lower<'c, '_> {
    /// `iN`
    pub(crate) fn int_type(&self, bits: u32) -> IntType<'c> {
        let width = NonZeroU32::new(bits).unwrap_or(NonZeroU32::MIN);
        self.llvm.custom_width_int_type(width).unwrap_or_else(|_| self.llvm.i64_type())
    }

    /// The LLVM type of a scalar, or of one element of a tensor.
    pub(crate) fn elem_type(&self, ty: Type) -> Res<BasicTypeEnum<'c>> {
        match *ty {
            // The address of the descriptor, generic: it lies among the parameters or in global memory.
            TypeData::TensorDesc { im2col: false, .. } if self.options.target.has_tma() => {
                return Ok(self.llvm.ptr_type(AddressSpace::default()).into());
            }
            TypeData::TensorDesc { .. } | TypeData::MemDesc(_) => return Err(unsupported(ty)),
            _ => {}
        }
        let ty = ty.elem();
        Ok(match *ty {
            TypeData::Int(bits @ 1..=128) => self.int_type(bits).into(),
            TypeData::Index => self.int_type(32).into(),
            TypeData::Float(kind) => match kind {
                FloatKind::F16 => self.llvm.f16_type().into(),
                FloatKind::BF16 => self.llvm.bf16_type().into(),
                FloatKind::F32 | FloatKind::TF32 => self.llvm.f32_type().into(),
                FloatKind::F64 => self.llvm.f64_type().into(),
                narrow if narrow.is_fp8() => self.int_type(8).into(),
                _ => return Err(unsupported(ty)),
            },
            TypeData::Pointer { pointee, space } if !pointee.is_tensor() => {
                self.llvm.ptr_type(AddressSpace::try_from(space).map_err(|()| unsupported(ty))?).into()
            }
            _ => return Err(unsupported(ty)),
        })
    }

    /// The layout of a tensor type.
    pub(crate) fn layout(ty: Type) -> Res<&'static LinearLayout> {
        layout_of(ty)
            .map_err(|e| Diagnostic::error(&codes::NO_LAYOUT, format!("`{ty}` cannot be placed in registers: {e}")))
    }

    /// Registers that hold a value of this type in one thread.
    pub(crate) fn num_regs(ty: Type) -> Res<usize> {
        if ty.is_tensor() { Ok(Self::layout(ty)?.in_size(Dim::Register) as usize) } else { Ok(1) }
    }

    /// The constant of an element type with these raw bits (see [`DenseData`]).
    pub(crate) fn const_bits(&self, ty: Type, bits: u64) -> Res<BasicValueEnum<'c>> {
        let llvm = self.elem_type(ty)?;
        Ok(match llvm {
            BasicTypeEnum::IntType(int) => int.const_int(bits, true).into(),
            BasicTypeEnum::FloatType(_) => {
                let int = self.int_type(ty.bit_width().unwrap_or(32)).const_int(bits, false);
                self.b.build_bit_cast(int, llvm, "")?
            }
            BasicTypeEnum::PointerType(ptr) if bits == 0 => ptr.const_null().into(),
            _ => return Err(unsupported(ty)),
        })
    }

    /// The registers of a constant attribute of type `ty`.
    pub(crate) fn constant(&mut self, value: Attr, ty: Type) -> Res<Regs<'c>> {
        let elements = match value.data() {
            AttrData::Dense(_, DenseData::Elements(elements)) => elements.as_slice(),
            _ => &[],
        };
        let splat = elements.first().copied().filter(|first| elements.iter().all(|e| e == first));
        match value.splat_value().or(splat) {
            Some(bits) => Ok(vec![self.const_bits(ty, bits)?; Self::num_regs(ty)?].into()),
            None => self.constant_table(elements, ty),
        }
    }

    /// A constant whose elements differ: a row-major table in global memory, from which each register loads its
    /// element.
    fn constant_table(&mut self, elements: &[u64], ty: Type) -> Res<Regs<'c>> {
        let elem = self.elem_type(ty)?;
        let layout = Self::layout(ty)?;
        if elem.is_pointer_type() || elements.len() as i64 != ty.num_elements() {
            return Err(unsupported(ty));
        }
        let bits = self.bits_of(elem);
        let stored = self.int_type(bits.next_multiple_of(8));
        let table = stored.const_array(&elements.iter().map(|&e| stored.const_int(e, false)).collect::<Vec<_>>());
        let global = self.module.add_global(table.get_type(), Some(AddressSpace::from(1u16)), "constant");
        global.set_initializer(&table);
        global.set_constant(true);
        global.set_linkage(Linkage::Internal);
        let mut regs = Vec::new();
        for coordinates in self.indices(layout)? {
            let mut index = self.i32(0);
            for (coordinate, &size) in coordinates.into_iter().zip(ty.shape()) {
                let row = self.b.build_int_mul(index, self.i32(size as u64), "")?;
                index = self.b.build_int_add(row, coordinate, "")?;
            }
            // SAFETY: the coordinates of a layout lie inside the shape, whose elements the table holds.
            let at = unsafe { self.b.build_in_bounds_gep(stored, global.as_pointer_value(), &[index], "")? };
            let loaded = self.b.build_load(stored, at, "")?.into_int_value();
            let whole = self.b.build_int_truncate_or_bit_cast(loaded, self.int_type(bits), "")?;
            regs.push(super::bits::bits_as(self, whole.into(), elem)?);
        }
        Ok(regs.into())
    }

    /// A float constant of the LLVM type of `like`.
    pub(crate) fn float_like(like: BasicValueEnum<'c>, value: f64) -> Res<BasicValueEnum<'c>> {
        match like.get_type() {
            BasicTypeEnum::FloatType(float) => Ok(float.const_float(value).into()),
            _ => Err(Diagnostic::error(&codes::DEFECT, "a float constant of a type that is no float")),
        }
    }

    /// The LLVM type of each register that holds a value of this type: for a tensor its elements, for a descriptor of
    /// shared memory the address and an offset for each dimension (`memdesc`), for a token nothing.
    pub(crate) fn register_types(&self, ty: Type) -> Res<Vec<BasicTypeEnum<'c>>> {
        match ty.data() {
            TypeData::AsyncToken => Ok(vec![]),
            TypeData::MemDesc(m) if is_shared(ty) => {
                let ptr = self.llvm.ptr_type(AddressSpace::from(self.machine.spaces().shared)).into();
                Ok(std::iter::once(ptr).chain(m.shape.iter().map(|_| self.int_type(32).into())).collect())
            }
            _ => Ok(vec![self.elem_type(ty)?; Self::num_regs(ty)?]),
        }
    }

    /// Values of a type that nobody may rely on.
    pub(crate) fn poison(&self, ty: Type) -> Res<Regs<'c>> {
        let one = |llvm| match llvm {
            BasicTypeEnum::IntType(t) => Ok(t.get_poison().into()),
            BasicTypeEnum::FloatType(t) => Ok(t.get_poison().into()),
            BasicTypeEnum::PointerType(t) => Ok(t.get_poison().into()),
            _ => Err(unsupported(ty)),
        };
        let regs: Vec<BasicValueEnum<'c>> = self.register_types(ty)?.into_iter().map(one).collect::<Res<_>>()?;
        Ok(regs.into())
    }

    /// `<n x T>`, of scalars that LLVM has vectors of.
    pub(crate) fn vector_type(elem: BasicTypeEnum<'c>, n: u32) -> Res<inkwell::types::VectorType<'c>> {
        match elem {
            BasicTypeEnum::IntType(t) => Ok(t.vec_type(n)),
            BasicTypeEnum::FloatType(t) => Ok(t.vec_type(n)),
            BasicTypeEnum::PointerType(t) => Ok(t.vec_type(n)),
            _ => Err(Diagnostic::error(&codes::DEFECT, "a vector of a type that is no scalar")),
        }
    }

    /// Width in bits of an LLVM scalar; pointers count 64.
    pub(crate) fn bits_of(&self, ty: BasicTypeEnum<'c>) -> u32 {
        match ty {
            BasicTypeEnum::IntType(t) => t.get_bit_width(),
            BasicTypeEnum::FloatType(t) if t == self.llvm.f64_type() => 64,
            BasicTypeEnum::FloatType(t) if t == self.llvm.f32_type() => 32,
            BasicTypeEnum::FloatType(_) => 16,
            _ => 64,
        }
    }

    /// `T (args…)` or `void (args…)`.
    pub(crate) fn fn_type(
        &self,
        result: Option<BasicTypeEnum<'c>>,
        args: &[BasicTypeEnum<'c>],
    ) -> inkwell::types::FunctionType<'c> {
        let args: Vec<_> = args.iter().map(|&a| a.into()).collect();
        match result {
            Some(ty) => ty.fn_type(&args, false),
            None => self.llvm.void_type().fn_type(&args, false),
        }
    }
}

fn unsupported(ty: Type) -> Diagnostic {
    Diagnostic::error(&codes::UNSUPPORTED_TYPE, format!("values of type `{ty}` have no form in LLVM IR yet"))
}
