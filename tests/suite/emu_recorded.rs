//! The emulator beside a GPU: instructions whose results were recorded are run again, bit for bit.
//!
//! 1. `tests/emu/recorded/*.ptx` hold an entry for each form of an instruction, and `results.txt` what a GPU made of it.
//!    `scripts/gpu/record_ptx/` wrote both.
//! 2. Each form runs with the recorded operands. Its result must have the recorded bits; for the approximate functions,
//!    [`BOUNDS`] says by how much it may differ.
//!
//! Lines of `results.txt`:
//! - `pool NAME BASE64`: operands that forms share;
//! - `form MODULE ENTRY BLOCKS THREADS BYTES POOL… [map=…] = BASE64`: a launch, and the bytes that it left in its output.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use ttc::emu::tensor::map::Element;
use ttc::emu::tensor::{Swizzle, TensorMap};
use ttc::emu::{Argument, Launch, Memory, Options, Program, decode, parse, run};

/// How far an approximate instruction may be from the GPU: the start of the entry's name, the bits of an element of its
/// result, and the distance in units of its last place, or below an absolute value.
struct Bound {
    entries: &'static str,
    bits: u32,
    ulp: u64,
    absolute: f64,
}

const BOUNDS: &[Bound] = &[];

#[derive(Default)]
struct Recorded {
    pools: BTreeMap<String, Vec<u8>>,
    forms: Vec<Form>,
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

fn read(text: &str) -> Recorded {
    let mut recorded = Recorded::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["pool", name, data] => {
                recorded.pools.insert(name.into(), base64(data));
            }
            ["form", module, entry, blocks, threads, bytes, ref rest @ ..] => {
                let end = rest.iter().position(|&w| w == "=").unwrap_or(rest.len());
                let (maps, pools): (Vec<&str>, Vec<&str>) = rest[..end].iter().partition(|w| w.starts_with("map="));
                recorded.forms.push(Form {
                    module: module.into(),
                    entry: entry.into(),
                    blocks: blocks.parse().unwrap(),
                    threads: threads.parse().unwrap(),
                    bytes: bytes.parse().unwrap(),
                    pools: pools.into_iter().map(str::to_owned).collect(),
                    map: maps.first().map(|m| m["map=".len()..].to_owned()),
                    result: rest.get(end + 1).map(|data| base64(data)).unwrap_or_default(),
                });
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

/// The difference of two elements, or `None` if it is within the form's bound.
fn difference(form: &Form, expected: &[u8], found: &[u8]) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} bytes were recorded, and {} found", expected.len(), found.len()));
    }
    let bound = BOUNDS.iter().find(|b| form.entry.starts_with(b.entries));
    let width = bound.map_or(1, |b| b.bits as usize / 8);
    for (i, (e, f)) in expected.chunks(width).zip(found.chunks(width)).enumerate() {
        if e == f {
            continue;
        }
        let value = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |x, &b| x << 8 | u64::from(b));
        let (e, f) = (value(e), value(f));
        if bound.is_none_or(|b| !is_close(b, e, f)) {
            return Some(format!("element {i}: expected {e:#x}, found {f:#x}"));
        }
    }
    None
}

/// Whether two patterns are as near as a bound says. Patterns of numbers of one sign are ordered as the numbers are.
fn is_close(bound: &Bound, expected: u64, found: u64) -> bool {
    let number = |bits: u64| match bound.bits {
        16 => f64::from(f32::from_bits((bits as u32) << 16)),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    let same_sign = (expected ^ found) >> (bound.bits - 1) == 0;
    same_sign && expected.abs_diff(found) <= bound.ulp || (number(expected) - number(found)).abs() <= bound.absolute
}

#[test]
fn recorded_instructions_have_the_same_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emu/recorded");
    let recorded = read(&std::fs::read_to_string(folder.join("results.txt")).unwrap());
    let mut programs: BTreeMap<&str, Program> = BTreeMap::new();
    let mut problems = vec![];
    for form in &recorded.forms {
        let program = programs.entry(&form.module).or_insert_with(|| {
            let text = std::fs::read_to_string(folder.join(format!("{}.ptx", form.module))).unwrap();
            decode(&parse(&text).unwrap()).unwrap()
        });
        let problem = match emulate(program, form, &recorded.pools) {
            Err(why) => Some(why),
            Ok(found) => difference(form, &form.result, &found),
        };
        problems.extend(problem.map(|p| format!("{}: {p}", form.entry)));
    }
    assert!(recorded.forms.len() >= 900, "only {} forms", recorded.forms.len());
    assert!(
        problems.is_empty(),
        "{} of {} forms differ:\n{}",
        problems.len(),
        recorded.forms.len(),
        problems.join("\n")
    );
}
