//! From the lines of a stage's text to places in the source: a chain for each line, the innermost place first.
//!
//! The texts are those that ttc and its tools print, so this reads them line by line and parses no more than the
//! locations. A line without a location has an empty chain.

use std::collections::BTreeMap;

use crate::ir::core::{Loc, LocData};

use super::frames::{Frames, Place};

/// The lines of a text, each with its places.
pub(super) type Linked = Vec<(String, Vec<Place>)>;

/// TTIR and TTGIR: each operation ends in `loc(#loc7)`, and the aliases stand at the end. Both are left out of what is
/// shown.
///
/// The number of a row in the shown text is that of the line in the whole text less the lines before it that are left
/// out: see [`is_shown`].
#[must_use]
pub(super) fn ir(text: &str) -> Linked {
    let aliases: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|l| l.split_once(" = loc(").map(|(name, rest)| (name, rest.strip_suffix(')').unwrap_or(rest))))
        .filter(|(name, _)| name.starts_with("#loc"))
        .collect();
    text.lines()
        .filter(|line| is_shown(line))
        .map(|line| {
            let mut chain = vec![];
            let (start, at) = match line.rfind(" loc(") {
                Some(start) if line.ends_with(')') => (start, &line[start + 5..line.len() - 1]),
                _ => (line.len(), ""),
            };
            location(at, &aliases, &mut chain, 0);
            (without_locations(&line[..start]), chain)
        })
        .collect()
}

/// Whether a line of IR is shown.
#[must_use]
pub(super) fn is_shown(line: &str) -> bool {
    !line.starts_with("#loc") && !line.starts_with("// ttc.metadata")
}

/// The places of a location, as [`ir`] reads them from its text.
#[must_use]
pub(super) fn chain_of(loc: Loc) -> Vec<Place> {
    match loc.data() {
        LocData::Unknown => vec![],
        LocData::File { file, line, .. } => {
            Some((file.to_string(), *line)).filter(|(_, line)| *line > 0).into_iter().collect()
        }
        LocData::Name { child, .. } => chain_of(*child),
        LocData::CallSite { callee, caller } => [chain_of(*callee), chain_of(*caller)].concat(),
        LocData::Fused(parts) => parts.iter().flat_map(|&l| chain_of(l)).collect(),
    }
}

/// A line without the locations of the arguments that it declares.
fn without_locations(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(" loc(") {
        let opened = start + " loc(".len();
        out.push_str(&rest[..start]);
        rest = &rest[opened + closing(&rest[opened..])..];
    }
    out + rest
}

/// How far it is to the end of what an opened parenthesis holds, with the one that closes it; names in quotes may hold
/// others.
fn closing(text: &str) -> usize {
    let (mut depth, mut quoted) = (1u32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Reads `"file":1:2`, `#loc3`, `"name"(…)`, `callsite(… at …)` or `fused[…]`. What stands in it is added, the callee
/// before its caller.
fn location(text: &str, aliases: &BTreeMap<&str, &str>, chain: &mut Vec<Place>, depth: u32) {
    let text = text.trim();
    if depth > 64 || text.is_empty() {
        return;
    }
    if let Some(meaning) = aliases.get(text) {
        return location(meaning, aliases, chain, depth + 1);
    }
    if let Some(inner) = text.strip_prefix("callsite(").and_then(|t| t.strip_suffix(')')) {
        let at = top_level(inner, " at ").unwrap_or(inner.len());
        location(&inner[..at], aliases, chain, depth + 1);
        return location(inner[at..].trim_start_matches(" at "), aliases, chain, depth + 1);
    }
    if let Some(inner) =
        text.strip_prefix("fused").and_then(|t| t.split_once('[')).and_then(|(_, t)| t.strip_suffix(']'))
    {
        let mut rest = inner;
        while let Some(at) = top_level(rest, ",") {
            location(&rest[..at], aliases, chain, depth + 1);
            rest = &rest[at + 1..];
        }
        return location(rest, aliases, chain, depth + 1);
    }
    let Some((quoted, rest)) = text.strip_prefix('"').and_then(|t| t.split_once('"')) else { return };
    if let Some(inner) = rest.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return location(inner, aliases, chain, depth + 1);
    }
    let line = rest.strip_prefix(':').and_then(|r| r.split(':').next()).and_then(|l| l.parse().ok());
    chain.extend(line.filter(|l| *l > 0).map(|line| (quoted.to_owned(), line)));
}

/// Where a word stands outside of parentheses and brackets.
fn top_level(text: &str, word: &str) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 && text[i..].starts_with(word) {
            return Some(i);
        }
    }
    None
}

/// LLVM IR: instructions end in `!dbg !7`. The metadata at the end are left out of what is shown.
#[must_use]
pub(super) fn llir(text: &str) -> Linked {
    let nodes = Nodes::of(text);
    let shown = text.lines().filter(|l| !(l.starts_with('!') || l.starts_with("; ttc.metadata")));
    shown
        .map(|line| match line.split_once(", !dbg !").or_else(|| line.split_once(" !dbg !")) {
            Some((before, rest)) => {
                let number = rest.chars().take_while(char::is_ascii_digit).collect::<String>();
                let after = &rest[number.len()..];
                let chain = number.parse().map_or_else(|_| vec![], |n| nodes.chain(n));
                (format!("{before}{after}"), chain)
            }
            None => (line.to_owned(), vec![]),
        })
        .collect()
}

/// The chains of all places that LLVM IR has.
#[must_use]
pub(super) fn chains(llir: &str) -> Vec<Vec<Place>> {
    let nodes = Nodes::of(llir);
    nodes.by_number.iter().filter(|(_, t)| t.starts_with("!DILocation(")).map(|(n, _)| nodes.chain(*n)).collect()
}

/// The numbered metadata of LLVM IR.
struct Nodes<'a> {
    by_number: BTreeMap<u32, &'a str>,
}

impl<'a> Nodes<'a> {
    fn of(text: &'a str) -> Nodes<'a> {
        let node = |line: &'a str| {
            let (number, rest) = line.strip_prefix('!')?.split_once(" = ")?;
            Some((number.parse().ok()?, rest.trim_start_matches("distinct ")))
        };
        Nodes { by_number: text.lines().filter_map(node).collect() }
    }

    /// The value of a field of a node.
    fn field(&self, number: u32, name: &str) -> Option<&'a str> {
        let text = self.by_number.get(&number)?;
        let start = text.find(&format!("{name}: "))? + name.len() + 2;
        let rest = &text[start..];
        if let Some(quoted) = rest.strip_prefix('"') {
            return quoted.split('"').next();
        }
        rest.split([',', ')']).next()
    }

    fn node(&self, number: u32, name: &str) -> Option<u32> {
        self.field(number, name)?.strip_prefix('!')?.parse().ok()
    }

    fn chain(&self, mut number: u32) -> Vec<Place> {
        let mut chain = vec![];
        for _ in 0..64 {
            let line = self.field(number, "line").and_then(|l| l.parse().ok()).unwrap_or(0);
            let file = self.node(number, "scope").and_then(|scope| self.node(scope, "file"));
            if let Some(name) = file.and_then(|f| self.path(f)).filter(|_| line > 0) {
                chain.push((name, line));
            }
            match self.node(number, "inlinedAt") {
                Some(caller) => number = caller,
                None => break,
            }
        }
        chain
    }

    fn path(&self, file: u32) -> Option<String> {
        let (name, folder) = (self.field(file, "filename")?, self.field(file, "directory").unwrap_or(""));
        Some(if folder.is_empty() || name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") })
    }
}

/// Assembly: `.loc FILE LINE COLUMN` holds until the next one; `.file FILE "name"` stands anywhere, on AMD with the
/// folder before the name.
#[must_use]
pub(super) fn assembly(text: &str, frames: &Frames) -> Linked {
    let file = |line: &str| {
        let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
        let quoted: Vec<&str> = name.split('"').skip(1).step_by(2).collect();
        let name = match quoted.as_slice() {
            [folder, name, ..] if !name.starts_with('/') && !folder.is_empty() => format!("{folder}/{name}"),
            [_, name, ..] | [name] => (*name).to_owned(),
            [] => return None,
        };
        Some((number.parse::<u32>().ok()?, name))
    };
    let files: BTreeMap<u32, String> = text.lines().filter_map(file).collect();
    let mut now: Vec<Place> = vec![];
    let mut out = vec![];
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [".loc", file, at, ..] => {
                let name = file.parse().ok().and_then(|f: u32| files.get(&f));
                let at = at.parse().ok().filter(|l| *l > 0);
                now = name.zip(at).map_or_else(Vec::new, |(name, at)| frames.with_callers(&(name.clone(), at)));
                continue;
            }
            [".file" | ".section", ..] => continue,
            [first, ..] if first.starts_with("ttc.metadata") => continue,
            ["//", "ttc.metadata:", ..] => continue,
            ["}"] => now = vec![],
            _ => {}
        }
        let instruction = words.first().is_some_and(|w| is_assembly(w));
        out.push((line.to_owned(), if instruction { now.clone() } else { vec![] }));
    }
    out
}

/// Whether a line of assembly that starts with this word is an instruction.
fn is_assembly(word: &str) -> bool {
    !word.starts_with(['.', '$', '/', '{', '}', '(', ')', ';', '-']) && !word.ends_with(':')
}

/// A code object's instructions, as llvm-objdump prints them: `; name:7` holds until the next one. Addresses stand in
/// comments behind the instructions.
#[must_use]
pub(super) fn isa(text: &str, frames: &Frames) -> Linked {
    let mut now: Vec<Place> = vec![];
    let mut out = vec![];
    for line in text.lines() {
        if let Some((name, at)) = line.strip_prefix("; ").and_then(|l| l.rsplit_once(':')) {
            now = at.parse().ok().filter(|l| *l > 0).map_or_else(Vec::new, |l| frames.with_callers(&(name.into(), l)));
            continue;
        }
        if line.is_empty() || line.starts_with(';') {
            continue;
        }
        let chain = if is_isa(line) { now.clone() } else { vec![] };
        out.push((line.split(" //").next().unwrap_or(line).trim_end().to_owned(), chain));
    }
    out
}

/// Whether a line of a code object is an instruction: `    s_endpgm`, with a tab before it.
#[must_use]
pub(super) fn is_isa(line: &str) -> bool {
    line.starts_with(['\t', ' ']) && !line.trim().is_empty()
}

/// SASS with its line table, as nvdisasm prints it: `//## File "name", line 7` holds until the next one.
#[must_use]
pub(super) fn sass(text: &str, frames: &Frames) -> Linked {
    let mut now: Vec<Place> = vec![];
    let mut out = vec![];
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("//## File \"") {
            let place = rest.split_once("\", line ").and_then(|(name, at)| {
                let digits: String = at.chars().take_while(char::is_ascii_digit).collect();
                Some((name.to_owned(), digits.parse().ok()?))
            });
            now = place.map_or_else(Vec::new, |p| frames.with_callers(&p));
            continue;
        }
        if trimmed.starts_with(".section") {
            now = vec![];
        }
        if is_instruction(trimmed) {
            out.push((narrow(trimmed), now.clone()));
        } else {
            out.push((trimmed.to_owned(), vec![]));
        }
    }
    out
}

/// An instruction without the columns of blanks behind its address: five stages stand beside each other.
fn narrow(line: &str) -> String {
    match line.split_once("*/") {
        Some((address, rest)) => format!("{address}*/ {}", rest.trim_start()),
        None => line.to_owned(),
    }
}

/// Whether a line of SASS is an instruction: `/*0010*/  MOV R1, R2 ;`.
#[must_use]
pub(super) fn is_instruction(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("/*") && line.contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32) -> Place {
        (file.to_owned(), line)
    }

    #[test]
    fn names_in_locations_leave_no_parenthesis() {
        let line = "tt.func @k(%p: !tt.ptr<f32> loc(\"p)\"(#loc2)), %n: i32 loc(\"n\"(#loc3))) {";
        assert_eq!(without_locations(line), "tt.func @k(%p: !tt.ptr<f32>, %n: i32) {");
    }

    #[test]
    fn locations_of_ir_are_followed_through_aliases_and_calls() {
        let text = "#loc1 = loc(\"x\"(#loc2))\n  %x = tt.load %p : i32 loc(#loc4)\n  %y = f(%a: i32 loc(#loc1)) loc(#loc1)\n  tt.return loc(unknown)\n#loc2 = loc(\"k.tk\":4:9)\n#loc3 = loc(\"lib.tk\":8:2)\n#loc4 = loc(callsite(#loc3 at #loc1))\n";
        let lines = ir(text);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], ("  %x = tt.load %p : i32".to_owned(), vec![place("lib.tk", 8), place("k.tk", 4)]));
        assert_eq!(lines[1], ("  %y = f(%a: i32)".to_owned(), vec![place("k.tk", 4)]));
        assert_eq!(lines[2].1, vec![]);
    }

    #[test]
    fn debug_locations_of_llvm_ir_are_chains() {
        let text = "define void @k() !dbg !4 {\n  %1 = add i32 1, 2, !dbg !7\n}\n!3 = !DIFile(filename: \"k.tk\", directory: \"src\")\n!4 = distinct !DISubprogram(name: \"k\", scope: !3, file: !3, line: 1)\n!5 = !DIFile(filename: \"lib.tk\", directory: \"<prelude>\")\n!6 = !DILexicalBlockFile(scope: !4, file: !5, discriminator: 0)\n!7 = !DILocation(line: 9, column: 3, scope: !6, inlinedAt: !8)\n!8 = !DILocation(line: 2, column: 5, scope: !4)\n";
        let lines = llir(text);
        assert_eq!(lines.len(), 3);
        let expected = vec![place("<prelude>/lib.tk", 9), place("src/k.tk", 2)];
        assert_eq!(lines[1], ("  %1 = add i32 1, 2".to_owned(), expected.clone()));
        let all = chains(text);
        assert_eq!(all, [expected.clone(), vec![place("src/k.tk", 2)]]);
        // PTX and SASS get the caller back.
        let frames = Frames::of(all.iter().map(Vec::as_slice));
        let lines =
            assembly("\t.loc\t2 9 3\n\tadd.s32 %r1, 1, 2;\n$L__tmp:\n\t.file\t2 \"<prelude>/lib.tk\"\n", &frames);
        assert_eq!(lines[0], ("\tadd.s32 %r1, 1, 2;".to_owned(), expected.clone()));
        assert_eq!(lines[1].1, vec![]);
        let lines = sass(
            "\t//## File \"<prelude>/lib.tk\", line 9\n        /*0010*/                   IADD3 R1, R2, R3 ;\n.L_1:\n",
            &frames,
        );
        assert_eq!((lines.len(), &lines[0].1), (2, &expected));
        let text =
            "\n0000 <k>:\n; k():\n; <prelude>/lib.tk:9\n\ts_load_dword s6, s[4:5], 0x10 // 000000001700: C0020182\n";
        let lines = isa(text, &frames);
        assert_eq!(
            lines,
            [("0000 <k>:".to_owned(), vec![]), ("\ts_load_dword s6, s[4:5], 0x10".to_owned(), expected.clone())]
        );
        let lines = assembly("\t.file\t2 \"<prelude>\" \"lib.tk\"\n\t.loc\t2 9 3\n\ts_endpgm\n.LBB0_1:\n", &frames);
        assert_eq!((lines[0].1.clone(), lines[1].1.clone()), (expected.clone(), vec![]));
    }
}
