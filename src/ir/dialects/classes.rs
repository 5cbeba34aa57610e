//! Classes of operations: what several passes ask, answered in the table entry instead of by a list in each pass.

use bitflags::bitflags;

use super::keys::Slot;
use super::spec::{Exchange, OperandSpec};
use super::{ArithOp, Effects, OpKind, TtOp};
use crate::ir::core::{Ir, Op, Value};

bitflags! {
    /// What an operation is to the compiler; an entry names all that apply.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Classes: u32 {
        /// A product of matrices, in registers or in memory; operand 2 is the accumulator.
        const PRODUCT = 1;
        /// Accesses global memory atomically, with memory semantics and a scope.
        const ATOMIC = 1 << 1;
        /// Accesses global memory through operand 0, a pointer, a tensor of pointers or a descriptor.
        const GLOBAL_ACCESS = 1 << 2;
        /// As `GLOBAL_ACCESS`, through a tensor descriptor.
        const DESCRIPTOR_ACCESS = 1 << 3;
        /// Its result is a view of the memory that operand 0 describes.
        const VIEW = 1 << 4;
        /// The elements of tensors under another shape, each with the thread that has it.
        const TENSOR_VIEW = 1 << 5;
        /// It works best in the layout that it was given, which the others adapt to.
        const ANCHOR = 1 << 6;
        /// It can give its result in any layout at no cost, whatever its operands have.
        const TAKES_ANY_RESULT_LAYOUT = 1 << 7;
        /// The hardware accesses shared memory by itself, through the asynchronous proxy.
        const ASYNC_PROXY = 1 << 8;
        /// Its layout is chosen so that neighbouring threads touch neighbouring addresses; operand 0 is the pointer.
        const COALESCED = 1 << 9;
        /// Its result takes more bits than what it is given.
        const WIDENS = 1 << 10;
        /// Elementwise, and about as fast as an addition.
        const SIMPLE = 1 << 11;
        /// Result `i` is operand `i`, once what the operation waits for is complete.
        const FORWARDS = 1 << 12;
        /// It orders what others write and writes nothing itself.
        const SYNCHRONISES = 1 << 13;
        /// It orders accesses to shared memory by threads and those by the asynchronous proxy.
        const PROXY_FENCE = 1 << 14;
        /// The pipeliner starts the loads that it depends on ahead, as it does for products.
        const TAKES_LOADS = 1 << 15;
        /// All iterations of a loop have to do it in their order, so the loop is not pipelined.
        const IN_STEP = 1 << 16;
        /// It does nothing where its operand `mask` or `pred` is false.
        const PREDICATED = 1 << 17;
        /// It has effects, but none that is seen if it runs for an iteration that does not exist.
        const RUNS_AHEAD = 1 << 18;
        /// It has no results, and can be put into a branch that skips it.
        const BRANCHES_OFF = 1 << 19;
        /// Control enters its regions; those of reductions and the like are no control flow.
        const CONTROL_FLOW = 1 << 20;
        /// Ends a region; its operands become the results of the operation that the region is part of.
        const YIELDS = 1 << 21;
        /// A conversion of its result is the operation itself with another result type.
        const GIVES_ANY_LAYOUT = 1 << 22;
        /// Its result does not depend on the order of the elements of a vector that it gets.
        const BLIND_TO_ORDER = 1 << 23;
        /// It takes operand 0 in any layout, so a conversion of it can go, unless the operation says
        /// `efficient_layout`.
        const READS_ANY_LAYOUT = 1 << 24;
    }
}

impl OpKind {
    /// Whether the operation is of all these classes.
    #[must_use]
    pub fn belongs(self, classes: Classes) -> bool {
        self.spec().classes.contains(classes)
    }

    /// Whether it is a product of matrices.
    #[must_use]
    pub fn is_product(self) -> bool {
        self.belongs(Classes::PRODUCT)
    }

    /// Whether it computes in several instructions, or in a unit with less throughput.
    #[must_use]
    pub fn is_expensive_math(self) -> bool {
        let of_library = matches!(self, OpKind::Math(_)) && !self.belongs(Classes::SIMPLE);
        of_library || self == ArithOp::Divf.into()
    }

    /// Whether it accesses memory atomically.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        self.belongs(Classes::ATOMIC)
    }

    /// Whether it is more than what each thread does on elements that it has: threads exchange elements or wait for one
    /// another, or nothing is known of it.
    #[must_use]
    pub fn works_across_threads(self) -> bool {
        match self {
            OpKind::Ttg(_)
            | OpKind::Ttng(_)
            | OpKind::Amdg(_)
            | OpKind::Gcn(_)
            | OpKind::Gpu(_)
            | OpKind::Unregistered(_) => true,
            OpKind::Tt(kind) => {
                let exchanges = self.spec().exchange.is_some_and(|how| how != Exchange::Copies);
                exchanges || self.is_product() || kind == TtOp::Call || kind == TtOp::Cat
            }
            OpKind::Builtin(_)
            | OpKind::Ub(_)
            | OpKind::Arith(_)
            | OpKind::Math(_)
            | OpKind::Scf(_)
            | OpKind::Cf(_)
            | OpKind::Llvm(_) => false,
        }
    }

    /// Whether it reads global memory and nothing else, through pointers or through a descriptor.
    #[must_use]
    pub fn is_load(self) -> bool {
        self.belongs(Classes::GLOBAL_ACCESS) && self.spec().effects == Effects::Read
    }

    /// Whether it is a load through a descriptor.
    #[must_use]
    pub fn is_descriptor_load(self) -> bool {
        self.is_load() && self.belongs(Classes::DESCRIPTOR_ACCESS)
    }

    /// Whether it reads or writes global memory through pointers, and not atomically.
    #[must_use]
    pub fn is_plain_access(self) -> bool {
        self.belongs(Classes::GLOBAL_ACCESS)
            && !self.belongs(Classes::DESCRIPTOR_ACCESS)
            && !self.belongs(Classes::ATOMIC)
    }

    /// The operand that says where or whether the operation does anything, of one that has such an operand.
    #[must_use]
    pub fn predicate(self) -> Option<Slot> {
        let named = |o: &OperandSpec| matches!(o.name, "mask" | "pred");
        let group = self.spec().operands.iter().position(named)?;
        self.belongs(Classes::PREDICATED).then(|| Slot::new(group))
    }

    /// Whether its result is a view of the memory that operand 0 describes.
    #[must_use]
    pub fn is_view(self) -> bool {
        self.belongs(Classes::VIEW)
    }
}

/// The operands of a product, in the order a, b, and what it adds to.
fn factors(ir: &Ir, op: Op) -> Option<[Value; 3]> {
    if ir.kind(op).is_product() { ir.operands(op).first_chunk().copied() } else { None }
}

/// What a product multiplies, a and b.
#[must_use]
pub fn multiplied(ir: &Ir, op: Op) -> Option<[Value; 2]> {
    factors(ir, op).map(|[a, b, _]| [a, b])
}

/// What a product adds to.
#[must_use]
pub fn accumulator(ir: &Ir, op: Op) -> Option<Value> {
    factors(ir, op).map(|[_, _, sum]| sum)
}

/// The tensor that an access through a descriptor moves: the result of a load, and the operand `src` of any other.
#[must_use]
pub fn moved_tensor(ir: &Ir, op: Op) -> Option<Value> {
    let spec = ir.spec(op);
    if !spec.classes.contains(Classes::DESCRIPTOR_ACCESS) {
        return None;
    }
    let source = || spec.operands.iter().position(|o| o.name == "src").map(|group| Slot::new(group).index(ir, op));
    ir.results(op).first().copied().or_else(|| source().map(|index| ir.operand(op, index)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::dialects::spec::ValueGroup;

    #[test]
    fn a_class_that_speaks_of_an_operand_has_it() {
        for kind in OpKind::all() {
            let spec = kind.spec();
            let name = spec.name;
            assert_eq!(kind.belongs(Classes::PREDICATED), kind.predicate().is_some(), "{name}");
            let moves = !spec.results.is_empty() || spec.operands.iter().any(|o| o.name == "src");
            assert!(!kind.belongs(Classes::DESCRIPTOR_ACCESS) || moves, "{name}");
            assert!(!kind.is_product() || spec.operands.len() > 2, "{name}");
            assert!(!kind.belongs(Classes::BRANCHES_OFF) || spec.results.is_empty(), "{name}");
            // Their results must not follow operand 0, which gets another layout.
            let follows = spec.types.iter().any(|r| {
                spec.place(r.of) == Some(ValueGroup::Operand(0))
                    && matches!(spec.place(r.value), Some(ValueGroup::Result(_)))
            });
            assert!(!kind.belongs(Classes::READS_ANY_LAYOUT) || !follows, "{name}");
            assert!(!kind.belongs(Classes::FORWARDS) || spec.operands.len() == spec.results.len(), "{name}");
        }
    }

    #[test]
    fn an_operation_is_kept_from_running_in_one_way() {
        let ways = [Classes::PREDICATED, Classes::RUNS_AHEAD, Classes::BRANCHES_OFF, Classes::IN_STEP];
        for kind in OpKind::all() {
            assert!(ways.into_iter().filter(|&way| kind.belongs(way)).count() <= 1, "{}", kind.name());
        }
    }
}
