//! Accesses under a predicate that is always true lose it.
//!
//! A mask that LLVM finds to be true for all lanes leaves `mov.pred %p, -1` and `@%p ld.global` in the PTX. ptxas takes
//! such a load for one that may not happen: the register keeps what stands for the element until then, and loads do
//! not move past each other. Without the predicate it is a plain load.
//!
//! ```text
//! before: call i16 asm sideeffect "@$2 ld.global.b16 { $0 }, [ $3 + 0 ];", "=h,0,b,l"(i16 0, i1 true, ptr %p)
//! after:  call i16 asm sideeffect "ld.global.b16 { $0 }, [ $3 + 0 ];", "=h,0,b,l"(i16 poison, i1 poison, ptr %p)
//! ```

use inkwell::module::Module;

use super::assembly::{Assembly, Predicated, calls, is_loaded, operands, predicated};

/// Removes predicates that are always true from the inline assembly of a module.
pub(crate) fn remove(module: &Module<'_>) {
    for assembly in calls(module) {
        remove_predicate(&assembly);
    }
}

fn remove_predicate(assembly: &Assembly) {
    let Some(Predicated { predicate, instruction }) = predicated(&assembly.text) else { return };
    let constraints: Vec<&str> = assembly.constraints.split(',').collect();
    let outputs = assembly.outputs();
    let Some(argument) = predicate.checked_sub(outputs) else { return };
    if constraints.get(predicate) != Some(&"b") || assembly.constant(argument).is_none_or(|(value, _)| value != 1) {
        return;
    }
    for (argument, constraint) in constraints[outputs..].iter().enumerate() {
        let is_unused = outputs + argument == predicate && !operands(instruction).any(|o| o == predicate.to_string());
        if is_unused || is_loaded(instruction, constraint) {
            assembly.forget(argument);
        }
    }
    assembly.replace(instruction, &assembly.constraints);
}
