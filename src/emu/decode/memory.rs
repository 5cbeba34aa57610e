//! Loads, stores, atomics and fences ("PTX ISA, ld", "st", "atom", "red", "membar/fence", "prefetch", "createpolicy").
//!
//! Cache operators, eviction priorities and prefetch sizes say how fast an access is, not what it does: they are taken
//! and dropped, with the operand of a cache policy.

use super::context::Cx;
use super::error::Result;
use super::form::Form;
use super::moves::plain_space;
use super::op::{Atomic, Load, Op, Order, Scope, Space, Store, Update};
use crate::emu::num::{self, Flags, Rounding, Type};

/// Modifiers that change no value.
pub(super) fn is_hint(name: &str) -> bool {
    matches!(name, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "nc" | "weak" | "unified")
        || name.starts_with("L1::")
        || name.starts_with("L2::") && name != "L2::cache_hint"
        || name.starts_with("level::")
}

pub(super) fn order(name: &str) -> Option<Order> {
    Some(match name {
        "relaxed" | "volatile" | "mmio" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" | "sc" => Order::AcquireRelease,
        _ => return None,
    })
}

pub(super) fn scope(name: &str) -> Option<Scope> {
    Some(match name {
        "cta" => Scope::Cta,
        "cluster" => Scope::Cluster,
        "gpu" | "gl" => Scope::Gpu,
        "sys" => Scope::Sys,
        _ => return None,
    })
}

fn vector(name: &str) -> Option<usize> {
    Some(match name {
        "v2" => 2,
        "v4" => 4,
        "v8" => 8,
        _ => return None,
    })
}

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn memory(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        Ok(Some(match form.ins.opcode {
            "ld" => self.load(form)?,
            "st" => self.store(form)?,
            "atom" => self.atomic(form, true)?,
            "red" => self.atomic(form, false)?,
            "membar" => {
                let scope = form.need("a scope", scope)?;
                self.narrow_scopes |= scope < Scope::Gpu;
                Op::Fence { order: Order::AcquireRelease, scope }
            }
            "fence" => self.fence(form)?,
            "prefetch" | "prefetchu" | "discard" | "applypriority" => {
                while form.find(|_| Some(())).is_some() {}
                Op::Nop
            }
            "createpolicy" => {
                while form.find(|_| Some(())).is_some() {}
                let Some(d) = form.ins.operands.first() else { return Err(form.error("has no operands")) };
                // A policy only goes into cache hints, which are dropped.
                Op::Move { d: self.dest(d)?, a: self.bits(0) }
            }
            _ => return Ok(None),
        }))
    }

    /// Takes the modifiers that only concern caches. Returns whether a cache policy is the last operand.
    pub(super) fn hints(form: &Form<'_, 'a>) -> bool {
        let policy = form.has("L2::cache_hint");
        while form.find(|m| is_hint(m).then_some(())).is_some() {}
        policy
    }

    /// The space of an address: what the instruction says, or what its variable is in.
    fn space_of(&self, form: &Form<'_, 'a>, said: Option<Space>, named: Option<Space>) -> Result<Space> {
        Ok(match (said, named) {
            (Some(Space::KernelParam), Some(Space::CallParam)) => Space::CallParam,
            (Some(Space::KernelParam), None | Some(Space::KernelParam)) if self.entry => Space::KernelParam,
            (Some(Space::KernelParam), _) => return Err(form.error("the address is no parameter of this function")),
            (Some(said), _) => said,
            // A generic access to a variable by its name.
            (None, Some(named)) => named,
            (None, None) => Space::Generic,
        })
    }

    /// Notes the narrowest access, which decides how finely the detectors look.
    fn granule(&mut self, ty: Type) {
        let bytes = (ty.bits() / 8).clamp(1, 4);
        self.narrowest = self.narrowest.min(bytes);
    }

    fn load(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let policy = Self::hints(form);
        let order = form.find(order).unwrap_or(Order::Weak);
        let scope = form.find(scope).unwrap_or(Scope::Sys);
        let said = form.find(plain_space);
        let count = form.find(vector).unwrap_or(1);
        let ty = form.type_in_memory()?;
        self.granule(ty);
        let expected = if policy { 3 } else { 2 };
        let (Some(d), Some(from)) = (form.ins.operands.first(), form.ins.operands.get(1)) else {
            return Err(form.error("takes a result and an address"));
        };
        if form.ins.operands.len() != expected {
            return Err(form.error("has the wrong number of operands"));
        }
        let (address, named) = self.address(form, from)?;
        let mut to = vec![];
        let mut to_bits = 64;
        for part in Self::elements(d) {
            let (slot, bits) = self.dest_typed(part)?;
            to.push(slot);
            to_bits = to_bits.min(bits);
        }
        if to.len() != count || ty.bits() > 64 {
            return Err(form.error("the result does not fit the type"));
        }
        let space = self.space_of(form, said, named)?;
        self.communicates |= order != Order::Weak && space != Space::Shared;
        self.narrow_scopes |= order != Order::Weak && space != Space::Shared && scope < Scope::Gpu;
        Ok(Op::Load(Box::new(Load { space, order, scope, ty, to, to_bits, address })))
    }

    fn store(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let policy = Self::hints(form);
        let order = form.find(order).unwrap_or(Order::Weak);
        let scope = form.find(scope).unwrap_or(Scope::Sys);
        if form.has("async") {
            return Err(form.error("the emulator does not run this instruction"));
        }
        let said = form.find(plain_space);
        let count = form.find(vector).unwrap_or(1);
        let ty = form.type_in_memory()?;
        self.granule(ty);
        let (Some(to), Some(from)) = (form.ins.operands.first(), form.ins.operands.get(1)) else {
            return Err(form.error("takes an address and a value"));
        };
        if form.ins.operands.len() != if policy { 3 } else { 2 } {
            return Err(form.error("has the wrong number of operands"));
        }
        let (address, named) = self.address(form, to)?;
        let from = Self::elements(from).iter().map(|x| self.source(x, ty)).collect::<Result<Vec<_>>>()?;
        if from.len() != count || ty.bits() > 64 {
            return Err(form.error("the value does not fit the type"));
        }
        let space = self.space_of(form, said, named)?;
        self.communicates |= order != Order::Weak && space != Space::Shared;
        self.narrow_scopes |= order != Order::Weak && space != Space::Shared && scope < Scope::Gpu;
        Ok(Op::Store(Box::new(Store { space, order, scope, ty, from, address })))
    }

    fn atomic(&mut self, form: &Form<'_, 'a>, result: bool) -> Result<Op> {
        let policy = Self::hints(form);
        let order = form.find(order).unwrap_or(Order::Relaxed);
        let scope = form.find(scope).unwrap_or(Scope::Gpu);
        let space = form.find(plain_space).unwrap_or(Space::Generic);
        if form.has("async") {
            return Err(form.error("the emulator does not run this instruction"));
        }
        let count = form.find(vector).unwrap_or(1);
        let name = form.need("an operation", |m| is_update(m).then(|| m.to_owned()))?;
        form.has("noftz");
        let ty = form.type_in_memory()?;
        self.granule(ty);
        let mut rest = form.ins.operands.iter();
        let mut next = || rest.next().ok_or_else(|| form.error("has too few operands"));
        let to = if result { Self::elements(next()?).to_vec() } else { vec![] };
        let to = to.iter().map(|x| self.dest(x)).collect::<Result<Vec<_>>>()?;
        let (address, named) = self.address(form, next()?)?;
        let from = Self::elements(next()?).iter().map(|x| self.source(x, ty)).collect::<Result<Vec<_>>>()?;
        let swap = if name == "cas" { Some(self.source(next()?, ty)?) } else { None };
        if policy {
            next()?;
        }
        if rest.next().is_some() || from.len() != count {
            return Err(form.error("has the wrong number of operands"));
        }
        let space = self.space_of(form, Some(space).filter(|s| *s != Space::Generic), named)?;
        self.communicates |= space != Space::Shared;
        self.narrow_scopes |= space != Space::Shared && scope < Scope::Gpu;
        // Sums of f32 flush subnormal numbers in global memory, and keep them in shared memory ("PTX ISA, atom").
        let flush = ty == Type::F32;
        let update = update(&name, ty, flush).ok_or_else(|| form.error("there is no such operation of this type"))?;
        let in_shared = update_in_shared(&name, ty);
        Ok(Op::Atomic(Box::new(Atomic { space, order, scope, ty, to, from, swap, address, update, in_shared })))
    }

    fn fence(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        if form.has("proxy") {
            if form.has("async") {
                // The spaces that a proxy fence may name, of which the emulator joins all.
                while form.find(plain_space).is_some() {}
                return Ok(Op::FenceAsync);
            }
            if form.has("alias") {
                return Ok(Op::Nop);
            }
            if form.has("tensormap::generic") {
                form.find(order);
                form.find(scope);
                let map = match form.ins.operands.as_slice() {
                    [] => None,
                    [at, ..] => Some(self.address(form, at)?.0),
                };
                return Ok(Op::FenceTensorMap { map });
            }
            return Err(form.unknown());
        }
        if form.has("mbarrier_init") {
            form.find(order);
            let scope = form.need("a scope", scope)?;
            return Ok(Op::Fence { order: Order::Release, scope });
        }
        let order = form.find(order).unwrap_or(Order::AcquireRelease);
        let scope = form.need("a scope", scope)?;
        self.communicates |= scope > Scope::Cta;
        self.narrow_scopes |= scope < Scope::Gpu;
        Ok(Op::Fence { order, scope })
    }
}

pub(super) fn is_update(name: &str) -> bool {
    matches!(name, "and" | "or" | "xor" | "cas" | "exch" | "add" | "inc" | "dec" | "min" | "max")
}

/// What an atomic operation makes of the old value and the operands.
pub(super) fn update(name: &str, ty: Type, flush: bool) -> Option<Update> {
    let flags = Flags { ftz: flush, ..Flags::default() };
    let float = ty.float().is_some();
    Some(match name {
        "and" if !float => Box::new(|old, b, _| old & b),
        "or" if !float => Box::new(|old, b, _| old | b),
        "xor" if !float => Box::new(|old, b, _| old ^ b),
        "exch" => Box::new(|_, b, _| b),
        "cas" => Box::new(|old, b, c| if old == b { c } else { old }),
        "add" if ty == Type::F64 => Box::new(|old, b, _| num::atomic_add_double(old, b)),
        "add" => Box::new(move |old, b, _| num::add(ty, old, b, Rounding::Nearest, flags)),
        "inc" if ty == Type::U32 => Box::new(|old, b, _| if old >= b { 0 } else { old + 1 }),
        "dec" if ty == Type::U32 => Box::new(|old, b, _| if old == 0 || old > b { b } else { old - 1 }),
        "min" => Box::new(move |old, b, _| num::min(ty, old, b, Flags::default())),
        "max" => Box::new(move |old, b, _| num::max(ty, old, b, Flags::default())),
        _ => return None,
    })
}

/// The operation in shared memory, where it differs. `ptxas` writes a loop for f64, with an addition of its own.
fn update_in_shared(name: &str, ty: Type) -> Option<Update> {
    match (name, ty) {
        ("add", Type::F32) => update(name, ty, false),
        ("add", Type::F64) => {
            Some(Box::new(move |old, b, _| num::add(ty, b, old, Rounding::Nearest, Flags::default())))
        }
        _ => None,
    }
}
