//! Inline PTX, put together from typed operands.
//!
//! 1. Operands are declared first: [`PtxAsm::output`], [`PtxAsm::output_from`] (an output that starts with a value),
//!    [`PtxAsm::input`]. Each returns a handle; its register class gives the constraint letter (LLVM language
//!    reference, "Supported Constraint Code List", NVPTX).
//! 2. Instructions are written with the handles through [`PtxAsm::inst`], optionally predicated.
//! 3. [`PtxAsm::emit`] numbers the operands as LLVM wants them (outputs, then inputs in order), makes the call and
//!    takes the results apart.
//!
//! ```text
//! let d = asm.output_from(Reg::B32, zero);  let a = asm.input(Reg::B64, ptr);  let p = asm.input(Reg::Pred, mask);
//! asm.inst(Some(p), "ld.global.b32", &[Arg::List(vec![d]), Arg::Address(a)]);
//! → asm sideeffect "@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,0,l,b"
//! ```

use std::fmt::Write;

use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;

use crate::codegen::lower::{Lower, Res};

/// A register class of inline PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reg {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Reg {
    /// The constraint letter.
    fn letter(self) -> char {
        match self {
            Reg::Pred => 'b',
            Reg::B16 => 'h',
            Reg::B32 => 'r',
            Reg::B64 => 'l',
            Reg::F32 => 'f',
            Reg::F64 => 'd',
        }
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Reg::Pred => 1,
            Reg::B16 => 16,
            Reg::B32 | Reg::F32 => 32,
            Reg::B64 | Reg::F64 => 64,
        }
    }

    /// The class that holds a word of this many bits.
    pub(crate) fn of_bits(bits: u32) -> Reg {
        match bits {
            0..=16 => Reg::B16,
            17..=32 => Reg::B32,
            _ => Reg::B64,
        }
    }
}

/// An operand of the assembly that is being built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    Output(usize),
    Input(usize),
}

/// How an instruction refers to operands.
pub(crate) enum Arg {
    Reg(Operand),
    /// `{ $0, $1 }`
    List(Vec<Operand>),
    /// `[ $2 + 0 ]`
    Address(Operand),
    /// `[ $2 + 14 ]`: so many bytes behind the address.
    Behind(Operand, u32),
    /// Text as it is, a constant for example.
    Text(&'static str),
}

/// Inline PTX in the making.
#[derive(Default)]
pub(crate) struct PtxAsm<'c> {
    outputs: Vec<Reg>,
    /// Constraint and value; outputs with a start value are inputs tied to them.
    inputs: Vec<(String, BasicValueEnum<'c>)>,
    /// Whether the assembly writes memory that LLVM sees too.
    clobbers: bool,
    /// Whether it writes an output before it has read all inputs.
    early: bool,
    /// Lines with operands still as handles.
    lines: Vec<(Option<Operand>, String, Vec<Arg>)>,
}

impl<'c> PtxAsm<'c> {
    pub(crate) fn output(&mut self, class: Reg) -> Operand {
        self.outputs.push(class);
        Operand::Output(self.outputs.len() - 1)
    }

    /// An output whose register holds `start` before the assembly runs.
    pub(crate) fn output_from(&mut self, class: Reg, start: BasicValueEnum<'c>) -> Operand {
        let output = self.output(class);
        self.inputs.push(((self.outputs.len() - 1).to_string(), start));
        output
    }

    pub(crate) fn input(&mut self, class: Reg, value: BasicValueEnum<'c>) -> Operand {
        self.inputs.push((class.letter().to_string(), value));
        Operand::Input(self.inputs.len() - 1)
    }

    /// Says that the assembly writes memory that LLVM's own loads may read, shared memory for example.
    pub(crate) fn memory_clobber(&mut self) {
        self.clobbers = true;
    }

    /// Says that an instruction writes outputs before a later one reads its inputs, so that none may be in the register
    /// of an output.
    pub(crate) fn writes_early(&mut self) {
        self.early = true;
    }

    /// Appends an instruction; with `pred` it runs only where that is true. `{ .reg …` opens a block of its own
    /// registers and labels, `}` ends it.
    pub(crate) fn inst(&mut self, pred: Option<Operand>, opcode: impl Into<String>, args: Vec<Arg>) {
        self.lines.push((pred, opcode.into(), args));
    }

    /// The assembly and its constraints as LLVM takes them.
    fn text(&self) -> (String, String) {
        let number = |o: &Operand| match o {
            Operand::Output(i) => *i,
            Operand::Input(i) => self.outputs.len() + i,
        };
        let mut asm = String::new();
        for (pred, opcode, args) in &self.lines {
            if !asm.is_empty() {
                asm.push_str("\n\t");
            }
            if let Some(p) = pred {
                let _ = write!(asm, "@${} ", number(p));
            }
            let args: Vec<String> = args
                .iter()
                .map(|arg| match arg {
                    Arg::Reg(o) => format!("${}", number(o)),
                    Arg::List(list) => format!(
                        "{{ {} }}",
                        list.iter().map(|o| format!("${}", number(o))).collect::<Vec<_>>().join(", ")
                    ),
                    Arg::Address(o) => format!("[ ${} + 0 ]", number(o)),
                    Arg::Behind(o, bytes) => format!("[ ${} + {bytes} ]", number(o)),
                    Arg::Text(text) => (*text).to_owned(),
                })
                .collect();
            // A closing brace is no instruction, and ptxas takes no empty one.
            let _ = if opcode == "}" { write!(asm, "}}") } else { write!(asm, "{opcode} {};", args.join(", ")) };
        }
        let written = if self.early { "=&" } else { "=" };
        let outputs = self.outputs.iter().map(|r| format!("{written}{}", r.letter()));
        let memory = self.clobbers.then(|| "~{memory}".to_owned());
        let constraints: Vec<String> = outputs.chain(self.inputs.iter().map(|i| i.0.clone())).chain(memory).collect();
        (asm, constraints.join(","))
    }

    /// Makes the call; the outputs come back as floats or integers, by their class.
    pub(crate) fn emit(self, cx: &mut Lower<'c, '_>, side_effects: bool) -> Res<Vec<BasicValueEnum<'c>>> {
        let (asm, constraints) = self.text();
        let results: Vec<BasicTypeEnum<'c>> = self.outputs.iter().map(|r| register_type(cx, *r)).collect();
        let values: Vec<BasicValueEnum<'c>> = self.inputs.iter().map(|i| i.1).collect();
        cx.inline_asm(&asm, &constraints, &results, &values, side_effects)
    }
}

/// The LLVM type of what a register holds.
fn register_type<'c>(cx: &Lower<'c, '_>, class: Reg) -> BasicTypeEnum<'c> {
    match class {
        Reg::F32 => cx.llvm.f32_type().into(),
        Reg::F64 => cx.llvm.f64_type().into(),
        other => cx.int_type(other.bits()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;

    #[test]
    fn operands_are_numbered_outputs_first() {
        let context = Context::create();
        let zero = context.i32_type().const_zero().into();
        let mut asm = PtxAsm::default();
        let pred = asm.input(Reg::Pred, context.bool_type().const_zero().into());
        let (a, b) = (asm.output_from(Reg::B32, zero), asm.output(Reg::B16));
        let address = asm.input(Reg::B64, context.i64_type().const_zero().into());
        asm.inst(None, "mov.b16", vec![Arg::Reg(b), Arg::Text("0")]);
        asm.inst(Some(pred), "ld.global.v2.b32", vec![Arg::List(vec![a, a]), Arg::Address(address)]);
        assert_eq!(
            asm.text(),
            ("mov.b16 $1, 0;\n\t@$2 ld.global.v2.b32 { $0, $0 }, [ $4 + 0 ];".into(), "=r,=h,b,0,l".into())
        );
    }
}
