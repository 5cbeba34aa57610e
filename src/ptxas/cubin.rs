//! Checks that what ptxas wrote is machine code for the GPU that was asked for.
//!
//! A cubin is a 64-bit ELF file of machine 190 (`EM_CUDA`). Where its flags hold the compute capability depends on the
//! version of its binary interface, `e_ident[EI_ABIVERSION]`. Up to version 7 (ptxas 12, capabilities up to 9.x) it is
//! in bits 0 to 7; in version 8 (ptxas 13, and capabilities from 10.0 on) it is in bits 8 to 15. This was found by
//! assembling the same PTX with ptxas 12.3 to 13.5 for each target.

use crate::target::Target;

/// `EM_CUDA`, the number of the machine.
const MACHINE: u16 = 190;

/// Says why these bytes are no cubin for a target. `None` means that they are one.
pub(super) fn fault(bytes: &[u8], target: &Target) -> Option<String> {
    let Some(head) = bytes.first_chunk::<52>().filter(|h| h.starts_with(b"\x7fELF") && h[4] == 2) else {
        return Some(format!("its {} bytes are no 64-bit ELF file", bytes.len()));
    };
    let machine = u16::from_le_bytes([head[18], head[19]]);
    if machine != MACHINE {
        return Some(format!("it is code for ELF machine {machine}, and CUDA's is {MACHINE}"));
    }
    let flags = u32::from_le_bytes([head[48], head[49], head[50], head[51]]);
    let capability = match head[8] {
        0..=7 => flags & 0xff,
        8 => flags >> 8 & 0xff,
        _ => return None,
    };
    let made_for = (capability / 10, capability % 10);
    (made_for != target.version()).then(|| format!("it is code for compute capability {}.{}", made_for.0, made_for.1))
}

/// The registers of a thread, of the function that takes most; `None` if the bytes do not say.
///
/// Section `.nv.info` (type `SHT_CUDA_INFO`) is a list of attributes: a format, a number, and a size of 16 bits. One of
/// format 4 is followed by so many bytes. `EIATTR_REGCOUNT` (0x2f) has the number of a symbol and that of its registers
/// ("CUDA Binary Utilities", nvdisasm, which prints the section).
#[must_use]
pub fn registers(bytes: &[u8]) -> Option<u32> {
    const INFO: u32 = 0x7000_0000;
    const REGCOUNT: u8 = 0x2f;
    let mut most = None;
    for section in sections(bytes).filter(|s| s.kind == INFO) {
        let mut rest = section.bytes;
        while let [format, number, low, high, after @ ..] = rest {
            let length = if *format == 4 { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
            let Some((value, next)) = after.split_at_checked(length) else { break };
            if let (REGCOUNT, [_, _, _, _, a, b, c, d]) = (*number, value) {
                most = most.max(Some(u32::from_le_bytes([*a, *b, *c, *d])));
            }
            rest = next;
        }
    }
    most
}

/// The machine code of each function.
pub(super) fn texts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const PROGRAM: u32 = 1;
    const EXECUTABLE: u64 = 4;
    sections(bytes).filter(|s| s.kind == PROGRAM && s.flags & EXECUTABLE != 0).map(|s| s.bytes)
}

/// A section of an ELF file: `sh_type`, `sh_flags` and what is in it.
struct Section<'a> {
    kind: u32,
    flags: u64,
    bytes: &'a [u8],
}

/// The sections of a 64-bit ELF file, without those that lie outside of it.
fn sections(bytes: &[u8]) -> impl Iterator<Item = Section<'_>> {
    let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let wide = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?));
    let place = move |at: usize| usize::try_from(wide(at)?).ok();
    let table = || Some((place(0x28)?, usize::from(half(0x3a)?), usize::from(half(0x3c)?)));
    let (start, size, count) = table().unwrap_or_default();
    (0..count).filter_map(move |n| {
        let header = start.checked_add(n * size)?;
        let at = |field: usize| header.checked_add(field);
        let (from, length) = (place(at(24)?)?, place(at(32)?)?);
        let bytes = bytes.get(from..from.checked_add(length)?)?;
        Some(Section { kind: word(at(4)?)?, flags: wide(at(8)?)?, bytes })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(abi: u8, machine: u16, flags: u32) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0x41, abi]);
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        bytes
    }

    #[test]
    fn machine_and_capability_are_checked() {
        let check = |bytes: &[u8], name: &str| fault(bytes, &Target::parse(name).unwrap());
        for (abi, flags, name) in [
            (7, 0x0050_0550, "sm_80"),
            (7, 0x005a_0d5a, "sm_90a"),
            (8, 0x0600_5a04, "sm_90"),
            (8, 0x0600_780a, "sm_120a"),
            (9, 0, "sm_80"),
        ] {
            assert_eq!(check(&head(abi, 190, flags), name), None, "{name}");
        }
        assert_eq!(
            check(&head(7, 190, 0x0050_0550), "sm_90").as_deref(),
            Some("it is code for compute capability 8.0")
        );
        assert_eq!(
            check(&head(8, 62, 0), "sm_80").as_deref(),
            Some("it is code for ELF machine 62, and CUDA's is 190")
        );
        assert_eq!(check(b"hello", "sm_80").as_deref(), Some("its 5 bytes are no 64-bit ELF file"));
        assert!(check(&head(8, 190, 0x0600_5004)[..51], "sm_80").is_some());
    }
}
