//! The system calls `vprintf` and `__assertfail`, with the formats of C's `printf`.

use super::env::Env;
use super::memory::number;
use super::warp::Warp;
use crate::emu::memory;

/// The most lines that a run keeps.
const MAX_PRINTED: usize = 100_000;

impl Env<'_, '_> {
    /// Reads an argument of a system call.
    pub(crate) fn call_argument(warp: &Warp, lane: usize, offset: u32, bytes: u32) -> u64 {
        let start = lane * warp.params.size + offset as usize;
        number(&warp.params.bytes[start..start + bytes as usize])
    }

    /// The text at a generic address.
    pub(crate) fn text_at(&self, address: u64) -> String {
        self.run.memory.text(address).unwrap_or_else(|| format!("<no text at {address:#x}>"))
    }

    /// `vprintf` of a lane. `arguments` is the generic address of the packed values.
    pub(crate) fn printf(&mut self, warp: &Warp, lane: usize, format: u64, arguments: u64) {
        let format = self.text_at(format);
        let mut at = arguments;
        let mut take = |size: u64| {
            at = at.next_multiple_of(size);
            let bits = match memory::window(at) {
                memory::Window::Local => {
                    let local = &warp.local[lane];
                    let offset = at - memory::LOCAL_WINDOW;
                    if local.holds(offset, size as usize) { local.read(offset as usize, size as usize) } else { 0 }
                }
                _ => match self.run.memory.find(at) {
                    Some((_, buffer, offset)) if buffer.holds(offset, size as usize) => {
                        buffer.read(offset, size as usize)
                    }
                    _ => 0,
                },
            };
            at += size;
            bits
        };
        let text = formatted(&format, &mut take, &|address| self.text_at(address));
        if self.world.printed.len() < MAX_PRINTED {
            self.world.printed.push(text);
        }
    }
}

/// The most characters that a width or a precision asks for.
const MAX_WIDTH: usize = 4096;

/// Fills in a format. `take` gives the next value of so many bytes.
fn formatted(format: &str, take: &mut dyn FnMut(u64) -> u64, text: &dyn Fn(u64) -> String) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic() && !"hlzjt".contains(c)) else {
            out.push('%');
            break;
        };
        let (spec, conversion) = (&rest[..end], rest.as_bytes()[end]);
        rest = &rest[end + 1..];
        out.push_str(&value(spec, conversion, take, text));
    }
    out.push_str(rest);
    out
}

/// One value with its flags, width, precision and size.
fn value(spec: &str, conversion: u8, take: &mut dyn FnMut(u64) -> u64, text: &dyn Fn(u64) -> String) -> String {
    let (flags, sizes) = spec.split_at(spec.find(|c: char| "hlzjt".contains(c)).unwrap_or(spec.len()));
    let wide = sizes.contains('l') || sizes.contains('z') || sizes.contains('j') || sizes.contains('t');
    let digits = flags.trim_start_matches(|c: char| "-+ #".contains(c));
    let (width, precision) = match digits.split_once('.') {
        Some((w, p)) => (w, p.parse::<usize>().ok().map(|p| p.min(MAX_WIDTH))),
        None => (digits, None),
    };
    let zeros = width.starts_with('0');
    let width = width.parse::<usize>().unwrap_or(0).min(MAX_WIDTH);
    let bits =
        take(if wide || matches!(conversion, b'p' | b's' | b'f' | b'F' | b'e' | b'E' | b'g' | b'G') { 8 } else { 4 });
    let signed = if wide { bits as i64 } else { i64::from(bits as i32) };
    let float = f64::from_bits(bits);
    let body = match conversion {
        b'd' | b'i' => signed.to_string(),
        b'u' => bits.to_string(),
        b'x' if flags.contains('#') => format!("{bits:#x}"),
        b'x' => format!("{bits:x}"),
        b'X' => format!("{bits:X}"),
        b'o' => format!("{bits:o}"),
        b'p' => format!("{bits:#x}"),
        b'c' => char::from(bits as u8).to_string(),
        b's' => text(bits),
        b'e' => format!("{float:.*e}", precision.unwrap_or(6)),
        _ => format!("{float:.*}", precision.unwrap_or(6)),
    };
    let body = if flags.contains('+') && !body.starts_with('-') { format!("+{body}") } else { body };
    if body.len() >= width {
        body
    } else if flags.contains('-') {
        format!("{body:<width$}")
    } else if zeros {
        let (sign, number) = body.split_at(usize::from(body.starts_with(['-', '+'])));
        format!("{sign}{number:0>pad$}", pad = width - sign.len())
    } else {
        format!("{body:>width$}")
    }
}
