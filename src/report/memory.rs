//! Shared memory over the order of the program: what lies where and when, and what each access costs.
//!
//! 1. Where buffers lie is what allocation says ([`crate::analysis::allocation`]), of the module that code generation
//!    reads. Of another compiler's module it is where ttc would put them.
//! 2. Accesses by threads are the plans that code generation emits ([`shared_accesses`]). A plan knows the wavefronts
//!    of an instruction, and how many there would be without bank conflicts. Both count for one warp.
//! 3. The picture has time from left to right, of the operations that have to do with shared memory alone, and
//!    addresses from below to above.
//!
//! Example: `ttg.local_load %k` is 4 × `ldmatrix.m8n8.x4.b16` with 16 wavefronts, and none of them for conflicts.

use serde::Serialize;

use super::data::Table;
use super::loops::place;
use crate::analysis::allocation::{Buffer, BufferKind};
use crate::analysis::live_range::{Interval, Times};
use crate::analysis::prepared::{Prepared, PreparedFunction};
use crate::analysis::shared_accesses::{self, Moved, Way};
use crate::analysis::shared_alias::is_shared;
use crate::backend;
use crate::draw::{Anchor, Ink, Picture, Style};
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::{OpKind, ScfOp, TtgOp, TtngOp};
use crate::layout::layout_of;
use crate::layout::plan::describe::instruction;
use crate::target::Target;

/// The shared memory of a kernel.
#[derive(Serialize, Debug)]
pub struct Memory {
    /// Bytes of a block.
    pub total: u32,
    /// Bytes that a block can have.
    pub limit: u32,
    /// Whether ttc made the code. Otherwise, places are those that ttc would choose.
    pub is_ours: bool,
    pub buffers: Vec<Piece>,
    pub accesses: Vec<Access>,
    /// Wavefronts for bank conflicts of all accesses, each counted once.
    pub conflicts: u32,
    pub picture: Picture,
}

/// A buffer.
#[derive(Serialize, Debug)]
pub struct Piece {
    /// What it is called, or the operation whose scratch memory it is.
    pub name: String,
    pub kind: &'static str,
    pub offset: u32,
    pub bytes: u32,
    pub slots: u32,
    pub place: Option<usize>,
}

/// What an operation does with shared memory.
#[derive(Serialize, Debug)]
pub struct Access {
    pub op: String,
    /// The buffers that it may be about, by their numbers.
    pub buffers: Vec<usize>,
    /// `read`, `write` or `both`.
    pub way: &'static str,
    /// The instruction; for hardware that works by itself, its name.
    pub by: String,
    /// How many instructions a warp runs, their wavefronts, and how many of these are for bank conflicts. `None` for
    /// what threads do not do, and where nobody knows how the device takes an access apart.
    pub cost: Option<(u32, u32, u32)>,
    pub place: Option<usize>,
    #[serde(skip)]
    at: Op,
}

/// The shared memory of the kernel of a module; `None` if it uses none.
pub(super) fn of(ir: &Ir, kernel: &str, target: &Target, is_ours: bool, table: &mut Table) -> Option<Memory> {
    let prepared = Prepared::new(ir, target).ok()?;
    let func = ir.function(kernel).or_else(|| ir.functions().first().copied())?;
    let known = prepared.functions.get(&func)?;
    if known.allocation.buffers.is_empty() {
        return None;
    }
    let buffers: Vec<Piece> = known.allocation.buffers.iter().map(|b| piece(ir, b, table)).collect();
    let mut accesses = vec![];
    for op in ir.all_ops(func) {
        of_op(ir, op, target, known, table, &mut accesses);
    }
    let conflicts = accesses.iter().filter_map(|a| a.cost).map(|c| c.2).sum();
    let picture = Drawing::new(ir, func, known, &buffers, &accesses).picture(table);
    let total = known.allocation.total;
    Some(Memory { total, limit: target.shared.bytes, is_ours, buffers, accesses, conflicts, picture })
}

fn piece(ir: &Ir, buffer: &Buffer, table: &mut Table) -> Piece {
    let owner = buffer.owner;
    let named = ir.results(owner).first().and_then(|_| ir.loc(owner).value_name());
    let op = ir.op_name(owner).to_string();
    let (kind, name) = match buffer.kind {
        BufferKind::Named => ("buffer", named.map_or(op, |n| format!("%{n}"))),
        BufferKind::Scratch => ("scratch", op),
        BufferKind::Callee => ("callee", op),
    };
    let (offset, bytes) = (buffer.offset, buffer.bytes);
    Piece { name, kind, offset, bytes, slots: slots(ir, buffer), place: place(ir.loc(owner), table) }
}

/// How many buffers of one shape an allocation has.
fn slots(ir: &Ir, buffer: &Buffer) -> u32 {
    let ty = ir.results(buffer.owner).first().map(|&v| ir.ty(v)).filter(|_| buffer.kind == BufferKind::Named);
    let Some((ty, memory)) = ty.and_then(|t| Some((t, t.as_memdesc()?))) else { return 1 };
    let rank = layout_of(ty).map_or(memory.shape.len(), |l| l.out_dims().count());
    let outer: i64 = memory.shape[..memory.shape.len().saturating_sub(rank)].iter().product();
    u32::try_from(outer).unwrap_or(1).max(1)
}

/// What hardware does by itself: its name, and whether it writes.
fn hardware(ir: &Ir, op: Op) -> Option<(&'static str, &'static str)> {
    match ir.kind(op) {
        OpKind::Ttng(TtngOp::WarpGroupDot) => Some(("tensor cores (wgmma)", "read")),
        OpKind::Ttng(TtngOp::TcGen5Mma | TtngOp::TcGen5MmaScaled) => Some(("tensor cores (tcgen05)", "read")),
        OpKind::Ttng(TtngOp::AsyncTmaCopyGlobalToLocal | TtngOp::AsyncTmaGather) => Some(("TMA", "write")),
        OpKind::Ttng(TtngOp::AsyncTmaCopyLocalToGlobal | TtngOp::AsyncTmaReduce | TtngOp::AsyncTmaScatter) => {
            Some(("TMA", "read"))
        }
        _ => None,
    }
}

fn of_op(ir: &Ir, op: Op, target: &Target, known: &PreparedFunction, table: &mut Table, out: &mut Vec<Access>) {
    let allocation = &known.allocation;
    let number = |owner: Op| allocation.buffers.iter().position(|b| b.owner == owner);
    let of_view = |view: Value| -> Vec<usize> {
        let mut all: Vec<usize> = allocation.alias.of(view).filter_map(|v| number(ir.def_op(v)?)).collect();
        all.dedup();
        all
    };
    let name = ir.op_name(op).to_string();
    let at = place(ir.loc(op), table);
    let scratch: Vec<usize> =
        number(op).into_iter().filter(|&n| allocation.buffers[n].kind != BufferKind::Named).collect();
    if let Some((by, way)) = hardware(ir, op) {
        let views = ir.operands(op).iter().filter(|&&v| is_shared(ir.ty(v)) && !is_barrier(ir, v));
        let buffers: Vec<usize> = views.flat_map(|&v| of_view(v)).collect();
        if !buffers.is_empty() {
            out.push(Access { op: name, buffers, way, by: by.into(), cost: None, place: at, at: op });
        }
        return;
    }
    let widths = backend::async_copy_bytes(target);
    let moved = shared_accesses::of_op(ir, op, target, known, widths).unwrap_or_default();
    for m in &moved {
        let buffers = m.view.map_or_else(|| scratch.clone(), of_view);
        let way = if m.way == Way::Load { "read" } else { "write" };
        let (by, cost) = (instruction_of(m, target), cost(m, target));
        out.push(Access { op: name.clone(), buffers, way, by, cost, place: at, at: op });
    }
    if moved.is_empty() && !scratch.is_empty() && allocation.of(op).is_some_and(|b| b.kind == BufferKind::Scratch) {
        out.push(Access {
            op: name,
            buffers: scratch,
            way: "both",
            by: "partial results".into(),
            cost: None,
            place: at,
            at: op,
        });
    }
}

/// Whether a descriptor is of mbarriers, which are 64-bit integers.
fn is_barrier(ir: &Ir, value: Value) -> bool {
    ir.ty(value).elem().is_int_of(64)
}

fn instruction_of(moved: &Moved, target: &Target) -> String {
    match moved.way {
        Way::Copy(bytes) => format!("cp.async, {bytes} bytes"),
        // The words are PTX's; others say the bytes.
        _ if !target.has_known_phases() => format!("{} bytes a lane", moved.bytes()),
        way => instruction(&moved.access, way == Way::Store),
    }
}

fn cost(moved: &Moved, target: &Target) -> Option<(u32, u32, u32)> {
    let (wavefronts, ideal) = moved.wavefronts();
    let count = moved.instructions();
    target.has_known_phases().then_some((count, count * wavefronts, count * (wavefronts - ideal)))
}

const LEFT: f64 = 70.0;
const TOP: f64 = 24.0;
const HEIGHT: f64 = 340.0;

/// What the picture is drawn from.
struct Drawing<'a> {
    ir: &'a Ir,
    known: &'a PreparedFunction,
    buffers: &'a [Piece],
    accesses: &'a [Access],
    /// The operations that have to do with shared memory, in order, each with its time.
    events: Vec<(Op, Interval)>,
    /// Loops around them, as numbers of their first and last events.
    loops: Vec<(Op, usize, usize)>,
}

impl<'a> Drawing<'a> {
    fn new(ir: &'a Ir, func: Op, known: &'a PreparedFunction, buffers: &'a [Piece], accesses: &'a [Access]) -> Self {
        let times = Times::new(ir, func);
        let owns = |op: Op| known.allocation.buffers.iter().any(|b| b.owner == op && op != func);
        let counts = |op: Op| owns(op) || is_wait(ir, op) || accesses.iter().any(|a| a.at == op);
        let mut events: Vec<(Op, Interval)> =
            ir.all_ops(func).into_iter().filter(|&op| counts(op)).map(|op| (op, times.of(op))).collect();
        events.sort_by_key(|e| e.1);
        let mut loops = vec![];
        for op in ir.all_ops(func).into_iter().filter(|&op| ir.is(op, ScfOp::For) || ir.is(op, ScfOp::While)) {
            let all = times.of(op);
            let inside = |e: &(Op, Interval)| all.start < e.1.start && e.1.end < all.end;
            if let (Some(first), Some(last)) = (events.iter().position(inside), events.iter().rposition(inside)) {
                loops.push((op, first, last));
            }
        }
        Drawing { ir, known, buffers, accesses, events, loops }
    }

    fn width(&self) -> f64 {
        (1000.0 / self.events.len().max(1) as f64).clamp(9.0, 40.0)
    }

    fn x(&self, event: usize) -> f64 {
        LEFT + event as f64 * self.width()
    }

    fn y(&self, offset: u32) -> f64 {
        TOP + HEIGHT - f64::from(offset) / f64::from(self.known.allocation.total.max(1)) * HEIGHT
    }

    fn picture(&self, table: &mut Table) -> Picture {
        let end = self.x(self.events.len());
        let mut out = Picture::new((end + 20.0).max(560.0), TOP + HEIGHT + 30.0, 11.0);
        for (op, first, last) in &self.loops {
            let (x, to) = (self.x(*first), self.x(last + 1));
            out.rect(x, TOP - 14.0, to - x, HEIGHT + 14.0, Ink::Faint);
            let line =
                self.ir.loc(*op).file_line_col().map_or_else(String::new, |(_, line, _)| format!(", line {line}"));
            out.text(x + 3.0, TOP - 4.0, Style::at(Anchor::Start).ink(Ink::Soft), format!("loop{line}"));
        }
        self.bars(&mut out);
        for (_, first, last) in &self.loops {
            for x in [self.x(*first), self.x(last + 1)] {
                out.dashed((x, TOP - 14.0), (x, TOP + HEIGHT), Ink::Axis, (6, 3));
            }
        }
        for (i, (op, _)) in self.events.iter().enumerate().filter(|(_, e)| is_wait(self.ir, e.0)) {
            let x = self.x(i) + self.width() / 2.0;
            out.dashed((x, TOP), (x, TOP + HEIGHT), Ink::Edge, (1, 3));
            let title = self.ir.op_name(*op).to_string();
            out.bar((x - 2.5, TOP + HEIGHT, 5.0, 9.0), Ink::Wait, &title, place(self.ir.loc(*op), table));
        }
        self.marks(&mut out);
        out.line((LEFT, TOP), (LEFT, TOP + HEIGHT), Ink::Axis);
        out.line((LEFT, TOP + HEIGHT), (end, TOP + HEIGHT), Ink::Axis);
        let text = "operations on shared memory, in the order of the program; dotted: where threads wait; loops stand between dashed lines";
        out.text(LEFT, TOP + HEIGHT + 22.0, Style::at(Anchor::Start).ink(Ink::Soft), text);
        self.labels(&mut out);
        out
    }

    /// The first and last events of an interval.
    fn span(&self, live: Interval) -> (usize, usize) {
        let first = self.events.partition_point(|e| e.1.end < live.start);
        let last = self.events.partition_point(|e| e.1.start <= live.end);
        (first, last.max(first + 1))
    }

    fn bars(&self, out: &mut Picture) {
        for (n, (buffer, piece)) in self.known.allocation.buffers.iter().zip(self.buffers).enumerate() {
            let (first, last) = self.span(buffer.live);
            let (x, to) = (self.x(first), self.x(last.min(self.events.len())));
            let (y, h) = (self.y(buffer.end()), self.y(buffer.offset) - self.y(buffer.end()));
            let slots = if piece.slots > 1 {
                format!(", {} slots of {}", piece.slots, buffer.bytes / piece.slots)
            } else {
                String::new()
            };
            let title =
                format!("{} ({}): {} bytes from {}{slots}", piece.name, piece.kind, buffer.bytes, buffer.offset);
            let ink = Ink::nth(n, 45, 84);
            out.bar((x, y, (to - x).max(3.0), h.max(1.0)), ink, &title, piece.place);
            for slot in 1..piece.slots {
                let y = self.y(buffer.offset + buffer.bytes / piece.slots * slot);
                out.dashed((x, y), (to, y), Ink::Edge, (3, 3));
            }
            if h >= 12.0 && to - x >= 7.0 * piece.name.len() as f64 {
                out.text(x + 4.0, y + 11.0, Style::at(Anchor::Start).ink(Ink::OnColour), piece.name.clone());
            }
        }
    }

    /// Accesses, each in the rows of its buffers.
    fn marks(&self, out: &mut Picture) {
        for (number, access) in self.accesses.iter().enumerate() {
            let Some(event) = self.events.iter().position(|e| e.0 == access.at) else { continue };
            for &n in &access.buffers {
                let buffer = &self.known.allocation.buffers[n];
                let (y, h) = (self.y(buffer.end()), self.y(buffer.offset) - self.y(buffer.end()));
                let conflicts = access.cost.is_some_and(|c| c.2 > 0);
                let ink = match access.way {
                    _ if conflicts => Ink::Alarm,
                    "read" => Ink::Series(0),
                    "write" => Ink::Series(4),
                    _ => Ink::Series(2),
                };
                // The accesses of one operation stand beside each other.
                let same = |a: &&Access| a.at == access.at && a.buffers.contains(&n);
                let all = self.accesses.iter().filter(same).count() as f64;
                let before = self.accesses[..number].iter().filter(same).count() as f64;
                let w = ((self.width() - 3.0) / all).min(14.0);
                let x = self.x(event) + (self.width() - all * w) / 2.0 + before * w;
                let height = (h - 4.0).clamp(3.0, 22.0);
                let at = y + (h - height) / 2.0;
                out.bar((x, at, w, height), ink, &access.words(), access.place);
            }
        }
    }

    /// Addresses at which buffers begin, where they do not stand over each other.
    fn labels(&self, out: &mut Picture) {
        let mut places: Vec<u32> = self.known.allocation.buffers.iter().flat_map(|b| [b.offset, b.end()]).collect();
        places.sort_unstable();
        let mut last = f64::INFINITY;
        for offset in places {
            let y = self.y(offset);
            if y < last - 11.0 {
                out.text(LEFT - 6.0, y + 4.0, Style::at(Anchor::End), offset.to_string());
                last = y;
            }
        }
    }
}

impl Access {
    fn words(&self) -> String {
        let cost = match self.cost {
            None => String::new(),
            Some((count, wavefronts, 0)) => format!(": {count} a warp, {wavefronts} wavefronts, no conflicts"),
            Some((count, wavefronts, extra)) => {
                format!(": {count} a warp, {wavefronts} wavefronts, {extra} of them for bank conflicts")
            }
        };
        format!("{} {}, {}{cost}", self.op, self.way, self.by)
    }
}

/// Whether threads wait here for each other, or for data.
fn is_wait(ir: &Ir, op: Op) -> bool {
    matches!(
        ir.kind(op),
        OpKind::Ttg(TtgOp::Barrier | TtgOp::AsyncWait)
            | OpKind::Ttng(TtngOp::WaitBarrier | TtngOp::WarpGroupDotWait | TtngOp::ClusterBarrier)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::{ParseOptions, parse_module};
    use crate::source::SourceMap;

    /// A warp stores 32x32 floats, each lane a row, and loads them again.
    fn transposition(shared: &str, target: &str) -> Memory {
        let text = format!(
            "#b = #ttg.blocked<{{sizePerThread = [1, 32], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}}>\n\
             #s = {shared}\n#smem = #ttg.shared_memory\n\
             module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 1 : i32, ttg.target = \"cuda:90\", \"ttg.threads-per-warp\" = 32 : i32}} {{\n\
             tt.func public @k(%x: tensor<32x32xf32, #b>) {{\n\
             %two = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #s, #smem, mutable>\n\
             %c1 = arith.constant 1 : i32\n\
             %one = ttg.memdesc_index %two[%c1] : !ttg.memdesc<2x32x32xf32, #s, #smem, mutable> -> !ttg.memdesc<32x32xf32, #s, #smem, mutable>\n\
             ttg.local_store %x, %one : tensor<32x32xf32, #b> -> !ttg.memdesc<32x32xf32, #s, #smem, mutable>\n\
             %y = ttg.local_load %one : !ttg.memdesc<32x32xf32, #s, #smem, mutable> -> tensor<32x32xf32, #b>\n\
             tt.return\n}}\n}}\n"
        );
        let mut map = SourceMap::default();
        let file = map.add("k.ttgir", None, text);
        let ir = parse_module(&map, file, &ParseOptions::default()).unwrap();
        of(&ir, "k", &Target::parse(target).unwrap(), true, &mut Table::default()).unwrap()
    }

    /// Rows are 32 words, so neighbouring lanes meet in one bank: of the 8 lanes that 16 bytes each are served for at a
    /// time, each is served by itself. 8 instructions of 4 such phases take 256 wavefronts instead of 32.
    #[test]
    fn rows_without_a_swizzle_meet_in_one_bank() {
        let found =
            transposition("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>", "sm_90a");
        let costs: Vec<_> = found.accesses.iter().map(|a| (a.way, a.by.as_str(), a.cost)).collect();
        let cost = Some((8, 256, 224));
        assert_eq!(costs, [("write", "st.shared.v4.b32", cost), ("read", "ld.shared.v4.b32", cost)]);
        assert_eq!(found.conflicts, 448);
        let buffer = &found.buffers[0];
        assert_eq!((buffer.name.as_str(), buffer.bytes, buffer.slots, found.total), ("%two", 8192, 2, 8192));
        assert!(found.accesses.iter().all(|a| a.buffers == [0]));
    }

    #[test]
    fn a_swizzle_spreads_rows_over_the_banks() {
        let found =
            transposition("#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>", "sm_90a");
        assert_eq!(found.accesses.iter().map(|a| a.cost).collect::<Vec<_>>(), [Some((8, 32, 0)); 2]);
        assert_eq!(found.conflicts, 0);
    }

    #[test]
    fn nothing_is_claimed_of_a_device_whose_phases_are_not_known() {
        let found =
            transposition("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>", "gfx1100");
        assert!(found.accesses.iter().all(|a| a.cost.is_none() && a.by == "16 bytes a lane"), "{:?}", found.accesses);
    }
}
