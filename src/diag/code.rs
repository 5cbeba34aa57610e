//! A diagnostic code, and the form of the tables that hold them.

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
            pub static $name: $crate::diag::code::Code =
                $crate::diag::code::Code { id: $id, title: $title, explain: $explain };
        )*
        /// All codes of this area, in order.
        pub static ALL: &[&$crate::diag::code::Code] = &[$(&$name),*];
    };
}
pub(crate) use codes;
