//! LLVM IR before and after.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

use super::*;

/// Declarations that the bodies below call.
const DECLARATIONS: &str = "
declare float @llvm.fabs.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maximumnum.f32(float, float)
declare float @llvm.minimumnum.f32(float, float)
declare float @llvm.maximum.f32(float, float)
declare float @llvm.minimum.f32(float, float)
declare half @llvm.maxnum.f16(half, half)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minnum.f64(double, double)
declare float @llvm.nvvm.fmax.f(float, float)
declare float @llvm.nvvm.fmin.ftz.f(float, float)
declare float @llvm.nvvm.fmax.nan.f(float, float)
declare float @llvm.nvvm.fmin.ftz.nan.f(float, float)
declare float @llvm.nvvm.fmax.xorsign.abs.f(float, float)
declare float @llvm.nvvm.fma.rn.ftz.f(float, float, float)
declare float @llvm.nvvm.sqrt.approx.ftz.f(float)
declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
declare float @llvm.fma.f32(float, float, float)
";

/// A module behind the pass.
fn decided(text: &str) -> String {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "k");
    let module = context.create_module_from_ir(buffer).unwrap();
    let before = module.print_to_string();
    let changed = decide(&module);
    module.verify().unwrap();
    let text = module.print_to_string();
    assert_eq!(changed, text != before);
    assert!(!decide(&module), "{text:?}");
    text.to_string()
}

/// What `%r`, a comparison, is behind the pass. It may use the floats `%x` and `%y`, the double `%d`, the half `%h`,
/// the integer `%i` and the condition `%c`.
fn result(body: &str) -> Option<bool> {
    let text = decided(&format!(
        "define i1 @k(float %x, float %y, double %d, half %h, i32 %i, i1 %c) {{\n{body}\nret i1 %r\n}}\n{DECLARATIONS}"
    ));
    let is = |what| text.contains(what).then_some(what == "ret i1 true");
    is("ret i1 true").or(is("ret i1 false"))
}

/// `%v` compared with a constant.
fn compared(value: &str, predicate: &str, constant: &str) -> Option<bool> {
    result(&format!("{value}\n%r = fcmp {predicate} float %v, {constant}"))
}

/// A number from 1 to 8, also for a NaN.
const CLAMPED: &str = "%a = call float @llvm.maxnum.f32(float %x, float 1.0)
%v = call float @llvm.minnum.f32(float %a, float 8.0)";

/// A number from 1 to 8, or NaN.
const CLAMPED_OR_NAN: &str = "%a = call float @llvm.maximum.f32(float %x, float 1.0)
%v = call float @llvm.minimum.f32(float %a, float 8.0)";

#[test]
fn every_predicate() {
    let (yes, no) = (Some(true), Some(false));
    // Against 0.5, 1, 2, 8 and 9.
    let numbers = [
        ("oeq", [no, None, None, None, no]),
        ("ogt", [yes, None, None, no, no]),
        ("oge", [yes, yes, None, None, no]),
        ("olt", [no, no, None, None, yes]),
        ("ole", [no, None, None, yes, yes]),
        ("one", [yes, None, None, None, yes]),
        ("ord", [yes; 5]),
        ("uno", [no; 5]),
        ("ueq", [no, None, None, None, no]),
        ("ugt", [yes, None, None, no, no]),
        ("uge", [yes, yes, None, None, no]),
        ("ult", [no, no, None, None, yes]),
        ("ule", [no, None, None, yes, yes]),
        ("une", [yes, None, None, None, yes]),
        ("true", [yes; 5]),
        ("false", [no; 5]),
    ];
    for (predicate, expected) in numbers {
        let found = ["0.5", "1.0", "2.0", "8.0", "9.0"].map(|constant| compared(CLAMPED, predicate, constant));
        assert_eq!(found, expected, "{predicate}");
        // A NaN makes ordered comparisons false and others true.
        let of_nan = match &predicate[..1] {
            "o" | "f" => no,
            _ => yes,
        };
        let or_nan = ["0.5", "1.0", "2.0", "8.0", "9.0"].map(|constant| compared(CLAMPED_OR_NAN, predicate, constant));
        assert_eq!(or_nan, expected.map(|known| known.filter(|_| known == of_nan)), "{predicate}");
    }
}

#[test]
fn nan_in_minima_and_maxima() {
    let of = |function: &str, a: &str, b: &str| format!("%v = call float @llvm.{function}(float {a}, float {b})");
    // Where a number is left, the result is one.
    for function in ["maxnum.f32", "maximumnum.f32", "nvvm.fmax.f"] {
        assert_eq!(compared(&of(function, "%x", "1.0"), "uno", "0.0"), Some(false), "{function}");
        assert_eq!(compared(&of(function, "1.0", "%x"), "uge", "1.0"), Some(true), "{function}");
        assert_eq!(compared(&of(function, "%x", "%y"), "uno", "0.0"), None, "{function}");
    }
    for function in ["minnum.f32", "minimumnum.f32", "nvvm.fmin.ftz.f"] {
        assert_eq!(compared(&of(function, "1.0", "%x"), "ord", "0.0"), Some(true), "{function}");
        assert_eq!(compared(&of(function, "%x", "1.0"), "ole", "1.0"), Some(true), "{function}");
        assert_eq!(compared(&of(function, "%x", "%y"), "ord", "0.0"), None, "{function}");
    }
    for function in ["maximum.f32", "nvvm.fmax.nan.f"] {
        assert_eq!(compared(&of(function, "%x", "1.0"), "uno", "0.0"), None, "{function}");
        assert_eq!(compared(&of(function, "1.0", "%x"), "oge", "1.0"), None, "{function}");
        assert_eq!(compared(&of(function, "%x", "1.0"), "uge", "1.0"), Some(true), "{function}");
        assert_eq!(compared(&of(function, "1.0", "%x"), "olt", "1.0"), Some(false), "{function}");
    }
    for function in ["minimum.f32", "nvvm.fmin.ftz.nan.f"] {
        assert_eq!(compared(&of(function, "%x", "1.0"), "ole", "1.0"), None, "{function}");
        assert_eq!(compared(&of(function, "%x", "1.0"), "ule", "1.0"), Some(true), "{function}");
    }
    assert_eq!(compared(&of("nvvm.fmax.xorsign.abs.f", "%x", "1.0"), "olt", "1.0"), None);
    // The other operand of a NaN is what is left, not the larger bound.
    let nan_or_more = "%a = call float @llvm.maximum.f32(float %x, float 4.0)
%b = call float @llvm.maxnum.f32(float %y, float 1.0)
%v = call float @llvm.maxnum.f32(float %a, float %b)";
    assert_eq!(compared(nan_or_more, "oge", "4.0"), None);
    assert_eq!(compared(nan_or_more, "oge", "1.0"), Some(true));
    // A NaN that is a constant is no bound.
    assert_eq!(compared(&of("maxnum.f32", "%x", "0x7FF8000000000000"), "oge", "0.0"), None);
    assert_eq!(compared(&of("maxnum.f32", "%x", "poison"), "oge", "0.0"), None);
    assert_eq!(compared("%v = fneg float %x", "oge", "0x7FF8000000000000"), None);
}

#[test]
fn signs() {
    assert_eq!(compared("%v = call float @llvm.fabs.f32(float %x)", "olt", "0.0"), Some(false));
    assert_eq!(compared("%v = call float @llvm.fabs.f32(float %x)", "oge", "0.0"), None);
    let negated = format!("{}\n%v = fneg float %w", CLAMPED.replace("%v", "%w"));
    assert_eq!(compared(&negated, "ole", "-1.0"), Some(true));
    assert_eq!(compared(&negated, "oge", "-8.0"), Some(true));
    // Zero has two signs, which are equal.
    let positive = "%v = call float @llvm.maxnum.f32(float %x, float 0.0)";
    assert_eq!(compared(positive, "oge", "-0.0"), Some(true));
    assert_eq!(compared(positive, "ogt", "-0.0"), None);
    assert_eq!(compared(&positive.replace("0.0", "-0.0"), "olt", "0.0"), Some(false));
}

#[test]
fn denormals_may_be_zero() {
    let (denormal, normal) = ("0x37A0000000000000", "0x3810000000000000");
    let at_least = |bound: &str| format!("%v = call float @llvm.maxnum.f32(float %x, float {bound})");
    assert_eq!(compared(&at_least(denormal), "ogt", "0.0"), None);
    assert_eq!(compared(&at_least(denormal), "oge", denormal), None);
    assert_eq!(compared(&at_least(denormal), "oge", "0.0"), Some(true));
    assert_eq!(compared(&at_least(normal), "ogt", "0.0"), Some(true));
    assert_eq!(compared(&at_least(normal), "olt", normal), Some(false));
    // Zero against a denormal, which may be one itself.
    assert_eq!(compared(&at_least("0.0"), "ogt", "0xB7A0000000000000"), None);
    assert_eq!(compared(&at_least("0.0"), "oge", "0xB7A0000000000000"), Some(true));
    // What becomes a denormal may become zero.
    let scaled = format!("{}\n%v = fmul float %w, 0.5", at_least(normal).replace("%v", "%w"));
    assert_eq!(compared(&scaled, "ogt", "0.0"), None);
    assert_eq!(compared(&scaled, "oge", "0.0"), Some(true));
}

#[test]
fn arithmetic() {
    let of = |operation: &str| format!("{}\n%v = {operation}", CLAMPED.replace("%v", "%w"));
    assert_eq!(compared(&of("fadd float %w, 1.0"), "oge", "2.0"), Some(true));
    assert_eq!(compared(&of("fsub float 1.0, %w"), "ole", "0.0"), Some(true));
    assert_eq!(compared(&of("fmul float %w, -2.0"), "ole", "-2.0"), Some(true));
    assert_eq!(compared(&of("fmul float %w, -2.0"), "oge", "-16.0"), Some(true));
    let fused = "call float @llvm.fma.f32(float %w, float %w, float -1.0)";
    assert_eq!(compared(&of(fused), "ole", "63.0"), Some(true));
    let fused = "call float @llvm.nvvm.fma.rn.ftz.f(float %w, float -1.0, float 1.0)";
    assert_eq!(compared(&of(fused), "ogt", "0.0"), Some(false));
    // A sum that is rounded is at least one float below.
    assert_eq!(compared(&of("fadd float %w, 0x3C30000000000000"), "oge", "1.0"), None);
    assert_eq!(compared(&of("fadd float %w, 0x3C30000000000000"), "oge", "0x3FEFFFFFE0000000"), Some(true));
    // Flags that let LLVM compute it in another order, and one that does not.
    assert_eq!(compared(&of("fadd reassoc float %w, 1.0"), "oge", "2.0"), None);
    assert_eq!(compared(&of("fadd contract float %w, 1.0"), "oge", "2.0"), Some(true));
    // Division is not looked into.
    assert_eq!(compared(&of("fdiv float 1.0, %w"), "oge", "0.0"), None);
}

#[test]
fn arithmetic_that_makes_nan_or_infinity() {
    let infinity = "0x7FF0000000000000";
    let of = |operation: &str| {
        format!(
            "%p = call float @llvm.maxnum.f32(float %x, float 0.0)
%q = call float @llvm.maxnum.f32(float %y, float 0.0)
%v = {operation}"
        )
    };
    assert_eq!(compared(&of("fadd float %p, %q"), "uno", "0.0"), Some(false));
    assert_eq!(compared(&of("fsub float %p, %q"), "uno", "0.0"), None);
    assert_eq!(compared(&of("fmul float %p, %q"), "uno", "0.0"), None);
    assert_eq!(compared(&of("fmul float %p, 0.0"), "oeq", "0.0"), None);
    assert_eq!(compared(&of("fmul float %p, 0.0"), "une", "0.0"), None);
    assert_eq!(compared(&of("fmul float %p, 2.0"), "uno", "0.0"), Some(false));
    assert_eq!(compared(&of("fmul float %p, 2.0"), "oeq", infinity), None);
    // The product of finite numbers may be too large.
    let finite = CLAMPED.replace("%v", "%w").replace("float 8.0", "float 0x47E0000000000000");
    assert_eq!(compared(&format!("{finite}\n%v = fadd float %w, 0.0"), "olt", infinity), Some(true));
    assert_eq!(compared(&format!("{finite}\n%v = fmul float %w, 2.0"), "olt", infinity), None);
    assert_eq!(compared(&format!("{finite}\n%v = fmul float %w, 2.0"), "ord", "0.0"), Some(true));
    let root = |of: &str| {
        format!(
            "%p = call float @llvm.maxnum.f32(float %x, float {of})
%v = call float @llvm.nvvm.sqrt.approx.ftz.f(float %p)"
        )
    };
    assert_eq!(compared(&root("0.0"), "uge", "0.0"), Some(true));
    assert_eq!(compared(&root("0.0"), "ord", "0.0"), Some(true));
    assert_eq!(compared(&root("-1.0"), "ord", "0.0"), None);
    let power = "%v = call float @llvm.nvvm.ex2.approx.ftz.f32(float %x)";
    assert_eq!(compared(power, "olt", "0.0"), Some(false));
    assert_eq!(compared(power, "ogt", "0.0"), None);
    assert_eq!(compared(power, "ord", "0.0"), None);
}

#[test]
fn conversions() {
    assert_eq!(compared("%v = uitofp i32 %i to float", "olt", "0.0"), Some(false));
    assert_eq!(compared("%v = uitofp i32 %i to float", "ole", "0x41F0000000000000"), Some(true));
    assert_eq!(compared("%v = uitofp i32 %i to float", "olt", "0x41F0000000000000"), None);
    assert_eq!(compared("%v = sitofp i32 %i to float", "oge", "-2147483648.0"), Some(true));
    assert_eq!(compared("%v = sitofp i32 %i to float", "oge", "0.0"), None);
    assert_eq!(compared("%z = zext i32 %i to i128\n%v = uitofp i128 %z to float", "olt", "0.0"), None);
    // The least half above zero is a normal float, but may have been flushed before.
    let extended =
        |bound: &str| format!("%m = call half @llvm.maxnum.f16(half %h, half {bound})\n%v = fpext half %m to float");
    assert_eq!(compared(&extended("1.0"), "oge", "1.0"), Some(true));
    assert_eq!(compared(&extended("0xH0001"), "ogt", "0.0"), None);
    let truncated = |bound: &str| {
        format!("%m = call double @llvm.maxnum.f64(double %d, double {bound})\n%v = fptrunc double %m to float")
    };
    assert_eq!(compared(&truncated("1.0"), "oge", "1.0"), Some(true));
    assert_eq!(compared(&truncated("0x3FF0000000000001"), "ogt", "1.0"), None);
    assert_eq!(compared(&truncated("1.0e300"), "oge", "0x47EFFFFFE0000000"), Some(true));
    assert_eq!(compared(&truncated("1.0e300"), "olt", "0x7FF0000000000000"), None);
    let double = "%m = call double @llvm.maxnum.f64(double %d, double 1.0)\n%r = fcmp olt double %m, 1.0";
    assert_eq!(result(double), Some(false));
    let half = "%m = call half @llvm.maxnum.f16(half %h, half 1.0)\n%r = fcmp ult half %m, 1.0";
    assert_eq!(result(half), Some(false));
}

#[test]
fn choices() {
    let bounds = "%p = call float @llvm.maxnum.f32(float %x, float 1.0)
%q = call float @llvm.maxnum.f32(float %y, float 2.0)";
    let chosen = format!("{bounds}\n%v = select i1 %c, float %p, float %q");
    assert_eq!(compared(&chosen, "oge", "1.0"), Some(true));
    assert_eq!(compared(&chosen, "oge", "2.0"), None);
    // A comparison that is decided decides what is chosen.
    let decided = format!("{bounds}\n%t = fcmp olt float %p, 1.0\n%v = select i1 %t, float %x, float %q");
    assert_eq!(compared(&decided, "oge", "2.0"), Some(true));
    assert_eq!(compared(&decided.replace("olt", "oge"), "oge", "2.0"), None);
    let merged = |other: &str| {
        format!(
            "entry:\n{bounds}\nbr i1 %c, label %one, label %two\none:\nbr label %two\ntwo:
%v = phi float [ %p, %entry ], [ {other}, %one ]"
        )
    };
    assert_eq!(compared(&merged("%q"), "oge", "1.0"), Some(true));
    assert_eq!(compared(&merged("0.0"), "oge", "1.0"), None);
    assert_eq!(compared(&merged("%y"), "oge", "1.0"), None);
    assert_eq!(compared(&merged("poison"), "oge", "1.0"), None);
}

#[test]
fn what_a_loop_brings_back_may_be_anything() {
    let text = |back: &str| {
        format!(
            "entry:\nbr label %loop\nloop:
%s = phi float [ 1.0, %entry ], [ %n, %loop ]
%n = {back}
%r = fcmp olt float %s, 1.0
br i1 %c, label %loop, label %end\nend:"
        )
    };
    assert_eq!(result(&text("fsub float %s, 1.0")), None);
    assert_eq!(result(&text("fadd float %s, 1.0")), None);
    assert_eq!(result(&text("call float @llvm.maxnum.f32(float %s, float 2.0)")), None);
}

#[test]
fn bits_of_numbers_above_zero() {
    let bits = |value: &str, test: &str| result(&format!("{value}\n%b = bitcast float %v to i32\n%r = icmp {test}"));
    // Infinity and NaN.
    assert_eq!(bits(CLAMPED, "ugt i32 %b, 2139095039"), Some(false));
    assert_eq!(bits(CLAMPED, "ult i32 %b, 2139095040"), Some(true));
    assert_eq!(bits(CLAMPED, "sgt i32 %b, -1082130432"), Some(true));
    assert_eq!(bits(CLAMPED, "ugt i32 %b, -1082130432"), Some(false));
    assert_eq!(bits(CLAMPED_OR_NAN, "ugt i32 %b, 2139095039"), None);
    // From 0x3f800000 to 0x41000000.
    for (test, expected) in [
        ("eq i32 %b, 1065353215", Some(false)),
        ("eq i32 %b, 1065353216", None),
        ("ne i32 %b, 1090519041", Some(true)),
        ("ne i32 %b, 1090519040", None),
        ("uge i32 %b, 1065353216", Some(true)),
        ("uge i32 %b, 1065353217", None),
        ("sge i32 %b, 1065353216", Some(true)),
        ("ule i32 %b, 1090519040", Some(true)),
        ("sle i32 %b, 1090519039", None),
        ("slt i32 %b, 0", Some(false)),
        ("ugt i32 1065353215, %b", None),
    ] {
        assert_eq!(bits(CLAMPED, test), expected, "{test}");
    }
    // Negative zero, whose bits are above those of infinity, is as much as zero.
    let positive = "%v = call float @llvm.maxnum.f32(float %x, float 0.0)";
    assert_eq!(bits(positive, "slt i32 %b, 0"), None);
    assert_eq!(bits(&positive.replace("0.0)", "0x37A0000000000000)"), "slt i32 %b, 0"), None);
    // Infinity is a number.
    assert_eq!(bits(&positive.replace("0.0)", "1.0)"), "ugt i32 %b, 2139095039"), None);
    assert_eq!(bits(&positive.replace("0.0)", "1.0)"), "ugt i32 %b, 2139095040"), Some(false));
    let double = "%m = call double @llvm.maxnum.f64(double %d, double 1.0)
%n = call double @llvm.minnum.f64(double %m, double 2.0)
%b = bitcast double %n to i64\n%r = icmp ugt i64 %b, 9218868437227405311";
    assert_eq!(result(double), Some(false));
}

#[test]
fn logarithm_of_a_number_between_bounds() {
    let text = decided(&format!(
        "define float @k(float %x) {{
{CLAMPED}
%t = fcmp olt float %v, 0x3810000000000000
%m = fmul float %v, 0x4160000000000000
%w = select i1 %t, float %m, float %v
%b = bitcast float %w to i32
%i = icmp ugt i32 %b, 2139095039
%z = fcmp oeq float %w, 0.0
%e = select i1 %i, float 0x7FF0000000000000, float %w
%r = select i1 %z, float 0xFFF0000000000000, float %e
ret float %r
}}
{DECLARATIONS}"
    ));
    assert_eq!(text.matches("select i1 false").count(), 3, "{text}");
}
