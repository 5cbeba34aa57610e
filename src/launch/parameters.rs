//! From the arguments of a kernel to its parameters.
//!
//! 1. An argument that is no descriptor is one parameter.
//! 2. A descriptor that the hardware reads is a tensor map, then its extents as i32, then its strides as i64. One that
//!    was taken apart is an address, extents and strides as i64, two truth values, and again the extents as i32 and the
//!    strides as i64.
//! 3. Hidden parameters come last.
//! 4. Every parameter starts at the next multiple of its alignment, as in C.

use super::{Argument, Parameter, Value};
use crate::ir::{Type, TypeData};

/// Size and alignment of a parameter in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    size: u32,
    align: u32,
}

impl Words {
    /// Those of a `CUtensorMap`.
    const TENSOR_MAP: Words = Words { size: 128, align: 64 };

    /// Those of a parameter of a kernel of this type. `None` for types that are none of a parameter.
    fn of(ty: Type) -> Option<Words> {
        match ty.data() {
            TypeData::TensorDesc { .. } => Some(Words::TENSOR_MAP),
            TypeData::Pointer { .. } => Some(Words { size: 8, align: 8 }),
            TypeData::Int(_) | TypeData::SignedInt { .. } | TypeData::Float(_) => {
                let size = ty.bit_width()?.div_ceil(8).next_power_of_two();
                Some(Words { size, align: size })
            }
            _ => None,
        }
    }
}

/// The parameters of a kernel with these arguments and a function that takes `types` for them. `hidden` come after
/// them. Returns `None` if the arguments do not fit the types.
#[must_use]
pub fn flatten(arguments: &[Argument], types: &[Type], hidden: Vec<Value>) -> Option<Vec<Parameter>> {
    let mut types = types.iter();
    let mut values = vec![];
    for a in arguments.iter().filter(|a| a.equals.is_none()) {
        let first = *types.as_slice().first()?;
        for value in values_of(a, first) {
            values.push((value, Words::of(*types.next()?)?));
        }
    }
    if types.next().is_some() {
        return None;
    }
    let words_of = |value: &Value| match value {
        Value::ArrayMap(_) => Words::TENSOR_MAP,
        _ => Words { size: 8, align: 8 },
    };
    for value in hidden {
        let words = words_of(&value);
        values.push((value, words));
    }
    let mut end = 0;
    let placed = values.into_iter().map(|(value, Words { size, align })| {
        let offset = u32::next_multiple_of(end, align);
        end = offset + size;
        Parameter { value, offset, size, align }
    });
    Some(placed.collect())
}

/// How many parameters an argument of this type is, of which the first has type `first`.
#[must_use]
pub fn parameter_count(ty: &str, first: Type) -> usize {
    values_of(&Argument { ty: ty.to_owned(), ..Argument::default() }, first).len()
}

/// What the parameters of an argument hold, of which the first has type `first`.
fn values_of(a: &Argument, first: Type) -> Vec<Value> {
    let argument = || a.name.clone();
    let Some(rank) = descriptor_rank(&a.ty) else { return vec![Value::Argument { argument: argument() }] };
    let extents = || (0..rank).map(|axis| Value::Extent { argument: argument(), axis });
    let strides = || (0..rank).map(|axis| Value::Stride { argument: argument(), axis });
    let shape = || extents().chain(strides());
    if matches!(first.data(), TypeData::TensorDesc { .. }) {
        return std::iter::once(Value::TensorMap { argument: argument() }).chain(shape()).collect();
    }
    let flags = [Value::PadsWithNan { argument: argument() }, Value::RoundsToTf32 { argument: argument() }];
    let base = std::iter::once(Value::Base { argument: argument() });
    base.chain(shape()).chain(flags).chain(shape()).collect()
}

/// The number of axes of a descriptor: `tensordesc<fp16[128, 64]>` has 2. `None` for other types.
#[must_use]
pub fn descriptor_rank(ty: &str) -> Option<u32> {
    let shape = ty.strip_prefix("tensordesc<")?.split_once('[')?.1;
    Some(shape.split(',').count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::FloatKind;

    fn argument(name: &str, ty: &str) -> Argument {
        Argument { name: name.into(), ty: ty.into(), ..Argument::default() }
    }

    fn shown(arguments: &[Argument], types: &[Type], hidden: Vec<Value>) -> Option<Vec<String>> {
        let parameters = flatten(arguments, types, hidden)?;
        let word = |p: &Parameter| match &p.value {
            Value::Argument { argument } => argument.clone(),
            Value::Extent { argument, axis } => format!("{argument}.extent{axis}"),
            Value::Stride { argument, axis } => format!("{argument}.stride{axis}"),
            other => format!("{other:?}").split(' ').next().unwrap_or_default().to_owned(),
        };
        Some(parameters.iter().map(|p| format!("{} {}+{}", word(p), p.offset, p.size)).collect())
    }

    #[test]
    fn parameters_start_at_multiples_of_their_sizes() {
        let i32 = Type::int(32);
        let ptr = Type::ptr(Type::f32());
        let args = [argument("b", "i1"), argument("n", "i32"), argument("p", "*fp32"), argument("h", "fp16")];
        let types = [Type::int(1), i32, ptr, Type::float(FloatKind::F16)];
        let hidden = vec![Value::GlobalScratch { bytes_per_block: 4, memory_align: 16 }];
        let got = shown(&args, &types, hidden).unwrap();
        assert_eq!(got, ["b 0+1", "n 4+4", "p 8+8", "h 16+2", "GlobalScratch 24+8"]);
    }

    #[test]
    fn an_argument_of_a_settled_value_is_no_parameter() {
        let settled = Argument { equals: Some(1), ..argument("s", "i32") };
        let args = [argument("n", "i32"), settled, argument("m", "i64")];
        assert_eq!(shown(&args, &[Type::int(32), Type::int(64)], vec![]).unwrap(), ["n 0+4", "m 8+8"]);
        assert_eq!(shown(&args, &[Type::int(32)], vec![]), None, "a parameter too few");
        assert_eq!(shown(&args[..1], &[Type::int(32), Type::int(64)], vec![]), None, "one too many");
    }

    #[test]
    fn a_descriptor_that_was_taken_apart_is_eleven_parameters() {
        let (ptr, wide, narrow, bit) =
            (Type::ptr(Type::float(FloatKind::F16)), Type::int(64), Type::int(32), Type::int(1));
        let types = [ptr, wide, wide, wide, wide, bit, bit, narrow, narrow, wide, wide];
        let got = shown(&[argument("d", "tensordesc<fp16[64, 32]>")], &types, vec![]).unwrap();
        assert_eq!(got[0], "Base 0+8");
        assert_eq!(got[5..9], ["PadsWithNan 40+1", "RoundsToTf32 41+1", "d.extent0 44+4", "d.extent1 48+4"]);
        assert_eq!(got[9..], ["d.stride0 56+8", "d.stride1 64+8"]);
    }
}
