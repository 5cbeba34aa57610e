//! Products of a loop's counter are computed in each iteration, and not carried from one to the next.
//!
//! `(k + row) * stride` is a product for each row of a tile. The back end's loop strength reduction makes each of them
//! a number of its own that the loop carries and moves on by `step * stride`. That replaces one instruction by another,
//! and keeps a register for the whole loop: 64 rows are a quarter of all registers. So the counter is hidden from that
//! pass by a piece of assembly that is no instruction. (A `freeze` would be moved out of the loop.)
//!
//! ```text
//! before:                              after:
//!   %k = phi i32 [ … ], [ %next, … ]     %k = phi i32 [ … ], [ %next, … ]
//!                                        %now = call i32 asm "", "=r,0"(i32 %k)
//!   %row = add i32 %k, 4                 %row = add i32 %now, 4
//!   %offset = mul i32 %row, %stride      %offset = mul i32 %row, %stride
//!   %next = add i32 %k, 64               %next = add i32 %k, 64
//! ```

use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PhiValue};

use super::users::{Id, id, operand, users};
use crate::ir::core::hash::Set;

/// The fewest products of a counter for which it is hidden. 14 of 2,752 real kernels have such counters
/// (`docs/performance.md`).
const LEAST: usize = 12;

/// Hides the counters of loops from which many products are made.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn hide(module: &Module<'_>) -> Result<(), BuilderError> {
    let builder = module.get_context().create_builder();
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    let phis = blocks.flat_map(|b| b.get_instructions().take_while(|i| i.get_opcode() == InstructionOpcode::Phi));
    let counters = phis.filter_map(|i| PhiValue::try_from(i).ok()).filter_map(Counter::of);
    let counters: Vec<Counter<'_>> = counters.filter(|counter| counter.products() >= LEAST).collect();
    counters.into_iter().try_for_each(|counter| counter.hide(&builder))
}

/// A number that a loop carries and moves on in each iteration.
struct Counter<'c> {
    phi: InstructionValue<'c>,
    number: IntValue<'c>,
    next: InstructionValue<'c>,
}

impl<'c> Counter<'c> {
    fn of(phi: PhiValue<'c>) -> Option<Counter<'c>> {
        let number = IntValue::try_from(phi.as_instruction()).ok()?;
        let is_next = |i: &InstructionValue<'c>| i.get_opcode() == InstructionOpcode::Add && reads(*i, &number);
        let next =
            (0..phi.count_incoming()).find_map(|k| phi.get_incoming(k)?.0.as_instruction_value().filter(is_next))?;
        Some(Counter { phi: phi.as_instruction(), number, next })
    }

    /// How many products with what is no constant are made from it through sums and conversions.
    fn products(&self) -> usize {
        use InstructionOpcode::{Add, Mul, Or, SExt, Sub, ZExt};
        let mut seen: Set<Id> = Set::default();
        let mut work = vec![self.phi];
        let mut products = 0;
        while let Some(value) = work.pop() {
            for user in users(value).filter(|user| *user != self.next) {
                let is_new = seen.insert(id(&user));
                match user.get_opcode() {
                    Mul if is_new && has_variable_factor(user, value) => products += 1,
                    Add | Sub | Or | SExt | ZExt | Mul if is_new => work.push(user),
                    _ => {}
                }
            }
        }
        products
    }

    /// Gives its users in the loop the same number from assembly.
    fn hide(&self, builder: &Builder<'c>) -> Result<(), BuilderError> {
        let is_phi = |i: &InstructionValue<'c>| i.get_opcode() == InstructionOpcode::Phi;
        let behind = std::iter::successors(Some(self.phi), |i| i.get_next_instruction()).find(|i| !is_phi(i));
        let letter = match self.number.get_type().get_bit_width() {
            32 => 'r',
            64 => 'l',
            _ => return Ok(()),
        };
        let Some(behind) = behind else { return Ok(()) };
        let users: Vec<_> = users(self.phi).filter(|user| *user != self.next && !is_phi(user)).collect();
        builder.position_before(&behind);
        let (ty, context) = (self.number.get_type(), self.number.get_type().get_context());
        let function = ty.fn_type(&[ty.into()], false);
        let constraints = format!("={letter},0");
        let assembly = context.create_inline_asm(function, String::new(), constraints, false, false, None, false);
        let call = builder.build_indirect_call(function, assembly, &[self.number.into()], "")?;
        let hidden = call.try_as_basic_value().unwrap_basic().into_int_value();
        for user in users {
            for k in (0..user.get_num_operands()).filter(|&k| is(user, k, &self.number)) {
                user.set_operand(k, hidden);
            }
        }
        Ok(())
    }
}

/// Whether an operand of an instruction is this number.
fn is(instruction: InstructionValue<'_>, index: u32, number: &IntValue<'_>) -> bool {
    operand(instruction, index).is_some_and(|value| id(&value) == id(number))
}

fn reads(instruction: InstructionValue<'_>, number: &IntValue<'_>) -> bool {
    (0..instruction.get_num_operands()).any(|k| is(instruction, k, number))
}

/// Whether a product has another factor than this one, which is no constant.
fn has_variable_factor(product: InstructionValue<'_>, factor: InstructionValue<'_>) -> bool {
    (0..2).filter_map(|k| operand(product, k)).any(|value| id(&value) != id(&factor) && !value.is_const())
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    /// A loop that loads at so many products of its counter.
    fn hidden(products: usize, factor: &str) -> String {
        let rows: String = (0..products)
            .map(|i| {
                format!(
                    "  %row{i} = add i32 %k, {i}\n  %offset{i} = mul i32 %row{i}, {factor}\n  \
                     %p{i} = getelementptr i8, ptr addrspace(1) %x, i32 %offset{i}\n  \
                     %v{i} = load volatile i8, ptr addrspace(1) %p{i}\n"
                )
            })
            .collect();
        let text = format!(
            "define void @f(ptr addrspace(1) %x, i32 %stride, i32 %n) {{\nentry:\n  br label %loop\nloop:\n  \
             %k = phi i32 [ 0, %entry ], [ %next, %loop ]\n{rows}  %next = add i32 %k, 64\n  \
             %more = icmp slt i32 %next, %n\n  br i1 %more, label %loop, label %end\nend:\n  ret void\n}}\n"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
        let module = context.create_module_from_ir(buffer).unwrap();
        hide(&module).unwrap();
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    #[test]
    fn the_counter_of_many_products_is_hidden() {
        let text = hidden(LEAST, "%stride");
        assert_eq!(text.matches("asm \"\", \"=r,0\"(i32 %k)").count(), 1, "{text}");
        assert!(text.contains("%next = add i32 %k, 64"), "{text}");
        assert_eq!(text.matches("i32 %k").count(), 2, "{text}");
    }

    #[test]
    fn others_stay() {
        assert!(!hidden(LEAST - 1, "%stride").contains("asm"));
        // A product with a constant is a shift or one number for all.
        assert!(!hidden(LEAST, "12").contains("asm"));
    }
}
