//! [`Walker`]: walks the kernel and the functions that it calls, statement by statement.
//!
//! It alone knows frames, scopes and what names mean. What it makes goes through its [`Emitter`]; operators and
//! primitives get that and no more. Its methods stand in the files of this folder, a file a matter: expressions,
//! statements, branches, loops, calls, names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::frame::Frame;
use super::lookup::Key;
use super::scope::Scope;
use super::sights::Sights;
use crate::ir::{Block, Loc};
use crate::irgen::emit::{Emits, Emitter, Here, R, Settings};
use crate::irgen::front::modules::Modules;
use crate::irgen::front::space::Space;
use crate::irgen::value::{Calls, Object};
use crate::source::{SourceMap, Span};

/// A jit function with the types and compile-time values of its arguments, lowered already or being lowered.
pub(super) struct Specialisation {
    /// Values of this form come back; the IR values in it are placeholders. `None` while the function is being lowered.
    pub(super) result: Option<Object>,
}

/// What was found out about names at the top level of files.
#[derive(Default)]
pub(super) struct Names {
    /// The modules of the library's files that something asked for.
    pub(super) prelude: BTreeMap<&'static str, usize>,
    /// Values of names, evaluated once.
    pub(super) globals: BTreeMap<Key, Option<Object>>,
    /// Names of files that `-D` gives a value, and whether something asked for it.
    pub(super) given: BTreeMap<String, (Object, bool)>,
    /// Names that were reported as having no value, with the module of the kernel that used them.
    pub(super) unknown: BTreeSet<(usize, String)>,
    /// Names whose value hangs on a test that cannot be decided, and the test.
    pub(super) undecided: BTreeMap<(usize, String), Span>,
    /// Names that are imported for certain, from where nothing was found.
    pub(super) lacking: BTreeSet<(usize, String)>,
    /// Functions of which such a test chooses one, with the test and the one that is taken.
    pub(super) choices: BTreeMap<(usize, String), (Span, Span)>,
    /// Parts of Triton that a file imports from where nothing was found: how the path starts and goes
    /// on, and the place of the import.
    pub(super) assumed: Vec<(Space, u32, Vec<String>, Span)>,
}

/// The state of lowering one kernel.
pub struct Walker<'m> {
    pub(super) mods: Modules<'m>,
    pub(super) out: Emitter,
    pub(super) frame: Frame,
    /// The name being assigned to, which operations are named after.
    pub(super) naming: Option<Arc<str>>,
    pub(super) functions: BTreeMap<String, Specialisation>,
    pub(super) names: Names,
    /// The frames that wait for a call to come back, by their numbers, with their local names.
    pub(super) waiting: Vec<(u32, Scope)>,
    /// Where the arguments of the primitive that is called next are written, by its parameters.
    pub(super) places: Vec<Option<Span>>,
    /// The number of the next frame or lambda.
    pub(super) next_number: u32,
    /// Depth of calls and of constants evaluating constants.
    pub(super) depth: u32,
    /// Branches around this place whose condition is wrong, so that nobody knows whether they are taken.
    pub(super) doubtful: u32,
    /// What is seen on the way, if somebody watches.
    pub(super) sights: Option<Box<Sights>>,
}

/// How deep calls may nest.
pub(super) const MAX_DEPTH: u32 = 64;

/// How deep constants may hang on constants.
pub(super) const MAX_EVALUATION_DEPTH: u32 = 200;

impl Emits for Walker<'_> {
    fn out(&mut self) -> &mut Emitter {
        &mut self.out
    }
}

impl Calls for Walker<'_> {
    fn call(&mut self, f: &Object, args: Vec<Object>) -> R<Object> {
        self.apply(f, args, vec![])
    }

    fn attribute(&mut self, base: &Object, attr: &str) -> R<Object> {
        self.attr(base, attr)
    }
}

impl<'m> Walker<'m> {
    /// Begins with a file; messages without another place point at `span`.
    #[must_use]
    pub fn new(mods: Modules<'m>, module: usize, span: Span, settings: Settings) -> Walker<'m> {
        Walker {
            mods,
            out: Emitter::new(span, settings),
            frame: Frame::new(0, module, None, false),
            waiting: vec![],
            places: vec![],
            next_number: 1,
            naming: None,
            functions: BTreeMap::new(),
            names: Names::default(),
            depth: 0,
            doubtful: 0,
            sights: None,
        }
    }

    /// The files of the compilation.
    #[must_use]
    pub fn modules(&self) -> &Modules<'m> {
        &self.mods
    }

    pub fn modules_mut(&mut self) -> &mut Modules<'m> {
        &mut self.mods
    }

    /// The files that were read, once the walk is over.
    #[must_use]
    pub fn into_map(self) -> &'m mut SourceMap {
        self.mods.map
    }

    /// What was emitted and said, once the walk is over.
    #[must_use]
    pub fn finish(self) -> Emitter {
        self.out
    }

    // ---- places ----

    /// The location of a span, named after what is being assigned.
    #[must_use]
    pub fn loc_of(&self, span: Span) -> Loc {
        let file = self.mods.map.file(span.file);
        let at = file.line_col(span.lo);
        let loc = Loc::file(&self.mods.map.remapped(&file.name), at.line, at.col);
        match &self.naming {
            Some(name) => Loc::named(name, loc),
            None => loc,
        }
    }

    /// Runs `f` at a place and comes back to the old one.
    pub fn at<T>(&mut self, span: Span, f: impl FnOnce(&mut Self) -> T) -> T {
        let here = Here { loc: self.loc_of(span), span };
        let old = self.out.replace_here(here);
        let result = f(self);
        self.out.replace_here(old);
        result
    }

    /// A fresh block at the end of the function's body.
    pub(super) fn new_block(&mut self) -> Option<Block> {
        self.frame.region.map(|r| self.out.ir.add_block(r, &[]))
    }

    /// Whether control can get here.
    #[must_use]
    pub(super) fn is_live(&self) -> bool {
        if self.frame.host {
            self.frame.host_result.is_none() && self.frame.jump.is_none()
        } else {
            self.out.block().is_some()
        }
    }

    /// A number that no frame and no lambda has had.
    pub(super) fn number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    // ---- names ----

    /// Binds a local name.
    pub(super) fn set(&mut self, name: &Arc<str>, value: Object) {
        if !self.frame.defs.contains(name) {
            self.frame.defs.push(name.clone());
        }
        self.frame.scope.set(name, value);
    }

    /// Takes the value that `-D` gives a name of the file.
    pub fn give(&mut self, name: &str, value: Object) {
        self.names.given.insert(name.to_owned(), (value, false));
    }

    /// Forgets what was evaluated before [`Walker::give`]: it may have used these names.
    pub fn forget_globals(&mut self) {
        if !self.names.given.is_empty() {
            self.names.globals.clear();
        }
    }

    /// Whether [`Walker::give`] gave the name a value for which nothing asked.
    #[must_use]
    pub fn was_given_in_vain(&self, name: &str) -> bool {
        self.names.given.get(name).is_some_and(|(_, used)| !used)
    }

    /// The module of the current function.
    #[must_use]
    pub fn module(&self) -> usize {
        self.frame.module
    }

    // ---- functions that are looked at without types ----

    /// Begins with another function of the same module: these are its local names, of whose values nothing is known.
    pub fn begin_untyped(&mut self, names: impl Iterator<Item = Arc<str>>) {
        self.frame = Frame::new(self.number(), self.frame.module, None, false);
        names.for_each(|name| self.frame.scope.set(&name, Object::Error));
    }

    /// Whether the current function has a local name that is called so.
    #[must_use]
    pub fn is_local(&self, name: &str) -> bool {
        self.frame.scope.get(name).is_some()
    }

    /// Adds local names without known values, and gives the names before.
    #[must_use]
    pub fn add_locals(&mut self, names: &[Arc<str>]) -> Scope {
        let before = self.frame.scope.clone();
        names.iter().for_each(|name| self.frame.scope.set(name, Object::Error));
        before
    }

    /// Comes back to the local names that [`Walker::add_locals`] gave.
    pub fn restore_locals(&mut self, scope: Scope) {
        self.frame.scope = scope;
    }
}
