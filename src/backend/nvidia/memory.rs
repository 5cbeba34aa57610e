//! Accesses to global and shared memory: predicated inline PTX (PTX ISA, "Data Movement and Conversion Instructions:
//! ld, st, createpolicy, cp.async"), and the instructions that move matrices of 8 × 8 halves ("ldmatrix, stmatrix").

use inkwell::values::{IntValue, PointerValue};

use super::ptx_builder::{Arg, PtxAsm, Reg};
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::codegen::machine::{AsyncCopy, CacheHint, Caching, GlobalLoad, GlobalStore, Words, fields};
use crate::ir::dialects::enums::Enumeration;

/// The cache operators that loads and stores take.
pub(super) const LOAD_CACHE: [&str; 4] = ["ca", "cg", "cs", "cv"];
pub(super) const STORE_CACHE: [&str; 4] = ["wb", "cg", "cs", "wt"];

/// Sizes of one copy in bytes, the widest first.
pub(super) const COPY_BYTES: [u32; 3] = [16, 8, 4];

/// `.v4.b32`
fn suffix(words: Words) -> String {
    if words.count > 1 { format!(".v{}.b{}", words.count, words.bits) } else { format!(".b{}", words.bits) }
}

/// What an access says of caches. Cache operators and eviction priorities exclude each other in PTX, and a volatile
/// access takes neither; the former wins.
pub(super) fn hint<'c>(cx: &mut Lower<'c, '_>, caching: &Caching, operators: &[&str]) -> Res<CacheHint<'c>> {
    let (cache, evict, volatile) = (caching.cache.name(), caching.evict.name(), caching.volatile);
    if !volatile && operators.contains(&cache) {
        return Ok(CacheHint { words: format!(".{cache}"), operand: None });
    }
    if volatile || !["evict_first", "evict_last"].contains(&evict) {
        return Ok(CacheHint { words: String::new(), operand: None });
    }
    let mut asm = PtxAsm::default();
    let out = asm.output(Reg::B64);
    asm.inst(None, format!("createpolicy.fractional.L2::{evict}.b64"), vec![Arg::Reg(out), Arg::Text("1.0")]);
    let policy = asm.emit(cx, false)?.first().copied();
    Ok(CacheHint { words: format!(".L1::{evict}.L2::cache_hint"), operand: policy })
}

fn add_policy<'c>(hint: &CacheHint<'c>, asm: &mut PtxAsm<'c>, args: &mut Vec<Arg>) {
    if let Some(policy) = hint.operand {
        args.push(Arg::Reg(asm.input(Reg::B64, policy)));
    }
}

/// `ld.global`; its registers start with what stands for them where the predicate is false.
pub(super) fn load<'c>(cx: &mut Lower<'c, '_>, load: GlobalLoad<'_, 'c>) -> Res<Vec<Val<'c>>> {
    let class = Reg::of_bits(load.words.bits);
    let volatile = if load.volatile { ".volatile" } else { "" };
    let opcode = format!("ld{volatile}.global{}{}", load.hint.words, suffix(load.words));
    let mut asm = PtxAsm::default();
    let output = |asm: &mut PtxAsm<'c>, i| match load.otherwise.get(i) {
        Some(&start) => asm.output_from(class, start),
        None => asm.output(class),
    };
    let outputs = (0..load.words.count).map(|i| output(&mut asm, i)).collect();
    let pred = load.pred.map(|m| asm.input(Reg::Pred, m));
    let mut args = vec![Arg::List(outputs), Arg::Behind(asm.input(Reg::B64, load.address), load.offset)];
    add_policy(load.hint, &mut asm, &mut args);
    asm.inst(pred, opcode, args);
    asm.emit(cx, true)
}

/// `st.global`
pub(super) fn store<'c>(cx: &mut Lower<'c, '_>, store: GlobalStore<'_, 'c>) -> Res<()> {
    let words = Words { count: store.values.len(), bits: store.bits };
    let opcode = format!("st.global{}{}", store.hint.words, suffix(words));
    let mut asm = PtxAsm::default();
    let values = store.values.iter().map(|&v| asm.input(Reg::of_bits(store.bits), v)).collect();
    let pred = store.pred.map(|p| asm.input(Reg::Pred, p));
    let mut args = vec![Arg::Behind(asm.input(Reg::B64, store.address), store.offset), Arg::List(values)];
    add_policy(store.hint, &mut asm, &mut args);
    asm.inst(pred, opcode, args);
    asm.emit(cx, true)?;
    Ok(())
}

/// The address plus a zero that is made of a number and that the assembler takes for one: an access of so many bytes
/// has an address whose lowest bits are 0.
pub(super) fn address_behind<'c>(
    cx: &mut Lower<'c, '_>,
    address: Val<'c>,
    bytes: u32,
    number: IntValue<'c>,
) -> Res<Val<'c>> {
    let Val::PointerValue(pointer) = address else { return Ok(address) };
    if bytes < 2 {
        return Ok(address);
    }
    let (word, long) = (cx.int_type(32), cx.int_type(64));
    let low = cx.b.build_ptr_to_int(pointer, word, "")?;
    let mut asm = PtxAsm::default();
    let zero = asm.output_from(Reg::B32, low.into());
    let number = asm.input(Reg::B32, number.into());
    let lowest = match bytes {
        2 => "1",
        4 => "3",
        8 => "7",
        _ => "15",
    };
    asm.inst(None, "and.b32", vec![Arg::Reg(zero), Arg::Reg(zero), Arg::Text(lowest)]);
    asm.inst(None, "and.b32", vec![Arg::Reg(zero), Arg::Reg(zero), Arg::Reg(number)]);
    let zero = as_int(asm.emit(cx, false)?[0])?;
    let distance = cx.b.build_int_z_extend(zero, long, "")?;
    let byte = cx.int_type(8);
    // SAFETY: the distance is 0.
    Ok(unsafe { cx.b.build_gep(byte, pointer, &[distance], "")? }.into())
}

/// `st.shared` under a predicate.
pub(super) fn store_shared<'c>(
    cx: &mut Lower<'c, '_>,
    pred: IntValue<'c>,
    address: IntValue<'c>,
    (values, bits): (&[Val<'c>], u32),
    ordered: bool,
) -> Res<()> {
    let mut asm = PtxAsm::default();
    let address = asm.input(Reg::B32, address.into());
    let data: Vec<_> = values.iter().map(|&v| asm.input(Reg::of_bits(bits), v)).collect();
    let pred = asm.input(Reg::Pred, pred.into());
    let opcode = format!("st.shared{}", suffix(Words { count: data.len(), bits }));
    let data = if let [one] = data[..] { Arg::Reg(one) } else { Arg::List(data) };
    asm.inst(Some(pred), opcode, vec![Arg::Address(address), data]);
    if ordered {
        asm.memory_clobber();
    }
    asm.emit(cx, true)?;
    Ok(())
}

/// `red.shared.add` of 1 (PTX ISA, "red"). An addition of a constant is what the hardware counts fastest: lanes with
/// the same counter are added up before the access.
pub(super) fn count_shared<'c>(cx: &mut Lower<'c, '_>, pred: IntValue<'c>, address: IntValue<'c>) -> Res<()> {
    let mut asm = PtxAsm::default();
    let (address, pred) = (asm.input(Reg::B32, address.into()), asm.input(Reg::Pred, pred.into()));
    asm.inst(Some(pred), "red.shared.add.u32", vec![Arg::Address(address), Arg::Text("1")]);
    asm.emit(cx, true)?;
    Ok(())
}

/// LLVM's name for an instruction on `count` matrices.
fn matrix_intrinsic(instruction: &str, count: usize, transposed: bool) -> String {
    format!("llvm.nvvm.{instruction}.sync.aligned.m8n8.x{count}{}.b16", if transposed { ".trans" } else { "" })
}

/// `ldmatrix`
pub(super) fn load_matrices<'c>(
    cx: &mut Lower<'c, '_>,
    address: PointerValue<'c>,
    count: usize,
    transposed: bool,
) -> Res<Vec<IntValue<'c>>> {
    let name = matrix_intrinsic("ldmatrix", count, transposed);
    let words = cx.intrinsic(&name, &[address.get_type().into()], &[address.into()])?;
    fields(cx, words, count)?.into_iter().map(as_int).collect()
}

/// `stmatrix`, in the warps in which the predicate holds.
pub(super) fn store_matrices<'c>(
    cx: &mut Lower<'c, '_>,
    pred: Option<IntValue<'c>>,
    address: PointerValue<'c>,
    words: &[Val<'c>],
    transposed: bool,
) -> Res<()> {
    if let Some(pred) = pred {
        let mut asm = PtxAsm::default();
        let address = cx.shared_address_bits(address)?;
        let address = asm.input(Reg::B32, address.into());
        let data: Vec<_> = words.iter().map(|&word| asm.input(Reg::B32, word)).collect();
        let pred = asm.input(Reg::Pred, pred.into());
        let form = if transposed { ".trans" } else { "" };
        let opcode = format!("stmatrix.sync.aligned.m8n8.x{}{form}.shared.b16", data.len());
        asm.inst(Some(pred), opcode, vec![Arg::Address(address), Arg::List(data)]);
        asm.emit(cx, true)?;
        return Ok(());
    }
    let args: Vec<Val<'c>> = std::iter::once(address.into()).chain(words.iter().copied()).collect();
    cx.effect(&matrix_intrinsic("stmatrix", words.len(), transposed), &[address.get_type().into()], &args)
}

/// `cp.async`. 16 bytes may leave the first-level cache out: they are read once.
pub(super) fn copy_async<'c>(cx: &mut Lower<'c, '_>, copy: AsyncCopy<'c>) -> Res<()> {
    let (opcode, bytes) = match copy.bytes {
        16 => ("cp.async.cg.shared.global", "16"),
        8 => ("cp.async.ca.shared.global", "8"),
        _ => ("cp.async.ca.shared.global", "4"),
    };
    let mut asm = PtxAsm::default();
    let pred = copy.pred.map(|p| asm.input(Reg::Pred, p.into()));
    let mut args = vec![
        Arg::Address(asm.input(Reg::B32, copy.to.into())),
        Arg::Address(asm.input(Reg::B64, copy.from)),
        Arg::Text(bytes),
    ];
    if let Some(read) = copy.read {
        args.push(Arg::Reg(asm.input(Reg::B32, read.into())));
    }
    asm.inst(pred, opcode, args);
    asm.emit(cx, true)?;
    Ok(())
}
