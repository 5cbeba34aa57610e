//! Tensor maps that a launch writes itself, and the fences that their uses need ("PTX ISA, membar/fence:
//! fence.proxy.tensormap").

use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::Address;
use crate::emu::observe::Act;
use crate::emu::report::Kind;

impl Env<'_, '_> {
    /// `fence.proxy.tensormap::generic.acquire`.
    pub(crate) fn fence_map(&mut self, warp: &Warp, map: Option<&Address>, active: u32) {
        let Some(map) = map else { return };
        let addresses = map.lanes(warp);
        for lane in each(active) {
            let address = addresses[lane];
            self.observe(warp, 1 << lane, || Act::MapFenced(address));
            let who = self.who(warp, lane);
            if let Some(order) = self.order.as_ref() {
                self.world.everywhere.maps.fenced(order, address, self.cluster, &who);
            }
        }
    }

    /// Looks whether a map that this launch has written is behind a fence.
    pub(crate) fn uses_map(&mut self, warp: &Warp, address: u64, lane: usize) {
        self.observe(warp, 1 << lane, || Act::MapUsed(address));
        let who = self.who(warp, lane);
        let Some(order) = self.order.as_ref() else { return };
        let Some(code) = self.world.everywhere.maps.used(order, address, self.cluster, &who) else { return };
        self.note(warp, code, Kind::Race, |env| {
            let message = "a copy uses a tensor map that this launch has written, and no fence is between";
            let mut finding = env.finding(warp, 1 << lane, Kind::Race, message);
            finding.notes.push(("the map is written".to_owned(), Some(env.run.site(code))));
            let help =
                "put `fence.proxy.tensormap::generic.acquire` for the map after the write, and a barrier after that";
            finding.help = Some(help.to_owned());
            finding
        });
    }
}
