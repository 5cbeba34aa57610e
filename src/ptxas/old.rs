//! What older releases of ptxas get wrong.
//!
//! An asynchronous product may read its first operand from registers. Until the release 13.3, ptxas takes these for
//! free as soon as the product has been issued, and the next turn of a loop loads into them while the product may still
//! read. Such waits have a note in the PTX, and for these releases they wait for all products (reported as issue 9433
//! of triton-lang/triton). It takes up to a fifth of the speed of scaled products.

/// What stands behind a wait that older releases need to be a full one.
pub const OLD_WAITS: &str = "; // 0 for ptxas before 13.3";

/// The first release that keeps the registers.
const KEEPS: (u32, u32) = (13, 3);

/// Whether older releases need other waits in this PTX.
pub(super) fn concerns(ptx: &str) -> bool {
    ptx.contains(OLD_WAITS)
}

/// Whether a release, `13.4`, is one of these.
pub(super) fn is_old(release: &str) -> bool {
    let mut numbers = release.split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < KEEPS
}

/// The PTX with full waits.
pub(super) fn with_full_waits(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        let wait =
            line.split_once(OLD_WAITS).map(|(wait, rest)| (wait.trim_end_matches(|c: char| c.is_ascii_digit()), rest));
        match wait {
            Some((wait, rest)) => text.extend([wait, "0", OLD_WAITS, rest]),
            None => text.push_str(line),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_waits_become_full_ones() {
        let ptx = "wgmma.wait_group.sync.aligned 1; // 0 for ptxas before 13.3;\nwgmma.wait_group.sync.aligned 2;\n";
        assert!(concerns(ptx));
        let full = "wgmma.wait_group.sync.aligned 0; // 0 for ptxas before 13.3;\nwgmma.wait_group.sync.aligned 2;\n";
        assert_eq!(with_full_waits(ptx), full);
        assert!(!concerns("wgmma.wait_group.sync.aligned 1;\n"));
    }

    #[test]
    fn releases_are_compared_by_number() {
        assert!(["12.8", "12.9", "13.0", "13.2", "9.9"].into_iter().all(is_old));
        assert!(!["13.3", "13.4", "13.10", "14.0"].into_iter().any(is_old));
    }
}
