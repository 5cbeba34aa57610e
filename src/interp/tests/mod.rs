//! Tests of the interpreter. Kernels are written in TTIR here; what they should give is computed in Rust.

mod faults;
mod files;
mod kernels;
mod limits;
mod numbers;
mod ops;
mod promises;
mod races;
mod scaled;
mod undef;

use super::{Arg, BufferId, Memory, Report, RunOptions, run};
use crate::diag::Diagnostic;
use crate::ir::{FloatKind, Ir, Type};
use crate::source::SourceMap;

pub(super) fn parse(text: &str) -> Ir {
    let mut map = SourceMap::default();
    let file = map.add("test.ttir", None, text);
    match crate::ir::text::parser::parse_module(&map, file, &crate::ir::text::parser::ParseOptions::default()) {
        Ok(ir) => ir,
        Err(errors) => panic!("{errors:#?}\n{text}"),
    }
}

/// A module with one kernel `k`.
pub(super) fn module(params: &str, body: &str) -> Ir {
    parse(&format!("module {{\n  tt.func public @k({params}) {{\n{body}\n    tt.return\n  }}\n}}\n"))
}

pub(super) fn launch(ir: &Ir, grid: [u32; 3], args: &[Arg], memory: &mut Memory) -> Result<Report, Vec<Diagnostic>> {
    run(ir, "k", grid, args, memory, &RunOptions::default())
}

/// The only diagnostic of a launch that fails.
pub(super) fn fault(ir: &Ir, grid: [u32; 3], args: &[Arg], memory: &mut Memory) -> Diagnostic {
    let mut found = launch(ir, grid, args, memory).expect_err("the launch has a fault");
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

pub(super) fn f32() -> Type {
    Type::float(FloatKind::F32)
}

pub(super) fn i32() -> Type {
    Type::int(32)
}

/// The line of the diagnostic's primary label.
pub(super) fn line(d: &Diagnostic) -> Option<u32> {
    match d.place()? {
        crate::diag::Place::At { line, .. } => Some(*line),
        _ => None,
    }
}

/// A small generator for test data, the same on every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    /// A number in [-1, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.next() as f64 / f64::from(1u32 << 30) - 1.0
    }

    pub(super) fn units(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.unit()).collect()
    }
}

/// Evaluates elementwise code on tensors. `a` and `b` are in scope with type `ty`, and `result` is what the code
/// defines.
pub(super) fn elementwise(ty: &str, elem: Type, out_ty: &str, out: Type, code: &str, a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let pointers = |name: &str, t: &str| {
        format!(
            "    %{name}s = tt.splat %{name}_ptr : !tt.ptr<{t}> -> tensor<{n}x!tt.ptr<{t}>>
    %{name}p = tt.addptr %{name}s, %r : tensor<{n}x!tt.ptr<{t}>>, tensor<{n}xi32>\n"
        )
    };
    let body = format!(
        "    %r = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>\n{}{}{}
    %a = tt.load %ap : tensor<{n}x!tt.ptr<{ty}>>
    %b = tt.load %bp : tensor<{n}x!tt.ptr<{ty}>>
    {}
    tt.store %op, %result : tensor<{n}x!tt.ptr<{out_ty}>>",
        pointers("a", ty),
        pointers("b", ty),
        pointers("o", out_ty),
        code.replace('T', &format!("tensor<{n}x{ty}>")).replace('O', &format!("tensor<{n}x{out_ty}>")),
    );
    let ir = module(&format!("%a_ptr: !tt.ptr<{ty}>, %b_ptr: !tt.ptr<{ty}>, %o_ptr: !tt.ptr<{out_ty}>"), &body);
    let mut memory = Memory::new();
    let size = elem.bit_width().unwrap_or(8).div_ceil(8) as usize;
    let bytes = |v: &[u64]| v.iter().flat_map(|x| x.to_le_bytes()[..size].to_vec()).collect::<Vec<u8>>();
    let (a, b) = (memory.add("a", elem, &bytes(a)), memory.add("b", elem, &bytes(b)));
    let out_size = out.bit_width().unwrap_or(8).div_ceil(8) as usize;
    let o = memory.add_uninit("o", out, n * out_size);
    let args = [Arg::Ptr(a, 0), Arg::Ptr(b, 0), Arg::Ptr(o, 0)];
    if let Err(e) = launch(&ir, [1, 1, 1], &args, &mut memory) {
        panic!("{e:#?}");
    }
    words(&memory, o, out_size)
}

pub(super) fn words(memory: &Memory, id: BufferId, size: usize) -> Vec<u64> {
    let le = |c: &[u8]| c.iter().rev().fold(0, |acc, &b| acc << 8 | u64::from(b));
    memory.bytes(id).chunks(size).map(le).collect()
}
