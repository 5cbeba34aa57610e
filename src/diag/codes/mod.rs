//! Every diagnostic code, in one table for each area. `ttc explain CODE` prints the text that stands here.
//!
//! | codes | area |
//! |---|---|
//! | E01xx | words and syntax of a kernel file ([`syntax`]) |
//! | E02xx | names, calls, constexpr values, signatures ([`names`]) |
//! | E03xx | types and shapes of the language ([`types`]) |
//! | E04xx | IR text ([`irtext`]) |
//! | E05xx | IR verification ([`verify`]) |
//! | E06xx | passes and their options ([`passes`]) |
//! | E07xx | code generation and limits of the target ([`codegen`]) |
//! | E08xx | tools: LLVM, ptxas, libdevice ([`tools`]) |
//! | E09xx | files and the command line ([`cli`]) |
//! | E10xx | the interpreter and the faults it finds ([`interp`]) |

pub mod cli;
pub mod codegen;
pub mod interp;
pub mod irtext;
pub mod names;
pub mod passes;
pub mod syntax;
pub mod tools;
pub mod types;
pub mod verify;

/// A diagnostic's code with what `ttc explain` says about it. Codes are compared by their `id`.
#[derive(Debug)]
pub struct Code {
    /// The code itself, such as `E0101`.
    pub id: &'static str,
    /// One line, lower case, without a full stop.
    pub title: &'static str,
    /// Markdown text: what the code means, an example that triggers it, and what to do.
    pub explain: &'static str,
}

impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        self.id == other.id
    }
}

impl Eq for Code {}

/// `codes! { NAME = "E0101", "title", "explanation"; … }` makes one `pub static NAME: Code` each and `ALL`, the list of
/// them.
macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal, $explain:literal;)*) => {
        $(
            #[doc = concat!($id, ": ", $title)]
            pub static $name: $crate::diag::Code =
                $crate::diag::Code { id: $id, title: $title, explain: $explain };
        )*
        /// All codes of this area, in order.
        pub static ALL: &[&$crate::diag::Code] = &[$(&$name),*];
    };
}
pub(crate) use codes;

/// All codes, in order.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [
        syntax::ALL,
        names::ALL,
        types::ALL,
        irtext::ALL,
        verify::ALL,
        passes::ALL,
        codegen::ALL,
        tools::ALL,
        cli::ALL,
        interp::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The code with this id, in any case (`e0203` finds `E0203`).
#[must_use]
pub fn find(id: &str) -> Option<&'static Code> {
    all().find(|c| c.id.eq_ignore_ascii_case(id))
}
