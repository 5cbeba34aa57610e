//! Bulk copies, with and without a tensor map ("PTX ISA, cp.async.bulk", "cp.async.bulk.tensor",
//! "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor", "tensormap.replace", "tensormap.cp_fenceproxy").
//!
//! A copy is a list of pieces, of up to 16 bytes each, that are next to each other on both sides. Loads signal an
//! `mbarrier`; stores belong to a group of their lane. Bytes are read and written when the copy lands.

use super::Try;
use super::access::Spot;
use super::env::Env;
use super::lanes::each;
use super::launch::Landing;
use super::pending::{BulkWork, Pending, Piece, Way};
use super::warp::Warp;
use crate::emu::decode::copy_op::{Async, Bulk, BulkTensor, Place};
use crate::emu::decode::op::{Op, Scope, Space, Update};
use crate::emu::num::Type;
use crate::emu::observe::{self, Act, Meeting};
use crate::emu::order::{Group, NEVER, Proxy, What, Who};
use crate::emu::report::Kind;
use crate::emu::tensor::TensorMap;
use crate::emu::tensor::map::Element;

/// The bytes of a tensor map.
const MAP_BYTES: usize = 128;

/// The bytes to which bulk copies are aligned.
const ALIGN: u64 = 16;

impl Env<'_, '_> {
    pub(crate) fn bulk(&mut self, warp: &mut Warp, op: &Async, active: u32) -> Try<()> {
        match op {
            Async::Bulk(bulk) => each(active).try_for_each(|lane| self.bulk_plain(warp, bulk, lane)),
            Async::BulkTensor(bulk) => each(active).try_for_each(|lane| self.bulk_tensor(warp, bulk, lane)),
            Async::BulkCommit => {
                self.observe(warp, active, || Act::Commit(observe::Group::Bulk));
                each(active).for_each(|lane| warp.bulks[lane] += 1);
                Ok(())
            }
            Async::BulkWait { pending, read } => {
                let (pending, reads) = (*pending, *read);
                self.observe(warp, active, || Act::Wait { group: observe::Group::Bulk, pending, reads });
                self.wait_bulk(warp, pending, reads, active);
                Ok(())
            }
            Async::Replace { at, field, ordinal, value } => {
                for lane in each(active) {
                    let address = at.address.lanes(warp)[lane];
                    let spot = self.locate(warp, at.space, address, lane)?;
                    let mut map = self.tensor_map(warp, spot, lane)?;
                    let bits = warp.reg(*value)[lane];
                    let replaced = map.replace(*field, *ordinal as usize, bits);
                    replaced.map_err(|why| self.fault(warp, 1 << lane, Kind::Invalid, why))?;
                    self.write_bytes(warp, spot, &map.encode(), lane)?;
                }
                Ok(())
            }
            Async::CopyMap { to, from } => {
                let (to, from) = (to.lanes(warp), from.lanes(warp));
                let Some(lane) = each(active).next() else { return Ok(()) };
                let (to, from) = (self.uniform(warp, &to, active)?, self.uniform(warp, &from, active)?);
                let source = self.locate(warp, Space::Shared, from, lane)?;
                let bytes = self.read_bytes(warp, source, MAP_BYTES, lane)?;
                // Any lane may be the one that copies.
                each(active).skip(1).try_for_each(|lane| self.read_bytes(warp, source, MAP_BYTES, lane).map(|_| ()))?;
                self.write_bytes(warp, Spot::Global(to), &bytes, lane)
            }
            _ => Ok(()),
        }
    }

    /// The map at a spot.
    fn tensor_map(&mut self, warp: &Warp, spot: Spot, lane: usize) -> Try<TensorMap> {
        let bytes = self.read_bytes(warp, spot, MAP_BYTES, lane)?;
        let map = <[u8; MAP_BYTES]>::try_from(bytes.as_slice()).ok().and_then(|b| TensorMap::decode(&b));
        map.ok_or_else(|| self.fault(warp, 1 << lane, Kind::Invalid, "there is no tensor map at the address"))
    }

    fn read_bytes(&mut self, warp: &Warp, spot: Spot, size: usize, lane: usize) -> Try<Vec<u8>> {
        match spot {
            Spot::Shared(block, at) => {
                self.shared_holds(warp, (block, at), size, lane)?;
                self.saw_shared(warp, (block, at), size as u32, lane, What::Read, |_| false);
                Ok(self.blocks[block].shared.slice(at as usize, size).to_vec())
            }
            Spot::Global(address) => {
                self.global_source(warp, address, size as u64, lane)?;
                let mut bytes = vec![0; size];
                self.read_global(address, &mut bytes);
                Ok(bytes)
            }
            Spot::KernelParam(at) => {
                let params = &self.run.params;
                let bytes = params.get(at as usize..at as usize + size).map(<[u8]>::to_vec);
                bytes.ok_or_else(|| self.outside(warp, at, size, lane))
            }
            _ => Err(self.fault(warp, 1 << lane, Kind::Invalid, "a tensor map is in global or shared memory")),
        }
    }

    fn write_bytes(&mut self, warp: &Warp, spot: Spot, bytes: &[u8], lane: usize) -> Try<()> {
        match spot {
            Spot::Shared(block, at) => {
                self.shared_holds(warp, (block, at), bytes.len(), lane)?;
                self.saw_shared(warp, (block, at), bytes.len() as u32, lane, What::Write, |_| false);
                self.blocks[block].shared.write_slice(at as usize, bytes);
            }
            Spot::Global(address) => {
                let who = self.who(warp, lane);
                self.global_target(warp, address, bytes.len() as u64, lane, (&who, What::Write))?;
                self.write_global(address, bytes);
                self.observe(warp, 1 << lane, || Act::MapWritten(address));
                self.world.everywhere.maps.written(address, self.cluster, &who);
            }
            _ => return Err(self.fault(warp, 1 << lane, Kind::Invalid, "a tensor map is in global or shared memory")),
        }
        Ok(())
    }

    /// Checks what is written to global memory, and tells the detectors.
    fn global_target(
        &mut self,
        warp: &Warp,
        address: u64,
        size: u64,
        lane: usize,
        (who, what): (&Who, What),
    ) -> Try<()> {
        let (index, at) = match self.run.memory.find(address) {
            Some((index, buffer, at)) if buffer.holds(at, size as usize) => (index, at),
            _ => return Err(self.outside(warp, address, size as usize, lane)),
        };
        if self.run.options.check {
            self.saw_global(warp, (index, at), size, who, what, || false);
        }
        Ok(())
    }

    fn bulk_plain(&mut self, warp: &mut Warp, bulk: &Bulk, lane: usize) -> Try<()> {
        let bytes = (warp.reg(bulk.bytes)[lane] & 0xffff_ffff) as u32;
        let (to, from) = (bulk.to.address.lanes(warp)[lane], bulk.from.address.lanes(warp)[lane]);
        for address in [to, from, u64::from(bytes)] {
            self.aligned(warp, address, ALIGN, lane)?;
        }
        let (to, from) = (self.locate(warp, bulk.to.space, to, lane)?, self.locate(warp, bulk.from.space, from, lane)?);
        // A copy that is too long for shared memory is not cut into pieces.
        for spot in [to, from] {
            if let Spot::Shared(block, at) = spot {
                self.shared_holds(warp, (block, at), bytes as usize, lane)?;
            }
        }
        let pieces = |global: Option<u64>, shared: u32| {
            let piece = |i: u32| Piece { global: global.map(|g| g + u64::from(i)), shared: shared + i, bytes: 16 };
            (0..bytes).step_by(16).map(piece).collect::<Vec<_>>()
        };
        let (way, pieces, home) = match (to, from) {
            (Spot::Shared(block, at), Spot::Global(g)) => (Way::Load, pieces(Some(g), at), (block, at)),
            (Spot::Global(g), Spot::Shared(block, at)) => (Way::Store, pieces(Some(g), at), (block, at)),
            (Spot::Shared(block, at), Spot::Shared(from_block, from)) => {
                (Way::Across { from_block, from }, pieces(None, at), (block, at))
            }
            _ => return Err(self.fault(warp, 1 << lane, Kind::Invalid, "a bulk copy between these spaces cannot be")),
        };
        self.issue(
            warp,
            (way, pieces, (0, Type::B8), home, bytes),
            (bulk.barrier, bulk.blocks),
            bulk.reduce.is_some(),
            lane,
        )
    }

    fn bulk_tensor(&mut self, warp: &mut Warp, bulk: &BulkTensor, lane: usize) -> Try<()> {
        let address = warp.reg(bulk.map)[lane];
        let spot = self.locate(warp, Space::Generic, address, lane)?;
        let map = self.tensor_map(warp, spot, lane)?;
        if let Spot::Global(address) = spot {
            self.uses_map(warp, address, lane);
        }
        if let Some(why) = map.fault() {
            return Err(self.fault(warp, 1 << lane, Kind::Invalid, format!("the tensor map cannot be: {why}")));
        }
        if map.rank as usize != bulk.coordinates.len() {
            let message =
                format!("the tensor map has {} axes, and {} coordinates are given", map.rank, bulk.coordinates.len());
            return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
        }
        let coordinates: Vec<i32> = bulk.coordinates.iter().map(|r| warp.reg(*r)[lane] as i32).collect();
        let shared = bulk.shared.address.lanes(warp)[lane];
        self.aligned(warp, shared, 128, lane)?;
        let Spot::Shared(block, at) = self.locate(warp, bulk.shared.space, shared, lane)? else {
            return Err(self.fault(warp, 1 << lane, Kind::Invalid, "the box is not in shared memory"));
        };
        let way = if bulk.load { Way::Load } else { Way::Store };
        self.box_is_allowed(warp, &map, &coordinates, way, lane)?;
        let mut pieces = pieces(&map, &coordinates, at, way == Way::Store);
        if way == Way::Store {
            // Elements outside of the tensor are not written.
            pieces.retain(|p| p.global.is_some());
        }
        let fill = (map.fill(), element_type(map.element));
        let (bytes, signals) = (map.box_bytes(), (bulk.barrier, bulk.blocks));
        self.issue(warp, (way, pieces, fill, (block, at), bytes), signals, bulk.reduce.is_some(), lane)
    }

    /// Refuses coordinates at which the hardware ends the launch with an illegal instruction. A box starts at a chunk
    /// of the innermost axis: no manual says so, and an H200 insists on it (docs/testing.md, "On a GPU"). A box that is
    /// written does not start before the tensor ("CUDA C++ Programming Guide, TMA: Negative indices and out of
    /// bounds").
    fn box_is_allowed(&self, warp: &Warp, map: &TensorMap, coordinates: &[i32], way: Way, lane: usize) -> Try<()> {
        let innermost = i64::from(coordinates[0]);
        let byte = innermost * i64::from(map.element.bytes());
        if byte % ALIGN as i64 != 0 {
            let message = format!(
                "the box starts at coordinate {innermost} of axis 0, at byte {byte}, which is no multiple of {ALIGN}"
            );
            return Err(self.fault(warp, 1 << lane, Kind::Misaligned, message));
        }
        let negative = coordinates.iter().position(|&c| c < 0).filter(|_| way == Way::Store);
        if let Some(axis) = negative {
            let message = format!(
                "a copy to the tensor starts at coordinate {} of axis {axis}; only a load may start below 0",
                coordinates[axis]
            );
            return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
        }
        Ok(())
    }

    /// Checks a copy, tells the detectors of it, and lets it land now or later.
    fn issue(
        &mut self,
        warp: &mut Warp,
        (way, pieces, fill, (block, _), bytes): (Way, Vec<Piece>, (u64, Type), (usize, u32), u32),
        (barrier, multicast): (Option<Place>, Option<crate::emu::decode::program::Reg>),
        reduces: bool,
        lane: usize,
    ) -> Try<()> {
        let mask = multicast.map(|r| warp.reg(r)[lane] & 0xffff);
        let blocks: Vec<usize> = match mask {
            None => vec![block],
            Some(mask) => (0..16).filter(|b| mask >> b & 1 == 1).collect(),
        };
        if blocks.iter().any(|&b| b >= self.blocks.len()) {
            return Err(self.fault(
                warp,
                1 << lane,
                Kind::Invalid,
                "the multicast names blocks that the cluster has not",
            ));
        }
        let place = match &barrier {
            None => None,
            Some(place) => Some(self.barrier_place(warp, place, lane)?),
        };
        let barrier_block = place.map(|(b, _)| b).filter(|_| mask.is_none());
        for &b in &blocks {
            if let Some((_, at)) = place {
                let target = (barrier_block.unwrap_or(b), at);
                if !self.blocks[target.0].mbarriers.contains_key(&at) {
                    let message = format!("there is no `mbarrier` at {at:#x} of the block that the copy tells");
                    return Err(self.fault(warp, 1 << lane, Kind::Mbarrier, message));
                }
            }
            for piece in &pieces {
                self.shared_holds(warp, (b, piece.shared), piece.bytes as usize, lane)?;
            }
        }
        let (warp_agent, group) = (warp.agent, warp.bulks[lane]);
        if let Some(log) = &mut self.world.log {
            log.operations += 1;
        }
        let number = self.world.log.as_ref().map_or(0, |l| l.operations);
        let work = BulkWork {
            number,
            way,
            pieces,
            fill,
            blocks,
            barrier: place.map(|(_, at)| at),
            barrier_block,
            bytes,
            warp: warp_agent,
            lane,
            group,
            function: warp.function,
            at: warp.at,
            data: None,
        };
        if way == Way::Store {
            warp.last_store = Some((self.code(warp), group + 1));
            warp.storing |= 1 << lane;
        }
        self.saw_bulk(warp, &work, reduces, lane)?;
        self.pending.push(Pending::Bulk(Box::new(work)));
        if self.landing() == Landing::Early {
            self.land(self.pending.len() - 1);
        }
        Ok(())
    }

    /// Bounds in global memory, and the detectors.
    fn saw_bulk(&mut self, warp: &Warp, work: &BulkWork, reduces: bool, lane: usize) -> Try<()> {
        let own = self.who(warp, lane);
        let agent = |group: Group| self.order.as_ref().map_or(0, |o| o.group(warp.agent, group));
        let in_group = |agent: u32| Who { agent, time: work.group + 1, proxy: Proxy::Asynchronous, ..own };
        let (reader, writer) = (in_group(agent(Group::BulkRead)), in_group(agent(Group::BulkWrite)));
        for piece in &work.pieces {
            let size = u64::from(piece.bytes);
            match (work.way, piece.global) {
                (Way::Load, Some(g)) => self.global_source(warp, g, size, lane)?,
                (Way::Store, Some(g)) => {
                    let what = if reduces { What::Atomic } else { What::Write };
                    self.global_target(warp, g, size, lane, (&writer, what))?;
                }
                _ => {}
            }
            if work.way == Way::Store {
                self.saw_shared_as(warp, (work.blocks[0], piece.shared), piece.bytes, &reader, What::Read);
                if self.run.options.check
                    && !self.blocks[work.blocks[0]].shared.is_written(piece.shared as usize, piece.bytes as usize)
                {
                    self.unwritten(warp, 1 << lane, || format!("bytes of shared memory at {:#x}", piece.shared));
                }
            }
        }
        if work.way == Way::Store {
            return Ok(());
        }
        for (start, bytes) in runs(&work.pieces) {
            for &block in &work.blocks {
                let told = work.barrier_block.unwrap_or(block);
                let at = work.barrier.unwrap_or(0);
                let agent = self.blocks[told].mbarriers.get(&at).map_or(0, |m| m.agent);
                let who = Who { agent, time: NEVER, proxy: Proxy::Asynchronous, ..own };
                self.saw_shared_as(warp, (block, start), bytes, &who, What::Write);
            }
        }
        Ok(())
    }

    /// A bulk copy reads and writes.
    pub(crate) fn land_bulk(&mut self, work: BulkWork) {
        let data = match &work.data {
            Some(data) => data.clone(),
            None => self.bulk_data(&work),
        };
        if work.way == Way::Store {
            self.store_bulk(&work, &data);
            return;
        }
        for &block in &work.blocks {
            for (piece, bytes) in work.pieces.iter().zip(&data) {
                self.blocks[block].shared.write_slice(piece.shared as usize, bytes);
            }
            let Some(at) = work.barrier else { continue };
            let told = (work.barrier_block.unwrap_or(block), at);
            let covered = self.complete_bytes(told, work.bytes);
            if let Some((_, time)) = covered {
                let code = self.run.code_starts[work.function] + work.at;
                let at = Meeting::Mbarrier(told.0 as u32, told.1);
                let (operation, round) = (work.number, u64::from(time) - 1);
                self.observe_at(work.warp, 1 << work.lane, code, || Act::Landed { operation, at, round });
            }
            if let (Some((agent, time)), Some(order)) = (covered, self.order.as_mut()) {
                let code = self.run.code_starts[work.function] + work.at;
                let lane = work.lane as u8;
                let who =
                    Who { warp: work.warp, agent, time, lane, code, proxy: Proxy::Asynchronous, scope: Scope::Gpu };
                let shadow = &mut order.shared[block];
                work.pieces.iter().for_each(|p| shadow.land(p.shared, p.bytes, &who));
            }
        }
    }

    /// What a copy reads.
    fn bulk_data(&self, work: &BulkWork) -> Vec<Vec<u8>> {
        let shared =
            |block: usize, at: u32, bytes: u32| self.blocks[block].shared.slice(at as usize, bytes as usize).to_vec();
        let first = work.pieces.first().map_or(0, |p| p.shared);
        let one = |piece: &Piece| match (work.way, piece.global) {
            (Way::Load, Some(g)) => {
                let mut bytes = vec![0; piece.bytes as usize];
                self.read_global(g, &mut bytes);
                bytes
            }
            (Way::Load, None) => {
                let (fill, ty) = work.fill;
                let element = fill.to_le_bytes();
                element[..ty.bits() as usize / 8].iter().copied().cycle().take(piece.bytes as usize).collect()
            }
            (Way::Store, _) => shared(work.blocks[0], piece.shared, piece.bytes),
            (Way::Across { from_block, from }, _) => shared(from_block, from + (piece.shared - first), piece.bytes),
        };
        work.pieces.iter().map(one).collect()
    }

    /// Writes to global memory, or adds to it.
    fn store_bulk(&self, work: &BulkWork, data: &[Vec<u8>]) {
        let step = &self.run.program.functions[work.function].code[work.at as usize];
        let Op::Async(op) = &step.op else { return };
        let made;
        let reduce: Option<(&Update, usize)> = match &**op {
            Async::Bulk(Bulk { reduce: Some((update, ty)), .. }) => Some((update, ty.bits() as usize / 8)),
            Async::BulkTensor(BulkTensor { reduce: Some(name), .. }) => {
                let ty = work.fill.1;
                made = crate::emu::decode::reduction(name, ty);
                made.as_ref().map(|update| (update, ty.bits() as usize / 8))
            }
            _ => None,
        };
        for (piece, bytes) in work.pieces.iter().zip(data) {
            let Some(global) = piece.global else { continue };
            let Some((update, size)) = reduce else {
                self.write_global(global, bytes);
                continue;
            };
            for (i, element) in bytes.chunks(size).enumerate() {
                let at = global + (i * size) as u64;
                let mut old = vec![0; size];
                self.read_global(at, &mut old);
                let number = super::memory::number;
                let new = update(number(&old), number(element), 0);
                self.write_global(at, &new.to_le_bytes()[..size]);
            }
        }
    }

    /// A warp ends. Its bulk stores must have read shared memory, which is gone with the block.
    pub(crate) fn check_stores(&mut self, warp: &Warp) {
        let (Some((code, time)), Some(order)) = (warp.last_store, self.order.as_ref()) else { return };
        let agent = order.group(warp.agent, Group::BulkRead);
        if order.clock(warp.agent).generic.get(agent) >= time {
            return;
        }
        self.note(warp, code, Kind::Race, |env| {
            let message = "the warp ends while a bulk copy may still read the shared memory of its block";
            let mut finding = env.finding(warp, 0, Kind::Race, message);
            finding.site = env.run.site(code);
            finding.help = Some("wait with `cp.async.bulk.wait_group.read` before the end".to_owned());
            finding
        });
    }

    /// `cp.async.bulk.wait_group`: the groups of the lanes have read, or have landed, but for the last `pending` ones.
    fn wait_bulk(&mut self, warp: &mut Warp, pending: u32, read: bool, active: u32) {
        for mut work in std::mem::take(self.pending) {
            let Pending::Bulk(bulk) = &mut work else {
                self.pending.push(work);
                continue;
            };
            let complete = warp.bulks[bulk.lane].saturating_sub(pending);
            let own = bulk.warp == warp.agent && active >> bulk.lane & 1 == 1;
            if bulk.way != Way::Store || bulk.barrier.is_some() || !own || bulk.group >= complete {
                self.pending.push(work);
            } else if read {
                if bulk.data.is_none() {
                    let data = self.bulk_data(bulk);
                    bulk.data = Some(data);
                }
                self.pending.push(work);
            } else if let Pending::Bulk(bulk) = work {
                self.land_bulk(*bulk);
            }
        }
        if let Some(order) = self.order.as_mut() {
            let storing = each(active & warp.storing);
            let complete = storing.map(|lane| warp.bulks[lane].saturating_sub(pending)).max().unwrap_or(0);
            let (reads, writes) = (order.group(warp.agent, Group::BulkRead), order.group(warp.agent, Group::BulkWrite));
            // A wait of a lane without stores says nothing of those of others.
            let lanes = active & warp.storing;
            order.learn(warp.agent, lanes, reads, complete);
            if !read {
                order.learn(warp.agent, lanes, writes, complete);
            }
        }
    }
}

/// The bytes of shared memory that pieces cover: start and length of each run. Where a row leaves the tensor, two
/// pieces meet within a granule of the detectors, and one copy must not look like two.
fn runs(pieces: &[Piece]) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = vec![];
    for piece in pieces {
        match all.last_mut() {
            Some((start, bytes)) if *start + *bytes == piece.shared => *bytes += piece.bytes,
            _ => all.push((piece.shared, piece.bytes)),
        }
    }
    all
}

/// The pieces of a box.
fn pieces(map: &TensorMap, coordinates: &[i32], base: u32, store: bool) -> Vec<Piece> {
    let bytes = map.element.bytes();
    let mut all: Vec<Piece> = vec![];
    for place in map.places(coordinates, store) {
        let shared = map.shared(base, place.offset);
        if let Some(last) = all.last_mut() {
            let follows = match (last.global, place.global) {
                (Some(a), Some(b)) => a + u64::from(last.bytes) == b,
                (None, None) => true,
                _ => false,
            };
            if follows && last.shared + last.bytes == shared && last.bytes < 16 {
                last.bytes += bytes;
                continue;
            }
        }
        all.push(Piece { global: place.global, shared, bytes });
    }
    all
}

/// The type that a reduction of a tensor works on.
fn element_type(element: Element) -> Type {
    match element {
        Element::U8 => Type::U8,
        Element::U16 => Type::U16,
        Element::U32 => Type::U32,
        Element::S32 => Type::S32,
        Element::U64 => Type::U64,
        Element::S64 => Type::S64,
        Element::F16 => Type::F16,
        Element::BF16 => Type::BF16,
        Element::F64 => Type::F64,
        Element::F32 | Element::F32Ftz | Element::TF32 | Element::TF32Ftz => Type::F32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_leaves_the_tensor_is_one_run() {
        let piece = |global, shared, bytes| Piece { global, shared, bytes };
        let row = [piece(Some(64), 0, 2), piece(None, 2, 16), piece(None, 18, 14), piece(Some(96), 32, 2)];
        assert_eq!(runs(&row), [(0, 34)]);
        assert_eq!(runs(&[piece(None, 16, 16), piece(None, 0, 16)]), [(16, 16), (0, 16)], "chunks that are swizzled");
    }
}
