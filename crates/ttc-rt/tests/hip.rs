//! Printed launchers on AMD's HIP runtime that records its calls, where there is no driver of CUDA.
#![cfg(unix)]
#![allow(clippy::unwrap_used, unreachable_pub)]

#[path = "launchers/kernels.rs"]
mod kernels;
mod stub;

use kernels::{add, both};
use stub::Stub;
use ttc_rt::{
    Context, DeviceBuffer, DevicePtr, DevicePtrMut, Error, Event, Gpu, PerContext, RawStream, Stream, Tensor,
};

const SHARED: i32 = 65_536;

fn args(out: u64) -> both::Args<'static> {
    both::Args { from: Tensor::new(DevicePtr::from_raw(0x1000), [64, 32]), out: DevicePtrMut::from_raw(out) }
}

#[test]
fn the_variants_of_the_processor_are_loaded_and_launched() {
    let stub = Stub::amd(SHARED);
    assert_eq!(ttc_rt::device_count(), Ok(2));
    for (device, name, any) in [(0, "gfx942", "gfx942"), (1, "gfx1100", "gfx1100")] {
        let context = Context::primary(device).unwrap();
        assert_eq!(context.gpu(), &Gpu::Amd { processor: name.to_owned() });
        stub.calls();
        let kernel = both::Kernel::load(&context).unwrap();
        let loaded = stub.calls_of("hipModuleLoadData");
        assert_eq!(loaded, vec![format!("both {any}"); if device == 0 { 2 } else { 1 }], "not those of other GPUs");
        // SAFETY: the stub runs nothing.
        unsafe { kernel.launch(&RawStream::LEGACY, &args(0x2008)) }.unwrap();
        let calls = stub.calls();
        let lines: Vec<&str> = calls.lines().filter(|l| !l.starts_with("hipSetDevice")).collect();
        assert_eq!(lines[0], format!("hipMallocAsync {}", 64 * 6 + 512), "{calls}");
        let launch = format!("hipModuleLaunchKernel both {any}/both grid 3,2,1 block 256,1,1 shared 65536 stream 0 [");
        assert!(lines[1].starts_with(&launch), "{calls}");
        let shape = ["40", "20"].map(|n| format!("{n}00000000000000")).concat();
        assert!(lines[1].contains(&format!("[0010000000000000{shape}")), "{calls}");
        assert!(calls.ends_with("live: module=2") || device == 1, "scratch memory was given back: {calls}");
    }
    assert!(stub.calls().ends_with("live:"));
}

/// A call that needs the second device makes it current, and afterwards the one that was.
#[test]
fn the_current_device_of_a_thread_stays_what_it_was() {
    let stub = Stub::amd(SHARED);
    assert_eq!(Context::current().unwrap().gpu(), &Gpu::Amd { processor: "gfx942".to_owned() });
    let second = Context::primary(1).unwrap();
    stub.calls();
    let buffer = DeviceBuffer::<f32>::new(&second, 4).unwrap();
    assert_eq!(stub.calls(), "hipSetDevice 1\nhipSetDevice 0\nlive: memory=1");
    drop(buffer);
    assert!(stub.calls().ends_with("live:"));
}

#[test]
fn a_processor_that_no_variant_is_for_is_an_error_that_names_both() {
    let _stub = Stub::amd(SHARED);
    let error = add::Kernel::load(&Context::primary(0).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "`add` was compiled for sm_80, sm_90a, and this GPU is a gfx942");
    assert_eq!(error.status(), 209);
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_of_the_runtime() {
    let _stub = Stub::amd(SHARED);
    let error = Context::primary(2).unwrap_err();
    assert!(error.to_string().starts_with("hipDeviceGet failed: invalid device ordinal (hipErrorInvalidDevice, 101)"));
}

#[test]
fn too_much_shared_memory_is_an_error_with_both_numbers() {
    let _stub = Stub::amd(32_768);
    let error = both::Kernel::load(&Context::primary(0).unwrap()).unwrap_err();
    assert_eq!(error, Error::SharedMemory { kernel: "both", needs: 65_536, offers: 32_768 });
}

/// A packet counts threads in 32 bits, so a grid has fewer blocks than on NVIDIA's GPUs.
#[test]
fn a_grid_of_too_many_threads_is_an_error() {
    let stub = Stub::amd(SHARED);
    let kernel = both::Kernel::load(&Context::primary(0).unwrap()).unwrap();
    // SAFETY: the stub runs nothing.
    let error = unsafe { kernel.launch_grid(&RawStream::LEGACY, [16_777_216, 1, 1], &args(0)) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the grid of `both` cannot be launched: it has 16777216 blocks in x, and at most 16777215 can be"
    );
    // SAFETY: as above.
    unsafe { kernel.launch_grid(&RawStream::LEGACY, [16_777_215, 1, 1], &args(0)) }.unwrap();
    assert_eq!(stub.calls_of("hipModuleLaunchKernel").len(), 1);
}

#[test]
fn a_kernel_for_each_device_is_loaded_once() {
    let stub = Stub::amd(SHARED);
    let kernels: PerContext<both::Kernel> = PerContext::new();
    let first = kernels.current(both::Kernel::load).unwrap();
    let again = kernels.current(|_| unreachable!("it is loaded")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &again));
    drop((first, again, kernels));
    assert!(stub.calls().ends_with("live:"));
}

#[test]
fn the_properties_of_a_gpu_are_where_the_header_has_them() {
    let _stub = Stub::amd(SHARED);
    let p = Context::primary(0).unwrap().properties().unwrap();
    assert_eq!((p.memory, p.shared_per_block, p.registers_per_block), (192 << 30, 65_536, 65_536));
    assert_eq!((p.multiprocessors, p.clock_khz, p.memory_clock_khz), (304, 2_100_000, 2_600_000));
    assert_eq!((p.memory_bus_bits, p.l2_bytes), (8192, 4 << 20));
}

/// Everything from the context to the copy out.
fn session() -> Result<f32, Error> {
    let context = Context::primary(1)?;
    let kernel = both::Kernel::load(&context)?;
    let stream = Stream::new(&context)?;
    let x = DeviceBuffer::from_slice(&context, &[1.0f32; 2048])?;
    let mut out = DeviceBuffer::<f32>::new(&context, 2048)?;
    out.poison(0)?;
    context.properties()?;
    let (start, end) = (Event::new(&context)?, Event::new(&context)?);
    out.fill_on(&stream, 1)?;
    out.copy_on(&stream, &x)?;
    out.fill_on(&stream, 0)?;
    start.record(&stream)?;
    // SAFETY: the stub runs nothing.
    unsafe { kernel.launch(&stream, &both::Args { from: Tensor::new(&x, [64, 32]), out: out.ptr_mut() }) }?;
    end.record(&stream)?;
    end.synchronize()?;
    end.milliseconds_since(&start)?;
    stream.synchronize()?;
    context.synchronize()?;
    Ok(out.to_vec()?[0])
}

#[test]
fn every_call_that_fails_is_an_error_and_nothing_leaks() {
    let stub = Stub::amd(SHARED);
    assert_eq!(session(), Ok(0.0));
    assert!(stub.calls().ends_with("live:"), "nothing is left");
    let failing = [
        ("hipDeviceGet", 1),
        ("hipGetDeviceProperties", 3),
        ("hipSetDevice", 10),
        ("hipModuleLoadData", 1),
        ("hipModuleGetFunction", 1),
        ("hipModuleLaunchKernel", 1),
        ("hipDeviceSynchronize", 1),
        ("hipStreamCreateWithFlags", 1),
        ("hipStreamSynchronize", 1),
        ("hipMalloc", 2),
        ("hipMallocAsync", 1),
        ("hipMemcpyHtoD", 1),
        ("hipMemcpyDtoH", 1),
        ("hipMemsetD8", 1),
        ("hipMemsetD8Async", 2),
        ("hipMemcpyDtoDAsync", 1),
        ("hipEventCreateWithFlags", 2),
        ("hipEventRecord", 2),
        ("hipEventSynchronize", 1),
        ("hipEventElapsedTime", 1),
        ("hipDriverGetVersion", 1),
        ("hipDeviceGetName", 1),
        ("hipDeviceTotalMem", 1),
    ];
    for (function, calls) in failing {
        for after in 0..calls {
            stub.fail(function, after, 2);
            let ended = session();
            // Failing to go back to the device before is of no interest to the call that was made.
            if function == "hipSetDevice" && ended == Ok(0.0) {
                continue;
            }
            let error = ended.unwrap_err();
            let Error::Driver(failure) = &error else { panic!("{function} {after}: {error}") };
            assert_eq!((failure.call, failure.status), (function, 2), "{error}");
            assert!(error.to_string().contains("out of memory (hipErrorOutOfMemory, 2)"), "{error}");
            let end = stub.calls();
            assert!(end.ends_with("live:"), "{function} {after}: {}", end.lines().last().unwrap_or_default());
        }
    }
}
