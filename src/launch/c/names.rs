//! Names in C for kernels and arguments.
//!
//! 1. A character that C does not allow in a name becomes `_`, and a name that would start with a digit gets `_` before
//!    it.
//! 2. A member that is a word of C or C++, or a macro that headers define, gets `_` behind it: `register` becomes
//!    `register_`. A kernel's name is only the beginning of others, such as `register_launch`.
//! 3. A name that is taken gets the first number that makes it another one: `x_2`.
//!
//! Example: the arguments `int`, `α`, `β` are `int_`, `_` and `__2`.

use std::collections::BTreeSet;

/// Words of C and C++ up to C23 and C++23, and macros of usual headers and compilers.
const TAKEN: &[&str] = &[
    "EOF",
    "I",
    "NULL",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "assert",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "complex",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "far",
    "float",
    "for",
    "friend",
    "goto",
    "huge",
    "i386",
    "if",
    "imaginary",
    "inline",
    "int",
    "interface",
    "linux",
    "long",
    "mutable",
    "namespace",
    "near",
    "new",
    "noexcept",
    "noreturn",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "small",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// The characters of a name that C allows: `a.b$c` becomes `a_b_c`.
#[must_use]
pub(super) fn plain(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(fits).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// A name for each member of a struct. None of the names is in `used`.
pub(super) fn members<'a>(texts: impl IntoIterator<Item = &'a str>, used: &[&str]) -> Vec<String> {
    let names = texts.into_iter().map(|text| {
        let name = plain(text);
        if TAKEN.binary_search(&&*name).is_ok() { name + "_" } else { name }
    });
    unique(names, used)
}

/// What the names for each kernel begin with.
pub(super) fn kernels<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    // The names of `ttc_rt.h` begin with these.
    unique(texts.into_iter().map(plain), &["ttc", "ttcrt"])
}

/// The names, with numbers behind those that are taken.
fn unique(names: impl IntoIterator<Item = String>, used: &[&str]) -> Vec<String> {
    let mut taken: BTreeSet<String> = used.iter().map(|u| (*u).to_owned()).collect();
    let number = |name: String| {
        let mut free = name.clone();
        for n in 2u64.. {
            if taken.insert(free.clone()) {
                break;
            }
            free = format!("{name}_{n}");
        }
        free
    };
    names.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_c_and_differ() {
        let of = |texts: &[&str]| members(texts.iter().copied(), &["global_scratch"]);
        assert_eq!(of(&["x", "int", "α", "β", "2d", "a.b", "a_b"]), ["x", "int_", "_", "__2", "_2d", "a_b", "a_b_2"]);
        assert_eq!(of(&["global_scratch", "", "new", "new_"]), ["global_scratch_2", "_", "new_", "new__2"]);
        assert_eq!(kernels(["int", "a$b", "a_b", "ttc"]), ["int", "a_b", "a_b_2", "ttc_2"]);
        assert!(TAKEN.is_sorted(), "it is searched by halves");
    }
}
