//! What `tl.device_print` leaves in the buffer of the HIP runtime, as `scripts/amd/printed.py` reads it: the decoder of
//! the emulator of AMD's instructions, which is run by hand (docs/amd.md).
//!
//! The buffers are written here, after LLVM's "User Guide for AMDGPU Backend" and what `src/backend/amd/debug.rs` says,
//! and the formats come from code objects that ttc makes.

use std::path::Path;
use std::process::Command;

const KERNEL: &str = r#"import triton
import triton.language as tl


@triton.jit
def prints(x: "*fp32:16", n: "i32", m: "i64", B: tl.constexpr = 16):
    tl.device_print("5%", tl.load(x + tl.arange(0, B)))
    tl.device_print("a\\b", n)
    tl.device_print("x", n, hex=True)
    tl.device_print("m", m)
"#;

/// A format that is a number.
fn numbered(number: u64, words: &[u64]) -> Vec<u8> {
    record(2, &[&[number], words].concat())
}

/// A format that is a text.
fn spelled(text: &str, words: &[u64]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 8 + 1) * 8, 0);
    let text = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight bytes")));
    record(0, &text.chain(words.iter().copied()).collect::<Vec<u64>>())
}

fn record(flags: u32, words: &[u64]) -> Vec<u8> {
    let length = 4 + 8 * words.len() as u32;
    let mut bytes = (length << 2 | flags).to_le_bytes().to_vec();
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes
}

/// The buffer of these records: the bytes that are taken, those that there are, and the records.
fn buffer(records: &[Vec<u8>], capacity: u32) -> Vec<u8> {
    let records = records.concat();
    let mut bytes = (records.len() as u32).to_le_bytes().to_vec();
    bytes.extend(capacity.to_le_bytes());
    bytes.extend(records);
    bytes.resize(8 + capacity as usize, 0xee);
    bytes
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn records_of_the_hip_runtimes_buffer_are_decoded() {
    if Command::new("python3").arg("--version").output().is_err() && std::env::var_os("TTC_TEST_TOOLS").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (source, code, memory) =
        (folder.path().join("prints.tk"), folder.path().join("prints.hsaco"), folder.path().join("buffer"));
    std::fs::write(&source, KERNEL).expect("a file");
    for arch in ["gfx942", "gfx1201"] {
        run(Command::new(env!("CARGO_BIN_EXE_ttc")).args(["compile", "--arch", arch, "-o"]).arg(&code).arg(&source));
        let at = [1, 2, 3];
        let program = |rest: &[u64]| [&at[..], rest].concat();
        let records = [
            numbered(1, &program(&[7, 1.5f64.to_bits()])),
            spelled("pid (%u, %u, %u) a\\b: %i\n", &program(&[u64::from(-4i32 as u32)])),
            numbered(3, &program(&[0xbeef])),
            numbered(4, &program(&[-5_000_000_000i64 as u64])),
            numbered(1, &program(&[12, (-0.25f64).to_bits()])),
        ];
        std::fs::write(&memory, buffer(&records, 4096)).expect("a file");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/amd/printed.py");
        let printed = run(Command::new("python3").arg("-B").arg(script).args([&code, &memory]));
        let wanted = "pid (1, 2, 3) idx ( 7) 5%: 1.500000\npid (1, 2, 3) a\\b: -4\npid (1, 2, 3) idx () x: 0x0000beef\n\
                      pid (1, 2, 3) idx () m: -5000000000\npid (1, 2, 3) idx (12) 5%: -0.250000\n";
        assert_eq!(printed, wanted, "{arch}");
    }
}
