//! Atomic operations ("PTX ISA, atom", "red").

use super::Try;
use super::access::Spot;
use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::Atomic;
use crate::emu::num::types::mask;
use crate::emu::order::{What, Who};
use crate::emu::report::Kind;

impl Env<'_, '_> {
    pub(crate) fn atomic(&mut self, warp: &mut Warp, op: &Atomic, active: u32) -> Try<()> {
        let size = op.ty.bits() as usize / 8;
        let total = size * op.from.len();
        let keep = mask(op.ty.bits());
        let addresses = op.address.lanes(warp);
        for lane in each(active) {
            let address = addresses[lane];
            self.aligned(warp, address, total as u64, lane)?;
            let spot = self.locate(warp, op.space, address, lane)?;
            let update = match spot {
                Spot::Shared(block, at) => {
                    self.shared_holds(warp, (block, at), total, lane)?;
                    if self.run.options.check {
                        self.saw_shared(warp, (block, at), total as u32, lane, What::Atomic, |_| false);
                        if !self.blocks[block].shared.is_written(at as usize, total) {
                            self.unwritten(warp, 1 << lane, || format!("bytes of shared memory at {at:#x}"));
                        }
                    }
                    op.in_shared.as_ref().unwrap_or(&op.update)
                }
                Spot::Global(address) => {
                    let (index, buffer, at) = match self.run.memory.find(address) {
                        Some(found) if found.1.holds(found.2, total) => found,
                        _ => return Err(self.outside(warp, address, total, lane)),
                    };
                    if self.run.options.check {
                        let who = Who { scope: op.scope, ..self.who(warp, lane) };
                        self.saw_global(warp, (index, at), total as u64, &who, What::Atomic, || false);
                        if !(0..total).step_by(size).all(|i| buffer.is_written(at + i as u64, size)) {
                            self.unwritten(warp, 1 << lane, || format!("bytes at {at} of `{}`", buffer.name));
                        }
                    }
                    &op.update
                }
                _ => {
                    let message = "atomic operations work on global and shared memory alone";
                    return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
                }
            };
            self.synchronise(warp, (spot, address, lane), op.order, (true, true), op.scope);
            for i in 0..op.from.len() {
                let old = self.read(warp, spot, i * size, size, lane)?;
                let operand = warp.reg(op.from[i])[lane] & keep;
                let third = op.swap.map_or(0, |s| warp.reg(s)[lane] & keep);
                let new = update(old, operand, third) & keep;
                self.write(warp, spot, i * size, size, new, lane)?;
                if let Some(to) = op.to.get(i) {
                    warp.reg_mut(*to)[lane] = old;
                }
            }
        }
        Ok(())
    }
}
