//! Tensor descriptors that nobody passes: a parameter of a kernel that the launch makes of the others.
//!
//! 1. Such a parameter is a tensor descriptor with the attribute [`ARRAY_MAP`] that stands behind all parameters that a
//!    caller passes.
//! 2. The attribute says where the array starts, how far it reaches, and its strides, as sums of products of parameters
//!    ([`Sum`]). `p3` is the integer parameter of the function with the number 3.
//! 3. Axes are those of the descriptor, the outermost first. The stride of the innermost one is 1 and not listed. The
//!    extent of an axis is the least of the sums that are listed for it, at least 1 and at most 2³¹ - 1
//!    ([`ArrayMap::extent`]).
//!
//! ```text
//! %d: !tt.tensordesc<128x64xf16> {ttc.array_map = {base = 0 : i32, extents = [["p3"], ["p5"]], strides = ["p6"]}}
//! ```
//! is the array of p3 rows and p5 columns that starts at the pointer p0, with p6 elements from one row to the next.

use std::fmt;

use super::discardable::ARRAY_MAP;
use super::keys::{Attrs, Int, Key};
use super::tt::tt::Func;
use crate::ir::core::{Attr, AttrData, Ir, Op, Type, TypeData};

/// A sum of products of the function's integer parameters, each with a whole coefficient.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sum(pub Vec<Term>);

/// A coefficient, and the numbers of the parameters that it is multiplied with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    pub coefficient: i64,
    pub factors: Vec<u32>,
}

/// What the launch makes a descriptor of. Extents and strides are in elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayMap {
    /// The number of the pointer that the array starts at.
    pub base: u32,
    /// For each axis sums of which the least is the extent; without any it reaches as far as coordinates do.
    pub extents: Vec<Vec<Sum>>,
    /// Those of all axes but the innermost.
    pub strides: Vec<Sum>,
}

/// The largest extent: coordinates are signed numbers of 32 bits.
pub const FARTHEST: i64 = i32::MAX as i64;

const BASE: Key<Int<32>> = Key::new("base");
const EXTENTS: Key<Attrs> = Key::new("extents");
const STRIDES: Key<Attrs> = Key::new("strides");

impl ArrayMap {
    /// What a function's parameter is made of, if the launch makes it.
    #[must_use]
    pub fn of_parameter(ir: &Ir, func: Op, index: usize) -> Option<ArrayMap> {
        ArrayMap::read(ir.param_attr(func, index, ARRAY_MAP)?)
    }

    /// How many of a function's parameters a caller passes. The launch makes those behind them.
    #[must_use]
    pub fn passed(ir: &Ir, func: Op) -> usize {
        let count = ir.body(func, 0).map_or(0, |b| ir.args(b).len());
        (0..count).find(|&i| ArrayMap::of_parameter(ir, func, i).is_some()).unwrap_or(count)
    }

    /// The value of the attribute.
    #[must_use]
    pub fn attr(&self) -> Attr {
        let texts = |sums: &[Sum]| -> Vec<Attr> { sums.iter().map(|s| Attr::str(&s.to_string())).collect() };
        let array = |items: Vec<Attr>| Attr::new(AttrData::Array(items));
        let extents: Vec<Attr> = self.extents.iter().map(|sums| array(texts(sums))).collect();
        let entries = [BASE.entry(i64::from(self.base)), EXTENTS.entry(&extents), STRIDES.entry(&texts(&self.strides))];
        Attr::new(AttrData::Dict(entries.into_iter().flatten().collect()))
    }

    /// Reads the attribute. `None` if it has another form.
    #[must_use]
    pub fn read(attr: Attr) -> Option<ArrayMap> {
        let AttrData::Dict(entries) = attr.data() else { return None };
        let sums = |items: &[Attr]| items.iter().map(|a| Sum::read(a.as_str()?)).collect::<Option<Vec<_>>>();
        Some(ArrayMap {
            base: u32::try_from(BASE.find(entries)?).ok()?,
            extents: EXTENTS.find(entries)?.iter().map(|a| sums(a.as_array()?)).collect::<Option<_>>()?,
            strides: sums(STRIDES.find(entries)?)?,
        })
    }

    /// The extent of an axis in elements, from 1 to [`FARTHEST`]. `None` if a number does not fit into 64 bits, or a
    /// parameter has no value.
    #[must_use]
    pub fn extent(&self, axis: usize, value: &impl Fn(u32) -> Option<i64>) -> Option<i64> {
        let mut least = FARTHEST;
        for sum in self.extents.get(axis)? {
            least = least.min(sum.value(value)?);
        }
        Some(least.max(1))
    }

    /// The strides of all axes in elements, and as [`ArrayMap::extent`].
    #[must_use]
    pub fn all_strides(&self, value: &impl Fn(u32) -> Option<i64>) -> Option<Vec<i64>> {
        self.strides.iter().map(|s| s.value(value)).chain([Some(1)]).collect()
    }

    /// What is wrong with the attribute of a function's parameter, if it has one.
    ///
    /// # Errors
    /// Says what the attribute must be.
    pub fn check(ir: &Ir, func: Op, index: usize) -> Result<(), String> {
        let Some(attr) = ir.param_attr(func, index, ARRAY_MAP) else { return Ok(()) };
        let name = ARRAY_MAP.name();
        let map = ArrayMap::read(attr)
            .ok_or_else(|| format!("`{name}` needs the number `base` and lists `extents` and `strides` of sums"))?;
        let ty = Func::of(ir, func).and_then(|f| f.function_type(ir)).map(Type::data);
        let Some(TypeData::Function { inputs, .. }) = ty else { return Ok(()) };
        let own = inputs.get(index).filter(|t| matches!(t.data(), TypeData::TensorDesc { .. }));
        let rank = own.map(|t| t.rank());
        if rank != Some(map.extents.len()) || rank != Some(map.strides.len() + 1) {
            return Err(format!("`{name}` of a tensor descriptor has an extent for each axis and a stride less"));
        }
        let before = |n: u32| inputs[..index].get(n as usize).copied();
        let sums = map.extents.iter().flatten().chain(&map.strides);
        let known = sums.flat_map(|s| &s.0).flat_map(|t| &t.factors).all(|&n| before(n).is_some_and(Type::is_int));
        if !known || !before(map.base).is_some_and(Type::is_ptr) {
            return Err(format!("`{name}` names a pointer and integers among the parameters before it"));
        }
        if index + 1 < inputs.len() && ir.param_attr(func, index + 1, ARRAY_MAP).is_none() {
            return Err(format!("parameters with `{name}` come last"));
        }
        Ok(())
    }
}

impl Sum {
    /// Reads what is printed: `64 * p3 * p5 + p2 + -1`, and `0`.
    fn read(text: &str) -> Option<Sum> {
        if text == "0" {
            return Some(Sum::default());
        }
        let term = |text: &str| {
            let mut term = Term { coefficient: 1, factors: vec![] };
            for (at, factor) in text.split(" * ").enumerate() {
                match factor.strip_prefix('p') {
                    Some(number) => term.factors.push(number.parse().ok()?),
                    None if at == 0 => term.coefficient = factor.parse().ok()?,
                    None => return None,
                }
            }
            Some(term)
        };
        text.split(" + ").map(term).collect::<Option<_>>().map(Sum)
    }

    /// The value for these values of the parameters. `None` as for [`ArrayMap::extent`].
    #[must_use]
    pub fn value(&self, value: &impl Fn(u32) -> Option<i64>) -> Option<i64> {
        let product = |t: &Term| t.factors.iter().try_fold(t.coefficient, |all, &n| all.checked_mul(value(n)?));
        self.0.iter().try_fold(0i64, |all, t| all.checked_add(product(t)?))
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        for (at, Term { coefficient, factors }) in self.0.iter().enumerate() {
            let mut words: Vec<String> = factors.iter().map(|n| format!("p{n}")).collect();
            if *coefficient != 1 || words.is_empty() {
                words.insert(0, coefficient.to_string());
            }
            write!(f, "{}{}", if at == 0 { "" } else { " + " }, words.join(" * "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(coefficient: i64, factors: &[u32]) -> Term {
        Term { coefficient, factors: factors.to_vec() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let sum = Sum(vec![term(64, &[3, 5]), term(1, &[2]), term(-1, &[])]);
        assert_eq!(sum.to_string(), "64 * p3 * p5 + p2 + -1");
        let map = ArrayMap { base: 1, extents: vec![vec![sum.clone()], vec![]], strides: vec![sum, Sum::default()] };
        assert_eq!(ArrayMap::read(map.attr()), Some(map));
        for wrong in ["", "p", "p1 * 2", "x3", "p1 - p2", "1 +  p2"] {
            assert_eq!(Sum::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn extents_are_from_one_to_the_farthest() {
        let extents = vec![vec![Sum(vec![term(1, &[0])]), Sum(vec![term(7, &[])])], vec![]];
        let map = ArrayMap { base: 1, extents, strides: vec![Sum(vec![term(2, &[0])])] };
        let of = |v: i64| (map.extent(0, &|_| Some(v)), map.all_strides(&|_| Some(v)));
        assert_eq!(of(5), (Some(5), Some(vec![10, 1])));
        assert_eq!(of(-5), (Some(1), Some(vec![-10, 1])));
        assert_eq!(of(i64::MAX), (Some(7), None));
        assert_eq!(map.extent(1, &|_| None), Some(FARTHEST));
        assert_eq!(map.extent(0, &|_| None), None);
    }
}
