//! The emulator beside a GPU: instructions whose results were recorded are run again, bit for bit.
//!
//! 1. `tests/emu/recorded/*.ptx` hold an entry for each form of an instruction, and `results.txt` what a GPU made of
//!    it. `scripts/gpu/record_ptx/` wrote both.
//! 2. Each form runs with the recorded operands. Its result must have the recorded bits; for the approximate functions,
//!    [`BOUNDS`] says by how much it may differ. A bound that is wider than what is measured fails too.
//! 3. The emulator refuses the forms at which the GPU stopped.
//!
//! Lines of `results.txt`, which `scripts/gpu/record_ptx/pack.py` writes:
//! - `pool NAME BASE64`: operands that forms share;
//! - `form MODULE ENTRY BLOCKS THREADS BYTES POOL… [map=…] [like=N] = BASE64`: a launch, and the first bytes of what it
//!   left in its output, as counted runs: how many zeros, how many other bytes, and these. With `like=N` they are the
//!   difference from the Nth form of the same length before;
//! - `stops MODULE ENTRY …`: a launch at which the GPU stopped with an illegal instruction.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ttc::emu::tensor::map::Element;
use ttc::emu::tensor::{Swizzle, TensorMap};
use ttc::emu::{Argument, Launch, Memory, Options, Program, decode, parse, run};

/// How far an approximate instruction may be from the GPU: the starts of the entries' names, the bits of an element of
/// the result, and the distance: in units of the last place, or below an absolute value.
struct Bound {
    entries: &'static [&'static str],
    bits: u32,
    ulp: u64,
    absolute: f64,
}

const fn ulps(entries: &'static [&'static str], bits: u32, ulp: u64) -> Bound {
    Bound { entries, bits, ulp, absolute: 0.0 }
}

/// The high word alone of a f64 is approximate, so its elements are words.
const BOUNDS: &[Bound] = &[
    ulps(&["ex2_approx_f16", "tanh_approx_f16", "ex2_approx_ftz_bf16", "tanh_approx_bf16"], 16, 1),
    ulps(&["ex2_approx_f32", "ex2_approx_ftz_f32"], 32, 1),
    ulps(&["rcp_approx_f32", "rcp_approx_ftz_f32"], 32, 1),
    ulps(&["rsqrt_approx_f32", "rsqrt_approx_ftz_f32"], 32, 1),
    ulps(&["sqrt_approx_f32", "sqrt_approx_ftz_f32"], 32, 1),
    ulps(&["rcp_approx_ftz_f64", "rsqrt_approx_ftz_f64"], 32, 1),
    ulps(&["div_approx_f32", "div_approx_ftz_f32"], 32, 2),
    ulps(&["div_full_f32", "div_full_ftz_f32"], 32, 2),
    ulps(&["tanh_approx_f32"], 32, 114),
    Bound { entries: &["lg2_approx_f32", "lg2_approx_ftz_f32"], bits: 32, ulp: 3, absolute: 8.2e-8 },
    Bound { entries: &["sin_approx_f32", "sin_approx_ftz_f32"], bits: 32, ulp: 0, absolute: 2.7e-7 },
    Bound { entries: &["cos_approx_f32", "cos_approx_ftz_f32"], bits: 32, ulp: 0, absolute: 3.3e-7 },
];

fn bound_of(form: &Form) -> Option<usize> {
    BOUNDS.iter().position(|b| b.entries.iter().any(|e| form.entry.starts_with(e)))
}

#[derive(Default)]
struct Recorded {
    pools: BTreeMap<String, Vec<u8>>,
    forms: Vec<Form>,
    stops: Vec<Form>,
}

struct Form {
    module: String,
    entry: String,
    blocks: u32,
    threads: u32,
    bytes: usize,
    pools: Vec<String>,
    map: Option<String>,
    result: Vec<u8>,
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("`{}` is no digit of base64", other as char),
    };
    let mut out = vec![];
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0u32, |all, &c| all << 6 | u32::from(digit(c))) << (6 * (4 - four.len()));
        out.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    out
}

/// The bytes of counted runs.
fn expand(runs: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (vec![], runs);
    while let [zeros, others, tail @ ..] = rest {
        out.resize(out.len() + usize::from(*zeros), 0);
        let (bytes, next) = tail.split_at(usize::from(*others));
        out.extend(bytes);
        rest = next;
    }
    out
}

fn read(text: &str) -> Recorded {
    let mut recorded = Recorded::default();
    let mut earlier: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["pool", name, data] => {
                recorded.pools.insert(name.into(), base64(data));
            }
            [kind @ ("form" | "stops"), module, entry, blocks, threads, bytes, ref rest @ ..] => {
                let end = rest.iter().position(|&w| w == "=").unwrap_or(rest.len());
                let named = |name: &str| rest[..end].iter().find_map(|w| w.strip_prefix(name));
                let mut form = Form {
                    module: module.into(),
                    entry: entry.into(),
                    blocks: blocks.parse().unwrap(),
                    threads: threads.parse().unwrap(),
                    bytes: bytes.parse().unwrap(),
                    pools: rest[..end].iter().filter(|w| !w.contains('=')).map(|&w| w.to_owned()).collect(),
                    map: named("map=").map(str::to_owned),
                    result: vec![],
                };
                if kind == "stops" {
                    recorded.stops.push(form);
                    continue;
                }
                form.result = expand(&base64(rest[end + 1]));
                let same = earlier.entry(form.result.len()).or_default();
                if let Some(back) = named("like=") {
                    let other = &same[same.len() - back.parse::<usize>().unwrap()];
                    form.result.iter_mut().zip(other).for_each(|(x, y)| *x ^= y);
                }
                same.push(form.result.clone());
                recorded.forms.push(form);
            }
            ["device", ..] => {}
            _ => panic!("`{line}` is no line of recorded results"),
        }
    }
    recorded
}

/// The tensor map that `scripts/gpu/record_ptx/tiles.py` describes so, with the buffer's address.
fn tensor_map(text: &str, address: impl Fn(&str) -> u64) -> TensorMap {
    let parts: Vec<&str> = text.split(':').collect();
    let [element, dims, strides, sizes, steps, swizzle, fill, place] = parts[..] else { panic!("`{text}` is no map") };
    let list =
        |text: &str| -> Vec<u64> { text.split(',').filter(|x| !x.is_empty()).map(|x| x.parse().unwrap()).collect() };
    let small = |text| -> [u32; 5] {
        let list = list(text);
        std::array::from_fn(|i| list.get(i).map_or(0, |&x| x as u32))
    };
    let strides = list(strides);
    // The driver counts types as `tensormap.replace` does, without f32 that is flushed.
    let number: u32 = element.parse().unwrap();
    TensorMap {
        element: Element::from_number(if number < 8 { number } else { number + 1 }).unwrap(),
        rank: list(dims).len() as u32,
        address: address(place),
        dims: small(dims),
        strides: std::array::from_fn(|i| strides.get(i).copied().unwrap_or(0)),
        box_dims: small(sizes),
        element_strides: small(steps),
        interleave: 0,
        swizzle: [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128]
            [swizzle.parse::<usize>().unwrap()],
        fill_nan: fill == "1",
    }
}

/// What the emulator makes of a form.
fn emulate(program: &Program, form: &Form, pools: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, String> {
    let mut memory = Memory::default();
    let out = memory.add("out", &vec![0xa5; form.bytes]);
    let buffers: Vec<_> = form.pools.iter().map(|p| memory.add(p, &pools[p])).collect();
    let pointer = |buffer| Argument::Pointer { buffer, offset: 0 };
    let mut arguments = vec![pointer(out)];
    arguments.extend((0..3).map(|i| buffers.get(i).map_or(Argument::Scalar(vec![0; 8]), |&b| pointer(b))));
    if let Some(map) = &form.map {
        let address = |place: &str| memory.address(if place == "out" { out } else { buffers[0] });
        arguments.push(Argument::TensorMap(tensor_map(map, address)));
    }
    let launch = Launch {
        grid: [form.blocks, 1, 1],
        block: [form.threads, 1, 1],
        cluster: [1; 3],
        dynamic_shared: 0,
        arguments,
    };
    let outcome = run(program, &form.entry, &launch, &mut memory, &Options::default())
        .map_err(|fault| format!("{:?}", fault.finding))?;
    match outcome.findings.first() {
        Some(finding) => Err(format!("{finding:?}")),
        None => Ok(memory.bytes(out)),
    }
}

/// What was measured of the forms under one bound, or of those without.
#[derive(Default)]
struct Measured {
    forms: usize,
    results: usize,
    different: usize,
    /// The largest distances: in units of the last place where it is not below the absolute bound, and absolutely.
    ulp: u64,
    absolute: f64,
}

impl Form {
    /// The bytes of one result: what a thread stores, or a word of what it stores for a tensor.
    fn unit(&self) -> usize {
        if self.module == "scalar" { self.bytes / (self.blocks * self.threads) as usize } else { 4 }
    }

    /// Adds the distances of a result to what was measured. The error names the first element that is too far off.
    fn measure(&self, found: &[u8], measured: &mut Measured) -> Result<(), String> {
        let found = found.get(..self.result.len()).ok_or("the result is shorter than what was recorded")?;
        let bound = bound_of(self).map(|i| &BOUNDS[i]);
        let width = bound.map_or(self.unit(), |b| b.bits as usize / 8);
        measured.forms += 1;
        measured.results += self.result.len() / self.unit();
        let mut problem = Ok(());
        for (i, (e, f)) in self.result.chunks(width).zip(found.chunks(width)).enumerate() {
            if e == f {
                continue;
            }
            measured.different += 1;
            let value = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |x, &b| x << 8 | u64::from(b));
            let (e, f) = (value(e), value(f));
            if bound.is_none_or(|b| !b.allows(e, f, measured)) && problem.is_ok() {
                problem = Err(format!("element {i}: expected {e:#x}, found {f:#x}"));
            }
        }
        problem
    }
}

impl Bound {
    /// Whether two patterns are as near as the bound says. Patterns of one sign are ordered as the numbers are.
    fn allows(&self, expected: u64, found: u64, measured: &mut Measured) -> bool {
        let number = |bits: u64| f64::from(f32::from_bits(bits as u32));
        let absolute = (number(expected) - number(found)).abs();
        if self.absolute > 0.0 && absolute <= self.absolute {
            measured.absolute = measured.absolute.max(absolute);
            return true;
        }
        let same_sign = (expected ^ found) >> (self.bits - 1) == 0;
        let ulp = if same_sign { expected.abs_diff(found) } else { u64::MAX };
        measured.ulp = measured.ulp.max(ulp);
        ulp <= self.ulp
    }

    /// Whether the measured distances reach the bound, so that it is no wider than it must be.
    fn is_tight(&self, measured: &Measured) -> bool {
        measured.ulp == self.ulp && measured.absolute >= self.absolute * 0.9
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emu/recorded")
}

fn recorded() -> Recorded {
    read(&std::fs::read_to_string(folder().join("results.txt")).unwrap())
}

fn program(module: &str) -> Program {
    let text = std::fs::read_to_string(folder().join(format!("{module}.ptx"))).unwrap();
    decode(&parse(&text).unwrap()).unwrap()
}

#[test]
fn recorded_instructions_have_the_same_results() {
    let recorded = recorded();
    let mut programs = BTreeMap::new();
    let mut problems = vec![];
    let mut exact = Measured::default();
    let mut near: Vec<Measured> = BOUNDS.iter().map(|_| Measured::default()).collect();
    for form in &recorded.forms {
        let program = programs.entry(&form.module).or_insert_with(|| program(&form.module));
        let count = form.result.len() / form.unit();
        // A warp makes no more of one `ldmatrix`.
        let least = if form.module == "matrix" { 32 } else { 80 };
        assert!(count >= least, "{} has only {count} results", form.entry);
        let measured = bound_of(form).map_or(&mut exact, |i| &mut near[i]);
        let compared = emulate(program, form, &recorded.pools).and_then(|found| form.measure(&found, measured));
        problems.extend(compared.err().map(|p| format!("{}: {p}", form.entry)));
    }
    println!("{} forms with {} results, bit for bit", exact.forms, exact.results);
    for (bound, m) in BOUNDS.iter().zip(&near) {
        let Measured { forms, results, different, ulp, absolute } = m;
        println!(
            "{forms} forms with {results} results, of which {different} differ by at most {ulp} ulp or {absolute:.2e}: {}",
            bound.entries.join(", ")
        );
        if !bound.is_tight(m) {
            problems.push(format!("{}: the bound is wider than the results", bound.entries.join(", ")));
        }
    }
    assert!(recorded.forms.len() >= 980, "only {} forms", recorded.forms.len());
    assert!(problems.is_empty(), "of {} forms:\n{}", recorded.forms.len(), problems.join("\n"));
}

/// What stopped are boxes whose coordinates the hardware refuses.
#[test]
fn recorded_instructions_that_stopped_the_gpu_are_refused() {
    let recorded = recorded();
    let tiles = program("tiles");
    assert!(recorded.stops.len() >= 15, "only {} forms", recorded.stops.len());
    for form in &recorded.stops {
        let found = emulate(&tiles, form, &recorded.pools).map(|_| ());
        let refused = found.as_ref().is_err_and(|why| why.contains("starts at coordinate"));
        assert!(refused, "{} ended with {found:?}", form.entry);
    }
}
