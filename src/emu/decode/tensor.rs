//! Tensor instructions ("PTX ISA, Warp Level Matrix Multiply-Accumulate Instructions", "Asynchronous Warpgroup Level
//! Matrix Multiply-Accumulate Instructions"), and `setmaxnreg`.

use super::context::{Cx, TRUE};
use super::error::Result;
use super::form::Form;
use super::op::Op;
use super::program::{Guard, Reg};
use super::tensor_op::{Left, Mma, Tensor, Wgmma};
use crate::emu::num::Type;
use crate::emu::ptx::syntax::Operand;
use crate::emu::tensor;
use crate::emu::tensor::descriptor::Major;

/// The rows, columns and depth of `m16n8k16`.
fn shape(name: &str) -> Option<[u32; 3]> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn tensor(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        let op = match form.ins.opcode {
            "ldmatrix" | "stmatrix" => self.matrix(form)?,
            "mma" => self.mma(form)?,
            "wgmma" => self.wgmma(form)?,
            "setmaxnreg" => {
                let increase = form.has("inc");
                if !increase && !form.has("dec") {
                    return Err(form.error("`.inc` or `.dec` is missing"));
                }
                Self::aligned(form);
                form.ty()?;
                let [n] = form.operands()?;
                let Operand::Integer(count) = n else { return Err(form.error("expected a constant")) };
                Tensor::MaxRegisters { increase, count: *count as u32 }
            }
            _ => return Ok(None),
        };
        Ok(Some(Op::Tensor(Box::new(op))))
    }

    fn aligned(form: &Form<'_, 'a>) {
        form.has("sync");
        form.has("aligned");
    }

    fn matrix(&mut self, form: &Form<'_, 'a>) -> Result<Tensor> {
        Self::aligned(form);
        if !form.has("m8n8") {
            return Err(form.error("the emulator runs the shape m8n8 alone"));
        }
        let count = form.need("`.x1`, `.x2` or `.x4`", |m| match m {
            "x1" => Some(1),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        let transpose = form.has("trans");
        form.find(super::moves::plain_space);
        if form.ty()? != Type::B16 {
            return Err(form.error("the emulator runs the type b16 alone"));
        }
        let [first, second] = form.operands()?;
        let load = form.ins.opcode == "ldmatrix";
        let (registers, at) = if load { (first, second) } else { (second, first) };
        let parts = Self::elements(registers);
        if parts.len() != count {
            return Err(form.error(format!("takes {count} registers")));
        }
        let (at, _) = self.address(form, at)?;
        if load {
            let to = parts.iter().map(|p| self.dest(p)).collect::<Result<_>>()?;
            return Ok(Tensor::LoadMatrix { to, from: at, transpose });
        }
        let from = parts.iter().map(|p| self.source(p, Type::B32)).collect::<Result<_>>()?;
        Ok(Tensor::StoreMatrix { from, to: at, transpose })
    }

    fn mma(&mut self, form: &Form<'_, 'a>) -> Result<Tensor> {
        Self::aligned(form);
        let [m, n, k] = form.need("a shape", shape)?;
        if !(form.has("row") && form.has("col")) {
            return Err(form.error("the emulator runs `.row.col` alone"));
        }
        let saturate = form.has("satfinite");
        let types = form.types();
        let types: [Type; 4] = types.try_into().map_err(|_| form.error("takes four types"))?;
        let shape = tensor::Mma { m, n, k, a: types[1], b: types[2], c: types[3], d: types[0], saturate };
        if !shape.is_known() {
            return Err(form.unknown());
        }
        let [d, a, b, c] = form.operands()?;
        let d: Vec<Reg> = Self::elements(d).iter().map(|r| self.dest(r)).collect::<Result<_>>()?;
        let mut sources = |operand: &Operand<'a>, ty: Type| -> Result<Vec<Reg>> {
            let whole = if ty == Type::F64 || ty == Type::F32 { ty } else { Type::B32 };
            Self::elements(operand).iter().map(|r| self.source(r, whole)).collect()
        };
        let (a, b, c) = (sources(a, types[1])?, sources(b, types[2])?, sources(c, types[3])?);
        let expected = [shape.sum_registers(types[0]), shape.left_registers(), shape.right_registers()];
        if [d.len(), a.len(), b.len()] != expected || c.len() != shape.sum_registers(types[3]) {
            return Err(form.error("has the wrong number of registers"));
        }
        Ok(Tensor::Mma(Mma { form: shape, d, a, b, c }))
    }

    fn wgmma(&mut self, form: &Form<'_, 'a>) -> Result<Tensor> {
        Self::aligned(form);
        if form.has("fence") {
            return Ok(Tensor::WgmmaFence);
        }
        if form.has("commit_group") {
            return Ok(Tensor::WgmmaCommit);
        }
        if form.has("wait_group") {
            let [n] = form.operands()?;
            let Operand::Integer(n) = n else { return Err(form.error("expected a constant")) };
            return Ok(Tensor::WgmmaWait { pending: *n as u32 });
        }
        if !form.has("mma_async") || form.has("sp") {
            return Err(form.unknown());
        }
        let [m, n, k] = form.need("a shape", shape)?;
        let saturate = form.has("satfinite");
        let types: [Type; 3] = form.types().try_into().map_err(|_| form.error("takes three types"))?;
        let [d, a, b, rest @ ..] = form.ins.operands.as_slice() else {
            return Err(form.error("has too few operands"));
        };
        let d: Vec<Reg> = Self::elements(d).iter().map(|r| self.dest(r)).collect::<Result<_>>()?;
        let a = match a {
            Operand::Vector(parts) => {
                Left::Registers(parts.iter().map(|r| self.source(r, Type::B32)).collect::<Result<_>>()?)
            }
            one => Left::Descriptor(self.source(one, Type::B64)?),
        };
        let b = self.source(b, Type::B64)?;
        let (scale, rest) = match rest {
            [] => (Guard { pred: TRUE, negated: false }, rest),
            [p, rest @ ..] => (self.pred(p)?, rest),
        };
        let mut constants = vec![];
        for operand in rest {
            match operand {
                Operand::Integer(v @ (-1..=1)) => constants.push(*v),
                _ => return Err(form.error("expected the constants 1, -1 or 0")),
            }
        }
        let in_registers = matches!(a, Left::Registers(_));
        let (negate_a, negate_b, transpose_a, transpose_b) = match constants[..] {
            [] => (false, false, false, false),
            [x, y] => (x == -1, y == -1, false, false),
            [x, y, t] if in_registers => (x == -1, y == -1, false, t == 1),
            [x, y, s, t] if !in_registers => (x == -1, y == -1, s == 1, t == 1),
            _ => return Err(form.error("has the wrong number of operands")),
        };
        let major = |transposed: bool| if transposed { Major::Mn } else { Major::K };
        let shape = tensor::Wgmma {
            n,
            a: types[1],
            b: types[2],
            d: types[0],
            negate_a,
            negate_b,
            a_major: major(transpose_a),
            b_major: major(transpose_b),
            saturate,
        };
        if m != 64 || !shape.is_known() || k != shape.k() {
            return Err(form.unknown());
        }
        if shape.sum_registers() != d.len() || matches!(&a, Left::Registers(r) if r.len() != 4) {
            return Err(form.error("has the wrong number of registers"));
        }
        Ok(Tensor::Wgmma(Wgmma { form: shape, d, a, b, scale_d: scale }))
    }
}
