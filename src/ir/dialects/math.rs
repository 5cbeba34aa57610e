//! The `math` dialect: elementary functions, element by element on tensors.

use super::enums::FASTMATH;
use super::fold::math as fold;
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
                host: Some(HostFunction::exact(f32::abs, f64::abs)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Smallest integer not below.
            Ceil "ceil"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::exact(f32::ceil, f64::ceil)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Cosine.
            Cos "cos" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                host: Some(HostFunction::one(f32::cos, f64::cos)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Error function.
            Erf "erf" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                host: Some(HostFunction::one(|x| libm::erf(f64::from(x)) as f32, libm::erf)),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// e to the power.
            Exp "exp" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                host: Some(HostFunction::one(f32::exp, f64::exp)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// 2 to the power.
            Exp2 "exp2"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one(f32::exp2, f64::exp2)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// exp(x) - 1.
            Expm1 "expm1"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one(f32::exp_m1, f64::exp_m1)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Largest integer not above.
            Floor "floor"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::exact(f32::floor, f64::floor)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Natural logarithm.
            Log "log" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                host: Some(HostFunction::one_from(0.0, f32::ln, f64::ln)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Logarithm to base 10.
            Log10 "log10"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one_from(0.0, f32::log10, f64::log10)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// log(1 + x).
            Log1p "log1p"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one_from(-1.0, f32::ln_1p, f64::ln_1p)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Logarithm to base 2.
            Log2 "log2"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one_from(0.0, f32::log2, f64::log2)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Nearest integer, halves away from zero.
            Round "round"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::exact(f32::round, f64::round)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Nearest integer, halves to even.
            Roundeven "roundeven"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::exact(f32::round_ties_even, f64::round_ties_even)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// 1 / sqrt(x).
            Rsqrt "rsqrt"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one_from(0.0, |x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt())),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Sine.
            Sin "sin" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                host: Some(HostFunction::one(f32::sin, f64::sin)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Square root.
            Sqrt "sqrt"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one_from(0.0, f32::sqrt, f64::sqrt)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Tangent.
            Tan "tan" (operand: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) { fastmath: Flags(&FASTMATH) => IntIs(0) } {
                host: Some(HostFunction::one(f32::tan, f64::tan)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Hyperbolic tangent.
            Tanh "tanh"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::one(f32::tanh, f64::tanh)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Towards zero.
            Trunc "trunc"
                (operand: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::exact(f32::trunc, f64::trunc)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Absolute value of a signed integer.
            Absi "absi" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::Integer(host::bits::magnitude)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
            };
            /// Leading zero bits.
            Ctlz "ctlz" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                host: Some(HostFunction::Integer(host::bits::leading_zeros)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
            };
            /// One bits.
            Ctpop "ctpop" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                host: Some(HostFunction::Integer(host::bits::ones)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
            };
            /// Trailing zero bits.
            Cttz "cttz" (operand: one INT_LIKE) -> (result: one INT_LIKE) {} {
                host: Some(HostFunction::Integer(host::bits::trailing_zeros)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$operand attr-dict `:` type($result)"),
            };
            /// Angle of the point (rhs, lhs).
            Atan2 "atan2"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::Two(f32::atan2, f64::atan2)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// Magnitude of lhs with the sign of rhs.
            Copysign "copysign"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::Patterns(host::bits::copy_sign)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// lhs to the power rhs.
            Powf "powf"
                (lhs: one FLOAT_LIKE, rhs: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                host: Some(HostFunction::Two(f32::powf, f64::powf)),
                fold: Some(fold::host_function),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
            /// a * b + c, rounded once.
            Fma "fma"
                (a: one FLOAT_LIKE, b: one FLOAT_LIKE, c: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { fastmath: Flags(&FASTMATH) => IntIs(0) }
                {
                classes: Classes::SIMPLE,
                host: Some(HostFunction::Three(f32::mul_add, f64::mul_add)),
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"),
            };
    }
}
