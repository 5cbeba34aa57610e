//! What is wrong with a kernel, in the words of the manifest that asks for it.
//!
//! 1. The front end and the driver speak of options of the command line, which nobody wrote here. An option between
//!    backquotes becomes the key that stands for it ([`in_keys`]).
//! 2. A message that is about such a key, or has no place, points at the key, or at the table of the kernel.
//! 3. A code that says that the command line is wrong becomes E0950: the command line is not.
//!
//! Example: `` `--num-warps 3` `` becomes `` `num_warps = 3` ``, and `` `--type x*=i32` `` becomes
//! `` `types = { "x*" = "i32" }` ``.

use std::ops::Range;

use crate::diag::Diagnostic;
use crate::diag::codes::{cli, names};
use crate::source::{FileId, SourceMap, Span};

/// How the value of a key is written.
#[derive(Clone, Copy)]
enum Form {
    /// A number.
    Plain,
    Text,
    List,
    /// A truth value, whose option has no value.
    Flag,
    /// A table of texts.
    Types,
    /// A table of values.
    Values,
}

/// The options that a key of a kernel's table stands for.
const KEYS: &[(&str, &str, Form)] = &[
    ("--num-warps", "num_warps", Form::Plain),
    ("--num-stages", "num_stages", Form::Plain),
    ("--num-ctas", "num_ctas", Form::Plain),
    ("--maxnreg", "maxnreg", Form::Plain),
    ("--matrix-instr-nonkdim", "matrix_instr_nonkdim", Form::Plain),
    ("--kpack", "kpack", Form::Plain),
    ("--waves-per-eu", "waves_per_eu", Form::Plain),
    ("--config", "config", Form::Plain),
    ("--grid", "grid", Form::Text),
    ("--signature", "signature", Form::Text),
    ("--tma", "tma", Form::Text),
    ("--arch", "archs", Form::List),
    ("--triton-abi", "triton_abi", Form::Flag),
    ("--debug", "debug", Form::Flag),
    ("--type", "types", Form::Types),
    ("-D", "constants", Form::Values),
];

/// A message about a kernel of the manifest, for whoever wrote that. `file` is the manifest. `archs` says whether the
/// command line names the architectures.
pub(super) fn of_kernel(mut d: Diagnostic, sources: &SourceMap, file: FileId, kernel: &str, archs: bool) -> Diagnostic {
    let wrong_arch = d.code == &cli::UNKNOWN_ARCH;
    if wrong_arch && archs {
        return d;
    }
    let mut named = match d.code {
        _ if wrong_arch => Some("archs"),
        code if code == &names::BAD_DEFINE => Some("constants"),
        code if code == &cli::BAD_GRID => Some("grid"),
        _ => None,
    };
    for text in std::iter::once(&mut d.message).chain(&mut d.notes).chain(&mut d.help) {
        let (new, key) = in_keys(text);
        *text = new;
        named = named.or(key);
    }
    // Where outputs go, the command line may say as well.
    if cli::USAGE.contains(&d.code) && d.code != &cli::OUTPUT_CONFLICT {
        d.code = &cli::BAD_MANIFEST;
    }
    if named.is_some() || d.labels.is_empty() {
        let range = place(&sources.file(file).text, kernel, named);
        let text = if d.labels.is_empty() { "" } else { "asked for here" };
        d = d.at(Span { file, lo: range.start as u32, hi: range.end as u32 }, text);
    }
    d
}

/// The text with keys in the place of options between backquotes, and the first key.
fn in_keys(text: &str) -> (String, Option<&'static str>) {
    let mut first = None;
    let parts = text.split('`').enumerate().map(|(i, part)| match key_of(part).filter(|_| i % 2 == 1) {
        Some((written, key)) => {
            first = first.or(Some(key));
            written
        }
        None => part.to_owned(),
    });
    let parts: Vec<String> = parts.collect();
    (parts.join("`"), first)
}

/// An option as a key, and the key's name.
fn key_of(option: &str) -> Option<(String, &'static str)> {
    let (name, value) = option.split_once(' ').map_or((option, None), |(name, value)| (name, Some(value.trim())));
    let &(_, key, form) = KEYS.iter().find(|(known, ..)| *known == name)?;
    let quoted = |text: &str| format!("\"{}\"", text.trim_matches('"').replace('\\', "\\\\").replace('"', "\\\""));
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name_of = |name: &str| if name.chars().all(plain) { name.to_owned() } else { quoted(name) };
    let written = match (form, value) {
        (_, None) => key.to_owned(),
        (Form::Plain | Form::Flag, Some(value)) => format!("{key} = {value}"),
        (Form::Text, Some(value)) => format!("{key} = {}", quoted(value)),
        (Form::List, Some(value)) => format!("{key} = [{}]", quoted(value)),
        (Form::Types | Form::Values, Some(item)) => {
            let (name, value) = item.trim_matches('"').split_once('=').unwrap_or((item, "…"));
            let value = if matches!(form, Form::Types) { quoted(value) } else { value.to_owned() };
            format!("{key} = {{ {} = {value} }}", name_of(name))
        }
    };
    Some((written, key))
}

/// Where a key of a kernel's table stands, or of `[build]`; else the kernel's table.
fn place(text: &str, kernel: &str, key: Option<&str>) -> Range<usize> {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end()))
    });
    let (mut header, mut own, mut shared, mut table) = (0..0, None, None, "");
    for (start, line) in lines {
        let word = line.trim_start();
        let range = start + (line.len() - word.len())..start + line.len();
        if word.starts_with('[') {
            table = word.split(']').next().unwrap_or_default().trim_start_matches('[').trim();
            if is_of(table, kernel) && header.is_empty() {
                header = range.clone();
            }
            if is_table(table, kernel, key) {
                own = own.or(Some(range));
            }
        } else if let Some(key) = key
            && word.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        {
            match table {
                "build" => shared = Some(range),
                table if is_of(table, kernel) => own = own.or(Some(range)),
                _ => {}
            }
        }
    }
    own.or(shared).unwrap_or(header)
}

/// Whether a table is that of the kernel, or one in it.
fn is_of(table: &str, kernel: &str) -> bool {
    let rest = table.strip_prefix("kernel.").and_then(|rest| {
        let rest = rest.trim_start_matches(['"', '\'']);
        rest.strip_prefix(kernel)
    });
    rest.is_some_and(|rest| matches!(rest.trim_start_matches(['"', '\'']).chars().next(), None | Some('.' | ' ')))
}

/// Whether a table in that of the kernel is the key itself: `[kernel.add.types]`.
fn is_table(table: &str, kernel: &str, key: Option<&str>) -> bool {
    is_of(table, kernel) && key.is_some_and(|key| table.rsplit('.').next() == Some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_keys() {
        for (text, want) in [
            ("`--num-warps 3`: expected a power of 2", "`num_warps = 3`: expected a power of 2"),
            ("`--type zz*=i32` fits nothing", "`types = { \"zz*\" = \"i32\" }` fits nothing"),
            ("give its value: `-D BLOCK=…`", "give its value: `constants = { BLOCK = … }`"),
            ("compile with `--arch sm_89`", "compile with `archs = [\"sm_89\"]`"),
            ("with `--config`, or `--tma device`", "with `config`, or `tma = \"device\"`"),
            ("`--ptxas` and --num-warps 3 stay", "`--ptxas` and --num-warps 3 stay"),
        ] {
            assert_eq!(in_keys(text).0, want);
        }
    }

    #[test]
    fn a_key_is_found_in_its_table() {
        let text = "[build]\narchs = [\"x\"]\n[kernel.a]\nnum_warps = 4\n\n[kernel.\"add\"]\n  num_warps = 3\n\
                    [kernel.add.variant.v]\nkpack = 7\n[kernel.b.types]\nx = \"i32\"\n";
        let at = |kernel: &str, key| &text[place(text, kernel, key)];
        assert_eq!(at("add", Some("num_warps")), "num_warps = 3");
        assert_eq!(at("a", Some("num_warps")), "num_warps = 4");
        assert_eq!(at("add", Some("kpack")), "kpack = 7");
        assert_eq!(at("add", Some("archs")), "archs = [\"x\"]");
        assert_eq!(at("add", Some("grid")), "[kernel.\"add\"]");
        assert_eq!(at("b", Some("types")), "[kernel.b.types]");
        assert_eq!(at("add", None), "[kernel.\"add\"]");
        assert_eq!(at("none", None), "");
    }
}
