//! The linker against `ld.lld`, on what LLVM assembles.

use super::elf::{u16_at, u32_at, u64_at};
use super::link;
use crate::backend::amd::object;
use crate::ptxas::code_object;
use crate::target::Target;

/// Kernels `k0` to `kN`, each of which calls the function before the first.
fn object_of(kernels: usize, more: &str) -> Vec<u8> {
    let mut text = format!("    .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n    .text\n{more}");
    text += "    .p2align 6\ncalled:\n    s_setpc_b64 s[30:31]\n";
    for i in 0..kernels {
        text += &format!(
            "    .globl k{i}\n    .protected k{i}\n    .p2align 8\n    .type k{i},@function\nk{i}:\n    \
             s_getpc_b64 s[0:1]\n    s_add_u32 s0, s0, called@rel32@lo+4\n    s_addc_u32 s1, s1, called@rel32@hi+12\n    \
             s_swappc_b64 s[30:31], s[0:1]\n    s_endpgm\n.Lend{i}:\n    .size k{i}, .Lend{i}-k{i}\n    \
             .section .rodata,\"a\",@progbits\n    .p2align 6\n    .amdhsa_kernel k{i}\n        \
             .amdhsa_next_free_vgpr 8\n        .amdhsa_next_free_sgpr 32\n        .amdhsa_accum_offset 8\n    \
             .end_amdhsa_kernel\n    .text\n"
        );
    }
    text += "    .section .debug_str,\"MS\",@progbits,1\n.Lname:\n    .asciz \"k\"\n    \
             .section .debug_line,\"\",@progbits\n    .long .Lname\n    .quad called\n    \
             .amdgpu_metadata\namdhsa.version:\n  - 1\n  - 2\namdhsa.kernels: []\n    .end_amdgpu_metadata\n";
    let target = Target::parse("gfx942").expect("a target");
    object::assemble(&text, &target).expect("it is assembly")
}

/// The headers of the segments, and every byte that is loaded but for the file's own header, which says where sections
/// are.
fn loaded(file: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let count = u16_at(file, 56).expect("a header") as usize;
    let headers = file[64..64 + 56 * count].to_vec();
    let parts = headers.chunks(56).filter(|h| u32_at(h, 0) == Some(1)).map(|h| {
        let at = |i| u64_at(h, i).expect("a number") as usize;
        file[at(8).max(64)..at(8) + at(32)].to_vec()
    });
    (headers.clone(), parts.collect())
}

/// What each symbol is, by name and without the order of the locals, and the bytes of sections that are not loaded.
fn described(file: &[u8]) -> (Vec<String>, Vec<(String, Vec<u8>)>) {
    let at = u64_at(file, 40).expect("a header") as usize;
    let count = u16_at(file, 60).expect("a header") as usize;
    let header = |i: usize| &file[at + 64 * i..at + 64 * (i + 1)];
    let bytes = |h: &[u8]| {
        let start = u64_at(h, 24).expect("a number") as usize;
        file[start..start + u64_at(h, 32).expect("a number") as usize].to_vec()
    };
    let text = |table: &[u8], at: usize| {
        String::from_utf8(table[at..].iter().copied().take_while(|b| *b != 0).collect()).expect("a name")
    };
    let names = bytes(header(u16_at(file, 62).expect("a header") as usize));
    let (mut symbols, mut sections) = (vec![], vec![]);
    for i in 1..count {
        let name = text(&names, u32_at(header(i), 0).expect("a number") as usize);
        if name == ".symtab" {
            let called = bytes(header(u32_at(header(i), 40).expect("a number") as usize));
            for s in bytes(header(i)).chunks(24) {
                symbols.push(format!("{} {:?}", text(&called, u32_at(s, 0).expect("a number") as usize), &s[4..]));
            }
        } else if name.starts_with(".debug") {
            sections.push((name, bytes(header(i))));
        }
    }
    symbols.sort();
    (symbols, sections)
}

/// One kernel, several in more than one bucket, and so many that the filter has words and the code pages.
#[test]
fn what_is_loaded_is_the_same_as_of_lld() {
    for kernels in [1, 3, 9, 40] {
        let object = object_of(kernels, "    .globl unseen\n    .hidden unseen\nunseen:\n    s_nop 0\n");
        let own = link(&object).expect("nothing is out of the ordinary");
        let lld = code_object::link(&object, "gfx942", None).expect("ld.lld links it");
        assert_eq!((&own[..40], &own[48..60]), (&lld[..40], &lld[48..60]), "{kernels} kernels");
        assert_eq!(loaded(&own), loaded(&lld), "{kernels} kernels");
        assert_eq!(described(&own), described(&lld), "{kernels} kernels");
    }
}

/// A symbol of another library, data that can be written, a symbol that could be replaced, and a second section of
/// constants.
#[test]
fn the_rest_is_left_to_lld() {
    let call = |name: &str| format!("    s_getpc_b64 s[0:1]\n    s_add_u32 s0, s0, {name}@rel32@lo+4\n");
    for more in [
        call("elsewhere"),
        format!("    .globl open\nopen:\n{}", call("open")),
        "    .data\n    .long 1\n    .text\n".to_owned(),
        "    .section .rodata.more,\"a\",@progbits\n    .long 1\n    .text\n".to_owned(),
        "    .section .rodata,\"a\",@progbits\n    .quad called\n    .text\n".to_owned(),
    ] {
        assert!(link(&object_of(1, &more)).is_none(), "{more}");
    }
    assert!(link(b"").is_none());
    let whole = object_of(1, "");
    for cut in (0..whole.len()).step_by(7) {
        // Whatever is missing, it ends.
        let _ = link(&whole[..cut]);
    }
}
