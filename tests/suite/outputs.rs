//! What `ttc compile` writes, and where: each case is the whole program, run in a folder of its own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ADD: &str = r#"
import triton
import triton.language as tl
@triton.jit
def add(x_ptr: "*fp32:16", y_ptr: "*fp32", n: "u32", SCALE: tl.constexpr = 0.1, BLOCK: tl.constexpr = 256):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * SCALE, mask=offs < n)
"#;

const MATMUL: &str = r#"
import triton
import triton.language as tl
@triton.autotune([triton.Config({"K": 32, "F": 0.3}, num_warps=4), triton.Config({"K": 64, "F": 0.7}, num_warps=8, num_stages=2)], key=["k"])
@triton.jit
def matmul(a: "tensordesc<fp16[128, 64]>", b: "tensordesc<fp16[64, 128]>", c_ptr: "*fp32:16", k: "i32", K: tl.constexpr, F: tl.constexpr):
    acc = tl.zeros((128, 128), tl.float32)
    for i in range(0, k, 64):
        acc = tl.dot(a.load([0, i]), b.load([i, 0]), acc)
    tile = tl.arange(0, 128)[:, None] * 128 + tl.arange(0, 128)[None, :]
    tl.store(c_ptr + tile, acc * F + K)
"#;

struct World(tempfile::TempDir);

impl World {
    fn new(files: &[(&str, &str)]) -> World {
        let world = World(tempfile::tempdir().unwrap());
        for (name, text) in files {
            world.write(name, text);
        }
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}; there is {:?}", self.names(".")))
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    fn names(&self, dir: &str) -> BTreeSet<String> {
        let entries =
            fs::read_dir(self.at(dir)).map(|d| d.map(|e| e.unwrap().file_name().into_string().unwrap()).collect());
        entries.unwrap_or_default()
    }

    fn command(&self, args: &str) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_ttc"));
        c.args(args.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        c
    }

    /// Runs `ttc`, which must end with this exit code.
    fn run(&self, args: &str, exit: i32) -> String {
        let output = self.command(args).output().unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(exit), "{args}\n{said}");
        said
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

/// PTX and its metadata are the same but for the files that were read, whichever stage the compilation starts from.
#[test]
fn metadata_after_a_resume_is_that_of_a_direct_compilation() {
    let w = World::new(&[("add.tk", ADD), ("matmul.tk", MATMUL)]);
    for (kernel, options) in [
        ("add", "--num-warps 2 --no-fp-fusion --maxnreg 64 --grid cdiv(n,BLOCK)"),
        ("matmul", "--config 1 --triton-abi"),
    ] {
        for arch in ["sm_80", "sm_90a", "sm_100a"] {
            let direct = format!("{kernel}.{arch}");
            w.run(&format!("{kernel}.tk --arch {arch} {options} --emit ttir,ttgir,llir --out-dir {direct}"), 0);
            w.run(&format!("{kernel}.tk --arch {arch} {options} -o {direct}/direct.ptx"), 0);
            for from in ["ttir", "ttgir", "llir", "ptx"] {
                let file = if from == "ptx" { "direct".to_owned() } else { kernel.to_owned() };
                w.run(&format!("{direct}/{file}.{from} -o {direct}/again.ptx"), 0);
                for kind in ["ptx", "json"] {
                    let read = |name: &str| String::from_utf8(w.read(&format!("{direct}/{name}.{kind}"))).unwrap();
                    // The files that were read are others; they come last.
                    let same = |text: String| text.split("\"sources\"").next().unwrap().to_owned();
                    assert_eq!(same(read("direct")), same(read("again")), "{kernel} for {arch} from {from}");
                }
            }
        }
    }
    let m = w.json("matmul.sm_90a/direct.json");
    assert_eq!(
        (&m["num_warps"], &m["num_stages"], &m["hidden_params"], &m["config"]["kwargs"]["F"]),
        (&8.into(), &2.into(), &2.into(), &0.7.into())
    );
    assert_eq!((m["params"].as_array().unwrap().len(), m["tensordesc_meta"].as_array().unwrap().len()), (4, 2));
    assert!(m["shared"].as_u64().unwrap() > 0);
}

/// What a file does not say is `null`, and what the text says wins over the line.
#[test]
fn what_is_not_known_is_null() {
    let w = World::new(&[("add.tk", ADD)]);
    w.run("add.tk --arch sm_80 --num-warps 2 --emit ttgir,llir,ptx --out-dir o", 0);
    for name in ["o/add.ttgir", "o/add.llir", "o/add.ptx"] {
        let text = String::from_utf8(w.read(name)).unwrap();
        let kept: Vec<&str> = text.lines().filter(|l| !l.contains("ttc.metadata: ")).collect();
        assert_eq!(kept.len() + 1, text.lines().count(), "{name}");
        w.write(name, &(kept.join("\n") + "\n"));
    }
    for name in ["o/add.llir", "o/add.ptx"] {
        w.run(&format!("{name} --arch sm_80 -o x.ptx"), 0);
        let m = w.json("x.json");
        assert_eq!((&m["num_warps"], &m["num_ctas"]), (&2.into(), &1.into()), "{name}");
        for unknown in ["shared", "num_stages", "constants", "hidden_params", "global_scratch_size"] {
            assert!(m[unknown].is_null(), "{name}: {unknown} is {}", m[unknown]);
        }
        let params: Vec<&str> = m["params"].as_array().unwrap().iter().map(|p| p["type"].as_str().unwrap()).collect();
        assert_eq!(params, ["*", "*", "u32"], "{name}");
    }
    w.run("o/add.ttgir -o x.ptx", 0);
    let m = w.json("x.json");
    assert_eq!((&m["arch"], &m["num_warps"], &m["hidden_params"]), (&"sm_80".into(), &2.into(), &0.into()));
    assert!(m["shared"].as_u64().unwrap() > 0);
    assert_eq!(
        (&m["params"][0]["type"], &m["params"][0]["divisibility"], &m["params"][2]["name"]),
        (&"*fp32".into(), &16.into(), &"n".into())
    );
    assert!(m["num_stages"].is_null() && m["constants"].is_null());
}

/// A stage file is compiled for its own GPU and with its own warps, or not at all.
#[test]
fn a_stage_file_keeps_its_target_and_launch() {
    let w = World::new(&[("add.tk", ADD)]);
    w.run("add.tk --arch sm_80 --num-warps 8 --emit ttir,ttgir,llir,ptx --out-dir o", 0);
    for kind in ["ttgir", "llir", "ptx"] {
        w.run(&format!("o/add.{kind} -o own.ptx"), 0);
        assert_eq!(w.json("own.json")["arch"], "sm_80", "{kind}");
        let said = w.run(&format!("o/add.{kind} --num-warps 4 -o x.ptx"), 2);
        assert!(said.contains("E0910") && said.contains("that is 8 already"), "{said}");
        w.run(&format!("o/add.{kind} --num-warps 8 -o x.ptx"), 0);
        if kind != "ptx" {
            let said = w.run(&format!("o/add.{kind} --arch sm_90a -o x.ptx"), 1);
            assert!(said.contains("E0930") && said.contains("--arch sm_80"), "{said}");
        }
    }
    assert!(w.run("o/add.ptx --triton-abi -o x.ptx", 2).contains("E0910"));
    for option in ["--signature *fp32,*fp32,i32,1.0,64", "-D BLOCK=64", "--config 0"] {
        assert!(w.run(&format!("o/add.ttir {option} -o x.ptx"), 2).contains("is no kernel file"), "{option}");
    }
    w.run("o/add.ptx --arch sm_90a -o x.ptx", 0);
    w.run("add.tk --arch sm_90a -o new.ptx", 0);
    assert!(w.run("new.ptx --arch sm_80 -o x.ptx", 1).contains("E0930"));
    let text = String::from_utf8(w.read("o/add.ttgir")).unwrap();
    for (from, to, word) in [
        ("cuda:80", "hip:gfx908", "`hip:gfx908`"),
        ("cuda:80", "zz:banana", "`zz:banana`"),
        ("\"ttg.threads-per-warp\" = 32", "\"ttg.threads-per-warp\" = 64", "64 threads a warp"),
    ] {
        w.write("other.ttgir", &text.replace(from, to));
        for arch in ["", "--arch sm_80"] {
            let said = w.run(&format!("other.ttgir {arch} -o x.ptx"), 1);
            assert!(said.contains("E0930") && said.contains(word), "{said}");
        }
    }
}

/// Two kernels of one name do not share a file, whatever stage they come from.
#[test]
fn outputs_of_one_path_are_refused_before_anything_is_written() {
    let w = World::new(&[("a/add.tk", ADD), ("b/add.tk", ADD)]);
    let refused = |args: &str| {
        let said = w.run(args, 2);
        assert!(said.contains("E0908"), "{args}\n{said}");
        assert!(w.names("o").is_empty(), "{:?}", w.names("o"));
    };
    refused("a/add.tk b/add.tk --emit ptx --out-dir o");
    for kind in ["ttir", "ttgir", "llir", "ptx"] {
        for dir in ["a", "b"] {
            w.run(&format!("{dir}/add.tk --emit {kind} -o {dir}/add.{kind}"), 0);
        }
        refused(&format!("a/add.{kind} b/add.{kind} --emit ptx --out-dir o"));
    }
    refused("a/add.tk --emit cubin -o add.json");
    refused("a/add.ptx --emit ptx -o b/../a/add.ptx");
    w.run("a/add.tk --arch sm_80,80 --emit ptx --out-dir o", 0);
    assert_eq!(
        w.names("o"),
        ["add.json".to_owned(), "add.ptx".to_owned()].into(),
        "the same architecture twice is one"
    );
}

/// An extension that says no stage is an error.
#[test]
fn unknown_extensions_of_outputs_are_refused() {
    let w = World::new(&[("add.tk", ADD)]);
    for name in ["add.h", "add.json", "add.o", "add.fatbin", "add.ll"] {
        assert!(w.run(&format!("add.tk -o {name}"), 2).contains("E0907"), "{name}");
    }
    w.run("add.tk --emit ptx -o add.s", 0);
    assert_eq!(w.names("."), ["add.json", "add.s", "add.tk"].map(str::to_owned).into());
}

/// Equal hashes mean equal bytes.
#[test]
fn the_hash_covers_imports_and_paths() {
    let helper = |n: &str| format!("import triton\n@triton.jit\ndef twice(x):\n    return x * {n}\n");
    let w = World::new(&[
        ("helper.py", &helper("2.0")),
        (
            "k.tk",
            &ADD.replace("* SCALE", "* twice(SCALE)")
                .replace("import triton\n", "import triton\nfrom helper import twice\n"),
        ),
    ]);
    let hash = |args: &str| {
        w.run(&format!("{args} -o k.ptx"), 0);
        (w.json("k.json")["hash"].as_str().unwrap().to_owned(), w.read("k.ptx"))
    };
    let first = hash("k.tk");
    assert_eq!(first, hash("k.tk"));
    let mut seen = vec![first];
    let absolute = w.at("k.tk").display().to_string();
    for args in [absolute.as_str(), "k.tk --num-warps 8", "k.tk --num-stages 2", "k.tk --no-line-info"] {
        seen.push(hash(args));
    }
    w.write("helper.py", &helper("3.0"));
    seen.push(hash("k.tk"));
    let hashes: BTreeSet<&str> = seen.iter().map(|(h, _)| h.as_str()).collect();
    assert_eq!(hashes.len(), seen.len(), "{hashes:?}");
}

/// The folder of a build does not reach its outputs, and messages still name it.
#[test]
fn remapped_paths_reach_no_output() {
    let made: Vec<Vec<Vec<u8>>> = (0..2)
        .map(|_| {
            let w = World::new(&[
                ("k/add.tk", ADD),
                ("k/bad.tk", &ADD.replace("mask=offs < n) * SCALE", "mask=offs < n) * nothing")),
            ]);
            let here = w.0.path().display().to_string();
            let map = format!("--remap-path-prefix {here}=/src --remap-path-prefix /nothing=/else");
            w.run(&format!("{here}/k/add.tk --arch sm_80 {map} --emit ttir,llir,ptx --out-dir o"), 0);
            w.run(&format!("{here}/k/add.tk --arch sm_80 {map} -o o/meta.ptx"), 0);
            let said = w.run(&format!("{here}/k/bad.tk --arch sm_80 {map} -o o/bad.ptx"), 1);
            assert!(said.contains(&format!("{here}/k/bad.tk:")), "{said}");
            let files: Vec<Vec<u8>> =
                ["o/add.ttir", "o/add.llir", "o/add.ptx", "o/meta.json"].iter().map(|f| w.read(f)).collect();
            for bytes in &files {
                assert!(!String::from_utf8_lossy(bytes).contains(&here));
            }
            assert!(String::from_utf8_lossy(&files[0]).contains("/src/k/add.tk"));
            files
        })
        .collect();
    assert!(made[0] == made[1]);
}

/// The dumps of two architectures do not mix.
#[test]
fn dumps_of_several_jobs_lie_apart() {
    let w = World::new(&[("add.tk", ADD), ("matmul.tk", MATMUL)]);
    w.run("add.tk --arch sm_80,sm_90a --emit ttgir --dump-dir d --out-dir o", 0);
    let count = |start: &str| w.names("d").iter().filter(|n| n.starts_with(start)).count();
    assert!(
        count("add.sm_80.ttgir.") > 10 && count("add.sm_90a.ttgir.") > 10 && count("add.ttgir.") == 0,
        "{:?}",
        w.names("d")
    );
    w.run("matmul.tk --arch sm_80 --config all --emit ttir --dump-dir d --out-dir o", 0);
    assert!(count("matmul.0.ttir.") > 3 && count("matmul.1.ttir.") > 3, "{:?}", w.names("d"));
}

/// A pass that does not exist is an error, as it is for `ttc opt`.
#[test]
fn passes_to_print_must_exist() {
    let w = World::new(&[("add.tk", ADD)]);
    for option in ["--print-ir-after", "--print-ir-before"] {
        let said = w.run(&format!("add.tk {option}=tritongpu-pipelin -o add.ptx"), 2);
        assert!(said.contains("E0601") && said.contains("tritongpu-pipeline"), "{said}");
    }
    assert!(w.run("add.tk --print-ir-after=inliner -o add.ptx", 0).contains("IR Dump After inline"));
}

/// A parameter or a local name that is called like a kernel does not hide the kernel.
#[test]
fn names_in_other_kernels_hide_no_kernel() {
    let kernel = |head: &str, body: &str| format!("@triton.jit\ndef {head}:\n    {body}\n");
    let text = [
        "import triton\nimport triton.language as tl\n".to_owned(),
        kernel("scale(x)", "tl.store(x, 1)"),
        kernel("bias(x)", "tl.store(x, 1)"),
        kernel("helper(x)", "tl.store(x, 1)"),
        kernel("combine(a, b)", "return a + b"),
        kernel("other(x, scale)", "bias = 1; f = lambda helper: helper; tl.store(x, scale + bias)"),
        kernel("last(x)", "helper(x); tl.reduce(tl.load(x), 0, combine)"),
    ];
    let w = World::new(&[("k.tk", &text.concat())]);
    let listed = w.run("list k.tk", 0);
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split(": ").nth(1)?.split('(').next()).collect();
    assert_eq!(names, ["scale", "bias", "other", "last"], "{listed}");
}

/// A job that fails leaves what the others made.
#[test]
fn one_failing_job_does_not_lose_the_others() {
    let bad = "@triton.jit\ndef bad(x: '*fp32'):\n    tl.store(x, nothing)\n";
    let w = World::new(&[("add.tk", ADD), ("bad.tk", &format!("import triton\nimport triton.language as tl\n{bad}"))]);
    let said = w.run("bad.tk add.tk --emit ptx --out-dir o", 1);
    assert!(said.contains("E0201"), "{said}");
    assert_eq!(w.names("o"), ["add.json".to_owned(), "add.ptx".to_owned()].into());
}

/// Output that nobody can get is an error; a reader that has seen enough is none.
#[test]
fn a_closed_stdout_is_an_error_and_a_broken_pipe_silent() {
    let w = World::new(&[("add.tk", ADD)]);
    let sh = |script: &str| {
        let mut c = Command::new("sh");
        c.args(["-c", script]).env("TTC", env!("CARGO_BIN_EXE_ttc")).current_dir(w.0.path()).output().unwrap()
    };
    for command in ["add.tk --emit ptx", "list add.tk", "explain"] {
        let output = sh(&format!("\"$TTC\" {command} >&-"));
        assert!(output.status.code() == Some(1) && text(&output).contains("E0906"), "{command}: {}", text(&output));
    }
    let mut child = w.command("explain").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.signal(), text(&output).as_str()), (Some(libc::SIGPIPE), ""));
    assert_eq!(sh("\"$TTC\" add.tk --emit ptx > /dev/null").status.code(), Some(0));
}

/// Where ptxas takes nearly all of a long time, that is said, with its release and what to do. A table has all stages.
#[test]
fn a_slow_ptxas_is_named() {
    let w = World::new(&[("add.tk", ADD)]);
    let real = ttc::ptxas::find(ttc::ptxas::Tool::Ptxas, None).unwrap();
    let script = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo release 99.1, V99.1.2; exit; fi\nsleep 5.1\n";
    w.write("ptxas", &format!("{script}exec {} \"$@\"\n", real.display()));
    fs::set_permissions(w.at("ptxas"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = w.run("add.tk --arch sm_80 --emit cubin -o o.cubin --ptxas ./ptxas --time-passes --summary", 0);
    assert_eq!(said.matches("note: ptxas 99.1 took 5.").count(), 2, "{said}");
    let stages = ["front end", "LLVM passes", "PTX", "ptxas", "all stages"];
    assert!(stages.iter().all(|stage| said.contains(&format!(" ms         {stage}\n"))), "{said}");
}

/// A tool that ttc stops in order to end has not failed: neither a message nor its input is left. Many jobs and tries,
/// since the time to do wrong is short.
#[test]
fn a_signal_leaves_nothing_behind() {
    let w = World::new(&[]);
    let inputs: Vec<String> = (0..6).map(|i| format!("add{i}.tk")).collect();
    for (i, name) in inputs.iter().enumerate() {
        w.write(name, &ADD.replace("def add", &format!("def add{i}")));
    }
    w.write("ptxas", "#!/bin/sh\ntouch \"$STARTED\"\nexec sleep 60\n");
    fs::set_permissions(w.at("ptxas"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(w.at("tmp")).unwrap();
    for _ in 0..5 {
        let mut command = w.command(&format!("{} --emit cubin --out-dir o -j 6 --ptxas ./ptxas", inputs.join(" ")));
        let mut child =
            command.env("TMPDIR", w.at("tmp")).env("STARTED", w.at("started")).stderr(Stdio::piped()).spawn().unwrap();
        while !w.at("started").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        // SAFETY: no pointers; the child has not been waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
        assert_eq!(w.names("tmp"), BTreeSet::new());
        fs::remove_file(w.at("started")).unwrap();
    }
}

/// Errors of the command line have the form that was asked for.
#[test]
fn command_line_errors_are_json_too() {
    let w = World::new(&[]);
    let said = w.run("--error-format json compile --num-wraps 8 add.tk", 2);
    let json: serde_json::Value = serde_json::from_str(said.trim()).unwrap();
    assert_eq!((&json["code"], &json["message"]), (&"E0933".into(), &"unexpected argument '--num-wraps' found".into()));
    assert!(w.run("compile add.tk --nosuch --error-format=short", 2).starts_with("error[E0933]: "));
    assert!(w.run("compile --nosuch", 2).starts_with("error: unexpected argument"));
}

/// Where the system gives few threads or little memory, ttc goes on or says so.
#[test]
fn few_threads_and_little_address_space_are_no_panic() {
    let w = World::new(&[("add.tk", ADD)]);
    for limit in ["-v 300000", "-v 600000", "-v 1500000", "-s 128"] {
        let script = format!("ulimit {limit}; \"$TTC\" add.tk -j 8 --arch sm_80,sm_90a,sm_100a --emit ptx --out-dir o");
        let output = Command::new("bash")
            .args(["-c", &script])
            .env("TTC", env!("CARGO_BIN_EXE_ttc"))
            .current_dir(w.0.path())
            .output()
            .unwrap();
        let said = text(&output);
        let coded = said.contains("E0932") || said.contains("E0917");
        assert!(output.status.code() == Some(0) || coded, "{limit}: {:?}\n{said}", output.status);
        assert!(!said.contains("panicked"), "{limit}\n{said}");
    }
}

/// With several configurations each is a row that names it.
#[test]
fn a_summary_of_several_jobs_has_a_row_for_each() {
    let w = World::new(&[("matmul.tk", MATMUL)]);
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join(".toolchain").exists()
        && std::env::var_os("TTC_TEST_TOOLS").is_none()
    {
        return;
    }
    let said = w.run("matmul.tk --arch sm_80 --config all --summary --out-dir o", 0);
    let rows: Vec<&str> = said.lines().filter(|l| l.starts_with("matmul.")).collect();
    assert!(
        rows.len() == 2 && rows[0].starts_with("matmul.0 sm_80 ") && rows[1].starts_with("matmul.1 sm_80 "),
        "{said}"
    );
}

/// A file system takes names of 255 bytes, and kernels may have longer ones.
#[test]
fn kernels_with_long_names_get_files() {
    let (one, other) = ("k".repeat(300) + "a", "k".repeat(300) + "b");
    let named = |name: &str| ADD.replace("def add(", &format!("def {name}("));
    let w = World::new(&[("add.tk", &(named(&one) + &named(&other)))]);
    w.run("add.tk --arch sm_80,sm_90 --emit ptx --dump-dir d --out-dir o", 0);
    let names = w.names("o");
    assert_eq!(names.len(), 8, "{names:?}");
    let symbols: BTreeSet<String> = names
        .iter()
        .filter(|n| n.ends_with(".sm_80.json"))
        .map(|n| w.json(&format!("o/{n}"))["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(symbols, [one, other].into());
}
