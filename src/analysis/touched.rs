//! Which memory of its caller a kernel reads and writes, for each of its parameters.
//!
//! 1. An address comes from a parameter if a chain of operations leads from one to the other: arithmetic, control flow,
//!    calls. A loaded value ends the chain.
//! 2. What an operation does to memory is said by its table entry. It does that to all pointers and descriptors among
//!    its operands; code in another language does it to whatever it is handed.
//! 3. An address that comes from no parameter was read from memory or made from a number. It leads elsewhere.
//!
//! The answer errs on the side of too much: what it does not name does not happen, as long as a kernel computes no
//! address of one buffer from that of another.
//!
//! Example: in `store(p + load(q + i), x)` the kernel reads what `q` points to, and writes what `p` points to.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::value_edges;
use crate::ir::core::{Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::enums::CacheModifier;
use crate::ir::dialects::memory::Class;
use crate::ir::dialects::tt::tt::{Call, Load, Return};
use crate::ir::dialects::ttng::ttng::TensormapCreate;
use crate::ir::dialects::{Classes, Effects, TtOp, TtgOp, TtngOp};

/// Whether memory may be read or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    pub reads: bool,
    pub writes: bool,
}

impl Touch {
    fn add(&mut self, other: Touch) {
        self.reads |= other.reads;
        self.writes |= other.writes;
    }
}

/// What a kernel does to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// To the memory that each parameter of its function leads to.
    pub parameters: Vec<Touch>,
    /// To memory whose address comes from no parameter.
    pub elsewhere: Touch,
}

/// Finds out what a kernel and the functions that it calls do.
#[must_use]
pub fn of_kernel(ir: &Ir, kernel: Op) -> Touched {
    let Some(entry) = ir.body(kernel, 0) else { return Touched::default() };
    let graph = Graph::of(ir);
    let mut touched = Touched { parameters: vec![Touch::default(); ir.args(entry).len()], ..Touched::default() };
    let mut known = BTreeSet::new();
    for (&arg, touch) in ir.args(entry).iter().zip(&mut touched.parameters) {
        // A number that becomes an address leads elsewhere, as nobody sees it as one.
        let touch = if leads_to_memory(ir.ty(arg)) { touch } else { &mut touched.elsewhere };
        if holds_address(ir.ty(arg)) {
            for value in graph.reachable(&[arg]) {
                known.insert(value);
                touch.add(graph.touches.get(&value).copied().unwrap_or_default());
            }
        }
    }
    for value in graph.reachable(&graph.own) {
        known.insert(value);
    }
    let foreign = graph.reachable(&graph.foreign);
    let nowhere = graph.touches.keys().filter(|v| !known.contains(*v) && leads_to_memory(ir.ty(**v))).copied();
    for value in foreign.into_iter().chain(nowhere) {
        touched.elsewhere.add(graph.touches.get(&value).copied().unwrap_or_default());
    }
    touched
}

/// The addresses, and tensors of them, that may lead to memory that a kernel of the module writes: those that come from
/// a parameter whose memory it writes. Where one writes elsewhere, these are all addresses.
#[must_use]
pub fn written(ir: &Ir) -> Written {
    let kernels: Vec<Op> = ir.functions().into_iter().filter(|&f| !ir.is_private(f)).collect();
    if kernels.iter().any(|&kernel| of_kernel(ir, kernel).elsewhere.writes) {
        return Written::Any;
    }
    let graph = Graph::of(ir);
    let parameters = kernels.iter().filter_map(|&kernel| ir.body(kernel, 0)).flat_map(|entry| ir.args(entry));
    let mut found = BTreeSet::new();
    for &root in parameters.chain(&graph.own) {
        let derived = graph.reachable(&[root]);
        if derived.iter().any(|value| graph.touches.get(value).is_some_and(|touch| touch.writes)) {
            found.extend(derived);
        }
    }
    Written::These(found)
}

/// Addresses of memory that is written.
pub enum Written {
    Any,
    These(BTreeSet<Value>),
}

impl Written {
    #[must_use]
    pub fn has(&self, address: Value) -> bool {
        match self {
            Written::Any => true,
            Written::These(addresses) => addresses.contains(&address),
        }
    }
}

/// Whether a module may learn that another program has written memory: it uses what atomic operations give, or reads
/// volatile memory.
#[must_use]
pub fn may_wait(ir: &Ir) -> bool {
    ir.all_ops(ir.module()).into_iter().any(|op| {
        let atomic = ir.is(op, TtOp::AtomicRmw) || ir.is(op, TtOp::AtomicCas);
        let volatile = Load::of(ir, op).is_some_and(|l| l.isVolatile(ir) || l.cache(ir) == Some(CacheModifier::Cv));
        volatile || atomic && ir.results(op).iter().any(|&r| ir.has_uses(r))
    })
}

/// Where values go, and what is done to the memory that they lead to.
#[derive(Default)]
struct Graph {
    next: BTreeMap<Value, Vec<Value>>,
    touches: BTreeMap<Value, Touch>,
    /// What was read from memory and may be an address.
    foreign: Vec<Value>,
    /// Addresses of memory that is the kernel's own.
    own: Vec<Value>,
    /// The address of each tensor for which the kernel writes a descriptor, and where it writes that.
    maps: Vec<(Value, Value)>,
}

impl Graph {
    fn of(ir: &Ir) -> Graph {
        let mut graph = Graph::default();
        for func in ir.functions() {
            for (from, to) in value_edges(ir, func) {
                graph.edge(from, to);
            }
            for op in ir.all_ops(func) {
                graph.add(ir, op);
            }
        }
        graph.link_maps();
        graph
    }

    /// A descriptor that is read from the kernel's own memory leads to the tensors of those that were written there.
    fn link_maps(&mut self) {
        let own: Vec<(Value, Vec<Value>)> = self.own.iter().map(|&v| (v, self.reachable(&[v]))).collect();
        for (tensor, place) in std::mem::take(&mut self.maps) {
            for (memory, _) in own.iter().filter(|(_, derived)| derived.contains(&place)) {
                self.edge(tensor, *memory);
            }
        }
    }

    fn edge(&mut self, from: Value, to: Value) {
        self.next.entry(from).or_default().push(to);
    }

    fn add(&mut self, ir: &Ir, op: Op) {
        if let Some(call) = Call::of(ir, op) {
            self.add_call(ir, call);
            return;
        }
        if ir.is(op, TtgOp::GlobalScratchAlloc) {
            self.own.extend(ir.results(op));
            return;
        }
        if let Some(create) = TensormapCreate::of(ir, op) {
            self.maps.push((create.global_address(ir), create.desc_ptr(ir)));
            return;
        }
        // Where control flow hands values on is known already.
        if ir.is(op, TtngOp::TensormapFenceproxyAcquire) || ir.kind(op).belongs(Classes::CONTROL_FLOW) {
            return;
        }
        let does = global_touch(ir, op);
        let foreign_code = ir.is(op, TtOp::ElementwiseInlineAsm) || ir.is(op, TtOp::ExternElementwise);
        // Such code may read through an address even if it says that it has no effects.
        let does = if foreign_code { Touch { reads: true, ..does } } else { does };
        let touching = does != Touch::default();
        for &operand in ir.operands(op) {
            let ty = ir.ty(operand);
            if touching && (leads_to_memory(ty) || foreign_code && holds_address(ty)) {
                self.touches.entry(operand).or_default().add(does);
            }
            // A number becomes an address where the code says so; elsewhere it is an index.
            let converts = foreign_code || ir.is(op, TtOp::IntToPtr);
            let hands_on = |result: Type| {
                holds_address(ty)
                    && holds_address(result)
                    && (converts || leads_to_memory(ty) || !leads_to_memory(result))
            };
            for &result in ir.results(op).iter().filter(|_| !touching || foreign_code) {
                if hands_on(ir.ty(result)) {
                    self.edge(operand, result);
                }
            }
        }
        if touching && !foreign_code {
            self.foreign.extend(ir.results(op).iter().filter(|&&r| holds_address(ir.ty(r))));
        }
    }

    /// Arguments go to the callee's parameters, and what it returns to the call's results.
    fn add_call(&mut self, ir: &Ir, call: Call) {
        let Some(callee) = call.callee(ir).and_then(|name| ir.function(name)) else { return };
        let Some(body) = ir.body(callee, 0) else { return };
        for (&from, &to) in ir.operands(call.0).iter().zip(ir.args(body)) {
            self.edge(from, to);
        }
        for end in ir.all_ops(callee).into_iter().filter(|&op| Return::of(ir, op).is_some()) {
            for (&from, &to) in ir.operands(end).iter().zip(ir.results(call.0)) {
                self.edge(from, to);
            }
        }
    }

    fn reachable(&self, from: &[Value]) -> Vec<Value> {
        let mut seen: BTreeSet<Value> = from.iter().copied().collect();
        let mut open = from.to_vec();
        while let Some(value) = open.pop() {
            for &next in self.next.get(&value).map_or(&[][..], |n| n) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen.into_iter().collect()
    }
}

/// What an operation does to global memory.
pub(crate) fn global_touch(ir: &Ir, op: Op) -> Touch {
    let spec = ir.spec(op);
    let shared = |write: bool| {
        let touches = spec.operands.iter().filter_map(|o| o.memory.touch());
        touches.into_iter().any(|t| t.class == Class::Data && t.write == write)
    };
    match (shared(true), shared(false)) {
        // What fills shared memory comes from global memory, and what is read there goes to it.
        (true, false) => Touch { reads: true, writes: false },
        (false, true) => Touch { reads: ir.is(op, TtngOp::AsyncTmaReduce), writes: true },
        _ => match spec.effects {
            Effects::Pure | Effects::Alloc | Effects::Recursive => Touch::default(),
            Effects::Read => Touch { reads: true, writes: false },
            Effects::Write => Touch { reads: false, writes: true },
            Effects::ReadWrite | Effects::Unknown => Touch { reads: true, writes: true },
        },
    }
}

/// Whether a value of this type is an address, or a descriptor of a tensor.
pub(crate) fn leads_to_memory(ty: Type) -> bool {
    match ty.data() {
        TypeData::Pointer { .. } | TypeData::TensorDesc { .. } => true,
        TypeData::Tensor(t) => leads_to_memory(t.elem),
        _ => false,
    }
}

/// Whether a value of this type may hold an address, as one or as an integer of as many bits.
fn holds_address(ty: Type) -> bool {
    match ty.data() {
        TypeData::Int(width) | TypeData::SignedInt { width, .. } => *width >= 64,
        TypeData::Tensor(t) => holds_address(t.elem),
        _ => leads_to_memory(ty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parser::{ParseOptions, parse_module};
    use crate::source::SourceMap;

    /// `r`, `w`, `rw` or `-` for each parameter, and behind a bar for what lies elsewhere.
    fn of(text: &str) -> String {
        let mut sources = SourceMap::default();
        let file = sources.add("k.ttir", None, text);
        let ir = parse_module(&sources, file, &ParseOptions::default()).unwrap();
        let touched = of_kernel(&ir, ir.function("k").unwrap());
        let word = |t: &Touch| match (t.reads, t.writes) {
            (false, false) => "-",
            (true, false) => "r",
            (false, true) => "w",
            (true, true) => "rw",
        };
        let all: Vec<&str> = touched.parameters.iter().map(word).collect();
        format!("{} | {}", all.join(" "), word(&touched.elsewhere))
    }

    #[test]
    fn addresses_are_followed_through_arithmetic_loops_and_calls() {
        let text = r"module {
  tt.func private @put(%p: !tt.ptr<f32>, %x: f32) attributes {noinline = true} {
    tt.store %p, %x : !tt.ptr<f32>
    tt.return
  }
  tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32, %unused: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
      %x = tt.load %p : !tt.ptr<f32>
      %y = tt.addptr %c, %i : !tt.ptr<f32>, i32
      tt.call @put(%y, %x) : (!tt.ptr<f32>, f32) -> ()
      %p1 = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %q1 = tt.addptr %q, %i : !tt.ptr<f32>, i32
      scf.yield %p1, %q1 : !tt.ptr<f32>, !tt.ptr<f32>
    }
    %one = arith.constant 1.0 : f32
    %z = tt.atomic_rmw fadd, acq_rel, gpu, %r#1, %one : (!tt.ptr<f32>, f32) -> f32
    tt.return
  }
}";
        assert_eq!(of(text), "r rw w - - | -");
    }

    #[test]
    fn an_index_that_was_loaded_is_no_address() {
        let text = r"module {
  tt.func public @k(%p: !tt.ptr<f32>, %q: !tt.ptr<i64>, %x: f32) {
    %i = tt.load %q : !tt.ptr<i64>
    %a = tt.addptr %p, %i : !tt.ptr<f32>, i64
    tt.store %a, %x : !tt.ptr<f32>
    tt.return
  }
}";
        assert_eq!(of(text), "w r - | -");
    }

    #[test]
    fn addresses_from_memory_and_from_numbers_lead_elsewhere() {
        let text = r"module {
  tt.func public @k(%table: !tt.ptr<i64>, %address: i64, %x: f32) {
    %i = tt.load %table : !tt.ptr<i64>
    %a = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
    tt.store %a, %x : !tt.ptr<f32>
    %b = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
    %y = tt.load %b : !tt.ptr<f32>
    tt.return
  }
}";
        assert_eq!(of(text), "r - - | rw");
        // Also where the address may be that of a parameter.
        let text = r"module {
  tt.func public @k(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %either: i1, %x: f32) {
    %i = tt.load %table : !tt.ptr<i64>
    %a = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
    %q = arith.select %either, %p, %a : !tt.ptr<f32>
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
}";
        assert_eq!(of(text), "r w - - | w");
    }

    #[test]
    fn descriptors_lead_to_their_tensors() {
        let text = r"module {
  tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %d0: i32, %d1: i32, %p: !tt.ptr<f16>, %m: i32, %s: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i64
    %t = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
    %e = tt.make_tensor_descriptor %p, [%m, %m], [%s, %c1] : <f16>, <64x32xf16>
    tt.descriptor_store %e[%c0, %c0], %t : !tt.tensordesc<64x32xf16>, tensor<64x32xf16>
    tt.return
  }
}";
        assert_eq!(of(text), "r - - w - - | -");
    }
}
