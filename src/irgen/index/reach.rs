//! Which functions of a file depend on others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::locals::expressions;
use crate::parser::ast::{Expr, FunctionDef};
use crate::parser::visit;

/// The names of the functions that use one of these functions, directly or not, and these.
#[must_use]
pub fn reaching(functions: &[Arc<FunctionDef>], names: &BTreeSet<String>) -> BTreeSet<String> {
    if names.is_empty() {
        return BTreeSet::new();
    }
    let known: BTreeSet<&str> = functions.iter().map(|f| &*f.name.name).collect();
    // The users of each function.
    let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for f in functions {
        let mut note = |e: &Expr| {
            if let Some(used) = e.as_name().and_then(|n| known.get(n)) {
                users.entry(used).or_default().insert(&f.name.name);
            }
        };
        expressions(&f.body, &[], &mut note);
        let header = f.decorators.iter().map(|d| &d.expr).chain(f.params.iter().filter_map(|p| p.default.as_ref()));
        header.for_each(|e| visit::expressions(e, &mut note));
    }
    let (mut found, mut open) = (names.clone(), names.iter().cloned().collect::<Vec<_>>());
    while let Some(name) = open.pop() {
        for user in users.get(name.as_str()).into_iter().flatten() {
            if found.insert((*user).to_owned()) {
                open.push((*user).to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irgen::front::top_level::TopLevel;
    use crate::source::SourceMap;

    #[test]
    fn a_change_reaches_whoever_calls_it() {
        let mut map = SourceMap::default();
        let text = "def a():\n    pass\n\ndef b():\n    a()\n\ndef c():\n    b()\n\ndef d():\n    d()\n";
        let file = map.add("k.py", None, text);
        let of = |name: &str| {
            let found = reaching(&TopLevel::of(&map, file).functions, &BTreeSet::from([name.to_owned()]));
            found.into_iter().collect::<String>()
        };
        assert_eq!((of("a"), of("b"), of("c"), of("d")), ("abc".into(), "bc".into(), "c".into(), "d".into()));
    }
}
