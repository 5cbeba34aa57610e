//! The generator of `tl.rand`: Philox 4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2,
//! 3", 2011).

/// One block of four words from a counter and a key.
fn block(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let product = |a: u32, b: u32| {
        let wide = u64::from(a) * u64::from(b);
        ((wide >> 32) as u32, wide as u32)
    };
    for _ in 0..10 {
        let (high0, low0) = product(0xd251_1f53, counter[0]);
        let (high1, low1) = product(0xcd9e_8d57, counter[2]);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// `tl.rand(seed, offset)`: the first word as a signed number, without its sign, as a fraction of its greatest value.
pub(crate) fn uniform(seed: u64, offset: u64) -> f64 {
    let word = block([offset as u32, (offset >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32])[0] as i32;
    let magnitude = if word < 0 { !word } else { word };
    f64::from(magnitude as f32 * 4.656_612_7e-10)
}

/// A test vector published with the paper's code: all ones.
#[test]
fn the_published_vector() {
    assert_eq!(block([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    assert_eq!(block([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
}
