//! Classes of operations: what several passes ask, answered in the table entry instead of by a list in each pass.

use bitflags::bitflags;

use super::OpKind;

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
        /// Control enters its regions; those of reductions and the like are no control flow.
        const CONTROL_FLOW = 1 << 9;
        /// Ends a region; its operands become the results of the operation that the region is part of.
        const YIELDS = 1 << 10;
        /// Its elements or its signals go from thread to thread, in a cluster from block to block.
        const CROSSES_BLOCKS = 1 << 11;
        /// A conversion of its result is the operation itself with another result type.
        const GIVES_ANY_LAYOUT = 1 << 12;
        /// Its result does not depend on the order of the elements of a vector that it gets.
        const BLIND_TO_ORDER = 1 << 13;
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

    /// Whether it accesses memory atomically.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        self.belongs(Classes::ATOMIC)
    }

    /// Whether its result is a view of the memory that operand 0 describes.
    #[must_use]
    pub fn is_view(self) -> bool {
        self.belongs(Classes::VIEW)
    }
}
