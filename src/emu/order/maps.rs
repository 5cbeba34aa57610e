//! Tensor maps that a launch writes to global memory.
//!
//! The unit that uses a map reads it past the order of other accesses: between the write and a use there must be a
//! `fence.proxy.tensormap::generic.acquire` for its address, by somebody who knows the write, and whom the user knows.

use std::collections::BTreeMap;

use super::global::{Remote, knows};
use super::{Access, Order, What, Who};

/// A map that was written.
struct Written {
    write: Remote,
    /// The fences since that knew the write.
    fences: Vec<Remote>,
}

/// The maps that were written, by address.
#[derive(Default)]
pub(crate) struct Maps(BTreeMap<u64, Written>);

impl Maps {
    pub(crate) fn written(&mut self, address: u64, cluster: u32, who: &Who) {
        let write = Remote { cluster, access: Access::new(who, What::Write) };
        self.0.insert(address, Written { write, fences: vec![] });
    }

    pub(crate) fn fenced(&mut self, order: &Order, address: u64, cluster: u32, who: &Who) {
        let Some(map) = self.0.get_mut(&address) else { return };
        if knows(order, cluster, who, &map.write, true) {
            map.fences.push(Remote { cluster, access: Access::new(who, What::Read) });
        }
    }

    /// A use. The result is the step of a write that no fence orders before it.
    pub(crate) fn used(&self, order: &Order, address: u64, cluster: u32, who: &Who) -> Option<u32> {
        let map = self.0.get(&address)?;
        let is_fenced = map.fences.iter().any(|fence| knows(order, cluster, who, fence, false));
        (!is_fenced).then_some(map.write.access.code)
    }
}
