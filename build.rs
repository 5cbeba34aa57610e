//! Generates the parser from `src/parser/grammar.lalrpop`.
fn main() {
    println!("cargo:rerun-if-changed=src/parser/grammar.lalrpop");
}
