//! The command line as clap sees it. A test checks `docs/cli.md` against these definitions.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ttc::backend;
use ttc::cache::size;
use ttc::driver::Pipelining;
use ttc::driver::request::ConfigChoice;
use ttc::interp::{self, MAX_LINES};
use ttc::ir::MAX_OPS;
use ttc::irgen::TypeRule;

/// An ahead-of-time compiler for GPU kernels in the Triton language.
///
/// `ttc FILE` is short for `ttc compile FILE`.
#[derive(Parser, Debug)]
#[command(name = "ttc", version, disable_help_subcommand = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) messages: Messages,
}

/// How messages are shown.
#[derive(Args, Debug, Clone, Copy, Default)]
pub(crate) struct Messages {
    /// Form of messages on stderr
    #[arg(long, global = true, value_enum, default_value_t = ErrorFormat::Human, help_heading = "Messages")]
    pub(crate) error_format: ErrorFormat,
    /// When to colour messages; `auto` looks at the terminal and at NO_COLOR
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Messages")]
    pub(crate) color: Color,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ErrorFormat {
    #[default]
    /// The source line with carets, notes and help
    Human,
    /// One line each: `file:line:col: error[CODE]: message`
    Short,
    /// One JSON object a line
    Json,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Compile kernels to cubins, or to any stage on the way
    Compile(Compile),
    /// Build what a manifest names: kernels for several architectures, launchers, fat binaries
    Build(Build),
    /// Run passes over an IR file, as triton-opt does
    #[command(disable_help_flag = true)]
    Opt {
        /// `ttc opt FILE --PASS[=OPTIONS]… [-o OUT]`; `ttc opt --help` lists the passes
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Run a kernel on the CPU and find its faults
    Interpret(Interpret),
    /// Run PTX on the CPU, with detectors of races
    Emulate(Emulate),
    /// Run a kernel on the GPU
    Run(Run),
    /// Measure a kernel on the GPU
    Bench(Bench),
    /// Find a kernel's best configuration on the GPU
    Tune(Tune),
    /// Check kernel files without compiling them: syntax, names, and types where the parameters are known
    Check(Check),
    /// List the kernels of a file, their parameters, and what each still needs
    List(List),
    /// Show a kernel in all its stages, with their lines linked, as a page for a browser
    Report(ReportPage),
    /// Talk to an editor about kernel files and IR, in the Language Server Protocol
    Lsp,
    /// Show who holds what in a layout, or how one layout is converted to another
    Layout(Layout),
    /// Show the cache of compilations, or make it smaller
    Cache {
        #[command(subcommand)]
        command: CacheCommand,
    },
    /// Explain a diagnostic code; without one, list them all
    Explain {
        /// A code as a message has it: `E0216`, or `216`
        code: Option<String>,
    },
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page of ttc, or of one of its commands
    Man { command: Option<String> },
}

/// What to do with the cache.
#[derive(Subcommand, Debug)]
pub(crate) enum CacheCommand {
    /// Print the folder of the cache
    Path,
    /// Print how much the cache holds, and how often it had what was asked for
    Stats {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove what killed processes have left, and the entries that were not read for the longest time
    Gc {
        /// How many bytes may be left, or with K, M, G [default: TTC_CACHE_SIZE, or 5G]
        #[arg(long, value_name = "SIZE", value_parser = size)]
        max_size: Option<u64>,
        /// Read every entry, and remove those that are damaged
        #[arg(long)]
        check: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove every entry
    Clear {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// The choice of a kernel and its parameters.
#[derive(Args, Debug, Clone)]
pub(crate) struct KernelArgs {
    /// Kernel files (.tk, .py), case files (.toml), IR (.ttir, .ttgir), LLVM IR (.llir) or PTX (.ptx); `-` is a kernel
    /// file on stdin
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The kernel to compile, or several; needed when the file holds several
    #[arg(short, long)]
    pub(crate) kernel: Vec<String>,
    /// Types of all parameters, as Triton's ahead-of-time tool takes them: `*fp32:16, i32, 1024`; several make variants
    #[arg(long, value_name = "TYPES", allow_hyphen_values = true)]
    pub(crate) signature: Vec<String>,
    /// A specialisation by name, with types, values and options of its own: `f16: *_ptr=*fp16:16, BLOCK=128`
    #[arg(long, value_name = "NAME: …")]
    pub(crate) variant: Vec<String>,
    /// A parameter of a case file, instead of its first value
    #[arg(long, value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) param: Vec<(String, String)>,
    /// Type of the parameters of this name; `*` and `?` in it stand for any text and any character: `stride_*=i32:16`
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = typed)]
    pub(crate) types: Vec<TypeRule>,
    /// Value of a constexpr parameter, or of a name of the file: a literal, a dtype, a tuple, or a jit function's name
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) define: Vec<(String, String)>,
    /// Where to look for imported kernel files
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
    /// Target architectures, separated by commas [default: what a stage file was made for, else sm_90a]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
    /// A configuration of `@triton.autotune` by its number, or `all`; other options win over what it says
    #[arg(long, value_name = "N|all", value_parser = config_choice)]
    pub(crate) config: Option<ConfigChoice>,
    /// Warps per block: a power of two up to 32 [default: the configuration's, or 4]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_warps: Option<u32>,
    /// Stages of software pipelining [default: the configuration's, or 3]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_stages: Option<u32>,
    /// Blocks per cluster [default: the configuration's, or 1]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_ctas: Option<u32>,
    #[arg(long, help = Pipelining::HELP, value_name = "LIST", value_parser = Pipelining::parse)]
    pub(crate) pipeline: Option<Pipelining>,
    /// M and N of the matrix instructions: 16 or 32 [default: the configuration's, or by the product's size]
    #[arg(long, value_name = "N", help_heading = "AMD")]
    pub(crate) matrix_instr_nonkdim: Option<u32>,
    /// How many matrix instructions' elements a lane reads from shared memory at once: 1 or 2
    #[arg(long, value_name = "N", help_heading = "AMD")]
    pub(crate) kpack: Option<u32>,
    /// How many warps are to fit on a SIMD unit
    #[arg(long, value_name = "N", help_heading = "AMD")]
    pub(crate) waves_per_eu: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// Kernel files (.tk, .py)
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The kernels to list [default: all]
    #[arg(short, long)]
    pub(crate) kernel: Vec<String>,
    /// Print the list as JSON, a line for each kernel
    #[arg(long, conflicts_with = "template")]
    pub(crate) json: bool,
    /// Print a table for the manifest of `ttc build` for each kernel, with guesses to correct
    #[arg(long, conflicts_with_all = ["json", "template"])]
    pub(crate) manifest: bool,
    /// Print a command and a case file for each kernel, with guesses to correct
    #[arg(long)]
    pub(crate) template: bool,
    /// Where to look for imported kernel files
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Layout {
    /// `LAYOUT SHAPE`, or `FROM TO SHAPE` for a conversion: `'#ttg.blocked<{…}>' 32x64xf16`
    #[arg(required = true, num_args = 2..=3, value_names = ["LAYOUT", "SHAPE"])]
    pub(crate) args: Vec<String>,
    /// Draw the layout into a file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// The GPU that a conversion is for
    #[arg(long, value_name = "NAME", default_value = "sm_90a")]
    pub(crate) arch: String,
}

#[derive(Args, Debug)]
pub(crate) struct ReportPage {
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// What to show beside it: a GPU (`sm_80`), options, values and types (`num_warps=8, BLOCK=64`; `config=2`), or a
    /// folder with the stages that a compiler left
    #[arg(long, value_name = "WHAT")]
    pub(crate) against: Option<String>,
    /// The file to write
    #[arg(short, long, default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// The ptxas to use
    #[arg(long, value_name = "PATH", help_heading = "Tools")]
    pub(crate) ptxas: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// Stop after parsing
    #[arg(long)]
    pub(crate) syntax_only: bool,
}

/// What to launch, and what to do with its buffers.
#[derive(Args, Debug, Clone)]
#[command(group(clap::ArgGroup::new("compared").multiple(true)))]
pub(crate) struct Launched {
    /// A kernel file (.tk, .py), a case file (.toml) or TTIR (.ttir); `ttc run` also takes a cubin with its .json
    /// beside it
    pub(crate) file: PathBuf,
    /// The kernel to run; needed when the file holds several
    #[arg(short, long)]
    pub(crate) kernel: Option<String>,
    /// Programs of the launch, up to three numbers [default: the case file's, or 1]
    #[arg(long, value_name = "X,Y,Z", value_parser = triple)]
    pub(crate) grid: Option<[u32; 3]>,
    /// An argument: a NumPy file (`x=@x.npy`), a buffer to be written (`y=fp32[1000]`) or filled (`x=normal(1000)`), a
    /// number (`n=1000`), None
    #[arg(long, value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) arg: Vec<(String, String)>,
    /// Write an argument's buffer to a NumPy file after the run: `y=y.npy`; the name may be left out where one is the
    /// output
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) out: Vec<String>,
    /// Compare an argument's buffer with a NumPy file after the run: `y=ref.npy`; the name may be left out where one is
    /// the output
    #[arg(long, value_name = "[NAME=]FILE", group = "compared")]
    pub(crate) expect: Vec<String>,
    /// How far an element may be from the expected one, relative where that is above 1 [default: the case file's, or 0]
    #[arg(long, value_name = "X", requires = "compared")]
    pub(crate) tolerance: Option<f64>,
    /// A parameter of the case file, instead of its first value
    #[arg(long, value_name = "NAME=VALUE", value_parser = define, conflicts_with = "arg")]
    pub(crate) param: Vec<(String, String)>,
    /// Types of all parameters, as for `compile`
    #[arg(long, value_name = "TYPES", allow_hyphen_values = true)]
    pub(crate) signature: Option<String>,
    /// Type of the parameters of this name, as for `compile`
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = typed)]
    pub(crate) types: Vec<TypeRule>,
    /// Value of a constexpr parameter, as for `compile`
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) define: Vec<(String, String)>,
    /// A configuration of `@triton.autotune` by its number
    #[arg(long, value_name = "N")]
    pub(crate) config: Option<usize>,
    /// Where to look for imported kernel files
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
    /// Keep `assert` and `tl.device_assert`, and check integers for overflow, as Triton's debug mode does
    #[arg(long)]
    pub(crate) debug: bool,
    /// Memory that buffers, values and checks may take on the host: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = size)]
    pub(crate) max_memory: u64,
}

/// Without `--arg`, the case file (.toml) beside the kernel says what to run.
#[derive(Args, Debug)]
pub(crate) struct Interpret {
    #[command(flatten)]
    pub(crate) launch: Launched,
    /// Faults to look for, separated by commas
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "races,bounds,uninit,undefined,promises"
    )]
    pub(crate) check: Vec<Looked>,
    /// How many faults to look for, at different places; after one, the run goes on where it can
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) max_faults: usize,
    /// Print the values that a source line computes, in one program
    #[arg(long, value_name = "[FILE:]LINE")]
    pub(crate) trace: Option<String>,
    /// The program that is traced
    #[arg(long, value_name = "X,Y,Z", default_value = "0,0,0", value_parser = triple_from_zero)]
    pub(crate) program: [u32; 3],
    /// Work after which a program counts as endless: operations, and one more for every 16 elements
    #[arg(long, value_name = "N", default_value_t = interp::MAX_OPS)]
    pub(crate) max_ops: u64,
    /// Seconds after which the run ends [default: none]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Lines that are shown of what the kernel prints, and of what is traced
    #[arg(long, value_name = "N", default_value_t = MAX_LINES)]
    pub(crate) max_lines: usize,
    /// How many threads to use [default: the number of cores]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// What to run: the kernel as the front end makes it, or the compiled code in the emulator
    #[arg(long, value_enum, default_value = "ttir")]
    pub(crate) stage: Interpreted,
    #[command(flatten)]
    pub(crate) compiled: Emulated,
}

/// What the compiled code is, and how it runs.
#[derive(Args, Debug, Clone)]
pub(crate) struct Emulated {
    /// The architecture to compile for
    #[arg(long, value_name = "NAME", default_value = "sm_90a", help_heading = "With --stage ptx")]
    pub(crate) arch: String,
    /// Write the PTX, the launch and the buffers into this folder, for `ttc emulate`
    #[arg(long, value_name = "DIR", help_heading = "With --stage ptx")]
    pub(crate) save_launch: Option<PathBuf>,
    #[arg(long, help = Pipelining::HELP, value_name = "LIST", value_parser = Pipelining::parse, help_heading = "With --stage ptx")]
    pub(crate) pipeline: Option<Pipelining>,
    #[command(flatten)]
    pub(crate) schedules: Schedules,
}

/// The order of warps, and the time at which asynchronous work lands.
#[derive(Args, Debug, Clone)]
pub(crate) struct Schedules {
    /// How many schedules to run, each with the next seed
    #[arg(long = "schedules", value_name = "N", default_value_t = 1, help_heading = "Schedules of the emulator")]
    pub(crate) count: u32,
    /// The seed of the first schedule
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Schedules of the emulator")]
    pub(crate) seed: u64,
    /// When copies and asynchronous products land [default: late, early and random in turn]
    #[arg(long, value_enum, help_heading = "Schedules of the emulator")]
    pub(crate) landing: Option<Landing>,
}

/// Which loads become copies by hardware.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tma {
    /// None
    Off,
    /// As `device`, where it was measured to be faster: in loops in which one product waits for another, and in those
    /// that compute the addresses of their operands
    Auto,
    /// Those of operands of matrix products in loops, with tensor descriptors that the kernel makes (sm_90a and later)
    Device,
    /// The same, with tensor maps that the launch makes of the other arguments and passes as hidden parameters (sm_90
    /// and later)
    Host,
}

impl From<Tma> for backend::Tma {
    fn from(tma: Tma) -> backend::Tma {
        match tma {
            Tma::Off => backend::Tma::Off,
            Tma::Auto => backend::Tma::Auto,
            Tma::Device => backend::Tma::Device,
            Tma::Host => backend::Tma::Host,
        }
    }
}

/// When asynchronous work lands.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Landing {
    /// When it is issued
    Early,
    /// When somebody waits for it
    Late,
    /// At any step between
    Random,
}

/// What `ttc interpret` runs.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interpreted {
    /// The kernel as TTIR
    Ttir,
    /// The kernel as PTX
    Ptx,
}

#[derive(Args, Debug)]
pub(crate) struct Emulate {
    /// A PTX file
    pub(crate) file: PathBuf,
    /// The launch: the grid, the buffers and the arguments, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) launch: PathBuf,
    #[command(flatten)]
    pub(crate) schedules: Schedules,
    /// How many schedules to run at once [default: the number of cores]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Write down the steps of one warp of block X,Y,Z
    #[arg(long, value_name = "X,Y,Z:WARP", value_parser = block_and_warp)]
    pub(crate) trace: Option<([u32; 3], u32)>,
    /// Write what a buffer holds after the last schedule into a file, as bytes
    #[arg(long, value_name = "BUFFER=FILE")]
    pub(crate) out: Vec<String>,
    /// Do not look for races and reads of unwritten memory
    #[arg(long)]
    pub(crate) no_check: bool,
    /// How many findings to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) max_faults: usize,
    /// Steps of warps after which the launch counts as endless
    #[arg(long, value_name = "N", default_value_t = 1 << 32)]
    pub(crate) max_ops: u64,
    /// Lines of the trace that are kept
    #[arg(long, value_name = "N", default_value_t = MAX_LINES)]
    pub(crate) max_lines: usize,
}

/// The GPU, and how kernels are compiled for it.
#[derive(Args, Debug, Clone)]
pub(crate) struct OnGpu {
    /// The GPU by its number, from 0
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "GPU")]
    pub(crate) device: usize,
    /// The architecture to compile for [default: the one that has all instructions of the GPU]
    #[arg(long, value_name = "NAME", help_heading = "GPU")]
    pub(crate) arch: Option<String>,
    /// The ptxas to use
    #[arg(long, value_name = "PATH", help_heading = "Tools")]
    pub(crate) ptxas: Option<PathBuf>,
}

/// Without `--arg`, the case file (.toml) beside the kernel says what to run.
#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) launch: Launched,
    /// Compare all results with what the interpreter computes
    #[arg(long, value_enum, group = "compared")]
    pub(crate) check: Option<Against>,
    /// Run this cubin, with its .json beside it, instead of compiling the kernel
    #[arg(long, value_name = "FILE")]
    pub(crate) cubin: Option<PathBuf>,
    /// Warps per block: a power of two up to 32 [default: the case's, or 4]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_warps: Option<u32>,
    /// Stages of software pipelining [default: the case's, or 3]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_stages: Option<u32>,
    /// Blocks per cluster [default: the case's, or 1]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_ctas: Option<u32>,
    #[arg(long, help = Pipelining::HELP, value_name = "LIST", value_parser = Pipelining::parse)]
    pub(crate) pipeline: Option<Pipelining>,
    /// Registers a thread may use
    #[arg(long, value_name = "N")]
    pub(crate) maxnreg: Option<u32>,
    #[command(flatten)]
    pub(crate) gpu: OnGpu,
}

/// How launches are measured.
#[derive(Args, Debug, Clone)]
pub(crate) struct Measured {
    /// Value of a constexpr parameter, instead of the case's
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) define: Vec<(String, String)>,
    /// A parameter of the case file, instead of its values
    #[arg(long, value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) param: Vec<(String, String)>,
    /// Values of a parameter, each of which is measured: `n=1024,4096`; without values, those that the case lists
    #[arg(long, value_name = "NAME[=VALUES]")]
    pub(crate) sweep: Vec<String>,
    /// The kernel; needed when the file holds several
    #[arg(short, long)]
    pub(crate) kernel: Option<String>,
    /// Where to look for imported kernel files
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
    /// How long to launch before measuring: `25ms`, `1s`
    #[arg(long, value_name = "TIME", default_value = "25ms", value_parser = milliseconds)]
    pub(crate) warmup: f64,
    /// How long to measure a kernel
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = milliseconds)]
    pub(crate) rep: f64,
    /// Memory that buffers may take on the host: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", default_value = "8G", value_parser = size)]
    pub(crate) max_memory: u64,
    /// How many kernels to compile at once [default: the number of cores]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) gpu: OnGpu,
}

/// The case says the arguments, and its table `[bench]` what is measured.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Case files (.toml), or kernel files with a case beside them
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) measured: Measured,
    /// Compare with an earlier measurement (.json of `--json`), or with a cubin of another compiler, which is measured
    /// in the same run
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Vec<PathBuf>,
    /// Warps per block [default: the case's, or 4]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_warps: Option<u32>,
    /// Stages of software pipelining [default: the case's, or 3]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_stages: Option<u32>,
    /// Blocks per cluster [default: the case's, or 1]
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    pub(crate) num_ctas: Option<u32>,
    #[arg(long, help = Pipelining::HELP, value_name = "LIST", value_parser = Pipelining::parse)]
    pub(crate) pipeline: Option<Pipelining>,
    /// Registers a thread may use
    #[arg(long, value_name = "N")]
    pub(crate) maxnreg: Option<u32>,
    /// Write the measurement to a JSON file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the measurement over the first parameter that is swept
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    /// What the picture shows [default: TFLOP/s if the case says `flops`, else TB/s, else microseconds]
    #[arg(long, value_enum, requires = "svg", help_heading = "Output")]
    pub(crate) plot: Option<Plotted>,
}

/// The configurations are those of `--space`, or those of `[tune]` in the case and of `@triton.autotune` in the kernel.
#[derive(Args, Debug)]
pub(crate) struct Tune {
    /// A case file (.toml), or a kernel file (.tk, .py)
    pub(crate) file: PathBuf,
    /// The case of a kernel file [default: the one beside it]
    #[arg(long, value_name = "FILE")]
    pub(crate) case: Option<PathBuf>,
    /// Values of compile-time parameters and options, of which every combination is tried: "BLOCK_M=64,128
    /// num_warps=4,8"
    #[arg(long, value_name = "NAME=VALUES …")]
    pub(crate) space: Option<String>,
    /// Leave out code that spills more bytes than this
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    pub(crate) max_spills: u32,
    /// The lock file that keeps the best configuration
    #[arg(long, value_name = "FILE", default_value = ttc::gpu::lock::NAME)]
    pub(crate) lock: PathBuf,
    /// Write no lock file
    #[arg(long, conflicts_with = "lock")]
    pub(crate) no_lock: bool,
    #[command(flatten)]
    pub(crate) measured: Measured,
}

/// What a picture shows.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plotted {
    /// Floating-point operations
    Tflops,
    /// Bytes that a launch has to move
    Tbps,
    /// Median times in microseconds
    Us,
}

/// What the results of a run are compared with.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Against {
    /// The interpreter's results on the same arguments
    Interpret,
}

/// A kind of fault that `--check` can name.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Looked {
    /// Programs that touch the same address without an order
    Races,
    /// Accesses outside of a buffer
    Bounds,
    /// Reads of memory that nobody has written
    Uninit,
    /// Uses of elements that a masked load without `other` left out
    Undefined,
    /// `tl.multiple_of`, `tl.max_contiguous`, `tl.max_constancy` and `tl.assume` that do not hold
    Promises,
    /// Operations that make a NaN or an infinity
    Nan,
    /// All of these
    All,
    /// Nothing
    None,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum YesNo {
    Yes,
    No,
}

#[derive(Args, Debug)]
pub(crate) struct Compile {
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// Registers a thread may use
    #[arg(long, value_name = "N")]
    pub(crate) maxnreg: Option<u32>,
    /// Do not contract a * b + c into one rounding
    #[arg(long)]
    pub(crate) no_fp_fusion: bool,
    /// Which loads of tiles become copies by hardware (TMA)
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Tma::Auto)]
    pub(crate) tma: Tma,
    /// Compile once, without other attempts where registers spill or keep a block off a multiprocessor
    #[arg(long)]
    pub(crate) no_retry: bool,
    /// Leave line tables out of PTX and cubin
    #[arg(long)]
    pub(crate) no_line_info: bool,
    /// How many programs a launch has, over arguments and constants: "cdiv(n, BLOCK), 2", or "softmax=rows" for one
    /// kernel of several
    #[arg(long, value_name = "[KERNEL=]EXPRS")]
    pub(crate) grid: Vec<String>,
    /// Append the two hidden pointer parameters that Triton's launcher passes
    #[arg(long)]
    pub(crate) triton_abi: bool,
    /// The kernel's name in PTX, cubin and metadata; {kernel}, {variant}, {config} and {arch} stand for what differs
    #[arg(long, value_name = "NAME")]
    pub(crate) symbol: Option<String>,
    /// Keep `assert` and `tl.device_assert`, and check integers for overflow, as Triton's debug mode does
    #[arg(long)]
    pub(crate) debug: bool,
    /// What to make, separated by commas: the stages ttir, ttgir, llir, ptx, cubin, sass, and launchers in c or rust
    /// [default: by the extension of -o, else cubin]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Output")]
    pub(crate) emit: Vec<String>,
    /// Output file; `-` is stdout. Without it, text goes to stdout and a cubin to KERNEL.cubin in the current directory
    #[arg(short, value_name = "PATH", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Directory for the outputs, named KERNEL[.VARIANT][.N][.ARCH].KIND: with variants, with `--config all`, with
    /// several architectures
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with = "output")]
    pub(crate) out_dir: Option<PathBuf>,
    /// Name of the files of launchers: NAME.h and NAME.c [default: the input's name]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) module: Option<String>,
    /// Whether launchers hold the cubins; otherwise these lie beside them and are read when a kernel is loaded
    #[arg(long, value_enum, value_name = "YES|NO", default_value_t = YesNo::Yes, help_heading = "Output")]
    pub(crate) embed: YesNo,
    /// In locations and line tables, replace the prefix FROM of file names by TO; the last that fits wins
    #[arg(long, value_name = "FROM=TO", value_parser = remap, help_heading = "Output")]
    pub(crate) remap_path_prefix: Vec<(String, String)>,
    /// Leave `loc(…)` out of IR text
    #[arg(long, help_heading = "Output")]
    pub(crate) no_locations: bool,
    /// Print a table of time per stage, registers, shared memory, spills and sizes
    #[arg(long, help_heading = "Output")]
    pub(crate) summary: bool,
    /// How many jobs to run at once [default: the number of cores]
    #[arg(short, long, value_name = "N", help_heading = "Output")]
    pub(crate) jobs: Option<usize>,
    /// Operations that a kernel may grow to before it counts as endless; statements and values at compile time are
    /// bounded in proportion
    #[arg(long, value_name = "N", default_value_t = MAX_OPS)]
    pub(crate) max_ops: usize,
    /// Take what was compiled before from the cache, and keep what is compiled now, unless TTC_CACHE is 0
    #[arg(long, help_heading = "Cache")]
    pub(crate) cache: bool,
    /// Print the key of each kernel instead of compiling it: its folder in TTC_OVERRIDE_DIR
    #[arg(long, help_heading = "Cache")]
    pub(crate) print_key: bool,
    /// The ptxas to use
    #[arg(long, value_name = "PATH", help_heading = "Tools")]
    pub(crate) ptxas: Option<PathBuf>,
    /// Seconds that ptxas may take for a kernel; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, help_heading = "Tools")]
    pub(crate) ptxas_timeout: u64,
    /// Say what keeps the kernel from being faster, separated by commas: vectorize, layout, shared, spill, dot,
    /// pipeline, tma, order, or all
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Messages")]
    pub(crate) remarks: Vec<String>,
    #[command(flatten)]
    pub(crate) debugging: Debugging,
}

/// Only what has changed is made again.
#[derive(Args, Debug)]
pub(crate) struct Build {
    /// The manifest, or the folder that it lies in
    #[arg(default_value = "ttc.toml")]
    pub(crate) manifest: PathBuf,
    /// Directory for the outputs, instead of the manifest's
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: Option<PathBuf>,
    /// The kernels of the manifest to compile; launchers and fat binaries are left as they are
    #[arg(short, long)]
    pub(crate) kernel: Vec<String>,
    /// Target architectures, separated by commas, instead of the manifest's
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
    /// What to make, separated by commas, instead of the manifest's `emit`
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) emit: Vec<String>,
    /// The name of launchers, index and dependencies, instead of the manifest's `module`
    #[arg(long, value_name = "NAME")]
    pub(crate) module: Option<String>,
    /// Say what would be made and why, and make nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Compile without the cache, as TTC_CACHE=0 does
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Write MODULE.d, which tells make and ninja what was read
    #[arg(long = "MD")]
    pub(crate) depfile: bool,
    /// How many kernels to compile at once [default: the number of cores]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// The ptxas to use
    #[arg(long, value_name = "PATH", help_heading = "Tools")]
    pub(crate) ptxas: Option<PathBuf>,
    /// Seconds that ptxas may take for a kernel; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, help_heading = "Tools")]
    pub(crate) ptxas_timeout: u64,
}

/// Options that show what happens in the pipeline.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Debugging {
    /// Print the IR before a pass, or before every pass, to stderr
    #[arg(
        long,
        value_name = "PASS",
        num_args = 0..=1,
        default_missing_value = "all",
        require_equals = true,
        help_heading = "Debugging"
    )]
    pub(crate) print_ir_before: Option<String>,
    /// Print the IR after a pass, or after every pass, to stderr
    #[arg(
        long,
        value_name = "PASS",
        num_args = 0..=1,
        default_missing_value = "all",
        require_equals = true,
        help_heading = "Debugging"
    )]
    pub(crate) print_ir_after: Option<String>,
    /// Print the IR after every pass that changed it, to stderr
    #[arg(long, help_heading = "Debugging")]
    pub(crate) print_ir_after_change: bool,
    /// Write the IR after every pass to a directory
    #[arg(long, value_name = "DIR", help_heading = "Debugging")]
    pub(crate) dump_dir: Option<PathBuf>,
    /// Print the time of every pass to stderr
    #[arg(long, help_heading = "Debugging")]
    pub(crate) time_passes: bool,
    /// Do not verify the IR after every pass
    #[arg(long, help_heading = "Debugging")]
    pub(crate) no_verify_each: bool,
}

fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("expected NAME=VALUE, for example `{text}=128`"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn typed(text: &str) -> Result<TypeRule, String> {
    match text.split_once('=') {
        Some((name, ty)) if !name.trim().is_empty() && !ty.trim().is_empty() => {
            Ok(TypeRule::new(name.trim(), ty.trim()))
        }
        _ => Err("expected NAME=TYPE, for example `x_ptr=*fp32:16` or `stride_*=i32`".to_owned()),
    }
}

fn remap(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.rsplit_once('=').ok_or_else(|| format!("expected FROM=TO, for example `{text}=/src`"))?;
    Ok((from.to_owned(), to.to_owned()))
}

pub(crate) fn config_choice(text: &str) -> Result<ConfigChoice, String> {
    match text.trim() {
        "all" => Ok(ConfigChoice::All),
        n => n.parse().map(ConfigChoice::One).map_err(|_| "expected a number, or `all`".to_owned()),
    }
}

fn numbers(text: &str, missing: u32) -> Result<[u32; 3], String> {
    let parts: Option<Vec<u32>> = text.split(',').map(|p| p.trim().parse().ok()).collect();
    let mut out = [missing; 3];
    match parts {
        Some(p) if (1..=3).contains(&p.len()) => {
            out[..p.len()].copy_from_slice(&p);
            Ok(out)
        }
        _ => Err("expected one to three numbers, for example `4,1,1`".to_owned()),
    }
}

/// Reads a time in milliseconds: `25ms`, `1s`, `500us`, `25`.
fn milliseconds(text: &str) -> Result<f64, String> {
    let (number, scale) = ["us", "ms", "s", ""]
        .iter()
        .zip([1e-3, 1.0, 1e3, 1.0])
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))
        .unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value * scale),
        _ => Err("expected a time such as 25ms".to_owned()),
    }
}

fn whole(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "expected a whole number, not a negative one".to_owned())
}

fn triple(text: &str) -> Result<[u32; 3], String> {
    numbers(text, 1)
        .and_then(|g| if g.contains(&0) { Err("a grid of 0 programs runs nothing".to_owned()) } else { Ok(g) })
}

/// `0,0,0:1`, or a warp alone, of block 0.
fn block_and_warp(text: &str) -> Result<([u32; 3], u32), String> {
    let (block, warp) = text.split_once(':').unwrap_or(("0,0,0", text));
    Ok((triple_from_zero(block)?, warp.parse().map_err(|_| format!("`{warp}` is no number of a warp"))?))
}

fn triple_from_zero(text: &str) -> Result<[u32; 3], String> {
    numbers(text, 0)
}
