//! Enumerations that operations' attributes take, with MLIR's and Triton's numbers.
//!
//! Each is a Rust enum; an operation's view gives it (`tt::Load(op).cache(ir)`), and [`Enumeration::attr`] makes the
//! attribute. The text of the IR knows the cases by the [`EnumSpec`] beside it.

use super::spec::EnumSpec;
use crate::ir::core::{Attr, AttrData, Ir, Name, Op};

/// An enumeration that attributes take.
pub trait Enumeration: Copy + Eq + 'static {
    /// The cases by name and number, as the text of the IR reads and writes them.
    const SPEC: &'static EnumSpec;

    /// The case of this number.
    #[must_use]
    fn from_number(number: i64) -> Option<Self>;

    /// The number that the attribute holds.
    #[must_use]
    fn number(self) -> i64;

    /// The case as the text writes it.
    #[must_use]
    fn name(self) -> &'static str;

    /// The case as an attribute.
    #[must_use]
    fn attr(self) -> Attr {
        Attr::i32(self.number())
    }
}

impl Ir {
    /// The case that an attribute holds: the default if it is not stored, `None` if there is none or its number is no
    /// case's. Views give it by the attribute's own name; this is for operations of several kinds.
    #[must_use]
    pub fn enum_attr<E: Enumeration>(&self, op: Op, name: &str) -> Option<E> {
        self.int_attr(op, name).and_then(E::from_number)
    }
}

macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident $title:literal { $($case:ident $text:literal = $value:literal),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub enum $name {
                $($case = $value,)*
            }

            impl Enumeration for $name {
                const SPEC: &'static EnumSpec = {
                    static SPEC: EnumSpec = EnumSpec { name: $title, cases: &[$(($text, $value)),*] };
                    &SPEC
                };

                fn from_number(number: i64) -> Option<$name> {
                    match number {
                        $($value => Some($name::$case),)*
                        _ => None,
                    }
                }

                fn number(self) -> i64 {
                    self as i64
                }

                fn name(self) -> &'static str {
                    match self {
                        $($name::$case => $text,)*
                    }
                }
            }

            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(self.name())
                }
            }
        )*
    };
}

enums! {
    /// How `arith.cmpi` compares; the second group takes the integers without a sign.
    CmpiPredicate "integer comparison predicate" {
        Eq "eq" = 0, Ne "ne" = 1, Slt "slt" = 2, Sle "sle" = 3, Sgt "sgt" = 4, Sge "sge" = 5, Ult "ult" = 6,
        Ule "ule" = 7, Ugt "ugt" = 8, Uge "uge" = 9,
    }
    /// How `arith.cmpf` compares: the ordered predicates fail and the unordered ones hold against NaN.
    CmpfPredicate "float comparison predicate" {
        False "false" = 0, Oeq "oeq" = 1, Ogt "ogt" = 2, Oge "oge" = 3, Olt "olt" = 4, Ole "ole" = 5, One "one" = 6,
        Ord "ord" = 7, Ueq "ueq" = 8, Ugt "ugt" = 9, Uge "uge" = 10, Ult "ult" = 11, Ule "ule" = 12, Une "une" = 13,
        Uno "uno" = 14, True "true" = 15,
    }
    /// Of `arith.truncf`.
    RoundingMode "rounding mode" {
        ToNearestEven "to_nearest_even" = 0, Downward "downward" = 1, Upward "upward" = 2, TowardZero "toward_zero" = 3,
        ToNearestAway "to_nearest_away" = 4,
    }
    /// Which caches keep what an access to global memory touches.
    CacheModifier "cache modifier" {
        None "none" = 1, Ca "ca" = 2, Cg "cg" = 3, Wb "wb" = 4, Cs "cs" = 5, Wt "wt" = 6, Cv "cv" = 7,
    }
    /// What an atomic access orders.
    MemSemantic "memory semantics" {
        Relaxed "relaxed" = 1, Acquire "acquire" = 2, Release "release" = 3, AcqRel "acq_rel" = 4,
    }
    /// How soon the cache may give up a line.
    EvictionPolicy "eviction policy" {
        EvictNormal "evict_normal" = 1, EvictFirst "evict_first" = 2, EvictLast "evict_last" = 3,
    }
    /// What a load of a block gives outside of the tensor.
    PaddingOption "padding option" { Zero "zero" = 1, Nan "nan" = 2 }
    /// What an atomic read-modify-write computes.
    RmwKind "atomic operation" {
        And "and" = 1, Or "or" = 2, Xor "xor" = 3, Add "add" = 4, Fadd "fadd" = 5, Max "max" = 6, Min "min" = 7,
        Umax "umax" = 8, Umin "umin" = 9, Exch "exch" = 10,
    }
    /// What a reduction through a descriptor computes.
    DescriptorReduceKind "descriptor reduction" {
        Add "add" = 1, Min "min" = 2, Max "max" = 3, Inc "inc" = 4, Dec "dec" = 5, And "and" = 6, Or "or" = 7,
        Xor "xor" = 8,
    }
    /// What a load from tensor memory gives of each row beside it.
    TmemReduceKind "reduction of a tensor memory load" { Min "min" = 1, Max "max" = 2 }
    /// Which accesses to tensor memory are waited for.
    TmemWaitKind "kind of tensor memory access" { Load "load" = 0, Store "store" = 1 }
    /// What `ttng.packed_arith` computes.
    PackedKind "packed operation" {
        Add "add" = 0, Sub "sub" = 1, Mul "mul" = 2, Fma "fma" = 3, Min "min" = 4, Max "max" = 5,
    }
    /// Who sees what an atomic access orders.
    MemScope "memory scope" { Gpu "gpu" = 1, Cta "cta" = 2, Sys "sys" = 3 }
    /// An axis of the grid.
    ProgramDim "grid dimension" { X "x" = 0, Y "y" = 1, Z "z" = 2 }
    /// Of `tt.fp_to_fp`.
    FpRounding "rounding mode" { Rtz "rtz" = 0, Rtne "rtne" = 1 }
    /// Whether `tt.clampf` gives NaN for NaN.
    PropagateNan "NaN propagation" { None "none" = 0, All "all" = 65535 }
    /// How a dot of f32 is computed.
    InputPrecision "input precision" {
        Tf32 "tf32" = 0, Tf32x3 "tf32x3" = 1, Ieee "ieee" = 2, Bf16x3 "bf16x3" = 3, Bf16x6 "bf16x6" = 4,
    }
    /// Kinds of instructions that the scheduler of AMD's back end keeps apart.
    SchedGroup "kind of instructions" {
        None "none" = 0, NonMemNonSideeffect "non_mem_non_sideeffect" = 1, Valu "valu" = 2, Salu "salu" = 4,
        MfmaWmma "mfma_wmma" = 8, AllVmem "all_vmem" = 16, VmemRead "vmem_read" = 32, VmemWrite "vmem_write" = 64,
        AllDs "all_ds" = 128, DsRead "ds_read" = 256, DsWrite "ds_write" = 512, Transcendentals "transcendentals" = 1024,
    }
    /// What the operand of a scaled dot holds.
    ScaledElem "element type of a scaled operand" {
        E4m3 "e4m3" = 0, E5m2 "e5m2" = 1, E2m3 "e2m3" = 2, E3m2 "e3m2" = 3, E2m1 "e2m1" = 4, Bf16 "bf16" = 5,
        Fp16 "fp16" = 6,
    }
}

/// Fast-math flags; several may be set at once.
pub static FASTMATH: EnumSpec = EnumSpec {
    name: "fast-math flags",
    cases: &[
        ("none", 0),
        ("reassoc", 1),
        ("nnan", 2),
        ("ninf", 4),
        ("nsz", 8),
        ("arcp", 16),
        ("contract", 32),
        ("afn", 64),
        ("fast", 127),
    ],
};

/// Integer overflow flags; both may be set.
pub static OVERFLOW: EnumSpec =
    EnumSpec { name: "integer overflow flags", cases: &[("none", 0), ("nsw", 1), ("nuw", 2)] };

/// Triton 3.9's one attribute for both, `#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>`; none
/// for the default.
#[must_use]
pub fn cache_policy(cache: CacheModifier, evict: EvictionPolicy) -> Option<Attr> {
    let plain = cache == CacheModifier::None && evict == EvictionPolicy::EvictNormal;
    let text = format!("#tt.cache_policy<cache_modifier = {cache}, eviction_policy = {evict}>");
    (!plain).then(|| Attr::new(AttrData::Opaque(Name::of(&text))))
}
