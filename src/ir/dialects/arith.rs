//! The `arith` dialect: integer and floating-point arithmetic, element by element on tensors.

use super::infer;
use super::spec::dialect;
use crate::ir::dialects::enums::{CMPF, CMPI, FASTMATH, OVERFLOW, ROUNDING_MODE};

dialect! {
    /// Operations of the `arith` dialect.
    ArithOp "arith" (arith) {
            /// A constant: an integer, a float or a dense tensor.
            /// `arith.constant dense<0.0> : tensor<128xf32>`
            Constant "constant" () -> (result: one ANY) { value: Typed } {
                traits: Traits::CONSTANT,
                format: Format::Custom,
            };
            /// Integer addition, wrapping.
            Addi "addi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) { overflowFlags: Flags(&OVERFLOW) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Integer subtraction, wrapping.
            Subi "subi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) { overflowFlags: Flags(&OVERFLOW) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Integer multiplication, wrapping.
            Muli "muli" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) { overflowFlags: Flags(&OVERFLOW) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Signed division, rounding towards zero.
            Divsi "divsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Unsigned division.
            Divui "divui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Signed division, rounding up.
            Ceildivsi "ceildivsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Unsigned division, rounding up.
            Ceildivui "ceildivui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Signed division, rounding down.
            Floordivsi "floordivsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Remainder of signed division; it has the dividend's sign.
            Remsi "remsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Remainder of unsigned division.
            Remui "remui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::NOT_SPECULATABLE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Bitwise and.
            Andi "andi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Bitwise or.
            Ori "ori" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Bitwise exclusive or.
            Xori "xori" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Shift left; the result is poison when the amount is not below the width.
            Shli "shli" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) { overflowFlags: Flags(&OVERFLOW) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Arithmetic shift right.
            Shrsi "shrsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Logical shift right.
            Shrui "shrui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Signed maximum.
            Maxsi "maxsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Unsigned maximum.
            Maxui "maxui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Signed minimum.
            Minsi "minsi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Unsigned minimum.
            Minui "minui" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Floating-point addition.
            Addf "addf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Floating-point subtraction.
            Subf "subf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Floating-point multiplication.
            Mulf "mulf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Floating-point division.
            Divf "divf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Floating-point remainder, as C's `fmod`.
            Remf "remf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Maximum; NaN if an operand is NaN.
            Maximumf "maximumf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Minimum; NaN if an operand is NaN.
            Minimumf "minimumf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Maximum; the other operand if one is NaN.
            Maxnumf "maxnumf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Minimum; the other operand if one is NaN.
            Minnumf "minnumf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE).union(Traits::COMMUTATIVE),
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Negation: flips the sign bit.
            Negf "negf" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_OPERANDS_AND_RESULT_TYPE.union(Traits::ELEMENTWISE),
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Integer comparison.
            Cmpi "cmpi" (lhs: one INT_LIKE, rhs: one INT_LIKE) -> (result: one BOOL_LIKE) { predicate: Enum(&CMPI) } {
                traits: Traits::SAME_TYPE_OPERANDS.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"),
                infer: Some(infer::compare),
            };
            /// Floating-point comparison; the predicate says whether it is ordered.
            Cmpf "cmpf" (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE) -> (result: one BOOL_LIKE) { predicate: Enum(&CMPF), fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::SAME_TYPE_OPERANDS.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)"),
                infer: Some(infer::compare),
            };
            /// Picks the second operand where the first is true, else the third. The condition is one bit or a tensor of them.
            Select "select" (condition: one BOOL_LIKE, true_value: one ANY, false_value: one ANY) -> (result: one ANY) {} {
                traits: Traits::ELEMENTWISE,
                format: Format::Custom,
                infer: Some(infer::select),
            };
            /// Sign extension.
            Extsi "extsi" (in_: one INT_LIKE) -> (out: one INT_LIKE) {} {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Zero extension.
            Extui "extui" (in_: one INT_LIKE) -> (out: one INT_LIKE) { nonNeg: Unit => Absent } {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Keeps the low bits.
            Trunci "trunci" (in_: one INT_LIKE) -> (out: one INT_LIKE) { overflowFlags: Flags(&OVERFLOW) => IntIs(0) } {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`overflow` `` $overflowFlags^)? attr-dict `:` type($in_) `to` type($out)"),
            };
            /// To a wider float, exactly.
            Extf "extf" (in_: one FLOAT_LIKE) -> (out: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => Absent } {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)"),
            };
            /// To a narrower float, rounded to nearest even unless told otherwise.
            Truncf "truncf" (in_: one FLOAT_LIKE) -> (out: one FLOAT_LIKE) { roundingmode: Enum(&ROUNDING_MODE) => Absent, fastmath: Flags(&FASTMATH) => Absent } {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Signed integer to float.
            Sitofp "sitofp" (in_: one INT_LIKE) -> (out: one FLOAT_LIKE) {} {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Unsigned integer to float.
            Uitofp "uitofp" (in_: one INT_LIKE) -> (out: one FLOAT_LIKE) { nonNeg: Unit => Absent } {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Float to signed integer, towards zero.
            Fptosi "fptosi" (in_: one FLOAT_LIKE) -> (out: one INT_LIKE) {} {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Float to unsigned integer, towards zero.
            Fptoui "fptoui" (in_: one FLOAT_LIKE) -> (out: one INT_LIKE) {} {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
            };
            /// The same bits as another type of the same width.
            Bitcast "bitcast" (in_: one ANY) -> (out: one ANY) {} {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
            };
            /// Between `index` and an integer, signed.
            IndexCast "index_cast" (in_: one ANY) -> (out: one ANY) {} {
                traits: Traits::CAST.union(Traits::ELEMENTWISE).union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE).union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                format: Format::Text("$in_ attr-dict `:` type($in_) `to` type($out)"),
            };
    }
}
