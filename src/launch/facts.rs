//! What a launcher's text says of a kernel's arguments, whatever its language.

use super::{Access, Argument, Kernel, Variant};

impl Kernel {
    /// What the variants together do to the memory that an argument leads to. What nobody knows counts as done.
    #[must_use]
    pub fn access(&self, argument: &str) -> Access {
        let all = Access { reads: true, writes: true };
        let same = self.variants.iter().flat_map(|v| &v.descriptor.arguments).filter(|a| a.name == argument);
        same.map(|a| a.access.unwrap_or(all))
            .fold(Access::default(), |a, b| Access { reads: a.reads || b.reads, writes: a.writes || b.writes })
    }

    /// What is promised of an argument, in words. A promise that only some variants make is no duty.
    #[must_use]
    pub fn promised(&self, argument: &str) -> Option<String> {
        let of_variant = |v: &Variant| {
            v.promises().into_iter().find(|p| p.0 == argument).map(|(_, equals, divisor)| match (equals, divisor) {
                (Some(value), _) => value.to_string(),
                (None, divisor) => format!("a multiple of {}", divisor.unwrap_or(1)),
            })
        };
        let mut all: Vec<Option<String>> = self.variants.iter().map(of_variant).collect();
        all.sort();
        all.dedup();
        let free = all.contains(&None);
        let listed = all.into_iter().flatten().collect::<Vec<_>>().join(" or ");
        match (listed.is_empty(), free) {
            (true, _) => None,
            (false, false) => Some(format!("must be {listed}")),
            (false, true) => Some(format!("there is a variant for {listed}")),
        }
    }
}

impl Argument {
    /// Whether the argument leads to memory: a pointer or a tensor.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        self.ty.starts_with('*') || self.ty.starts_with("tensordesc")
    }
}

impl Access {
    /// The access in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match (self.reads, self.writes) {
            (true, true) => "read and written",
            (true, false) => "read",
            (false, true) => "written",
            (false, false) => "not used",
        }
    }
}
