//! What the kernels of `kernels/` should compute, in f64, from the mathematics and not from the kernels.
//!
//! A reference takes the contents of the buffers before the launch and the case's values, and gives the buffers that
//! are `out`. A case names its reference, by default with its own name.

mod attention;
mod elementwise;
mod in_place;
mod movement;
mod philox;
mod products;
mod reductions;

use std::collections::BTreeMap;

use ttc::cases::Inputs;

/// From inputs to the expected contents of the output buffers.
pub(crate) type Reference = fn(&Inputs) -> BTreeMap<String, Vec<f64>>;

/// All references by name.
const ALL: &[(&str, Reference)] = &[
    ("attention", attention::attention),
    ("attention_bwd", attention::attention_bwd),
    ("attention_decode", attention::attention_decode),
    ("attention_decode_join", attention::attention_decode_join),
    ("attention_varlen", attention::attention_varlen),
    ("linear_attention", attention::linear_attention),
    ("add", elementwise::add),
    ("angles", elementwise::angles),
    ("dequantize", elementwise::dequantize),
    ("dropout", elementwise::dropout),
    ("cast", elementwise::cast),
    ("gelu", elementwise::gelu),
    ("map_elementwise", elementwise::map_elementwise),
    ("quantize", elementwise::quantize),
    ("rotary", elementwise::rotary),
    ("swiglu", elementwise::swiglu),
    ("divide", elementwise::divide),
    ("append", in_place::append),
    ("recurrence", in_place::recurrence),
    ("shift", in_place::shift),
    ("through_memory", in_place::through_memory),
    ("both_rows", movement::both_rows),
    ("add_rows", movement::add_rows),
    ("add_tiles", movement::add_tiles),
    ("copy", movement::copy),
    ("embedding", movement::embedding),
    ("embedding_bwd", movement::embedding_bwd),
    ("histogram", movement::histogram),
    ("padded", movement::padded),
    ("padded_tiles", movement::padded_tiles),
    ("reverse", movement::reverse),
    ("rotate_pairs", movement::rotate_pairs),
    ("sort", movement::sort),
    ("topk", movement::topk),
    ("transpose", movement::transpose),
    ("batched_matmul", products::batched_matmul),
    ("conv2d", products::conv2d),
    ("gated", products::gated),
    ("dot_scaled", products::dot_scaled),
    ("grouped_matmul", products::grouped_matmul),
    ("int4_matmul", products::int4_matmul),
    ("matmul", products::matmul),
    ("matmul_row_sums", products::matmul_row_sums),
    ("matmul_dequant", products::matmul_dequant),
    ("matmul_descriptors", products::matmul_descriptors),
    ("matmul_nt", products::matmul_nt),
    ("matmul_transposed", products::matmul_transposed),
    ("transposed_conv", products::transposed_conv),
    ("attention_bwd_delta", reductions::attention_bwd_delta),
    ("column_scan", reductions::column_scan),
    ("cross_entropy", reductions::cross_entropy),
    ("cross_entropy_bwd", reductions::cross_entropy_bwd),
    ("cumsum", reductions::cumsum),
    ("cut_rows", reductions::cut_rows),
    ("extremes", reductions::extremes),
    ("fold", reductions::fold),
    ("layer_norm", reductions::layer_norm),
    ("layer_norm_bwd", reductions::layer_norm_bwd),
    ("welford", reductions::welford),
    ("rms_norm", reductions::rms_norm),
    ("column_major", reductions::column_major),
    ("truths", reductions::truths),
    ("below_zero", elementwise::below_zero),
    ("running_sum", reductions::running_sum),
    ("softmax", reductions::softmax),
    ("standardize", reductions::standardize),
    ("sum_partials", reductions::sum_partials),
    ("sum_tiles", movement::sum_tiles),
];

/// The reference with this name.
pub(crate) fn lookup(name: &str) -> Option<Reference> {
    ALL.iter().find(|(n, _)| *n == name).map(|(_, r)| *r)
}

/// One output buffer.
pub(crate) fn single(name: &str, values: Vec<f64>) -> BTreeMap<String, Vec<f64>> {
    BTreeMap::from([(name.to_owned(), values)])
}
