//! Printed launchers on a driver that records its calls: what is loaded and launched, with which bytes.
//!
//! `launchers/kernels.rs` is what ttc prints for the kernels of its test `launchers_rust`, whose cubins are texts.
#![cfg(unix)]
#![allow(clippy::unwrap_used, unreachable_pub)]

#[path = "launchers/kernels.rs"]
mod kernels;
mod stub;

use std::error::Error as _;

use kernels::{add, clusters, copy, r#loop, nothing, rows};
use stub::Stub;
use ttc_rt::{
    Bf16, Context, DeviceBuffer, DevicePtr, DevicePtrMut, Error, Event, F16, Gpu, Kernel, PerContext, Promise,
    RawStream, Stream, Tensor, TensorMut, spec,
};

fn add_args(x: u64, out: u64, n: i32) -> add::Args<'static> {
    add::Args { x_ptr: DevicePtr::from_raw(x), out_ptr: DevicePtrMut::from_raw(out), n }
}

/// What `cuLaunchKernel` was called with.
fn launched(stub: &Stub, kernel: &add::Kernel, args: &add::Args<'_>) -> Result<Vec<String>, Error> {
    stub.calls();
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch(&RawStream::LEGACY, args) }?;
    Ok(stub.calls_of("cuLaunchKernel"))
}

#[test]
fn the_variants_of_the_gpu_are_loaded_and_the_first_that_fits_is_launched() {
    let stub = Stub::new(9, 0);
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    let loaded = stub.calls_of("cuModuleLoadData");
    assert_eq!(loaded, ["add sm_90a one", "add sm_90a 16", "add sm_90a any"], "sm_80 is for other GPUs");
    assert_eq!(kernel.inner().variants().map(|v| v.promises.len()).collect::<Vec<_>>(), [1, 3, 0]);
    for (x, n, name, blocks, bytes) in [
        (0x1000, 4096, "16", 4, "0010000000000000002000000000000000100000"),
        (0x1004, 4096, "any", 4, "0410000000000000002000000000000000100000"),
        (0x1000, 4095, "any", 4, "00100000000000000020000000000000ff0f0000"),
        // The promised number is no parameter.
        (0x1004, 1, "one", 1, "04100000000000000020000000000000"),
    ] {
        let calls = launched(&stub, &kernel, &add_args(x, 0x2000, n)).unwrap();
        let grid = format!("grid {blocks},1,1 block 128,1,1 shared 0 stream 0");
        assert_eq!(calls, [format!("add sm_90a {name}/add {grid} [{bytes}]")]);
    }
}

#[test]
fn a_gpu_of_a_later_minor_number_runs_the_code_of_an_earlier_one() {
    let stub = Stub::new(8, 9);
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    assert_eq!(stub.calls_of("cuModuleLoadData").len(), 3);
    assert!(kernel.inner().variants().all(|v| v.arch == "sm_80"));
    drop(kernel);
    assert!(stub.calls().ends_with("live:"));
}

#[test]
fn a_gpu_that_no_variant_is_for_is_an_error_that_names_both() {
    let stub = Stub::new(10, 0);
    let error = add::Kernel::load(&stub.context()).unwrap_err();
    let archs = vec!["sm_80", "sm_90a"];
    assert_eq!(error, Error::NoVariant { kernel: "add", gpu: Gpu::Nvidia { major: 10, minor: 0 }, archs });
    assert_eq!(error.to_string(), "`add` was compiled for sm_80, sm_90a, and this GPU has compute capability 10.0");
    // The code of an accelerated architecture runs on no other GPU of its major number.
    drop(stub);
    let stub = Stub::new(9, 1);
    assert!(matches!(add::Kernel::load(&stub.context()), Err(Error::NoVariant { .. })));
}

#[test]
fn a_variant_that_the_driver_knows_better_is_left_out() {
    let stub = Stub::new(8, 7);
    stub.fail("cuModuleLoadData", 1, 209);
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    assert_eq!(kernel.inner().variants().len(), 2);
}

#[test]
fn no_programs_are_no_launch_and_no_error() {
    let stub = Stub::new(8, 0);
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    assert_eq!(launched(&stub, &kernel, &add_args(0, 0, 0)).unwrap(), [""; 0]);
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch_grid(&RawStream::LEGACY, [3, 0, 5], &add_args(0, 0, 1)) }.unwrap();
    assert_eq!(stub.calls(), "live: context=1 module=3");
}

#[test]
fn a_grid_that_cannot_be_is_an_error_with_the_number() {
    let stub = Stub::new(9, 0);
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    let error = launched(&stub, &kernel, &add_args(0, 0, -2048)).unwrap_err();
    assert_eq!(error.to_string(), "the grid of `add` cannot be launched: it has -2 programs in x");
    for (grid, words) in [
        ([1, 65536, 1], "it has 65536 blocks in y, and at most 65535 can be"),
        ([0x8000_0000, 1, 1], "it has 2147483648 blocks in x, and at most 2147483647 can be"),
    ] {
        // SAFETY: the stub runs nothing.
        let error = unsafe { kernel.launch_grid(&RawStream::LEGACY, grid, &add_args(0, 0, 1)) }.unwrap_err();
        assert_eq!(error.to_string(), format!("the grid of `add` cannot be launched: {words}"));
    }
    let kernel = clusters::Kernel::load(&stub.context()).unwrap();
    let args = |rows| clusters::Args { table: DevicePtrMut::null(), rows };
    // SAFETY: the stub runs nothing.
    let error = |rows| unsafe { kernel.launch(&RawStream::LEGACY, &args(rows)) }.unwrap_err().to_string();
    assert_eq!(
        error(u64::MAX),
        "the grid of `clusters` cannot be launched: its number of programs in x cannot be computed"
    );
    assert_eq!(error(9), "the grid of `clusters` cannot be launched: it has -4 programs in z");
}

#[test]
fn a_broken_promise_names_the_argument_and_its_value() {
    let stub = Stub::new(9, 0);
    stub.fail("cuModuleLoadData", 2, 209);
    // Without the variant for anything, those with promises are left.
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    let error = launched(&stub, &kernel, &add_args(0x1000, 0x2008, 4096)).unwrap_err();
    let Error::Promise(broken) = &error else { panic!("{error}") };
    assert_eq!((broken.argument, broken.promise, broken.value), ("out_ptr", Promise::DivisibleBy(16), 0x2008));
    assert_eq!(error.to_string(), "`out_ptr` of `add` was promised to be a multiple of 16, and it is 8200");
}

#[test]
fn clusters_scratch_and_early_starts_go_through_the_extended_launch() {
    let stub = Stub::new(9, 0);
    let mut kernel = clusters::Kernel::load(&stub.context()).unwrap();
    assert!(stub.calls().contains("cuFuncSetAttribute 14=1"), "clusters of 16 have to be allowed");
    let args = clusters::Args { table: DevicePtrMut::from_raw(0x5000), rows: 5 };
    for (early, attributes) in [(false, "4:[16, 1, 1]"), (true, "4:[16, 1, 1] 6:[1, 0, 0]")] {
        kernel.set_start_early(early);
        // SAFETY: the stub runs nothing.
        unsafe { kernel.launch(&RawStream::LEGACY, &args) }.unwrap();
        let calls = stub.calls();
        let [scratch, launch, live] = calls.lines().collect::<Vec<_>>()[..] else { panic!("{calls}") };
        // The grid is min(5, 132), max(5 // 4, 1) * 2, 5 % 3 + (5 - 5); every program is 16 blocks.
        // The driver aligns to 256 bytes and the kernel needs 1024, so the block is larger.
        assert_eq!(scratch, format!("cuMemAllocAsync {}", 80 * 2 * 2 * 256 + 1024));
        let (call, bytes) = launch.split_once(" [0050").unwrap();
        assert_eq!(
            call,
            format!("cuLaunchKernelEx clusters sm_90/clusters grid [80, 2, 2] block [256, 1, 1] shared 0 {attributes}")
        );
        let bytes = format!("0050{bytes}");
        assert_eq!((&bytes[..16], &bytes[16..32]), ("0050000000000000", "0500000000000000"));
        let address = u64::from_str_radix(&bytes[32..48], 16).unwrap().swap_bytes();
        assert!(address != 0 && address.is_multiple_of(1024), "scratch memory at {address:x}");
        assert_eq!(&bytes[48..], "0000000000000000]", "a profiler's buffer is not needed");
        assert_eq!(live, "live: context=1 module=1", "scratch memory was given back");
    }
}

fn copy_args<'a>(from: Tensor<'a, f32, 2>, to: TensorMut<'a, f32, 2>) -> copy::Args<'a> {
    copy::Args { from, to }
}

#[test]
fn tensors_are_encoded_for_the_hardware() {
    let stub = Stub::new(9, 0);
    let kernel = copy::Kernel::load(&stub.context()).unwrap();
    assert!(stub.calls().contains("cuFuncSetAttribute 8=65536"), "more than 48 KiB have to be allowed");
    let from = Tensor {
        address: DevicePtr::from_raw(0x1000),
        extents: [100, 40],
        strides: [48, 1],
        pads_with_nan: true,
        rounds_to_tf32: true,
    };
    let args = copy_args(from, TensorMut::new(DevicePtrMut::from_raw(0x2000), [100, 40]));
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch_grid(&RawStream::LEGACY, [2, 2, 1], &args) }.unwrap();
    let calls = stub.calls();
    let lines: Vec<&str> = calls.lines().collect();
    let modes = "box [32, 64] steps [1, 1] modes 0 3 2";
    assert_eq!(
        lines[..2],
        [
            format!("cuTensorMapEncodeTiled type 11 at 0x1000 extents [40, 100] strides [192] {modes} 1"),
            format!("cuTensorMapEncodeTiled type 7 at 0x2000 extents [40, 100] strides [160] {modes} 0"),
        ]
    );
    let map = "22".repeat(128);
    let shape = |stride: &str| format!("6400000028000000{stride}000000000000000100000000000000");
    // The first descriptor ends at 152, and the second one's map starts at 192.
    let expected = format!("[{map}{}{}{map}{}]", shape("30"), "00".repeat(40), shape("28"));
    assert!(lines[2].ends_with(&expected), "{}\n{expected}", lines[2]);
    assert!(lines[2].contains("grid 2,2,1 block 128,1,1 shared 65536"), "{}", lines[2]);
}

#[test]
fn tensors_are_taken_apart_where_the_hardware_reads_none() {
    let stub = Stub::new(8, 0);
    let kernel = copy::Kernel::load(&stub.context()).unwrap();
    stub.calls();
    let mut from = Tensor::new(DevicePtr::from_raw(0x1000), [100, 40]);
    from.pads_with_nan = true;
    let args = copy_args(from, TensorMut::new(DevicePtrMut::from_raw(0x2000), [8, 4]));
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch_grid(&RawStream::LEGACY, [1; 3], &args) }.unwrap();
    let calls = stub.calls();
    let wide = |v: [u64; 2]| v.map(|v| v.to_le_bytes().map(|b| format!("{b:02x}")).concat()).concat();
    let narrow = |v: [u32; 2]| v.map(|v| v.to_le_bytes().map(|b| format!("{b:02x}")).concat()).concat();
    let first = [wide([0x1000, 100]), wide([40, 40]), wide([1, 0])[..16].to_owned(), "01000000".into()].concat();
    let first = format!("{first}{}00000000{}", narrow([100, 40]), wide([40, 1]));
    assert!(calls.contains(&format!("[{first}")), "{calls}\n{first}");
}

#[test]
fn a_tensor_that_is_none_of_a_descriptor_says_which_rule_it_breaks() {
    for major in [8, 9] {
        tensor_rules(&Stub::new(major, 0));
    }
}

fn tensor_rules(stub: &Stub) {
    let kernel = copy::Kernel::load(&stub.context()).unwrap();
    let tensor = |address, extents, strides| Tensor {
        address: DevicePtr::from_raw(address),
        extents,
        strides,
        pads_with_nan: false,
        rounds_to_tf32: false,
    };
    for (from, rule) in [
        (tensor(0x1008, [4, 4], [4, 1]), "its address 0x1008 is no multiple of 16"),
        (tensor(0x1000, [4, 4], [5, 1]), "the stride of axis 0 is 20 bytes, which is no multiple of 16"),
        (tensor(0x1000, [4, 4], [4, 2]), "the stride of the innermost axis is 2 and not 1"),
        (tensor(0x1000, [0, 4], [4, 1]), "the extent 0 of axis 0 is not in 1 to 4294967296"),
        (tensor(0x1000, [4, 4], [-4, 1]), "the stride -4 of axis 0 is negative or too large"),
        (tensor(0x1000, [4, 4], [1 << 40, 1]), "the stride 1099511627776 of axis 0 is negative or too large"),
        (tensor(0x1000, [1 << 32, 4], [4, 1]), "the extent 4294967296 does not fit into 32 bits"),
    ] {
        let args = copy_args(from, TensorMut::new(DevicePtrMut::from_raw(0x2000), [4, 4]));
        // SAFETY: the stub runs nothing.
        let error = unsafe { kernel.launch_grid(&RawStream::LEGACY, [1; 3], &args) }.unwrap_err();
        assert_eq!(error.to_string(), format!("no descriptor can be made of the tensor `from` of `copy`: {rule}"));
    }
}

fn rows_args(m: i32, stride: i32, batch: i64) -> rows::Args<'static> {
    rows::Args { x: DevicePtr::from_raw(0x1000), m, n: 30, stride, batch }
}

#[test]
fn tensor_maps_that_no_argument_is_are_made_of_the_others() {
    let stub = Stub::new(9, 0);
    let kernel = rows::Kernel::load(&stub.context()).unwrap();
    stub.calls();
    for (m, extent) in [(100, 60), (50, 50), (-3, 1)] {
        // SAFETY: the stub runs nothing.
        unsafe { kernel.launch_grid(&RawStream::LEGACY, [2, 1, 1], &rows_args(m, 24, 4096)) }.unwrap();
        let calls = stub.calls();
        let lines: Vec<&str> = calls.lines().collect();
        let extents = format!("[64, {extent}, 2147483647]");
        let modes = "box [64, 128, 1] steps [1, 1, 1] modes 0 3 2 0";
        assert_eq!(
            lines[0],
            format!("cuTensorMapEncodeTiled type 6 at 0x1000 extents {extents} strides [96, 8192] {modes}")
        );
        let map = "33".repeat(128);
        assert!(lines[1].contains(&map), "{}", lines[1]);
    }
}

#[test]
fn a_tensor_map_that_arguments_forbid_names_them() {
    let stub = Stub::new(9, 0);
    let kernel = rows::Kernel::load(&stub.context()).unwrap();
    let wide = i64::MAX / 2;
    for (args, rule) in [
        (rows_args(100, 3, 4096), "the stride of axis 1 is 12 bytes, which is no multiple of 16"),
        (rows_args(100, 24, 4), "the stride of axis 0 is 8 bytes, which is no multiple of 16"),
        (rows_args(100, -24, 4096), "the stride -48 of axis 1 is negative or too large"),
        (rows_args(100, 24, wide), "the stride 4611686018427387903 of axis 0 is negative or too large"),
        (
            rows::Args { x: DevicePtr::from_raw(0x1008), ..rows_args(1, 8, 8) },
            "its address 0x1008 is no multiple of 16",
        ),
        (rows::Args { n: u64::MAX, ..rows_args(1, 8, 8) }, "a number of it does not fit into 64 bits"),
    ] {
        // SAFETY: the stub runs nothing.
        let error = unsafe { kernel.launch_grid(&RawStream::LEGACY, [1; 3], &args) }.unwrap_err();
        let array = "[2147483647, max(min(m, n * 2), 1), 64] with the strides [batch, stride * 2, 1]";
        let expected =
            format!("no descriptor can be made of the tensor `x` of `rows`: {rule}; the kernel reads it as {array}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn too_much_shared_memory_is_an_error_with_both_numbers() {
    let stub = Stub::with_shared(9, 0, 49152);
    let error = copy::Kernel::load(&stub.context()).unwrap_err();
    assert_eq!(error, Error::SharedMemory { kernel: "copy", needs: 65536, offers: 49152 });
}

/// Code for capability 8.`minor` that needs so many bytes of shared memory.
fn variant(
    arch: &'static str,
    minor: u32,
    shared: u32,
    promises: &'static [(usize, Promise)],
    image: &'static [u8],
) -> spec::Variant {
    spec::Variant {
        arch,
        runs_on: spec::RunsOn::Capability { major: 8, minor, exact: false },
        symbol: "k",
        threads: 128,
        shared,
        cluster: [1; 3],
        grid: None,
        promises,
        parameters: &[],
        image,
    }
}

/// Code for two architectures, of which the better one needs more shared memory than the GPU has.
#[test]
fn code_that_does_not_fit_is_left_out_where_other_code_takes_the_same_arguments() {
    const ONE: &[(usize, Promise)] = &[(0, Promise::Equals(1))];
    let all = vec![
        variant("sm_86", 6, 163_840, ONE, b"k sm_86 one;\0"),
        variant("sm_80", 0, 98_304, ONE, b"k sm_80 one;\0"),
        variant("sm_86", 6, 102_400, &[], b"k sm_86 any;\0"),
        variant("sm_80", 0, 65_536, &[], b"k sm_80 any;\0"),
    ];
    let kernel = spec::Kernel { name: "k", arguments: &["n"], variants: all.leak() };
    let kernel: &'static spec::Kernel = Box::leak(Box::new(kernel));
    let load = |shared| {
        let stub = Stub::with_shared(8, 6, shared);
        // SAFETY: the stub runs nothing.
        let loaded = unsafe { Kernel::load(&stub.context(), kernel) };
        loaded.map(|k| k.variants().map(|v| (v.arch, v.promises.len())).collect::<Vec<_>>())
    };
    assert_eq!(load(163_840).unwrap(), [("sm_86", 1), ("sm_80", 1), ("sm_86", 0), ("sm_80", 0)]);
    assert_eq!(load(101_376).unwrap(), [("sm_80", 1), ("sm_80", 0)]);
    // What takes any n takes 1 as well.
    assert_eq!(load(65_536).unwrap(), [("sm_80", 0)]);
    let error = load(49_152).unwrap_err();
    assert_eq!(error, Error::SharedMemory { kernel: "k", needs: 163_840, offers: 49_152 });
}

/// Code that was tuned for one size needs too much, and code for multiples of 16 takes that size. Code for other values
/// takes it not.
#[test]
fn code_for_a_size_that_does_not_fit_is_replaced_by_more_general_code() {
    let load = |tuned: &'static [(usize, Promise)], general: &'static [(usize, Promise)]| {
        let all =
            vec![variant("sm_80", 0, 131_072, tuned, b"k tuned;\0"), variant("sm_80", 0, 0, general, b"k general;\0")];
        let kernel = spec::Kernel { name: "k", arguments: &["n", "m"], variants: all.leak() };
        let stub = Stub::with_shared(8, 6, 101_376);
        // SAFETY: the stub runs nothing.
        let loaded = unsafe { Kernel::load(&stub.context(), Box::leak(Box::new(kernel))) };
        loaded.map(|k| k.variants().len())
    };
    use Promise::{DivisibleBy, Equals};
    assert_eq!(load(&[(0, DivisibleBy(16)), (1, Equals(4096))], &[(0, DivisibleBy(4)), (1, DivisibleBy(16))]), Ok(1));
    for (tuned, general) in [
        (&[(1, Equals(4095))], &[(1, DivisibleBy(16))]),
        (&[(1, Equals(4096))], &[(1, Equals(1))]),
        (&[(1, DivisibleBy(16))], &[(1, Equals(16))]),
        (&[(1, DivisibleBy(4))], &[(1, DivisibleBy(16))]),
        (&[(0, DivisibleBy(16))], &[(1, DivisibleBy(16))]),
    ] {
        assert!(matches!(load(tuned, general), Err(Error::SharedMemory { .. })), "{tuned:?} {general:?}");
    }
}

#[test]
fn every_type_has_its_bytes() {
    let stub = Stub::new(8, 6);
    let kernel = r#loop::Kernel::load(&stub.context()).unwrap();
    stub.calls();
    let halves = DeviceBuffer::<u16>::new(&stub.context(), 4).unwrap();
    let args = r#loop::Args {
        r#type: true,
        self_: -2,
        a: 0xabcd,
        b: -1,
        c: 0x1234_5678,
        d: F16::from_f32(1.0),
        e: Bf16::from_f32(1.0),
        f: 1.0,
        g: 1.0,
        ___: DevicePtr::from_raw(1),
        h: DevicePtr::from_raw(2),
        i: halves.ptr(),
        j: DevicePtr::from_raw(4),
        k: DevicePtr::from_raw(5),
    };
    let address = args.i.address().to_le_bytes().map(|b| format!("{b:02x}")).concat();
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch_grid(&RawStream::LEGACY, [1; 3], &args) }.unwrap();
    let one = |low: &str| format!("{low}00000000000000");
    let scalars = "01fecdab00000000ffffffffffffffff78563412003c803f0000803f00000000000000000000f03f";
    let expected = [scalars, &one("01"), &one("02"), &address, &one("04"), &one("05")].concat();
    let call = stub.calls_of("cuLaunchKernel");
    assert!(call[0].ends_with(&format!("[{expected}]")), "{}\n{expected}", call[0]);
}

#[test]
fn a_kernel_without_arguments_is_launched() {
    let stub = Stub::new(8, 0);
    let kernel = nothing::Kernel::load(&stub.context()).unwrap();
    stub.calls();
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch(&RawStream::LEGACY, &nothing::Args {}) }.unwrap();
    assert_eq!(
        stub.calls_of("cuLaunchKernel"),
        ["nothing sm_80/nothing grid 4,1,1 block 128,1,1 shared 0 stream 0 []"]
    );
}

/// Everything from the context to the copy out.
fn session() -> Result<f32, Error> {
    let context = Context::primary(0)?;
    let kernel = add::Kernel::load(&context)?;
    let cluster = clusters::Kernel::load(&context)?;
    let tensors = copy::Kernel::load(&context)?;
    let stream = Stream::new(&context)?;
    let x = DeviceBuffer::from_slice(&context, &[1.0f32; 64])?;
    let mut out = DeviceBuffer::<f32>::new(&context, 64)?;
    out.poison(0)?;
    let mut table = DeviceBuffer::<i64>::new(&context, 8)?;
    context.properties()?;
    let (start, end) = (Event::new(&context)?, Event::new(&context)?);
    out.fill_on(&stream, 1)?;
    out.copy_on(&stream, &x)?;
    out.fill_on(&stream, 0)?;
    start.record(&stream)?;
    // SAFETY: the stub runs nothing.
    unsafe {
        kernel.launch(&stream, &add::Args { x_ptr: x.ptr(), out_ptr: out.ptr_mut(), n: 64 })?;
        end.record(&stream)?;
        cluster.launch(&stream, &clusters::Args { table: table.ptr_mut(), rows: 5 })?;
        let args = copy_args(Tensor::new(&x, [8, 8]), TensorMut::new(&mut out, [8, 8]));
        tensors.launch_grid(&stream, [1; 3], &args)?;
    }
    end.synchronize()?;
    let time = end.milliseconds_since(&start)?;
    assert!((time - 0.01256).abs() < 1e-7, "a launch of 128 threads takes 12.56 us, and this one took {time} ms");
    stream.synchronize()?;
    context.synchronize()?;
    Ok(out.to_vec()?[0])
}

#[test]
fn every_call_that_fails_is_an_error_and_nothing_leaks() {
    let stub = Stub::new(9, 0);
    assert_eq!(session(), Ok(0.0));
    assert!(stub.calls().ends_with("live:"), "nothing is left");
    let failing = [
        ("cuDeviceGet", 1),
        ("cuDevicePrimaryCtxRetain", 1),
        ("cuDeviceGetAttribute", 14),
        ("cuDeviceGetName", 1),
        ("cuDeviceTotalMem", 1),
        ("cuDriverGetVersion", 1),
        ("cuEventCreate", 2),
        ("cuEventRecord", 2),
        ("cuEventSynchronize", 1),
        ("cuEventElapsedTime", 1),
        ("cuMemsetD8Async", 2),
        ("cuMemcpyDtoDAsync", 1),
        ("cuCtxGetCurrent", 20),
        ("cuCtxPushCurrent", 20),
        ("cuModuleLoadData", 5),
        ("cuModuleGetFunction", 5),
        ("cuFuncSetAttribute", 2),
        ("cuStreamCreate", 1),
        ("cuMemAlloc", 3),
        ("cuMemcpyHtoD", 1),
        ("cuMemsetD8", 1),
        ("cuLaunchKernel", 2),
        ("cuMemAllocAsync", 1),
        ("cuLaunchKernelEx", 1),
        ("cuTensorMapEncodeTiled", 2),
        ("cuStreamSynchronize", 1),
        ("cuCtxSynchronize", 1),
        ("cuMemcpyDtoH", 1),
    ];
    for (function, calls) in failing {
        for after in 0..calls {
            stub.fail(function, after, 2);
            let error = session().unwrap_err();
            let Error::Driver(failure) = &error else { panic!("{function} {after}: {error}") };
            assert_eq!((failure.call, failure.status), (function, 2), "{error}");
            assert!(error.to_string().contains("out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)"), "{error}");
            assert!(error.source().is_none());
            let end = stub.calls();
            assert!(end.ends_with("live:"), "{function} {after}: {}", end.lines().last().unwrap_or_default());
        }
    }
}

#[test]
fn a_failed_launch_names_the_kernel_and_the_architecture() {
    let stub = Stub::new(9, 0);
    let kernel = add::Kernel::load(&stub.context()).unwrap();
    stub.fail("cuLaunchKernel", 0, 201);
    let error = launched(&stub, &kernel, &add_args(0x1000, 0x2000, 16)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cuLaunchKernel failed for `add` (sm_90a): invalid device context (CUDA_ERROR_INVALID_CONTEXT, 201)"
    );
}

#[test]
fn the_current_context_of_a_thread_stays_what_it_was() {
    let stub = Stub::new(8, 0);
    assert_eq!(Context::current().unwrap_err(), Error::NoContext);
    stub.set_current(true);
    let context = Context::current().unwrap();
    let kernel = add::Kernel::load(&context).unwrap();
    assert_eq!(launched(&stub, &kernel, &add_args(0, 0, 1)).unwrap().len(), 1);
    drop((kernel, context));
    assert!(stub.calls().ends_with("live: current"), "a context of others is not released");
    stub.set_current(false);
}

#[test]
fn a_kernel_for_each_context_is_loaded_once() {
    let stub = Stub::new(9, 0);
    let kernels: PerContext<add::Kernel> = PerContext::new();
    stub.set_current(false);
    let error = kernels.current(add::Kernel::load).unwrap_err();
    assert_eq!((&error, error.status()), (&Error::NoContext, 201));
    stub.set_current(true);
    stub.fail("cuModuleLoadData", 0, 2);
    assert_eq!(kernels.current(add::Kernel::load).unwrap_err().status(), 2, "what failed is tried again");
    stub.calls();
    let first = kernels.current(add::Kernel::load).unwrap();
    let again = kernels.current(|_| unreachable!("it is loaded")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &again));
    let launched = launched(&stub, &first, &add_args(0x1000, 0x2000, 4096)).unwrap();
    assert_eq!(launched.len(), 1, "{launched:?}");
    drop((first, again, kernels));
    stub.set_current(false);
}

#[test]
fn a_context_that_a_kernel_ended_says_so_at_every_call() {
    let stub = Stub::new(9, 0);
    let context = stub.context();
    let stream = Stream::new(&context).unwrap();
    let properties = context.properties().unwrap();
    assert_eq!(
        (&*properties.name, properties.multiprocessors, properties.l2_bytes >> 20),
        ("a GPU without a GPU", 132, 50)
    );
    stub.fail("cuStreamSynchronize", 0, 700);
    for _ in 0..2 {
        let error = stream.synchronize().unwrap_err().to_string();
        assert!(
            error.contains("an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)"),
            "{error}"
        );
    }
    assert!(matches!(DeviceBuffer::<f32>::new(&context, 4), Err(Error::Driver(f)) if f.status == 700));
}

#[test]
fn tensors_of_any_rank_are_dense() {
    let tensor = ttc_rt::RawTensor::dense(0x100, 2, &[3, 4, 5]).unwrap();
    assert!(format!("{tensor:?}").contains("extents: [3, 4, 5, 0, 0], strides: [20, 5, 1, 0, 0]"), "{tensor:?}");
    assert!(ttc_rt::RawTensor::dense(0, 2, &[1; 6]).is_none());
}

#[test]
fn eight_threads_load_and_launch_at_once() {
    let stub = Stub::new(9, 0);
    let shared = add::Kernel::load(&stub.context()).unwrap();
    stub.calls();
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let shared = &shared;
            scope.spawn(move || {
                let context = Context::primary(0).unwrap();
                let stream = Stream::new(&context).unwrap();
                let own = add::Kernel::load(&context).unwrap();
                for n in 1..=50 {
                    for kernel in [shared, &own] {
                        // SAFETY: the stub runs nothing.
                        unsafe { kernel.launch(&stream, &add_args(thread * 16, 0x1000, n * 16)) }.unwrap();
                    }
                }
            });
        }
    });
    let calls = stub.calls();
    assert_eq!(calls.lines().filter(|l| l.starts_with("cuLaunchKernel add sm_90a 16/add grid 1,1,1")).count(), 800);
    for thread in 0..8u64 {
        let bytes = format!("[{:02x}00000000000000", thread * 16);
        assert_eq!(calls.matches(&bytes).count(), 100);
    }
    drop(shared);
    assert!(stub.calls().ends_with("live:"));
}

#[test]
fn a_launch_by_hand_takes_the_parameters_as_they_are() {
    let stub = Stub::new(8, 0);
    let kernel = nothing::Kernel::load(&stub.context()).unwrap();
    let inner: &Kernel = kernel.inner();
    stub.calls();
    // SAFETY: the stub runs nothing.
    unsafe { inner.launch_raw(0, &RawStream::LEGACY, [2, 3, 4], &mut []) }.unwrap();
    let calls = stub.calls_of("cuLaunchKernel");
    assert!(calls[0].contains("grid 2,3,4") && calls[0].ends_with("[]"), "{calls:?}");
}

#[test]
fn copies_know_their_lengths() {
    let stub = Stub::new(8, 0);
    let context = stub.context();
    let mut buffer = DeviceBuffer::from_slice(&context, &[1u32, 2, 3]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
    assert_eq!(buffer.copy_from(&[1]), Err(Error::Length { device: 3, host: 1 }));
    buffer.poison(0xff).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [u32::MAX; 3]);
    let error = DeviceBuffer::<u64>::new(&context, usize::MAX).unwrap_err();
    assert_eq!(error, Error::TooLarge { length: usize::MAX });
    let mut empty = DeviceBuffer::<u8>::new(&context, 0).unwrap();
    empty.poison(1).unwrap();
    assert!(empty.is_empty() && empty.to_vec().unwrap().is_empty());
    drop((buffer, empty, context));
    assert!(stub.calls().ends_with("live:"));
}
