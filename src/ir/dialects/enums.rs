//! Enumerations that operations' attributes take, with MLIR's and Triton's numbers.

use super::spec::EnumSpec;
use crate::ir::core::attrs::zero_extend;

macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident $title:literal { $($case:literal = $value:literal),* $(,)? })*) => {
        $($(#[$doc])* pub static $name: EnumSpec = EnumSpec { name: $title, cases: &[$(($case, $value)),*] };)*
    };
}

enums! {
    CMPI "integer comparison predicate" {
        "eq" = 0, "ne" = 1, "slt" = 2, "sle" = 3, "sgt" = 4, "sge" = 5, "ult" = 6, "ule" = 7, "ugt" = 8, "uge" = 9,
    }
    CMPF "float comparison predicate" {
        "false" = 0, "oeq" = 1, "ogt" = 2, "oge" = 3, "olt" = 4, "ole" = 5, "one" = 6, "ord" = 7,
        "ueq" = 8, "ugt" = 9, "uge" = 10, "ult" = 11, "ule" = 12, "une" = 13, "uno" = 14, "true" = 15,
    }
    FASTMATH "fast-math flags" {
        "none" = 0, "reassoc" = 1, "nnan" = 2, "ninf" = 4, "nsz" = 8, "arcp" = 16, "contract" = 32, "afn" = 64, "fast" = 127,
    }
    OVERFLOW "integer overflow flags" { "none" = 0, "nsw" = 1, "nuw" = 2 }
    /// Of `arith.truncf`.
    ROUNDING_MODE "rounding mode" { "to_nearest_even" = 0, "downward" = 1, "upward" = 2, "toward_zero" = 3, "to_nearest_away" = 4 }
    CACHE_MODIFIER "cache modifier" { "none" = 1, "ca" = 2, "cg" = 3, "wb" = 4, "cs" = 5, "wt" = 6, "cv" = 7 }
    MEM_SEMANTIC "memory semantics" { "relaxed" = 1, "acquire" = 2, "release" = 3, "acq_rel" = 4 }
    EVICTION_POLICY "eviction policy" { "evict_normal" = 1, "evict_first" = 2, "evict_last" = 3 }
    PADDING_OPTION "padding option" { "zero" = 1, "nan" = 2 }
    ATOMIC_RMW "atomic operation" {
        "and" = 1, "or" = 2, "xor" = 3, "add" = 4, "fadd" = 5, "max" = 6, "min" = 7, "umax" = 8, "umin" = 9, "exch" = 10,
    }
    DESCRIPTOR_REDUCE "descriptor reduction" { "add" = 1, "min" = 2, "max" = 3, "inc" = 4, "dec" = 5, "and" = 6, "or" = 7, "xor" = 8 }
    TMEM_REDUCE "reduction of a tensor memory load" { "min" = 1, "max" = 2 }
    TMEM_WAIT "kind of tensor memory access" { "load" = 0, "store" = 1 }
    /// Of `ttng.packed_arith`.
    PACKED_ARITH "packed operation" { "add" = 0, "sub" = 1, "mul" = 2, "fma" = 3, "min" = 4, "max" = 5 }
    MEM_SCOPE "memory scope" { "gpu" = 1, "cta" = 2, "sys" = 3 }
    PROGRAM_DIM "grid dimension" { "x" = 0, "y" = 1, "z" = 2 }
    /// Of `tt.fp_to_fp`.
    FP_ROUNDING "rounding mode" { "rtz" = 0, "rtne" = 1 }
    PROPAGATE_NAN "NaN propagation" { "none" = 0, "all" = 65535 }
    INPUT_PRECISION "input precision" { "tf32" = 0, "tf32x3" = 1, "ieee" = 2, "bf16x3" = 3, "bf16x6" = 4 }
    SCALE_DOT_ELEM "element type of a scaled operand" {
        "e4m3" = 0, "e5m2" = 1, "e2m3" = 2, "e3m2" = 3, "e2m1" = 4, "bf16" = 5, "fp16" = 6,
    }
}

/// Whether `arith.cmpi` with this predicate's number holds for two integers of a width, given sign-extended; `None` for an unknown predicate.
#[must_use]
pub fn cmpi_holds(predicate: i64, a: i64, b: i64, width: u32) -> Option<bool> {
    let (ua, ub) = (zero_extend(a, width), zero_extend(b, width));
    Some(match predicate {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        6 => ua < ub,
        7 => ua <= ub,
        8 => ua > ub,
        9 => ua >= ub,
        _ => return None,
    })
}
