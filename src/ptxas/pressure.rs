//! How many registers PTX needs, read from its text, before ptxas says it.
//!
//! A value lives from the first line that names its register to the last one. Where a loop reads what was made in front
//! of it, that lives until the loop's end. The most registers that are alive at one line are an estimate: ptxas orders
//! instructions anew, and what it can save that way is not known here.
//!
//! Of real kernels with up to 400,000 bytes of PTX, all 112 that spill in the end have more than 255 by this count, and
//! so have 140 others. From 450 on, 53 of 65 spill (`docs/performance.md`).

use std::collections::{BTreeMap, BTreeSet};

/// An asynchronous product, and a copy from register to register.
const PRODUCT: &str = "wgmma.mma_async";
const COPY: &str = "mov.b32";

/// The first and the last line of a value.
#[derive(Clone, Copy)]
struct Life {
    from: usize,
    to: usize,
}

/// The values of PTX, by their registers, and its loops.
#[derive(Default)]
struct Lives<'p> {
    values: BTreeMap<&'p str, Life>,
    /// The lines of each loop: its label and the branch back to it.
    loops: Vec<(usize, usize)>,
    lines: usize,
}

fn lives(ptx: &str) -> Lives<'_> {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    let Lives { mut values, mut loops, mut lines } = Lives::default();
    for (number, line) in ptx.lines().map(str::trim_start).enumerate() {
        lines = number + 1;
        // Directives name registers that they declare.
        if line.starts_with(['.', '/']) {
            continue;
        }
        if let Some(label) = line.trim_end().strip_suffix(':') {
            labels.insert(label, number);
        } else if let Some(start) = branch_target(line).and_then(|label| labels.get(label)) {
            loops.push((*start, number));
        }
        for register in registers(line) {
            values.entry(register).or_insert(Life { from: number, to: number }).to = number;
        }
    }
    for &(start, end) in &loops {
        let crosses = |life: &&mut Life| life.from < start && (start..end).contains(&life.to);
        values.values_mut().filter(crosses).for_each(|life| life.to = end);
    }
    Lives { values, loops, lines }
}

/// The most registers of 32 bits that are alive at one line of PTX.
pub(super) fn live(ptx: &str) -> u32 {
    most_alive(ptx, |_| true)
}

/// The same of registers that asynchronous products name, sums and words of A, and of what is copied into these. ptxas
/// can neither spill them while products run nor make them again.
pub(super) fn of_products(ptx: &str) -> u32 {
    let lines = || ptx.lines().map(str::trim_start);
    let lists = lines().filter(|line| line.starts_with(PRODUCT)).flat_map(|line| line.split('{').skip(1));
    let mut named: BTreeSet<&str> = lists.flat_map(|list| registers(list.split('}').next().unwrap_or(""))).collect();
    let copied = lines().filter_map(|line| {
        let mut both = registers(line.strip_prefix(COPY)?);
        both.next().filter(|to| named.contains(to)).and(both.next())
    });
    named.extend(copied.collect::<Vec<_>>());
    if named.is_empty() { 0 } else { most_alive(ptx, |register| named.contains(register)) }
}

fn most_alive(ptx: &str, counts: impl Fn(&str) -> bool) -> u32 {
    let Lives { values, lines, .. } = lives(ptx);
    let mut changes = vec![0i32; lines + 1];
    for (register, life) in values.iter().filter(|(register, _)| counts(register)) {
        changes[life.from] += words(register);
        changes[life.to] -= words(register);
    }
    let alive = changes.iter().scan(0, |alive, change| {
        *alive += change;
        Some(*alive)
    });
    alive.max().unwrap_or(0).unsigned_abs()
}

/// The most registers of 32 bits that a loop of PTX carries: made before it, written in it, and alive at its end.
pub(super) fn carried(ptx: &str) -> u32 {
    let Lives { values, loops, .. } = lives(ptx);
    let lines: Vec<&str> = ptx.lines().collect();
    let mut most = 0;
    for (start, end) in loops {
        let written: BTreeSet<&str> = lines[start..end].iter().flat_map(|line| written(line)).collect();
        let is_carried = |name: &&str| values.get(name).is_some_and(|life| life.from < start && life.to >= end);
        most = most.max(written.into_iter().filter(is_carried).map(words).sum::<i32>());
    }
    most.unsigned_abs()
}

/// The registers that a line writes: its first operand, if that is a register or several in braces.
pub(super) fn written(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let line = if line.starts_with('@') { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line };
    let operands = line.trim_start().split_once([' ', '\t']).map_or("", |(_, operands)| operands.trim_start());
    let end = match operands.as_bytes().first() {
        Some(b'%') => operands.find(','),
        Some(b'{') => operands.find('}'),
        _ => None,
    };
    registers(&operands[..end.unwrap_or(0)])
}

/// Where a branch goes.
pub(super) fn branch_target(line: &str) -> Option<&str> {
    let (branch, label) = line.trim_end().strip_suffix(';')?.rsplit_once([' ', '\t'])?;
    branch.contains("bra").then_some(label)
}

/// The registers for data that a line names: all but predicates.
pub(super) fn registers(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('%').filter_map(|(at, _)| {
        let name = &line[at + 1..];
        let letters = name.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(name.len());
        let digits = name[letters..].find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len() - letters);
        let is_data = digits > 0 && matches!(&name[..letters], "r" | "rd" | "f" | "fd" | "rs" | "b" | "h" | "hh");
        is_data.then(|| &name[..letters + digits])
    })
}

/// The registers of 32 bits that one takes.
fn words(register: &str) -> i32 {
    if register.starts_with("rd") || register.starts_with("fd") { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_live_from_the_first_name_to_the_last() {
        let ptx = "
.reg .b32 %r<9>;
    ld.global.b32 %r1, [%rd1];
    ld.global.b32 %r2, [%rd1+4];
    add.s32 %r3, %r1, %r2;
    st.global.b32 [%rd1], %r3;
    ret;";
        // The address and both values.
        assert_eq!(live(ptx), 4);
        assert_eq!(live(""), 0);
        assert_eq!(live("mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;"), 1);
    }

    #[test]
    fn products_keep_sums_and_words() {
        let ptx = "mov.b32 %r9, %r8;\n$L1:\nmov.b32 %r3, %r9;\nmov.b32 %r7, 0;\n\
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 { %r1, %r2 }, { %r3 }, %rd1, 1, 1, 1, 0;\n\
                   @%p1 bra $L1;\nst.global.v2.b32 [%rd2], {%r1, %r2};\nst.global.b32 [%rd2], %r7;";
        // Two sums, and what the word is copied from, which the product reads last; not what else is alive.
        assert_eq!(of_products(ptx), 3);
        assert_eq!(of_products("mov.b32 %r1, %r2;\nst.global.b32 [%rd1], %r1;"), 0);
    }

    #[test]
    fn what_a_loop_carries_is_made_before_it_and_written_in_it() {
        let ptx = |step: &str| {
            format!(
                "mov.b32 %r1, 1;\nmov.b64 %rd1, 0;\nmov.b64 %rd2, 0;\n$L1:\n@%p2 ld.global.v2.b32 {{ %r2, %r3 }}, [%rd2];\n\
                 st.global.b32 [%rd1], %r2;\nadd.s32 %r1, %r1, %r2;\n{step}@%p1 bra $L1;\nst.global.b32 [%rd1], %r1;"
            )
        };
        // The sum; the addresses stay.
        assert_eq!(carried(&ptx("")), 1);
        assert_eq!(carried(&ptx("add.s64 %rd2, %rd2, 4;\n")), 3);
        assert_eq!(carried("mov.b32 %r1, 1;\nadd.s32 %r1, %r1, 1;"), 0);
    }

    #[test]
    fn what_a_loop_reads_lives_until_its_end() {
        let ptx = |branch: &str| {
            format!(
                "mov.b32 %r1, 1;\n$L1:\nadd.s32 %r2, %r2, %r1;\nmov.b32 %r3, 1;\nmov.b32 %r4, 1;\n\
                 add.s32 %r5, %r3, %r4;\nst.global.b32 [%rd1], %r5;\n{branch}"
            )
        };
        assert_eq!(live(&ptx("")), 2);
        assert_eq!(live(&ptx("@%p1 bra $L1;")), 3);
    }
}
