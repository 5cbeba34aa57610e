//! Loops in LLVM IR before and after.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

use super::*;

/// A loop that loads through `count` pointers, which start at offsets that `offset` writes for the number of a pointer,
/// and that uses what the pointers are in the next iteration.
fn with_bases(count: usize, offset: impl Fn(usize) -> String) -> String {
    with_bases_behind(count, offset, false)
}

/// The same, perhaps with pointers that start a column behind that.
fn with_bases_behind(count: usize, offset: impl Fn(usize) -> String, column: bool) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..count).map(|i| line(i) + "\n").collect::<String>();
    let text = format!(
        r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
define void @k(ptr addrspace(1) %x, i32 %row, i32 %column, i64 %step, i1 %more) {{
entry:
  %c = zext i32 %column to i64
{starts}
  br label %loop
loop:
{phis}
{loads}
{steps}
{ahead}
  br i1 %more, label %loop, label %end
end:
{stores}
  ret void
}}
"#,
        starts = each(&|i| {
            let (number, index) = (offset(i), if column { "%c" } else { "0" });
            let last = if column { format!("%r{i}") } else { format!("%s{i}") };
            let behind = format!("  %s{i} = getelementptr half, ptr addrspace(1) %r{i}, i64 {index}");
            format!(
                "  %t{i} = add i32 %row, {i}\n  %o{i} = {number}\n  %w{i} = sext i32 %o{i} to i64\n  {last} = getelementptr half, ptr addrspace(1) %x, i64 %w{i}\n{}",
                if column { behind } else { String::new() }
            )
        }),
        phis = each(&|i| format!("  %p{i} = phi ptr addrspace(1) [ %s{i}, %entry ], [ %n{i}, %loop ]")),
        loads = each(&|i| format!("  %v{i} = load volatile half, ptr addrspace(1) %p{i}")),
        steps = each(&|i| format!("  %n{i} = getelementptr inbounds half, ptr addrspace(1) %p{i}, i64 %step")),
        ahead = each(&|i| format!("  %a{i} = load volatile half, ptr addrspace(1) %n{i}")),
        stores = each(&|i| format!("  store volatile half %v{i}, ptr addrspace(1) %p{i}")),
    );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "k");
    let module = context.create_module_from_ir(buffer).unwrap();
    let data = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    assert_eq!(would_carry(&module, &data), count > MOST_CARRIED);
    carry(&module, &data).unwrap();
    module.verify().unwrap();
    assert!(!would_carry(&module, &data));
    module.print_to_string().to_string()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn offsets_of_few_numbers_are_made_in_the_loop() {
    let text = with_bases(16, |i| format!("mul i32 %row, {}", i + 2));
    assert_eq!((count(&text, " phi "), count(&text, " freeze ")), (1, 1), "{text}");
    // Each pointer is made for this iteration, for the next one and behind the loop.
    assert_eq!(count(&text, "mul.lo.s32 t, $1, 7; mad.wide.s32 $0, t, 2, $2;"), 3, "{text}");
    assert!(!text.contains("inbounds"), "{text}");
}

#[test]
fn sums_have_a_product_and_a_number() {
    let text = with_bases(16, |i| match i % 2 {
        0 => format!("add i32 %column, %row ; {i}"),
        _ => "sub i32 %column, %row".to_owned(),
    });
    assert_eq!(count(&text, "mad.lo.s32 t, $1, 1, $2; mad.wide.s32 $0, t, 2, $3;"), 24, "{text}");
    assert_eq!(count(&text, "\"mad.wide.s32 $0, $1, 2, $2;\""), 24, "{text}");
}

#[test]
fn other_offsets_are_kept() {
    let text = with_bases(16, |i| format!("xor i32 %row, {i}"));
    assert_eq!(count(&text, "\"mad.wide.s32 $0, $1, 2, $2;\""), 48, "{text}");
}

#[test]
fn offsets_that_are_loaded_are_kept() {
    // A load has an address where a product has a factor.
    let loaded = |i: usize| format!("load i32, ptr addrspace(1) %x, align {}", 4 << (i % 2));
    let text = with_bases(16, loaded);
    assert_eq!(count(&text, "\"mad.wide.s32 $0, $1, 2, $2;\""), 48, "{text}");
    // So may be a summand.
    let of_sums = with_bases(16, |i| if i == 0 { loaded(0) } else { format!("add i32 %row, %o0 ; {i}") });
    assert_eq!(count(&of_sums, "mad.lo.s32 t, $1, 1, $2; mad.wide.s32 $0, t, 2, $3;"), 45, "{of_sums}");
}

#[test]
fn few_pointers_stay() {
    let text = with_bases(MOST_CARRIED, |i| format!("mul i32 %row, {i}"));
    assert_eq!(count(&text, " phi "), MOST_CARRIED, "{text}");
    assert!(!text.contains("mad.wide"), "{text}");
}

#[test]
fn any_step_may_be_the_offset() {
    let text = with_bases_behind(16, |i| format!("xor i32 %row, {i}"), true);
    assert_eq!((count(&text, " phi "), count(&text, " freeze ")), (1, 1), "{text}");
    assert_eq!(count(&text, "\"mad.wide.s32 $0, $1, 2, $2;\""), 48, "{text}");
    // The base is the column's pointer without a row.
    assert!(text.contains("getelementptr half, ptr addrspace(1) %x, i64 %c"), "{text}");
}

#[test]
fn rows_of_a_tile_come_from_the_first_one() {
    let text = with_bases(16, |i| format!("mul i32 %t{i}, %column"));
    assert_eq!(count(&text, " phi "), 1, "{text}");
    assert_eq!(count(&text, "mad.lo.s32 t, $1, 7, $2; mad.wide.s32 $0, t, 2, $3;"), 3, "{text}");
    assert!(text.contains("mul i32 %row, %column"), "{text}");
}

/// A loop that loads through `count` pointers which it makes anew: from `base` and the offset `offset`, of a row and
/// a column that do not change.
fn made_anew(count: usize, base: &str, offset: impl Fn(usize) -> String) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..count).map(|i| line(i) + "\n").collect::<String>();
    let text = format!(
        r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
define void @k(ptr addrspace(1) %x, i32 %row, i32 %column, i32 %stride, i64 %step, i1 %more) {{
entry:
  %fixed = getelementptr half, ptr addrspace(1) %x, i64 %step
{offsets}
  br label %loop
loop:
  %head = phi i64 [ 0, %entry ], [ %next, %loop ]
  %moving = getelementptr half, ptr addrspace(1) %x, i64 %head
  %next = add i64 %head, %step
{loads}
  br i1 %more, label %loop, label %end
end:
  store volatile half %v0, ptr addrspace(1) %p0
  ret void
}}
"#,
        offsets = each(&|i| {
            format!(
                "  %t{i} = add i32 %row, {i}\n  %m{i} = mul i32 %t{i}, %stride\n  %o{i} = {}\n  %w{i} = sext i32 %o{i} to i64",
                offset(i)
            )
        }),
        loads = each(&|i| {
            format!(
                "  %p{i} = getelementptr inbounds half, ptr addrspace(1) {base}, i64 %w{i}\n  %v{i} = load volatile half, ptr addrspace(1) %p{i}"
            )
        }),
    );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "k");
    let module = context.create_module_from_ir(buffer).unwrap();
    let data = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    assert_eq!(would_carry(&module, &data), base == "%moving" && count > MOST_CARRIED);
    carry(&module, &data).unwrap();
    module.verify().unwrap();
    assert!(!would_carry(&module, &data));
    module.print_to_string().to_string()
}

#[test]
fn pointers_made_anew_come_from_rows_and_a_column() {
    let text = made_anew(16, "%moving", |i| format!("add i32 %m{i}, %column"));
    assert_eq!(count(&text, "mad.lo.s32 t, $1, 7, $2; mad.wide.s32 $0, t, 2, $3;"), 1, "{text}");
    assert_eq!(count(&text, "mad.lo.s32"), 15, "{text}");
    // The first row needs no constant. What it is added to is there once.
    assert_eq!(count(&text, "\"mad.wide.s32 $0, $1, 2, $2;\""), 1, "{text}");
    assert_eq!(count(&text, "mul i32 %row, %stride"), 1, "{text}");
    // A pointer that another block uses too stays where it is.
    assert!(text.contains("store volatile half %v0, ptr addrspace(1) %2"), "{text}");
    assert!(!text.contains("inbounds"), "{text}");
}

#[test]
fn pointers_made_anew_keep_other_offsets() {
    let text = made_anew(16, "%moving", |i| format!("xor i32 %m{i}, %column"));
    assert_eq!(count(&text, "\"mad.wide.s32 $0, $1, 2, $2;\""), 16, "{text}");
}

#[test]
fn few_pointers_made_anew_stay() {
    let text = made_anew(MOST_CARRIED, "%moving", |i| format!("add i32 %m{i}, %column"));
    assert!(!text.contains("mad.wide"), "{text}");
}

#[test]
fn pointers_that_do_not_move_stay() {
    let text = made_anew(16, "%fixed", |i| format!("add i32 %m{i}, %column"));
    assert!(!text.contains("mad.wide"), "{text}");
}
