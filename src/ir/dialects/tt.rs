//! The `tt` dialect: tensors of values and pointers, before anybody decides which thread holds what.

use super::enums::{
    CacheModifier, DescriptorReduceKind, EvictionPolicy, FpRounding, InputPrecision, MemScope, MemSemantic,
    PaddingOption, ProgramDim, PropagateNan, RmwKind, ScaledElem,
};
use super::fold::tt as fold;
use super::infer;
use super::table::dialect;
use super::verify;

dialect! {
    /// Operations of the `tt` dialect.
    Tt(TtOp) "tt" (tt) {
            /// A function. Public ones are kernels; parameters carry facts such as `tt.divisibility`.
            Func "func"
                ()
                -> ()
                {
                    sym_name: Str, function_type: Type, sym_visibility: Str => Absent, arg_attrs: Array => Absent,
                    res_attrs: Array => Absent,
                }
                {
                regions: &["body"],
                traits: Traits::ISOLATED_FROM_ABOVE.union(Traits::SYMBOL).union(Traits::FUNCTION),
                effects: Effects::Unknown,
                format: Format::Custom,
                verify: Some(verify::tt::func),
            };
            /// Ends a function.
            Return "return" (srcs: many ANY) -> () {} {
                traits: Traits::TERMINATOR,
                format: Format::Text("attr-dict ($srcs^ `:` type($srcs))?"),
                verify: Some(verify::tt::r#return),
            };
            /// Calls a function of the module.
            Call "call"
                (args: many ANY)
                -> (results: many ANY)
                { callee: Symbol, arg_attrs: Array => Absent, res_attrs: Array => Absent }
                {
                effects: Effects::Unknown,
                format: Format::Text("$callee `(` $args `)` attr-dict `:` functional-type($args, $results)"),
            };
            /// An address as a pointer.
            IntToPtr "int_to_ptr" (src: one I64_LIKE) -> (result: one PTR_LIKE) {} {
                traits: Traits::ELEMENTWISE_SAME_SHAPE,
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
            };
            /// A pointer's address.
            PtrToInt "ptr_to_int" (src: one PTR_LIKE) -> (result: one I64_LIKE) {} {
                traits: Traits::ELEMENTWISE_SAME_SHAPE,
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
            };
            /// The same bits as another type of the same width; also between pointers.
            Bitcast "bitcast" (src: one ANY) -> (result: one ANY) {} {
                fold: Some(fold::bitcast),
                traits: Traits::ELEMENTWISE_SAME_SHAPE,
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
                verify: Some(verify::tt::bitcast),
            };
            /// Conversion from or to an 8-bit float, or with a given rounding.
            FpToFp "fp_to_fp"
                (src: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { rounding: Enum(FpRounding) => Absent }
                {
                fold: Some(fold::fp_to_fp),
                traits: Traits::ELEMENTWISE_SAME_SHAPE,
                format: Format::Text(
                    "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)",
                ),
                verify: Some(verify::tt::fp_to_fp),
            };
            /// Limits x to [min, max]; undefined where min > max.
            Clampf "clampf"
                (x: one FLOAT_LIKE, min: one FLOAT_LIKE, max: one FLOAT_LIKE)
                -> (result: one FLOAT_LIKE)
                { propagateNan: Enum(PropagateNan) }
                {
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text(
                    "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)",
                ),
            };
            /// Square root, correctly rounded.
            PreciseSqrt "precise_sqrt" (x: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) {} {
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$x attr-dict `:` type($x)"),
            };
            /// Division, correctly rounded.
            PreciseDivf "precise_divf" (x: one FLOAT_LIKE, y: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) {} {
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$x `,` $y attr-dict `:` type($x)"),
            };
            /// Division, to within a few units in the last place.
            ApproxDivf "approx_divf" (x: one FLOAT_LIKE, y: one FLOAT_LIKE) -> (result: one FLOAT_LIKE) {} {
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$x `,` $y attr-dict `:` type($x)"),
            };
            /// The upper half of the unsigned product.
            Mulhiui "mulhiui" (x: one INT_LIKE, y: one INT_LIKE) -> (result: one INT_LIKE) {} {
                traits: Traits::ELEMENTWISE_SAME_TYPE,
                format: Format::Text("$x `,` $y attr-dict `:` type($x)"),
            };
            /// A pointer moved by a number of elements (signed).
            Addptr "addptr" (ptr: one PTR_LIKE, offset: one INT_LIKE) -> (result: one PTR_LIKE) {} {
                fold: Some(fold::addptr),
                traits: Traits::ELEMENTWISE_SAME_SHAPE,
                format: Format::Text("$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)"),
                types: &[TypeRule::same("result", "ptr")],
                verify: Some(verify::tt_memory::addptr),
            };
            /// Reads memory. Where the mask is false nothing is read and the result is `other`, or undefined without
            /// it. A volatile load counts as a write too: it must stay where it is.
            Load "load"
                (ptr: one ANY, mask: opt BOOL_LIKE, other: opt ANY)
                -> (result: one ANY)
                {
                    boundaryCheck: DenseArray(32) => Empty, padding: Enum(PaddingOption) => Absent,
                    cache: Enum(CacheModifier) => IntIs(1), evict: Enum(EvictionPolicy) => IntIs(1),
                    isVolatile: Bool => BoolIs(false),
                }
                {
                classes: Classes::GLOBAL_ACCESS.union(Classes::COALESCED).union(Classes::PREDICATED),
                traits: Traits::ATTR_SIZED_OPERANDS
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                effects: Effects::Read,
                format: Format::Text(
                    "$ptr (`,` $mask^)? (`,` $other^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` \
                     $evict) attr-dict `:` type($ptr)",
                ),
                types: &[
                    TypeRule::accessed("result", "ptr"),
                    TypeRule::bits("mask", "ptr"),
                    TypeRule::accessed("other", "ptr"),
                ],
                verify: Some(verify::tt_memory::load),
            };
            /// Writes memory where the mask is true.
            Store "store"
                (ptr: one ANY, value: one ANY, mask: opt BOOL_LIKE)
                -> ()
                {
                    boundaryCheck: DenseArray(32) => Empty, cache: Enum(CacheModifier) => IntIs(1),
                    evict: Enum(EvictionPolicy) => IntIs(1),
                }
                {
                layouts: LayoutRule::Shared,
                classes: Classes::GLOBAL_ACCESS.union(Classes::COALESCED).union(Classes::PREDICATED),
                traits: Traits::SAME_OPERANDS_SHAPE.union(Traits::SAME_OPERANDS_ENCODING),
                effects: Effects::Write,
                format: Format::Text(
                    "$ptr `,` $value (`,` $mask^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) \
                     attr-dict `:` type($ptr)",
                ),
                types: &[TypeRule::accessed("value", "ptr"), TypeRule::bits("mask", "ptr")],
                verify: Some(verify::tt_memory::store),
            };
            /// Atomically replaces what the pointer points at; gives what was there.
            AtomicRmw "atomic_rmw"
                (ptr: one PTR_LIKE, val: one ANY, mask: opt BOOL_LIKE)
                -> (result: one ANY)
                { atomic_rmw_op: Enum(RmwKind), sem: Enum(MemSemantic), scope: Enum(MemScope) }
                {
                exchange: Some(Exchange::Copies),
                classes: Classes::ATOMIC.union(Classes::GLOBAL_ACCESS).union(Classes::ANCHOR)
                    .union(Classes::COALESCED).union(Classes::PREDICATED),
                effects: Effects::ReadWrite,
                format: Format::Text(
                    "$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` \
                     functional-type(operands, $result)",
                ),
                types: &[
                    TypeRule::accessed("val", "ptr"),
                    TypeRule::accessed("result", "ptr"),
                    TypeRule::bits("mask", "ptr"),
                ],
            };
            /// Atomically stores `val` if what is there equals `cmp`; gives what was there.
            AtomicCas "atomic_cas"
                (ptr: one PTR_LIKE, cmp: one ANY, val: one ANY)
                -> (result: one ANY)
                { sem: Enum(MemSemantic), scope: Enum(MemScope) }
                {
                exchange: Some(Exchange::Copies),
                classes: Classes::ATOMIC.union(Classes::GLOBAL_ACCESS).union(Classes::ANCHOR).union(Classes::COALESCED),
                effects: Effects::ReadWrite,
                format: Format::Text(
                    "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)",
                ),
                types: &[
                    TypeRule::accessed("cmp", "ptr"),
                    TypeRule::accessed("val", "ptr"),
                    TypeRule::accessed("result", "ptr"),
                ],
            };
            /// Reads memory atomically, where the mask is true.
            AtomicLoad "atomic_load"
                (ptr: one PTR_LIKE, mask: opt BOOL_LIKE)
                -> (result: one ANY)
                { sem: Enum(MemSemantic), scope: Enum(MemScope) }
                {
                exchange: Some(Exchange::Copies),
                classes: Classes::ATOMIC.union(Classes::GLOBAL_ACCESS).union(Classes::ANCHOR).union(Classes::COALESCED),
                effects: Effects::ReadWrite,
                format: Format::Text(
                    "$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)",
                ),
                types: &[TypeRule::accessed("result", "ptr"), TypeRule::bits("mask", "ptr")],
                verify: Some(verify::tt_memory::atomic_load),
            };
            /// Writes memory atomically, where the mask is true.
            AtomicStore "atomic_store"
                (ptr: one PTR_LIKE, val: one ANY, mask: opt BOOL_LIKE)
                -> ()
                { sem: Enum(MemSemantic), scope: Enum(MemScope) }
                {
                classes: Classes::ATOMIC.union(Classes::GLOBAL_ACCESS).union(Classes::ANCHOR).union(Classes::COALESCED),
                effects: Effects::ReadWrite,
                format: Format::Text("$sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` type($ptr)"),
                types: &[TypeRule::accessed("val", "ptr"), TypeRule::bits("mask", "ptr")],
                verify: Some(verify::tt_memory::atomic_store),
            };
            /// Reads memory again and again until it is what is expected, or the time (in nanoseconds) is over; gives
            /// whether it was.
            AtomicPoll "atomic_poll"
                (ptr: one PTR_LIKE, expected: one ANY, timeout: opt I64)
                -> (result: one BOOL_LIKE)
                { sem: Enum(MemSemantic), scope: Enum(MemScope) }
                {
                exchange: Some(Exchange::Copies),
                classes: Classes::ATOMIC.union(Classes::GLOBAL_ACCESS).union(Classes::ANCHOR),
                effects: Effects::ReadWrite,
                format: Format::Text(
                    "$sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict `:` type($ptr) `,` \
                     type($expected) `->` type($result)",
                ),
                types: &[TypeRule::accessed("expected", "ptr"), TypeRule::bits("result", "ptr")],
                verify: Some(verify::tt_memory::atomic_load),
            };
            /// A tensor whose every element is the scalar.
            Splat "splat" (src: one ANY) -> (result: one TENSOR) {} {
                classes: Classes::TAKES_ANY_RESULT_LAYOUT.union(Classes::GIVES_ANY_LAYOUT),
                fold: Some(fold::splat),
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
                verify: Some(verify::tt_shape::splat),
            };
            /// The element of a tensor that has just one.
            Unsplat "unsplat" (src: one TENSOR) -> (result: one ANY) {} {
                format: Format::Text("$src attr-dict `:` type($src)"),
                infer: Some(infer::unsplat),
                verify: Some(verify::tt_shape::unsplat),
            };
            /// Inserts a dimension of size 1.
            ExpandDims "expand_dims" (src: one TENSOR) -> (result: one TENSOR) { axis: Int(32) } {
                layouts: LayoutRule::Expanded,
                classes: Classes::TENSOR_VIEW.union(Classes::WIDENS),
                fold: Some(fold::expand_dims),
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
                verify: Some(verify::tt_shape::expand_dims),
            };
            /// The same elements in row-major order under another shape; with `allow_reorder` in any order.
            Reshape "reshape"
                (src: one TENSOR)
                -> (result: one TENSOR)
                { allow_reorder: Unit => Absent, efficient_layout: Unit => Absent }
                {
                layouts: LayoutRule::Reshaped,
                classes: Classes::TENSOR_VIEW,
                fold: Some(fold::reshape_op),
                format: Format::Text(
                    "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:` \
                     type($src) `->` type($result)",
                ),
                verify: Some(verify::tt_shape::reshape),
            };
            /// Repeats the tensor along its dimensions of size 1.
            Broadcast "broadcast" (src: one TENSOR) -> (result: one TENSOR) {} {
                classes: Classes::WIDENS,
                fold: Some(fold::broadcast),
                traits: Traits::SAME_OPERANDS_AND_RESULT_ENCODING,
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
                verify: Some(verify::tt_shape::broadcast),
            };
            /// Concatenation; the elements may come in any order.
            Cat "cat" (lhs: one TENSOR, rhs: one TENSOR) -> (result: one TENSOR) {} {
                classes: Classes::GIVES_ANY_LAYOUT,
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"),
                types: &[TypeRule::same("rhs", "lhs")],
                verify: Some(verify::tt_shape::cat),
            };
            /// Two tensors side by side along a new last dimension.
            Join "join" (lhs: one TENSOR, rhs: one TENSOR) -> (result: one TENSOR) {} {
                layouts: LayoutRule::Joined,
                classes: Classes::TENSOR_VIEW,
                format: Format::Text("$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"),
                types: &[TypeRule::same("rhs", "lhs")],
                verify: Some(verify::tt_shape::join),
            };
            /// The two halves along a last dimension of size 2.
            Split "split" (src: one TENSOR) -> (lhs: one TENSOR, rhs: one TENSOR) {} {
                layouts: LayoutRule::Halved,
                classes: Classes::TENSOR_VIEW,
                format: Format::Text("$src attr-dict `:` type($src) `->` type($lhs)"),
                types: &[TypeRule::same("rhs", "lhs")],
                verify: Some(verify::tt_shape::split),
            };
            /// Permutes dimensions: dimension i of the result is dimension `order[i]` of the source.
            Trans "trans" (src: one TENSOR) -> (result: one TENSOR) { order: DenseArray(32) } {
                layouts: LayoutRule::Permuted,
                classes: Classes::TENSOR_VIEW,
                fold: Some(fold::trans),
                format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
                verify: Some(verify::tt_shape::trans),
            };
            /// Which program of the grid this is.
            GetProgramId "get_program_id" () -> (result: one I32) { axis: Enum(ProgramDim) } {
                format: Format::Text("$axis attr-dict `:` type($result)"),
            };
            /// How many programs the grid has.
            GetNumPrograms "get_num_programs" () -> (result: one I32) { axis: Enum(ProgramDim) } {
                format: Format::Text("$axis attr-dict `:` type($result)"),
            };
            /// a × b + c of matrices, or of batches of them.
            Dot "dot"
                (a: one TENSOR, b: one TENSOR, c: one TENSOR)
                -> (d: one TENSOR)
                { inputPrecision: Enum(InputPrecision) => IntIs(2), maxNumImpreciseAcc: Int(32) => IntIs(0) }
                {
                classes: Classes::PRODUCT.union(Classes::ANCHOR),
                format: Format::Text(
                    "$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:` type($a) `*` \
                     type($b) `->` type($d)",
                ),
                types: &[TypeRule::same("d", "c")],
                verify: Some(verify::tt::dot),
            };
            /// A dot of microscaled operands (mxfp8, mxfp4): every 32 elements, or 16, share a scale.
            DotScaled "dot_scaled"
                (a: one TENSOR, b: one TENSOR, c: one TENSOR, a_scale: opt TENSOR, b_scale: opt TENSOR)
                -> (d: one TENSOR)
                {
                    a_elem_type: Enum(ScaledElem), b_elem_type: Enum(ScaledElem), fastMath: Bool,
                    lhs_k_pack: Bool => BoolIs(true), rhs_k_pack: Bool => BoolIs(true),
                }
                {
                classes: Classes::PRODUCT.union(Classes::ANCHOR),
                traits: Traits::ATTR_SIZED_OPERANDS,
                format: Format::Text(
                    "$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=` \
                     $b_elem_type attr-dict `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? \
                     `->` type($d)",
                ),
                types: &[TypeRule::same("d", "c")],
                verify: Some(verify::tt::dot_scaled),
            };
            /// Combines the elements along an axis with the region, in any order.
            Reduce "reduce" (srcs: many TENSOR) -> (result: many ANY) { axis: Int(32) } {
                layouts: LayoutRule::Reduced,
                exchange: Some(Exchange::Reduce),
                classes: Classes::BLIND_TO_ORDER,
                regions: &["combineOp"],
                traits: Traits::SINGLE_BLOCK.union(Traits::SAME_OPERANDS_SHAPE).union(Traits::SAME_OPERANDS_ENCODING),
                effects: Effects::Recursive,
                verify: Some(verify::tt::reduce),
            };
            /// Ends the region of `tt.reduce`.
            ReduceReturn "reduce.return" (result: many ANY) -> () {} {
                traits: Traits::TERMINATOR,
                format: Format::Text("$result attr-dict `:` type($result)"),
                verify: Some(verify::tt::reduce_return),
            };
            /// All prefixes along an axis, combined with the associative region.
            Scan "scan" (srcs: many TENSOR) -> (result: many TENSOR) { axis: Int(32), reverse: Bool } {
                layouts: LayoutRule::Blocked,
                exchange: Some(Exchange::Scan),
                regions: &["combineOp"],
                traits: Traits::SINGLE_BLOCK
                    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
                    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                effects: Effects::Recursive,
                verify: Some(verify::tt::scan),
            };
            /// Ends the region of `tt.scan`.
            ScanReturn "scan.return" (result: many ANY) -> () {} {
                traits: Traits::TERMINATOR,
                format: Format::Text("$result attr-dict `:` type($result)"),
                verify: Some(verify::tt::scan_return),
            };
            /// Runs the region on each element (or pack of elements).
            MapElementwise "map_elementwise" (srcs: many TENSOR) -> (result: many TENSOR) { pack: Int(32) } {
                regions: &["scalarOp"],
                traits: Traits::SAME_SHAPE_AND_ENCODING,
                effects: Effects::Recursive,
                verify: Some(verify::tt::map_elementwise),
            };
            /// Ends the region of `tt.map_elementwise`.
            MapElementwiseReturn "map_elementwise.return" (result: many ANY) -> () {} {
                traits: Traits::TERMINATOR,
                format: Format::Text("attr-dict ($result^ `:` type($result))?"),
                verify: Some(verify::tt::map_elementwise_return),
            };
            /// Calls a function of an external bitcode library (libdevice) on each element. Free of effects when
            /// `pure`.
            ExternElementwise "extern_elementwise"
                (srcs: many ANY)
                -> (result: one ANY)
                { libname: Str, libpath: Str, symbol: Str, pure: Bool }
                {
                traits: Traits::ELEMENTWISE.union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                effects: Effects::Unknown,
                format: Format::Text("operands attr-dict `:` functional-type(operands, $result)"),
            };
            /// start, start + 1, …, end - 1.
            MakeRange "make_range" () -> (result: one I32_VECTOR) { start: Int(32), end: Int(32) } {
                classes: Classes::TAKES_ANY_RESULT_LAYOUT.union(Classes::GIVES_ANY_LAYOUT),
                fold: Some(fold::make_range),
                format: Format::Text("attr-dict `:` type($result)"),
                verify: Some(verify::tt_shape::make_range),
            };
            /// PTX applied to each pack of elements. Free of effects when `pure`.
            ElementwiseInlineAsm "elementwise_inline_asm"
                (args: many ANY)
                -> (result: many ANY)
                { asm_string: Str, constraints: Str, pure: Bool, packed_element: Int(32) }
                {
                traits: Traits::ELEMENTWISE.union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING),
                effects: Effects::Unknown,
                format: Format::Text("$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)"),
                verify: Some(verify::tt::elementwise_inline_asm),
            };
            /// Counts how often each value from 0 to the result's size occurs.
            Histogram "histogram" (src: one INT_VECTOR, mask: opt BOOL_LIKE) -> (result: one INT_VECTOR) {} {
                exchange: Some(Exchange::Count),
                classes: Classes::TAKES_ANY_RESULT_LAYOUT
                    .union(Classes::GIVES_ANY_LAYOUT)
                    .union(Classes::BLIND_TO_ORDER)
                    .union(Classes::READS_ANY_LAYOUT),
                format: Format::Text("$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)"),
                types: &[TypeRule::bits("mask", "src")],
            };
            /// Picks elements along an axis by index.
            Gather "gather"
                (src: one TENSOR, indices: one INT_TENSOR)
                -> (result: one TENSOR)
                { axis: Int(32), efficient_layout: Unit => Absent }
                {
                layouts: LayoutRule::Indexed,
                exchange: Some(Exchange::Gather),
                classes: Classes::READS_ANY_LAYOUT,
                format: Format::Text("$src `[` $indices `]` attr-dict `:` functional-type(operands, results)"),
                verify: Some(verify::tt_shape::gather),
            };
            /// Prints values from the device.
            Print "print" (args: many ANY) -> () { prefix: Str, hex: Bool, isSigned: DenseArray(32) } {
                classes: Classes::IN_STEP,
                effects: Effects::Write,
                format: Format::Text("$prefix attr-dict (`:` $args^ `:` type($args))?"),
                verify: Some(verify::tt::print),
            };
            /// Stops the program with a message if an element is false.
            Assert "assert" (condition: one ANY) -> () { message: Str } {
                classes: Classes::IN_STEP,
                effects: Effects::Write,
                format: Format::Text("$condition `,` $message attr-dict `:` type($condition)"),
                verify: Some(verify::tt::assert),
            };
            /// A descriptor of a tensor in memory, from which blocks are read and written.
            MakeTensorDesc "make_tensor_descriptor"
                (base: one PTR, shape: many I32, strides: many I64)
                -> (result: one TENSORDESC)
                { padding: Enum(PaddingOption) => IntIs(1) }
                {
                traits: Traits::ATTR_SIZED_OPERANDS,
                format: Format::Text(
                    "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)",
                ),
                verify: Some(verify::tt_memory::make_tensor_descriptor),
            };
            /// Reads a block.
            DescriptorLoad "descriptor_load"
                (desc: one TENSORDESC, indices: many I32)
                -> (result: one TENSOR)
                { cache: Enum(CacheModifier) => IntIs(1), evict: Enum(EvictionPolicy) => IntIs(1) }
                {
                classes: Classes::GLOBAL_ACCESS.union(Classes::DESCRIPTOR_ACCESS).union(Classes::ANCHOR),
                effects: Effects::Read,
                format: Format::Text(
                    "$desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) \
                     attr-dict `:` qualified(type($desc)) `->` type($result)",
                ),
                verify: Some(verify::tt_memory::descriptor_load),
            };
            /// Writes a block.
            DescriptorStore "descriptor_store" (desc: one TENSORDESC, src: one TENSOR, indices: many I32) -> () {} {
                classes: Classes::GLOBAL_ACCESS.union(Classes::DESCRIPTOR_ACCESS).union(Classes::ANCHOR),
                effects: Effects::Write,
                format: Format::Text(
                    "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)",
                ),
                verify: Some(verify::tt_memory::descriptor_store),
            };
            /// Combines a block with what is in memory, atomically.
            DescriptorReduce "descriptor_reduce"
                (desc: one TENSORDESC, src: one TENSOR, indices: many I32)
                -> ()
                { kind: Enum(DescriptorReduceKind) }
                {
                classes: Classes::GLOBAL_ACCESS.union(Classes::DESCRIPTOR_ACCESS).union(Classes::ANCHOR),
                effects: Effects::ReadWrite,
                format: Format::Text(
                    "$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)",
                ),
                verify: Some(verify::tt_memory::descriptor_store),
            };
            /// Reads rows.
            DescriptorGather "descriptor_gather"
                (desc: one TENSORDESC, x_offsets: one INT_VECTOR, y_offset: one I32)
                -> (result: one TENSOR)
                {}
                {
                classes: Classes::GLOBAL_ACCESS.union(Classes::DESCRIPTOR_ACCESS).union(Classes::ANCHOR),
                effects: Effects::Read,
                format: Format::Text(
                    "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)",
                ),
                verify: Some(verify::tt_memory::descriptor_gather),
            };
            /// Writes rows.
            DescriptorScatter "descriptor_scatter"
                (desc: one TENSORDESC, x_offsets: one INT_VECTOR, y_offset: one I32, src: one TENSOR)
                -> ()
                {}
                {
                classes: Classes::GLOBAL_ACCESS.union(Classes::DESCRIPTOR_ACCESS).union(Classes::ANCHOR),
                effects: Effects::Write,
                format: Format::Text("$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)"),
                verify: Some(verify::tt_memory::descriptor_scatter),
            };
            /// Waits until what the programs launched before this kernel wrote is visible.
            GridDependencyWait "grid_dependency_wait" () -> () {} {
                effects: Effects::ReadWrite,
                format: Format::Text("attr-dict"),
            };
            /// Lets dependent kernels start.
            GridDependencyLaunchDependents "grid_dependency_launch_dependents" () -> () {} {
                effects: Effects::ReadWrite,
                format: Format::Text("attr-dict"),
            };
            /// A pointer to a block of a tensor in memory (of Triton up to 3.6).
            MakeTensorPtr "make_tensor_ptr"
                (base: one PTR, shape: many I64, strides: many I64, offsets: many I32)
                -> (result: one PTR)
                { order: DenseArray(32) }
                {
                traits: Traits::ATTR_SIZED_OPERANDS,
                format: Format::Text(
                    "$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` type($result)",
                ),
                infer: Some(infer::make_block_pointer),
                verify: Some(verify::tt_memory::make_tensor_ptr),
            };
            /// A block pointer moved by a number of elements in each dimension.
            Advance "advance" (ptr: one PTR, offsets: many I32) -> (result: one PTR) {} {
                format: Format::Text("$ptr `,` `[` $offsets `]` attr-dict `:` type($result)"),
                types: &[TypeRule::same("result", "ptr")],
                verify: Some(verify::tt_memory::advance),
            };
    }
}
