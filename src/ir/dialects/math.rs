//! The `math` dialect: elementary functions, element by element on tensors.

use super::enums::FASTMATH;
use super::fold::math as fold;
use super::infer;
use super::table::dialect;

dialect! {
    /// Operations of the `math` dialect.
    Math(MathOp) "math" (math) {
            /// Absolute value: clears the sign bit.
            Absf "absf"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Smallest integer not below.
            Ceil "ceil"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Cosine.
            Cos "cos" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Error function.
            Erf "erf" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// e to the power.
            Exp "exp" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// 2 to the power.
            Exp2 "exp2"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// exp(x) - 1.
            Expm1 "expm1"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Largest integer not above.
            Floor "floor"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Natural logarithm.
            Log "log" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Logarithm to base 10.
            Log10 "log10"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// log(1 + x).
            Log1p "log1p"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Logarithm to base 2.
            Log2 "log2"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Nearest integer, halves away from zero.
            Round "round"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Nearest integer, halves to even.
            Roundeven "roundeven"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// 1 / sqrt(x).
            Rsqrt "rsqrt"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Sine.
            Sin "sin" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Square root.
            Sqrt "sqrt"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Tangent.
            Tan "tan" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Hyperbolic tangent.
            Tanh "tanh"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Towards zero.
            Trunc "trunc"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::unary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Absolute value of a signed integer.
            Absi "absi" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                classes: Classes::SIMPLE,
                fold: Some(fold::integer),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Leading zero bits.
            Ctlz "ctlz" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::integer),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// One bits.
            Ctpop "ctpop" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::integer),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Trailing zero bits.
            Cttz "cttz" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                fold: Some(fold::integer),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Angle of the point (rhs, lhs).
            Atan2 "atan2"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::binary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// Magnitude of lhs with the sign of rhs.
            Copysign "copysign"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                fold: Some(fold::binary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// lhs to the power rhs.
            Powf "powf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                fold: Some(fold::binary),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
            /// a * b + c, rounded once.
            Fma "fma"
                (a: one FLOAT_LIKE, b: one FLOAT_LIKE, c: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
                infer: Some(infer::same_type),
            };
    }
}
