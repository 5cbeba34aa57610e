//! Launches four kernels and checks their results: an addition on two streams and from eight threads, the same in
//! clusters, a softmax, and a product of matrices through tensor descriptors. Then it times launches.
//!
//! The program needs a GPU and its driver, and nothing else.

mod overhead;

mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

use kernels::{add, add_in_clusters, matmul, softmax};
use ttc_rt::{AsStream, Context, DeviceBuffer, Error, F16, Stream, Tensor, TensorMut};

const N: usize = 100_003;
const ROWS: usize = 37;
const COLUMNS: usize = 781;
const M: usize = 384;
const K: usize = 192;

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Error> {
    let gpu = Context::primary(0)?;
    println!("{gpu:?}");
    let shared = add::Kernel::load(&gpu)?;
    two_streams(&gpu, &shared)?;
    eight_threads(&gpu, &shared)?;
    clusters(&gpu)?;
    rows(&gpu)?;
    product(&gpu)?;
    overhead::measure(&gpu, &shared)
}

/// Small integers, so that every sum is exact.
fn value(i: usize) -> f32 {
    (i * 7 % 13) as f32 - 6.0
}

fn report(what: &str, right: bool) {
    println!("{what:36} {}", if right { "right" } else { "WRONG" });
    if !right {
        std::process::exit(1);
    }
}

/// Two vectors and a place for their sum.
struct Vectors {
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
    out: DeviceBuffer<f32>,
}

impl Vectors {
    fn new(gpu: &Context) -> Result<Vectors, Error> {
        let x: Vec<f32> = (0..N).map(value).collect();
        let y: Vec<f32> = (0..N).map(|i| value(i + 5)).collect();
        let mut out = DeviceBuffer::new(gpu, N)?;
        out.poison(0xff)?;
        Ok(Vectors { x: DeviceBuffer::from_slice(gpu, &x)?, y: DeviceBuffer::from_slice(gpu, &y)?, out })
    }

    fn launch(&mut self, kernel: &add::Kernel, stream: &impl AsStream) -> Result<(), Error> {
        let args = add::Args { x: self.x.ptr(), y: self.y.ptr(), out: self.out.ptr_mut(), n: N as i32 };
        // SAFETY: the three buffers have n elements, and they stay until the stream has been waited for.
        unsafe { kernel.launch(stream, &args) }
    }

    fn is_right(&self) -> Result<bool, Error> {
        Ok(self.out.to_vec()?.iter().enumerate().all(|(i, &sum)| sum == value(i) + value(i + 5)))
    }
}

fn two_streams(gpu: &Context, kernel: &add::Kernel) -> Result<(), Error> {
    let streams = [Stream::new(gpu)?, Stream::new(gpu)?];
    let mut vectors = [Vectors::new(gpu)?, Vectors::new(gpu)?];
    for (vectors, stream) in vectors.iter_mut().zip(&streams) {
        vectors.launch(kernel, stream)?;
    }
    for stream in &streams {
        stream.synchronize()?;
    }
    report("add on two streams", vectors[0].is_right()? && vectors[1].is_right()?);
    Ok(())
}

/// Each thread loads a kernel of its own, and launches it and the shared one.
fn eight_threads(gpu: &Context, shared: &add::Kernel) -> Result<(), Error> {
    let work = || -> Result<bool, Error> {
        let stream = Stream::new(gpu)?;
        let own = add::Kernel::load(gpu)?;
        let mut vectors = Vectors::new(gpu)?;
        for turn in 0..100 {
            vectors.launch(if turn % 2 == 0 { &own } else { shared }, &stream)?;
        }
        stream.synchronize()?;
        vectors.is_right()
    };
    let right: Result<Vec<bool>, Error> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|t| t.join().expect("a thread does not panic")).collect()
    });
    report("add from eight threads", right?.into_iter().all(|r| r));
    Ok(())
}

fn clusters(gpu: &Context) -> Result<(), Error> {
    let kernel = match add_in_clusters::Kernel::load(gpu) {
        Err(error @ Error::NoVariant { .. }) => {
            println!("{:36} left out: {error}", "add in clusters");
            return Ok(());
        }
        other => other?,
    };
    let stream = Stream::new(gpu)?;
    let mut v = Vectors::new(gpu)?;
    let args = add_in_clusters::Args { x: v.x.ptr(), y: v.y.ptr(), out: v.out.ptr_mut(), n: N as i32 };
    // SAFETY: the three buffers have n elements, and they stay until the stream has been waited for.
    unsafe { kernel.launch(&stream, &args) }?;
    stream.synchronize()?;
    report("add in clusters", v.is_right()?);
    Ok(())
}

fn rows(gpu: &Context) -> Result<(), Error> {
    let input: Vec<f32> = (0..ROWS * COLUMNS).map(|i| value(i) / 3.0).collect();
    let x = DeviceBuffer::from_slice(gpu, &input)?;
    let mut y = DeviceBuffer::<f32>::new(gpu, input.len())?;
    y.poison(0xff)?;
    let stream = Stream::new(gpu)?;
    let kernel = softmax::Kernel::load(gpu)?;
    let args = softmax::Args { x: x.ptr(), y: y.ptr_mut(), rows: ROWS as i32, n: COLUMNS as i32 };
    // SAFETY: both buffers have rows * n elements, and they stay until the stream has been waited for.
    unsafe { kernel.launch(&stream, &args) }?;
    stream.synchronize()?;
    let output = y.to_vec()?;
    let right = input.chunks(COLUMNS).zip(output.chunks(COLUMNS)).all(|(row, got)| {
        let sum: f64 = row.iter().map(|v| f64::from(*v).exp()).sum();
        row.iter().zip(got).all(|(v, got)| (f64::from(*v).exp() / sum - f64::from(*got)).abs() < 1e-6)
    });
    report("softmax", right);
    Ok(())
}

/// c = a @ b.T, where a is [M, K], and b [M, K] as well. All sums are integers that f16 holds.
fn product(gpu: &Context) -> Result<(), Error> {
    let small = |i: usize| (i * 5 % 7) as f32 - 3.0;
    let values = |shift: usize| (0..M * K).map(move |i| small(i + shift)).collect::<Vec<f32>>();
    let halves = |v: &[f32]| v.iter().map(|v| F16::from_f32(*v)).collect::<Vec<_>>();
    let (a, b) = (values(0), values(3));
    let (left, right) = (DeviceBuffer::from_slice(gpu, &halves(&a))?, DeviceBuffer::from_slice(gpu, &halves(&b))?);
    let mut c = DeviceBuffer::<F16>::new(gpu, M * M)?;
    c.poison(0xff)?;
    let stream = Stream::new(gpu)?;
    let kernel = matmul::Kernel::load(gpu)?;
    let args = matmul::Args {
        a: Tensor::new(&left, [M as i64, K as i64]),
        b: Tensor::new(&right, [M as i64, K as i64]),
        c: TensorMut::new(&mut c, [M as i64, M as i64]),
        m: M as i32,
        n: M as i32,
        k: K as i32,
    };
    // SAFETY: the buffers are as large as the extents say, and they stay until the stream has been waited for.
    unsafe { kernel.launch(&stream, &args) }?;
    stream.synchronize()?;
    let got = c.to_vec()?;
    let dot = |row: usize, col: usize| -> f32 { (0..K).map(|k| a[row * K + k] * b[col * K + k]).sum() };
    report("product through tensor descriptors", (0..M * M).all(|i| got[i].to_f32() == dot(i / M, i % M)));
    Ok(())
}
