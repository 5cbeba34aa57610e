# The entry points of the repository. `make demo` and `make test` install what they need first (scripts/toolchain.sh), once.

# Rust's installer puts cargo here without every shell's PATH knowing.
CARGO ?= $(shell command -v cargo || echo "$$HOME/.cargo/bin/cargo")
OUT := out
TTC := target/release/ttc

.PHONY: help toolchain build install dist demo examples test docs editors vscode-host report-test lsp-latency lsp-random python-test oracle wild wild-amd emulate emulate-faults gpu-faults emulate-triton emulate-wild emulate-amd gpu-bench gpu-cases cache-stress cache-remote-test fmt clippy clean-out
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

toolchain: ## Rust and LLVM from the system's packages, ptxas and libdevice into .toolchain; nothing is fetched twice
	@scripts/toolchain.sh

build: toolchain ## the release binary
	$(CARGO) build --release --locked

demo: build ## compile kernels/add.tk for two GPUs and print time per stage, registers, shared memory, spills and sizes
	$(TTC) compile kernels/add.tk --arch sm_80,sm_90a --out-dir $(OUT)/demo --summary

examples: build ## build the C programs of examples/c, which need no CUDA to build
	$(MAKE) -C examples/c TTC=$(CURDIR)/$(TTC)

PREFIX ?= /usr/local
# Everything that an installation has, laid out under DESTDIR; see scripts/dist.sh.
install: build ## install ttc, its manual pages and completions into PREFIX (/usr/local); DESTDIR is put before it
	scripts/dist.sh install "$(TTC)" "$(DESTDIR)$(PREFIX)"

dist: build ## out/dist: a tarball that runs anywhere on this kind of machine, and a Debian package
	scripts/dist.sh packages "$(TTC)" $(OUT)/dist

test: toolchain ## all tests; none is skipped for want of a tool
	TTC_TEST_TOOLS=1 $(CARGO) test --locked
	$(CARGO) test --locked -p ttc-rt -p ttc-build -p ttc-emu -p ttc-float
	$(CARGO) check --locked -p ttc-rt --features cudarc,half,cudarc/cuda-12080
	TTC=$(CURDIR)/target/debug/ttc $(CARGO) build --locked --manifest-path examples/rust/Cargo.toml --target-dir target/examples-rust

editors: toolchain ## the language server in Neovim (a scripted session), and the VS Code extension: compiled, tested, packaged to out/ttc.vsix
	$(CARGO) build --locked
	TTC=$(CURDIR)/target/debug/ttc scripts/editors.sh $(OUT)

vscode-host: toolchain ## the VS Code extension in VS Code's own extension host: a scripted session; needs Chromium
	$(CARGO) build --locked
	TTC=$(CURDIR)/target/debug/ttc scripts/vscode_host.sh

docs: ## the book of docs/ with mdBook: out/book/index.html
	CARGO=$(CARGO) scripts/book.sh $(OUT)

report-test: toolchain ## the page of `ttc report` in Chromium without a screen: lines marked as the data say, no error on the console
	$(CARGO) build --locked
	TTC=$(CURDIR)/target/debug/ttc scripts/report/test.sh $(OUT)/report

lsp-latency: build ## how long the language server takes after a key in a file of 1,000 lines, as a table
	TTC_LSP_PROGRAM=$(CURDIR)/$(TTC) $(CARGO) test --locked --test main lsp::latency -- --ignored --nocapture

# EDITS: how many.
EDITS := 10000
lsp-random: toolchain ## random edits in the language server: no crash, no stale diagnostic
	TTC_LSP_EDITS=$(EDITS) $(CARGO) test --locked --test main lsp::random

# The Triton of `make python-test`: 3.6.0 to 3.9.0.
TRITON := 3.9.0
python-test: build .python/$(TRITON)/bin/pytest ## tests of the Python package ttc_triton, under one release of Triton (TRITON=3.6.0); needs no GPU
	cd python && TTC=$(abspath $(TTC)) PYTHONPATH=src ../.python/$(TRITON)/bin/pytest -q $(PYTHON_TESTS)

.python/%/bin/pytest:
	python3 -m venv .python/$*
	.python/$*/bin/pip install -q triton==$* pytest

DUMPS := $(OUT)/oracle
oracle: build .oracle/bin/python ## compare kernels/ with Triton 3.9, op for op, and each TTIR pass; needs no GPU. DUMPS=DIR: on the modules there too
	for arch in sm_80 sm_90a; do TRITON_DEFAULT_FP_FUSION=1 .oracle/bin/python scripts/oracle/compare.py $(TTC) kernels/*.tk --arch $$arch --dumps $(OUT)/oracle || exit 1; done
	for dumps in $(sort $(OUT)/oracle $(DUMPS)); do .oracle/bin/python scripts/oracle/tables.py $(TTC) $$dumps || exit 1; done

.oracle/bin/python:
	python3 -m venv .oracle
	.oracle/bin/pip install -q triton==3.9.0 numpy

# LIST: kernels, an object a line; SRC: their repositories; LOAD: a Python file that imports kernel files (docs/testing.md).
wild: build .oracle/bin/python ## compile real kernels with ttc and with Triton 3.9 to out/wild: LIST=FILE SRC=DIR LOAD=FILE; race.py times them on a GPU
	.oracle/bin/python scripts/wild/build.py $(TTC) $(LIST) $(SRC) $(OUT)/wild --load $(LOAD)
	python3 scripts/wild/report.py --build $(OUT)/wild/results.jsonl

# HSACO: options of build.py, such as `--part 0/5`.
wild-amd: build .oracle/bin/python ## compile real kernels to code objects with ttc and with Triton 3.9: LIST=FILE SRC=DIR LOAD=FILE ARCH=gfx942
	.oracle/bin/python scripts/wild/build.py $(TTC) $(LIST) $(SRC) $(OUT)/wild-$(or $(ARCH),gfx942) --load $(LOAD) --arch $(or $(ARCH),gfx942) $(HSACO)

emulate: toolchain ## every configuration of kernels/ near the default, as PTX in the emulator; takes long. TTC_BLOCKS=2,4,8: on clusters
	TTC_SWEEP=1 $(CARGO) test --release --locked emulated -- --nocapture

# BENCH: the folder of the benchmark, with kernels.py and cases.py (docs/testing.md).
emulate-triton: build .oracle/bin/python ## run Triton's PTX of the benchmark's kernels in the emulator, against numpy: BENCH=DIR
	.oracle/bin/python scripts/emulator/triton_bench.py $(TTC) $(BENCH) $(OUT)/emulate-triton

# PTX: what another compiler made; PARAMS: what `make wild` wrote for ttc (docs/testing.md).
emulate-wild: build .oracle/bin/python ## run other compilers' PTX of real kernels in the emulator: PTX=DIR PARAMS=DIR
	.oracle/bin/python scripts/emulator/wild.py $(TTC) $(PTX) $(PARAMS) $(OUT)/emulate-wild --launches scripts/wild/launches.jsonl

# TINYGRAD: a folder of tinygrad's repository. AMD: processors. AMD_CASES: options of the example gpu_cases, such as `--only softmax --limit 3`.
AMD := gfx942 gfx950 gfx1100 gfx1201
AMD_CASES := --limit 5
emulate-amd: toolchain .oracle/bin/python ## run the cases of kernels/ for AMD's GPUs in tinygrad's emulator: TINYGRAD=DIR; needs clang on PATH; takes long
	for arch in $(AMD); do $(CARGO) run --release --locked --example gpu_cases -- $(OUT)/amd/$$arch --arch $$arch --no-interp $(AMD_CASES) || exit 1; \
		.oracle/bin/python scripts/amd/run_cases.py $(OUT)/amd/$$arch $(TINYGRAD) --json $(OUT)/amd/$$arch.json; done

emulate-faults: toolchain ## plant faults into all kernels: each must be found in the emulator, or not matter; takes long
	TTC_SWEEP=1 $(CARGO) test --release --locked planted_faults -- --nocapture

# FAULTS_CASES: a part of the names of the cases. FAULTS_EACH: the most faults of each kind in a kernel.
FAULTS_EACH := 2
gpu-faults: toolchain ## write planted faults with what the emulator says into out/gpu-faults, to run under compute-sanitizer where a GPU is
	rm -rf $(OUT)/faults
	TTC_FAULTS_OUT=$(abspath $(OUT)/faults) TTC_FAULTS_EACH=$(FAULTS_EACH) TTC_CASES=$(FAULTS_CASES) $(CARGO) test --release --locked planted_faults
	python3 scripts/gpu/planted_faults/assemble.py $(OUT)/faults $(OUT)/gpu-faults --ptxas .toolchain/nvidia/cu13/bin/ptxas

gpu-cases: toolchain ## compile every case of kernels/ and write out/gpu, which scripts/gpu/run_cases.py runs where a GPU is
	$(CARGO) run --release --locked --example gpu_cases -- $(OUT)/gpu $(GPU_CASES)

# GPU_BENCH: options of scripts/gpu/bench/build.py, such as `--only attention_bwd --variant "tma=--tma device"`.
gpu-bench: build .oracle/bin/python ## compile kernels/ at real sizes with ttc and with Triton 3.9 to out/gpu-bench, which scripts/gpu/bench/run.py checks and times
	.oracle/bin/python scripts/gpu/bench/build.py $(TTC) $(OUT)/gpu-bench --ptxas .toolchain/nvidia/cu13/bin/ptxas $(GPU_BENCH)
	cp scripts/gpu/bench/*.py $(OUT)/gpu-bench

# The processes of one machine, and how many of them are killed.
STRESS := --processes 64 --kill 20 --rounds 20
cache-stress: build ## 64 processes on one cache, 20 of them killed, 20 times; STRESS changes the numbers
	python3 scripts/cache_stress.py $(TTC) $(STRESS)

REMOTE_TTC := target/remote/release/ttc
$(REMOTE_TTC): toolchain
	CARGO_TARGET_DIR=target/remote $(CARGO) build --release --locked --features remote-cache

cache-remote-test: $(REMOTE_TTC) ## the cache with Redis, S3 and a folder behind it; needs redis-server and moto_server
	python3 scripts/cache_remote_test.py $(REMOTE_TTC)
	python3 scripts/cache_stress.py $(REMOTE_TTC) $(STRESS) --redis 16398

fmt: ## format the Rust sources
	$(CARGO) fmt --all

clippy: toolchain ## all lints, as errors
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings

clean-out: ## delete what the demo wrote
	rm -rf $(OUT)
