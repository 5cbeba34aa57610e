//! The form of a kernel that starts loads ahead is compiled beside the first one where there is a core for it. Which
//! form is taken, and its bytes, do not depend on that.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A recurrence that waits for its loads in each iteration: with loads ahead it costs less by the model.
const STEPS: &str = "
import triton
import triton.language as tl

@triton.jit
def steps(x, a, out, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, n):
        h = h * tl.load(a + i * stride + at) + tl.load(x + i * stride + at)
        tl.store(out + i * stride + at, h)
";

/// The cubin of the kernel, made by a process that may use one core alone, or all that there are.
fn cubin(folder: &Path, more: &[&str], one_core: bool) -> Vec<u8> {
    let mut ttc = Command::new(env!("CARGO_BIN_EXE_ttc"));
    ttc.current_dir(folder).env("TTC_CACHE", "0").args(["compile", "steps.py", "--arch", "sm_90a"]);
    ttc.args(["--signature", "*fp32:16, *fp32:16, *fp32:16, i32, i32:16, 256", "-o", "steps.cubin"]).args(more);
    if one_core {
        let stay_on_one = || {
            // SAFETY: the set is a local value, and the calls neither allocate nor take a lock.
            unsafe {
                let mut now: libc::cpu_set_t = std::mem::zeroed();
                if libc::sched_getaffinity(0, size_of_val(&now), &raw mut now) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
                let first = (0..libc::CPU_SETSIZE as usize).find(|&core| libc::CPU_ISSET(core, &now)).unwrap_or(0);
                let mut one: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(first, &mut one);
                if libc::sched_setaffinity(0, size_of_val(&one), &raw const one) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: what runs between fork and exec is one system call after another.
        unsafe { ttc.pre_exec(stay_on_one) };
    }
    let output = ttc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(folder.join("steps.cubin")).unwrap()
}

#[test]
fn the_same_form_is_taken_on_one_core_and_on_many() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("steps.py"), STEPS).unwrap();
    let ahead = cubin(folder.path(), &[], false);
    assert!(ahead == cubin(folder.path(), &[], true), "one core takes another form");
    assert!(ahead != cubin(folder.path(), &["--pipeline", "loads-in-turn"], false), "no load starts ahead");
}
