//! Searches in made-up file trees, failures through fake tools (shell scripts), and real runs where ptxas is installed.
//!
//! A run on a machine without ptxas skips the last kind; `make test` installs it first, and sets `TTC_TEST_TOOLS=1`,
//! which forbids skipping.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::OnceLock;
use std::time::Instant;

use tempfile::TempDir;

use super::find::Surroundings;
use super::*;
use crate::target::{Vendor, targets};

const PTX: &str = "//\n.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry first(.param .u64 p)\n{\n\t.reg .b64 %rd<2>;\n\t\
    ld.param.b64 %rd1, [p];\n\tst.glob.b32 [%rd1], 1;\n\tret;\n}\n";

fn good_ptx() -> String {
    PTX.replace("glob.", "global.")
}

fn sm(name: &str) -> Target {
    Target::parse(name).unwrap()
}

/// A shell command that writes a cubin without code for compute capability 8.0 to the file that the last argument
/// names.
const WRITE_CUBIN: &str = r#"for last; do :; done
    { printf '\177ELF\002\001\001A\010\0\0\0\0\0\0\0\002\0\276\0'; head -c 28 /dev/zero; printf '\004\120\0\006'; head -c 12 /dev/zero; } > "$last""#;

/// A folder with one executable script in it.
struct Fake {
    folder: TempDir,
    path: PathBuf,
}

fn fake(body: &str) -> Fake {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ptxas");
    executable(&path, &format!("#!/bin/sh\n{body}\n"));
    Fake { folder, path }
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn assemble_with(path: &Path, ptx: &str, name: &str, source_name: Option<&str>) -> Result<Assembled, Diagnostic> {
    assemble(ptx, &sm(name), &AssembleOptions { ptxas: Some(path), source_name, ..AssembleOptions::default() }, None)
}

/// The folder that a failed run kept, taken from its message. It is removed when the value is dropped.
struct Kept(PathBuf);

impl Kept {
    fn of(d: &Diagnostic) -> Kept {
        let note = d.notes.iter().find(|n| n.starts_with("to repeat it: cd ")).expect("a command that repeats the run");
        Kept(PathBuf::from(note.trim_start_matches("to repeat it: cd ").split(" && ").next().unwrap()))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_fake_ptxas_gets_the_options_and_its_output_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let fake = fake(&format!(
        r#"echo "ptxas info    : Compiling entry function 'first' for 'sm_80'" >&2
        echo "ptxas info    : Used 42 registers, used 0 barriers" >&2
        echo "ptxas warning : careful" >&2
        input=; for a; do case "$a" in -o) break;; esac; input="$a"; done
        echo "$*" > {seen}; cat "$input" >> {seen}
        {WRITE_CUBIN}"#,
        seen = seen.display()
    ));
    let options = AssembleOptions {
        ptxas: Some(&fake.path),
        fp_fusion: false,
        extra: &["-O1".to_owned()],
        ..AssembleOptions::default()
    };
    let done = assemble("PTX", &sm("sm_80"), &options, None).unwrap();
    let text = fs::read_to_string(seen).unwrap();
    assert!(
        text.starts_with("-v --gpu-name=sm_80 -lineinfo --fmad=false -O1 ")
            && text.contains(" -o ")
            && text.ends_with("\nPTX"),
        "{text}"
    );
    assert_eq!((done.cubin.len(), &done.cubin[..4]), (64, &b"\x7fELF"[..]));
    assert_eq!((done.usage().registers, done.functions[0].name.as_str()), (42, "first"));
    assert_eq!(done.warnings().collect::<Vec<_>>(), ["careful"]);
    assert_eq!(done.ptxas, fake.path);
}

/// A ptxas that writes down the directive of each run, and answers with registers and spills by it.
fn answering(usual: (u32, u32), one_block: (u32, u32), limited: (u32, u32)) -> Fake {
    let answer = |(registers, spills): (u32, u32)| format!("registers={registers} spills={spills}");
    let fake = fake("");
    let body = format!(
        r#"#!/bin/sh
        input=; for a; do case "$a" in -o) break;; esac; input="$a"; done
        if grep -q '^.minnctapersm 1$' "$input"; then one=1; else one=; fi
        {usual}
        if [ "$one" ]; then echo one >> {seen}; {one_block}
        elif grep -q '^.maxnreg 240$' "$input"; then echo limited >> {seen}; {limited}
        else echo usual >> {seen}; fi
        echo "ptxas info    : Compiling entry function 'k' for 'sm_80'"
        echo "ptxas info    : Function properties for k"
        echo "    0 bytes stack frame, $spills bytes spill stores, 0 bytes spill loads"
        echo "ptxas info    : Used $registers registers, used 0 barriers"
        {WRITE_CUBIN}
        "#,
        seen = fake.folder.path().join("seen").display(),
        usual = answer(usual),
        one_block = answer(one_block),
        limited = answer(limited),
    );
    executable(&fake.path, &body);
    fake
}

/// The runs of ptxas, and the registers of the answer that was taken.
fn runs_of(fake: &Fake, ptx: &str) -> (String, u32) {
    let done = assemble_with(&fake.path, ptx, "sm_80", None).unwrap();
    let runs = fs::read_to_string(fake.folder.path().join("seen")).unwrap();
    fs::remove_file(fake.folder.path().join("seen")).unwrap();
    (runs.trim().replace('\n', " "), done.usage().registers)
}

#[test]
fn a_short_stream_takes_one_run_where_it_leaves_room() {
    let loads = "ld.global.b32 %r2, [%rd1];\n".repeat(3);
    let stream = format!(".visible .entry k()\n.reqntid 128\n{{\n{loads}ret;\n}}\n");
    let ample = answering((32, 0), (48, 0), (0, 0));
    assert_eq!(runs_of(&ample, &stream), ("one".to_owned(), 48));
    // The same in the usual order for long code, and for what is no stream only the usual question.
    let long = stream.replace("ret;", &"add.s32 %r1, %r1, 1;\n".repeat(1000));
    assert_eq!(runs_of(&ample, &long), ("usual one".to_owned(), 48));
    // Of two versions each is short.
    assert!(again::asks_for_one_block_first(&long, 2));
    assert_eq!(runs_of(&ample, &stream.replace("ret;", "mma.sync")), ("usual".to_owned(), 32));
    // 96 registers leave room for 640 threads.
    let crowded = answering((32, 0), (96, 0), (0, 0));
    assert_eq!(runs_of(&crowded, &stream), ("one usual".to_owned(), 32));
    let spilling = answering((32, 0), (48, 4), (0, 0));
    assert_eq!(runs_of(&spilling, &stream), ("one usual".to_owned(), 32));
    // Where the usual answer gave up, the other one is known already.
    let defeat = answering((32, 4000), (255, 400), (0, 0));
    assert_eq!(runs_of(&defeat, &stream), ("one usual".to_owned(), 255));
}

#[test]
fn a_kernel_that_spills_a_little_is_tried_with_a_limit() {
    let ptx = ".visible .entry k()\n.reqntid 128\n{\nmma.sync\nret;\n}\n";
    assert_eq!(runs_of(&answering((255, 8), (0, 0), (240, 0)), ptx), ("usual limited".to_owned(), 240));
    assert_eq!(runs_of(&answering((255, 8), (0, 0), (240, 16)), ptx), ("usual limited".to_owned(), 255));
    // With more spills fewer registers do not help, and the author of a limit knows better.
    assert_eq!(runs_of(&answering((255, 68), (0, 0), (240, 0)), ptx), ("usual".to_owned(), 255));
    let limited = ptx.replace(".reqntid 128", ".reqntid 128\n.maxnreg 250");
    assert_eq!(runs_of(&answering((250, 8), (0, 0), (240, 0)), &limited), ("usual".to_owned(), 250));
    // Blocks of 512 threads share 128 registers each.
    let wide = ptx.replace("128", "512");
    assert_eq!(runs_of(&answering((128, 8), (0, 0), (240, 0)), &wide), ("usual".to_owned(), 128));
}

#[test]
fn code_that_costs_too_much_is_not_asked_for_in_another_way() {
    let ptx = ".visible .entry k()\n.reqntid 128\n{\nmma.sync\nret;\n}\n";
    for (most_cost, registers) in [(None, 240), (Some(f64::MAX), 240), (Some(-1.0), 255)] {
        let fake = answering((255, 8), (0, 0), (240, 0));
        let most_cost = most_cost.map(OnceLock::from);
        let options =
            AssembleOptions { ptxas: Some(&fake.path), most_cost: most_cost.as_ref(), ..AssembleOptions::default() };
        assert_eq!(assemble(ptx, &sm("sm_80"), &options, None).unwrap().usage().registers, registers);
    }
}

#[test]
fn blocks_of_an_answer_that_spills_a_few_bytes_are_asked_for_first() {
    let ptx = ".visible .entry k()\n.reqntid 128\n{\nmma.sync\nret;\n}\n";
    // 168 registers leave three blocks, and 224 two.
    let runs = |kept_spills: u32| {
        let fake = answering((168, 56), (224, 0), (0, 0));
        let script = fs::read_to_string(&fake.path).unwrap();
        let kept =
            format!("if grep -q '^.minnctapersm 3$' \"$input\"; then spills={kept_spills}; fi\necho \"ptxas info");
        executable(&fake.path, &script.replacen("echo \"ptxas info", &kept, 1));
        runs_of(&fake, ptx)
    };
    assert_eq!(runs(0), ("usual usual".to_owned(), 168));
    assert_eq!(runs(32), ("usual usual one".to_owned(), 168));
    // No spills are not worth the third block.
    assert_eq!(runs(56), ("usual usual one".to_owned(), 168));
}

/// PTX of a kernel that is likely to make ptxas give up.
fn heavy_ptx() -> String {
    let lines = |text: fn(u32) -> String| (0..3000).map(text).collect::<String>();
    let loads = lines(|i| format!("ld.global.b32 %r{i}, [%rd1+{}];\n", i * 4));
    let stores = lines(|i| format!("st.global.b32 [%rd1+{}], %r{i};\n", i * 4));
    format!(".visible .entry k()\n.reqntid 128\n{{\nmma.sync\n{loads}{stores}ret;\n}}\n")
}

#[test]
fn two_questions_at_once_have_the_answer_of_one_after_the_other() {
    let ptx = heavy_ptx();
    assert!(again::may_give_up(&ptx, 1) && !again::may_give_up(&ptx, 2) && may_spill(&ptx));
    assert!(!again::may_give_up(&ptx.replace(".reqntid 128", ".reqntid 128\n.maxnreg 64"), 1));
    for (usual, one, registers) in
        [((32, 4000), (255, 400), 255), ((128, 400), (255, 500), 128), ((200, 0), (9, 0), 200)]
    {
        let fake = answering(usual, one, (0, 0));
        let answer = |at_once| {
            let options = AssembleOptions { ptxas: Some(&fake.path), at_once, ..AssembleOptions::default() };
            let done = assemble(&ptx, &sm("sm_80"), &options, None).unwrap();
            (done.usage(), done.ptx, done.settled)
        };
        assert_eq!(answer(true), answer(false));
        assert_eq!(answer(true).0.registers, registers);
        // The second one is there where it is asked for, whether or not there was a core for it above.
        let options = AssembleOptions { ptxas: Some(&fake.path), ..AssembleOptions::default() };
        let (first, other) = both(&ptx, &sm("sm_80"), &options, None);
        assert_eq!(first.unwrap().usage().registers, usual.0);
        assert_eq!(other.map(|other| other.usage().registers), (usual.1 > 0).then_some(one.0));
    }
}

#[test]
fn an_answer_that_nobody_asks_for_is_not_waited_for() {
    let fake = fake(&format!("{INPUT}\nif grep -q minnctapersm \"$input\"; then sleep 1000; fi\n{WRITE_CUBIN}"));
    let options = AssembleOptions {
        ptxas: Some(&fake.path),
        time_limit: Some(Duration::from_mins(1)),
        ..AssembleOptions::default()
    };
    let start = Instant::now();
    let (first, other) = both(&heavy_ptx(), &sm("sm_80"), &options, None);
    assert!(first.is_ok() && other.is_none());
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let stop = Stop::new().unwrap();
    stop.stop();
    let error =
        assemble(&heavy_ptx(), &sm("sm_80"), &AssembleOptions { stop: Some(&stop), ..options }, None).unwrap_err();
    assert_eq!(error.message, "ptxas was ended, since nobody needs its answer");
}

/// The last argument but two, which is the input.
const INPUT: &str = r#"input=; for a; do case "$a" in -o) break;; esac; input="$a"; done"#;

/// Assembles with a ptxas that was started before.
fn assemble_ahead(path: &Path, ptx: &str) -> Result<Assembled, Diagnostic> {
    let options = AssembleOptions { ptxas: Some(path), again: false, ..AssembleOptions::default() };
    let ahead = ahead(&sm("sm_80"), &options).expect("a pipe, and a program that starts");
    assemble(ptx, &sm("sm_80"), &options, Some(ahead))
}

#[test]
#[cfg(target_os = "linux")]
fn a_ptxas_that_was_started_ahead_reads_a_pipe_and_then_a_file() {
    let long = good_ptx() + &"// more than a pipe holds\n".repeat(10_000);
    for ptx in [good_ptx(), long] {
        let fake = fake("");
        let seen = |name: &str| fake.folder.path().join(name);
        let (first, second, runs) = (seen("first"), seen("second"), seen("runs"));
        let body = format!(
            r#"#!/bin/sh
            {INPUT}
            echo run >> {runs}; cat "$input" > {first}; cat "$input" > {second}
            {WRITE_CUBIN}"#,
            runs = runs.display(),
            first = first.display(),
            second = second.display(),
        );
        executable(&fake.path, &body);
        assert_eq!(assemble_ahead(&fake.path, &ptx).unwrap().cubin.len(), 64);
        assert_eq!(fs::read_to_string(first).unwrap().trim_end(), ptx.trim_end());
        assert!(fs::read_to_string(second).unwrap() == ptx, "the second time it is a file");
        assert_eq!(fs::read_to_string(runs).unwrap(), "run\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_fails_with_a_pipe_gets_a_file() {
    let fake =
        fake(&format!(r#"{INPUT}; [ -p "$input" ] && {{ echo "ptxas fatal : no pipe" >&2; exit 1; }}; {WRITE_CUBIN}"#));
    assert_eq!(assemble_ahead(&fake.path, &good_ptx()).unwrap().cubin.len(), 64);
    // A failure that has nothing to do with the pipe is told once, by the run with a file.
    executable(&fake.path, "#!/bin/sh\necho \"ptxas kernel.ptx, line 9; error   : bad\" >&2; exit 255\n");
    let error = assemble_ahead(&fake.path, PTX).unwrap_err();
    let _kept = Kept::of(&error);
    assert_eq!((error.code.id, error.notes.len()), ("E0803", 3), "{error:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_ptxas_that_nobody_needs_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let fake = fake(&format!("echo $$ > {0}.new; mv {0}.new {0}; sleep 1000", pid.display()));
    let options = AssembleOptions { ptxas: Some(&fake.path), ..AssembleOptions::default() };
    let waiting = ahead(&sm("sm_80"), &options).unwrap();
    while !pid.exists() {
        thread::sleep(Duration::from_millis(1));
    }
    drop(waiting);
    assert!(is_gone(fs::read_to_string(pid).unwrap().trim()));
    assert!(ahead(&sm("sm_80"), &AssembleOptions { ptxas: Some(Path::new("/none")), ..options }).is_none());
}

#[test]
#[cfg(target_os = "linux")]
fn a_ptxas_that_was_started_ahead_is_stopped_when_the_time_is_over() {
    let fake = fake("sleep 1000");
    let options = AssembleOptions {
        ptxas: Some(&fake.path),
        time_limit: Some(Duration::from_millis(100)),
        ..AssembleOptions::default()
    };
    let waiting = ahead(&sm("sm_80"), &options);
    let error = assemble(PTX, &sm("sm_80"), &options, waiting).unwrap_err();
    let _kept = Kept::of(&error);
    assert_eq!(error.code.id, "E0815");
}

#[test]
fn tools_allocate_in_large_pages_unless_the_user_says_how() {
    let seen = tempfile::NamedTempFile::new().unwrap();
    let fake = fake(&format!("echo \"$GLIBC_TUNABLES\" > {}; {WRITE_CUBIN}", seen.path().display()));
    assemble_with(&fake.path, PTX, "sm_80", None).unwrap();
    let said = fs::read_to_string(seen.path()).unwrap();
    let wanted = std::env::var("GLIBC_TUNABLES").unwrap_or_else(|_| "glibc.malloc.hugetlb=1:".to_owned());
    assert!(said.starts_with(&wanted), "{said}");
}

#[test]
fn inline_ptx_gets_the_version_that_it_needs() {
    let Some(ptxas) = real(Tool::Ptxas) else { return };
    let ptx = good_ptx().replace("ret;", "ld.global.v2.f32 {f, f}, [%rd1]; red.global.add.v2.f32 [%rd1], {f, f}; ret;");
    let ptx = ptx.replace("{\n\t.reg", "{\n\t.reg .f32 f; .reg").replace("sm_80", "sm_90").replace("7.0", "7.8");
    let done = assemble_with(&ptxas, &ptx, "sm_90", None).unwrap();
    assert_eq!(done.ptx, Some(ptx.replace(".version 7.8", ".version 8.1")));
    // What the user wrote stays.
    let error = assemble_with(&ptxas, &ptx, "sm_90", Some("mine.ptx")).unwrap_err();
    let _kept = Kept::of(&error);
    assert!(error.message.contains("requires PTX ISA .version 8.1"), "{}", error.message);
}

#[test]
fn the_release_is_what_ptxas_says_of_itself() {
    let said =
        "echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'; echo 'Cuda compilation tools, release 13.4, V13.4.92'";
    let asked = fake(&format!("[ \"$*\" = --version ] && {{ {said}; }}"));
    assert_eq!(release(Some(&asked.path)).as_deref(), Some("13.4"));
    assert_eq!(release(Some(&fake("echo hello").path)), None);
    assert_eq!(release(Some(&asked.folder.path().join("none"))), None);
}

/// Products whose operands change under them: an older ptxas gets full waits, and the PTX that it got is the result's.
#[test]
fn older_releases_wait_for_products_whose_operands_change() {
    let marked = ".visible .entry k()\n{\nwgmma.wait_group.sync.aligned 1; // 0 for ptxas before 13.3 ;\nret;\n}\n";
    let full = marked.replace("aligned 1;", "aligned 0;");
    for (release, ptx, expected) in
        [("12.9", marked, Some(full.as_str())), ("13.4", marked, None), ("12.9", "ret;\n", None)]
    {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let ptxas = fake(&format!(
            r#"[ "$*" = --version ] && {{ echo "Cuda compilation tools, release {release}, V{release}.1"; exit 0; }}
            input=; for a; do case "$a" in -o) break;; esac; input="$a"; done
            cat "$input" > {seen}
            {WRITE_CUBIN}"#,
            seen = seen.display()
        ));
        let options = AssembleOptions { ptxas: Some(&ptxas.path), again: false, ..AssembleOptions::default() };
        let done = assemble(ptx, &sm("sm_80"), &options, None).unwrap();
        assert_eq!(fs::read_to_string(&seen).unwrap(), expected.unwrap_or(ptx), "{release}");
        assert_eq!(done.ptx.as_deref(), expected, "{release}");
    }
}

#[test]
fn an_output_that_is_no_cubin_for_the_target_is_an_error() {
    let hello = fake("for last; do :; done; echo hello > \"$last\"");
    let error = assemble_with(&hello.path, PTX, "sm_80", None).unwrap_err();
    let _kept = Kept::of(&error);
    assert_eq!(
        (error.code.id, error.message.as_str()),
        ("E0816", "ptxas wrote no cubin for sm_80 for `first`: its 6 bytes are no 64-bit ELF file")
    );
    let other = fake(WRITE_CUBIN);
    let error = assemble_with(&other.path, PTX, "sm_90a", None).unwrap_err();
    let _kept = Kept::of(&error);
    assert!(error.message.ends_with("it is code for compute capability 8.0"), "{}", error.message);
}

#[test]
fn a_tool_that_takes_too_long_is_stopped_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let fake = fake(&format!("sleep 1000 & echo $! > {0}; echo $$ >> {0}; wait", pids.display()));
    let options = AssembleOptions {
        ptxas: Some(&fake.path),
        time_limit: Some(Duration::from_millis(300)),
        ..AssembleOptions::default()
    };
    let error = assemble(PTX, &sm("sm_80"), &options, None).unwrap_err();
    let _kept = Kept::of(&error);
    assert_eq!((error.code.id, error.message.as_str()), ("E0815", "ptxas was stopped after 0 s for `first`"));
    for pid in fs::read_to_string(pids).unwrap().lines() {
        assert!(is_gone(pid), "process {pid} is left");
    }
}

/// Whether a process is gone, or becomes so in a moment. One that has ended and waits for its parent counts as gone.
fn is_gone(pid: &str) -> bool {
    let state =
        || fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|s| s.rsplit(") ").next()?.chars().next());
    (0..200).any(|_| {
        thread::sleep(Duration::from_millis(10));
        state().is_none_or(|s| s == 'Z')
    })
}

#[test]
fn files_that_cannot_be_made_are_named_with_the_folder_or_the_limit() {
    let full = scratch(&io::Error::from_raw_os_error(libc::ENOSPC), "write the input of a tool");
    assert!(full.code.id == "E0806" && full.message.starts_with("cannot write the input of a tool in `"), "{full:?}");
    let files = scratch(&io::Error::from_raw_os_error(libc::EMFILE), "make the files of a tool");
    assert!(files.code.id == "E0932" && files.message.starts_with("the system has no file for a tool: "), "{files:?}");
}

#[test]
fn what_a_tool_prints_without_end_is_bounded() {
    let fake = fake(&format!("head -c 30000000 /dev/zero | tr '\\0' 'x'\n{WRITE_CUBIN}"));
    let done = assemble_with(&fake.path, PTX, "sm_80", None).unwrap();
    assert!(done.log.len() <= 2 << 20, "{} bytes are kept", done.log.len());
}

#[test]
fn failed_inputs_are_kept_in_one_folder_of_bounded_size() {
    let folders: Vec<PathBuf> =
        (0..30).map(|i| kept::keep("kernel.ptx", format!("// {i} of this test").as_bytes()).unwrap()).collect();
    let root = folders[0].parent().unwrap();
    assert_eq!(fs::metadata(root).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(fs::read_dir(root).unwrap().count() <= 25, "tests beside this one may keep some as well");
    assert!(folders[29].join("kernel.ptx").is_file());
    assert_eq!(
        kept::keep("kernel.ptx", b"// 29 of this test").unwrap(),
        folders[29],
        "the same failure takes no more room"
    );
    folders.iter().for_each(|f| drop(fs::remove_dir_all(f)));
}

#[test]
fn a_failure_names_the_kernel_the_log_and_a_command_that_repeats_it() {
    let fake = fake(
        "echo \"ptxas kernel.ptx, line 9; error   : Unknown modifier '.glob'\" >&2; echo \"ptxas fatal   : aborted\" >&2; exit 255",
    );
    let error = assemble_with(&fake.path, PTX, "sm_80", None).unwrap_err();
    let kept = Kept::of(&error);
    assert_eq!(error.code.id, "E0803");
    assert_eq!(error.message, "ptxas failed with exit code 255 for `first` on sm_80: Unknown modifier '.glob'");
    assert_eq!(error.notes[0], "line 9 of the PTX: `st.glob.b32 [%rd1], 1;`");
    assert!(error.notes[1].contains("ptxas fatal   : aborted"), "{:?}", error.notes);
    assert_eq!(fs::read_to_string(kept.0.join("kernel.ptx")).unwrap(), PTX);
    let command = error.notes[2].trim_start_matches("to repeat it: ");
    let again = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(String::from_utf8(again.stderr).unwrap().contains("Unknown modifier"), "{command}");
}

#[test]
fn a_failure_names_the_line_of_the_kernel() {
    let fake =
        fake("echo \"ptxas kernel.ptx, line 7; error   : Not a name of any known instruction: 'ad'\" >&2; exit 255");
    let ptx = ".version 8.0\n.target sm_80\n.entry first()\n{\n.loc 1 4 0\n.loc\t1 10 9\nad.f32 %f1, %f2;\n.loc 1 11 5\n}\n\t.file\t1 \"/k/add.tk\"\n";
    let error = assemble_with(&fake.path, ptx, "sm_80", None).unwrap_err();
    drop(Kept::of(&error));
    assert_eq!(error.place(), Some(&crate::diag::Place::At { file: "/k/add.tk".to_owned(), line: 10, col: 9 }));
    assert_eq!(error.notes[0], "line 7 of the PTX: `ad.f32 %f1, %f2;`");
}

#[test]
fn errors_point_into_a_ptx_file_of_the_user() {
    let fake = fake(
        "echo \"ptxas kernel.ptx, line 9; error   : bad\" >&2; echo \"ptxas kernel.ptx, line 900; fatal : worse\" >&2; exit 1",
    );
    let error = assemble_with(&fake.path, PTX, "sm_80", Some("mine.ptx")).unwrap_err();
    let _kept = Kept::of(&error);
    let places: Vec<_> = error.labels.iter().map(|l| (l.place.clone(), l.text.as_str())).collect();
    let at = |line, col| crate::diag::Place::At { file: "mine.ptx".into(), line, col };
    assert_eq!(places, [(at(9, 2), "bad"), (at(900, 1), "worse")]);
}

#[test]
fn a_tool_that_is_killed_names_the_signal() {
    for (signal, word) in [(9, "memory"), (11, "defect")] {
        let fake = fake(&format!("kill -{signal} $$"));
        let error = assemble_with(&fake.path, PTX, "sm_80", None).unwrap_err();
        let _kept = Kept::of(&error);
        assert_eq!(error.code.id, "E0804");
        assert_eq!(error.message, format!("ptxas was killed by signal {signal} for `first`"));
        assert!(error.help.unwrap().contains(word));
    }
}

#[test]
fn an_old_ptxas_is_recognised_by_its_words() {
    for (log, reason) in [
        ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", "it does not know sm_120"),
        ("ptxas kernel.ptx, line 6; fatal   : Unsupported .target 'sm_130'", "it does not know sm_130"),
        (
            "ptxas kernel.ptx, line 1; fatal   : Unsupported .version 9.0; current version is '8.8'",
            "the PTX is of version 9.0, and it knows versions up to 8.8",
        ),
    ] {
        let fake = fake(&format!("echo \"{log}\" >&2; exit 255"));
        let error = assemble_with(&fake.path, PTX, "sm_120", None).unwrap_err();
        let _kept = Kept::of(&error);
        assert_eq!(
            (error.code.id, error.message),
            ("E0805", format!("this ptxas is too old for `first` on sm_120: {reason}"))
        );
    }
}

#[test]
fn a_tool_that_cannot_start_or_writes_nothing_is_an_error() {
    let fake = fake("exit 0");
    let error = assemble_with(&fake.path, PTX, "sm_80", None).unwrap_err();
    let _kept = Kept::of(&error);
    assert_eq!((error.code.id, error.message.contains("wrote no cubin")), ("E0803", true));

    let plain = fake.folder.path().join("plain");
    fs::write(&plain, "#!/bin/sh\nexit 0\n").unwrap();
    let no_interpreter = fake.folder.path().join("no_interpreter");
    executable(&no_interpreter, "#!/does/not/exist\n");
    let no_format = fake.folder.path().join("no_format");
    executable(&no_format, "\x7fELF nothing");
    for path in [plain, no_interpreter, no_format] {
        let error = assemble_with(&path, PTX, "sm_80", None).unwrap_err();
        assert_eq!(error.code.id, "E0802", "{error:?}");
        assert!(error.message.contains(path.to_str().unwrap()) && error.help.is_some());
    }
    for path in [Path::new("/does/not/exist"), fake.folder.path()] {
        assert_eq!(assemble_with(path, PTX, "sm_80", None).unwrap_err().code.id, "E0801");
    }
}

/// A tree of files and the variables around a search.
struct World {
    root: TempDir,
    variables: BTreeMap<String, String>,
    /// Where ttc itself lies.
    executable: &'static str,
}

impl World {
    fn new() -> World {
        let (root, variables) = (tempfile::tempdir().unwrap(), BTreeMap::new());
        let world = World { root, variables, executable: "repo/target/release/ttc" };
        fs::create_dir(world.path("repo")).unwrap();
        fs::write(world.path("repo/Cargo.toml"), "[package]\nname = \"ttc\"\n").unwrap();
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn add(&self, path: &str) {
        executable(&self.path(path), "#!/bin/sh\n");
    }

    fn set(&mut self, name: &str, path: &str) {
        let value = self.path(path).to_str().unwrap().to_owned();
        self.variables.insert(name.to_owned(), value);
    }

    fn find(&self, tool: Tool) -> Result<String, Diagnostic> {
        let variables = self.variables.clone();
        let variable = Box::new(move |name: &str| variables.get(name).map(OsString::from));
        let around =
            Surroundings { variable, executable: Some(self.path(self.executable)), root: self.root.path().to_owned() };
        let found = around.find(tool, None)?;
        let root = fs::canonicalize(self.root.path()).unwrap();
        Ok(fs::canonicalize(found).unwrap().strip_prefix(root).unwrap().to_str().unwrap().to_owned())
    }
}

#[test]
fn the_places_are_searched_in_order() {
    let mut world = World::new();
    let error = world.find(Tool::Ptxas).unwrap_err();
    assert_eq!((error.code.id, error.message.as_str()), ("E0801", "ptxas was not found"));
    assert!(error.help.unwrap().contains("make toolchain") && error.notes[0].contains("usr/local/cuda/bin/ptxas"));
    world.set("HOME", "home");
    world.set("VIRTUAL_ENV", "venv");
    world.set("CUDA_HOME", "cuda13");
    world.set("PATH", "bin");
    // The places go from the last to the first, so each that is added wins over those before.
    for place in [
        "usr/lib/python3/dist-packages/triton/backends/nvidia/bin/ptxas",
        "usr/local/lib/python3.12/dist-packages/nvidia/cu13/bin/ptxas",
        "home/.pyenv/versions/3.9.1/lib/python3.9/site-packages/nvidia/cu13/bin/ptxas",
        "home/.pyenv/versions/3.11.1/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas",
        "home/.local/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/ptxas",
        "venv/lib/python3.11/site-packages/triton/backends/nvidia/bin/ptxas",
        "venv/lib/python3.11/site-packages/nvidia/cuda_nvcc/bin/ptxas",
        "venv/lib/python3.11/site-packages/nvidia/cu9/bin/ptxas",
        "venv/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas",
        "repo/.toolchain/nvidia/cu13/bin/ptxas",
        "usr/lib/nvidia-cuda-toolkit/bin/ptxas",
        "usr/local/cuda/bin/ptxas",
        "cuda13/bin/ptxas",
        "bin/ptxas",
    ] {
        world.add(place);
        assert_eq!(world.find(Tool::Ptxas).unwrap(), place);
    }
    fs::set_permissions(world.path("bin/ptxas"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(world.find(Tool::Ptxas).unwrap(), "cuda13/bin/ptxas", "a file that is not executable is passed over");
    world.add("named/ptxas");
    world.set("TTC_PTXAS", "named/ptxas");
    assert_eq!(world.find(Tool::Ptxas).unwrap(), "named/ptxas");
    world.set("TTC_PTXAS", "named/gone");
    let error = world.find(Tool::Ptxas).unwrap_err();
    assert!(error.code.id == "E0801" && error.message.contains("named by `TTC_PTXAS`"), "{error:?}");
}

#[test]
fn parts_that_were_installed_with_ttc_are_found_beside_it() {
    let mut world = World::new();
    world.executable = "usr/bin/ttc";
    world.add("usr/bin/ttc");
    assert!(world.find(Tool::Ptxas).unwrap_err().notes[0].contains("usr/lib/ttc/bin/ptxas"));
    for place in ["usr/lib/ttc/bin/ptxas", "usr/local/cuda/bin/ptxas"] {
        world.add(place);
        assert_eq!(world.find(Tool::Ptxas).unwrap(), place);
    }
    world.add("usr/lib/ttc/nvvm/libdevice/libdevice.10.bc");
    assert_eq!(world.find(Tool::Libdevice).unwrap(), "usr/lib/ttc/nvvm/libdevice/libdevice.10.bc");
}

#[test]
fn folders_that_others_may_write_are_not_searched() {
    let mut world = World::new();
    fs::write(world.path("repo/Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
    world.add("repo/.toolchain/nvidia/cu13/bin/ptxas");
    world.add(".toolchain/nvidia/cu13/bin/ptxas");
    for variable in ["CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "HOME", "PYENV_ROOT", "PATH"] {
        world.variables.insert(variable.to_owned(), ".".to_owned());
    }
    assert_eq!(world.find(Tool::Ptxas).unwrap_err().code.id, "E0801");
}

#[test]
fn libdevice_lies_beside_the_ptxas_on_path_or_in_a_package() {
    let mut world = World::new();
    world.add("repo/.toolchain/nvidia/cu13/nvvm/libdevice/libdevice.10.bc");
    assert_eq!(world.find(Tool::Libdevice).unwrap(), "repo/.toolchain/nvidia/cu13/nvvm/libdevice/libdevice.10.bc");
    world.set("PATH", "cuda/bin");
    world.add("cuda/bin/ptxas");
    world.add("cuda/nvvm/libdevice/libdevice.10.bc");
    assert_eq!(world.find(Tool::Libdevice).unwrap(), "cuda/nvvm/libdevice/libdevice.10.bc");
    assert_eq!(world.find(Tool::Nvdisasm).unwrap_err().message, "nvdisasm was not found");
    world.set("TTC_PTXAS", "own/bin/ptxas");
    world.add("own/bin/ptxas");
    world.add("own/nvvm/libdevice/libdevice.10.bc");
    assert_eq!(world.find(Tool::Libdevice).unwrap(), "own/nvvm/libdevice/libdevice.10.bc");
}

/// The real tool. It is `None`, which skips the test, only where `TTC_TEST_TOOLS` does not demand it.
pub(super) fn real(tool: Tool) -> Option<PathBuf> {
    match find(tool, None) {
        Ok(path) => Some(path),
        Err(error) if std::env::var_os("TTC_TEST_TOOLS").is_some() => panic!("{}", error.message),
        Err(_) => None,
    }
}

#[test]
fn real_ptxas_and_nvdisasm_take_a_kernel_there_and_back() {
    let (Some(ptxas), Some(nvdisasm)) = (real(Tool::Ptxas), real(Tool::Nvdisasm)) else { return };
    let done = assemble_with(&ptxas, &good_ptx(), "sm_80", None).unwrap();
    assert_eq!(&done.cubin[..4], b"\x7fELF");
    assert_eq!((done.functions.len(), done.functions[0].entry, done.functions[0].name.as_str()), (1, true, "first"));
    assert!((4..=16).contains(&done.usage().registers), "{:?}", done.usage());
    assert_eq!(
        assemble_with(&ptxas, &good_ptx(), "sm_80", None).unwrap().cubin,
        done.cubin,
        "the same PTX gives the same bytes"
    );
    let options = AssembleOptions { ptxas: Some(&ptxas), ..AssembleOptions::default() };
    let waiting = ahead(&sm("sm_80"), &options);
    let again = assemble(&good_ptx(), &sm("sm_80"), &options, waiting).unwrap();
    assert!(again.cubin == done.cubin, "a ptxas that was started ahead writes other bytes");
    let text = disassemble(&done.cubin, Some(&nvdisasm), Detail::Plain, None).unwrap();
    assert!(text.contains(".target") && text.contains("STG.E"), "{text}");
    let error = disassemble(b"no cubin", Some(&nvdisasm), Detail::Plain, None).unwrap_err();
    let _kept = Kept::of(&error);
    assert_eq!(error.code.id, "E0807");
}

#[test]
fn real_ptxas_explains_its_failures() {
    let Some(ptxas) = real(Tool::Ptxas) else { return };
    let shared = "{ .shared .b8 s[300000]; .reg .b64 a; mov.u64 a, s; st.global.u64 [a], a;";
    for (ptx, code, part) in [
        (PTX.to_owned(), "E0803", "Unknown modifier '.glob'"),
        (good_ptx().replace(".version 7.0", ".version 99.0"), "E0805", "the PTX is of version 99.0"),
        (good_ptx().replace('{', shared), "E0803", "for `first` on sm_80"),
        (String::new(), "E0803", "Missing .version"),
    ] {
        let error = assemble_with(&ptxas, &ptx, "sm_80", None).unwrap_err();
        let _kept = Kept::of(&error);
        assert!(error.code.id == code && error.message.contains(part), "{error:?}");
    }
}

#[test]
fn real_ptxas_confirms_the_lowest_ptx_version_of_every_target() {
    let Some(ptxas) = real(Tool::Ptxas) else { return };
    for target in targets().filter(|t| t.vendor() == Vendor::Nvidia) {
        let empty = |version: u32| {
            format!(
                ".version {}.{}\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n",
                version / 10,
                version % 10
            )
        };
        let at_lowest = assemble_with(&ptxas, &empty(target.min_ptx()), target.name, None);
        if at_lowest.as_ref().is_err_and(|e| e.code.id == "E0805") && std::env::var_os("TTC_TEST_TOOLS").is_none() {
            let _kept = at_lowest.err().map(|e| Kept::of(&e));
            continue; // an old ptxas of the system says nothing about newer targets
        }
        assert!(at_lowest.is_ok(), "{target}: {at_lowest:?}");
        let below = if target.min_ptx() % 10 == 0 { target.min_ptx() - 2 } else { target.min_ptx() - 1 };
        let error = assemble_with(&ptxas, &empty(below), target.name, None).unwrap_err();
        let _kept = Kept::of(&error);
    }
}
