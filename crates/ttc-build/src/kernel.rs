//! One kernel to be compiled, as options of `ttc compile`.

use std::path::{Path, PathBuf};

/// How a kernel is compiled. Options that are not given are those of its file or of ttc.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    types: Vec<String>,
    signature: Option<String>,
    constants: Vec<(String, String)>,
    variants: Vec<String>,
    grid: Option<String>,
    options: Vec<String>,
}

impl Kernel {
    pub(crate) fn new(file: PathBuf, name: &str) -> Kernel {
        Kernel {
            file,
            name: name.to_owned(),
            types: vec![],
            signature: None,
            constants: vec![],
            variants: vec![],
            grid: None,
            options: vec![],
        }
    }

    /// Types of parameters by their names, with commas between them: `x=*fp32:16, n=i32`. A name may be a pattern:
    /// `*_ptr=*fp16:16`.
    #[must_use]
    pub fn types(mut self, types: &str) -> Kernel {
        self.types.extend(items(types));
        self
    }

    /// Types of all parameters in their order, as Triton's ahead-of-time tool takes them: `*fp32:16, i32, 1024`.
    #[must_use]
    pub fn signature(mut self, types: &str) -> Kernel {
        self.signature = Some(types.to_owned());
        self
    }

    /// The value of a compile-time parameter.
    #[must_use]
    pub fn constant(mut self, name: &str, value: impl ToString) -> Kernel {
        self.constants.push((name.to_owned(), value.to_string()));
        self
    }

    /// A variant with types of its own, such as promises that not every launch keeps: `*_ptr=*fp32:16, n=i32:16`. A
    /// launch takes the first variant whose promises hold, and those with more promises come first. All variants take
    /// the same arguments.
    #[must_use]
    pub fn variant(mut self, name: &str, types: &str) -> Kernel {
        self.variants.push(format!("{name}: {types}"));
        self
    }

    /// How many programs a launch has, over arguments and constants: `cdiv(n, BLOCK), 2`. Without it, each launch says
    /// so.
    #[must_use]
    pub fn grid(mut self, expressions: &str) -> Kernel {
        self.grid = Some(expressions.to_owned());
        self
    }

    /// Warps of a block.
    #[must_use]
    pub fn num_warps(self, warps: u32) -> Kernel {
        self.option("--num-warps").option(&warps.to_string())
    }

    /// Stages of software pipelining.
    #[must_use]
    pub fn num_stages(self, stages: u32) -> Kernel {
        self.option("--num-stages").option(&stages.to_string())
    }

    /// Blocks of a cluster.
    #[must_use]
    pub fn num_ctas(self, ctas: u32) -> Kernel {
        self.option("--num-ctas").option(&ctas.to_string())
    }

    /// The configuration of `@triton.autotune` of this number.
    #[must_use]
    pub fn config(self, number: u32) -> Kernel {
        self.option("--config").option(&number.to_string())
    }

    /// Any other word for the command line of `ttc compile`.
    #[must_use]
    pub fn option(mut self, word: &str) -> Kernel {
        self.options.push(word.to_owned());
        self
    }

    /// The command line, but for the outputs.
    pub(crate) fn arguments(&self, archs: &[String], include: &[PathBuf]) -> Vec<String> {
        let mut line = vec!["compile".to_owned(), shown(&self.file), "-k".to_owned(), self.name.clone()];
        let mut pair = |option: &str, value: String| line.extend([option.to_owned(), value]);
        if let Some(signature) = &self.signature {
            pair("--signature", signature.clone());
        }
        for item in &self.types {
            pair("--type", item.clone());
        }
        for (name, value) in &self.constants {
            pair("-D", format!("{name}={value}"));
        }
        for variant in &self.variants {
            pair("--variant", variant.clone());
        }
        if let Some(grid) = &self.grid {
            pair("--grid", grid.clone());
        }
        if !archs.is_empty() {
            pair("--arch", archs.join(","));
        }
        for folder in include {
            pair("-I", shown(folder));
        }
        line.extend(self.options.iter().cloned());
        line
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The items of a list, whose commas in brackets separate nothing: `d=tensordesc<fp16[64, 32]>, n=i32` has two.
fn items(text: &str) -> Vec<String> {
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
    items.iter().map(|i| i.trim().to_owned()).filter(|i| !i.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_a_command_line() {
        let kernel = Kernel::new("k/add.py".into(), "add")
            .types("x=*fp32:16, d=tensordesc<fp16[64, 32]>,n=i32,")
            .constant("BLOCK", 1024)
            .variant("any", "x=*fp32")
            .grid("cdiv(n, BLOCK), 2")
            .num_warps(8)
            .option("--no-line-info");
        let line = kernel.arguments(&["sm_80".into(), "sm_90a".into()], &["lib".into()]);
        assert_eq!(
            line.join("|"),
            "compile|k/add.py|-k|add|--type|x=*fp32:16|--type|d=tensordesc<fp16[64, 32]>|--type|n=i32|-D|BLOCK=1024|\
             --variant|any: x=*fp32|--grid|cdiv(n, BLOCK), 2|--arch|sm_80,sm_90a|-I|lib|--num-warps|8|--no-line-info"
        );
        let line = Kernel::new("add.py".into(), "add").signature("*fp32, 1024").arguments(&[], &[]);
        assert_eq!(line.join("|"), "compile|add.py|-k|add|--signature|*fp32, 1024");
    }
}
