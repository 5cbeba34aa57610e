//! `tt.print`: one line for each element, in the words that Triton prints on a device.
//!
//! A line is `pid (0, 1, 0) idx ( 3) x: 1.5`, with `(operand 1) ` before the value where there are several operands.
//! Elements come in row-major order.

use super::super::numbers::width;
use super::super::program::Program;
use super::super::render;
use super::super::value::coordinates;
use crate::ir::Op;
use crate::ir::dialects::tt::tt::Print;

/// How many bytes of a line are kept.
const WIDEST: usize = 1024;

pub(crate) fn print(p: &mut Program<'_>, op: Op) {
    let ir = p.ir;
    let [x, y, z] = p.pid;
    let view = Print(op);
    let (prefix, hex) = (view.prefix(ir).unwrap_or_default(), view.hex(ir));
    let signs = view.isSigned(ir).unwrap_or_default();
    let room = p.shared.options.max_lines;
    let mut lines = std::mem::take(&mut p.printed);
    let operands = ir.operands(op);
    if operands.is_empty() {
        lines.push(room, || short(format!("pid ({x}, {y}, {z}){prefix}")));
    }
    for (i, &operand) in operands.iter().enumerate() {
        let (ty, v) = (ir.ty(operand), p.get(operand));
        let signed = signs.get(i).is_none_or(|&s| s != 0);
        let which = if operands.len() > 1 { format!("(operand {i}) ") } else { String::new() };
        for lane in 0..ty.num_elements() as usize {
            if lines.kept.len() >= room {
                lines.all += (ty.num_elements() as usize - lane) as u64;
                break;
            }
            let at = coordinates(ty.shape(), lane);
            let index: Vec<String> =
                at.iter().zip(ty.shape()).map(|(c, &size)| format!("{c:w$}", w = digits(size - 1))).collect();
            let bits = v.lanes.get(lane);
            let value = if v.undef.as_ref().is_some_and(|u| u.at(lane)) {
                "undefined".to_owned()
            } else if hex {
                format!("{bits:#0w$x}", w = 2 + width(ty).div_ceil(4) as usize)
            } else {
                render::element(ty.elem(), bits, signed)
            };
            lines.push(room, || short(format!("pid ({x}, {y}, {z}) idx ({}){prefix}{which}{value}", index.join(", "))));
        }
    }
    p.printed = lines;
    p.wrote(true);
}

/// Cuts a line, since a prefix is as long as the kernel's author likes and comes once for each element.
fn short(mut line: String) -> String {
    if line.len() > WIDEST {
        line.truncate(line.floor_char_boundary(WIDEST));
        line.push('…');
    }
    line
}

fn digits(largest: i64) -> usize {
    largest.max(0).to_string().len()
}
