//! Whole kernels, compared with references in f64.

use super::*;

/// Row-wise softmax of an f32 matrix, where each program takes a row.
pub(in crate::interp) fn softmax(n: usize) -> Ir {
    module(
        "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %cols: i32",
        &format!(
            "    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %cols : i32
    %r = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
    %c = tt.splat %cols : i32 -> tensor<{n}xi32>
    %mask = arith.cmpi slt, %r, %c : tensor<{n}xi32>
    %xr = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<{n}x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<{n}x!tt.ptr<f32>>, tensor<{n}xi32>
    %inf = arith.constant dense<0xFF800000> : tensor<{n}xf32>
    %v = tt.load %xp, %mask, %inf : tensor<{n}x!tt.ptr<f32>>
    %m = \"tt.reduce\"(%v) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %g = arith.maxnumf %a, %b : f32
      tt.reduce.return %g : f32
    }}) : (tensor<{n}xf32>) -> f32
    %ms = tt.splat %m : f32 -> tensor<{n}xf32>
    %d = arith.subf %v, %ms : tensor<{n}xf32>
    %e = math.exp %d : tensor<{n}xf32>
    %s = \"tt.reduce\"(%e) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %g = arith.addf %a, %b : f32
      tt.reduce.return %g : f32
    }}) : (tensor<{n}xf32>) -> f32
    %ss = tt.splat %s : f32 -> tensor<{n}xf32>
    %q = arith.divf %e, %ss : tensor<{n}xf32>
    %yr = tt.addptr %y, %start : !tt.ptr<f32>, i32
    %ys = tt.splat %yr : !tt.ptr<f32> -> tensor<{n}x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %r : tensor<{n}x!tt.ptr<f32>>, tensor<{n}xi32>
    tt.store %yp, %q, %mask : tensor<{n}x!tt.ptr<f32>>"
        ),
    )
}

/// C = A · B of f16 matrices. Their sizes are multiples of the block, and the sums are in f32.
pub(in crate::interp) fn matmul(block: usize, k_block: usize) -> Ir {
    let (b, k) = (block, k_block);
    let text = "    %cb = arith.constant BB : i32
    %c0 = arith.constant 0 : i32
    %ck = arith.constant KK : i32
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %m0 = arith.muli %pm, %cb : i32
    %n0 = arith.muli %pn, %cb : i32
    %rb = tt.make_range {end = BB : i32, start = 0 : i32} : tensor<BBxi32>
    %rk = tt.make_range {end = KK : i32, start = 0 : i32} : tensor<KKxi32>
    %m0s = tt.splat %m0 : i32 -> tensor<BBxi32>
    %n0s = tt.splat %n0 : i32 -> tensor<BBxi32>
    %rm = arith.addi %m0s, %rb : tensor<BBxi32>
    %rn = arith.addi %n0s, %rb : tensor<BBxi32>
    %rm2 = tt.expand_dims %rm {axis = 1 : i32} : tensor<BBxi32> -> tensor<BBx1xi32>
    %rn2 = tt.expand_dims %rn {axis = 0 : i32} : tensor<BBxi32> -> tensor<1xBBxi32>
    %ka = tt.expand_dims %rk {axis = 0 : i32} : tensor<KKxi32> -> tensor<1xKKxi32>
    %kb = tt.expand_dims %rk {axis = 1 : i32} : tensor<KKxi32> -> tensor<KKx1xi32>
    %sm = tt.splat %size : i32 -> tensor<BBx1xi32>
    %sk = tt.splat %size : i32 -> tensor<KKx1xi32>
    %am = arith.muli %rm2, %sm : tensor<BBx1xi32>
    %bk = arith.muli %kb, %sk : tensor<KKx1xi32>
    %am2 = tt.broadcast %am : tensor<BBx1xi32> -> tensor<BBxKKxi32>
    %ka2 = tt.broadcast %ka : tensor<1xKKxi32> -> tensor<BBxKKxi32>
    %bk2 = tt.broadcast %bk : tensor<KKx1xi32> -> tensor<KKxBBxi32>
    %rn3 = tt.broadcast %rn2 : tensor<1xBBxi32> -> tensor<KKxBBxi32>
    %ao = arith.addi %am2, %ka2 : tensor<BBxKKxi32>
    %bo = arith.addi %bk2, %rn3 : tensor<KKxBBxi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<BBxKKx!tt.ptr<f16>>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<KKxBBx!tt.ptr<f16>>
    %ap = tt.addptr %as, %ao : tensor<BBxKKx!tt.ptr<f16>>, tensor<BBxKKxi32>
    %bp = tt.addptr %bs, %bo : tensor<KKxBBx!tt.ptr<f16>>, tensor<KKxBBxi32>
    %zero = arith.constant dense<0.0> : tensor<BBxBBxf32>
    %ainc = arith.constant dense<KK> : tensor<BBxKKxi32>
    %kstride = arith.muli %size, %ck : i32
    %binc = tt.splat %kstride : i32 -> tensor<KKxBBxi32>
    %acc:3 = scf.for %i = %c0 to %size step %ck iter_args(%d = %zero, %pa = %ap, %pb = %bp) -> (tensor<BBxBBxf32>, tensor<BBxKKx!tt.ptr<f16>>, tensor<KKxBBx!tt.ptr<f16>>)  : i32 {
      %x = tt.load %pa : tensor<BBxKKx!tt.ptr<f16>>
      %y = tt.load %pb : tensor<KKxBBx!tt.ptr<f16>>
      %z = tt.dot %x, %y, %d : tensor<BBxKKxf16> * tensor<KKxBBxf16> -> tensor<BBxBBxf32>
      %pa2 = tt.addptr %pa, %ainc : tensor<BBxKKx!tt.ptr<f16>>, tensor<BBxKKxi32>
      %pb2 = tt.addptr %pb, %binc : tensor<KKxBBx!tt.ptr<f16>>, tensor<KKxBBxi32>
      scf.yield %z, %pa2, %pb2 : tensor<BBxBBxf32>, tensor<BBxKKx!tt.ptr<f16>>, tensor<KKxBBx!tt.ptr<f16>>
    }
    %h = arith.truncf %acc#0 : tensor<BBxBBxf32> to tensor<BBxBBxf16>
    %cm2 = tt.broadcast %am : tensor<BBx1xi32> -> tensor<BBxBBxi32>
    %cn2 = tt.broadcast %rn2 : tensor<1xBBxi32> -> tensor<BBxBBxi32>
    %co = arith.addi %cm2, %cn2 : tensor<BBxBBxi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<BBxBBx!tt.ptr<f16>>
    %cp = tt.addptr %cs, %co : tensor<BBxBBx!tt.ptr<f16>>, tensor<BBxBBxi32>
    tt.store %cp, %h : tensor<BBxBBx!tt.ptr<f16>>";
    module(
        "%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f16>, %size: i32",
        &text.replace("BB", &b.to_string()).replace("KK", &k.to_string()),
    )
}

#[test]
fn softmax_agrees_with_f64() {
    let (rows, cols) = (5, 100);
    let ir = softmax(128);
    let mut memory = Memory::new();
    let data: Vec<f64> = Random(1).units(rows * cols).iter().map(|x| f64::from((4.0 * x) as f32)).collect();
    let x = memory.add_values("x", f32(), &data);
    let y = memory.add_uninit("y", f32(), rows * cols * 4);
    let report =
        launch(&ir, [rows as u32, 1, 1], &[Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Int(cols as i64)], &mut memory)
            .unwrap();
    assert_eq!(report.programs, rows as u64);
    for (row, out) in data.chunks(cols).zip(memory.values(y).chunks(cols)) {
        let max = row.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = row.iter().map(|v| (v - max).exp()).sum();
        for (v, got) in row.iter().zip(out) {
            let want = (v - max).exp() / sum;
            assert!((got - want).abs() <= 1e-6 * want, "{got} {want}");
        }
    }
}

#[test]
fn matmul_agrees_with_f64() {
    let n = 64;
    let ir = matmul(32, 16);
    let mut memory = Memory::new();
    let half = |v: &f64| FloatKind::F16.to_f64(FloatKind::F16.from_f64(*v));
    let (a, b): (Vec<f64>, Vec<f64>) =
        (Random(2).units(n * n).iter().map(half).collect(), Random(3).units(n * n).iter().map(half).collect());
    let f16 = Type::float(FloatKind::F16);
    let (pa, pb) = (memory.add_values("a", f16, &a), memory.add_values("b", f16, &b));
    let pc = memory.add_uninit("c", f16, n * n * 2);
    let args = [Arg::Ptr(pa, 0), Arg::Ptr(pb, 0), Arg::Ptr(pc, 0), Arg::Int(n as i64)];
    launch(&ir, [2, 2, 1], &args, &mut memory).unwrap();
    let c = memory.values(pc);
    for i in 0..n {
        for j in 0..n {
            let want: f64 = (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
            assert!((c[i * n + j] - want).abs() <= 2e-3 * want.abs().max(1.0), "({i}, {j}): {} {want}", c[i * n + j]);
        }
    }
}

/// The bounds on the interpreter's speed, in a release build: `cargo test --release interp -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement for release builds"]
#[allow(clippy::print_stderr)]
fn large_kernels_take_seconds() {
    let n = 4096;
    let ir = softmax(n);
    let mut memory = Memory::new();
    let x = memory.add_values("x", f32(), &Random(1).units(n * n));
    let y = memory.add_uninit("y", f32(), n * n * 4);
    let start = std::time::Instant::now();
    let report =
        launch(&ir, [n as u32, 1, 1], &[Arg::Ptr(x, 0), Arg::Ptr(y, 0), Arg::Int(n as i64)], &mut memory).unwrap();
    let softmax_time = start.elapsed();
    eprintln!("softmax 4096x4096: {softmax_time:?}, parallel: {}", report.parallel);
    assert!(softmax_time.as_secs_f64() < 5.0);

    let n = 512;
    let ir = matmul(64, 32);
    let f16 = Type::float(FloatKind::F16);
    let (a, b) =
        (memory.add_values("a", f16, &Random(2).units(n * n)), memory.add_values("b", f16, &Random(3).units(n * n)));
    let c = memory.add_uninit("c", f16, n * n * 2);
    let start = std::time::Instant::now();
    let args = [Arg::Ptr(a, 0), Arg::Ptr(b, 0), Arg::Ptr(c, 0), Arg::Int(n as i64)];
    launch(&ir, [8, 8, 1], &args, &mut memory).unwrap();
    let matmul_time = start.elapsed();
    eprintln!("matmul 512: {matmul_time:?}");
    assert!(matmul_time.as_secs_f64() < 5.0);
}
