//! How many registers are in use at each instruction, as `nvdisasm --life-range-mode count` says it.
//!
//! ```text
//!                                                 // | GPR   | PRED   | UGPR   |
//!                                                 // |   #   |   #    |   #    |
//!   /*0030*/    ULDC.64 UR4, c[0x0][0x208] ;      // |   4   |        |   2    |
//! ```
//! The tool cannot print this and the source lines at once, so the numbers of the one listing are put to the
//! instructions of the other by their order. Addresses must agree. The `NOP`s behind the end of a function have no
//! numbers.

use serde::Serialize;

use super::links::is_instruction;

/// Registers in use.
#[derive(Serialize, Debug, PartialEq, Eq, Default)]
pub struct Pressure {
    /// The kinds of registers: `GPR`, `PRED`, `UGPR`.
    pub kinds: Vec<String>,
    /// For each row of the listing a number for each kind, or nothing.
    pub rows: Vec<Option<Vec<u32>>>,
    /// The most of each kind, and the first row that has it.
    pub most: Vec<(u32, usize)>,
}

/// The numbers for the rows of a listing; `None` if the two do not belong together.
#[must_use]
pub(super) fn of(lives: &str, listing: &[String]) -> Option<Pressure> {
    let columns = |line: &str| -> Option<Vec<String>> {
        let (_, rest) = line.rsplit_once("// |")?;
        Some(rest.trim_end().strip_suffix('|')?.split('|').map(|cell| cell.trim().to_owned()).collect())
    };
    let kinds = lives.lines().filter_map(columns).find(|c| c.iter().any(|k| k == "GPR"))?;
    let counted = lives.lines().filter(|l| is_instruction(l)).map(|line| {
        let cells = columns(line).filter(|c| c.len() == kinds.len());
        (address(line), cells.map(|c| c.iter().map(|n| n.parse().unwrap_or(0)).collect::<Vec<u32>>()))
    });
    let mut counted = counted.peekable();
    let mut rows = vec![];
    let mut most = vec![(0, 0); kinds.len()];
    for (row, line) in listing.iter().enumerate() {
        if !is_instruction(line) {
            rows.push(None);
            continue;
        }
        let Some((_, numbers)) = counted.next_if(|(at, _)| *at == address(line)) else {
            // The tool leaves out what fills up the end of a function.
            if !line.contains(" NOP") {
                return None;
            }
            rows.push(None);
            continue;
        };
        for (best, &n) in most.iter_mut().zip(numbers.iter().flatten()) {
            if n > best.0 {
                *best = (n, row);
            }
        }
        rows.push(numbers);
    }
    counted.next().is_none().then_some(Pressure { kinds, rows, most })
}

fn address(line: &str) -> Option<u64> {
    let (hex, _) = line.trim().strip_prefix("/*")?.split_once("*/")?;
    u64::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVES: &str = "\t.target\tsm_90a\n\
        // +-------+--------+--------+\n\
        // | GPR   | PRED   | UGPR   |\n\
        // |   #   |   #    |   #    |\n\
        .text.k:                              // |       |        |        |\n\
        /*0000*/   LDC R1, c[0x0][0x28] ;     // |   1   |        |        |\n\
        /*0010*/   ULDC UR6, c[0x0][0x218] ;  // |   9   |   1    |   3    |\n\
        .L_x_0:                               // +.......+........+........+\n\
        /*0020*/   BRA `(.L_x_0);             // |   9   |        |        |\n";

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|&l| l.to_owned()).collect()
    }

    #[test]
    fn numbers_are_put_to_instructions() {
        let listing = lines(&[
            ".text.k:",
            "/*0000*/ LDC R1 ;",
            "/*0010*/ ULDC UR6 ;",
            ".L_x_0:",
            "/*0020*/ BRA ;",
            "/*0030*/ NOP ;",
        ]);
        let found = of(LIVES, &listing).unwrap();
        assert_eq!(found.kinds, ["GPR", "PRED", "UGPR"]);
        let rows = vec![None, Some(vec![1, 0, 0]), Some(vec![9, 1, 3]), None, Some(vec![9, 0, 0]), None];
        assert_eq!(found.rows, rows);
        // The first of equals.
        assert_eq!(found.most, [(9, 2), (1, 2), (3, 2)]);
    }

    #[test]
    fn another_listing_has_no_numbers() {
        assert_eq!(of(LIVES, &lines(&["/*0000*/ LDC ;", "/*0030*/ BRA ;"])), None);
        assert_eq!(of(LIVES, &lines(&["/*0000*/ A ;", "/*0010*/ B ;", "/*0020*/ C ;", "/*0030*/ D ;"])), None);
        assert_eq!(of(LIVES, &lines(&["/*0000*/ A ;", "/*0010*/ B ;"])), None);
        assert_eq!(of("no table", &lines(&["/*0000*/ A ;"])), None);
    }
}
