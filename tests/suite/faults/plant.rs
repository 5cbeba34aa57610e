//! Plants faults: copies of a PTX text in which one thing that orders accesses is taken out or weakened.
//!
//! What is taken out leaves a `nanosleep` of no time behind, of which the observer is told, so that the judge knows
//! where it was.

/// What happens to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    BarrierOut,
    BarrierHalf,
    BarrierNumber,
    WarpBarrierOut,
    CopyCommitOut,
    CopyWaitOut,
    CopyWaitLess,
    ProxyFenceOut,
    ProxyFenceLate,
    MapFenceOut,
    FenceOut,
    OrderOut,
    MbarrierInitOut,
    MbarrierInitMore,
    MbarrierInvalOut,
    MbarrierWaitOut,
    MbarrierWaitParity,
    MbarrierArriveOut,
    MbarrierFewerBytes,
    MbarrierMoreBytes,
    BulkCommitOut,
    BulkWaitOut,
    BulkWaitLess,
    BulkWaitReads,
    ProductFenceOut,
    ProductCommitOut,
    ProductWaitOut,
    ProductWaitLess,
    ClusterArriveOut,
    ClusterWaitOut,
    ClusterRelaxed,
}

impl Kind {
    /// What is planted, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::BarrierOut => "`bar.sync` out",
            Kind::BarrierHalf => "`bar.sync` for half of the threads",
            Kind::BarrierNumber => "`bar.sync` with another number",
            Kind::WarpBarrierOut => "`bar.warp.sync` out",
            Kind::CopyCommitOut => "`cp.async.commit_group` out",
            Kind::CopyWaitOut => "`cp.async.wait_group` out",
            Kind::CopyWaitLess => "`cp.async.wait_group` N as N + 1",
            Kind::ProxyFenceOut => "`fence.proxy.async` out",
            Kind::ProxyFenceLate => "`fence.proxy.async` behind the next synchronisation",
            Kind::MapFenceOut => "`fence.proxy.tensormap` out",
            Kind::FenceOut => "`fence` out",
            Kind::OrderOut => "`acquire` or `release` as `relaxed`",
            Kind::MbarrierInitOut => "`mbarrier.init` out",
            Kind::MbarrierInitMore => "`mbarrier.init` with one arrival more",
            Kind::MbarrierInvalOut => "`mbarrier.inval` out",
            Kind::MbarrierWaitOut => "`mbarrier.try_wait` out",
            Kind::MbarrierWaitParity => "`mbarrier.try_wait` with the other parity",
            Kind::MbarrierArriveOut => "`mbarrier.arrive` out",
            Kind::MbarrierFewerBytes => "`expect_tx` with fewer bytes",
            Kind::MbarrierMoreBytes => "`expect_tx` with more bytes",
            Kind::BulkCommitOut => "`cp.async.bulk.commit_group` out",
            Kind::BulkWaitOut => "`cp.async.bulk.wait_group` out",
            Kind::BulkWaitLess => "`cp.async.bulk.wait_group` N as N + 1",
            Kind::BulkWaitReads => "`cp.async.bulk.wait_group` for the reads alone",
            Kind::ProductFenceOut => "`wgmma.fence` out",
            Kind::ProductCommitOut => "`wgmma.commit_group` out",
            Kind::ProductWaitOut => "`wgmma.wait_group` out",
            Kind::ProductWaitLess => "`wgmma.wait_group` N as N + 1",
            Kind::ClusterArriveOut => "`barrier.cluster.arrive` out",
            Kind::ClusterWaitOut => "`barrier.cluster.wait` out",
            Kind::ClusterRelaxed => "`barrier.cluster.arrive` relaxed",
        }
    }
}

/// A text with a fault.
pub(crate) struct Planted {
    pub(crate) kind: Kind,
    /// The line where something is missing or weaker, in the new text.
    pub(crate) line: u32,
    /// The new text; it has as many lines as the old one.
    pub(crate) text: String,
}

/// All faults that can be planted into a text, in the order of its lines. A block has so many threads.
pub(crate) fn all(ptx: &str, threads: u32) -> Vec<Planted> {
    let lines: Vec<&str> = ptx.lines().collect();
    let mut all: Vec<Planted> = vec![];
    for (at, line) in lines.iter().enumerate() {
        let Some(ins) = Instruction::new(line) else { continue };
        for (kind, new) in ins.weaker(threads) {
            // Another number for all warps changes nothing. One in a text shows that nothing is reported.
            if kind == Kind::BarrierNumber && all.iter().any(|p| p.kind == kind) {
                continue;
            }
            all.push(Planted { kind, line: at as u32 + 1, text: with(&lines, &[(at, &new)]) });
        }
        if ins.opcode.starts_with("fence.proxy.async") {
            let next = (at + 1..lines.len()).take_while(|i| !ends(lines[*i])).find(|i| orders(lines[*i]));
            if let Some(next) = next {
                let behind = format!("{} {line}", lines[next]);
                let text = with(&lines, &[(at, "nanosleep.u32 0;"), (next, &behind)]);
                all.push(Planted { kind: Kind::ProxyFenceLate, line: at as u32 + 1, text });
            }
        }
    }
    all
}

/// The text with other lines.
fn with(lines: &[&str], new: &[(usize, &str)]) -> String {
    let mut lines = lines.to_vec();
    new.iter().for_each(|(at, line)| lines[*at] = line);
    lines.join("\n") + "\n"
}

/// Whether a line ends a stretch of code without branches.
fn ends(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(':') || line.contains("bra") || line.starts_with("ret") || line.starts_with('}')
}

/// Whether a line holds a synchronisation of a warp or a block.
fn orders(line: &str) -> bool {
    Instruction::new(line).is_some_and(|i| {
        ["bar.sync", "bar.warp.sync", "barrier.cluster", "mbarrier.arrive"].iter().any(|o| i.opcode.starts_with(o))
    })
}

/// An instruction of one line.
struct Instruction<'a> {
    line: &'a str,
    /// `@%p1 `, or nothing.
    guard: &'a str,
    opcode: &'a str,
    operands: &'a str,
}

impl<'a> Instruction<'a> {
    fn new(line: &'a str) -> Option<Instruction<'a>> {
        let text = line.trim().strip_suffix(';')?;
        let (guard, rest) = match text.strip_prefix('@').and_then(|t| t.find(char::is_whitespace)) {
            Some(end) => text.split_at(end + 2),
            None => ("", text),
        };
        let (opcode, operands) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        Some(Instruction { line, guard, opcode, operands: operands.trim() })
    }

    fn is(&self, prefix: &str) -> bool {
        self.opcode.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The last operand as a number.
    fn number(&self) -> Option<u32> {
        self.operands.rsplit(',').next()?.trim().parse().ok()
    }

    /// The instruction with another number as its last operand.
    fn with_number(&self, number: u32) -> String {
        let start = self.operands.rfind(',').map_or(0, |i| i + 1);
        format!("{}{} {} {number};", self.guard, self.opcode, &self.operands[..start])
    }

    /// The instruction with one more than its last operand, which is a register.
    fn with_other(&self, how: &str) -> String {
        let start = self.operands.rfind(',').map_or(0, |i| i + 1);
        let (before, last) = self.operands.split_at(start);
        format!(
            "{{ .reg .b32 planted; {how} planted, {}, 1; {}{} {before} planted; }}",
            last.trim(),
            self.guard,
            self.opcode
        )
    }

    /// Nothing in its place.
    fn out(&self) -> String {
        format!("{}nanosleep.u32 0;", self.guard)
    }

    /// What can stand in its place, and is weaker.
    fn weaker(&self, threads: u32) -> Vec<(Kind, String)> {
        let mut all = vec![];
        let mut less = |out: Kind, less: Kind| {
            all.push((out, self.out()));
            if let Some(n) = self.number() {
                all.push((less, self.with_number(n + 1)));
            }
        };
        if self.is("cp.async.wait_group") {
            less(Kind::CopyWaitOut, Kind::CopyWaitLess);
        } else if self.is("wgmma.wait_group") {
            less(Kind::ProductWaitOut, Kind::ProductWaitLess);
        } else if self.is("cp.async.bulk.wait_group") {
            less(Kind::BulkWaitOut, Kind::BulkWaitLess);
            if !self.opcode.split('.').any(|part| part == "read") {
                let reads = format!("{}{}.read {};", self.guard, self.opcode, self.operands);
                all.push((Kind::BulkWaitReads, reads));
            }
        } else if self.is("bar.sync") {
            all.push((Kind::BarrierOut, self.out()));
            all.push((Kind::BarrierNumber, format!("{}bar.sync 7;", self.guard)));
            if threads >= 64 && !self.operands.contains(',') {
                let half = threads / 64 * 32;
                all.push((Kind::BarrierHalf, format!("{}bar.sync {}, {half};", self.guard, self.operands)));
            }
        } else if self.is("mbarrier.try_wait") || self.is("mbarrier.test_wait") {
            let done = self.operands.split(',').next().unwrap_or_default();
            all.push((Kind::MbarrierWaitOut, format!("nanosleep.u32 0; setp.eq.u32 {done}, 0, 0;")));
            all.push((Kind::MbarrierWaitParity, self.with_other("xor.b32")));
        } else if self.is("mbarrier.init") {
            all.push((Kind::MbarrierInitOut, self.out()));
            all.push((Kind::MbarrierInitMore, self.with_other("add.u32")));
        } else if self.is("mbarrier.arrive") {
            all.push((Kind::MbarrierArriveOut, self.out()));
            if self.opcode.contains("expect_tx") {
                all.push((Kind::MbarrierFewerBytes, self.with_other("shr.u32")));
                all.push((Kind::MbarrierMoreBytes, self.with_other("shl.b32")));
            }
        } else if self.is("barrier.cluster.arrive") {
            all.push((Kind::ClusterArriveOut, self.out()));
            let relaxed = self.opcode.replace(".release", "").replace("arrive", "arrive.relaxed");
            if !self.opcode.contains("relaxed") {
                all.push((Kind::ClusterRelaxed, format!("{}{relaxed};", self.guard)));
            }
        } else if let Some(kind) = self.taken_out() {
            all.push((kind, self.out()));
        } else if self.is("atom") || self.is("red") || self.is("ld") || self.is("st") {
            for order in [".acq_rel", ".acquire", ".release"] {
                if self.opcode.contains(order) {
                    all.push((Kind::OrderOut, self.line.replacen(order, ".relaxed", 1)));
                }
            }
        }
        all
    }

    /// Instructions that can only be taken out.
    fn taken_out(&self) -> Option<Kind> {
        let table = [
            ("bar.warp.sync", Kind::WarpBarrierOut),
            ("cp.async.commit_group", Kind::CopyCommitOut),
            ("cp.async.wait_all", Kind::CopyWaitOut),
            ("fence.proxy.async", Kind::ProxyFenceOut),
            ("fence.proxy.tensormap::generic", Kind::MapFenceOut),
            ("fence.acq_rel", Kind::FenceOut),
            ("fence.sc", Kind::FenceOut),
            ("membar", Kind::FenceOut),
            ("mbarrier.inval", Kind::MbarrierInvalOut),
            ("cp.async.bulk.commit_group", Kind::BulkCommitOut),
            ("wgmma.fence", Kind::ProductFenceOut),
            ("wgmma.commit_group", Kind::ProductCommitOut),
            ("barrier.cluster.wait", Kind::ClusterWaitOut),
        ];
        table.iter().find(|(prefix, _)| self.is(prefix)).map(|(_, kind)| *kind)
    }
}
