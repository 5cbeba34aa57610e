//! Compiles the kernels of the C examples. `TTC=path/to/ttc cargo build`, or have `ttc` in PATH.

fn main() {
    ttc_build::Kernels::new()
        .file("../c/kernels.py")
        .kernel("add", |k| k.grid("cdiv(n, BLOCK)"))
        .kernel("softmax", |k| k.grid("rows"))
        .kernel("matmul", |k| k.grid("cdiv(m, 128), cdiv(n, 128)"))
        // Clusters begin with compute capability 9.0.
        .kernel("add_in_clusters", |k| k.num_ctas(2).archs(["sm_90a"]).grid("cdiv(n, BLOCK)"))
        .archs(["sm_80", "sm_90a"])
        .emit_rust("kernels.rs");
}
