//! The rules for registers of asynchronous products.

use std::collections::{BTreeMap, VecDeque};

use ttc::emu::observe::{Act, Event};

use super::judge::{Court, WarpId};

/// The accumulators and the operands in registers of a product.
type Product = (Vec<u32>, Vec<u32>);

/// Registers of asynchronous products.
#[derive(Default)]
pub(super) struct Registers {
    /// When each register was last touched by something that is no product.
    pub(super) touched: BTreeMap<u32, usize>,
    pub(super) fenced: Option<usize>,
    /// Products that may run: the accumulators and the operands.
    pub(super) open: Vec<Product>,
    pub(super) closed: VecDeque<Vec<Product>>,
}

impl Court {
    /// The rules of registers: none is touched in flight, and a fence is between other steps and a product.
    pub(super) fn registers(&mut self, at: usize, id: WarpId, event: &Event) {
        let line = event.line;
        let r = &mut self.warp(id).registers;
        let mut broken = None;
        match &event.act {
            Act::ProductFence => r.fenced = Some(at),
            Act::Registers(all) => {
                for (register, written) in all {
                    let mut flying = r.open.iter().chain(r.closed.iter().flatten());
                    if flying.any(|(d, a)| d.contains(register) || *written && a.contains(register)) {
                        broken = Some(format!("line {line} touches a register of a product in flight"));
                    }
                    r.touched.insert(*register, at);
                }
            }
            Act::Product { accumulators, operands } => {
                let unfenced =
                    |x: &u32| r.touched.get(x).is_some_and(|touched| r.fenced.is_none_or(|fenced| fenced < *touched));
                if r.fenced.is_none() || accumulators.iter().chain(operands).any(unfenced) {
                    broken = Some(format!("the product of line {line} has no fence behind steps before it"));
                }
                r.open.push((accumulators.clone(), operands.clone()));
            }
            _ => {}
        }
        self.broken = broken;
    }
}
