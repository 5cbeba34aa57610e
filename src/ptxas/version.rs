//! The version of PTX that ptxas asks for.
//!
//! ttc writes the lowest version that a kernel needs, so that older drivers load its PTX. What the inline PTX of a
//! kernel needs is known for many words (`backend/nvidia/ptx_version.rs`), not for all. ptxas knows:
//!
//! ```text
//! ptxas kernel.ptx, line 7; error   : Feature 'multimem.st' requires PTX ISA .version 8.1 or later
//! ```

/// What stands in front of the version in the log.
const WANTED: &str = "requires PTX ISA .version ";

/// The directive.
const VERSION: &str = ".version ";

/// The PTX in the newest version that the log asks for, if that is newer than the version that it has.
pub(super) fn as_wanted(ptx: &str, log: &str) -> Option<String> {
    let wanted = log.lines().filter_map(|line| number(line.split_once(WANTED)?.1)).max()?;
    let (before, rest) = ptx.split_at(ptx.find(VERSION)? + VERSION.len());
    let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    let (major, minor) = wanted;
    (number(rest)? < wanted).then(|| format!("{before}{major}.{minor}{}", &rest[digits..]))
}

/// Two numbers with a dot between them, as at the start of a text.
fn number(text: &str) -> Option<(u32, u32)> {
    let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let (major, minor) = text[..end].split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_the_log_asks_for() {
        let log = "ptxas k.ptx, line 7; error   : Feature 'multimem.st' requires PTX ISA .version 8.1 or later\n\
                   ptxas k.ptx, line 9; error   : Feature 'cvt with .ue8m0x2' requires PTX ISA .version 8.6 or later\n\
                   ptxas fatal   : Ptx assembly aborted due to errors\n";
        assert_eq!(
            as_wanted("//\n.version 8.0\n.target sm_90a\n", log).as_deref(),
            Some("//\n.version 8.6\n.target sm_90a\n")
        );
        assert_eq!(as_wanted("//\n.version 8.10\n.target sm_90a\n", log), None);
        assert_eq!(as_wanted("//\n.version 8.0\n", "ptxas fatal   : Unsupported .version 9.9"), None);
        assert_eq!(as_wanted("", log), None);
    }
}
