//! `wgmma`: asynchronous products of a warp group, its fences and groups ("PTX ISA, Asynchronous Warpgroup Level Matrix
//! Multiply-Accumulate Instructions").
//!
//! A warp computes its own 16 rows. It reads shared memory when the product lands: when it is issued, at the wait for
//! its group, or at a step between. From issue to wait its registers are in flight: the accumulators are nobody's to
//! read or write, and an operand in registers is nobody's to write. A register that was touched since the last
//! `wgmma.fence` is not one that a product may use, and the first product needs a fence.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use super::Try;
use super::block::{Block, OperandKey};
use super::env::Env;
use super::in_flight::Product;
use super::launch::Landing;
use super::warp::Warp;
use crate::emu::decode::op::Op;
use crate::emu::decode::program::{Function, Lanes, Reg};
use crate::emu::decode::tensor_op::{Left, Tensor, Wgmma};
use crate::emu::observe::Act;
use crate::emu::order::{Group, Proxy, SEVERAL, What, Who};
use crate::emu::report::Kind;
use crate::emu::tensor;
use crate::emu::tensor::Descriptor;
use crate::emu::tensor::wgmma::Lines;

fn operands(function: &Function, at: u32) -> Option<&Wgmma> {
    function.code[at as usize].op.product()
}

impl Env<'_, '_> {
    pub(crate) fn wgmma(&mut self, warp: &mut Warp, op: &Wgmma) -> Try<()> {
        let in_registers: &[Reg] = match &op.a {
            Left::Registers(a) => a,
            Left::Descriptor(_) => &[],
        };
        let products = &warp.products;
        let unfenced = !products.fenced || op.d.iter().chain(in_registers).any(|r| products.dirty.contains(r));
        if self.run.options.check && unfenced {
            self.note(warp, 2, Kind::InFlight, |env| {
                let message = "the product uses registers that were touched since the last `wgmma.fence`";
                let mut finding = env.finding(warp, u32::MAX, Kind::InFlight, message);
                finding.help = Some("put `wgmma.fence` before the product".to_owned());
                finding
            });
        }
        let all = u32::MAX;
        let a = match op.a {
            Left::Descriptor(a) => self.uniform(warp, warp.reg(a), all)?,
            Left::Registers(_) => 0,
        };
        let b = self.uniform(warp, warp.reg(op.b), all)?;
        let adds = warp.pred(op.scale_d);
        if adds != 0 && adds != all {
            let message = "the lanes of the warp have different `scale-d`";
            return Err(self.fault(warp, all, Kind::Divergence, message));
        }
        let slots = |regs: &[Reg]| regs.iter().map(|r| r.0).collect();
        let (accumulators, operands) = (&op.d, in_registers);
        self.observe(warp, all, || Act::Product { accumulators: slots(accumulators), operands: slots(operands) });
        let group = warp.products.committed;
        self.saw_operands(warp, op, (a, b), group)?;
        let (function, at) = (warp.function, warp.at);
        let registers = Some(warp.base);
        warp.products.pending.push(Product { group, function, at, registers, a, b, adds: adds != 0, landed: false });
        if self.landing() == Landing::Early {
            self.land_products(warp, u32::MAX)?;
        }
        Ok(())
    }

    /// A step that is no product touches registers of products.
    pub(crate) fn touched(&mut self, warp: &mut Warp, op: &Op) {
        self.observe(warp, u32::MAX, || {
            let mut all = vec![];
            op.registers(&mut |r, written| all.push((r.0, written)));
            Act::Registers(all)
        });
        warp.products.unfence(op);
    }

    /// Checks the operands in shared memory, and tells the detectors that they are read.
    fn saw_operands(&mut self, warp: &Warp, op: &Wgmma, (a, b): (u64, u64), group: u32) -> Try<()> {
        let mut chunks = vec![];
        if matches!(op.a, Left::Descriptor(_)) {
            // Each warp reads its own rows, and the group together all of them.
            chunks.push(self.chunks(warp, op, a, true));
        }
        chunks.push(self.chunks(warp, op, b, false));
        let own = self.who(warp, 0);
        let agent = self.order.as_ref().map_or(0, |o| o.group(warp.agent, Group::Product));
        let who = Who { agent, time: group + 1, lane: SEVERAL, proxy: Proxy::Asynchronous, ..own };
        for &at in chunks.iter().flat_map(|c| c.iter()) {
            self.shared_holds(warp, (warp.block, at), 16, 0)?;
            if !self.run.options.check {
                continue;
            }
            self.saw_shared_as(warp, (warp.block, at), 16, &who, What::Read);
            if !self.blocks[warp.block].shared.is_written(at as usize, 16) {
                self.unwritten(warp, u32::MAX, || format!("bytes of shared memory at {at:#x}"));
            }
        }
        Ok(())
    }

    /// The chunks of 16 bytes of shared memory that an operand is made of.
    fn chunks(&mut self, warp: &Warp, op: &Wgmma, descriptor: u64, left: bool) -> Arc<Vec<u32>> {
        let key = (warp.function, warp.at, descriptor, left);
        let make = || {
            let mut all = BTreeSet::new();
            let see = |address: u32, _: u32| {
                all.insert(address / 16 * 16);
                Ok::<u64, Infallible>(0)
            };
            let d = Descriptor::new(descriptor);
            let Ok(_) = if left { op.form.left(d, see) } else { op.form.right(d, see) };
            Arc::new(all.into_iter().collect())
        };
        self.blocks[warp.block].operands.chunks.entry(key).or_insert_with(make).clone()
    }

    /// An operand in shared memory as it is now.
    fn lines(&mut self, block: usize, op: &Wgmma, key: OperandKey) -> Arc<Lines> {
        let Block { shared, operands, .. } = &mut self.blocks[block];
        if operands.version != shared.version() {
            operands.version = shared.version();
            operands.lines.clear();
        }
        let make = || {
            let read = |at: u32, bytes: u32| Ok::<u64, Infallible>(shared.read(at as usize, bytes as usize));
            let d = Descriptor::new(key.2);
            let Ok(lines) = if key.3 { op.form.left(d, read) } else { op.form.right(d, read) };
            Arc::new(lines)
        };
        operands.lines.entry(key).or_insert_with(make).clone()
    }

    /// Lands the products of groups before `complete`, in order.
    fn land_products(&mut self, warp: &mut Warp, complete: u32) -> Try<()> {
        for index in 0..warp.products.pending.len() {
            let p = &warp.products.pending[index];
            if p.landed || p.group >= complete {
                continue;
            }
            let (function, at, a, b, adds, registers) = (p.function, p.at, p.a, p.b, p.adds, p.registers);
            warp.products.pending[index].landed = true;
            let run = self.run;
            let Some(op) = operands(&run.program.functions[function], at) else { continue };
            if let Some(base) = registers {
                self.multiply(warp, op, (function, at, base), (a, b), adds);
            }
        }
        Ok(())
    }

    /// `base` is where the registers of the product's frame start: the warp may have called a function since.
    fn multiply(
        &mut self,
        warp: &mut Warp,
        op: &Wgmma,
        (function, at, base): (usize, u32, usize),
        (a, b): (u64, u64),
        adds: bool,
    ) {
        let of = |r: &Reg| base + r.0 as usize;
        let right = self.lines(warp.block, op, (function, at, b, false));
        let registers: Vec<Lanes>;
        let lines;
        let left = match &op.a {
            Left::Registers(slots) => {
                registers = slots.iter().map(|r| warp.registers[of(r)]).collect();
                tensor::Left::Registers(&registers)
            }
            Left::Descriptor(_) => {
                lines = self.lines(warp.block, op, (function, at, a, true));
                tensor::Left::Shared(&lines)
            }
        };
        let sum: Vec<Lanes> = op.d.iter().map(|r| warp.registers[of(r)]).collect();
        let out = tensor::wgmma(&op.form, warp.index % 4, left, &right, adds.then_some(&sum));
        for (slot, value) in op.d.iter().zip(&out) {
            warp.registers[of(slot)] = *value;
        }
    }

    /// `wgmma.wait_group`.
    pub(crate) fn wait_products(&mut self, warp: &mut Warp, pending: u32) -> Try<()> {
        let complete = warp.products.committed.saturating_sub(pending);
        self.land_products(warp, complete)?;
        warp.products.pending.retain(|p| p.group >= complete);
        if let Some(order) = self.order.as_mut() {
            let agent = order.group(warp.agent, Group::Product);
            order.learn(warp.agent, u32::MAX, agent, complete);
        }
        Ok(())
    }

    /// Looks whether a step touches registers that are in flight.
    pub(crate) fn check_in_flight(&mut self, warp: &mut Warp, function: &Function, _active: u32) -> Try<()> {
        let step = &function.code[warp.at as usize];
        if self.landing() == Landing::Random && self.random.once_in(64) {
            let most = warp.products.pending.last().map_or(0, |p| p.group) + 1;
            self.land_products(warp, most)?;
        }
        if matches!(&step.op, Op::Tensor(t) if !matches!(**t, Tensor::Mma(_) | Tensor::LoadMatrix { .. } | Tensor::StoreMatrix { .. }))
        {
            return Ok(());
        }
        let run = self.run;
        let mut touched = None;
        step.op.registers(&mut |slot, written| {
            for p in &warp.products.pending {
                if p.registers != Some(warp.base) {
                    continue;
                }
                let Some(op) = operands(&run.program.functions[p.function], p.at) else { continue };
                let in_a = matches!(&op.a, Left::Registers(a) if a.contains(&slot));
                if op.d.contains(&slot) || written && in_a {
                    touched = Some((p.at, written));
                }
            }
        });
        if let Some((other, written)) = touched {
            let code = run.code_starts[warp.function] + other;
            self.note(warp, code, Kind::InFlight, |env| {
                let verb = if written { "writes" } else { "reads" };
                let message = format!("the step {verb} a register of a `wgmma` that is in flight");
                let mut finding = env.finding(warp, u32::MAX, Kind::InFlight, message);
                finding.notes.push(("the product is".to_owned(), Some(env.run.site(code))));
                finding.help = Some("wait with `wgmma.wait_group` before".to_owned());
                finding
            });
        }
        Ok(())
    }
}
