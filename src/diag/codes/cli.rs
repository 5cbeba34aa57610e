//! E09xx: files and the command line.

crate::diag::code::codes! {
    CANNOT_READ = "E0901", "a file cannot be read",
"The file named on the command line, or one that a kernel imports, does not exist or may not be read.

```text
$ ttc compile ad.tk
error[E0901]: cannot read `ad.tk`: No such file or directory
```

Check the name and the permissions. `-` reads a kernel file from standard input.";
    IS_DIRECTORY = "E0902", "a directory was named where a file is expected",
"`ttc compile kernels/` names a directory. Name the files in it instead: `ttc compile kernels/*.tk --out-dir out`.";
    TOO_LARGE = "E0903", "a file is too large to be a kernel",
"Files over 64 MiB are refused before they are read. Kernel files over 12 MiB, alone or with all that they import, are \
refused before they are parsed. No kernel is that long, but a file that was named by mistake (a tensor, a core dump) \
often is.";
    NOT_TEXT = "E0904", "a file is not text",
"Kernel files, IR, LLVM IR and PTX are UTF-8 text. The file holds a byte sequence that is not, so it was probably \
compiled (a `.cubin`, an object file) or compressed.";
    UNKNOWN_INPUT = "E0905", "the language of an input is not known",
"The extension says what an input is: `.tk` and `.py` are kernel files, `.toml` is a case file, `.ttir` and `.ttgir` \
are IR, `.llir` is LLVM IR, `.ptx` is PTX. Rename the file.";
    CANNOT_WRITE = "E0906", "an output cannot be written",
"The directory does not exist or may not be written, the disk is full, or the reader of a pipe is gone. Outputs are \
written to a temporary file and renamed, so no half file is left behind.";
    UNKNOWN_EMIT = "E0907", "unknown kind of output",
"`--emit` takes a list of `ttir`, `ttgir`, `llir`, `ptx`, `cubin`, `sass`, and `c` and `rust` for launchers. Without it, the extension of `-o` \
decides. Without either, a cubin is made.

```text
ttc compile add.tk --emit ttgir,ptx --out-dir out
```";
    OUTPUT_CONFLICT = "E0908", "several outputs for one path",
"`-o` names one file, but the request makes several: several kernels, architectures or kinds of output. Choose one \
kernel with `-k`, one `--arch`, one `--emit`, or give a directory with `--out-dir`.";
    EARLIER_STAGE = "E0909", "the input is already past this stage",
"A `.ptx` file cannot be turned back into TTGIR: an input enters the pipeline at its own stage and only later ones can \
be made from it.";
    BAD_OPTION = "E0910", "an option's value is out of its range",
"For example `--num-warps` must be a power of two from 1 to 32: a block has at most 1024 threads.";
    UNKNOWN_CODE = "E0911", "there is no such code",
"`ttc explain` takes a code as it stands in a message, such as `E0203`. `ttc explain` without one lists them all.";
    UNKNOWN_ARCH = "E0912", "unknown GPU architecture",
"`--arch` names a GPU that ttc has no table row for.

    ttc compile add.tk --arch sm_91

Write it as NVIDIA does (`sm_90a`), as a bare number (`90a`) or as Triton does (`cuda:90`, which means `sm_90a`, \
because Triton compiles for the accelerated variant from capability 90 on). Code for `sm_90` also runs on later GPUs \
of the same major number; code for `sm_90a` runs on that capability alone and may use all of its instructions. An AMD \
GPU is named by its processor, `gfx942`, or as Triton does, `hip:gfx942`.";
    NO_SUCH_KERNEL = "E0913", "an IR file holds no such kernel",
"A kernel of an IR file is a `tt.func public`. When there are several, `-k NAME` chooses one.

```text
ttc compile add.ttir -k ad_kernel
```";
    NOT_EXPECTED = "E0914", "diagnostics and expectations differ",
"With `ttc opt --verify-diagnostics` every diagnostic must be announced by a comment such as `// expected-error@+1 \
{{text}}`, and every comment must be met by a diagnostic on that line whose message contains the text.";
    BAD_LAYOUT = "E0915", "a layout cannot be shown",
"`ttc layout` takes one layout or two, as IR text has them, and then the shape of a tensor with its element type:

```text
ttc layout '#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>' 512xf16
```

Sizes are powers of two, at most 65536 elements are shown, and a layout has as many axes as the shape. A conversion is \
between two layouts of registers with equally many warps and blocks.";
    UNKNOWN_REMARKS = "E0916", "unknown kind of remarks",
"`--remarks` takes a list of `vectorize`, `layout`, `shared`, `spill`, `dot` and `pipeline`, or `all`:

```text
ttc compile softmax.tk --remarks vectorize,spill
```";
    NO_MEMORY = "E0917", "out of memory",
"The system gave ttc no more memory (`ulimit -v`, the limit of a container). ttc ends at once. Outputs that were \
written before are complete.

```text
ulimit -v 1000000; ttc compile large.tk
```

Give it more memory, or run fewer jobs at once (`-j 1`). How large a kernel may get is bounded by `--max-ops`: with a \
lower bound, ttc ends earlier and says which kernel it was.";
    WRONG_TARGET = "E0930", "a stage file was made for another GPU",
"TTGIR, LLVM IR and PTX are made for one architecture, and their text says which: `ttg.target`, \
`\"ttg.threads-per-warp\"`, the metadata line, `.target`. Without `--arch` ttc takes that one. Another one is refused, \
because layouts, buffers and barriers were planned for the first.

```text
ttc compile add.tk --arch sm_80 --emit ttgir -o add.ttgir
ttc compile add.ttgir --arch sm_90a -o add.cubin     # E0930
ttc compile add.ttgir -o add.cubin                   # for sm_80
```

`cuda:90` is `sm_90` as well as `sm_90a`. PTX for a baseline such as `sm_80` also assembles for every later \
architecture; PTX for a variant such as `sm_90a` assembles for that one alone. What to do: leave out `--arch`, or start from the kernel.";
    BAD_METADATA = "E0931", "a metadata line cannot be read",
"Every text that ttc writes ends in a comment `// ttc.metadata: {…}` (`;` in LLVM IR), which carries what the text \
itself cannot say: names of parameters, values of compile-time parameters, options. A compilation that starts from the \
text reads it.

What to do: if the line was changed by hand, undo that, or remove the line. What nobody knows then is `null` in the \
metadata.";
    NO_RESOURCES = "E0932", "the system gives no thread, file or process",
"ttc asked the system for a thread, an open file or a process, and it gave none: a limit of the shell (`ulimit -u`, \
`-n`, `-v`), of a container, or memory ran out. ttc goes on with fewer threads where it can; LLVM and ptxas need one \
each.

```text
$ ulimit -n 4; ttc compile add.tk
error[E0932]: the system has no file for ptxas: Too many open files
```

What to do: run fewer jobs at once (`-j 1`), or raise the limit.";
    USAGE_ERROR = "E0933", "the command line cannot be read",
"The command line has an option that does not exist, lacks a value, or has a word too many. `ttc COMMAND --help` shows \
what a command takes.

```text
$ ttc compile add.tk --num-wraps 8
error[E0933]: unexpected argument '--num-wraps' found
```";
    BAD_GRID = "E0934", "a grid cannot be computed from a kernel's arguments",
"`--grid` gives the number of programs along one, two or three axes, as expressions that a launcher evaluates. They \
have integers, names of integer arguments and of compile-time parameters, `+ - * // %`, `cdiv(a, b)`, `min` and `max`.

```text
$ ttc compile add.tk --grid 'cdiv(n, BLOK)'
error[E0934]: the grid of `add`: `BLOK` is neither an integer argument nor a constant of the kernel; did you mean `BLOCK`?
```

What to do: use the names of the kernel's parameters. A value that only the caller knows can be an argument of the \
launch itself: leave `--grid` out, and pass the grid.";
    NO_SUCH_STAGE = "E0935", "ttc does not make this stage for the architecture",
"Which stages there are depends on whose GPU is compiled for. For NVIDIA they are `ttir`, `ttgir`, `llir`, `ptx`, `cubin` \
and `sass`. For AMD's processors ttc makes `ttir` and `ttgir`; Triton can finish either of them.

```text
$ ttc compile add.tk --arch gfx942 --emit cubin
error[E0935]: ttc makes no cubin for gfx942: its stages are ttir, ttgir
```

What to do: ask for a stage that there is (`--emit ttgir`), or compile for another architecture.";
    NO_VARIANTS = "E0940", "compilations of one name are no variants of one kernel",
"Launchers (`--emit c`, `--emit rust`) hold all kernels of a run. Compilations of one kernel are its variants: a launch takes the \
first that the GPU runs and whose promises the arguments keep. So they must take the same arguments, and either their \
architectures or their promises must differ.

```text
$ ttc compile a/add.tk b/add.tk --emit c --out-dir out
error[E0940]: two compilations of `add` for sm_90a differ in nothing that is known at a launch, so the second would \
never be launched
```

What to do: give what differs otherwise a name of its own (`--symbol \"{kernel}_{variant}\"`), print launchers of \
their own with another `--module` or `--out-dir`, or rename a kernel.";
    NO_LAUNCH = "E0941", "it is not known how to launch a kernel",
"A launcher passes every parameter of the code, so it must know what each is. Kernel files say it, and what ttc writes \
carries it in its last line. LLVM IR and PTX of other compilers do not.

```text
$ ttc compile other.ptx --emit c --out-dir out
error[E0941]: it is not known how to launch `add`
```

What to do: start from the kernel, from TTIR or TTGIR, or from a file of ttc with its last line.";
    BAD_MANIFEST = "E0950", "a manifest cannot be used",
"`ttc build` reads a manifest, `ttc.toml`: a table `[build]` and a table `[kernel.NAME]` for each kernel. The message \
points at what is unknown in it, missing or of another kind.

```text
error[E0950]: unknown field `tpyes`, expected one of `file`, `function`, `signature`, `types`, …
 --> ttc.toml:6:1
```

What to do: correct it. docs/build.md lists the tables and what they may hold.";
    HOST_COMPILER = "E0951", "the C compiler made no object",
"`emit = [\"o\"]` prints launchers in C and has the C compiler of the host make an object of them. It is the one that the \
environment variable `CC` names, or `cc`.

```text
error[E0951]: cannot start the C compiler `cc`: No such file or directory
```

What to do: install one, or name it with `CC`; or take `c` instead of `o` and compile the source with your program.";
    BUILDING = "E0952", "what was built cannot be read again",
"`ttc build` keeps what it made in its output folder, and reads it when some of it is made anew. Files there are not to be \
changed.

What to do: remove the folder and build again.";
    CACHE_UNUSABLE = "E0960", "the cache cannot be used",
"A compilation was asked to use the cache, and the folder of the cache cannot be written: it belongs to somebody else, \
is on a disk that is full or may only be read, or no folder is known. This is a warning: the kernel was compiled all \
the same, and the next compilation takes as long.

```text
$ TTC_CACHE_DIR=/proc/cache ttc compile add.tk --cache
warning[E0960]: the cache `/proc/cache` cannot be written: No such file or directory
```

What to do: free space (`ttc cache gc --max-size 1G`), make the folder writable, or name another one with \
`TTC_CACHE_DIR`. `ttc cache path` says which folder is meant.";
    REMOTE_CACHE_UNUSABLE = "E0961", "the remote cache cannot be used",
"`TTC_CACHE_REMOTE` names a store behind the cache on disk, and it does not answer, refuses, or has an address that \
ttc cannot read. This is a warning: ttc asks the store no more in this run and compiles what is not on disk.

```text
$ TTC_CACHE_REMOTE=ftp://host ttc compile add.tk --cache
warning[E0961]: the remote cache `ftp://host` cannot be used: …
```

What to do: see that the server runs. An address begins with `redis://`, `rediss://`, `s3://` or `file:///`. A ttc \
that was built without the feature `remote-cache` knows no remote store.";
    STAGE_OVERRIDDEN = "E0962", "a stage was taken from a file",
"`TTC_OVERRIDE_DIR` names a folder with stages that take the place of those that ttc makes. This warning says that \
one was taken, so what was compiled is what the file says and not what the kernel says. It is never put into the cache.

What to do: if that is not meant, unset the variable or remove the file.";
    BAD_OVERRIDE = "E0963", "a stage cannot be taken from a file",
"`TTC_OVERRIDE_DIR` names a folder with stages that take the place of those that ttc makes: \
`FOLDER/KEY/KERNEL.ptx`, where `ttc compile --print-key` says the key. A text of one stage can take the place: TTIR, \
TTGIR, LLVM IR or PTX. A cubin cannot, because ttc would not know its registers and its shared memory.

What to do: keep one file of each stage in the folder, and change the PTX instead of the cubin.";
    LANGUAGE_SERVER = "E0964", "the language server cannot go on",
"`ttc lsp` reads messages of the Language Server Protocol from standard input and writes its answers to standard \
output. Something came in that is no such message, or the input ended before the client said goodbye.

What to do: let an editor start it; docs/editors.md has lines for VS Code, Neovim and Helix.";
    DEFECT = "E0999", "a defect in ttc",
"ttc failed in a way that no input should make it fail. The message names a reproducer file; please report it with \
that file.";
}

/// The codes that say that the command line itself is wrong: the exit code is 2.
pub static USAGE: &[&super::Code] = &[
    &UNKNOWN_EMIT,
    &OUTPUT_CONFLICT,
    &EARLIER_STAGE,
    &BAD_OPTION,
    &UNKNOWN_CODE,
    &UNKNOWN_ARCH,
    &BAD_LAYOUT,
    &UNKNOWN_REMARKS,
    &USAGE_ERROR,
    &NO_VARIANTS,
];
