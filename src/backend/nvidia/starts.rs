//! Loads under a predicate write the constant that stands for what they leave out themselves.
//!
//! A load's register starts as what stands for the element where the mask is false, which is mostly zero. LLVM takes
//! one zero for all loads of a function and copies it, and the last load gets the register of the zero itself. ptxas
//! then finds a load that ends the life of a value from far above, and puts it into a branch of its own with the
//! accesses around it that have the same predicate: loads that stood together wait for each other. With the constant
//! right before the load it is one predicated instruction.
//!
//! ```text
//! before: call i16 asm sideeffect "@$2 ld.global.b16 { $0 }, [ $3 + 0 ];", "=h,0,b,l"(i16 0, i1 %m, ptr %p)
//! after:  call i16 asm sideeffect "mov.b16 $0, 0x0;\n\t@$2 ld.global.b16 { $0 }, [ $3 + 0 ];", "=&h,0,b,l"(
//!             i16 poison, i1 %m, ptr %p)
//! ```

use std::fmt::Write;

use inkwell::module::Module;

use super::assembly::{Assembly, calls, is_loaded, predicated};

/// Gives the loads of a module their constants. No pass that reads assembly comes behind it.
pub(crate) fn write(module: &Module<'_>) {
    for assembly in calls(module) {
        write_constants(&assembly);
    }
}

fn write_constants(assembly: &Assembly) {
    let Some(load) = predicated(&assembly.text) else { return };
    let outputs = assembly.outputs();
    let mut constraints: Vec<String> = assembly.constraints.split(',').map(str::to_owned).collect();
    let mut text = String::new();
    for argument in 0..constraints.len() - outputs {
        let tied = constraints[outputs + argument].clone();
        let Some((value, bits)) = assembly.constant(argument).filter(|_| is_loaded(load.instruction, &tied)) else {
            continue;
        };
        let Some(class) = tied.parse().ok().and_then(|output: usize| constraints.get_mut(output)) else { continue };
        // The register is written before the address is read.
        *class = class.replacen('=', "=&", 1);
        let _ = write!(text, "mov.b{bits} ${tied}, {value:#x};\n\t");
        assembly.forget(argument);
    }
    if !text.is_empty() {
        assembly.replace(&(text + &assembly.text), &constraints.join(","));
    }
}
