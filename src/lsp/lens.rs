//! The line above a kernel: registers, spills and shared memory of the last compile.

use lsp_types::{CodeLens, Command};

use super::analysis::{About, Analysis};
use super::compiled::Compiled;
use super::positions::Encoding;
use crate::driver::metadata::Metadata;

/// The command that compiles a document.
pub(super) const COMPILE: &str = "ttc.compile";

/// The lenses of a document: one for each kernel whose types are known.
#[must_use]
pub(super) fn lenses(a: &Analysis, compiled: Option<&Compiled>, uri: &str, encoding: Encoding) -> Vec<CodeLens> {
    let About::Kernels(k) = &a.about else { return vec![] };
    let mut out = vec![];
    for unit in &k.units {
        let Some(def) = k.top.functions.iter().rev().find(|f| f.is_jit && *f.name.name == unit.name) else { continue };
        let made = compiled.and_then(|c| Some((c.kernels.get(&unit.name)?, c.version == a.version)));
        let title = match made {
            Some((m, true)) => summary(m),
            Some((m, false)) => format!("{} (before the last change)", summary(m)),
            None => "compile".to_owned(),
        };
        out.push(CodeLens {
            range: encoding.range(a.own(), def.header),
            command: Some(Command { title, command: COMPILE.to_owned(), arguments: Some(vec![uri.into()]) }),
            data: None,
        });
    }
    out
}

/// `sm_90a: 32 registers, no spills, 16384 bytes of shared memory`
fn summary(m: &Metadata) -> String {
    let mut parts = vec![];
    if let Some(n) = m.registers {
        parts.push(format!("{n} registers"));
    }
    match m.spills {
        Some(0) => parts.push("no spills".to_owned()),
        Some(n) => parts.push(format!("{n} bytes of spills")),
        None => {}
    }
    if let Some(n) = m.shared {
        parts.push(format!("{n} bytes of shared memory"));
    }
    if let Some(n) = m.num_warps {
        parts.push(format!("{n} warps"));
    }
    format!("{}: {}", m.arch, parts.join(", "))
}
