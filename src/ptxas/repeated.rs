//! Loops that LLVM has repeated, and that ptxas repeats once more.
//!
//! Where LLVM unrolls a loop of unknown length, a turn does several of the old ones, and a second loop behind it does
//! the rest, one by one. That one is not to be unrolled, and LLVM says so. Of the first one it says nothing, and ptxas
//! may repeat it four times more: 32 loads at once take 55 registers where eight take 25.
//!
//! Example: the first loop has eight loads, the second one, with `.pragma "nounroll"`, has one.

use std::collections::BTreeMap;

use super::pressure;

/// What forbids ptxas to unroll the loop that begins here.
const ONCE: &str = "\t.pragma \"nounroll\";\n";

/// PTX in which no repeated loop is repeated again; `None` if none is.
pub(super) fn held(ptx: &str) -> Option<String> {
    let lines: Vec<&str> = ptx.lines().collect();
    let loops = innermost(&lines);
    let mut starts = vec![];
    for (&(start, end), &(rest, last)) in loops.iter().zip(loops.iter().skip(1)) {
        let (loads, of_rest) = (loads(&lines[start..end]), loads(&lines[rest..last]));
        let is_repeated = of_rest > 0 && loads > of_rest && loads.is_multiple_of(of_rest);
        if is_repeated && is_held(&lines, rest) && !is_held(&lines, start) {
            starts.push(start);
        }
    }
    if starts.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(ptx.len() + starts.len() * ONCE.len());
    for (at, line) in lines.iter().enumerate() {
        text.extend([line, "\n"]);
        if starts.contains(&at) {
            text.push_str(ONCE);
        }
    }
    Some(text)
}

/// The first and the last line of each loop that holds no other, in the order of the text.
fn innermost(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    let mut loops = vec![];
    for (at, line) in lines.iter().map(|line| line.trim()).enumerate() {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, at);
        } else if let Some(&start) = pressure::branch_target(line).and_then(|label| labels.get(label)) {
            loops.push((start, at));
        }
    }
    // Those that end first come first, so the one in front of an outer loop's end may be in it.
    let mut innermost: Vec<(usize, usize)> = vec![];
    for (start, end) in loops {
        if innermost.last().is_none_or(|inner| inner.0 < start) {
            innermost.push((start, end));
        }
    }
    innermost
}

/// Loads from global memory.
fn loads(lines: &[&str]) -> usize {
    lines.iter().filter(|line| line.contains("ld.global")).count()
}

/// Whether a loop that begins at a line is not to be unrolled.
fn is_held(lines: &[&str], start: usize) -> bool {
    lines.get(start + 1).is_some_and(|line| line.contains(ONCE.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of so many loads.
    fn looped(label: &str, pragma: &str, loads: usize) -> String {
        let body = "\tld.global.b32 %r1, [%rd1];\n".repeat(loads);
        format!("{label}:\n{pragma}{body}\t@%p1 bra \t{label};\n")
    }

    #[test]
    fn a_loop_in_front_of_its_rest_is_held() {
        let (eight, rest) = (looped("$L0", "", 8), looped("$L1", ONCE, 1));
        assert_eq!(held(&format!("{eight}{rest}")), Some(format!("{}{rest}", looped("$L0", ONCE, 8))));
        // Others are not: the rest of another loop, a loop without a rest, one that is held already.
        assert_eq!(held(&format!("{eight}{}", looped("$L1", ONCE, 3))), None);
        assert_eq!(held(&format!("{eight}{}", looped("$L1", "", 1))), None);
        assert_eq!(held(&format!("{}{rest}", looped("$L0", ONCE, 8))), None);
        assert_eq!(held(&format!("{rest}{eight}")), None);
        // In an outer loop, which is none of them.
        let outer = format!("$L9:\n{eight}{rest}\t@%p2 bra \t$L9;\n");
        assert_eq!(held(&outer), Some(outer.replace("$L0:\n", &format!("$L0:\n{ONCE}"))));
    }
}
