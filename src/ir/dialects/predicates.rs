//! What the predicates of `arith.cmpi` and `arith.cmpf` mean, and how they turn into each other.

use std::cmp::Ordering;

use super::enums::{CmpfPredicate, CmpiPredicate};
use crate::ir::core::attrs::zero_extend;

impl CmpiPredicate {
    /// Whether it holds for two integers of a width, given sign-extended.
    #[must_use]
    pub fn holds(self, a: i64, b: i64, width: u32) -> bool {
        use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        let (ua, ub) = (zero_extend(a, width), zero_extend(b, width));
        match self {
            Eq => a == b,
            Ne => a != b,
            Slt => a < b,
            Sle => a <= b,
            Sgt => a > b,
            Sge => a >= b,
            Ult => ua < ub,
            Ule => ua <= ub,
            Ugt => ua > ub,
            Uge => ua >= ub,
        }
    }

    /// Whether it holds for equal integers.
    #[must_use]
    pub fn holds_if_equal(self) -> bool {
        self.holds(0, 0, 1)
    }

    /// `b ? a` for `a ? b`: less becomes greater.
    #[must_use]
    pub fn mirrored(self) -> CmpiPredicate {
        use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        match self {
            Eq | Ne => self,
            Slt => Sgt,
            Sle => Sge,
            Sgt => Slt,
            Sge => Sle,
            Ult => Ugt,
            Ule => Uge,
            Ugt => Ult,
            Uge => Ule,
        }
    }

    /// What holds where this does not.
    #[must_use]
    pub fn inverse(self) -> CmpiPredicate {
        use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        match self {
            Eq => Ne,
            Ne => Eq,
            Slt => Sge,
            Sle => Sgt,
            Sgt => Sle,
            Sge => Slt,
            Ult => Uge,
            Ule => Ugt,
            Ugt => Ule,
            Uge => Ult,
        }
    }

    /// The same comparison of integers without a sign.
    #[must_use]
    pub fn unsigned(self) -> CmpiPredicate {
        use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        match self {
            Eq | Ne | Ult | Ule | Ugt | Uge => self,
            Slt => Ult,
            Sle => Ule,
            Sgt => Ugt,
            Sge => Uge,
        }
    }

    /// Which of two different integers it chooses: the less, the greater; `None` for (in)equality.
    #[must_use]
    pub fn direction(self) -> Option<Ordering> {
        use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        match self {
            Eq | Ne => None,
            Slt | Sle | Ult | Ule => Some(Ordering::Less),
            Sgt | Sge | Ugt | Uge => Some(Ordering::Greater),
        }
    }
}

impl CmpfPredicate {
    /// Whether it holds for floats in this order; `None` is the order of anything with NaN.
    #[must_use]
    pub fn holds(self, order: Option<Ordering>) -> bool {
        use CmpfPredicate::{False, Oeq, Oge, Ogt, Ole, Olt, One, Ord, True, Ueq, Uge, Ugt, Ule, Ult, Une, Uno};
        let Some(order) = order else { return matches!(self, Ueq | Ugt | Uge | Ult | Ule | Une | Uno | True) };
        match self {
            False | Uno => false,
            Oeq | Ueq => order.is_eq(),
            Ogt | Ugt => order.is_gt(),
            Oge | Uge => order.is_ge(),
            Olt | Ult => order.is_lt(),
            Ole | Ule => order.is_le(),
            One | Une => order.is_ne(),
            Ord | True => true,
        }
    }

    /// The same comparison of integers that stand for the floats; `None` if it does not depend on their order.
    #[must_use]
    pub fn of_integers(self, signed: bool) -> Option<CmpiPredicate> {
        use CmpfPredicate::{False, Oeq, Oge, Ogt, Ole, Olt, One, Ord, True, Ueq, Uge, Ugt, Ule, Ult, Une, Uno};
        let predicate = match self {
            False | Ord | Uno | True => return None,
            Oeq | Ueq => CmpiPredicate::Eq,
            Ogt | Ugt => CmpiPredicate::Sgt,
            Oge | Uge => CmpiPredicate::Sge,
            Olt | Ult => CmpiPredicate::Slt,
            Ole | Ule => CmpiPredicate::Sle,
            One | Une => CmpiPredicate::Ne,
        };
        Some(if signed { predicate } else { predicate.unsigned() })
    }
}
