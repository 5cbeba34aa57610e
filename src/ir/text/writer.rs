//! [`Text`]: the printer's output below operations, which is types, attributes and locations, with or without aliases.
//!
//! The printer runs twice over a module. In the first run ([`Aliases::Collect`]) the text is thrown away, and every
//! attribute, type and location that is met is noted with what it contains. Then names are given. In the second run
//! ([`Aliases::Use`]) what has a name is written by it. `Display` of a type or an attribute uses neither
//! ([`Aliases::None`]).
//!
//! Names are given as MLIR gives them:
//! 1. a thing with an alias has depth 1, or 1 + the greatest depth of what it contains;
//! 2. things are sorted by depth, then by alias, then by when they were first met;
//! 3. the n-th thing of an alias is called `alias`, `alias1`, `alias2`…;
//! 4. a location is defined after the module unless a block argument shows it.

use std::collections::BTreeMap;

use crate::ir::core::hash::Map;
use crate::ir::core::{Attr, AttrData, Encoding, Loc, LocData, Type, TypeData};

/// What can have an alias or contain something that has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    Attr(Attr),
    Type(Type),
    Loc(Loc),
}

/// How aliases are treated.
pub enum Aliases {
    None,
    Collect(Box<Collector>),
    Use(Box<AliasTable>),
}

/// The names of one module's attributes and locations.
#[derive(Default)]
pub struct AliasTable {
    names: Map<Symbol, String>,
    /// The names in the order of definition: the name, what it stands for, and whether it is defined after the module.
    pub order: Vec<(String, Symbol, bool)>,
}

struct Seen {
    symbol: Symbol,
    alias: Option<&'static str>,
    depth: usize,
    deferrable: bool,
    children: Vec<usize>,
}

/// The things that the first run has met.
#[derive(Default)]
pub struct Collector {
    index: Map<Symbol, usize>,
    seen: Vec<Seen>,
    /// The children and the greatest depth of what is being visited, the innermost last.
    open: Vec<(Vec<usize>, usize)>,
}

impl Collector {
    /// Starts a visit. The result is `false` if the thing was met before.
    fn enter(&mut self, symbol: Symbol, deferrable: bool) -> bool {
        if let Some(&at) = self.index.get(&symbol) {
            if !deferrable {
                self.forbid_deferring(at);
            }
            self.report(at);
            return false;
        }
        let alias = alias_of(symbol);
        self.index.insert(symbol, self.seen.len());
        self.seen.push(Seen { symbol, alias, depth: usize::from(alias.is_some()), deferrable, children: vec![] });
        self.open.push((vec![], 0));
        true
    }

    fn leave(&mut self, symbol: Symbol) {
        let at = self.index[&symbol];
        let (children, depth) = self.open.pop().expect("leave follows enter");
        self.seen[at].children = children;
        if depth > 0 {
            self.seen[at].depth = depth + 1;
        }
        self.report(at);
    }

    /// Tells the thing around this one that it contains it.
    fn report(&mut self, at: usize) {
        let depth = self.seen[at].depth;
        if let Some((children, greatest)) = self.open.last_mut() {
            children.push(at);
            *greatest = depth.max(*greatest);
        }
    }

    fn forbid_deferring(&mut self, at: usize) {
        if std::mem::replace(&mut self.seen[at].deferrable, false) {
            for child in self.seen[at].children.clone() {
                self.forbid_deferring(child);
            }
        }
    }

    /// Gives the names.
    #[must_use]
    pub fn finish(self) -> AliasTable {
        let mut named: Vec<(usize, &'static str, &Seen)> =
            self.seen.iter().filter_map(|s| Some((s.depth, s.alias?, s))).collect();
        named.sort_by_key(|&(depth, alias, _)| (depth, alias));
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut table = AliasTable::default();
        for (_, alias, seen) in named {
            let n = counts.entry(alias).or_default();
            let name = if *n == 0 { format!("#{alias}") } else { format!("#{alias}{n}") };
            *n += 1;
            table.names.insert(seen.symbol, name.clone());
            table.order.push((name, seen.symbol, seen.deferrable));
        }
        table
    }
}

/// The stem of the alias that this kind of thing gets.
fn alias_of(symbol: Symbol) -> Option<&'static str> {
    let attr = match symbol {
        Symbol::Loc(_) => return Some("loc"),
        Symbol::Type(_) => return None,
        Symbol::Attr(a) => a,
    };
    match attr.data() {
        AttrData::SharedMemory => Some("smem"),
        AttrData::Encoding(e) => match e {
            Encoding::Blocked(_) => Some("blocked"),
            Encoding::NvidiaMma(_) | Encoding::AmdMfma(_) | Encoding::AmdWmma(_) => Some("mma"),
            Encoding::Linear(_) => Some("linear"),
            Encoding::GenericLinear(_) => Some("generic_linear"),
            Encoding::SwizzledShared(_)
            | Encoding::AmdRotatingShared(_)
            | Encoding::NvmmaShared(_)
            | Encoding::SharedLinear { .. }
            | Encoding::PaddedShared(_) => Some("shared"),
            Encoding::TensorMemory(_) => Some("tmem"),
            Encoding::TensorMemoryScales { .. } => Some("tmem_scales"),
            Encoding::Slice { .. } | Encoding::DotOp { .. } => None,
        },
        _ => None,
    }
}

/// The text that is being written.
pub struct Text {
    pub out: String,
    pub aliases: Aliases,
    /// Whether what is being visited may be defined after the module.
    deferrable: bool,
}

impl Text {
    #[must_use]
    pub fn new(aliases: Aliases) -> Text {
        Text { out: String::new(), aliases, deferrable: false }
    }

    pub fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes items with `, ` between them.
    pub fn commas<T>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Text, T)) {
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    /// Writes a thing by its alias, or by `body`.
    fn symbol(&mut self, symbol: Symbol, body: impl FnOnce(&mut Text)) {
        match &mut self.aliases {
            Aliases::None => body(self),
            Aliases::Use(table) => match table.names.get(&symbol) {
                Some(name) => self.out.push_str(name),
                None => body(self),
            },
            Aliases::Collect(c) => {
                if c.enter(symbol, self.deferrable) {
                    body(self);
                    if let Aliases::Collect(c) = &mut self.aliases {
                        c.leave(symbol);
                    }
                }
            }
        }
    }

    /// Writes a type.
    pub fn ty(&mut self, ty: Type) {
        // Most types contain nothing that has an alias.
        if matches!(
            ty.data(),
            TypeData::Int(_) | TypeData::Float(_) | TypeData::Index | TypeData::None | TypeData::AsyncToken
        ) {
            self.type_body(ty);
        } else {
            self.symbol(Symbol::Type(ty), |t| t.type_body(ty));
        }
    }

    /// Writes an attribute with its type, if it has one that is written.
    pub fn attr(&mut self, attr: Attr) {
        match attr.data() {
            AttrData::Int(..)
            | AttrData::Float(..)
            | AttrData::Str(_)
            | AttrData::Unit
            | AttrData::Symbol(_)
            | AttrData::DenseArray(..) => {
                self.attr_body(attr);
            }
            _ => self.symbol(Symbol::Attr(attr), |t| t.attr_body(attr)),
        }
    }

    /// Writes ` loc(…)`, by alias, or in full outside of aliases.
    pub fn trailing_loc(&mut self, loc: Loc, alias: bool) {
        self.push(" loc(");
        let collecting = matches!(self.aliases, Aliases::Collect(_));
        if collecting {
            self.deferrable = alias;
            self.loc(loc);
            self.deferrable = false;
        } else if alias {
            self.loc(loc);
        } else {
            self.loc_body(loc);
        }
        self.push(")");
    }

    fn loc(&mut self, loc: Loc) {
        self.symbol(Symbol::Loc(loc), |t| t.loc_body(loc));
    }

    /// Writes what stands between the parentheses of `loc(…)`.
    fn loc_body(&mut self, loc: Loc) {
        match loc.data() {
            LocData::Unknown => self.push("unknown"),
            LocData::File { file, line, col } => {
                self.string(file.as_str());
                self.push(&format!(":{line}:{col}"));
            }
            LocData::Name { name, child } => {
                self.string(name.as_str());
                if !matches!(child.data(), LocData::Unknown) {
                    self.push("(");
                    self.loc(*child);
                    self.push(")");
                }
            }
            LocData::CallSite { callee, caller } => {
                self.push("callsite(");
                self.loc(*callee);
                self.push(" at ");
                self.loc(*caller);
                self.push(")");
            }
            LocData::Fused(parts) => {
                self.push("fused[");
                self.commas(parts, |t, &l| t.loc(l));
                self.push("]");
            }
        }
    }

    /// Writes the line `#name = …` of an alias.
    pub fn definition(&mut self, name: &str, symbol: Symbol) {
        self.push(name);
        self.push(" = ");
        match symbol {
            Symbol::Attr(a) => self.attr_body(a),
            Symbol::Type(t) => self.type_body(t),
            Symbol::Loc(l) => {
                self.push("loc(");
                self.loc_body(l);
                self.push(")");
            }
        }
        self.push("\n");
    }

    /// Writes a string in quotes. Characters that are not printable ASCII, quotes and backslashes become `\XX`.
    pub fn string(&mut self, text: &str) {
        self.out.push('"');
        for b in text.bytes() {
            match b {
                b'\\' => self.push("\\\\"),
                b'"' | 0..0x20 | 0x7f.. => self.push(&format!("\\{b:02X}")),
                _ => self.out.push(char::from(b)),
            }
        }
        self.out.push('"');
    }
}
