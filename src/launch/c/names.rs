//! Names in C for kernels and arguments.
//!
//! 1. A character that C does not allow in a name becomes `_`, and a name that would start with a digit gets `_` before
//!    it.
//! 2. A member that is a word of C or C++, or a type or a macro that headers define, gets `_` behind it: `register`
//!    becomes `register_`. One that C keeps for compilers and libraries, such as `_Bool` and `__int128`, gets `arg`
//!    before it. A kernel's name is only the beginning of others, such as `register_launch`.
//! 3. A name that is taken gets the first number that makes it another one: `x_2`.
//!
//! Example: the arguments `int`, `α`, `β` are `int_`, `_` and `__2`.

use std::collections::BTreeSet;

/// Words of C and C++ up to C23 and C++26, and types and macros of usual headers and compilers.
#[rustfmt::skip]
const TAKEN: &[&str] = &[
    "BIG_ENDIAN", "BUFSIZ", "BYTE_ORDER", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "DBL_EPSILON", "DBL_MAX", "DBL_MIN",
    "EOF", "EXIT_FAILURE", "EXIT_SUCCESS", "FD_SETSIZE", "FILE", "FILENAME_MAX", "FLT_EPSILON", "FLT_MAX", "FLT_MIN",
    "FOPEN_MAX", "HUGE_VAL", "I", "IN", "INFINITY", "INT16_MAX", "INT16_MIN", "INT32_MAX", "INT32_MIN", "INT64_MAX",
    "INT64_MIN", "INT8_MAX", "INT8_MIN", "INTMAX_MAX", "INTMAX_MIN", "INTPTR_MAX", "INTPTR_MIN", "INT_MAX", "INT_MIN",
    "LITTLE_ENDIAN", "LLONG_MAX", "LLONG_MIN", "LONG_MAX", "LONG_MIN", "L_ctermid", "L_tmpnam", "MB_CUR_MAX", "M_1_PI",
    "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2",
    "M_SQRT2", "NAN", "NFDBITS", "NULL", "OUT", "PDP_ENDIAN", "PTRDIFF_MAX", "PTRDIFF_MIN", "P_tmpdir", "RAND_MAX",
    "SCHAR_MAX", "SCHAR_MIN", "SEEK_CUR", "SEEK_END", "SEEK_SET", "SHRT_MAX", "SHRT_MIN", "SIZE_MAX", "TMP_MAX",
    "UCHAR_MAX", "UINT16_MAX", "UINT32_MAX", "UINT64_MAX", "UINT8_MAX", "UINTMAX_MAX", "UINTPTR_MAX", "UINT_MAX",
    "ULLONG_MAX", "ULONG_MAX", "USHRT_MAX", "WCHAR_MAX", "WCHAR_MIN", "WINT_MAX", "WINT_MIN", "alignas", "alignof",
    "and", "and_eq", "asm", "assert", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t",
    "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "complex", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "contract_assert", "decltype", "default", "delete",
    "do", "double", "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern", "false", "far", "float",
    "for", "friend", "goto", "huge", "i386", "if", "imaginary", "inline", "int", "int16_t", "int32_t", "int64_t",
    "int8_t", "interface", "intmax_t", "intptr_t", "linux", "long", "max_align_t", "mutable", "namespace", "near",
    "new", "noexcept", "noreturn", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected",
    "ptrdiff_t", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed",
    "size_t", "sizeof", "small", "static", "static_assert", "static_cast", "stderr", "stdin", "stdout", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "typeof_unqual", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintmax_t", "uintptr_t", "union", "unix",
    "unsigned", "using", "va_list", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
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
    unique(texts.into_iter().map(|text| member(plain(text))), used)
}

fn member(name: String) -> String {
    let mut rest = name.chars().skip_while(|c| *c == '_');
    let is_reserved = name.starts_with("__") || (name.starts_with('_') && rest.next().is_some_and(char::is_uppercase));
    // The types, macros and functions of `ttc_rt.h`.
    let is_own = ["ttc", "ttcrt"].iter().any(|own| {
        name.get(..own.len()).is_some_and(|start| start.eq_ignore_ascii_case(own)) && name[own.len()..].starts_with('_')
    });
    if is_reserved {
        format!("arg{name}")
    } else if is_own || TAKEN.binary_search(&&*name).is_ok() {
        name + "_"
    } else {
        name
    }
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
        assert_eq!(
            of(&["_Bool", "__int128", "uint8_t", "ttc_ptr", "TTC_RT_H", "INT32_MAX", "_x", "_", "αβ", "_Atomic"]),
            [
                "arg_Bool",
                "arg__int128",
                "uint8_t_",
                "ttc_ptr_",
                "TTC_RT_H_",
                "INT32_MAX_",
                "_x",
                "_",
                "arg__",
                "arg_Atomic"
            ]
        );
        assert_eq!(kernels(["int", "a$b", "a_b", "ttc"]), ["int", "a_b", "a_b_2", "ttc_2"]);
        assert!(TAKEN.is_sorted(), "it is searched by halves");
    }
}
