//! NumPy's `.npy` files: reads and writes arrays as raw bytes with a type and a shape.
//!
//! The format is that of NumPy enhancement proposal 1: `\x93NUMPY`, a version, the length of the header, the header (a
//! Python dictionary with the keys `descr`, `fortran_order` and `shape`), and the elements. NumPy has no bfloat16 and
//! no 8-bit floats. They travel as `V2`, `u2`, `V1` or `u1` and get their type from the kernel's parameter.
//!
//! Example header: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`

use crate::diag::Diagnostic;
use crate::diag::codes::interp as codes;
use crate::ir::{FloatKind, Type, TypeData};

/// The contents of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// The type that the file states. `V2` counts as bfloat16, `V1` as an 8-bit integer.
    pub elem: Type,
    /// Whether the integers have no sign, which `elem` does not tell.
    pub unsigned: bool,
    pub shape: Vec<usize>,
    /// The elements, row-major and little-endian.
    pub bytes: Vec<u8>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads a file's contents. Messages use `name`.
pub fn read(name: &str, file: &[u8]) -> Result<Array, Box<Diagnostic>> {
    parse(file).map_err(|why| Box::new(Diagnostic::error(&codes::BAD_NPY, format!("`{name}`: {why}"))))
}

fn parse(file: &[u8]) -> Result<Array, String> {
    let (header, data) = split(file).ok_or("this is no .npy file")?;
    let descr = field(header, "descr").ok_or("the header has no `descr`")?;
    let (elem, size) = element(descr.trim_matches(['\'', '"']))?;
    let fortran = field(header, "fortran_order").is_some_and(|v| v.starts_with("True"));
    let shape = shape(field(header, "shape").ok_or("the header has no `shape`")?)?;
    let bytes = shape.iter().try_fold(size, |n, &d| n.checked_mul(d)).ok_or("the shape is too large")?;
    let data = data.get(..bytes).ok_or_else(|| format!("expected {bytes} bytes of elements, found {}", data.len()))?;
    let bytes = if fortran && shape.len() > 1 { row_major(data, &shape, size) } else { data.to_vec() };
    let unsigned = descr.trim_start_matches(['\'', '"', '<', '|', '=']).starts_with('u');
    Ok(Array { elem, unsigned, shape, bytes })
}

/// Splits a file into the header's text and the elements.
fn split(file: &[u8]) -> Option<(&str, &[u8])> {
    let rest = file.strip_prefix(MAGIC)?;
    let (&[major, _], rest) = rest.split_first_chunk()?;
    let (length, rest) = if major == 1 {
        let (n, rest) = rest.split_first_chunk()?;
        (u16::from_le_bytes(*n) as usize, rest)
    } else {
        let (n, rest) = rest.split_first_chunk()?;
        (u32::from_le_bytes(*n) as usize, rest)
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// The text that follows a key of the dictionary.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let start = quoted.iter().find_map(|q| header.find(q).map(|i| i + q.len()))?;
    let rest = header[start..].trim_start().strip_prefix(':')?.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

fn shape(text: &str) -> Result<Vec<usize>, String> {
    let inner = text.trim_start_matches('(').trim_end_matches(')');
    let sizes = inner.split(',').map(str::trim).filter(|s| !s.is_empty());
    sizes.map(|s| s.parse().map_err(|_| format!("the shape has a size `{s}`"))).collect()
}

fn element(descr: &str) -> Result<(Type, usize), String> {
    if descr.starts_with('>') {
        return Err(format!("big-endian elements ({descr}) are not supported"));
    }
    let code = descr.trim_start_matches(['<', '|', '=']);
    let ty = match code {
        "b1" => Type::int(1),
        "i1" | "u1" | "V1" => Type::int(8),
        "i2" | "u2" => Type::int(16),
        "i4" | "u4" => Type::int(32),
        "i8" | "u8" => Type::int(64),
        "f2" => Type::float(FloatKind::F16),
        "V2" => Type::float(FloatKind::BF16),
        "f4" => Type::float(FloatKind::F32),
        "f8" => Type::float(FloatKind::F64),
        _ => return Err(format!("elements of type {descr} are not supported")),
    };
    Ok((ty, super::memory::element_size(ty)))
}

/// Reorders elements from column-major, where the first coordinate runs fastest.
fn row_major(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let dims: Vec<i64> = shape.iter().map(|&d| d as i64).collect();
    let strides: Vec<usize> = shape.iter().scan(1, |s, &d| Some(std::mem::replace(s, *s * d))).collect();
    super::value::offsets(&dims, &strides)
        .into_iter()
        .flat_map(|at| data[at * size..(at + 1) * size].iter().copied())
        .collect()
}

/// Makes a file with these elements. Formats that NumPy lacks are written as unsigned integers of their width.
#[must_use]
pub fn write(elem: Type, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let size = super::memory::element_size(elem);
    let descr = match elem.data() {
        TypeData::Int(1) => "|b1".to_owned(),
        TypeData::Int(_) if size == 1 => "|i1".to_owned(),
        TypeData::Int(_) => format!("<i{size}"),
        TypeData::Float(FloatKind::F16 | FloatKind::F32 | FloatKind::F64) => format!("<f{size}"),
        _ if size == 1 => "|u1".to_owned(),
        _ => format!("<u{size}"),
    };
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let sizes = if let [one] = &sizes[..] { format!("{one},") } else { sizes.join(", ") };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The elements start at a multiple of 64 bytes, and the header ends in a line break.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(bytes);
    out
}
