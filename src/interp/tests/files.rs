//! NumPy files.

use crate::interp::npy;
use crate::ir::{FloatKind, Type};

#[test]
fn what_is_written_is_read_back() {
    for (elem, size) in
        [(Type::int(8), 1), (Type::int(64), 8), (Type::float(FloatKind::F16), 2), (Type::float(FloatKind::F32), 4)]
    {
        for shape in [vec![], vec![6], vec![2, 3]] {
            let n: usize = shape.iter().product();
            let bytes: Vec<u8> = (0..n * size).map(|i| i as u8).collect();
            let file = npy::write(elem, &shape, &bytes);
            assert_eq!((file.len() - bytes.len()) % 64, 0);
            assert_eq!(npy::read("x.npy", &file).unwrap(), npy::Array { elem, unsigned: false, shape, bytes });
        }
    }
}

#[test]
fn the_header_of_a_vector_has_a_comma() {
    let file = npy::write(Type::int(32), &[3], &[0; 12]);
    let text = String::from_utf8_lossy(&file[10..]).into_owned();
    assert!(text.starts_with("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"), "{text}");
}

#[test]
fn column_major_arrays_are_reordered() {
    let mut file = npy::write(Type::int(8), &[2, 3], &[1, 4, 2, 5, 3, 6]);
    let at = file.windows(5).position(|w| w == b"False").unwrap();
    file[at..at + 5].copy_from_slice(b"True ");
    assert_eq!(npy::read("x.npy", &file).unwrap().bytes, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn bad_files_are_reported() {
    let good = npy::write(Type::int(32), &[4], &[0; 16]);
    let mut complex = good.clone();
    let at = complex.windows(3).position(|w| w == b"<i4").unwrap();
    complex[at..at + 3].copy_from_slice(b"<c8");
    for (file, word) in [
        (&good[..good.len() - 1], "expected 16 bytes"),
        (b"\x93NUMPY", "no .npy"),
        (&complex[..], "<c8"),
        (b"", "no .npy"),
    ] {
        let d = npy::read("x.npy", file).unwrap_err();
        assert_eq!(d.code.id, "E1014");
        assert!(d.message.contains(word), "{}", d.message);
    }
}
