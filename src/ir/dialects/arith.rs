//! The `arith` dialect: integer and floating-point arithmetic, element by element on tensors.

use super::fold::arith as fold;
use super::infer;
use super::table::dialect;
use super::verify;
use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate, FASTMATH, OVERFLOW, RoundingMode};

dialect! {
    /// Operations of the `arith` dialect.
    Arith(ArithOp) "arith" (arith) {
            /// A constant: an integer, a float or a dense tensor.
            /// `arith.constant dense<0.0> : tensor<128xf32>`
            Constant "constant" () -> (result: one ANY) { value: Typed } {
                classes: Classes::TAKES_ANY_RESULT_LAYOUT,
                traits: Traits::CONSTANT,
                format: Format::Custom,
                verify: Some(verify::arith::constant),
            };
            /// Integer addition, wrapping.
            Addi "addi"
                (lhs: one INT_LIKE, rhs: one INT_LIKE)
                -> (result: one INT_LIKE)
                { overflowFlags: Flags(&OVERFLOW) => IntIs(0) }
                {
                fold: Some(fold::addi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
            };
            /// Integer subtraction, wrapping.
            Subi "subi"
                (lhs: one INT_LIKE, rhs: one INT_LIKE)
                -> (result: one INT_LIKE)
                { overflowFlags: Flags(&OVERFLOW) => IntIs(0) }
                {
                fold: Some(fold::subi),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
            };
            /// Integer multiplication, wrapping.
            Muli "muli"
                (lhs: one INT_LIKE, rhs: one INT_LIKE)
                -> (result: one INT_LIKE)
                { overflowFlags: Flags(&OVERFLOW) => IntIs(0) }
                {
                fold: Some(fold::muli),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
            };
            /// Signed division, rounding towards zero.
            Divsi "divsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::divsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Unsigned division.
            Divui "divui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::divui),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Signed division, rounding up.
            Ceildivsi "ceildivsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::ceildivsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Unsigned division, rounding up.
            Ceildivui "ceildivui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::ceildivui),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Signed division, rounding down.
            Floordivsi "floordivsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::floordivsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Remainder of signed division; it has the dividend's sign.
            Remsi "remsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::remsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Remainder of unsigned division.
            Remui "remui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::remui),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Bitwise and.
            Andi "andi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::andi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Bitwise or.
            Ori "ori" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::ori),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Bitwise exclusive or.
            Xori "xori" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::xori),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Shift left; the result is poison when the amount is not below the width.
            Shli "shli"
                (lhs: one INT_LIKE, rhs: one INT_LIKE)
                -> (result: one INT_LIKE)
                { overflowFlags: Flags(&OVERFLOW) => IntIs(0) }
                {
                fold: Some(fold::shli),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
            };
            /// Arithmetic shift right.
            Shrsi "shrsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::shrsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Logical shift right.
            Shrui "shrui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::shrui),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Signed maximum.
            Maxsi "maxsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::maxsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Unsigned maximum.
            Maxui "maxui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::maxui),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Signed minimum.
            Minsi "minsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::minsi),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Unsigned minimum.
            Minui "minui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::minui),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
            };
            /// Floating-point addition.
            Addf "addf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::addf),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Floating-point subtraction.
            Subf "subf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::subf),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Floating-point multiplication.
            Mulf "mulf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::mulf),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Floating-point division.
            Divf "divf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::divf),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Floating-point remainder, as C's `fmod`.
            Remf "remf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::remf),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Maximum; NaN if an operand is NaN.
            Maximumf "maximumf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::maximumf),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Minimum; NaN if an operand is NaN.
            Minimumf "minimumf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::minimumf),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Maximum; the other operand if one is NaN.
            Maxnumf "maxnumf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::maxnumf),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Minimum; the other operand if one is NaN.
            Minnumf "minnumf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::minnumf),
                traits: Traits::ELEMENTWISE_SAME_TYPE.union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Negation: flips the sign bit.
            Negf "negf"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::negf),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Integer comparison.
            Cmpi "cmpi"
                (lhs: one INT_LIKE, rhs: one INT_LIKE)
                -> (result: one BOOL_LIKE)
                { predicate: Enum(CmpiPredicate) }
                {
                fold: Some(fold::cmpi),
                traits: Traits::SAME_TYPE_OPERANDS
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"),
                types: &[TypeRule::bits("result", "lhs")],
            };
            /// Floating-point comparison; the predicate says whether it is ordered.
            Cmpf "cmpf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one BOOL_LIKE)
                { predicate: Enum(CmpfPredicate), fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::cmpf),
                traits: Traits::SAME_TYPE_OPERANDS
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text(
                    "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)",
                ),
                types: &[TypeRule::bits("result", "lhs")],
            };
            /// Picks the second operand where the first is true, else the third. The condition is one bit or a tensor
            /// of them.
            Select "select"
                (condition: one BOOL_LIKE, true_value: one ANY, false_value: one ANY)
                -> (result: one ANY)
                {}
                {
                fold: Some(fold::select),
                traits: Traits::ELEMENTWISE,
                format: Format::Custom,
                infer: Some(infer::select),
                verify: Some(verify::arith::select),
            };
            /// Sign extension.
            Extsi "extsi" (in_: one INT_LIKE) -> (out: one INT_LIKE) {} {
                classes: Classes::WIDENS,
                fold: Some(fold::extsi),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::extend_int),
            };
            /// Zero extension.
            Extui "extui" (in_: one INT_LIKE) -> (out: one INT_LIKE) { nonNeg: Unit => Absent } {
                classes: Classes::WIDENS,
                fold: Some(fold::extui),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::extend_int),
            };
            /// Keeps the low bits.
            Trunci "trunci" (in_: one INT_LIKE) -> (out: one INT_LIKE) { overflowFlags: Flags(&OVERFLOW) => IntIs(0) } {
                fold: Some(fold::trunci),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`overflow` `` $overflowFlags^)? attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::truncate_int),
            };
            /// To a wider float, exactly.
            Extf "extf" (in_: one FLOAT_LIKE) -> (out: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => Absent } {
                classes: Classes::WIDENS,
                fold: Some(fold::extf),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::extend_float),
            };
            /// To a narrower float, rounded to nearest even unless told otherwise.
            Truncf "truncf"
                (in_: one FLOAT_LIKE)
                -> (out: one FLOAT_LIKE)
                { roundingmode: Enum(RoundingMode) => Absent, fastmath: Flags(&FASTMATH) => Absent }
                {
                fold: Some(fold::truncf),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text(
                    "$in_ ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)",
                ),
                verify: Some(verify::arith::truncate_float),
            };
            /// Signed integer to float.
            Sitofp "sitofp" (in_: one INT_LIKE) -> (out: one FLOAT_LIKE) {} {
                fold: Some(fold::sitofp),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::from_int),
            };
            /// Unsigned integer to float.
            Uitofp "uitofp" (in_: one INT_LIKE) -> (out: one FLOAT_LIKE) { nonNeg: Unit => Absent } {
                fold: Some(fold::uitofp),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::from_int),
            };
            /// Float to signed integer, towards zero.
            Fptosi "fptosi" (in_: one FLOAT_LIKE) -> (out: one INT_LIKE) {} {
                fold: Some(fold::fptosi),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::to_int),
            };
            /// Float to unsigned integer, towards zero.
            Fptoui "fptoui" (in_: one FLOAT_LIKE) -> (out: one INT_LIKE) {} {
                fold: Some(fold::fptoui),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::to_int),
            };
            /// The same bits as another type of the same width.
            Bitcast "bitcast" (in_: one ANY) -> (out: one ANY) {} {
                fold: Some(fold::bitcast),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::bitcast),
            };
            /// Between `index` and an integer, signed.
            IndexCast "index_cast" (in_: one ANY) -> (out: one ANY) {} {
                fold: Some(fold::index_cast),
                traits: Traits::CAST
                    .union(Traits::ELEMENTWISE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
                verify: Some(verify::arith::index_cast),
            };
    }
}
