//! Generates the parser from `src/parser/grammar.lalrpop`.
#![allow(clippy::print_stderr, clippy::print_stdout, clippy::exit)]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/parser/grammar.lalrpop");
    let made = lalrpop::Configuration::new().use_cargo_dir_conventions().emit_rerun_directives(false).process();
    if let Err(error) = made {
        eprintln!("src/parser/grammar.lalrpop: {error}");
        std::process::exit(1);
    }
}
