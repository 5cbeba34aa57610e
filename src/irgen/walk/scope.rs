//! Local names of a function, in the order of their first definition (which is the order in which loops carry them).

use std::sync::Arc;

use crate::irgen::value::Val;

/// Names with values. Functions have tens of names, so a list beats a map.
#[derive(Clone, Default)]
pub struct Scope {
    names: Vec<(Arc<str>, Val)>,
}

impl Scope {
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Val> {
        self.names.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
    }

    pub fn set(&mut self, name: &Arc<str>, value: Val) {
        match self.names.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value,
            None => self.names.push((name.clone(), value)),
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.names.retain(|(n, _)| &**n != name);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Val)> {
        self.names.iter().map(|(n, v)| (n, v))
    }
}
