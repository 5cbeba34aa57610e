//! Fingerprints of bytes, and names of files that stay short enough for file systems.

/// The bytes of a name that stand in the names of files. A file system allows 255 in all, and a kernel's name is
/// followed by the variant, the configuration, the architecture, and the stage.
const MOST: usize = 160;

/// Computes FNV-1a over the parts, each followed by its length so that boundaries count. It is a fingerprint, not a
/// signature.
#[must_use]
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    // The offset basis and the prime of FNV-1a with 128 bits (draft-eastlake-fnv, section 5).
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut eat = |b: u8| hash = (hash ^ u128::from(b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    for part in parts {
        part.iter().copied().chain((part.len() as u64).to_le_bytes()).for_each(&mut eat);
    }
    format!("{hash:032x}")
}

/// A kernel's name as a part of the name of a file. A long one ends in its fingerprint, so that names that begin alike
/// stay different.
#[must_use]
pub fn file_part(name: &str) -> String {
    if name.len() <= MOST {
        return name.to_owned();
    }
    let print = &fingerprint([name.as_bytes()])[..16];
    let mut end = MOST - print.len() - 1;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{print}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_and_stay_different() {
        let long = "k".repeat(MOST);
        assert_eq!(file_part(&long), long);
        let (a, b) = (file_part(&(long.clone() + "a")), file_part(&(long + "b")));
        assert!(a.len() == MOST && b.len() == MOST && a != b, "{a} {b}");
        let letters = file_part(&"é".repeat(200));
        assert!(letters.len() <= MOST && letters.starts_with("éé"), "{letters}");
    }
}
