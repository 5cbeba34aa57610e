//! Asynchronous copies and the barriers in memory that they signal ("PTX ISA, Data Movement and Conversion
//! Instructions: Asynchronous Copy", "Parallel Synchronization and Communication Instructions: mbarrier").

use super::context::Cx;
use super::copy_op::{Arrive, Async, Bulk, BulkTensor, Phase, Place};
use super::error::Result;
use super::form::Form;
use super::memory::{self, order, scope};
use super::moves::plain_space;
use super::op::{Op, Space};
use super::program::Reg;
use crate::emu::num::Type;
use crate::emu::ptx::syntax::Operand;
use crate::emu::tensor::map::Field;

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn asynchronous(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        let op = match form.ins.opcode {
            "cp" => self.copies(form)?,
            "mbarrier" => self.mbarrier(form)?,
            "tensormap" => self.tensor_map(form)?,
            _ => return Ok(None),
        };
        Ok(Some(op.map_or(Op::Nop, |op| Op::Async(Box::new(op)))))
    }

    fn constant_operand(form: &Form<'_, 'a>, operand: &Operand<'a>) -> Result<u32> {
        match operand {
            Operand::Integer(v) => u32::try_from(*v).map_err(|_| form.error("the constant is out of range")),
            _ => Err(form.error("expected a constant")),
        }
    }

    fn place(&mut self, form: &Form<'_, 'a>, operand: &Operand<'a>, space: Space) -> Result<Place> {
        let (address, _) = self.address(form, operand)?;
        Ok(Place { space, address })
    }

    /// `cp` in all its forms. `None` is a form that does nothing.
    fn copies(&mut self, form: &Form<'_, 'a>) -> Result<Option<Async>> {
        let reduce = form.has("reduce");
        form.has("async");
        if form.has("bulk") {
            return self.bulk(form, reduce);
        }
        if form.has("commit_group") {
            return Ok(Some(Async::Commit));
        }
        if form.has("wait_group") {
            let [n] = form.operands()?;
            return Ok(Some(Async::Wait { pending: Self::constant_operand(form, n)? }));
        }
        if form.has("wait_all") {
            // It is a commit and a wait for everything.
            let guard = self.guard(form)?;
            self.push(Op::Async(Box::new(Async::Commit)), guard);
            return Ok(Some(Async::Wait { pending: 0 }));
        }
        if form.has("mbarrier") {
            let noinc = form.has("noinc");
            if !form.has("arrive") {
                return Err(form.unknown());
            }
            let space = form.find(plain_space).unwrap_or(Space::Generic);
            form.ty()?;
            let [at] = form.operands()?;
            return Ok(Some(Async::CopyArrive { at: self.place(form, at, space)?, noinc }));
        }
        let policy = Self::hints(form);
        if form.find(plain_space) != Some(Space::Shared) || form.find(plain_space) != Some(Space::Global) {
            return Err(form.error("copies from global to shared memory alone"));
        }
        let [to, from, bytes, rest @ ..] = form.ins.operands.as_slice() else {
            return Err(form.error("has too few operands"));
        };
        let rest = if policy { rest.split_last().map_or(rest, |(_, r)| r) } else { rest };
        let (source_bytes, ignore) = match rest {
            [] => (None, None),
            [one] if self.is_pred(one) => (None, Some(self.pred(one)?)),
            [one] => (Some(self.source(one, Type::U32)?), None),
            _ => return Err(form.error("has too many operands")),
        };
        let bytes = Self::constant_operand(form, bytes)?;
        if !matches!(bytes, 4 | 8 | 16) {
            return Err(form.error("copies 4, 8 or 16 bytes"));
        }
        let (to, from) = (self.address(form, to)?.0, self.address(form, from)?.0);
        Ok(Some(Async::Copy { to, from, bytes, source_bytes, ignore }))
    }

    fn bulk(&mut self, form: &Form<'_, 'a>, reduce: bool) -> Result<Option<Async>> {
        if form.has("prefetch") {
            while form.find(|_| Some(())).is_some() {}
            return Ok(None);
        }
        if form.has("commit_group") {
            return Ok(Some(Async::BulkCommit));
        }
        if form.has("wait_group") {
            let read = form.has("read");
            let [n] = form.operands()?;
            return Ok(Some(Async::BulkWait { pending: Self::constant_operand(form, n)?, read }));
        }
        if form.has("tensor") {
            return self.bulk_tensor(form, reduce).map(Some);
        }
        let policy = Self::hints(form);
        let (to_space, from_space) = self.two_spaces(form)?;
        let blocks = form.has("multicast::cluster");
        let signals = Self::completion(form)?;
        let reduce = if reduce {
            let name = form.need("an operation", |m| memory::is_update(m).then(|| m.to_owned()))?;
            form.has("noftz");
            let ty = form.type_in_memory()?;
            let update = memory::update(&name, ty, false);
            Some((update.ok_or_else(|| form.error("there is no such operation of this type"))?, ty))
        } else {
            None
        };
        let mut rest = form.ins.operands.iter();
        let mut next = || rest.next().ok_or_else(|| form.error("has too few operands"));
        let to = self.place(form, next()?, to_space)?;
        let from = self.place(form, next()?, from_space)?;
        let bytes = self.source(next()?, Type::U32)?;
        let (barrier, blocks) = self.ending(form, rest, (signals, blocks, policy))?;
        Ok(Some(Async::Bulk(Bulk { to, from, bytes, barrier, blocks, reduce })))
    }

    /// The spaces of the destination and of the source.
    fn two_spaces(&self, form: &Form<'_, 'a>) -> Result<(Space, Space)> {
        Ok((form.need("a state space", plain_space)?, form.need("the second state space", plain_space)?))
    }

    /// The last operands of a bulk copy, as far as its modifiers say that they are there: the barrier that is told, the
    /// blocks that get it, and a cache policy, which means nothing here.
    fn ending<'o>(
        &mut self,
        form: &Form<'_, 'a>,
        mut rest: impl Iterator<Item = &'o Operand<'a>>,
        (signals, blocks, policy): (bool, bool, bool),
    ) -> Result<(Option<Place>, Option<Reg>)>
    where
        'a: 'o,
    {
        let mut next = || rest.next().ok_or_else(|| form.error("has too few operands"));
        let barrier = if signals { Some(self.place(form, next()?, Space::Cluster)?) } else { None };
        let blocks = if blocks { Some(self.source(next()?, Type::U16)?) } else { None };
        if policy {
            next()?;
        }
        if rest.next().is_some() {
            return Err(form.error("has too many operands"));
        }
        Ok((barrier, blocks))
    }

    /// Whether a barrier is told of the end. Otherwise it is a bulk group.
    fn completion(form: &Form<'_, 'a>) -> Result<bool> {
        match (form.has("mbarrier::complete_tx::bytes"), form.has("bulk_group")) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            _ => Err(form.error("needs `.mbarrier::complete_tx::bytes` or `.bulk_group`")),
        }
    }

    fn bulk_tensor(&mut self, form: &Form<'_, 'a>, reduce: bool) -> Result<Async> {
        let policy = Self::hints(form);
        let rank = form.need("the number of dimensions", |m| match m.as_bytes() {
            [n @ b'1'..=b'5', b'd'] => Some(usize::from(n - b'0')),
            _ => None,
        })?;
        let (to, from) = self.two_spaces(form)?;
        form.has("tile");
        let blocks = form.has("multicast::cluster");
        let signals = Self::completion(form)?;
        let reduce = if reduce {
            Some(form.need("an operation", |m| memory::is_update(m).then(|| m.to_owned()))?)
        } else {
            None
        };
        let load = from == Space::Global;
        let mut rest = form.ins.operands.iter();
        let mut next = || rest.next().ok_or_else(|| form.error("has too few operands"));
        let (first, second) = (next()?, next()?);
        let (shared, map, space) = if load { (first, second, to) } else { (second, first, from) };
        let Operand::Address { base, offset, rest: coordinates } = map else {
            return Err(form.error("expected `[map, {coordinates}]`"));
        };
        let [Operand::Vector(coordinates)] = coordinates.as_slice() else {
            return Err(form.error("expected `[map, {coordinates}]`"));
        };
        if coordinates.len() != rank || *offset != 0 {
            return Err(form.error(format!("takes {rank} coordinates")));
        }
        let map = self.source(base, Type::U64)?;
        let coordinates = coordinates.iter().map(|c| self.source(c, Type::S32)).collect::<Result<_>>()?;
        let shared = self.place(form, shared, space)?;
        let (barrier, blocks) = self.ending(form, rest, (signals, blocks, policy))?;
        Ok(Async::BulkTensor(BulkTensor { load, map, coordinates, shared, barrier, blocks, reduce }))
    }

    fn mbarrier(&mut self, form: &Form<'_, 'a>) -> Result<Option<Async>> {
        let what = form.need("an operation", |m| {
            matches!(
                m,
                "init"
                    | "inval"
                    | "expect_tx"
                    | "complete_tx"
                    | "arrive"
                    | "arrive_drop"
                    | "test_wait"
                    | "try_wait"
                    | "pending_count"
            )
            .then(|| m.to_owned())
        })?;
        let said = form.find(order);
        form.find(scope);
        let space = form.find(plain_space).unwrap_or(Space::Generic);
        let ops = form.ins.operands.as_slice();
        let (expect, parity) = (what.starts_with("arrive") && form.has("expect_tx"), form.has("parity"));
        if form.has("noComplete") {
            return Err(form.error("the emulator does not run `.noComplete`"));
        }
        form.ty()?;
        let u32 = Type::U32;
        Ok(Some(match (what.as_str(), ops) {
            ("init", [at, count]) => Async::Init { at: self.place(form, at, space)?, count: self.source(count, u32)? },
            ("inval", [at]) => Async::Invalidate { at: self.place(form, at, space)? },
            ("expect_tx", [at, n]) => Async::Expect { at: self.place(form, at, space)?, bytes: self.source(n, u32)? },
            ("complete_tx", [at, n]) => {
                Async::Complete { at: self.place(form, at, space)?, bytes: self.source(n, u32)? }
            }
            ("arrive" | "arrive_drop", _) => {
                let (state, rest) = match ops {
                    [Operand::Address { .. }, ..] => (None, ops),
                    [Operand::Sink, rest @ ..] => (None, rest),
                    [state, rest @ ..] => (Some(self.dest(state)?), rest),
                    [] => return Err(form.error("has no operands")),
                };
                let (at, number) = match rest {
                    [at] if !expect => (at, None),
                    [at, n] => (at, Some(self.source(n, u32)?)),
                    _ => return Err(form.error("has the wrong number of operands")),
                };
                let (count, expect) = if expect { (None, number) } else { (number, None) };
                let release = said != Some(super::op::Order::Relaxed);
                let at = self.place(form, at, space)?;
                Async::Arrive(Arrive { at, state, count, expect, drop: what == "arrive_drop", release })
            }
            ("test_wait" | "try_wait", [p, at, phase, ..]) if ops.len() <= 4 => {
                let waits = what == "try_wait";
                if ops.len() == 4 && !waits {
                    return Err(form.error("has too many operands"));
                }
                let phase = if parity {
                    Phase::Parity(self.source(phase, u32)?)
                } else {
                    Phase::State(self.source(phase, Type::B64)?)
                };
                let acquire = said != Some(super::op::Order::Relaxed);
                Async::Test { p: self.dest_pred(p)?, at: self.place(form, at, space)?, phase, waits, acquire }
            }
            ("pending_count", [d, state]) => {
                Async::PendingCount { d: self.dest(d)?, state: self.source(state, Type::B64)? }
            }
            _ => return Err(form.error("has the wrong number of operands")),
        }))
    }

    fn tensor_map(&mut self, form: &Form<'_, 'a>) -> Result<Option<Async>> {
        if form.has("cp_fenceproxy") {
            while form.find(|_| Some(())).is_some() {}
            let [to, from, _] = form.operands()?;
            return Ok(Some(Async::CopyMap { to: self.address(form, to)?.0, from: self.address(form, from)?.0 }));
        }
        form.has("replace");
        form.has("tile");
        let field = form.need("a field", Field::parse)?;
        let space = form.find(plain_space).unwrap_or(Space::Generic);
        form.has("b1024");
        let ty = form.ty()?;
        let (at, ordinal, value) = match form.ins.operands.as_slice() {
            [at, value] => (at, 0, value),
            [at, ordinal, value] => (at, Self::constant_operand(form, ordinal)?, value),
            _ => return Err(form.error("has the wrong number of operands")),
        };
        let (at, value) = (self.place(form, at, space)?, self.source(value, ty)?);
        Ok(Some(Async::Replace { at, field, ordinal, value }))
    }
}
