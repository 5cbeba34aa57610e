//! Loops in LLVM IR before and after.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

use super::*;

/// A loop that loads through two pointers, which start at these indices of two bytes and take these steps.
fn with_indices(indices: [&str; 2], steps: [&str; 2]) -> String {
    carried(&source(indices, steps))
}

fn source(indices: [&str; 2], steps: [&str; 2]) -> String {
    format!(
        r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
define void @k(ptr addrspace(1) %x, i32 %row, i64 %step, i64 %other, i1 %more) {{
entry:
  %even = shl i32 %row, 2
  %i0 = {}
  %i1 = {}
  %z0 = zext i32 %i0 to i64
  %z1 = zext i32 %i1 to i64
  %s0 = getelementptr inbounds half, ptr addrspace(1) %x, i64 %z0
  %s1 = getelementptr inbounds half, ptr addrspace(1) %x, i64 %z1
  br label %loop
loop:
  %p1 = phi ptr addrspace(1) [ %s1, %entry ], [ %m1, %loop ]
  %p0 = phi ptr addrspace(1) [ %s0, %entry ], [ %m0, %loop ]
  %v1 = load volatile half, ptr addrspace(1) %p1
  %v0 = load volatile half, ptr addrspace(1) %p0
  %n1 = getelementptr inbounds half, ptr addrspace(1) %p1, i64 {}
  %n0 = getelementptr inbounds half, ptr addrspace(1) %p0, i64 {}
  %u0 = load volatile half, ptr addrspace(1) %n0
  %u1 = load volatile half, ptr addrspace(1) %n1
  %m1 = getelementptr half, ptr addrspace(1) %n1, i64 %step
  %m0 = getelementptr half, ptr addrspace(1) %n0, i64 %step
  br i1 %more, label %loop, label %end
end:
  %w1 = load volatile half, ptr addrspace(1) %p1
  %x1 = load volatile half, ptr addrspace(1) %m1
  ret void
}}
"#,
        indices[0], indices[1], steps[0], steps[1]
    )
}

/// A module behind the pass.
fn carried(text: &str) -> String {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "k");
    let module = context.create_module_from_ir(buffer).unwrap();
    let data = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    carry_one(&module, &data).unwrap();
    module.verify().unwrap();
    module.print_to_string().to_string()
}

fn phis(text: &str) -> usize {
    text.matches(" phi ").count()
}

#[test]
fn pointers_a_constant_apart_are_one() {
    let text = with_indices(["or disjoint i32 %even, 0", "or disjoint i32 %even, 3"], ["%step", "%step"]);
    assert_eq!(phis(&text), 1, "{text}");
    // In this iteration, behind the first step and behind the second.
    assert_eq!(text.matches("getelementptr i8, ptr addrspace(1)").count(), 3, "{text}");
    assert_eq!(text.matches("i64 6").count(), 3, "{text}");
    assert!(!text.contains("inbounds half, ptr addrspace(1) %p0"), "{text}");
}

#[test]
fn the_least_one_stays() {
    let text = with_indices(["add nuw i32 %row, 5", "add nuw i32 %row, 1"], ["%step", "%step"]);
    assert_eq!(phis(&text), 1, "{text}");
    assert_eq!(text.matches("i64 8").count(), 3, "{text}");
}

#[test]
fn what_may_wrap_before_it_is_extended_stays() {
    assert_eq!(phis(&with_indices(["add i32 %row, 0", "add i32 %row, 1"], ["%step", "%step"])), 2);
    assert_eq!(phis(&with_indices(["add nsw i32 %row, 0", "add nsw i32 %row, 1"], ["%step", "%step"])), 2);
}

#[test]
fn other_steps_and_numbers_stay() {
    assert_eq!(phis(&with_indices(["add nuw i32 %row, 0", "add nuw i32 %row, 1"], ["%step", "%other"])), 2);
    assert_eq!(phis(&with_indices(["add nuw i32 %row, 0", "add nuw i32 %even, 1"], ["%step", "%step"])), 2);
}

#[test]
fn what_is_too_far_for_an_address_stays() {
    let far = ["add nuw i32 %row, 0", "add nuw i32 %row, 5000000"];
    assert_eq!(phis(&with_indices(far, ["%step", "%step"])), 2);
}

#[test]
fn products_a_constant_apart_are_one() {
    let loads = |first: &str, second: &str| {
        carried(&format!(
            r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
define void @k(ptr addrspace(1) %x, i64 %row, i64 %width, i1 %more) {{
entry:
  %next = add i64 %row, 1
  %i0 = mul i64 %row, {first}
  %i1 = mul i64 %next, {second}
  %s0 = getelementptr half, ptr addrspace(1) %x, i64 %i0
  %s1 = getelementptr half, ptr addrspace(1) %x, i64 %i1
  br label %loop
loop:
  %p0 = phi ptr addrspace(1) [ %s0, %entry ], [ %n0, %loop ]
  %p1 = phi ptr addrspace(1) [ %s1, %entry ], [ %n1, %loop ]
  %v0 = load volatile half, ptr addrspace(1) %p0
  %v1 = load volatile half, ptr addrspace(1) %p1
  %n0 = getelementptr half, ptr addrspace(1) %p0, i64 64
  %n1 = getelementptr half, ptr addrspace(1) %p1, i64 64
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"#
        ))
    };
    let text = loads("129", "129");
    assert_eq!(phis(&text), 1, "{text}");
    assert!(text.contains("i64 258"), "{text}");
    assert_eq!(phis(&loads("129", "130")), 2);
    assert_eq!(phis(&loads("%width", "%width")), 2);
}

/// A tile that is changed in place keeps its pointers.
#[test]
fn pointers_that_load_and_store_stay() {
    let text = with_indices(["or disjoint i32 %even, 0", "or disjoint i32 %even, 3"], ["%step", "%step"]);
    let stored = |text: &str| {
        text.replace("%u0 = load volatile half, ptr addrspace(1) %n0", "store volatile half %v0, ptr addrspace(1) %n0")
    };
    assert_eq!(phis(&text), 1);
    let source = source(["or disjoint i32 %even, 0", "or disjoint i32 %even, 3"], ["%step", "%step"]);
    assert_eq!(phis(&carried(&stored(&source))), 2);
}
