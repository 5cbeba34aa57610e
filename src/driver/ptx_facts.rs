//! Reads what PTX text says of its first kernel, for the metadata of a compilation that starts from LLVM IR or PTX.
//! Assembly of AMD's GPUs says the same in other words ([`amdgcn_facts`]).
//!
//! See PTX ISA, "Kernel and Function Directives" and "Performance-Tuning Directives". The text is scanned, not parsed,
//! because ptxas will say what is wrong with it.
//! 1. `.version` and `.target` stand in the head.
//! 2. `.entry NAME ( parameters ) directives {` is the kernel: `.reqntid` gives the warps of a block,
//!    `.reqnctapercluster` the blocks of a cluster.
//! 3. Dynamic shared memory is an `.extern .shared` array without a size. If a text has none, its kernel needs none.
//!
//! Example: `.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u32 n) .reqntid 128` has 4 warps and the
//! parameters `*`, a multiple of 16, and `u32`.

use super::amdgcn_facts;
use super::metadata::Param;

/// What is known of a kernel from its PTX. `None` stands for what the text does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PtxFacts {
    pub(super) version: Option<String>,
    /// The target, such as `sm_90a`.
    pub(super) target: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) params: Vec<Param>,
    pub(super) num_warps: Option<u32>,
    pub(super) num_ctas: Option<u32>,
    pub(super) maxnreg: Option<u32>,
    /// 0 where nothing declares dynamic shared memory. Otherwise `None`, since PTX does not say how much of it there
    /// is.
    pub(super) shared: Option<u32>,
    /// Whether it has a `griddepcontrol`: it waits for the launch before it, or lets the next one start early.
    pub(super) programmatic: bool,
}

impl PtxFacts {
    pub(super) fn of(ptx: &str) -> PtxFacts {
        if let Some(facts) = amdgcn_facts::of(ptx) {
            return facts;
        }
        let text = without_comments(ptx);
        let line = |word: &str| text.lines().find_map(|l| l.trim().strip_prefix(word)).map(|l| l.trim().to_owned());
        let target = line(".target ").map(|t| t.split([',', ' ', ';']).next().unwrap_or_default().to_owned());
        let mut facts = PtxFacts { version: line(".version "), target, ..PtxFacts::default() };
        facts.programmatic = text.contains("griddepcontrol.");
        let dynamic = |l: &str| l.contains(".extern") && l.contains(".shared");
        facts.shared = if text.split(';').any(dynamic) { None } else { Some(0) };
        facts.entry(&text);
        facts
    }

    /// Reads the first kernel's header.
    fn entry(&mut self, text: &str) {
        let Some((_, rest)) = text.split_once(".entry") else { return };
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '%'))).unwrap_or(rest.len());
        self.kernel = Some(rest[..end].to_owned()).filter(|n| !n.is_empty());
        let header = rest[end..].split('{').next().unwrap_or_default();
        let (params, directives) = match header.trim_start().strip_prefix('(').and_then(|h| h.split_once(')')) {
            Some((inside, after)) => (inside, after),
            None => ("", header),
        };
        self.params = params.split(',').filter_map(param).collect();
        let product = |word: &str| {
            let (_, list) = directives.split_once(word)?;
            let list = list.split(['.', '\n']).next().unwrap_or_default();
            list.split(',').map(|n| n.trim().parse::<u32>().ok()).try_fold(1u32, |all, n| all.checked_mul(n?))
        };
        self.num_warps = product(".reqntid").filter(|t| t % 32 == 0).map(|t| t / 32);
        self.num_ctas = if directives.contains(".reqnctapercluster") {
            product(".reqnctapercluster")
        } else {
            Some(1).filter(|_| !directives.contains(".explicitcluster"))
        };
        self.maxnreg = product(".maxnreg");
    }
}

/// Reads a parameter: `.param .u64 .ptr .global .align 16 k_param_0` or `.param .align 64 .b8 desc[128]`.
fn param(text: &str) -> Option<Param> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.last()?;
    let (name, extent) = name.split_once('[').map_or((*name, String::new()), |(n, rest)| (n, format!("[{rest}")));
    let is_type = |w: &&&str| {
        w.strip_prefix(['.']).is_some_and(|w| w.starts_with(['u', 's', 'b', 'f']) && w[1..].parse::<u32>().is_ok())
    };
    let ty = words.iter().find(is_type)?.trim_start_matches('.');
    let pointer = words.contains(&".ptr");
    let align = words.iter().position(|w| *w == ".align").and_then(|i| words.get(i + 1)?.parse().ok());
    let ty = if pointer { "*".to_owned() } else { format!("{ty}{extent}") };
    Some(Param { name: name.to_owned(), ty, divisibility: align.filter(|_| pointer), equals: None })
}

/// The text with comments blanked out. A `//` inside a string of inline data is rare, and harms none of the lines that
/// are read.
fn without_comments(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        text.push_str(before);
        rest = if comment.starts_with("//") {
            comment.find('\n').map_or("", |end| &comment[end..])
        } else if comment.starts_with("/*") {
            text.push(' ');
            comment.find("*/").map_or("", |end| &comment[end + 2..])
        } else {
            text.push('/');
            &comment[1..]
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(p: &Param) -> String {
        format!("{}: {} {:?}", p.name, p.ty, p.divisibility)
    }

    #[test]
    fn the_header_of_a_kernel_is_read() {
        let facts = PtxFacts::of(
            "// .entry none\n.version 8.6\n.target sm_90a, debug\n.address_size 64\n.extern .shared .align 16 .b8 global_smem[];\n\
             .visible .entry mat$mul(\n\t.param .u64 .ptr .global .align 16 mat_param_0,\n\t.param .u32 n, /* , .param .u8 no */\n\
             \t.param .align 64 .b8 d[128],\n\t.param .u64 .ptr .global .align 1 q,\n\t.param .f32 s\n)\n.reqntid 256, 1, 1\n.maxnreg 128\n\
             .reqnctapercluster 2\n{\n.reqntid 32\n}\n.entry other() { }",
        );
        assert_eq!(
            (facts.version.as_deref(), facts.target.as_deref(), facts.kernel.as_deref()),
            (Some("8.6"), Some("sm_90a"), Some("mat$mul"))
        );
        assert_eq!((facts.num_warps, facts.num_ctas, facts.maxnreg, facts.shared), (Some(8), Some(2), Some(128), None));
        let params: Vec<String> = facts.params.iter().map(shown).collect();
        assert_eq!(
            params,
            ["mat_param_0: * Some(16)", "n: u32 None", "d: b8[128] None", "q: * Some(1)", "s: f32 None"]
        );
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        let facts = PtxFacts::of(".version 7.0\n.target sm_80\n.visible .entry k\n{ ret; }");
        assert_eq!((facts.num_warps, facts.num_ctas, facts.maxnreg, facts.shared), (None, Some(1), None, Some(0)));
        assert_eq!(facts.kernel.as_deref(), Some("k"));
        for text in [
            "",
            ".entry",
            ".entry (",
            ".entry k(",
            "/*",
            "/",
            ".entry k(.param",
            ".entry k() .reqntid 4294967295, 2 {",
            ".target \n",
        ] {
            assert_eq!(PtxFacts::of(text).num_warps, None, "{text}");
        }
        assert_eq!(PtxFacts::of(".entry k() .reqntid 48 {").num_warps, None, "no whole warps");
        assert_eq!(PtxFacts::of(".entry k() .explicitcluster {").num_ctas, None);
    }
}
