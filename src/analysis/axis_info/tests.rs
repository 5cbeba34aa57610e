//! The claims of axis analysis against brute force: random programs are evaluated, and every claim about every value
//! must hold.
//!
//! Divisors are generated from 1 on only, and sums small enough not to wrap.

mod flow;

use super::*;
use crate::ir::core::{Builder, InsertPoint, Loc, OpState};
use crate::ir::dialects::{ArithOp, TtOp};

/// A small generator of pseudo-random numbers (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// A value of the program with its elements, row-major.
#[derive(Clone)]
struct Evaluated {
    value: Value,
    shape: Vec<i64>,
    elements: Vec<i64>,
    is_bool: bool,
}

struct Program {
    ir: Ir,
    func: Op,
    values: Vec<Evaluated>,
    random: Random,
}

const I32: fn() -> Type = || Type::int(32);

fn attr_dict(entries: &[(&str, i64)]) -> Attr {
    Attr::new(AttrData::Dict(entries.iter().map(|&(n, v)| (n.into(), Attr::i32(v))).collect()))
}

impl Program {
    /// A function of two parameters, one of them divisible by 16.
    fn new(seed: u64) -> Program {
        let mut ir = Ir::new(Loc::unknown());
        let ty = Type::function(&[I32(), I32()], &[]);
        let state = OpState::new(TtOp::Func, Loc::unknown())
            .attr("sym_name", Attr::str("f"))
            .attr("function_type", Attr::ty(ty))
            .attr("arg_attrs", Attr::new(AttrData::Array(vec![attr_dict(&[("tt.divisibility", 16)]), attr_dict(&[])])))
            .regions(1);
        let block = ir.module_block();
        let func = Builder::new(&mut ir, InsertPoint::End(block), Loc::unknown()).insert(state);
        let region = ir.region(func, 0);
        let entry = ir.add_block(region, &[(I32(), Loc::unknown()), (I32(), Loc::unknown())]);
        let mut random = Random(seed);
        let args = ir.args(entry).to_vec();
        let numbers = [16 * (random.below(12) as i64 - 4), random.below(40) as i64];
        let values = args.into_iter().zip(numbers).map(|(value, n)| Evaluated {
            value,
            shape: vec![],
            elements: vec![n],
            is_bool: false,
        });
        let values = values.collect();
        Program { ir, func, values, random }
    }

    fn build(&mut self, state: OpState, shape: &[i64], elements: Vec<i64>, is_bool: bool) {
        let block = self.ir.body(self.func, 0).expect("the function has a body");
        let elem = Type::int(if is_bool { 1 } else { 32 });
        let ty = if shape.is_empty() { elem } else { Type::tensor(shape, elem, None) };
        let op = Builder::new(&mut self.ir, InsertPoint::End(block), Loc::unknown()).insert(state.results(&[ty]));
        self.values.push(Evaluated { value: self.ir.result(op), shape: shape.to_vec(), elements, is_bool });
    }

    fn pick(&mut self, wanted: impl Fn(&Evaluated) -> bool) -> Option<Evaluated> {
        let fitting: Vec<Evaluated> = self.values.iter().filter(|v| wanted(v)).cloned().collect();
        if fitting.is_empty() { None } else { Some(fitting[self.random.below(fitting.len())].clone()) }
    }

    fn state(&self, kind: impl Into<OpKind>, operands: &[&Evaluated]) -> OpState {
        OpState::new(kind, Loc::unknown()).operands(&operands.iter().map(|e| e.value).collect::<Vec<_>>())
    }

    /// Adds one operation; may give up.
    fn step(&mut self) {
        match self.random.below(10) {
            0 => {
                let (start, n) = ([0, 8, 3][self.random.below(3)], 8);
                let state =
                    self.state(TtOp::MakeRange, &[]).attr("start", Attr::i32(start)).attr("end", Attr::i32(start + n));
                self.build(state, &[n], (start..start + n).collect(), false);
            }
            1 => {
                let shape: &[i64] = if self.random.below(2) == 0 { &[8] } else { &[4, 8] };
                let c = [0, 1, 2, 4, 6, 8, 16, 32][self.random.below(8)];
                let value = Attr::int_splat(Type::tensor(shape, I32(), None), c);
                let state = self.state(ArithOp::Constant, &[]).attr("value", value);
                self.build(state, shape, vec![c; shape.iter().product::<i64>() as usize], false);
            }
            2 => {
                let Some(x) = self.pick(|v| v.shape.is_empty()) else { return };
                let shape: &[i64] = if self.random.below(2) == 0 { &[8] } else { &[4, 8] };
                let state = self.state(TtOp::Splat, &[&x]);
                self.build(state, shape, vec![x.elements[0]; shape.iter().product::<i64>() as usize], x.is_bool);
            }
            3 => self.view(),
            4 => self.choose(),
            _ => self.binary(),
        }
    }

    fn view(&mut self) {
        match self.random.below(4) {
            0 => {
                let Some(x) = self.pick(|v| v.shape.len() == 1) else { return };
                let axis = self.random.below(2);
                let mut shape = x.shape.clone();
                shape.insert(axis, 1);
                let state = self.state(TtOp::ExpandDims, &[&x]).attr("axis", Attr::i32(axis as i64));
                self.build(state, &shape, x.elements, x.is_bool);
            }
            1 => {
                let Some(x) = self.pick(|v| v.shape.len() == 2 && v.shape.contains(&1)) else { return };
                let shape: Vec<i64> = if x.shape[0] == 1 { vec![4, x.shape[1]] } else { vec![x.shape[0], 4] };
                let at = |i: i64, j: i64| {
                    (if x.shape[0] == 1 { 0 } else { i }) * x.shape[1] + if x.shape[1] == 1 { 0 } else { j }
                };
                let elements = (0..shape[0])
                    .flat_map(|i| (0..shape[1]).map(move |j| (i, j)))
                    .map(|(i, j)| x.elements[at(i, j) as usize]);
                let elements = elements.collect();
                let state = self.state(TtOp::Broadcast, &[&x]);
                self.build(state, &shape, elements, x.is_bool);
            }
            2 => {
                let Some(x) = self.pick(|v| v.shape.len() == 2) else { return };
                let (m, n) = (x.shape[0], x.shape[1]);
                let elements =
                    (0..n).flat_map(|j| (0..m).map(move |i| i * n + j)).map(|k| x.elements[k as usize]).collect();
                let state = self.state(TtOp::Trans, &[&x]).attr("order", Attr::i32_array(&[1, 0]));
                self.build(state, &[n, m], elements, x.is_bool);
            }
            _ => {
                let Some(x) = self.pick(|v| !v.shape.is_empty()) else { return };
                let n: i64 = x.shape.iter().product();
                let shape = match self.random.below(3) {
                    0 => vec![n],
                    1 => vec![2, n / 2],
                    _ => vec![n / 4, 4],
                };
                let state = self.state(TtOp::Reshape, &[&x]);
                self.build(state, &shape, x.elements, x.is_bool);
            }
        }
    }

    fn choose(&mut self) {
        let Some(c) = self.pick(|v| v.is_bool && !v.shape.is_empty()) else { return };
        let same = |v: &Evaluated| !v.is_bool && v.shape == c.shape;
        let (Some(a), Some(b)) = (self.pick(same), self.pick(same)) else { return };
        let elements =
            (0..c.elements.len()).map(|i| if c.elements[i] != 0 { a.elements[i] } else { b.elements[i] }).collect();
        let state = self.state(ArithOp::Select, &[&c, &a, &b]);
        self.build(state, &c.shape, elements, false);
    }

    fn binary(&mut self) {
        let Some(a) = self.pick(|v| !v.is_bool && v.elements.iter().all(|e| e.abs() < 1 << 20)) else { return };
        let Some(b) = self.pick(|v| !v.is_bool && v.shape == a.shape) else { return };
        let natural = |v: &Evaluated, low: i64| v.elements.iter().all(|&e| e >= low && e < 1 << 20);
        let (kind, f): (ArithOp, fn(i64, i64) -> i64) = match self.random.below(14) {
            0 | 1 => (ArithOp::Addi, |x, y| x + y),
            2 => (ArithOp::Subi, |x, y| x - y),
            3 if natural(&b, -1000) && b.elements.iter().all(|&e| e < 1000) => (ArithOp::Muli, |x, y| x * y),
            4 | 5 if natural(&b, 1) => (ArithOp::Divsi, |x, y| x / y),
            6 | 7 if natural(&b, 1) => (ArithOp::Remsi, |x, y| x % y),
            8 => (ArithOp::Andi, |x, y| x & y),
            9 => (ArithOp::Ori, |x, y| x | y),
            10 if natural(&b, 0) && b.elements.iter().all(|&e| e < 6) => (ArithOp::Shli, |x, y| x << y),
            11 if natural(&b, 0) && b.elements.iter().all(|&e| e < 6) => (ArithOp::Shrsi, |x, y| x >> y),
            12 => (ArithOp::Maxsi, i64::max),
            13 => return self.compare(&a, &b),
            _ => (ArithOp::Minsi, i64::min),
        };
        let elements = a.elements.iter().zip(&b.elements).map(|(&x, &y)| f(x, y)).collect();
        let state = self.state(kind, &[&a, &b]);
        self.build(state, &a.shape, elements, false);
    }

    fn compare(&mut self, a: &Evaluated, b: &Evaluated) {
        let predicate = self.random.below(6) as i64;
        let holds = |x: i64, y: i64| match predicate {
            0 => x == y,
            1 => x != y,
            2 => x < y,
            3 => x <= y,
            4 => x > y,
            _ => x >= y,
        };
        let elements = a.elements.iter().zip(&b.elements).map(|(&x, &y)| i64::from(holds(x, y))).collect();
        let state = self.state(ArithOp::Cmpi, &[a, b]).attr("predicate", Attr::i32(predicate));
        self.build(state, &a.shape, elements, true);
    }

    /// Whether a parameter is below zero that is taken for a count.
    fn breaks_a_promise(&self) -> bool {
        self.values[..2].iter().any(|v| v.elements[0] < 0 && crate::analysis::signs::counts(&self.ir, v.value))
    }

    /// The first claim that does not hold.
    fn wrong_claim(&self) -> Option<String> {
        let analysis = AxisInfoAnalysis::new(&self.ir, self.func);
        self.values.iter().enumerate().find_map(|(i, v)| {
            let info = analysis.get(v.value)?;
            check(info, v).map(|what| {
                format!("value {i} of {}: {what}; {info}; {:?} {:?}", self.values.len(), v.shape, v.elements)
            })
        })
    }
}

fn check(info: &AxisInfo, v: &Evaluated) -> Option<String> {
    if let Some(c) = info.constant
        && !v.is_bool
        && v.elements.iter().any(|&e| e != c)
    {
        return Some("constant".into());
    }
    let shape = if v.shape.is_empty() { vec![1] } else { v.shape.clone() };
    for d in 0..shape.len() {
        let stride: i64 = shape[d + 1..].iter().product();
        for start in (0..v.elements.len() as i64).filter(|i| i / stride % shape[d] == 0) {
            let line: Vec<i64> = (0..shape[d]).map(|k| v.elements[(start + k * stride) as usize]).collect();
            let pieces = |n: i64| line.chunks(usize::try_from(n.min(shape[d])).unwrap_or(1));
            if !v.is_bool && pieces(info.contiguity[d]).any(|run| run.windows(2).any(|w| w[1] != w[0] + 1)) {
                return Some(format!("contiguity along {d}"));
            }
            if !v.is_bool && pieces(info.contiguity[d]).any(|run| run[0] % info.divisibility[d] != 0) {
                return Some(format!("divisibility along {d}"));
            }
            if pieces(info.constancy[d]).any(|block| block.iter().any(|e| *e != block[0])) {
                return Some(format!("constancy along {d}"));
            }
        }
    }
    None
}

#[test]
fn claims_hold_on_every_value_of_random_programs() {
    for seed in 0..4000 {
        let mut program = Program::new(seed);
        for _ in 0..24 {
            program.step();
        }
        if program.breaks_a_promise() {
            continue;
        }
        assert_eq!(program.wrong_claim(), None, "seed {seed}");
    }
}

#[test]
fn a_masked_off_comparison_is_caught_by_the_check() {
    let info = AxisInfo { constancy: vec![8], ..AxisInfo::unknown(1) };
    let mut program = Program::new(1);
    let v =
        Evaluated { shape: vec![8], elements: vec![0, 0, 0, 1, 1, 1, 1, 1], is_bool: true, ..program.values.remove(0) };
    assert_eq!(check(&info, &v), Some("constancy along 0".into()));
}

/// `base + range` along the last axis is contiguous; the pointer's divisor is in bytes.
#[test]
fn text_form_of_the_facts() {
    let info = AxisInfo { contiguity: vec![1, 4], divisibility: vec![1, 16], constancy: vec![2, 1], constant: Some(3) };
    assert_eq!(info.to_string(), "contiguity = [1, 4], divisibility = [1, 16], constancy = [2, 1], constant_value = 3");
    assert!(AxisInfo::unknown(1).to_string().ends_with("constant_value = <none>"));
}
