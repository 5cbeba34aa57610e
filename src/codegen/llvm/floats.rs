//! Floating-point literals of later LLVM versions, in the form that this one reads.
//!
//! LLVM 23 writes the bits of a number behind `f0x`, as many as its type has, and Triton 3.9 dumps that. LLVM 22 knows
//! `0x` with the bits of a `double` for `float` and `double`, and `0xH` and `0xR` for `half` and `bfloat`.
//!
//! ```text
//! fmul float %x, f0x3FB8AA3B   ->   fmul float %x, 0x3FF7154760000000
//! fadd half %x, f0x3C00        ->   fadd half %x, 0xH3C00
//! ```

use std::borrow::Cow;
use std::fmt::Write;

/// How a later LLVM begins the bits of a number.
const LATER: &str = "f0x";

/// The text with all literals in the older form. Columns behind one move in its line.
pub(super) fn older(text: &str) -> Cow<'_, str> {
    if !text.contains(LATER) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        let mut done = 0;
        for (at, _) in line.match_indices(LATER) {
            let digits = line[at + LATER.len()..].split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
            // A name (`%f0x12`, `@af0x12`) is none.
            let is_literal = line[..at].ends_with([' ', '(']);
            let Some(literal) = u64::from_str_radix(digits, 16)
                .ok()
                .filter(|_| is_literal)
                .and_then(|bits| literal(bits, digits.len(), &line[..at]))
            else {
                continue;
            };
            out.push_str(&line[done..at]);
            let _ = write!(out, "{literal}");
            done = at + LATER.len() + digits.len();
        }
        out.push_str(&line[done..]);
    }
    Cow::Owned(out)
}

/// The literal of so many digits that follows `before` in its line.
fn literal(bits: u64, digits: usize, before: &str) -> Option<String> {
    match digits {
        16 => Some(format!("0x{bits:016X}")),
        8 => Some(format!("0x{:016X}", double_of(bits as u32))),
        4 if before.rfind("bfloat") > before.rfind("half") => Some(format!("0xR{bits:04X}")),
        4 => Some(format!("0xH{bits:04X}")),
        _ => None,
    }
}

/// The bits of the `double` that equals a `float`. A NaN keeps its payload, also one that signals.
fn double_of(bits: u32) -> u64 {
    let number = f32::from_bits(bits);
    if number.is_nan() {
        let (sign, payload) = (u64::from(bits >> 31), u64::from(bits & 0x007f_ffff));
        sign << 63 | 0x7ff << 52 | payload << 29
    } else {
        f64::from(number).to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_later_versions() {
        let same = |later: &str, now: &str| assert_eq!(older(later), now);
        same("%1 = fmul float %0, f0x3FB8AA3B, !dbg !4\n", "%1 = fmul float %0, 0x3FF7154760000000, !dbg !4\n");
        same("splat (float f0x7FA00000)", "splat (float 0x7FF4000000000000)");
        same("fadd half %x, f0x3C00\nfadd bfloat %x, f0x3F80", "fadd half %x, 0xH3C00\nfadd bfloat %x, 0xR3F80");
        same("double f0x3FF0000000000000, %f0x12345678", "double 0x3FF0000000000000, %f0x12345678");
        same("store float 1.0, ptr @a", "store float 1.0, ptr @a");
    }
}
