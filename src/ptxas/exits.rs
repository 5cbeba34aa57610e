//! Short loops that count in 64 bits are left by a test of 64 bits.
//!
//! Where a loop's counter and its addresses move on together, LLVM keeps the number of bytes and tests its lower half
//! against the last one. ptxas repeats a short loop whose number of turns it knows, so that its loads are on their way
//! together, but it does not know it of half a number. So the whole number is tested.
//!
//! ```text
//! before:                                 after:
//!   mov.b64 %rd1, 0;                        mov.b64 %rd1, 0;
//! $L:                                     $L:
//!   …                                       …
//!   add.s64 %rd1, %rd1, 4;                  add.s64 %rd1, %rd1, 4;
//!   cvt.u32.u64 %r1, %rd1;
//!   setp.ne.b32 %p1, %r1, 32;               setp.ne.b64 %p1, %rd1, 32;
//!   @%p1 bra $L;                            @%p1 bra $L;
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::pressure::{branch_target, registers, written};

/// The most instructions of a loop. On an H200, 20 launches with such loops of up to 100 instructions ran at 0.93 to
/// 1.21 of their speed (1.026 in the geometric mean). Of 22 with longer loops six ran at 0.68 to 0.92, and none above
/// 1.03.
const MOST: usize = 100;

/// Gives short loops of PTX a test of the whole number that they count.
pub(crate) fn widen(ptx: String) -> String {
    if !ptx.contains(NARROW) {
        return ptx;
    }
    let lines: Vec<&str> = ptx.lines().collect();
    let mut exits = exits(&lines);
    if exits.is_empty() {
        return ptx;
    }
    let uses = uses(&lines, exits.iter().flat_map(|exit| [name(exit.half), name(exit.whole)]).collect());
    exits.retain(|exit| exit.is_safe(&lines, &uses));
    let mut changed: BTreeMap<usize, String> = BTreeMap::new();
    for exit in &exits {
        changed.insert(exit.narrowing, String::new());
        changed.insert(exit.test, exit.text());
    }
    let text = lines.iter().enumerate().map(|(at, &line)| changed.get(&at).map_or(line, String::as_str));
    text.flat_map(|line| [line, "\n"]).collect()
}

/// The instruction that takes the lower half of a number.
const NARROW: &str = "cvt.u32.u64";

/// Where a loop is left by a test of half a number.
struct Exit<'p> {
    /// The line of the label that the loop begins with, of [`NARROW`], and of the test.
    start: usize,
    narrowing: usize,
    test: usize,
    half: &'p str,
    whole: &'p str,
    predicate: &'p str,
    /// `eq` or `ne`.
    comparison: &'p str,
    last: i64,
}

/// The short loops of PTX that test half a number.
fn exits<'p>(lines: &[&'p str]) -> Vec<Exit<'p>> {
    let mut labels: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut exits = vec![];
    let mut before: [usize; 2] = [0; 2];
    let mut instructions = 0;
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, (at, instructions));
        } else if is_instruction(line) {
            if let Some(&(start, first)) = branch_target(line).and_then(|label| labels.get(label))
                && instructions - first <= MOST
            {
                exits.extend(Exit::of(lines, start, before).filter(|exit| exit.decides(line)));
            }
            before = [before[1], at];
            instructions += 1;
        }
    }
    exits
}

fn is_instruction(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_lowercase() || c == '@')
}

impl<'p> Exit<'p> {
    fn of(lines: &[&'p str], start: usize, [narrowing, test]: [usize; 2]) -> Option<Exit<'p>> {
        let (operation, [half, whole]) = parts(lines.get(narrowing)?)?;
        let (tested, [predicate, of, last]) = parts(lines.get(test)?)?;
        let comparison = tested.strip_prefix("setp.")?.strip_suffix(".b32").filter(|c| ["eq", "ne"].contains(c))?;
        let last = last.parse::<i32>().ok()?.into();
        let is_exit = operation == NARROW && of == half;
        is_exit.then_some(Exit { start, narrowing, test, half, whole, predicate, comparison, last })
    }

    /// Whether a branch back depends on the test.
    fn decides(&self, branch: &str) -> bool {
        let predicate = branch.strip_prefix('@').and_then(|rest| rest.split_whitespace().next());
        predicate.is_some_and(|predicate| predicate.trim_start_matches('!') == self.predicate)
    }

    /// Whether the loop counts from one constant in steps of another one, and reaches the last number before 32 bits
    /// overflow, so that both tests say the same; and whether nobody else needs the half.
    fn is_safe(&self, lines: &[&str], uses: &BTreeMap<&str, Vec<usize>>) -> bool {
        let places = |register: &str| uses.get(name(register)).map_or(&[][..], Vec::as_slice);
        let mut writes = places(self.whole).iter().filter(|&&at| may_write(lines[at], name(self.whole)));
        let (Some(&begin), Some(&step), None) = (writes.next(), writes.next(), writes.next()) else { return false };
        let first = parts(lines[begin]).filter(|(operation, _)| *operation == "mov.b64");
        let step_by =
            parts(lines[step]).filter(|(operation, [_, from, _])| *operation == "add.s64" && *from == self.whole);
        let (Some((_, [_, first])), Some((_, [_, _, step_by]))) = (first, step_by) else { return false };
        let (Ok(first), Ok(step_by)) = (first.parse::<i32>(), step_by.parse::<i32>()) else { return false };
        let way = self.last - i64::from(first);
        places(self.half) == [self.narrowing, self.test]
            && begin < self.start
            && (self.start..self.narrowing).contains(&step)
            && step_by != 0
            && way % i64::from(step_by) == 0
            && way / i64::from(step_by) > 0
    }

    fn text(&self) -> String {
        format!("\tsetp.{}.b64 \t{}, {}, {};", self.comparison, self.predicate, self.whole, self.last)
    }
}

/// A register's name as [`registers`] gives it.
fn name(operand: &str) -> &str {
    operand.trim_start_matches('%')
}

/// The operation of an instruction, and its operands if there are so many.
fn parts<const N: usize>(line: &str) -> Option<(&str, [&str; N])> {
    let (operation, operands) = line.trim().strip_suffix(';')?.split_once([' ', '\t'])?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    Some((operation, operands.try_into().ok()?))
}

/// Whether a line may write a register that it names. What is no instruction alone on its line may do anything.
fn may_write(line: &str, name: &str) -> bool {
    !is_instruction(line.trim()) || written(line).any(|register| register == name)
}

/// The lines that name registers, for some of them.
fn uses<'p>(lines: &[&'p str], of: BTreeSet<&'p str>) -> BTreeMap<&'p str, Vec<usize>> {
    let mut uses: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        for name in registers(line).filter(|name| of.contains(name)) {
            let places = uses.entry(name).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop in PTX.
    fn looped(first: &str, body: &str, step: &str, test: &str, rest: &str) -> String {
        format!(
            "\tmov.b64 \t%rd1, {first};\n$L:\n{body}\tadd.s64 \t%rd1, %rd1, {step};\n\tcvt.u32.u64 \t%r1, %rd1;\n{test}\
             \t@%p1 bra \t$L;\n{rest}\tret;\n"
        )
    }

    const NARROW_TEST: &str = "\tsetp.ne.b32 \t%p1, %r1, 32;\n";

    #[test]
    fn the_whole_number_is_tested() {
        let load = "\tadd.s64 \t%rd3, %rd2, %rd1;\n\tld.global.b32 %r2, [%rd3];\n";
        let before = looped("0", load, "4", NARROW_TEST, "");
        let after = widen(before.clone());
        assert_eq!(
            after,
            before.replace("\tcvt.u32.u64 \t%r1, %rd1;", "").replace("ne.b32 \t%p1, %r1", "ne.b64 \t%p1, %rd1")
        );
        let down = looped("32", load, "-8", "\tsetp.eq.b32 \t%p1, %r1, 0;\n", "");
        assert!(widen(down).contains("setp.eq.b64 \t%p1, %rd1, 0;"));
    }

    #[test]
    fn what_may_say_something_else_stays() {
        let stays = |ptx: String| assert_eq!(widen(ptx.clone()), ptx);
        // Never equal, or only when 32 bits have overflowed.
        stays(looped("0", "", "5", NARROW_TEST, ""));
        stays(looped("64", "", "4", NARROW_TEST, ""));
        // Begins anywhere, or moves on by anything.
        stays(looped("%rd9", "", "4", NARROW_TEST, ""));
        stays(looped("0", "", "%rd9", NARROW_TEST, ""));
        // Moves on twice.
        stays(looped("0", "\tadd.s64 \t%rd1, %rd1, 4;\n", "4", NARROW_TEST, ""));
        stays(looped("0", "\t@%p2 mov.b64 \t%rd1, 0;\n", "4", NARROW_TEST, ""));
        // The branch depends on something else.
        stays(looped("0", "", "4", NARROW_TEST, "").replace("@%p1", "@%p2"));
        // Another comparison, and another reader of the half.
        stays(looped("0", "", "4", "\tsetp.lt.s32 \t%p1, %r1, 32;\n", ""));
        stays(looped("0", "", "4", NARROW_TEST, "\tst.global.b32 [%rd2], %r1;\n"));
        stays(looped("0", "", "4", NARROW_TEST, "{ .reg .b32 t; mad.lo.s32 t, %r1, 3, %r3; mov.b32 %r4, t; }\n"));
        // Other writers.
        stays(looped("0", "\tld.global.v2.b64 { %rd2, %rd1 }, [%rd3];\n", "4", NARROW_TEST, ""));
        stays(looped("0", "{ mul.wide.s32 %rd1, %r2, 2; }\n", "4", NARROW_TEST, ""));
        // A long loop.
        stays(looped("0", &"\tadd.s32 \t%r3, %r3, 1;\n".repeat(MOST), "4", NARROW_TEST, ""));
    }
}
