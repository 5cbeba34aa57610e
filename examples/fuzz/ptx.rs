//! The check of the emulator's fuzz target: any text as PTX. Parsing, decoding and running end, whatever the text says.
//!
//! 1. The text is parsed and decoded. An error names a place in the text.
//! 2. Each kernel runs with few steps: first with the launch that the text's comment names (`// launch: {…}`, as in
//!    `tests/emu`), then with a small launch whose pointers lead to one buffer. What a run finds does not matter.

use ttc::emu::{self, Argument, Landing, Launch, Memory, Options, Program};
use ttc::emulate::file::LaunchFile;

pub(crate) const WORDS: &[&str] = &[
    ".entry ",
    ".func ",
    ".visible ",
    ".param ",
    ".reg ",
    ".shared ",
    ".local ",
    ".global ",
    ".const ",
    ".align 16 ",
    ".b8 ",
    ".b16 ",
    ".b32 ",
    ".b64 ",
    ".b128 ",
    ".pred ",
    ".u32",
    ".s32",
    ".u64",
    ".s64",
    ".f16",
    ".f16x2",
    ".bf16",
    ".f32",
    ".f64",
    ".tf32",
    ".e4m3x2",
    ".v2",
    ".v4",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".gpu",
    ".cta",
    ".cluster",
    ".sync",
    ".aligned",
    ".wide",
    ".hi",
    ".lo",
    ".cc",
    ".sat",
    ".ftz",
    ".rn",
    ".rz",
    ".approx",
    ".to",
    "add",
    "sub",
    "mul",
    "mad",
    "fma",
    "div",
    "rem",
    "setp.lt",
    "selp",
    "cvt",
    "cvta",
    "ld",
    "st",
    "atom",
    "red",
    "bra ",
    "brx.idx ",
    "call ",
    "ret;",
    "exit;",
    "trap;",
    "bar.sync ",
    "barrier.cluster",
    "shfl.sync.bfly.b32 ",
    "vote.sync",
    "match.any.sync",
    "redux.sync.add.s32 ",
    "activemask.b32 ",
    "elect.sync ",
    "mbarrier.init.shared.b64 ",
    "mbarrier.arrive",
    "mbarrier.try_wait.parity.shared.b64 ",
    "cp.async.ca.shared.global ",
    "cp.async.bulk",
    ".tensor.2d",
    "cp.async.wait_group ",
    "cp.async.commit_group;",
    "ldmatrix.sync.aligned.m8n8.x4",
    "stmatrix",
    "mma.sync.aligned",
    "wgmma.mma_async",
    "wgmma.fence.sync.aligned;",
    "fence.proxy.async;",
    "membar.gl;",
    "mapa.shared::cluster.u32 ",
    "getctarank",
    "bfe.u32 ",
    "bfi.b32 ",
    "prmt.b32 ",
    "lop3.b32 ",
    "shl.b32 ",
    "shr.s32 ",
    "shf.l.wrap.b32 ",
    "popc",
    "@%p1 ",
    "@!%p1 ",
    "%r1",
    "%rd1",
    "%f1",
    "%p1",
    "%tid.x",
    "%ctaid.x",
    "%clock64",
    "%laneid",
    "WARP_SZ",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ",",
    ";",
    ":",
    "|",
    "!",
    "_",
    "+",
    "-",
    "=",
    "//",
    "/*",
    "*/",
    "\"",
    "\n",
    "0",
    "1",
    "-1",
    "31",
    "32",
    "64",
    "255",
    "0x80000000",
    "0xffffffff",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "0f7F800000",
    "0d7FF0000000000000",
    "1e999",
    "$L1:\n",
    "bra $L1;\n",
    ".reqntid 64\n",
    ".maxntid 1, 1, 1\n",
    ".loc 1 2 3\n",
    ".file 1 \"x\"\n",
    ".section .debug_x { .b8 1 }\n",
];

/// The launch that the text's comment names, without files.
fn described(text: &str) -> Option<(Option<String>, Launch, Memory)> {
    let json: Vec<&str> = text
        .lines()
        .skip_while(|l| !l.starts_with("// launch:"))
        .map_while(|l| l.strip_prefix("// launch:").or_else(|| l.strip_prefix("//   ")))
        .collect();
    let file: LaunchFile = serde_json::from_str(&json.join("\n")).ok()?;
    let bytes = |b: &ttc::emulate::file::BufferSpec| match b.contents {
        ttc::emulate::file::Source::Bytes(n) => n < 1 << 20,
        ttc::emulate::file::Source::File(_) => false,
        _ => true,
    };
    let (launch, memory) = file.buffers.iter().all(bytes).then(|| file.load(std::path::Path::new("")).ok())??;
    Some((file.kernel, launch, memory))
}

/// A launch of one cluster or two blocks. A parameter of 8 bytes is a pointer, any other one a number.
fn simple(program: &Program, kernel: &str) -> (Launch, Memory) {
    let function = &program.functions[program.kernels[kernel]];
    let mut memory = Memory::new();
    let contents: Vec<u8> = (0..8192u32).map(|i| ((i * 7) >> 3) as u8).collect();
    let buffer = memory.add("buffer", &contents);
    let argument = |bytes: u32| match bytes {
        8 => Argument::Pointer { buffer, offset: 0 },
        n => Argument::Scalar([64, 0, 0, 0].into_iter().chain(std::iter::repeat(0)).take(n as usize).collect()),
    };
    let cluster = function.required_cluster.unwrap_or([1, 1, 1]);
    let launch = Launch {
        grid: [cluster[0].saturating_mul(2), cluster[1], cluster[2]],
        block: function.required_block.unwrap_or([64, 1, 1]),
        cluster,
        dynamic_shared: 4096,
        arguments: function.params.iter().map(|p| argument(p.bytes)).collect(),
    };
    (launch, memory)
}

/// Parses, decodes and runs the text; panics on what must never happen.
pub(crate) fn check(text: &str) {
    let lines = text.lines().count() as u32 + 1;
    let module = match emu::parse(text) {
        Ok(module) => module,
        Err(e) => return assert!((1..=lines).contains(&e.at.line), "not in the text: {e}"),
    };
    let program = match emu::decode(&module) {
        Ok(program) => program,
        Err(e) => return assert!(e.at.line <= lines, "not in the text: {e}"),
    };
    let run = |kernel: &str, launch: &Launch, memory: &mut Memory, landing: Landing| {
        let options = Options { seed: text.len() as u64, landing, max_steps: 5000, ..Options::default() };
        let done = emu::run(&program, kernel, launch, memory, &options);
        let (outcome, last) = done.map_or_else(|f| (f.before, Some(f.finding)), |outcome| (outcome, None));
        outcome.findings.iter().chain(&last).for_each(|f| assert!(!f.text().is_empty()));
    };
    if let Some((kernel, launch, mut memory)) = described(text)
        && let Some(kernel) = kernel.or_else(|| program.kernels.keys().next().cloned())
    {
        run(&kernel, &launch, &mut memory, Landing::Random);
    }
    for (kernel, landing) in program.kernels.keys().zip([Landing::Late, Landing::Early, Landing::Random]) {
        let (launch, mut memory) = simple(&program, kernel);
        run(kernel, &launch, &mut memory, landing);
    }
}
