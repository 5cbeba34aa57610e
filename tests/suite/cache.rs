//! The cache of compilations, as the program uses it: what comes from it is what a compilation without it makes, and
//! nothing else is ever taken from it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const KERNELS: &str = r#"
import triton
import triton.language as tl
from helper import scale
@triton.jit
def one(x_ptr: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 64):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offs < n) and (offs >= 0)
    tl.static_print("block", BLOCK)
    tl.store(x_ptr + offs, scale(tl.load(x_ptr + offs, mask=mask)), mask=mask)
@triton.jit
def two(x_ptr: "*fp32:16", BLOCK: tl.constexpr = 64):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.exp(tl.load(x_ptr + offs)))
"#;

const HELPER: &str = "
import triton
import triton.language as tl
@triton.jit
def scale(x):
    both = (x > 0) or (x < -1)
    return tl.where(both, x * 3 + 1, x)
";

/// A folder with kernels and a cache.
struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        world.write("k.tk", KERNELS);
        world.write("helper.tk", HELPER);
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    fn command(&self, args: &str) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_ttc"));
        c.args(args.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        c.env("TTC_CACHE_DIR", self.at("cache"));
        for variable in ["TTC_CACHE", "TTC_CACHE_SIZE", "TTC_CACHE_REMOTE", "TTC_OVERRIDE_DIR", "TTC_OVERRIDE_DUMP"] {
            c.env_remove(variable);
        }
        c
    }

    /// Runs `ttc`, which must end with this exit code, and gives what it said.
    fn run(&self, args: &str, exit: i32) -> String {
        ended(self.command(args).output().unwrap(), exit, args)
    }

    /// Compiles with the cache, and without it into another folder. Both must give the same files and say the same.
    /// Returns what the cache did.
    fn same(&self, args: &str) -> What {
        let before = self.stats();
        for out in ["plain", "cached"] {
            let _ = fs::remove_dir_all(self.at(out));
        }
        let plain = self.run(&format!("compile {args} --out-dir plain"), 0);
        let cached = self.run(&format!("compile {args} --out-dir cached --cache"), 0);
        assert_eq!(plain, cached, "{args}");
        let (plain, cached) = (files(&self.at("plain")), files(&self.at("cached")));
        assert!(!plain.is_empty() && plain == cached, "{args}: {:?} {:?}", plain.keys(), cached.keys());
        let after = self.stats();
        What { hits: after.hits - before.hits, later: after.later - before.later, misses: after.misses - before.misses }
    }

    fn stats(&self) -> What {
        let text = self.run("cache stats --json", 0);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let number = |name: &str| value[name].as_u64().unwrap();
        What { hits: number("hits"), later: number("later_hits"), misses: number("misses") }
    }

    /// The files of entries, and whatever else lies among them.
    fn entries(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.at("cache/v1")).unwrap().map(|f| f.unwrap().path()).filter(|f| f.is_dir());
        folders.flat_map(|f| fs::read_dir(f).unwrap().map(|e| e.unwrap().path())).collect()
    }

    /// A ptxas that does what the real one does; its text differs by `mark`.
    fn ptxas(&self, mark: &str) -> String {
        let real = ttc::ptxas::find(ttc::ptxas::Tool::Ptxas, None).unwrap();
        self.write("ptxas", &format!("#!/bin/sh\n# {mark}\nexec {} \"$@\"\n", real.display()));
        fs::set_permissions(self.at("ptxas"), fs::Permissions::from_mode(0o755)).unwrap();
        self.at("ptxas").display().to_string()
    }
}

/// How often the cache found something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct What {
    hits: u64,
    later: u64,
    misses: u64,
}

const HIT: What = What { hits: 1, later: 0, misses: 0 };
const LATER: What = What { hits: 0, later: 1, misses: 0 };
const MISS: What = What { hits: 0, later: 0, misses: 1 };

fn ended(output: Output, exit: i32, args: &str) -> String {
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(exit), "{args}\n{said}");
    said
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    entries.map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&p).unwrap())).collect()
}

#[test]
fn a_hit_says_and_makes_what_the_compilation_said_and_made() {
    let world = World::new();
    let all = "k.tk -k one --arch sm_80 --emit ttir,ttgir,llir,ptx,cubin,sass --remarks all";
    assert_eq!(world.same(all), MISS);
    assert_eq!(world.same(all), HIT);
    let said = world.run(&format!("compile {all} --out-dir out --cache"), 0);
    for part in ["block 64", "`and` of tensors", "`or` of tensors", "helper.tk:6", "registers a thread"] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    // A stage as the input.
    fs::copy(world.at("cached/one.ttgir"), world.at("one.ttgir")).unwrap();
    assert_eq!(world.same("one.ttgir --emit ptx"), MISS);
    assert_eq!(world.same("one.ttgir --emit ptx"), HIT);
    // The metadata that is written leaves out parameters of a settled value, which a launcher takes all the same.
    let launchers = "k.tk -k one --signature *fp32:16,i32:1,64 --grid cdiv(n,BLOCK) --arch sm_80 --emit c,ptx";
    assert_eq!(world.same(launchers), MISS);
    assert_eq!(world.same(launchers), HIT);
    // Several kernels of a run, on several threads.
    assert_eq!(world.same("k.tk --emit ptx"), What { hits: 0, later: 0, misses: 2 });
    assert_eq!(world.same("k.tk --emit ptx"), What { hits: 2, ..HIT });
    // What looks inside runs every stage.
    let shown = world.run("compile k.tk -k two --emit ptx --out-dir out --cache --print-ir-after=cse", 0);
    assert!(shown.contains("IR Dump After cse"), "{shown}");
    let summary = || world.run("compile k.tk -k two --emit ptx --out-dir out --cache --summary", 0);
    assert!(summary().contains("\nptxas ") && summary().contains("\ncache "));
}

#[test]
fn every_option_that_changes_a_byte_is_another_compilation() {
    let world = World::new();
    let same = "k.tk -k two --arch sm_80 --emit ttir,ptx";
    let options = [
        "",
        "-D BLOCK=128",
        "--type x_ptr=*fp64:16",
        "--signature *fp32,64",
        "--variant v:num_warps=2",
        "--num-warps 8",
        "--num-stages 2",
        "--maxnreg 40",
        "--no-fp-fusion",
        "--no-line-info",
        "--no-locations",
        "--triton-abi",
        "--debug",
        "--symbol other",
        "--grid 7",
        "--grid two=9",
        "--remap-path-prefix k=l",
        "-I .",
        "--max-ops 9999",
        "--remarks all",
    ];
    let mut truth = vec![];
    for option in options {
        let what = world.same(&format!("{same} {option}"));
        assert_eq!(what.hits, 0, "{option}");
        truth.push(files(&world.at("plain")));
    }
    for (option, truth) in options.iter().zip(truth) {
        fs::remove_dir_all(world.at("cached")).unwrap();
        world.run(&format!("compile {same} {option} --out-dir cached --cache"), 0);
        assert_eq!(files(&world.at("cached")), truth, "{option}");
    }
    assert_eq!(world.stats().hits, options.len() as u64);
    for other in ["--arch sm_90a --emit ttir,ptx", "--arch sm_80 --emit ptx"] {
        assert_eq!(world.same(&format!("k.tk -k two {other}")).hits, 0, "{other}");
    }
    // The same text under another name has other locations.
    fs::copy(world.at("k.tk"), world.at("copy.tk")).unwrap();
    assert_eq!(world.same("copy.tk -k two --arch sm_80 --emit ttir,ptx"), MISS);
}

#[test]
fn a_change_to_a_neighbour_costs_the_front_end_alone() {
    let world = World::new();
    let args = "k.tk -k one --arch sm_80 --emit ptx";
    assert_eq!(world.same(args), MISS);
    world.write("k.tk", &KERNELS.replace("tl.exp", "tl.log"));
    assert_eq!(world.same(args), LATER);
    assert_eq!(world.same(args), HIT);
    // The lines of the kernel are part of its line table.
    world.write("k.tk", &format!("# a comment\n{KERNELS}"));
    assert_eq!(world.same(args), MISS);
}

#[test]
fn imports_are_followed_again_when_files_change_or_appear() {
    let world = World::new();
    let args = "k.tk -k one --arch sm_80 --emit ptx -I first -I second";
    fs::remove_file(world.at("helper.tk")).unwrap();
    world.write("second/helper.tk", HELPER);
    assert_eq!(world.same(args), MISS);
    assert_eq!(world.same(args), HIT);
    world.write("second/helper.tk", &HELPER.replace("* 3", "* 5"));
    assert_eq!(world.same(args), MISS);
    world.write("second/helper.tk", HELPER);
    assert_eq!(world.same(args), LATER, "the record is of the other text, the result is still there");
    // What an earlier folder has now is found first: a file with the extension that is looked for later, another with
    // the one that is looked for first, a package.
    world.write("first/helper.tk", &HELPER.replace("* 3", "* 7"));
    assert_eq!(world.same(args), MISS);
    world.write("first/helper.py", &HELPER.replace("* 3", "* 9"));
    assert_eq!(world.same(args), MISS);
    fs::remove_file(world.at("first/helper.py")).unwrap();
    fs::remove_file(world.at("first/helper.tk")).unwrap();
    assert_eq!(world.same(args), LATER);
    world.write("first/helper/__init__.py", &HELPER.replace("* 3", "* 11"));
    assert_eq!(world.same(args), MISS);
}

#[test]
fn another_tool_and_another_ttc_are_other_compilations() {
    let world = World::new();
    let args = |ptxas: &str| format!("k.tk -k two --arch sm_80 --ptxas {ptxas}");
    assert_eq!(world.same(&args(&world.ptxas("one"))), MISS);
    assert_eq!(world.same(&args(&world.ptxas("one"))), HIT);
    assert_eq!(world.same(&args(&world.ptxas("two"))), MISS);
    // A byte behind the end of an executable changes nothing that runs.
    let mut program = fs::read(env!("CARGO_BIN_EXE_ttc")).unwrap();
    program.push(b'\n');
    fs::write(world.at("ttc"), program).unwrap();
    fs::set_permissions(world.at("ttc"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = world.stats();
    let mut command = Command::new(world.at("ttc"));
    command.args(args(&world.ptxas("two")).split_whitespace()).args(["-o", "o.cubin", "--cache"]);
    command.current_dir(world.0.path()).env("TTC_CACHE_DIR", world.at("cache"));
    ended(command.output().unwrap(), 0, "another ttc");
    assert_eq!(world.stats().misses, before.misses + 1);
}

#[test]
fn a_failure_is_not_kept() {
    let world = World::new();
    let broken = KERNELS.replace("tl.exp", "tl.nothing");
    world.write("k.tk", &broken);
    let args = "compile k.tk -k two --arch sm_80 --emit ptx -o out.ptx --cache";
    for _ in 0..2 {
        assert!(world.run(args, 1).contains("error[E0"));
    }
    assert_eq!(world.stats(), What { hits: 0, later: 0, misses: 2 });
    // A tool that fails today may do its work tomorrow.
    world.write("k.tk", KERNELS);
    world.write("ptxas", "#!/bin/sh\nexit 3\n");
    fs::set_permissions(world.at("ptxas"), fs::Permissions::from_mode(0o755)).unwrap();
    for _ in 0..2 {
        let ptxas = world.at("ptxas").display().to_string();
        world.run(&format!("compile k.tk -k two --arch sm_80 -o out.cubin --cache --ptxas {ptxas}"), 1);
    }
    assert_eq!(world.stats().hits, 0);
}

#[test]
fn a_damaged_entry_is_made_again() {
    let world = World::new();
    let args = "k.tk -k two --arch sm_80 --emit ptx";
    assert_eq!(world.same(args), MISS);
    for damage in [b"".as_slice(), b"ttcache\x01 and then nothing of use"] {
        world.entries().iter().for_each(|e| fs::write(e, damage).unwrap());
        assert_eq!(world.same(args), MISS);
        assert_eq!(world.same(args), HIT);
    }
    for entry in world.entries() {
        let mut bytes = fs::read(&entry).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&entry, bytes).unwrap();
    }
    let said = world.run("cache gc --check", 0);
    assert!(!said.contains(", 0 damaged") && said.contains("0 entries (0 bytes) are left"), "{said}");
    assert_eq!(world.same(args), MISS);
}

#[test]
fn a_cache_that_cannot_be_used_is_one_warning() {
    let world = World::new();
    world.write("file", "no folder");
    let compile = |dir: Option<PathBuf>, more: &[(&str, &str)]| {
        let mut command = world.command("compile k.tk --arch sm_80 --emit ptx --out-dir out --cache");
        command.env_remove("TTC_CACHE_DIR").env_remove("HOME").env_remove("XDG_CACHE_HOME");
        if let Some(dir) = dir {
            command.env("TTC_CACHE_DIR", dir);
        }
        command.envs(more.iter().copied());
        ended(command.output().unwrap(), 0, "compile")
    };
    for said in [compile(Some(world.at("file/cache")), &[]), compile(None, &[])] {
        assert_eq!(said.matches("E0960").count(), 1, "{said}");
    }
    let said = compile(Some(world.at("cache")), &[("TTC_CACHE_REMOTE", "ftp://host")]);
    assert_eq!(said.matches("E0961").count(), 1, "{said}");
    assert!(said.contains("`ftp://` is unknown"), "{said}");
    for (name, value) in [("TTC_CACHE", "yes"), ("TTC_CACHE_SIZE", "big")] {
        let mut command = world.command("compile k.tk --emit ptx --out-dir out --cache");
        let said = ended(command.env(name, value).output().unwrap(), 2, name);
        assert!(said.contains(&format!("`{name}={value}`")), "{said}");
    }
}

#[test]
fn a_cache_is_used_when_it_is_asked_for() {
    let world = World::new();
    let args = "compile k.tk -k two --arch sm_80 --emit ptx -o out.ptx";
    world.run(args, 0);
    assert!(!world.at("cache").exists());
    for (variable, option, made) in [("1", "", true), ("0", " --cache", false)] {
        let _ = fs::remove_dir_all(world.at("cache"));
        let mut command = world.command(&format!("{args}{option}"));
        ended(command.env("TTC_CACHE", variable).output().unwrap(), 0, args);
        assert_eq!(world.at("cache").exists(), made, "TTC_CACHE={variable}{option}");
    }
    // `ttc build` uses it by itself: a second folder of outputs is made of the first one's work.
    world.write("ttc.toml", "[build]\narchs = [\"sm_80\"]\nemit = [\"ptx\"]\n[kernel.two]\nfile = \"k.tk\"\n");
    for (out, hits) in [("a", 0), ("b", 1)] {
        world.run(&format!("build --out-dir {out}"), 0);
        assert_eq!(world.stats().hits, hits);
    }
    let names: Vec<String> = files(&world.at("a")).into_keys().filter(|n| !n.starts_with('.')).collect();
    assert!(names.iter().all(|n| fs::read(world.at("a").join(n)).unwrap() == fs::read(world.at("b").join(n)).unwrap()));
    world.run("build --out-dir c --no-cache", 0);
    assert_eq!(world.stats().hits, 1);
}

#[test]
fn the_command_shows_and_empties_the_cache() {
    let world = World::new();
    assert_eq!(world.run("cache path", 0), format!("{}\n", world.at("cache").display()));
    assert!(world.run("cache stats", 0).contains("entries                   0"));
    world.same("k.tk -k two --arch sm_80 --emit ptx");
    world.write("cache/v1/00/.ttc-1-0", "left by a killed process");
    world.write("cache/mine.txt", "left by somebody else");
    let said = world.run("cache gc --max-size 1G", 0);
    assert!(said.starts_with("removed 0 entries (0 bytes), 0 damaged ones, 1 leftovers"), "{said}");
    let said = world.run("cache gc --max-size 0 --json", 0);
    assert!(said.contains("\"entries\":0"), "{said}");
    world.same("k.tk -k two --arch sm_80 --emit ptx");
    world.run("cache clear", 0);
    assert_eq!((world.entries().len(), world.stats()), (0, What { hits: 0, later: 0, misses: 0 }));
    assert!(world.at("cache/mine.txt").exists());
    assert!(world.run("cache gc --max-size many", 2).contains("is no unit"));
    // A limit from the environment holds for writers.
    for block in [64, 128, 256, 512, 1024] {
        let mut command = world.command("compile k.tk -k two --arch sm_80 --emit ptx -o o.ptx --cache");
        command.args(["-D", &format!("BLOCK={block}")]).env("TTC_CACHE_SIZE", "20K");
        ended(command.output().unwrap(), 0, "compile");
        let bytes: u64 = world.entries().iter().map(|e| fs::metadata(e).unwrap().len()).sum();
        assert!(bytes <= 20 << 10, "{bytes}");
    }
}

#[test]
fn a_stage_that_a_person_wrote_takes_the_place_of_ttcs_own() {
    let world = World::new();
    let args = "compile k.tk -k two --arch sm_80 --emit ttir,ptx --out-dir out --cache";
    let key = world.run(&format!("{args} --print-key"), 0);
    let (key, name) = key.trim_end().split_once(' ').unwrap();
    assert_eq!((key.len(), name), (64, "two"));
    let mut dump = world.command(args);
    ended(dump.env("TTC_OVERRIDE_DUMP", world.at("stages")).output().unwrap(), 0, "dump");
    let folder = world.at("stages").join(key);
    assert_eq!(files(&folder).into_keys().collect::<Vec<_>>(), ["two.llir", "two.ptx", "two.ttgir", "two.ttir"]);
    let overridden = |stage: &str, exit: i32| {
        let mut command = world.command(args);
        let said = ended(command.env("TTC_OVERRIDE_DIR", world.at("stages")).output().unwrap(), exit, stage);
        (said, fs::read_to_string(world.at("out/two.ptx")).unwrap())
    };
    let ours = fs::read_to_string(world.at("out/two.ptx")).unwrap();
    let change = |stage: &str, from: &str, to: &str| {
        let path = folder.join(format!("two.{stage}"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
    };
    change("ptx", "ex2.approx", "lg2.approx");
    let (said, ptx) = overridden("ptx", 0);
    assert!(said.contains("warning[E0962]") && ptx.contains("lg2.approx") && !ours.contains("lg2.approx"), "{said}");
    // The TTIR before it is ttc's own.
    let ttir = fs::read_to_string(world.at("out/two.ttir")).unwrap();
    assert!(ttir.contains("math.exp"), "{ttir}");
    // Without the later files, the one before them counts.
    for stage in ["ptx", "llir", "ttgir"] {
        fs::remove_file(folder.join(format!("two.{stage}"))).unwrap();
    }
    change("ttir", "math.exp ", "math.sin ");
    let (_, ptx) = overridden("ttir", 0);
    assert!(ptx.contains("sin.approx") || ptx.contains("__nv") || !ptx.contains("ex2.approx"), "{ptx}");
    fs::write(folder.join("two.cubin"), b"no text").unwrap();
    assert!(overridden("cubin", 1).0.contains("E0963"));
    fs::remove_file(folder.join("two.cubin")).unwrap();
    fs::copy(folder.join("two.ttir"), folder.join("other.ttir")).unwrap();
    assert!(overridden("ttir", 1).0.contains("are the same stage of one job"));
    // None of it is in the cache.
    assert_eq!(world.stats().hits + world.stats().misses, 0);
    world.run(args, 0);
    assert_eq!(fs::read_to_string(world.at("out/two.ptx")).unwrap(), ours);
}

/// Several processes on one cache, some of which are killed. `scripts/cache_stress.py` does the same at length.
#[test]
fn processes_that_are_killed_leave_a_cache_that_is_whole() {
    let world = World::new();
    let args = |block: usize, out: usize| {
        format!("compile k.tk --arch sm_80 --emit ptx -D BLOCK={block} --cache --out-dir out{out}")
    };
    let start = |i: usize| -> Child {
        let mut command = world.command(&args(32 << (i % 3), i));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for round in 0..3_u64 {
        let mut children: Vec<Child> = (0..6).map(start).collect();
        for (i, child) in children.iter_mut().take(3).enumerate() {
            std::thread::sleep(Duration::from_millis(20 + 37 * (round + i as u64) % 90));
            child.kill().unwrap();
        }
        for (i, child) in children.iter_mut().enumerate() {
            let status = child.wait().unwrap();
            assert!(status.success() || i < 3, "process {i} of round {round}: {status}");
        }
    }
    let said = world.run("cache gc --check --json", 0);
    assert!(said.contains("\"damaged\":0"), "{said}");
    assert!(world.entries().iter().all(|e| !e.file_name().unwrap().to_str().unwrap().starts_with('.')));
    for i in 0..3 {
        let what = world.same(&format!("k.tk --arch sm_80 --emit ptx -D BLOCK={}", 32 << i));
        assert_eq!(what.misses, 0);
    }
}
