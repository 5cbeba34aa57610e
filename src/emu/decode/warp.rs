//! What the lanes of a warp and the warps of a block do together ("PTX ISA, Parallel Synchronization and Communication
//! Instructions").

use super::context::Cx;
use super::error::Result;
use super::form::Form;
use super::memory::order;
use super::op::{Barrier, Op, Order, Reduce, Shuffle, Target, Vote};
use super::program::Pred;
use crate::emu::num::{self, Flags, Rounding, Type};
use crate::emu::ptx::syntax::Operand;

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn together(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        Ok(Some(match form.ins.opcode {
            "shfl" => self.shuffle(form)?,
            "vote" => self.vote(form)?,
            "match" => self.matched(form)?,
            "redux" => self.redux(form)?,
            "activemask" => {
                form.ty()?;
                let [d] = form.operands()?;
                Op::ActiveMask { d: self.dest(d)? }
            }
            "elect" => {
                self.sync(form)?;
                let [d, members] = form.operands()?;
                let (d, p) = self.pair(form, d)?;
                let Some(p) = p else { return Err(form.error("the result is a pair, `d|p`")) };
                Op::Elect { d, p, members: self.source(members, Type::B32)? }
            }
            "bar" | "barrier" => self.barrier(form)?,
            _ => return Ok(None),
        }))
    }

    fn sync(&self, form: &Form<'_, 'a>) -> Result<()> {
        if form.has("sync") { Ok(()) } else { Err(form.error("`.sync` is missing")) }
    }

    /// `d` or `d|p`.
    fn pair(&mut self, form: &Form<'_, 'a>, operand: &Operand<'a>) -> Result<(super::program::Reg, Option<Pred>)> {
        match operand {
            Operand::Pair(d, p) => Ok((self.dest(d)?, Some(self.dest_pred(p)?))),
            Operand::Name { .. } | Operand::Sink => Ok((self.dest(operand)?, None)),
            _ => Err(form.error("the result is no register")),
        }
    }

    fn shuffle(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        self.sync(form)?;
        let mode = form.need("a mode", |m| {
            Some(match m {
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "bfly" => Shuffle::Butterfly,
                "idx" => Shuffle::Index,
                _ => return None,
            })
        })?;
        form.ty()?;
        let [d, a, b, c, members] = form.operands()?;
        let n = Type::B32;
        let (a, b, c) = (self.source(a, n)?, self.source(b, n)?, self.source(c, n)?);
        let members = self.source(members, n)?;
        let (d, p) = self.pair(form, d)?;
        Ok(Op::Shuffle { d, p, a, b, c, members, mode })
    }

    fn vote(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        self.sync(form)?;
        let mode = form.need("a mode", |m| {
            Some(match m {
                "all" => Vote::All,
                "any" => Vote::Any,
                "uni" => Vote::Uniform,
                "ballot" => Vote::Ballot,
                _ => return None,
            })
        })?;
        form.ty()?;
        let [d, p, members] = form.operands()?;
        let (p, members) = (self.pred(p)?, self.source(members, Type::B32)?);
        let d = match mode {
            Vote::Ballot => Target::Reg(self.dest(d)?),
            _ => Target::Pred(self.dest_pred(d)?),
        };
        Ok(Op::Vote { d, p, members, mode })
    }

    fn matched(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let all = form.has("all");
        if !all && !form.has("any") {
            return Err(form.error("`.any` or `.all` is missing"));
        }
        self.sync(form)?;
        let ty = form.ty()?;
        let [d, a, members] = form.operands()?;
        let (a, members) = (self.source(a, ty)?, self.source(members, Type::B32)?);
        let (d, p) = self.pair(form, d)?;
        Ok(Op::Match { d, p, a, members, all })
    }

    fn redux(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        self.sync(form)?;
        let name = form.need("an operation", |m| {
            matches!(m, "add" | "min" | "max" | "and" | "or" | "xor").then(|| m.to_owned())
        })?;
        let flags = form.flags();
        let ty = form.ty()?;
        const PLAIN: Flags =
            Flags { ftz: false, sat: false, satfinite: false, relu: false, nan: false, xorsign_abs: false };
        if flags != PLAIN || ty.float().is_some() {
            return Err(form.error("the emulator does not run `redux` of floats"));
        }
        let f: fn(u64, u64) -> u64 = match (name.as_str(), ty.is_signed()) {
            ("add", _) => |a, b| num::add(Type::U32, a, b, Rounding::Nearest, PLAIN),
            ("min", true) => |a, b| num::min(Type::S32, a, b, PLAIN),
            ("min", false) => |a, b| num::min(Type::U32, a, b, PLAIN),
            ("max", true) => |a, b| num::max(Type::S32, a, b, PLAIN),
            ("max", false) => |a, b| num::max(Type::U32, a, b, PLAIN),
            ("and", _) => |a, b| a & b,
            ("or", _) => |a, b| a | b,
            _ => |a, b| a ^ b,
        };
        let [d, a, members] = form.operands()?;
        let (a, members) = (self.source(a, ty)?, self.source(members, Type::B32)?);
        Ok(Op::Redux { f, d: self.dest(d)?, a, members })
    }

    fn barrier(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        if form.has("warp") {
            self.sync(form)?;
            let [members] = form.operands()?;
            return Ok(Op::WarpBarrier { members: self.source(members, Type::B32)? });
        }
        if form.has("cluster") {
            return self.cluster_barrier(form);
        }
        form.has("cta");
        let aligned = form.ins.opcode == "bar" || form.has("aligned");
        let mut operands = form.ins.operands.as_slice();
        let waits = !form.has("arrive");
        let reduce = if form.has("red") {
            let op = form.need("a reduction", |m| {
                Some(match m {
                    "popc" => Reduce::Popc,
                    "and" => Reduce::And,
                    "or" => Reduce::Or,
                    _ => return None,
                })
            })?;
            form.ty()?;
            let [d, rest @ .., p] = operands else { return Err(form.error("has too few operands")) };
            operands = rest;
            let p = self.pred(p)?;
            let d = match op {
                Reduce::Popc => Target::Reg(self.dest(d)?),
                _ => Target::Pred(self.dest_pred(d)?),
            };
            Some((op, p, d))
        } else {
            if waits {
                self.sync(form)?;
            }
            None
        };
        let (id, threads) = match operands {
            [id] => (id, None),
            [id, threads] => (id, Some(self.source(threads, Type::U32)?)),
            _ => return Err(form.error("has the wrong number of operands")),
        };
        if !waits && threads.is_none() {
            return Err(form.error("must say how many threads take part"));
        }
        let id = self.source(id, Type::U32)?;
        Ok(Op::Barrier(Box::new(Barrier { id, threads, waits, aligned, reduce })))
    }

    fn cluster_barrier(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let arrive = form.has("arrive");
        if !arrive && !form.has("wait") {
            return Err(form.error("`.arrive` or `.wait` is missing"));
        }
        form.has("aligned");
        let order = form.find(order);
        Ok(if arrive {
            Op::ClusterArrive { release: order != Some(Order::Relaxed) }
        } else {
            Op::ClusterWait { acquire: true }
        })
    }
}
