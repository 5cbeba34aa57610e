//! `ttc layout`: shows one layout as a table, or the plan that converts one into another.
//!
//! 1. Layouts and shape are read as IR text, as attributes of an empty module, so the parser of IR defines their
//!    grammar.
//! 2. For one layout, its bases and then the table of who holds what are shown; for shared memory the banks as well.
//! 3. For two layouts, the steps of the plan are shown, with its costs.

use std::fmt::Write as _;

use ttc::diag::{Diagnostic, codes};
use ttc::driver::output::write_file;
use ttc::ir::text::{ParseOptions, parse_module};
use ttc::ir::{Attr, Type};
use ttc::layout::picture::{Window, picture};
use ttc::layout::plan::shared_access::element_bytes;
use ttc::layout::plan::{ConversionPlan, describe};
use ttc::layout::render::{render, render_banks};
use ttc::layout::{Dim, LinearLayout, try_to_linear_layout};
use ttc::source::SourceMap;
use ttc::target::Target;

use crate::args::Layout;
use crate::commands::Report;

/// The most elements that are drawn. Nobody wants to see more.
const MOST_ELEMENTS: i64 = 1 << 16;

pub(crate) fn layout(args: &Layout) -> Report {
    let mut sources = SourceMap::default();
    match show(args, &mut sources) {
        Ok(text) => Report::text(text),
        Err(d) => Report { usage: true, ..Report::errors(d, sources) },
    }
}

fn bad(text: impl Into<String>) -> Vec<Diagnostic> {
    vec![Diagnostic::error(&codes::cli::BAD_LAYOUT, text.into())]
}

fn show(args: &Layout, sources: &mut SourceMap) -> Result<String, Vec<Diagnostic>> {
    let target = Target::parse(&args.arch).map_err(|d| vec![d])?;
    let Some((shape, layouts)) = args.args.split_last() else { return Err(bad("expected a layout and a shape")) };
    if !shape.is_empty() && shape.bytes().all(|b| b.is_ascii_digit() || b == b'x') {
        return Err(bad(format!(
            "the shape `{shape}` lacks an element type: write `{}xf16`",
            shape.trim_end_matches('x')
        )));
    }
    let tensor =
        read(sources, "shape", &format!("tensor<{shape}>"))?.as_type().filter(|t| t.is_tensor() && t.rank() > 0);
    let tensor =
        tensor.ok_or_else(|| bad(format!("`{shape}` is no shape; expected sizes and an element type, `32x64xf16`")))?;
    if tensor.shape().iter().try_fold(1i64, |n, &s| n.checked_mul(s)).is_none_or(|n| n > MOST_ELEMENTS) {
        return Err(bad(format!("`{shape}` has more than {MOST_ELEMENTS} elements")));
    }
    let found = layouts.iter().map(|text| linear(sources, text, tensor)).collect::<Result<Vec<_>, _>>()?;
    let bits = if tensor.elem().is_ptr() { 64 } else { tensor.elem().bit_width().unwrap_or(32).next_multiple_of(8) };
    if let (Some(path), Some(last)) = (&args.svg, found.last()) {
        write_file(path, picture(last, element_bytes(bits), Window::ALL).svg().as_bytes()).map_err(|d| vec![d])?;
    }
    match found[..] {
        [one] => Ok(one_layout(one, shape, bits)),
        [from, to] => conversion(from, to, shape, bits, &target),
        _ => Err(bad("expected one or two layouts and a shape")),
    }
}

/// Reads a text as an attribute.
fn read(sources: &mut SourceMap, name: &str, text: &str) -> Result<Attr, Vec<Diagnostic>> {
    let file = sources.add(format!("<{name}>"), None, format!("module attributes {{shown = {text}}} {{\n}}\n"));
    let ir = parse_module(sources, file, &ParseOptions::default())?;
    ir.attr(ir.module(), "shown").ok_or_else(|| bad(format!("`{text}` is no attribute")))
}

fn linear(sources: &mut SourceMap, text: &str, tensor: Type) -> Result<&'static LinearLayout, Vec<Diagnostic>> {
    let attr = read(sources, "layout", text)?;
    let layout =
        try_to_linear_layout(tensor.shape(), attr).map_err(|e| bad(format!("`{text}` cannot hold `{tensor}`: {e}")))?;
    if i64::from(layout.total_in_bits()) > 20 {
        Err(bad(format!("`{text}` has too many places to show")))
    } else {
        Ok(layout)
    }
}

fn one_layout(layout: &LinearLayout, shape: &str, bits: u32) -> String {
    let sizes: Vec<String> = layout.in_sizes().iter().map(|(d, size)| format!("{size} {d}s")).collect();
    let mut text = format!("{shape}: {}\n{layout}\n\n{}", sizes.join(", "), render(layout));
    if layout.has_in(Dim::Offset) {
        let _ = write!(text, "\nbanks\n{}", render_banks(layout, element_bytes(bits)));
    }
    text
}

fn conversion(
    from: &LinearLayout,
    to: &LinearLayout,
    shape: &str,
    bits: u32,
    target: &Target,
) -> Result<String, Vec<Diagnostic>> {
    let distributed = |l: &LinearLayout| l.has_in(Dim::Register);
    let alike = [Dim::Lane, Dim::Warp, Dim::Block].iter().all(|&d| from.in_size(d) == to.in_size(d));
    if !distributed(from) || !distributed(to) || !alike {
        return Err(bad("a conversion is between two layouts of registers with equally many lanes, warps and blocks"));
    }
    let plan = ConversionPlan::new(from, to, bits, &target.shared).map_err(|e| bad(e.reason))?;
    Ok(format!("{shape}, {bits} bits an element; counts are for one warp\n{}", describe(&plan)))
}
