//! One kernel to be compiled, as a table of a manifest.

use std::fmt::Write as _;
use std::path::PathBuf;

/// How a kernel is compiled. Options that are not given are those of its file or of ttc.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    /// Keys of the table with their values as TOML.
    keys: Vec<(&'static str, String)>,
    types: Vec<(String, String)>,
    constants: Vec<(String, String)>,
    variants: Vec<(String, Vec<(String, String)>)>,
}

/// What a variant may say beside types and values.
const LAUNCH: [&str; 4] = ["num_warps", "num_stages", "num_ctas", "maxnreg"];

impl Kernel {
    pub(crate) fn new(file: PathBuf, name: &str) -> Kernel {
        Kernel { file, name: name.to_owned(), keys: vec![], types: vec![], constants: vec![], variants: vec![] }
    }

    /// The function in the file, if it has another name than the kernel. So a function may be several kernels.
    #[must_use]
    pub fn function(self, name: &str) -> Kernel {
        self.key("function", quoted(name))
    }

    /// Types of parameters by their names, with commas between them: `x=*fp32:16, n=i32`. A name may be a pattern:
    /// `*_ptr=*fp16:16`.
    #[must_use]
    pub fn types(mut self, types: &str) -> Kernel {
        self.types.extend(pairs(types));
        self
    }

    /// Types of all parameters in their order, as Triton's ahead-of-time tool takes them: `*fp32:16, i32, 1024`.
    #[must_use]
    pub fn signature(self, types: &str) -> Kernel {
        self.key("signature", quoted(types))
    }

    /// The value of a compile-time parameter, in the kernel's language: `1024`, `tl.float16`, `'gelu'`, `True`.
    #[must_use]
    pub fn constant(mut self, name: &str, value: impl ToString) -> Kernel {
        let value = match value.to_string().as_str() {
            // Those of Rust are meant.
            "true" => "True".to_owned(),
            "false" => "False".to_owned(),
            other => other.to_owned(),
        };
        self.constants.push((name.to_owned(), value));
        self
    }

    /// A variant with types of its own, such as promises that not every launch keeps: `*_ptr=*fp32:16, n=i32:16`. It
    /// may also give values of compile-time parameters, and `num_warps`, `num_stages`, `num_ctas` and `maxnreg`. A
    /// launch takes the first variant whose promises hold, and those with more promises come first. All variants take
    /// the same arguments.
    #[must_use]
    pub fn variant(mut self, name: &str, types: &str) -> Kernel {
        self.variants.push((name.to_owned(), pairs(types)));
        self
    }

    /// How many programs a launch has, over arguments and constants: `cdiv(n, BLOCK), 2`. Without it, each launch says
    /// so.
    #[must_use]
    pub fn grid(self, expressions: &str) -> Kernel {
        self.key("grid", quoted(expressions))
    }

    /// Warps of a block.
    #[must_use]
    pub fn num_warps(self, warps: u32) -> Kernel {
        self.key("num_warps", warps.to_string())
    }

    /// Stages of software pipelining.
    #[must_use]
    pub fn num_stages(self, stages: u32) -> Kernel {
        self.key("num_stages", stages.to_string())
    }

    /// Blocks of a cluster.
    #[must_use]
    pub fn num_ctas(self, ctas: u32) -> Kernel {
        self.key("num_ctas", ctas.to_string())
    }

    /// Registers that a thread may use.
    #[must_use]
    pub fn maxnreg(self, registers: u32) -> Kernel {
        self.key("maxnreg", registers.to_string())
    }

    /// Which loads become copies by hardware: `auto`, `device`, `host` or `off`. With `host` the launch makes the
    /// tensor maps.
    #[must_use]
    pub fn tma(self, mode: &str) -> Kernel {
        self.key("tma", quoted(mode))
    }

    /// The configuration of `@triton.autotune` of this number.
    #[must_use]
    pub fn config(self, number: u32) -> Kernel {
        self.key("config", number.to_string())
    }

    /// Keeps assertions, and checks integers for overflow.
    #[must_use]
    pub fn debug(self) -> Kernel {
        self.key("debug", "true".to_owned())
    }

    /// The architectures of this kernel, instead of those of all kernels.
    #[must_use]
    pub fn archs<A: Into<String>>(self, archs: impl IntoIterator<Item = A>) -> Kernel {
        let archs: Vec<String> = archs.into_iter().map(|a| quoted(&a.into())).collect();
        self.key("archs", format!("[{}]", archs.join(", ")))
    }

    /// Sets a key of the table. What is said last holds.
    fn key(mut self, name: &'static str, value: String) -> Kernel {
        self.keys.retain(|(known, _)| *known != name);
        self.keys.push((name, value));
        self
    }

    /// The table of the manifest.
    pub(crate) fn table(&self) -> String {
        let mut out = format!("\n[kernel.{}]\nfile = {}\n", quoted(&self.name), quoted(&self.file.to_string_lossy()));
        for (name, value) in &self.keys {
            let _ = writeln!(out, "{name} = {value}");
        }
        let section = |out: &mut String, name: &str, entries: &[&(String, String)]| {
            if !entries.is_empty() {
                let _ = writeln!(out, "{name} = {}", inline(entries));
            }
        };
        section(&mut out, "types", &last(&self.types));
        section(&mut out, "constants", &last(&self.constants));
        for (name, items) in &self.variants {
            let _ = writeln!(out, "\n[kernel.{}.variant.{}]", quoted(&self.name), quoted(name));
            let (launch, types): (Vec<_>, Vec<_>) =
                last(items).into_iter().partition(|(name, _)| LAUNCH.contains(&name.as_str()));
            for (name, value) in launch {
                let _ = writeln!(out, "{name} = {value}");
            }
            section(&mut out, "types", &types);
        }
        out
    }
}

/// Of several entries of one name the last one, in the order of the first ones: TOML allows a name once.
fn last(entries: &[(String, String)]) -> Vec<&(String, String)> {
    let mut out: Vec<&(String, String)> = vec![];
    for entry in entries {
        match out.iter_mut().find(|(name, _)| *name == entry.0) {
            Some(known) => *known = entry,
            None => out.push(entry),
        }
    }
    out
}

fn inline(entries: &[&(String, String)]) -> String {
    let items: Vec<String> = entries.iter().map(|(name, v)| format!("{} = {}", quoted(name), quoted(v))).collect();
    format!("{{ {} }}", items.join(", "))
}

/// A text as a basic string of TOML, which has the escapes of JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// The items `NAME=TEXT` of a list, whose commas in brackets separate nothing: `d=tensordesc<fp16[64, 32]>, n=i32` has
/// two. An item of another form is a name with an empty text, which ttc refuses.
fn pairs(text: &str) -> Vec<(String, String)> {
    let (mut items, mut depth) = (vec![String::new()], 0i32);
    for c in text.chars() {
        match c {
            '[' | '<' | '(' => depth += 1,
            ']' | '>' | ')' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    let pair = |item: &String| {
        let (name, value) = item.split_once('=').unwrap_or((item, ""));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    items.iter().filter(|i| !i.trim().is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_a_table() {
        let kernel = Kernel::new("k/add.py".into(), "add")
            .types("x=*fp32:16, d=tensordesc<fp16[64, 32]>,n=i32,")
            .types("n = i64")
            .constant("BLOCK", 1024)
            .constant("ACT", "'gelu'")
            .constant("FAST", true)
            .variant("any", "x=*fp32, num_warps=8, BLOCK=64")
            .grid("cdiv(n, BLOCK), 2")
            .num_warps(8)
            .num_warps(4)
            .archs(["sm_80"]);
        assert_eq!(
            kernel.table(),
            r#"
[kernel."add"]
file = "k/add.py"
grid = "cdiv(n, BLOCK), 2"
num_warps = 4
archs = ["sm_80"]
types = { "x" = "*fp32:16", "d" = "tensordesc<fp16[64, 32]>", "n" = "i64" }
constants = { "BLOCK" = "1024", "ACT" = "'gelu'", "FAST" = "True" }

[kernel."add".variant."any"]
num_warps = 8
types = { "x" = "*fp32", "BLOCK" = "64" }
"#
        );
        assert_eq!(quoted("a\"\\\n\u{7f}é"), r#""a\"\\\n\u007fé""#);
    }
}
