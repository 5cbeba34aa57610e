//! Regions that run once for each element: the combine regions of `tt.reduce` and `tt.scan`, the body of
//! `tt.map_elementwise`.
//!
//! 1. The entry block's arguments become the given scalars, and its operations are lowered in place; the values of one
//!    run overwrite those of the run before.
//! 2. Structured control flow inside works as everywhere. A region of several blocks gets LLVM blocks of its own, whose
//!    ends branch to one exit with a phi for each result.

use inkwell::values::BasicValue;

use super::lower::{Label, Lower, Res, Val, defect};
use super::ops::control;
use crate::ir::dialects::{ArithOp, OpKind, Traits};
use crate::ir::{Block, Op};

/// The operands of the operation that ends a region, as LLVM values.
type Results<'c> = Vec<Val<'c>>;

impl<'c> Lower<'c, '_> {
    /// Runs the first region of `op` on these scalars; gives the operands of its end.
    pub(crate) fn inline_region(&mut self, op: Op, args: &[Val<'c>]) -> Res<Results<'c>> {
        let ir = self.ir;
        let region = *ir.regions_of(op).first().ok_or_else(|| defect("an operation without a region"))?;
        let entry = ir.entry(region).ok_or_else(|| defect("a region without a block"))?;
        if ir.args(entry).len() != args.len() {
            return Err(defect("a region with another number of arguments"));
        }
        for (&arg, &value) in ir.args(entry).iter().zip(args) {
            self.set(arg, vec![value]);
        }
        if ir.blocks_of(region).len() > 1 {
            return self.inline_blocks(entry);
        }
        let end = control::region(self, entry)?;
        ir.operands(end).iter().map(|&v| self.scalar(v)).collect()
    }

    /// Lowers a region of several blocks (step 2).
    fn inline_blocks(&mut self, entry: Block) -> Res<Results<'c>> {
        let ir = self.ir;
        let order = self.reverse_post_order(entry);
        let here = self.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
        self.blocks.insert(entry, Label { block: here, phis: vec![] });
        for &block in &order[1..] {
            let label = self.new_block("", ir.args(block))?;
            self.blocks.insert(block, label);
        }
        let exit = self.llvm.append_basic_block(self.function, "");
        let mut ends = vec![];
        for block in order {
            let start = self.blocks[&block].block;
            self.b.position_at_end(start);
            let end = control::region(self, block)?;
            if !ir.successors(end).is_empty() {
                self.op(end)?;
                continue;
            }
            let results = ir.operands(end).iter().map(|&v| self.scalar(v)).collect::<Res<Results<'c>>>()?;
            ends.push((self.b.get_insert_block().ok_or_else(|| defect("no current block"))?, results));
            self.b.build_unconditional_branch(exit)?;
        }
        self.b.position_at_end(exit);
        let count = ends.first().map_or(0, |e| e.1.len());
        let mut results = vec![];
        for i in 0..count {
            let phi = self.b.build_phi(ends[0].1[i].get_type(), "")?;
            for (block, values) in &ends {
                phi.add_incoming(&[(&values[i] as &dyn BasicValue<'c>, *block)]);
            }
            results.push(phi.as_basic_value());
        }
        Ok(results)
    }

    /// The operation that a region consists of, when it is one operation on the region's two arguments, in either
    /// order.
    pub(crate) fn single_combiner(&self, op: Op) -> Option<ArithOp> {
        let ir = self.ir;
        let block = ir.body(op, 0)?;
        let [combiner, end] = ir.op_list(block)[..] else { return None };
        let (args, operands) = (ir.args(block), ir.operands(combiner));
        let both = args.len() == 2 && operands.len() == 2 && args.iter().all(|a| operands.contains(a));
        match ir.kind(combiner) {
            OpKind::Arith(kind) if both && ir.operands(end) == ir.results(combiner) => Some(kind),
            _ => None,
        }
    }
}

/// Whether exchanging the operands gives the same bits (but for which NaN it is).
pub(crate) fn is_commutative(kind: ArithOp) -> bool {
    kind.spec().has(Traits::COMMUTATIVE)
}
