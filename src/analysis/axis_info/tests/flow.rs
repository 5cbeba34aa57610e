//! Claims about values in loops and conditionals, on every value that is there while the program runs.
//!
//! 1. A random program is built: arithmetic on scalars and vectors of 8, nested `scf.for`, `scf.if` and `scf.while`
//!    with carried values.
//! 2. It is run for some parameters; each value that an operation gives, in each iteration, is noted. A run that leaves
//!    what the rules take for granted (no overflow; division and remainder of numbers from 0 on, by numbers from 1 on)
//!    or that takes too long says nothing and is counted as such.
//! 3. Every claim must hold on everything that was noted.

use std::collections::BTreeMap;

use super::{Evaluated, I32, Random, attr_dict, check};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Attr, AttrData, Block, Builder, InsertPoint, Ir, Loc, Op, OpState, Type, Value};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::enums::Enumeration;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp};

const SIZE: i64 = 8;
/// Operations that a run may take.
const STEPS: usize = 4000;

struct Program {
    ir: Ir,
    func: Op,
    random: Random,
}

/// The scalars, vectors and conditions that may be used.
#[derive(Clone, Default)]
struct Scope {
    scalars: Vec<Value>,
    vectors: Vec<Value>,
    bools: Vec<Value>,
}

fn vector() -> Type {
    Type::tensor(&[SIZE], I32(), None)
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut ir = Ir::new(Loc::unknown());
        let facts = Attr::new(AttrData::Array(vec![attr_dict(&[("tt.divisibility", 16)]), attr_dict(&[])]));
        let state = OpState::new(TtOp::Func, Loc::unknown())
            .attr("sym_name", Attr::str("f"))
            .attr("function_type", Attr::ty(Type::function(&[I32(), I32()], &[])))
            .attr("arg_attrs", facts);
        let block = ir.module_block();
        let func = Builder::new(&mut ir, InsertPoint::End(block), Loc::unknown()).insert(state.regions(1));
        let region = ir.region(func, 0);
        let entry = ir.add_block(region, &[(I32(), Loc::unknown()), (I32(), Loc::unknown())]);
        let mut program = Program { ir, func, random: Random(seed) };
        let mut scope = Scope { scalars: program.ir.args(entry).to_vec(), ..Scope::default() };
        for c in [0, 1, 4, 16] {
            scope.scalars.push(program.add(entry, ArithOp::Constant, &[], I32(), &[("value", Attr::i32(c))]));
        }
        let range = [("start", Attr::i32(0)), ("end", Attr::i32(SIZE))];
        scope.vectors.push(program.add(entry, TtOp::MakeRange, &[], vector(), &range));
        program.fill(entry, &mut scope, 3);
        program.end(entry, TtOp::Return, &[]);
        program
    }

    fn add(
        &mut self,
        block: Block,
        kind: impl Into<OpKind>,
        operands: &[Value],
        ty: Type,
        attrs: &[(&str, Attr)],
    ) -> Value {
        Builder::new(&mut self.ir, InsertPoint::End(block), Loc::unknown()).value_with(kind, operands, ty, attrs)
    }

    fn end(&mut self, block: Block, kind: impl Into<OpKind>, operands: &[Value]) {
        Builder::new(&mut self.ir, InsertPoint::End(block), Loc::unknown()).op(kind, operands, &[]);
    }

    fn any(&mut self, of: &[Value]) -> Value {
        of[self.random.below(of.len())]
    }

    /// Adds some operations to a block; `depth` bounds how deep regions nest.
    fn fill(&mut self, block: Block, scope: &mut Scope, depth: usize) {
        for _ in 0..4 + self.random.below(5) {
            match self.random.below(9) {
                0 | 1 if depth > 0 => self.loop_(block, scope, depth),
                2 if depth > 0 => self.if_(block, scope, depth),
                3 if depth > 0 => self.while_(block, scope, depth),
                4 => {
                    let x = self.any(&scope.scalars.clone());
                    scope.vectors.push(self.add(block, TtOp::Splat, &[x], vector(), &[]));
                }
                5 => {
                    let value = self.condition(block, &scope.scalars.clone());
                    scope.bools.push(value);
                }
                6 => self.binary(block, &mut scope.vectors),
                _ => self.binary(block, &mut scope.scalars),
            }
        }
    }

    fn condition(&mut self, block: Block, of: &[Value]) -> Value {
        let (x, y, predicate) = (self.any(of), self.any(of), CmpiPredicate::from_number(self.random.below(6) as i64));
        let predicate = predicate.expect("six predicates");
        self.add(block, ArithOp::Cmpi, &[x, y], Type::int(1), &[("predicate", predicate.attr())])
    }

    fn binary(&mut self, block: Block, of: &mut Vec<Value>) {
        use ArithOp::{Addi, Andi, Divsi, Maxsi, Minsi, Muli, Remsi, Subi};
        let kind = [Addi, Addi, Addi, Subi, Muli, Muli, Divsi, Remsi, Andi, Maxsi, Minsi][self.random.below(11)];
        let (x, y) = (self.any(of), self.any(of));
        let ty = self.ir.ty(x);
        of.push(self.add(block, kind, &[x, y], ty, &[]));
    }

    /// A scalar and a vector that a region takes or gives.
    fn pair(&mut self, scope: &Scope) -> [Value; 2] {
        [self.any(&scope.scalars), self.any(&scope.vectors)]
    }

    fn region(&mut self, op: Op, index: usize, types: &[Type]) -> Block {
        let region = self.ir.region(op, index);
        let args: Vec<_> = types.iter().map(|&t| (t, Loc::unknown())).collect();
        self.ir.add_block(region, &args)
    }

    fn structured(&mut self, block: Block, kind: ScfOp, operands: &[Value], regions: usize) -> Op {
        let state = OpState::new(kind, Loc::unknown()).operands(operands).results(&[I32(), vector()]).regions(regions);
        Builder::new(&mut self.ir, InsertPoint::End(block), Loc::unknown()).insert(state)
    }

    fn keep_results(&mut self, op: Op, scope: &mut Scope) {
        scope.scalars.push(self.ir.results(op)[0]);
        scope.vectors.push(self.ir.results(op)[1]);
    }

    fn inner(&mut self, outer: &Scope, args: &[Value]) -> Scope {
        let mut scope = outer.clone();
        for &arg in args {
            let list = if self.ir.ty(arg).is_tensor() { &mut scope.vectors } else { &mut scope.scalars };
            // More than once, so that what a loop carries is used.
            list.extend([arg; 3]);
        }
        scope
    }

    fn loop_(&mut self, block: Block, scope: &mut Scope, depth: usize) {
        let [from, to, step] = [0, 1, 2].map(|_| self.any(&scope.scalars));
        let inits = self.pair(scope);
        let op = self.structured(block, ScfOp::For, &[from, to, step, inits[0], inits[1]], 1);
        let body = self.region(op, 0, &[I32(), I32(), vector()]);
        let args = self.ir.args(body).to_vec();
        let mut inside = self.inner(scope, &args);
        self.fill(body, &mut inside, depth - 1);
        let out = self.pair(&inside);
        self.end(body, ScfOp::Yield, &out);
        self.keep_results(op, scope);
    }

    fn if_(&mut self, block: Block, scope: &mut Scope, depth: usize) {
        let condition = if scope.bools.is_empty() {
            self.condition(block, &scope.scalars.clone())
        } else {
            self.any(&scope.bools.clone())
        };
        let op = self.structured(block, ScfOp::If, &[condition], 2);
        for index in 0..2 {
            let body = self.region(op, index, &[]);
            let mut inside = scope.clone();
            self.fill(body, &mut inside, depth - 1);
            let out = self.pair(&inside);
            self.end(body, ScfOp::Yield, &out);
        }
        self.keep_results(op, scope);
    }

    fn while_(&mut self, block: Block, scope: &mut Scope, depth: usize) {
        let inits = self.pair(scope);
        let op = self.structured(block, ScfOp::While, &inits, 2);
        let before = self.region(op, 0, &[I32(), vector()]);
        let args = self.ir.args(before).to_vec();
        let inside = self.inner(scope, &args);
        let limit = self.any(&scope.scalars);
        let condition = self.condition(before, &[args[0], limit]);
        let out = self.pair(&inside);
        self.end(before, ScfOp::Condition, &[condition, out[0], out[1]]);
        let after = self.region(op, 1, &[I32(), vector()]);
        let args = self.ir.args(after).to_vec();
        let mut inside = self.inner(scope, &args);
        self.fill(after, &mut inside, depth - 1);
        let out = self.pair(&inside);
        self.end(after, ScfOp::Yield, &out);
        self.keep_results(op, scope);
    }
}

type Elements = Vec<i64>;

/// A run: what values are now, and everything they have been.
struct Run<'a> {
    ir: &'a Ir,
    now: BTreeMap<Value, Elements>,
    seen: BTreeMap<Value, Vec<Elements>>,
    steps: usize,
}

impl Run<'_> {
    fn set(&mut self, value: Value, elements: Elements) {
        self.seen.entry(value).or_default().push(elements.clone());
        self.now.insert(value, elements);
    }

    fn set_all(&mut self, values: &[Value], elements: Vec<Elements>) {
        values.iter().zip(elements).for_each(|(&v, e)| self.set(v, e));
    }

    fn get(&self, values: &[Value]) -> Vec<Elements> {
        values.iter().map(|v| self.now[v].clone()).collect()
    }

    /// Runs a block; gives the operands of its last operation, or nothing if the run is to be given up.
    fn block(&mut self, block: Block) -> Option<Vec<Elements>> {
        for op in self.ir.op_list(block) {
            self.steps += 1;
            if self.steps > STEPS {
                return None;
            }
            if self.ir.kind(op).is_terminator() {
                return Some(self.get(self.ir.operands(op)));
            }
            let results = self.op(op)?;
            self.set_all(self.ir.results(op), results);
        }
        None
    }

    fn op(&mut self, op: Op) -> Option<Vec<Elements>> {
        let operands = self.get(self.ir.operands(op));
        let body = |index: usize| self.ir.body(op, index);
        match self.ir.kind(op) {
            OpKind::Arith(ArithOp::Constant) => Some(vec![vec![self.ir.int_attr(op, "value")?]]),
            OpKind::Tt(TtOp::MakeRange) => Some(vec![(0..SIZE).collect()]),
            OpKind::Tt(TtOp::Splat) => Some(vec![vec![operands[0][0]; SIZE as usize]]),
            OpKind::Scf(ScfOp::For) => {
                let (body, mut carried) = (body(0)?, operands[3..].to_vec());
                let (mut i, to, step) = (operands[0][0], operands[1][0], operands[2][0]);
                if step <= 0 {
                    return None;
                }
                while i < to {
                    let args = self.ir.args(body);
                    self.set(args[0], vec![i]);
                    self.set_all(&args[1..], carried);
                    carried = self.block(body)?;
                    i += step;
                }
                Some(carried)
            }
            OpKind::Scf(ScfOp::If) => self.block(body(usize::from(operands[0][0] == 0))?),
            OpKind::Scf(ScfOp::While) => {
                let (before, after, mut carried) = (body(0)?, body(1)?, operands);
                loop {
                    self.set_all(self.ir.args(before), carried);
                    let mut out = self.block(before)?;
                    let values = out.split_off(1);
                    if out[0][0] == 0 {
                        return Some(values);
                    }
                    self.set_all(self.ir.args(after), values);
                    carried = self.block(after)?;
                }
            }
            OpKind::Arith(kind) => {
                let predicate = self.ir.enum_attr(op, "predicate").unwrap_or(CmpiPredicate::Eq);
                let pairs = operands[0].iter().zip(&operands[1]);
                pairs.map(|(&x, &y)| number(kind, predicate, x, y)).collect::<Option<Elements>>().map(|e| vec![e])
            }
            _ => None,
        }
    }
}

/// The result for one element, if it is what the rules cover.
fn number(kind: ArithOp, predicate: CmpiPredicate, x: i64, y: i64) -> Option<i64> {
    let natural = x >= 0 && y >= 1;
    let z = match kind {
        ArithOp::Addi => x + y,
        ArithOp::Subi => x - y,
        ArithOp::Muli => x * y,
        ArithOp::Divsi if natural => x / y,
        ArithOp::Remsi if natural => x % y,
        ArithOp::Andi => x & y,
        ArithOp::Maxsi => x.max(y),
        ArithOp::Minsi => x.min(y),
        ArithOp::Cmpi => i64::from(predicate.holds(x, y, 32)),
        _ => return None,
    };
    (z.abs() < 1 << 30).then_some(z)
}

#[test]
fn claims_hold_in_every_iteration_of_random_loops() {
    let (mut runs, mut checked) = (0, 0);
    for seed in 0..400 {
        let mut program = Program::new(seed);
        let analysis = AxisInfoAnalysis::new(&program.ir, program.func);
        let entry = program.ir.body(program.func, 0).expect("the function has a body");
        for _ in 0..3 {
            let numbers = [16 * program.random.below(4) as i64, program.random.below(12) as i64];
            let mut run = Run { ir: &program.ir, now: BTreeMap::new(), seen: BTreeMap::new(), steps: 0 };
            run.set_all(program.ir.args(entry), numbers.map(|n| vec![n]).to_vec());
            runs += usize::from(run.block(entry).is_some());
            for (&value, all) in &run.seen {
                let Some(info) = analysis.get(value) else { continue };
                let ty = program.ir.ty(value);
                for elements in all {
                    let v = Evaluated {
                        value,
                        shape: ty.shape().to_vec(),
                        elements: elements.clone(),
                        is_bool: ty.elem().is_int_of(1),
                    };
                    let wrong = check(info, &v);
                    let text = || crate::ir::text::print_module(&program.ir, &crate::ir::text::PrintOptions::default());
                    assert!(wrong.is_none(), "seed {seed}: {value:?} {info} {elements:?}: {wrong:?}\n{}", text());
                    checked += 1;
                }
            }
        }
    }
    assert!(runs > 100 && checked > 30_000, "{runs} whole runs, {checked} values");
}
