//! The text of a random kernel.
//!
//! Values are of eight kinds ([`Kind`]); a statement picks operands among those that are visible and adds its results.
//! A block is a list of statements; loops and conditions hold blocks, take values in and hand values out. Addresses
//! stay inside of the buffers, divisors are not zero, shifts stay below the width: what is undefined may change.
//!
//! In the text `N` stands for the elements of an axis, until the end.

use std::fmt::Write as _;

use ttc::cases::random;

/// A stream of random numbers.
pub(crate) struct Random {
    seed: u64,
    count: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { seed, count: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.count += 1;
        random::number(self.seed, self.count)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Mostly around one, sometimes special.
    pub(crate) fn float(&mut self) -> f32 {
        const SPECIAL: [f32; 8] =
            [0.0, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE / 4.0, f32::MAX];
        match self.below(8) {
            0 => SPECIAL[self.below(8)],
            _ => (self.next() as u32 as f32 / u32::MAX as f32 - 0.5) * 8.0,
        }
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A type of values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// `i32`
    Int,
    /// `f32`
    Float,
    /// `i1`
    Bit,
    /// `tensor<Nxi32>`
    Ints,
    /// `tensor<Nxf32>`
    Floats,
    /// `tensor<Nxi1>`
    Bits,
    /// `tensor<NxNxi32>`
    IntMatrix,
    /// `tensor<NxNxf32>`
    Matrix,
}

use Kind::*;

const ALL: [Kind; 8] = [Int, Float, Bit, Ints, Floats, Bits, IntMatrix, Matrix];
const INTS: [&str; 10] = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"];
const FLOATS: [&str; 8] = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"];
/// Without what a GPU rounds otherwise, and without a choice between 0 and -0.
const EXACT_FLOATS: [&str; 5] = ["addf", "subf", "mulf", "maximumf", "minimumf"];
const DIVISIONS: [&str; 4] = ["divsi", "divui", "remsi", "remui"];
const SHIFTS: [&str; 3] = ["shli", "shrsi", "shrui"];
const COMPARISONS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const FLOAT_COMPARISONS: [&str; 8] = ["oeq", "olt", "oge", "one", "ueq", "une", "uno", "ord"];
const CONSTANTS: [i64; 8] = [0, 1, -1, 2, 5, 31, i32::MAX as i64, i32::MIN as i64];
const FLOAT_CONSTANTS: [&str; 8] = ["0.0", "-0.0", "1.0", "-1.5", "3.0e38", "0x7F800000", "0x7FC00000", "2.0"];

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Int => "i32",
            Float => "f32",
            Bit => "i1",
            Ints => "tensor<Nxi32>",
            Floats => "tensor<Nxf32>",
            Bits => "tensor<Nxi1>",
            IntMatrix => "tensor<NxNxi32>",
            Matrix => "tensor<NxNxf32>",
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Float | Floats | Matrix)
    }

    fn is_tensor(self) -> bool {
        !matches!(self, Int | Float | Bit)
    }
}

/// What kind of kernel to make.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// Elements of an axis: a multiple of 16.
    pub side: usize,
    /// Whether floats are rounded to small integers before they are added up or multiplied, each store has a place of
    /// its own, and nothing that is stored is loaded: then the result depends neither on the order of sums nor on which
    /// thread does what. There are loops around products too, as kernels have them.
    pub is_exact: bool,
}

impl Form {
    pub(crate) const SMALL: Form = Form { side: 16, is_exact: false };

    /// Elements of each buffer that a kernel reads; those that it writes have twice as many.
    pub(crate) fn size(self) -> usize {
        if self.is_exact { TILES * self.side * self.side } else { 16 * self.side }
    }
}

/// Matrices that a buffer holds one after the other.
pub(crate) const TILES: usize = 4;

struct Gen {
    form: Form,
    r: Random,
    out: String,
    vectors_stored: usize,
    matrices_stored: usize,
    /// The values that can be used here.
    values: Vec<(String, Kind)>,
    next: usize,
    indent: usize,
}

/// The kernel of a seed: `k(x, y, h, fo, io, n, s)` reads floats from `x`, integers from `y` and small integers as
/// `f16` from `h`, and writes to `fo` and `io`, which are twice as long.
pub(crate) fn generate(seed: u64, form: Form) -> String {
    let mut g = Gen {
        form,
        r: Random::new(seed),
        vectors_stored: 0,
        matrices_stored: 0,
        out: String::new(),
        values: vec![],
        next: 0,
        indent: 2,
    };
    g.callee();
    let pointers = [("x", "f32"), ("y", "i32"), ("h", "f16"), ("fo", "f32"), ("io", "i32")];
    let aligned = |(name, elem)| format!("%{name}: !tt.ptr<{elem}> {{tt.divisibility = 16 : i32}}");
    let params = pointers.map(aligned).join(", ");
    let _ = writeln!(g.out, "  tt.func public @k({params}, %n: i32, %s: f32) {{");
    g.values = vec![("%n".to_owned(), Int), ("%s".to_owned(), Float)];
    g.indent = 4;
    g.line("%range = tt.make_range {end = N : i32, start = 0 : i32} : tensor<Nxi32>");
    g.values.push(("%range".to_owned(), Ints));
    for (pointer, elem) in pointers {
        g.line(&format!("%{pointer}s = tt.splat %{pointer} : !tt.ptr<{elem}> -> tensor<Nx!tt.ptr<{elem}>>"));
    }
    if form.is_exact {
        g.cells();
    }
    for kind in ALL {
        g.constant(kind);
    }
    let statements = 6 + g.r.below(14);
    g.block(statements, 0, true);
    // Everything that is still there is stored, in the upper half of the results.
    let values = g.values.clone();
    for (i, (value, kind)) in values.iter().rev().take(form.size() / form.side).enumerate() {
        g.store_whole(value, *kind, form.size() + form.side * i);
    }
    g.line("tt.return");
    format!("module {{\n{}  }}\n}}\n", g.out).replace('N', &form.side.to_string())
}

impl Gen {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.indent);
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// A new value: `text` follows the equals sign.
    fn def(&mut self, kind: Kind, text: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {text}"));
        self.values.push((name.clone(), kind));
        name
    }

    /// A value of a kind; there is always one, since constants of all kinds come first.
    fn get(&mut self, kind: Kind) -> String {
        let fitting: Vec<usize> = (0..self.values.len()).filter(|&i| self.values[i].1 == kind).collect();
        match fitting.len() {
            0 => self.constant(kind),
            n => self.values[fitting[self.r.below(n)]].0.clone(),
        }
    }

    fn constant(&mut self, kind: Kind) -> String {
        let value = match kind {
            Bit | Bits => self.r.pick(&["true", "false"]).to_owned(),
            k if k.is_float() => self.r.pick(&FLOAT_CONSTANTS).to_owned(),
            _ => CONSTANTS[self.r.below(8)].to_string(),
        };
        match kind {
            Bit => self.def(kind, &format!("arith.constant {value}")),
            k if k.is_tensor() => self.def(kind, &format!("arith.constant dense<{value}> : {}", k.text())),
            k => self.def(kind, &format!("arith.constant {value} : {}", k.text())),
        }
    }

    /// A private function of an integer and a vector, for the inliner.
    fn callee(&mut self) {
        self.line("tt.func private @helper(%a: i32, %v: tensor<Nxf32>) -> (i32, tensor<Nxf32>) {");
        self.indent = 4;
        self.values = vec![("%a".to_owned(), Int), ("%v".to_owned(), Floats)];
        let n = 1 + self.r.below(5);
        self.block(n, 1, false);
        let (a, v) = (self.get(Int), self.get(Floats));
        self.line(&format!("tt.return {a}, {v} : i32, tensor<Nxf32>"));
        self.indent = 2;
        self.line("}");
    }

    /// `memory`: pointers are visible.
    fn block(&mut self, statements: usize, depth: usize, memory: bool) {
        for _ in 0..statements {
            let more = if self.form.is_exact { 6 } else { 0 };
            match self.r.below(if memory { 22 + more } else { 12 }) {
                0..=3 => self.binary(),
                4 => self.division_or_shift(),
                5 => self.compare_and_select(),
                6 => self.unary(),
                7 => self.shape(),
                8 => self.reduce(),
                9 => self.cast(),
                10 => {
                    let kind = ALL[self.r.below(8)];
                    self.constant(kind);
                }
                11 if depth < 3 => self.condition(depth, memory),
                12 | 13 => self.load(),
                14 | 15 => self.store(),
                16 | 17 if depth < 3 => self.counted_loop(depth),
                18 if depth < 2 => self.while_loop(depth),
                19 => self.dot(),
                20 => self.call(),
                22 | 23 => self.load_matrix(),
                24 => self.store_matrix(),
                25..=27 if depth < 2 => self.product_loop(depth),
                _ => self.binary(),
            }
        }
    }

    fn numeric(&mut self) -> Kind {
        [Int, Float, Ints, Floats, Ints, Floats, Matrix, IntMatrix][self.r.below(8)]
    }

    fn binary(&mut self) {
        let kind = self.numeric();
        let (a, b) = (self.get(kind), self.get(kind));
        let floats = if self.form.is_exact { &EXACT_FLOATS[..] } else { &FLOATS[..] };
        let op = if kind.is_float() { self.r.pick(floats) } else { self.r.pick(&INTS) };
        self.def(kind, &format!("arith.{op} {a}, {b} : {}", kind.text()));
    }

    fn division_or_shift(&mut self) {
        let kind = [Int, Ints][self.r.below(2)];
        let (a, b, t) = (self.get(kind), self.get(kind), kind.text());
        let known = |v: i64| if kind.is_tensor() { format!("dense<{v}> : {t}") } else { format!("{v} : {t}") };
        if self.r.below(2) == 0 {
            // From 1 to the greatest signed number.
            let (one, most) = (
                self.def(kind, &format!("arith.constant {}", known(1))),
                format!("arith.constant {}", known(0x7fff_ffff)),
            );
            let most = self.def(kind, &most);
            let least = self.def(kind, &format!("arith.maxui {b}, {one} : {t}"));
            let divisor = self.def(kind, &format!("arith.minui {least}, {most} : {t}"));
            let op = self.r.pick(&DIVISIONS);
            self.def(kind, &format!("arith.{op} {a}, {divisor} : {t}"));
        } else {
            let width = self.def(kind, &format!("arith.constant {}", known(31)));
            let count = self.def(kind, &format!("arith.andi {b}, {width} : {t}"));
            let op = self.r.pick(&SHIFTS);
            self.def(kind, &format!("arith.{op} {a}, {count} : {t}"));
        }
    }

    fn compare_and_select(&mut self) {
        let kind = [Int, Float, Ints, Floats][self.r.below(4)];
        let bits = if kind.is_tensor() { Bits } else { Bit };
        let (a, b, t) = (self.get(kind), self.get(kind), kind.text());
        let test = if kind.is_float() {
            format!("cmpf {}", self.r.pick(&FLOAT_COMPARISONS))
        } else {
            format!("cmpi {}", self.r.pick(&COMPARISONS))
        };
        let made = self.def(bits, &format!("arith.{test}, {a}, {b} : {t}"));
        let mask = if self.r.below(2) == 0 { made } else { self.get(bits) };
        let (a, b) = (self.get(kind), self.get(kind));
        let head = if kind.is_tensor() { format!("{}, {t}", bits.text()) } else { t.to_owned() };
        self.def(kind, &format!("arith.select {mask}, {a}, {b} : {head}"));
    }

    fn unary(&mut self) {
        let kind = self.numeric();
        let a = self.get(kind);
        let op = if kind.is_float() {
            self.r.pick(&["arith.negf", "math.absf", "math.floor", "math.ceil"])
        } else {
            "math.absi"
        };
        self.def(kind, &format!("{op} {a} : {}", kind.text()));
    }

    fn cast(&mut self) {
        match self.r.below(5) {
            0 => {
                let a = self.get(Ints);
                let n = self.name();
                self.line(&format!("{n} = arith.trunci {a} : tensor<Nxi32> to tensor<Nxi8>"));
                let op = self.r.pick(&["extsi", "extui"]);
                self.def(Ints, &format!("arith.{op} {n} : tensor<Nxi8> to tensor<Nxi32>"));
            }
            1 => {
                let a = self.get(Floats);
                let n = self.name();
                let t = self.r.pick(&["f16", "bf16"]);
                self.line(&format!("{n} = arith.truncf {a} : tensor<Nxf32> to tensor<Nx{t}>"));
                self.def(Floats, &format!("arith.extf {n} : tensor<Nx{t}> to tensor<Nxf32>"));
            }
            2 => {
                let a = self.get(Ints);
                self.def(Floats, &format!("arith.sitofp {a} : tensor<Nxi32> to tensor<Nxf32>"));
            }
            3 => {
                let a = self.get(Bits);
                self.def(Ints, &format!("arith.extui {a} : tensor<Nxi1> to tensor<Nxi32>"));
            }
            _ if self.form.is_exact => {
                let a = self.get(Floats);
                let a = self.tame(&a, Floats);
                self.def(Ints, &format!("arith.fptosi {a} : tensor<Nxf32> to tensor<Nxi32>"));
            }
            _ => {
                let a = self.get(Floats);
                self.def(Ints, &format!("tt.bitcast {a} : tensor<Nxf32> -> tensor<Nxi32>"));
            }
        }
    }

    /// Splat, broadcast, transpose, reshape.
    fn shape(&mut self) {
        let float = self.r.below(2) == 0;
        let (scalar, vector, matrix, e) =
            if float { (Float, Floats, Matrix, "f32") } else { (Int, Ints, IntMatrix, "i32") };
        match self.r.below(4) {
            0 => {
                let a = self.get(scalar);
                self.def(vector, &format!("tt.splat {a} : {e} -> {}", vector.text()));
            }
            1 => {
                let (a, n) = (self.get(vector), self.name());
                let axis = self.r.below(2);
                let thin = if axis == 0 { "1xN" } else { "Nx1" };
                self.line(&format!(
                    "{n} = tt.expand_dims {a} {{axis = {axis} : i32}} : {} -> tensor<{thin}x{e}>",
                    vector.text()
                ));
                self.def(matrix, &format!("tt.broadcast {n} : tensor<{thin}x{e}> -> {}", matrix.text()));
            }
            2 => {
                let a = self.get(matrix);
                self.def(matrix, &format!("tt.trans {a} {{order = array<i32: 1, 0>}} : {0} -> {0}", matrix.text()));
            }
            _ => {
                let (a, n, rest) = (self.get(vector), self.name(), self.form.side / 4);
                self.line(&format!("{n} = tt.reshape {a} : {} -> tensor<4x{rest}x{e}>", vector.text()));
                self.def(vector, &format!("tt.reshape {n} : tensor<4x{rest}x{e}> -> {}", vector.text()));
            }
        }
    }

    /// A reduction to a scalar or a vector, or a scan.
    fn reduce(&mut self) {
        let float = self.r.below(2) == 0;
        let (scalar, vector, matrix, e) =
            if float { (Float, Floats, Matrix, "f32") } else { (Int, Ints, IntMatrix, "i32") };
        let op = if float {
            self.r.pick(if self.form.is_exact { &["addf", "maxnumf"] } else { &["addf", "maxnumf", "mulf"] })
        } else {
            self.r.pick(&["addi", "minsi", "xori"])
        };
        let (op_name, from, to, extra) = match self.r.below(3) {
            0 => ("reduce", vector, scalar, "axis = 0 : i32".to_owned()),
            1 => ("reduce", matrix, vector, format!("axis = {} : i32", self.r.below(2))),
            _ => ("scan", vector, vector, format!("axis = 0 : i32, reverse = {}", self.r.pick(&["true", "false"]))),
        };
        let a = self.get(from);
        let a = if op == "addf" { self.tame(&a, from) } else { a };
        let n = self.name();
        self.line(&format!("{n} = \"tt.{op_name}\"({a}) <{{{extra}}}> ({{"));
        self.line(&format!("^bb0(%l{0}: {e}, %r{0}: {e}):", self.next));
        self.line(&format!("  %c{0} = arith.{op} %l{0}, %r{0} : {e}", self.next));
        self.line(&format!("  tt.{op_name}.return %c{} : {e}", self.next));
        self.line(&format!("}}) : ({}) -> {}", from.text(), to.text()));
        self.values.push((n, to));
    }

    fn dot(&mut self) {
        let [a, b, c] = [0, 1, 2].map(|_| self.get(Matrix));
        let [a, b, c] = [a, b, c].map(|value| self.tame(&value, Matrix));
        let t = Matrix.text();
        let precision = self.r.pick(&["", ", inputPrecision = tf32"]);
        self.def(Matrix, &format!("tt.dot {a}, {b}, {c}{precision} : {t} * {t} -> {t}"));
    }

    fn call(&mut self) {
        let (a, v, n) = (self.get(Int), self.get(Floats), self.name());
        self.line(&format!("{n}:2 = tt.call @helper({a}, {v}) : (i32, tensor<Nxf32>) -> (i32, tensor<Nxf32>)"));
        self.values.push((format!("{n}#0"), Int));
        self.values.push((format!("{n}#1"), Floats));
    }

    /// Offsets of a vector that lie in a buffer.
    fn offsets(&mut self) -> String {
        let base = match self.r.below(3) {
            0 => {
                let a = self.get(Ints);
                let most = self.def(Ints, &format!("arith.constant dense<{}> : tensor<Nxi32>", self.form.size() - 1));
                return self.def(Ints, &format!("arith.andi {a}, {most} : tensor<Nxi32>"));
            }
            1 => self.r.below(self.form.size() / self.form.side) as i64 * self.form.side as i64,
            _ => self.r.below(3) as i64 * self.form.side as i64,
        };
        let base = self.def(Ints, &format!("arith.constant dense<{base}> : tensor<Nxi32>"));
        self.def(Ints, &format!("arith.addi %range, {base} : tensor<Nxi32>"))
    }

    fn load(&mut self) {
        let (pointer, kind, e) = [("x", Floats, "f32"), ("y", Ints, "i32"), ("fo", Floats, "f32"), ("io", Ints, "i32")]
            [self.r.below(if self.form.is_exact { 2 } else { 4 })];
        let (offsets, p) = (self.offsets(), self.name());
        self.line(&format!("{p} = tt.addptr %{pointer}s, {offsets} : tensor<Nx!tt.ptr<{e}>>, tensor<Nxi32>"));
        let (mask, other) = (self.get(Bits), self.get(kind));
        // Without another value a masked element is undefined.
        let rest = if self.r.below(2) == 0 { String::new() } else { format!(", {mask}, {other}") };
        self.def(kind, &format!("tt.load {p}{rest} : tensor<Nx!tt.ptr<{e}>>"));
    }

    /// A store whose elements do not overlap.
    fn store(&mut self) {
        let (pointer, kind, e) = [("fo", Floats, "f32"), ("io", Ints, "i32")][self.r.below(2)];
        let at = if self.form.is_exact {
            // The last matrix of the buffer has a place for each of the first stores.
            if self.vectors_stored == self.form.side {
                return;
            }
            self.vectors_stored += 1;
            self.form.size() - self.vectors_stored * self.form.side
        } else {
            self.r.below(self.form.size() / self.form.side) * self.form.side
        };
        let p = self.name();
        let base = self.def(Ints, &format!("arith.constant dense<{at}> : tensor<Nxi32>"));
        let offsets = self.def(Ints, &format!("arith.addi %range, {base} : tensor<Nxi32>"));
        self.line(&format!("{p} = tt.addptr %{pointer}s, {offsets} : tensor<Nx!tt.ptr<{e}>>, tensor<Nxi32>"));
        let (value, mask) = (self.get(kind), self.get(Bits));
        let rest = if self.r.below(2) == 0 { String::new() } else { format!(", {mask}") };
        self.line(&format!("tt.store {p}, {value}{rest} : tensor<Nx!tt.ptr<{e}>>"));
    }

    /// A float as an integer from -4 to 4 where results must not depend on an order.
    fn tame(&mut self, value: &str, kind: Kind) -> String {
        if !self.form.is_exact {
            return value.to_owned();
        }
        let t = kind.text();
        let known = |v: &str| if kind.is_tensor() { format!("dense<{v}> : {t}") } else { format!("{v} : {t}") };
        let [least, most] = ["-4.0", "4.0"].map(|v| self.def(kind, &format!("arith.constant {}", known(v))));
        let (low, high) = (self.name(), self.name());
        self.line(&format!("{low} = arith.maxnumf {value}, {least} : {t}"));
        self.line(&format!("{high} = arith.minnumf {low}, {most} : {t}"));
        self.def(kind, &format!("math.floor {high} : {t}"))
    }

    /// The places of a matrix's elements, and pointers to the first matrix of each buffer.
    fn cells(&mut self) {
        for (axis, thin, name) in [(1, "Nx1", "rows"), (0, "1xN", "columns")] {
            self.line(&format!(
                "%{name}_thin = tt.expand_dims %range {{axis = {axis} : i32}} : tensor<Nxi32> -> tensor<{thin}xi32>"
            ));
            self.line(&format!("%{name} = tt.broadcast %{name}_thin : tensor<{thin}xi32> -> tensor<NxNxi32>"));
        }
        self.line("%side = arith.constant dense<N> : tensor<NxNxi32>");
        self.line("%before = arith.muli %rows, %side : tensor<NxNxi32>");
        self.line("%cells = arith.addi %before, %columns : tensor<NxNxi32>");
        for (pointer, elem) in [("x", "f32"), ("y", "i32"), ("h", "f16"), ("fo", "f32"), ("io", "i32")] {
            self.line(&format!("%{pointer}t = tt.splat %{pointer} : !tt.ptr<{elem}> -> tensor<NxNx!tt.ptr<{elem}>>"));
            self.line(&format!(
                "%{pointer}m = tt.addptr %{pointer}t, %cells : tensor<NxNx!tt.ptr<{elem}>>, tensor<NxNxi32>"
            ));
        }
        self.values.push(("%cells".to_owned(), IntMatrix));
    }

    /// The offset of one of a buffer's matrices, as a scalar: known, or computed from `from`.
    fn tile(&mut self, from: Option<&str>) -> String {
        let cells = self.form.side * self.form.side;
        let Some(from) = from else {
            let at = self.r.below(TILES) * cells;
            return self.def(Int, &format!("arith.constant {at} : i32"));
        };
        let most = self.def(Int, &format!("arith.constant {} : i32", TILES - 1));
        let size = self.def(Int, &format!("arith.constant {cells} : i32"));
        let (number, at) = (self.name(), self.name());
        self.line(&format!("{number} = arith.andi {from}, {most} : i32"));
        self.line(&format!("{at} = arith.muli {number}, {size} : i32"));
        at
    }

    /// Pointers to a matrix of a buffer.
    fn pointers(&mut self, pointer: &str, elem: &str, tile: &str) -> String {
        let (all, p) = (self.name(), self.name());
        self.line(&format!("{all} = tt.splat {tile} : i32 -> tensor<NxNxi32>"));
        self.line(&format!("{p} = tt.addptr %{pointer}m, {all} : tensor<NxNx!tt.ptr<{elem}>>, tensor<NxNxi32>"));
        p
    }

    /// Some rows or columns: a mask.
    fn matrix_mask(&mut self) -> String {
        let (axis, some, mask) = (self.r.pick(&["rows", "columns", "cells"]), self.name(), self.name());
        let most = match self.r.below(3) {
            0 => "%n".to_owned(),
            1 => self.get(Int),
            _ => {
                let most = self.r.below(self.form.side + 2);
                self.def(Int, &format!("arith.constant {most} : i32"))
            }
        };
        self.line(&format!("{some} = tt.splat {most} : i32 -> tensor<NxNxi32>"));
        self.line(&format!("{mask} = arith.cmpi slt, %{axis}, {some} : tensor<NxNxi32>"));
        mask
    }

    fn load_matrix(&mut self) {
        let (pointer, kind, e) = [("x", Matrix, "f32"), ("y", IntMatrix, "i32")][self.r.below(2)];
        let from = (self.r.below(2) == 0).then(|| self.get(Int));
        let tile = self.tile(from.as_deref());
        let p = self.pointers(pointer, e, &tile);
        let rest =
            if self.r.below(2) == 0 { String::new() } else { format!(", {}, {}", self.matrix_mask(), self.get(kind)) };
        self.def(kind, &format!("tt.load {p}{rest} : tensor<NxNx!tt.ptr<{e}>>"));
    }

    fn store_matrix(&mut self) {
        if self.matrices_stored == TILES - 1 {
            return;
        }
        let (pointer, kind, e) = [("fo", Matrix, "f32"), ("io", IntMatrix, "i32")][self.r.below(2)];
        let at = self.matrices_stored * self.form.side * self.form.side;
        self.matrices_stored += 1;
        let tile = self.def(Int, &format!("arith.constant {at} : i32"));
        let p = self.pointers(pointer, e, &tile);
        let rest = if self.r.below(2) == 0 { String::new() } else { format!(", {}", self.matrix_mask()) };
        let value = self.get(kind);
        self.line(&format!("tt.store {p}, {value}{rest} : tensor<NxNx!tt.ptr<{e}>>"));
    }

    /// A factor of a product in `f16`: loaded from `h` at `pointers`, loaded and computed, or made of anything.
    fn factor(&mut self, pointers: &str) -> String {
        let (loaded, zero) = (self.name(), self.name());
        let kind = self.r.below(8);
        if kind == 0 {
            let value = self.get(Matrix);
            let value = self.tame(&value, Matrix);
            self.line(&format!("{loaded} = arith.truncf {value} : tensor<NxNxf32> to tensor<NxNxf16>"));
        } else if self.r.below(2) == 0 {
            self.line(&format!("{loaded} = tt.load {pointers} : tensor<NxNx!tt.ptr<f16>>"));
        } else {
            let mask = self.matrix_mask();
            self.line(&format!("{zero} = arith.constant dense<0.0> : tensor<NxNxf16>"));
            self.line(&format!("{loaded} = tt.load {pointers}, {mask}, {zero} : tensor<NxNx!tt.ptr<f16>>"));
        }
        let text = match kind {
            1 => format!("arith.negf {loaded} : tensor<NxNxf16>"),
            2 => format!("tt.trans {loaded} {{order = array<i32: 1, 0>}} : tensor<NxNxf16> -> tensor<NxNxf16>"),
            _ => return loaded,
        };
        let changed = self.name();
        self.line(&format!("{changed} = {text}"));
        changed
    }

    /// A loop around a product, as kernels have it: pointers that are carried or made of the index, sums in an
    /// accumulator, other statements around it, stages that are asked for.
    fn product_loop(&mut self, depth: usize) {
        let start = self.get(Matrix);
        let start = self.tame(&start, Matrix);
        let (carried, extra) = (self.r.below(2) == 0, self.numeric());
        let zero = self.def(Int, "arith.constant 0 : i32");
        let one = self.def(Int, "arith.constant 1 : i32");
        let upper = if self.r.below(2) == 0 { "%n".to_owned() } else { self.get(Int) };
        // Pointers that move on stay in their buffer.
        let most = self.def(Int, &format!("arith.constant {} : i32", if carried { TILES } else { 6 }));
        let bound = self.def(Int, &format!("arith.minsi {upper}, {most} : i32"));
        let init = self.get(extra);
        let [index, sum, other, pa, pb, result] = [(); 6].map(|()| self.name());
        let (mut args, mut kinds) =
            (format!("{sum} = {start}, {other} = {init}"), format!("{}, {}", Matrix.text(), extra.text()));
        let pointer_type = "tensor<NxNx!tt.ptr<f16>>";
        if carried {
            args += &format!(", {pa} = %hm, {pb} = %hm");
            kinds += &format!(", {pointer_type}, {pointer_type}");
        }
        let count = if carried { 4 } else { 2 };
        self.line(&format!(
            "{result}:{count} = scf.for {index} = {zero} to {bound} step {one} iter_args({args}) -> ({kinds}) : i32 {{"
        ));
        let outer = self.values.len();
        self.values.extend([(index.clone(), Int), (other, extra)]);
        self.indent += 2;
        let before = self.r.below(3);
        self.block(before, depth + 1, true);
        let [a, b] = [&pa, &pb].map(|carried_one| {
            let pointers = if carried {
                carried_one.clone()
            } else {
                let at = self.tile(Some(&index));
                self.pointers("h", "f16", &at)
            };
            self.factor(&pointers)
        });
        let product = self.name();
        let t = Matrix.text();
        self.line(&format!("{product} = tt.dot {a}, {b}, {sum} : tensor<NxNxf16> * tensor<NxNxf16> -> {t}"));
        if self.r.below(3) == 0 {
            self.values.push((product.clone(), Matrix));
        }
        let after = self.r.below(3);
        self.block(after, depth + 1, true);
        let mut yielded = format!("{product}, {}", self.get(extra));
        if carried {
            let cells = self.form.side * self.form.side;
            let step = self.name();
            self.line(&format!("{step} = arith.constant dense<{cells}> : tensor<NxNxi32>"));
            for p in [&pa, &pb] {
                let next = self.name();
                self.line(&format!("{next} = tt.addptr {p}, {step} : {pointer_type}, tensor<NxNxi32>"));
                yielded += &format!(", {next}");
            }
        }
        self.line(&format!("scf.yield {yielded} : {kinds}"));
        self.indent -= 2;
        self.values.truncate(outer);
        let wish = self.r.pick(&["", "", " {tt.num_stages = 2 : i32}", " {tt.num_stages = 4 : i32}", " {tt.flatten}"]);
        self.line(&format!("}}{wish}"));
        self.values.extend([(format!("{result}#0"), Matrix), (format!("{result}#1"), extra)]);
    }

    /// Stores all of a value, or the sum of a matrix's rows, at a place of its own.
    fn store_whole(&mut self, value: &str, kind: Kind, at: usize) {
        let (vector, pointer) = match kind {
            Int => (self.def(Ints, &format!("tt.splat {value} : i32 -> tensor<Nxi32>")), "io"),
            Float => (self.def(Floats, &format!("tt.splat {value} : f32 -> tensor<Nxf32>")), "fo"),
            Bit => {
                let wide = self.def(Int, &format!("arith.extui {value} : i1 to i32"));
                (self.def(Ints, &format!("tt.splat {wide} : i32 -> tensor<Nxi32>")), "io")
            }
            Bits => (self.def(Ints, &format!("arith.extui {value} : tensor<Nxi1> to tensor<Nxi32>")), "io"),
            Ints => (value.to_owned(), "io"),
            Floats => (value.to_owned(), "fo"),
            IntMatrix | Matrix => {
                let (e, op, to, pointer) =
                    if kind == Matrix { ("f32", "addf", Floats, "fo") } else { ("i32", "addi", Ints, "io") };
                let value = if kind == Matrix { self.tame(value, Matrix) } else { value.to_owned() };
                let n = self.name();
                self.line(&format!("{n} = \"tt.reduce\"({value}) <{{axis = 1 : i32}}> ({{"));
                self.line(&format!("^bb0(%l: {e}, %r: {e}):"));
                self.line(&format!("  %c = arith.{op} %l, %r : {e}"));
                self.line(&format!("  tt.reduce.return %c : {e}"));
                self.line(&format!("}}) : ({}) -> {}", kind.text(), to.text()));
                (n, pointer)
            }
        };
        let e = if pointer == "fo" { "f32" } else { "i32" };
        let base = self.def(Ints, &format!("arith.constant dense<{at}> : tensor<Nxi32>"));
        let offsets = self.def(Ints, &format!("arith.addi %range, {base} : tensor<Nxi32>"));
        let p = self.name();
        self.line(&format!("{p} = tt.addptr %{pointer}s, {offsets} : tensor<Nx!tt.ptr<{e}>>, tensor<Nxi32>"));
        self.line(&format!("tt.store {p}, {vector} : tensor<Nx!tt.ptr<{e}>>"));
    }

    /// Some kinds for what a region carries.
    fn carried(&mut self) -> Vec<Kind> {
        (0..=self.r.below(3)).map(|_| self.numeric()).collect()
    }

    /// A block with its own scope, then values of these kinds, `a, b : i32, f32`.
    fn scope(&mut self, kinds: &[Kind], depth: usize, memory: bool, inside: &[(String, Kind)]) -> String {
        let outer = self.values.len();
        self.values.extend_from_slice(inside);
        self.indent += 2;
        let n = 1 + self.r.below(5);
        self.block(n, depth + 1, memory);
        let names: Vec<String> = kinds.iter().map(|&k| self.get(k)).collect();
        self.indent -= 2;
        self.values.truncate(outer);
        format!("{} : {}", names.join(", "), types(kinds))
    }

    fn results(&mut self, kinds: &[Kind]) -> String {
        let n = self.name();
        let many = kinds.len() > 1;
        for (i, &kind) in kinds.iter().enumerate() {
            self.values.push((if many { format!("{n}#{i}") } else { n.clone() }, kind));
        }
        if many { format!("{n}:{}", kinds.len()) } else { n }
    }

    fn condition(&mut self, depth: usize, memory: bool) {
        let (c, kinds) = (self.get(Bit), self.carried());
        let outer = self.values.len();
        let name = self.results(&kinds);
        let made = self.values.split_off(outer);
        self.line(&format!("{name} = scf.if {c} -> ({}) {{", types(&kinds)));
        let then = self.scope(&kinds, depth, memory, &[]);
        self.line(&format!("  scf.yield {then}"));
        self.line("} else {");
        let or = self.scope(&kinds, depth, memory, &[]);
        self.line(&format!("  scf.yield {or}"));
        self.line("}");
        self.values.extend(made);
    }

    /// `%p = %init` for each carried value, and the block arguments.
    fn arguments(&mut self, kinds: &[Kind]) -> (String, Vec<(String, Kind)>) {
        let (mut text, mut inside) = (vec![], vec![]);
        for &kind in kinds {
            let (init, name) = (self.get(kind), self.name());
            text.push(format!("{name} = {init}"));
            inside.push((name, kind));
        }
        (text.join(", "), inside)
    }

    fn counted_loop(&mut self, depth: usize) {
        let kinds = self.carried();
        let bound = |g: &mut Gen, from: i64, to: i64| {
            let v = from + g.r.below((to - from) as usize) as i64;
            g.def(Int, &format!("arith.constant {v} : i32"))
        };
        let (lower, step) = (bound(self, -2, 3), bound(self, 1, 4));
        // Known, up to 8 at run time, or computed from something, perhaps from an outer loop's index.
        let upper = match self.r.below(4) {
            0 => "%n".to_owned(),
            1 => {
                let (value, divisor) = (self.get(Int), self.def(Int, "arith.constant 7 : i32"));
                self.def(Int, &format!("arith.remsi {value}, {divisor} : i32"))
            }
            _ => bound(self, -1, 7),
        };
        let (init, mut inside) = self.arguments(&kinds);
        let index = self.name();
        inside.push((index.clone(), Int));
        let outer = self.values.len();
        let name = self.results(&kinds);
        let made = self.values.split_off(outer);
        self.line(&format!(
            "{name} = scf.for {index} = {lower} to {upper} step {step} iter_args({init}) -> ({}) : i32 {{",
            types(&kinds)
        ));
        let end = self.scope(&kinds, depth, true, &inside);
        self.line(&format!("  scf.yield {end}"));
        let wishes = [
            "",
            " {tt.loop_unroll_factor = 2 : i32}",
            " {tt.loop_unroll_factor = 3 : i32}",
            " {tt.flatten}",
            " {\"ttg.always-fuse\"}",
            " {\"ttg.always-fuse\"}",
        ];
        let wish = self.r.pick(&wishes);
        self.line(&format!("}}{wish}"));
        self.values.extend(made);
    }

    /// A loop that counts to a limit, whatever else it does.
    fn while_loop(&mut self, depth: usize) {
        let mut kinds = self.carried();
        kinds.insert(0, Int);
        let zero = self.def(Int, "arith.constant 0 : i32");
        let one = self.def(Int, "arith.constant 1 : i32");
        let (rest, inside) = self.arguments(&kinds[1..]);
        let count = self.name();
        let outer = self.values.len();
        let name = self.results(&kinds);
        let made = self.values.split_off(outer);
        self.line(&format!("{name} = scf.while ({count} = {zero}, {rest}) : ({0}) -> ({0}) {{", types(&kinds)));
        let go = format!("%go{}", count.trim_start_matches('%'));
        self.line(&format!("  {go} = arith.cmpi slt, {count}, %n : i32"));
        let names: Vec<&str> = std::iter::once(count.as_str()).chain(inside.iter().map(|(n, _)| n.as_str())).collect();
        self.line(&format!("  scf.condition({go}) {} : {}", names.join(", "), types(&kinds)));
        self.line("} do {");
        let body: Vec<(String, Kind)> = kinds.iter().map(|&k| (self.name(), k)).collect();
        let params: Vec<String> = body.iter().map(|(n, k)| format!("{n}: {}", k.text())).collect();
        self.line(&format!("^bb0({}):", params.join(", ")));
        let next = format!("%next{}", count.trim_start_matches('%'));
        self.line(&format!("  {next} = arith.addi {}, {one} : i32", body[0].0));
        let end = self.scope(&kinds[1..], depth, true, &body);
        let (end, types_of_rest) = end.split_once(" : ").unwrap_or((&end, ""));
        self.line(&format!("  scf.yield {next}, {end} : i32, {types_of_rest}"));
        self.line("}");
        self.values.extend(made);
    }
}

fn types(kinds: &[Kind]) -> String {
    kinds.iter().map(|k| k.text()).collect::<Vec<_>>().join(", ")
}
