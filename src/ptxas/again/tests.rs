//! When ptxas is asked again, and which answer is taken, for answers and machine code that are made up here.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::ptxas::tests::real;
use crate::ptxas::{AssembleOptions, FunctionUsage, Tool, assemble};

/// An answer of ptxas without machine code.
fn made(usage: Usage) -> Assembled {
    Assembled {
        cubin: vec![],
        ptx: None,
        functions: vec![FunctionUsage { name: String::new(), entry: true, usage }],
        settled: false,
        log: String::new(),
        time: Duration::ZERO,
        ptxas: PathBuf::new(),
    }
}

/// A branch back over so many instructions.
fn back(length: i128) -> u128 {
    let words = (-4 * (length + 1)).cast_unsigned();
    0x947 | 7 << 110 | 7 << 113 | (words & 0xff) << 16 | (words >> 8 & ((1 << 48) - 1)) << 34
}

#[test]
fn few_registers_and_spills_are_a_defeat() {
    let target = Target::parse("sm_90a").unwrap();
    let usage = |registers, spill_stores| Usage { registers, spill_stores, ..Usage::default() };
    let ptx = |directives: &str| format!(".visible .entry k()\n{directives}\n{{ ret; }}\n");
    assert!(gave_up(&usage(32, 8), &ptx(".reqntid 128"), &target));
    assert!(gave_up(&usage(32, 8), &ptx(".reqntid 16, 8, 1"), &target));
    assert!(!gave_up(&usage(32, 0), &ptx(".reqntid 128"), &target));
    assert!(!gave_up(&usage(255, 8), &ptx(".reqntid 128"), &target));
    assert!(gave_up(&usage(168, 8), &ptx(".reqntid 128"), &target));
    // 1024 threads share 64 registers each, and the author may want fewer.
    assert!(!gave_up(&usage(64, 8), &ptx(".reqntid 1024"), &target));
    assert!(!gave_up(&usage(32, 8), &ptx(".reqntid 128\n.maxnreg 32"), &target));
}

#[test]
fn blocks_are_kept_where_few_bytes_spill() {
    let target = Target::parse("sm_90a").unwrap();
    let answer = |registers, spill_loads| made(Usage { registers, spill_loads, ..Usage::default() });
    let ptx = ".visible .entry k()\n.reqntid 128\n{ ret; }\n";
    let keeps = |attempt, first, shared| keeps_blocks(attempt, &first, ptx, &target, Some(shared));
    assert_eq!(keeps(Attempt::Recover, answer(168, 56), 0), Some(Attempt::Keep(3)));
    assert_eq!(keeps(Attempt::Recover, answer(168, FEW + 8), 0), None);
    // Two blocks fill the shared memory.
    assert_eq!(keeps(Attempt::Recover, answer(168, 56), 100_000), Some(Attempt::Keep(2)));
    assert_eq!(keeps(Attempt::Limit, answer(168, 56), 0), None);
    assert!(Attempt::Keep(3).has_more_blocks_than(&answer(224, 0), ptx, &target));
    assert!(!Attempt::Keep(2).has_more_blocks_than(&answer(224, 0), ptx, &target));
    let is_better = |second| Attempt::Keep(3).is_better(&second, &answer(168, 56), ptx, &target);
    assert!(is_better(answer(168, 32)));
    assert!(!is_better(answer(168, 56)));
    assert!(!is_better(answer(176, 0)));
    let recovers = |second, first| Attempt::Recover.is_better(&second, &first, ptx, &target);
    assert!(!recovers(answer(224, 0), answer(168, 56)));
    assert!(recovers(answer(168, 0), answer(168, 56)));
    assert!(recovers(answer(224, 0), answer(168, FEW + 8)));
}

#[test]
fn the_last_block_but_one_is_kept() {
    let target = Target::parse("sm_90a").unwrap();
    let answer = |registers| made(Usage { registers, ..Usage::default() });
    let keeps = |second, first, threads: u32| {
        has_company(&answer(second), &answer(first), &format!(".reqntid {threads}\n"), &target)
    };
    assert!(keeps(64, 32, 512));
    assert!(!keeps(80, 32, 512));
    assert!(keeps(128, 80, 512));
}

#[test]
fn other_ptx_is_worth_a_run_if_fewer_registers_are_alive() {
    let ptx = |loads: usize| {
        let lines = |text: fn(usize) -> String| (0..loads).map(text).collect::<String>();
        lines(|i| format!("ld.global.b32 %r{i}, [%rd1];\n")) + &lines(|i| format!("st.global.b32 [%rd1], %r{i};\n"))
    };
    assert!(may_spill_less(&ptx(50), &ptx(100)));
    assert!(!may_spill_less(&ptx(97), &ptx(100)));
    assert!(!may_spill_less(&ptx(100), &ptx(100)));
}

#[test]
fn one_more_block_where_a_few_registers_make_room() {
    let target = Target::parse("sm_90a").unwrap();
    let usage = |registers| Usage { registers, ..Usage::default() };
    let ptx = |more: &str| format!(".visible .entry k()\n.reqntid 64\n{more}{{ mma.sync.aligned; ret; }}\n");
    let blocks = |registers, ptx: &str, shared| one_more_block(&usage(registers), ptx, &target, shared);
    // With 178 registers, which are 184 a thread, two warps fit on each of four parts: four blocks of two warps. A
    // fifth one needs three warps on two parts, so 168 registers.
    assert_eq!(blocks(178, &ptx(""), 0), Some(5));
    assert_eq!(blocks(178, &ptx(""), 40_000), Some(5));
    // Five blocks of 50,000 bytes do not fit.
    assert_eq!(blocks(178, &ptx(""), 50_000), None);
    // 168 of 218 registers are less than four fifths, though 65,536 registers are five blocks of 200 each.
    assert_eq!(blocks(218, &ptx(""), 0), None);
    // A third of the registers is too much.
    assert_eq!(blocks(255, &ptx("").replace("64", "256"), 0), None);
    // The author has said how many there may be.
    assert_eq!(blocks(178, &ptx(".maxnreg 200\n"), 0), None);
    assert_eq!(blocks(178, &ptx("").replace("mma.sync", "add"), 0), None);
    assert_eq!(blocks(178, &ptx("").replace("mma.sync", "shfl.sync.down"), 0), Some(5));
    // Four blocks of a group of warps are enough for asynchronous products. The third may cost an eighth, the last a
    // fourth.
    let group = ptx("").replace("64", "128").replace("mma.sync", "wgmma.mma_async");
    assert_eq!(blocks(187, &group, 0), Some(3));
    assert_eq!(blocks(193, &group, 0), None);
    assert_eq!(blocks(146, &group, 0), Some(4));
    assert_eq!(blocks(168, &group, 0), Some(4));
    assert_eq!(blocks(74, &group, 0), None);
    let groups = ptx("").replace("64", "256").replace("mma.sync", "wgmma.mma_async");
    assert_eq!(blocks(192, &groups, 0), Some(2));
    assert_eq!(blocks(193, &groups, 0), None);
    assert_eq!(one_more_block(&Usage { spill_loads: 4, ..usage(178) }, &ptx(""), &target, 0), None);
}

#[test]
fn wide_blocks_that_reduce_get_company() {
    let target = Target::parse("sm_90a").unwrap();
    let usage = |registers| Usage { registers, ..Usage::default() };
    let ptx = |threads: u32, body: &str| format!(".visible .entry k()\n.reqntid {threads}\n{{ {body} ret; }}\n");
    let row = "shfl.sync.bfly; bar.sync 0;";
    let asked = |registers, ptx: &str| company(&made(usage(registers)), ptx, &target, 0);
    // A second block of 1024 threads for a fourth of the registers, no more.
    assert_eq!(asked(40, &ptx(1024, row)), Some(32));
    assert_eq!(asked(42, &ptx(1024, row)), Some(32));
    assert_eq!(company(&made(usage(40)), &ptx(1024, row), &target, 120_000), None);
    // For a third without loops, and in blocks of 256 threads.
    assert_eq!(asked(48, &ptx(1024, row)), Some(32));
    assert_eq!(asked(169, &ptx(256, "")), Some(128));
    assert_eq!(asked(200, &ptx(256, "")), None);
    assert_eq!(asked(169, &ptx(256, "mma.sync.aligned;")), None);
    assert_eq!(asked(169, &ptx(128, "")), None);
    // A fourth block of 512 for an eighth.
    assert_eq!(asked(36, &ptx(512, row)), Some(32));
    assert_eq!(asked(40, &ptx(512, row)), None);
    // Four are as many as there can be, and narrow blocks have company.
    assert_eq!(asked(32, &ptx(512, row)), None);
    assert_eq!(asked(40, &ptx(256, row)), None);
    assert_eq!(asked(36, &ptx(512, "bar.sync 0;")), None);
    assert_eq!(asked(36, &ptx(512, "shfl.sync.bfly;")), None);
    // Not for a spill, but for a second block without loops.
    let company = |second, first, ptx: &str| Attempt::Company(32).is_better(&made(second), &made(first), ptx, &target);
    let spilling = |bytes| Usage { spill_stores: bytes, ..usage(32) };
    assert!(company(usage(32), usage(36), &ptx(512, row)));
    assert!(!company(spilling(4), usage(36), &ptx(512, row)));
    assert!(company(spilling(FEW), usage(40), &ptx(1024, row)));
    assert!(!company(spilling(FEW + 4), usage(40), &ptx(1024, row)));
    assert!(Attempt::Company(32).text(&ptx(1024, row)).contains(".reqntid 1024\n.maxnreg 32\n"));
}

#[test]
fn blocks_that_stand_get_company() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = |threads: u32, body: &str| format!(".visible .entry k()\n.reqntid {threads}\n{{\n{body}\nret;\n}}\n");
    let asked =
        |registers, ptx: &str, in_loops| stands(&Usage { registers, ..Usage::default() }, ptx, &target, 0, in_loops);
    let (waits, looping) = ("shfl.sync.bfly; bar.sync 0;", "$L__1:\nredux.sync.add;\nbar.sync 0;\n@%p1 bra $L__1;");
    // All threads of a multiprocessor for a fourth of the registers.
    assert_eq!(asked(40, &ptx(128, waits), false), Some(32));
    assert_eq!(asked(33, &ptx(256, waits), false), Some(32));
    assert_eq!(asked(48, &ptx(128, waits), false), None);
    assert_eq!(asked(32, &ptx(128, waits), false), None);
    // Another block of few for the same.
    assert_eq!(asked(120, &ptx(128, waits), false), Some(96));
    assert_eq!(asked(212, &ptx(128, waits), false), Some(168));
    assert_eq!(asked(255, &ptx(256, waits), false), None);
    assert_eq!(asked(64, &ptx(128, waits), false), None);
    // Not where too much is alive, unless it is for a tenth of the registers.
    let crowded = |alive| ptx_with(alive).replace("ret;", &format!("{waits} ret;"));
    assert_eq!(asked(120, &crowded(156), false), Some(96));
    assert_eq!(asked(120, &crowded(159), false), None);
    assert_eq!(asked(106, &crowded(159), false), Some(96));
    // In loops where there are fewer still.
    assert_eq!(asked(160, &ptx(128, looping), true), Some(128));
    assert_eq!(asked(80, &ptx(128, looping), true), None);
    assert_eq!(asked(160, &ptx(64, looping), true), None);
    assert_eq!(asked(40, &ptx(128, looping), true), None);
    // Not where nothing waits, or something else does.
    assert_eq!(asked(160, &ptx(128, looping), false), None);
    assert_eq!(asked(160, &ptx(128, waits), true), None);
    assert_eq!(asked(160, &ptx(128, "bar.sync 0;"), false), None);
    assert_eq!(asked(160, &ptx(128, "shfl.sync.bfly; bar.sync 0; mma.sync.aligned;"), false), None);
}

#[test]
fn a_lone_block_gets_a_second_one_where_spills_are_seldom() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = |threads: u32, body: &str| format!(".visible .entry k()\n.reqntid {threads}\n{{\n{body}\nret;\n}}\n");
    let usage = |registers, spill_stores| Usage { registers, spill_stores, ..Usage::default() };
    let (row, product) = ("$L__1:\nbar.sync 0;\n@%p1 bra $L__1;", "mma.sync.aligned;");
    let asked = |registers, ptx: &str| one_more_block(&usage(registers, 0), ptx, &target, 0);
    assert_eq!(asked(192, &ptx(256, product)), Some(2));
    assert_eq!(asked(193, &ptx(256, product)), None);
    assert_eq!(asked(255, &ptx(128, product)), None);
    assert_eq!(company(&made(usage(192, 0)), &ptx(256, row), &target, 0), Some(128));
    // A kernel of 1,000 instructions may move 62 words, or 33 without products.
    let code = |usage| Assembled { cubin: cubin_of(&[0; 1000]), ..made(usage) };
    let takes = |attempt: Attempt, bytes, ptx: &str| {
        attempt.is_better(&code(usage(128, bytes)), &code(usage(180, 0)), ptx, &target)
    };
    assert!(takes(Attempt::Blocks(2), 248, &ptx(256, product)));
    assert!(!takes(Attempt::Blocks(2), 256, &ptx(256, product)));
    assert!(takes(Attempt::Company(128), 132, &ptx(256, row)));
    assert!(!takes(Attempt::Company(128), 140, &ptx(256, row)));
    assert!(!takes(Attempt::Blocks(4), 4, &ptx(128, product)));
}

/// A load of global memory that sets barrier 0, and an instruction that waits for it.
const GLOBAL: u128 = 0x981 | 7 << 113;
const WAITING_FOR_IT: u128 = 0x221 | 7 << 110 | 7 << 113 | 1 << 116;
const EXIT: u128 = 0x94d;

/// An ELF file with these instructions.
fn cubin_of(instructions: &[u128]) -> Vec<u8> {
    let mut bytes = vec![0; 64 + 64];
    bytes[..5].copy_from_slice(b"\x7fELF\x02");
    // One header, behind the file's own: the section has code, which can be executed.
    bytes[0x28] = 64;
    (bytes[0x3a], bytes[0x3c]) = (64, 1);
    (bytes[64 + 4], bytes[64 + 8]) = (1, 4);
    let length = instructions.len() * INSTRUCTION;
    bytes[64 + 24..64 + 32].copy_from_slice(&128u64.to_le_bytes());
    bytes[64 + 32..64 + 40].copy_from_slice(&(length as u64).to_le_bytes());
    bytes.extend(instructions.iter().flat_map(|instruction| instruction.to_le_bytes()));
    bytes
}

#[test]
fn code_that_waits_gets_more_blocks_where_registers_are_cheap() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = ".visible .entry k()\n.reqntid 128\n{ ret; }\n";
    let pairs = |count: usize, second| [[GLOBAL, second].repeat(count), vec![EXIT]].concat();
    let answer =
        |registers, code: &[u128]| Assembled { cubin: cubin_of(code), ..made(Usage { registers, ..Usage::default() }) };
    let asked = |registers, code: &[u128], shared| more_blocks(&answer(registers, code), ptx, &target, shared);
    let waiting = pairs(8, WAITING_FOR_IT);
    let barriers = ptx.replace("ret;", "bar.sync 0; ret;");
    // Twelve blocks have 40 registers each, and 16 blocks 32. Twelve are enough where no warp waits for another.
    assert_eq!(asked(40, &waiting, Some(0)), None);
    assert_eq!(more_blocks(&answer(40, &waiting), &barriers, &target, Some(0)), Some(Attempt::More(32)));
    // 64 registers are eight blocks; with two thirds of them there are ten with 48, or nine with 56.
    assert_eq!(asked(64, &waiting, Some(0)), Some(Attempt::More(48)));
    assert_eq!(asked(64, &waiting, Some(24_000)), Some(Attempt::More(56)));
    assert_eq!(asked(64, &waiting, Some(25_000)), None);
    assert_eq!(asked(64, &waiting, None), None);
    assert_eq!(asked(24, &waiting, Some(0)), None);
    // Where nothing waits, more warps are worth nothing.
    assert_eq!(asked(64, &pairs(8, 0), Some(0)), None);
    // With 56 registers up to 78 may be alive, and with 48 up to 67, two of them for the address.
    let alive = |alive| more_blocks(&answer(64, &waiting), &ptx_with(alive), &target, Some(0));
    assert_eq!(alive(65), Some(Attempt::More(48)));
    assert_eq!(alive(70), Some(Attempt::More(56)));
    assert_eq!(alive(80), None);
    // What comes of it may wait more often.
    let is_better = |second: &[u128], spilled| {
        let second = answer(32, second);
        let usage = Usage { registers: 32, spill_stores: spilled, ..Usage::default() };
        let functions = vec![FunctionUsage { name: String::new(), entry: true, usage }];
        let second = Assembled { functions, ..second };
        Attempt::More(32).is_better(&second, &answer(40, &waiting), ptx, &target)
    };
    assert!(is_better(&waiting, 0));
    assert!(!is_better(&waiting, 4));
    assert!(!is_better(&pairs(11, WAITING_FOR_IT), 0));
    assert!(Attempt::More(32).text(ptx).contains(".reqntid 128\n.maxnreg 32\n"));
}

#[test]
fn a_refused_answer_is_taken_if_its_code_is_cheaper() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = ".visible .entry k()\n.reqntid 128\n{ ret; }\n";
    let barriers = ptx.replace("ret;", "bar.sync 0; ret;");
    let answer = |registers, spill_stores, waits| Assembled {
        cubin: cubin_of(&[[GLOBAL, WAITING_FOR_IT].repeat(waits), vec![EXIT]].concat()),
        ..made(Usage { registers, spill_stores, ..Usage::default() })
    };
    let takes = |other: &Assembled, ptx: &str, shared| is_cheaper(other, &answer(64, 0, 100), ptx, &target, shared);
    // As many blocks, and fewer waits; or as many waits, and fewer blocks.
    assert!(takes(&answer(64, 0, 97), ptx, Some(0)));
    assert!(!takes(&answer(64, 0, 99), ptx, Some(0)));
    assert!(!takes(&answer(72, 0, 100), ptx, Some(0)));
    assert!(takes(&answer(72, 0, 60), ptx, Some(0)));
    // Registers for more blocks than there is shared memory for are worth nothing.
    assert!(takes(&answer(32, 0, 110), ptx, Some(0)));
    assert!(!takes(&answer(32, 0, 110), ptx, Some(30_000)));
    // A few spills are worth a tenth where the warps of a block wait for each other.
    assert!(takes(&answer(64, 40, 85), &barriers, Some(0)));
    assert!(!takes(&answer(64, 40, 95), &barriers, Some(0)));
    assert!(!takes(&answer(64, 40, 85), ptx, Some(0)));
    assert!(!takes(&answer(64, 52, 85), &barriers, Some(0)));
    // Nothing is known of PTX that does not say how many threads there are.
    assert!(!takes(&answer(64, 0, 50), "{ ret; }", Some(0)));
}

#[test]
fn a_limit_of_registers_may_not_make_loops_wait_more() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = ".visible .entry k()\n.reqntid 128\n{ ret; }\n";
    // A loop with one wait for two loads, or with two.
    let (together, apart) =
        ([GLOBAL, GLOBAL, WAITING_FOR_IT, 0, back(4)], [GLOBAL, WAITING_FOR_IT, GLOBAL, WAITING_FOR_IT, back(4)]);
    let answer = |registers, spill_loads, code: &[u128]| Assembled {
        cubin: cubin_of(code),
        ..made(Usage { registers, spill_loads, ..Usage::default() })
    };
    let first = answer(255, 40, &together);
    let is_better = |second| Attempt::Limit.is_better(&second, &first, ptx, &target);
    assert!(is_better(answer(240, 0, &together)));
    assert!(!is_better(answer(240, 0, &apart)));
    assert!(!is_better(answer(240, 40, &together)));
}

/// PTX in which so many numbers are alive at once.
fn ptx_with(alive: usize) -> String {
    let lines = |text: fn(usize) -> String| (0..alive).map(text).collect::<String>();
    let body = lines(|i| format!("ld.global.b32 %r{i}, [%rd1];\n")) + &lines(|i| format!("st.b32 [%rd1], %r{i};\n"));
    format!(".visible .entry k()\n.reqntid 128\n{{\n{body}ret; }}\n")
}

#[test]
fn straight_code_that_waits_in_turns_gets_another_plan() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = &ptx_with(120);
    let answer = |registers, spill_loads, waits, loads| Assembled {
        cubin: cubin_of(&[[vec![GLOBAL; loads], vec![WAITING_FOR_IT]].concat().repeat(waits), vec![EXIT]].concat()),
        ..made(Usage { registers, spill_loads, ..Usage::default() })
    };
    // Four blocks of 128 threads have 128 registers each.
    let first = answer(117, 0, 8, 2);
    assert_eq!(in_turns(&first, ptx, &target), Some(Attempt::Turns(4)));
    // Registers that suffice for all that is alive were not saved.
    assert_eq!(in_turns(&first, &ptx_with(110), &target), None);
    assert_eq!(in_turns(&answer(32, 0, 8, 2), ptx, &target), None);
    assert_eq!(in_turns(&answer(40, 0, 8, 2), ptx, &target), Some(Attempt::Turns(12)));
    assert_eq!(in_turns(&answer(117, 4, 8, 2), ptx, &target), None);
    assert_eq!(in_turns(&answer(117, 0, 2, 8), ptx, &target), None);
    assert_eq!(in_turns(&first, &ptx.replace(".reqntid 128", ".reqntid 128\n.maxnreg 128"), &target), None);
    assert!(Attempt::Turns(4).text(ptx).contains(".reqntid 128\n.minnctapersm 4\n"));
    let is_better = |second| Attempt::Turns(4).is_better(&second, &first, ptx, &target);
    assert!(is_better(answer(128, BIT, 4, 4)));
    assert!(!is_better(answer(128, BIT + 4, 4, 4)));
    assert!(!is_better(answer(128, 0, 7, 2)));
    assert!(!is_better(answer(136, 0, 4, 4)));
}

#[test]
fn rows_get_more_registers_where_their_loops_wait_for_one_load_after_the_other() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = ".visible .entry k()\n.reqntid 128\n{\nagain:\nbra again;\nshfl.sync.bfly;\nret; }\n";
    let asked = |code: &[u128]| {
        let cubin = cubin_of(&[code, &[back(code.len() as i128), EXIT]].concat());
        attempt(&Assembled { cubin, ..made(Usage { registers: 40, ..Usage::default() }) }, ptx, &target, None)
    };
    assert_eq!(asked(&[GLOBAL, WAITING_FOR_IT, GLOBAL, WAITING_FOR_IT]), Some(Attempt::Row));
    assert_eq!(asked(&[GLOBAL, GLOBAL, WAITING_FOR_IT]), None);
}

#[test]
fn another_block_may_not_take_products_apart() {
    let target = Target::parse("sm_90a").unwrap();
    let ptx = ".visible .entry k()\n.reqntid 128\n{ wgmma.mma_async; ret; }\n";
    let product = 0x9f0 | 7 << 110 | 7 << 113;
    let answer = |registers, code: &[u128]| Assembled {
        cubin: cubin_of(&[code, &[back(code.len() as i128), EXIT]].concat()),
        ..made(Usage { registers, ..Usage::default() })
    };
    let together = answer(178, &[GLOBAL, GLOBAL, WAITING_FOR_IT, product]);
    let apart = answer(128, &[GLOBAL, WAITING_FOR_IT, GLOBAL, WAITING_FOR_IT, product]);
    let is_better = |second: &Assembled| Attempt::Blocks(4).is_better(second, &together, ptx, &target);
    assert!(is_better(&answer(128, &[GLOBAL, GLOBAL, WAITING_FOR_IT, product])));
    assert!(!is_better(&apart));
}

#[test]
fn another_block_may_not_cost_too_much() {
    let usage = |registers, spill_loads| Usage { registers, spill_loads, ..Usage::default() };
    let target = Target::parse("sm_90a").unwrap();
    let is_better = |second, first| Attempt::Blocks(2).is_better(&made(second), &made(first), "", &target);
    assert!(is_better(usage(168, 0), usage(178, 0)));
    assert!(!is_better(usage(168, 4), usage(178, 0)));
    assert!(!is_better(usage(122, 0), usage(198, 0)));
    // A second block for asynchronous products is worth some spills.
    let wgmma = |second| Attempt::Blocks(2).is_better(&made(second), &made(usage(190, 0)), ASYNCHRONOUS, &target);
    assert!(wgmma(usage(128, PRICE)));
    assert!(!wgmma(usage(128, PRICE + 4)));
}

#[test]
fn loops_that_wait_for_one_load_after_the_other_want_threads() {
    let Some(ptxas) = real(Tool::Ptxas) else { return };
    let ptx = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
.reqntid 128
{
.reg .pred %p; .reg .b64 %a;
ld.param.u64 %a, [p];
again: .pragma \"nounroll\";
ld.global.u64 %a, [%a]; ld.global.u64 %a, [%a]; ld.global.u64 %a, [%a];
setp.ne.u64 %p, %a, 0; @%p bra again;
st.global.u64 [%a], %a;
ret;
}";
    let target = Target::parse("sm_90").unwrap();
    let options = AssembleOptions { ptxas: Some(&ptxas), again: false, ..AssembleOptions::default() };
    let cubin = assemble(ptx, &target, &options, None).unwrap().cubin;
    let with = |registers| {
        let usage = Usage { registers, ..Usage::default() };
        Assembled { cubin: cubin.clone(), ..made(usage) }
    };
    // 40 registers leave room for 1536 threads, up to 32 for 2048.
    assert!(may_want_threads(&with(40), ptx, &target));
    assert!(!may_want_threads(&with(32), ptx, &target));
    assert!(has_cheaper_loops(&with(24), &with(40), ptx, &target));
    assert!(!has_cheaper_loops(&with(38), &with(40), ptx, &target));
    // Nor do they want a second block, where code that loads once does.
    let broad = ptx.replace(".reqntid 128", ".reqntid 256");
    assert_eq!(company(&with(169), &broad, &target, 0), None);
    assert_eq!(company(&made(Usage { registers: 169, ..Usage::default() }), &broad, &target, 0), Some(128));
    // Code without loops has nothing to gain.
    assert!(!may_want_threads(&made(Usage { registers: 40, ..Usage::default() }), ptx, &target));
}

#[test]
fn streams_need_no_full_multiprocessor() {
    let target = Target::parse("sm_90a").unwrap();
    let usage = |registers| Usage { registers, ..Usage::default() };
    let ptx = |body: &str| format!(".visible .entry k()\n.reqntid 128\n{{\n{body}\nret;\n}}\n");
    let tried = |registers, body: &str| attempt(&made(usage(registers)), &ptx(body), &target, Some(0));
    let turn = "$L__BB0_1:\n\t@%p1 bra \t$L__BB0_1;";
    let load = |n: u32, from: u32| format!("@%p1 ld.global.b32 {{ %r{n} }}, [ %rd{from} + 0 ];\n");
    let three = load(1, 1) + &load(2, 1) + &load(3, 1);
    assert_eq!(tried(32, &three), Some(Attempt::Stream));
    assert_eq!(tried(32, turn), Some(Attempt::Stream));
    assert_eq!(tried(32, &format!("{three}shfl.sync.bfly.b32")), Some(Attempt::Stream));
    // Two loads, or those that wait for the address that another one brings, have no company.
    assert_eq!(tried(32, &(load(1, 1) + &load(2, 1))), None);
    let chained = load(1, 1) + "mad.wide.s32 %rd2, %r1, 4, %rd1;\n" + &load(2, 2) + &load(3, 1) + &load(4, 1);
    assert_eq!(tried(32, &chained), None);
    // Loops in front of a reduction may gain too, not those that reduce.
    assert_eq!(tried(32, &format!("{turn}\nshfl.sync.bfly.b32")), Some(Attempt::Row));
    assert_eq!(tried(32, "$L__BB0_1:\nshfl.sync.bfly.b32\n@%p1 bra \t$L__BB0_1;"), None);
    // Nothing was saved, or too few blocks are left already.
    assert_eq!(tried(20, &three), None);
    assert_eq!(tried(64, &three), None);
    assert_eq!(tried(32, "mma.sync.aligned"), None);
    assert_eq!(tried(32, ".maxnreg 32"), None);
    let first = made(usage(32));
    let is_better = |registers| Attempt::Stream.is_better(&made(usage(registers)), &first, &ptx(""), &target);
    assert!(is_better(56));
    assert!(!is_better(64));
}

#[test]
fn a_stream_with_much_alive_is_asked_for_in_the_usual_way_first() {
    assert!(asks_for_one_block_first(&ptx_with(70), 1));
    assert!(!asks_for_one_block_first(&ptx_with(90), 1));
}
