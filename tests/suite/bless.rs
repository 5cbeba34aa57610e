//! Text tests whose checks the compiler writes: each line of every function is checked, and nobody types the lines.
//!
//! A file of `tests/lit` with a line `// BLESSED: WHY` is such a test. WHY says what vouches for the expectation, since
//! the compiler's own output proves nothing. `BLESS=1 TTC_LIT=name cargo test lit` writes the checks anew. Without
//! `BLESS`, the checks are compared by FileCheck as in every other test, and a failure shows what blessing would
//! change.
//!
//! 1. Each `RUN:` line is `COMMAND | FileCheck %s --match-full-lines`, perhaps with `--check-prefix=PREFIX`. The output
//!    of the command is a module, or several between lines `// -----`, as many as the file has.
//! 2. All lines with one of the prefixes are taken out of the file.
//! 3. The head of each module (the aliases of layouts and the attributes of the module) is checked below the first
//!    comment of the part; `module {` alone says nothing and is left out.
//! 4. Each function is checked above the function of its name: `PREFIX-LABEL` is its first line, and every further line
//!    is a `PREFIX-NEXT`. A function that the file does not define is checked above the one that follows it. A function
//!    that the output lacks is a `PREFIX-NOT`.
//! 5. Names that a change elsewhere may change become FileCheck's variables: values other than parameters, and aliases.
//!    `%r = arith.addi %a, %b : i32` becomes `%[[R:[^ ,:)#]+]] = arith.addi %a, %b : i32` where it is first seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Cases, lit};

const MARK: &str = "// BLESSED:";
const SEPARATOR: &str = "// -----";

/// Whether the compiler writes the checks of this file.
pub(crate) fn is_blessed(text: &str) -> bool {
    text.lines().any(|l| l.starts_with(MARK))
}

/// The file with the checks that `outputs` makes of it: the output of each `RUN:` line's command, which `output` runs.
pub(crate) fn bless(text: &str, output: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let why = text.lines().find_map(|l| l.strip_prefix(MARK));
    match why.map(str::trim) {
        None => return Err(format!("the file is written by hand: it has no line `{MARK} WHY`")),
        Some("") => return Err(format!("the line `{MARK}` does not say what vouches for the checks")),
        Some(_) => {}
    }
    let mut runs = vec![];
    for line in lit::run_lines(text)? {
        let (command, prefix) = command_and_prefix(&line)?;
        runs.push((output(&command)?, prefix));
    }
    let bare: Vec<&str> = text.lines().filter(|line| !runs.iter().any(|(_, prefix)| is_check(line, prefix))).collect();
    let parts = split(&bare);
    let mut checks = vec![];
    for (output, prefix) in &runs {
        let lines: Vec<&str> = output.lines().collect();
        let modules = split(&lines);
        if modules.len() != parts.len() {
            return Err(format!("the file has {} parts and the output {}", parts.len(), modules.len()));
        }
        checks.push(modules.iter().map(|m| Module::parse(m)?.checks(prefix)).collect::<Result<Vec<_>, _>>()?);
    }
    let mut out = vec![];
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            out.push(SEPARATOR.to_owned());
        }
        let of_part: Vec<&Checks> = checks.iter().map(|modules| &modules[i]).collect();
        write_part(part, &of_part, &mut out)?;
    }
    Ok(out.join("\n") + "\n")
}

/// `COMMAND | FileCheck %s …` as the command and the prefix of its checks.
fn command_and_prefix(run: &str) -> Result<(String, String), String> {
    let wrong = || format!("not `COMMAND | FileCheck %s --match-full-lines [--check-prefix=PREFIX]`: {run}");
    let (command, check) = run.rsplit_once('|').ok_or_else(wrong)?;
    let mut words = check.split_whitespace();
    let (mut prefix, mut full) = ("CHECK", false);
    if (words.next(), words.next()) != (Some("FileCheck"), Some("%s")) {
        return Err(wrong());
    }
    for word in words {
        match word.strip_prefix("--check-prefix=") {
            Some(p) => prefix = p,
            None if word == "--match-full-lines" => full = true,
            None => return Err(wrong()),
        }
    }
    if full { Ok((command.trim().to_owned(), prefix.to_owned())) } else { Err(wrong()) }
}

/// Whether a line is a check with this prefix: `// CHECK-NEXT: …`.
fn is_check(line: &str, prefix: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("//").and_then(|r| r.trim_start().strip_prefix(prefix)) else {
        return false;
    };
    let kind = rest.split(':').next().unwrap_or("");
    rest.contains(':') && (kind.is_empty() || ["-LABEL", "-NEXT", "-NOT", "-SAME", "-DAG", "-EMPTY"].contains(&kind))
}

fn split<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    lines.split(|l| l.trim() == SEPARATOR).map(<[_]>::to_vec).collect()
}

/// One module of the output.
struct Module<'a> {
    head: Vec<&'a str>,
    /// Name and lines of each function, in order.
    functions: Vec<(&'a str, Vec<&'a str>)>,
}

/// What is checked of a module: lines to write above something, without indentation.
struct Checks {
    head: Vec<String>,
    functions: Vec<(String, Vec<String>)>,
    prefix: String,
}

/// The name of the function that starts on this line.
fn function_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("tt.func ")?;
    let (_, name) = rest.split_once('@')?;
    name.split_once('(').map(|(name, _)| name)
}

impl<'a> Module<'a> {
    fn parse(lines: &[&'a str]) -> Result<Self, String> {
        let mut made = Module { head: vec![], functions: vec![] };
        let mut lines = lines.iter().copied().filter(|l| !l.trim().is_empty());
        while let Some(line) = lines.next() {
            if let Some(name) = function_name(line) {
                let indent = &line[..line.len() - line.trim_start().len()];
                let end = format!("{indent}}}");
                let mut body = vec![line];
                if line.ends_with('{') {
                    body.extend(lines.by_ref().take_while(|l| !l.starts_with(&end)));
                    body.push("}");
                }
                made.functions.push((name, body));
            } else if made.functions.is_empty() {
                made.head.push(line);
            }
        }
        if made.functions.is_empty() { Err("the output has a part without a function".to_owned()) } else { Ok(made) }
    }

    fn checks(&self, prefix: &str) -> Result<Checks, String> {
        let mut aliases = BTreeMap::new();
        for line in &self.head {
            if let Some((name, _)) = line.strip_prefix('#').and_then(|l| l.split_once(" = ")) {
                let variable = fresh(name, &aliases.values().cloned().collect());
                aliases.insert(name.to_owned(), variable);
            }
        }
        let mut known = BTreeSet::new();
        let mut head = vec![];
        for line in self.head.iter().filter(|l| l.trim() != "module {") {
            let kind = if head.is_empty() { "" } else { "-NEXT" };
            head.push(format!("// {prefix}{kind}: {}", Names::of_aliases(&aliases, &mut known).pattern(line)));
        }
        let functions = self.functions.iter().map(|(name, lines)| {
            let mut names = Names::of_aliases(&aliases, &mut known);
            names.parameters = values(lines[0]);
            let mut out = vec![format!("// {prefix}-LABEL: {}", names.label(lines[0]))];
            out.extend(lines[1..].iter().map(|l| format!("// {prefix}-NEXT: {}", names.pattern(l))));
            ((*name).to_owned(), out)
        });
        let functions: Vec<_> = functions.collect();
        let distinct: BTreeSet<&String> = functions.iter().map(|(name, _)| name).collect();
        if distinct.len() < functions.len() {
            return Err("the output defines a function twice".to_owned());
        }
        Ok(Checks { head, functions, prefix: prefix.to_owned() })
    }
}

/// The names of values in a line, without `%`.
fn values(line: &str) -> BTreeSet<String> {
    tokens(line).into_iter().filter_map(|t| t.strip_prefix('%').map(str::to_owned)).collect()
}

/// A name for FileCheck: `c0_i32` becomes `C0I32`, and `0` becomes `V0`; a number keeps it apart from those in `taken`.
fn fresh(name: &str, taken: &BTreeSet<String>) -> String {
    let mut stem: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    if !stem.starts_with(|c: char| c.is_ascii_alphabetic()) {
        stem.insert(0, 'V');
    }
    let numbered = (0..).map(|i| format!("{stem}_{i}"));
    std::iter::once(stem.clone()).chain(numbered).find(|n| !taken.contains(n)).expect("numbers do not end")
}

/// Splits a line into names of values (`%r`), names of aliases (`#blocked`), strings, and the text between them.
fn tokens(line: &str) -> Vec<&str> {
    let name = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
    let mut out = vec![];
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '%' | '#' => rest[1..].find(|c| !name(c)).map_or(rest.len(), |i| i + 1),
            '"' => rest[1..].find('"').map_or(rest.len(), |i| i + 2),
            _ => rest.find(['%', '#', '"']).unwrap_or(rest.len()),
        };
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

/// Which names become variables, and those that FileCheck has already seen.
struct Names<'a> {
    aliases: &'a BTreeMap<String, String>,
    known_aliases: &'a mut BTreeSet<String>,
    parameters: BTreeSet<String>,
    values: BTreeMap<String, String>,
}

impl<'a> Names<'a> {
    fn of_aliases(aliases: &'a BTreeMap<String, String>, known_aliases: &'a mut BTreeSet<String>) -> Self {
        Names { aliases, known_aliases, parameters: BTreeSet::new(), values: BTreeMap::new() }
    }

    /// A label may hold no variable, so an alias there is any word.
    fn label(&self, line: &str) -> String {
        let shown = |token: &str| match token.strip_prefix('#') {
            Some(name) if self.aliases.contains_key(name) => "#{{[^ ,>)]+}}".to_owned(),
            _ => escaped(token),
        };
        tokens(line.trim()).into_iter().map(shown).collect()
    }

    fn pattern(&mut self, line: &str) -> String {
        let mut out = String::new();
        for token in tokens(line.trim()) {
            if let Some(name) = token.strip_prefix('%').filter(|n| !self.parameters.contains(*n)) {
                let first = !self.values.contains_key(name);
                if first {
                    let taken = self.values.values().chain(self.aliases.values()).cloned().collect();
                    self.values.insert(name.to_owned(), fresh(name, &taken));
                }
                let pattern = if first { ":[^ ,:)#]+" } else { "" };
                write!(out, "%[[{}{pattern}]]", self.values[name]).unwrap();
            } else if let Some(variable) = token.strip_prefix('#').and_then(|n| self.aliases.get(n)) {
                let pattern = if self.known_aliases.insert(variable.clone()) { ":[^ ,>)]+" } else { "" };
                write!(out, "#[[{variable}{pattern}]]").unwrap();
            } else {
                out += &escaped(token);
            }
        }
        out
    }
}

/// Text in which FileCheck sees neither a variable nor a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if (c == '[' || c == '{') && chars.peek() == Some(&c) {
            let mut run = 1;
            while chars.next_if_eq(&c).is_some() {
                run += 1;
            }
            out += "{{";
            out.extend(std::iter::repeat_n(if c == '[' { "\\[" } else { "\\{" }, run));
            out += "}}";
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes one part of the file with its checks.
fn write_part(part: &[&str], checks: &[&Checks], out: &mut Vec<String>) -> Result<(), String> {
    let first = part.iter().position(|l| !l.trim().is_empty()).unwrap_or(0);
    let head_end = part[first..].iter().position(|l| !l.starts_with("//")).map_or(part.len(), |i| first + i);
    let defined: Vec<&str> = part.iter().filter_map(|l| function_name(l)).collect();
    let mut waiting: Vec<&[(String, Vec<String>)]> = checks.iter().map(|c| &c.functions[..]).collect();
    for (i, line) in part.iter().enumerate() {
        if i == head_end {
            out.extend(checks.iter().flat_map(|c| c.head.iter().cloned()));
        }
        if let Some(name) = function_name(line) {
            let indent = &line[..line.len() - line.trim_start().len()];
            for (checks, rest) in checks.iter().zip(&mut waiting) {
                let lines = checks.above(name, &defined, rest)?;
                out.extend(lines.iter().map(|l| format!("{indent}{l}")));
            }
        }
        out.push((*line).to_owned());
    }
    out.extend(waiting.into_iter().flatten().flat_map(|(_, lines)| lines.iter().cloned()));
    Ok(())
}

impl Checks {
    /// What is checked above the function `name` of a part that defines `defined`. `rest` are the functions of the
    /// output whose checks are not yet written.
    fn above(&self, name: &str, defined: &[&str], rest: &mut &[(String, Vec<String>)]) -> Result<Vec<String>, String> {
        if !self.functions.iter().any(|(n, _)| n == name) {
            return Ok(vec![format!("// {}-NOT: {{{{.*}}}}@{name}({{{{.*}}}}", self.prefix)]);
        }
        let mut out = vec![];
        while let Some(((next, lines), after)) = rest.split_first() {
            *rest = after;
            out.extend(lines.iter().cloned());
            if next == name {
                return Ok(out);
            }
            if defined.contains(&next.as_str()) {
                return Err(format!("@{next} stands elsewhere in the output than in the file"));
            }
        }
        Err(format!("@{name} stands elsewhere in the output than in the file"))
    }
}

/// The lines that differ, behind `-` and `+`, each group with the number of its first line in `old`.
pub(crate) fn diff(old: &str, new: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // common[i][j] is the length of the longest common subsequence of a[i..] and b[j..].
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut inside, mut out) = (0, 0, false, String::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j, inside) = (i + 1, j + 1, false);
            continue;
        }
        if !inside {
            writeln!(out, "@@ line {}", i + 1).unwrap();
            inside = true;
        }
        if j == b.len() || (i < a.len() && common[i + 1][j] >= common[i][j + 1]) {
            writeln!(out, "-{}", a[i]).unwrap();
            i += 1;
        } else {
            writeln!(out, "+{}", b[j]).unwrap();
            j += 1;
        }
    }
    out
}

/// A test with layouts, a loop, a function that the pass deletes, and brackets that FileCheck would read as its own.
const EXAMPLE: &str = r#"// RUN: ttc opt %s --symbol-dce --loop-invariant-code-motion | FileCheck %s --match-full-lines
// BLESSED: made for the tests of blessing.

// The product moves out of the loop.
#linear = #ttg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @invariant(%n: i32, %a: tensor<512xi32, #linear>) -> tensor<512xi32, #linear> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (tensor<512xi32, #linear>) : i32 {
      %x = arith.muli %a, %a : tensor<512xi32, #linear>
      %t = arith.addi %s, %x : tensor<512xi32, #linear>
      scf.yield %t : tensor<512xi32, #linear>
    }
    tt.return %r : tensor<512xi32, #linear>
  }
  // Nobody calls it.
  tt.func private @unused() {
    tt.return
  }
}
"#;

/// Blesses the example; the result.
fn blessed_example() -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("example.mlir");
    std::fs::write(&file, EXAMPLE).unwrap();
    lit::blessed(&file, EXAMPLE).unwrap()
}

/// Runs a text as a test.
fn run(text: &str) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("example.mlir");
    std::fs::write(&file, text).unwrap();
    lit::run(&file)
}

/// The tests of blessing itself.
pub(crate) fn cases(cases: &mut Cases) {
    cases.check("lit::bless::every_line_is_checked", || {
        let text = blessed_example();
        for part in [
            "// CHECK: #[[LINEAR:[^ ,>)]+]] = #ttg.linear<{register = {{\\[\\[}}1], [2]]",
            "// CHECK-LABEL: tt.func public @invariant(%n: i32, %a: tensor<512xi32, #{{[^ ,>)]+}}>) -> ",
            "// CHECK-NEXT: %[[X:[^ ,:)#]+]] = arith.muli %a, %a : tensor<512xi32, #[[LINEAR]]>\n",
            "// CHECK-NEXT: scf.yield %[[T]] : tensor<512xi32, #[[LINEAR]]>\n",
            "// CHECK-NOT: {{.*}}@unused({{.*}}\n",
        ] {
            assert!(text.contains(part), "{part}\nis not in\n{text}");
        }
    });
    cases.check("lit::bless::a_blessed_file_passes", || run(&blessed_example()).unwrap());
    cases.check("lit::bless::a_wrong_line_fails_and_the_difference_is_shown", || {
        let right = "scf.yield %[[T]] :";
        let text = blessed_example();
        assert_eq!(text.matches(right).count(), 1);
        let why = run(&text.replace(right, "scf.yield %[[S]] :")).unwrap_err();
        let shown = "-  // CHECK-NEXT: scf.yield %[[S]] : tensor<512xi32, #[[LINEAR]]>\n\
                     +  // CHECK-NEXT: scf.yield %[[T]] : tensor<512xi32, #[[LINEAR]]>\n";
        assert!(why.contains(shown), "{why}");
    });
    cases.check("lit::bless::a_missing_and_a_surplus_line_fail", || {
        let text = blessed_example();
        let line = text.lines().find(|l| l.contains("arith.muli") && l.contains("CHECK")).unwrap();
        run(&text.replace(&format!("{line}\n"), "")).unwrap_err();
        run(&text.replace(line, &format!("{line}\n{line}"))).unwrap_err();
    });
    cases.check("lit::bless::it_is_idempotent", || {
        let text = blessed_example();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("example.mlir");
        std::fs::write(&file, &text).unwrap();
        assert_eq!(lit::blessed(&file, &text).unwrap(), text);
    });
    cases.check("lit::bless::a_file_written_by_hand_is_refused", || {
        let file = std::path::Path::new("by-hand.mlir");
        let refused = |text: &str| lit::blessed(file, text).unwrap_err();
        assert!(refused("// RUN: ttc opt %s | FileCheck %s\n").contains("written by hand"));
        assert!(refused("// RUN: ttc opt %s | FileCheck %s\n// BLESSED:\n").contains("vouches"));
        assert!(refused("// RUN: ttc opt %s | FileCheck %s\n// BLESSED: x\n").contains("--match-full-lines"));
    });
    cases.check("lit::bless::names_of_values_do_not_matter", || {
        let renamed = blessed_example().replace("%x = arith.muli", "%y = arith.muli").replace("%s, %x", "%s, %y");
        run(&renamed).unwrap();
    });
}
