//! `ldmatrix`, `stmatrix`, `mma.sync` and the rest of the tensor instructions ("PTX ISA, Warp Level Matrix
//! Multiply-Accumulate Instructions").

use super::Try;
use super::access::Spot;
use super::env::Env;
use super::warp::Warp;
use crate::emu::decode::op::{Address, Space};
use crate::emu::decode::program::{Lanes, Reg};
use crate::emu::decode::tensor_op::{Mma, Tensor};
use crate::emu::observe::{Act, Group};
use crate::emu::order::What;
use crate::emu::report::Kind;
use crate::emu::tensor;

/// The bytes of a row of a matrix.
const ROW: usize = 16;

impl Env<'_, '_> {
    pub(crate) fn tensor(&mut self, warp: &mut Warp, op: &Tensor, active: u32) -> Try<()> {
        if active != u32::MAX && !matches!(op, Tensor::MaxRegisters { .. }) {
            let message = "a tensor instruction needs all 32 lanes of the warp";
            return Err(self.fault(warp, !active, Kind::Divergence, message));
        }
        self.has_registers(warp, op)?;
        match op {
            Tensor::LoadMatrix { to, from, transpose } => self.load_matrix(warp, to, from, *transpose),
            Tensor::StoreMatrix { from, to, transpose } => self.store_matrix(warp, from, to, *transpose),
            Tensor::Mma(mma) => {
                product(warp, mma);
                Ok(())
            }
            Tensor::Wgmma(wgmma) => self.wgmma(warp, wgmma),
            Tensor::WgmmaFence => {
                self.observe(warp, active, || Act::ProductFence);
                warp.products.fence();
                Ok(())
            }
            Tensor::WgmmaCommit => {
                self.observe(warp, active, || Act::Commit(Group::Product));
                warp.products.commit();
                Ok(())
            }
            Tensor::WgmmaWait { pending } => {
                let pending = *pending;
                self.observe(warp, active, || Act::Wait { group: Group::Product, pending, reads: false });
                self.wait_products(warp, pending)
            }
            Tensor::MaxRegisters { count, .. } => self.max_registers(warp, *count, active),
        }
    }

    /// The place in shared memory of a row.
    fn row(&self, warp: &Warp, lane: u32, address: u64) -> Try<(usize, u32)> {
        let lane = lane as usize;
        self.aligned(warp, address, ROW as u64, lane)?;
        let space = match crate::emu::memory::window(address) {
            crate::emu::memory::Window::Shared => Space::Generic,
            _ => Space::Shared,
        };
        let Spot::Shared(block, at) = self.locate(warp, space, address, lane)? else {
            return Err(self.fault(warp, 1 << lane, Kind::OutOfBounds, "the matrix is not in shared memory"));
        };
        self.shared_holds(warp, (block, at), ROW, lane)?;
        Ok((block, at))
    }

    fn load_matrix(&mut self, warp: &mut Warp, to: &[Reg], from: &Address, transpose: bool) -> Try<()> {
        let addresses = from.lanes(warp);
        let this = &mut *self;
        let reader: &Warp = warp;
        let loaded = tensor::ldmatrix(to.len(), transpose, &addresses, |lane, address| {
            let (block, at) = this.row(reader, lane, address)?;
            if this.run.options.check {
                this.saw_shared(reader, (block, at), ROW as u32, lane as usize, What::Read, |_| false);
                if !this.blocks[block].shared.is_written(at as usize, ROW) {
                    this.unwritten(reader, 1 << lane, || format!("bytes of shared memory at {at:#x}"));
                }
            }
            let mut row = [0; ROW];
            row.copy_from_slice(this.blocks[block].shared.slice(at as usize, ROW));
            Ok::<_, super::Fault>(row)
        })?;
        for (slot, value) in to.iter().zip(&loaded) {
            *warp.reg_mut(*slot) = *value;
        }
        Ok(())
    }

    fn store_matrix(&mut self, warp: &mut Warp, from: &[Reg], to: &Address, transpose: bool) -> Try<()> {
        let addresses = to.lanes(warp);
        let values: Vec<Lanes> = from.iter().map(|r| *warp.reg(*r)).collect();
        let writer: &Warp = warp;
        tensor::stmatrix(&values, transpose, &addresses, |lane, address, row| {
            let (block, at) = self.row(writer, lane, address)?;
            if self.run.options.check {
                self.not_a_barrier(writer, (block, at), ROW, lane as usize);
                self.saw_shared(writer, (block, at), ROW as u32, lane as usize, What::Write, |env| {
                    env.blocks[block].shared.slice(at as usize, ROW) == row
                });
            }
            self.blocks[block].shared.write_slice(at as usize, &row);
            Ok(())
        })
    }
}

/// `mma.sync`.
fn product(warp: &mut Warp, mma: &Mma) {
    let values = |slots: &[Reg]| slots.iter().map(|r| *warp.reg(*r)).collect::<Vec<Lanes>>();
    let (a, b, c) = (values(&mma.a), values(&mma.b), values(&mma.c));
    let out = tensor::mma(&mma.form, &a, &b, &c);
    for (slot, value) in mma.d.iter().zip(&out) {
        *warp.reg_mut(*slot) = *value;
    }
}
