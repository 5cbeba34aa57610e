//! Code objects for several GPUs as one file, from which AMD's runtime takes the one for its GPU: what
//! `hipModuleLoadData` and `hipModuleLoad` take beside a code object.
//!
//! The format is LLVM's (clang documentation, "Clang Offload Bundler", "Bundled Binary File Layout"):
//! 1. The magic text, then the number of entries, in 64 bits, little-endian as all numbers.
//! 2. For each entry: where its code starts, its size, the length of its name, and the name.
//! 3. The code, each from a multiple of 4096.
//!
//! The first entry is the host's. It has no code, but the runtime expects it.

use crate::backend::Image;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const HOST: &str = "host-x86_64-unknown-linux-gnu-";
const ALIGNMENT: usize = 4096;

/// The file with these code objects.
pub(super) fn bundle(images: &[Image]) -> Vec<u8> {
    let own = images.iter().map(|i| (format!("hipv4-amdgcn-amd-amdhsa--{}", i.target.name), &*i.bytes));
    let entries: Vec<(String, &[u8])> = std::iter::once((HOST.to_owned(), &[][..])).chain(own).collect();
    let header = MAGIC.len() + 8 + entries.iter().map(|(name, _)| 24 + name.len()).sum::<usize>();
    let mut out = MAGIC.to_vec();
    out.extend((entries.len() as u64).to_le_bytes());
    let mut end = header;
    for (name, code) in &entries {
        let start = end.next_multiple_of(ALIGNMENT);
        for number in [start, code.len(), name.len()] {
            out.extend((number as u64).to_le_bytes());
        }
        out.extend(name.bytes());
        end = start + code.len();
    }
    for (_, code) in &entries {
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        out.extend(*code);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Stage;
    use crate::target::Target;

    #[test]
    fn each_code_object_is_where_its_entry_says() {
        let image = |name: &str, byte: u8, size: usize| {
            let target = Target::parse(name).expect("a target");
            Image { target, stage: Stage::Binary, bytes: vec![byte; size] }
        };
        let images = [image("gfx942", 1, 5000), image("gfx1100", 2, 4096), image("gfx1201", 3, 1)];
        let file = bundle(&images);
        let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes")) as usize;
        assert_eq!((&file[..24], number(24)), (MAGIC, 4));
        let mut at = 32;
        for i in 0..4 {
            let (start, size, length) = (number(at), number(at + 8), number(at + 16));
            let name = std::str::from_utf8(&file[at + 24..at + 24 + length]).expect("a name");
            at += 24 + length;
            assert_eq!(start % ALIGNMENT, 0);
            if i == 0 {
                assert_eq!((name, size), (HOST, 0));
                continue;
            }
            assert_eq!(name, format!("hipv4-amdgcn-amd-amdhsa--{}", images[i - 1].target));
            assert_eq!(file[start..start + size], images[i - 1].bytes);
        }
    }
}
