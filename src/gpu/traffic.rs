//! The bytes that a launch has to move.
//!
//! A buffer that the kernel reads counts once, and one that it writes counts once more, however often the programs do
//! so: it is what a perfect cache would leave. Kernels that touch a part of a buffer only have a smaller number, which
//! their case says (`[bench] bytes`).

use crate::launch::{Access, Descriptor};

/// The bytes for buffers of these sizes. `None` if the kernel also goes to memory that no argument leads to.
pub fn bytes<'a>(d: &Descriptor, sizes: impl Iterator<Item = (&'a str, u64)>) -> Option<u64> {
    if d.elsewhere != Access::default() {
        return None;
    }
    let all = Access { reads: true, writes: true };
    let one = |(name, size): (&str, u64)| {
        let access = d.arguments.iter().find(|a| a.name == name).map_or(Access::default(), |a| a.access.unwrap_or(all));
        size * (u64::from(access.reads) + u64::from(access.writes))
    };
    Some(sizes.map(one).sum())
}
