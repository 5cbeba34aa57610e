//! Reads operations by their declarative format ([`super::format`]).
//!
//! 1. A walk over the format notes operands by name, types where the text has them, and attributes.
//! 2. The types that the text leaves out are filled in: by the table's `infer` hook, then by constraints that admit one
//!    type only.
//! 3. The operands are looked up, and the operation gets its operands, results and segment sizes.

use super::format::{Anchor, Compiled, Custom, Elem, ElemKind, Group, compiled};
use super::lexer::{Tok, Token};
use super::parse_attrs::flags;
use super::parse_types::BareType;
use super::parser::{Named, Parser, Res};
use crate::diag::codes::irtext as codes;
use crate::ir::core::{Attr, AttrData, Name, Op, Type, TypeData};
use crate::ir::dialects::constraints::{Constraint, MEMDESC, PTR, TENSORDESC};
use crate::ir::dialects::infer;
use crate::ir::dialects::spec::{Arity, AttrKind, AttrSpec, DefaultValue, Format, OpSpec, TypeSlots};
use crate::ir::dialects::{OpKind, Traits};

/// What was read of an operation so far.
struct Reading<'a> {
    op: Op,
    spec: &'static OpSpec,
    /// The operands, by operand group.
    operands: Vec<Vec<Named<'a>>>,
    /// The types, by operand and result group, where the text has them.
    operand_types: Vec<Option<Vec<Type>>>,
    result_types: Vec<Option<Vec<Type>>>,
    /// The contents of `operands` as a whole, where the format reads them so.
    all_operands: Option<Vec<Named<'a>>>,
    all_operand_types: Option<Vec<Type>>,
    all_result_types: Option<Vec<Type>>,
    name: Token,
}

impl<'a> Parser<'a> {
    /// Reads an operation after its name, by its table's format or by its own function. `named` results stand before
    /// it.
    pub(super) fn custom(&mut self, op: Op, kind: OpKind, named: usize) -> Res<()> {
        match kind.spec().format {
            Format::Text(_) => self.formatted(op, kind, named),
            Format::Custom => self.custom_op(op, kind),
            Format::Generic => {
                Err(self
                    .syntax(self.tok, format!("`{}` has only the generic form, with its name in quotes", kind.name())))
            }
        }
    }

    fn formatted(&mut self, op: Op, kind: OpKind, named: usize) -> Res<()> {
        let format = compiled(kind).expect("an operation with a format");
        let spec = kind.spec();
        let name = self.tok;
        let mut r = Reading {
            op,
            spec,
            operands: vec![vec![]; spec.operands.len()],
            operand_types: vec![None; spec.operands.len()],
            result_types: vec![None; spec.results.len()],
            all_operands: None,
            all_operand_types: None,
            all_result_types: None,
            name,
        };
        self.elems(&mut r, &format.elems, format)?;
        self.complete(r, named)
    }

    // ---- walking over the format ----

    fn elems(&mut self, r: &mut Reading<'a>, elems: &'static [Elem], format: &'static Compiled) -> Res<()> {
        for elem in elems {
            self.elem(r, &elem.kind, format)?;
        }
        Ok(())
    }

    fn elem(&mut self, r: &mut Reading<'a>, kind: &'static ElemKind, format: &'static Compiled) -> Res<()> {
        match kind {
            ElemKind::Literal(text) => {
                self.expect(text)?;
            }
            ElemKind::Operands(Group::Operand(i)) => {
                r.operands[*i] = match r.spec.operands[*i].arity {
                    Arity::One => vec![self.named()?],
                    Arity::Optional if self.tok.kind == Tok::Value => vec![self.named()?],
                    Arity::Optional => vec![],
                    Arity::Variadic => self.named_list()?,
                };
            }
            ElemKind::Operands(_) => r.all_operands = Some(self.named_list()?),
            ElemKind::Attr(at) => {
                let spec = &r.spec.attrs[*at];
                let value = self.shown_attr(spec)?;
                self.ir.set_attr(r.op, spec.name, value);
            }
            ElemKind::Successor(_) => {
                let block = self.successor(r.op)?;
                let mut blocks = self.ir.successors(r.op).to_vec();
                blocks.push(block);
                self.ir.set_successors(r.op, &blocks);
            }
            ElemKind::Types { of, bare } => self.types_of(r, *of, *bare)?,
            ElemKind::FunctionType(a, b) => {
                let (inputs, results) = self.function_type()?;
                r.set_types(*a, inputs);
                r.set_types(*b, results);
            }
            ElemKind::AttrDict { keyword } => {
                if if *keyword { self.eat("attributes") } else { self.is("{") } {
                    let entries = self.attr_entries()?;
                    self.set_attrs(r.op, entries)?;
                }
            }
            ElemKind::Optional { anchor, then, otherwise } => {
                if self.starts(r.spec, then) {
                    self.elems(r, then, format)?;
                    self.set_unit(r, *anchor);
                } else {
                    self.elems(r, otherwise, format)?;
                }
            }
            ElemKind::AnyOf(clauses) => {
                while let Some((anchor, elems)) = clauses.iter().find(|c| self.starts(r.spec, &c.1)) {
                    self.elems(r, elems, format)?;
                    self.set_unit(r, *anchor);
                }
            }
            ElemKind::Custom(c) => self.directive(r, *c)?,
        }
        Ok(())
    }

    /// Sets a unit attribute, which is given by the words around it.
    fn set_unit(&mut self, r: &Reading<'a>, anchor: Anchor) {
        if let Anchor::Attr(at) = anchor
            && matches!(r.spec.attrs[at].kind, AttrKind::Unit)
        {
            self.ir.set_attr(r.op, r.spec.attrs[at].name, Attr::unit());
        }
    }

    /// Whether an optional part is there, judged by its first piece.
    fn starts(&self, spec: &OpSpec, elems: &[Elem]) -> bool {
        match elems.first().map(|e| &e.kind) {
            Some(ElemKind::Literal(text)) => self.is(text),
            Some(ElemKind::Operands(_)) => self.tok.kind == Tok::Value,
            Some(ElemKind::Types { .. }) => self.at_type(),
            Some(ElemKind::Attr(at)) => match spec.attrs[*at].kind {
                AttrKind::Enum(e) => e.value(self.word()).is_some(),
                AttrKind::Flags(_) => self.is("<"),
                AttrKind::Str => self.tok.kind == Tok::Str,
                AttrKind::Symbol => self.tok.kind == Tok::Symbol,
                _ => matches!(self.tok.kind, Tok::Int | Tok::Float | Tok::Hash | Tok::Str) || self.is("-"),
            },
            _ => false,
        }
    }

    fn types_of(&mut self, r: &mut Reading<'a>, of: Group, bare: bool) -> Res<()> {
        let one = match of {
            Group::Operand(i) => Some(&r.spec.operands[i]),
            Group::Result(i) => Some(&r.spec.results[i]),
            _ => None,
        };
        let absent = matches!(of, Group::Operand(i) if r.operands[i].is_empty());
        let types = match one.filter(|s| s.arity != Arity::Variadic) {
            Some(s) if s.arity == Arity::Optional && absent => vec![],
            Some(s) => {
                let bare = if bare { bare_type(s.constraint) } else { None };
                vec![self.maybe_bare(bare)?]
            }
            None if self.at_type() => self.types()?,
            None => vec![],
        };
        r.set_types(of, types);
        Ok(())
    }

    /// Reads an attribute that the format names.
    fn shown_attr(&mut self, spec: &AttrSpec) -> Res<Attr> {
        let t = self.tok;
        match spec.kind {
            AttrKind::Enum(e) => {
                let word = if t.kind == Tok::Str {
                    super::lexer::unescape(self.word()).unwrap_or_default()
                } else {
                    self.word().to_owned()
                };
                if let Some(value) = e.value(&word).filter(|_| matches!(t.kind, Tok::Word | Tok::Str)) {
                    self.advance();
                    Ok(Attr::i32(value))
                } else {
                    let cases: Vec<&str> = e.cases.iter().map(|c| c.0).collect();
                    Err(self.unexpected(&format!("a {} ({})", e.name, cases.join(", "))))
                }
            }
            AttrKind::Flags(e) => {
                let words = self.list("<", ">", &mut |p| {
                    if p.tok.kind == Tok::Word { Ok(p.advance()) } else { Err(p.unexpected(e.name)) }
                })?;
                let bits = flags(e, words.iter().map(|&w| self.word_of(w)));
                bits.map(Attr::i32).ok_or_else(|| self.syntax(t, format!("unknown {}", e.name)))
            }
            AttrKind::Int(w) => {
                let value = self.integer()?;
                Ok(Attr::int(value, Type::int(w)))
            }
            AttrKind::Str => Ok(Attr::str(&self.string()?)),
            AttrKind::Symbol => Ok(Attr::symbol(&self.symbol()?)),
            _ => self.attr(),
        }
    }

    fn directive(&mut self, r: &mut Reading<'a>, custom: Custom) -> Res<()> {
        match custom {
            Custom::Token { dep, token } => {
                r.result_types[token] = Some(vec![]);
                if self.eat("[") {
                    r.result_types[token] = Some(vec![Type::new(TypeData::AsyncToken)]);
                    if !self.is("]") {
                        r.operands[dep] = vec![self.named()?];
                    }
                    self.expect("]")?;
                }
            }
            Custom::Barriers { barriers, preds } => {
                while self.eat(",") {
                    r.operands[barriers].push(self.named()?);
                    self.expect("[")?;
                    r.operands[preds].push(self.named()?);
                    self.expect("]")?;
                }
            }
            Custom::Offsets(at) => {
                let mut values = vec![];
                if !self.is("]") {
                    values.push(self.integer()?);
                    while self.eat(",") {
                        values.push(self.integer()?);
                    }
                }
                self.ir.set_attr(r.op, r.spec.attrs[at].name, Attr::i32_array(&values));
            }
        }
        Ok(())
    }

    // ---- filling in ----

    fn complete(&mut self, mut r: Reading<'a>, named: usize) -> Res<()> {
        r.split_operands();
        let operands = self.operand_slots(&r)?;
        let results = result_slots(&r, named);
        let attrs: Vec<(Name, Attr)> = self.ir.attrs(r.op).to_vec();
        let lookup = |name: &str| attrs.iter().find(|a| a.0.as_str() == name).map(|a| a.1);
        let mut slots = TypeSlots { operands, results, attrs: &lookup };
        infer::fill_in(r.spec, &mut slots);
        let (operands, results) = (slots.operands, slots.results);
        self.place(&r, &operands, &results)
    }

    fn place(&mut self, r: &Reading<'a>, operands: &[Vec<Option<Type>>], results: &[Vec<Option<Type>>]) -> Res<()> {
        let mut values = vec![];
        for (group, types) in r.operands.iter().zip(operands) {
            for (&name, ty) in group.iter().zip(types) {
                let Some(ty) = *ty else {
                    return Err(self.error_at(
                        &codes::IR_TYPE_MISMATCH,
                        name.at,
                        format!("the type of `%{}` does not follow from this text", name.name),
                    ));
                };
                values.push(self.resolve(name, ty)?);
            }
        }
        let mut types = vec![];
        for ty in results.iter().flatten() {
            let Some(ty) = *ty else {
                return Err(self.error_at(
                    &codes::IR_TYPE_MISMATCH,
                    r.name,
                    format!("the result type of `{}` does not follow from this text", r.spec.name),
                ));
            };
            types.push(ty);
        }
        self.finish(r.op, &values, &types);
        if r.spec.has(Traits::ATTR_SIZED_OPERANDS) {
            let sizes: Vec<i64> = r.operands.iter().map(|g| g.len() as i64).collect();
            self.ir.set_attr(r.op, "operandSegmentSizes", Attr::i32_array(&sizes));
        }
        if r.spec.results.iter().filter(|s| s.arity != Arity::One).count() > 1 {
            let sizes: Vec<i64> = results.iter().map(|g| g.len() as i64).collect();
            self.ir.set_attr(r.op, "resultSegmentSizes", Attr::i32_array(&sizes));
        }
        self.drop_defaults(r.op, r.spec);
        Ok(())
    }

    /// Drops attributes that say what their absence would say, so that they are not stored.
    pub(super) fn drop_defaults(&mut self, op: Op, spec: &OpSpec) {
        for a in spec.attrs {
            if !matches!(a.default, DefaultValue::Required | DefaultValue::Absent)
                && self.ir.stored_attr(op, a.name) == a.default_value()
            {
                self.ir.remove_attr(op, a.name);
            }
        }
    }

    /// One slot for each operand, filled where the text has types. The counts must agree.
    fn operand_slots(&self, r: &Reading<'a>) -> Res<Vec<Vec<Option<Type>>>> {
        let mut flat = r.all_operand_types.as_ref().map(|t| t.iter().copied());
        let total: usize = r.operands.iter().map(Vec::len).sum();
        if let Some(types) = &r.all_operand_types
            && types.len() != total
        {
            return Err(self.count_mismatch(r, total, types.len()));
        }
        let mut out = vec![];
        for (group, types) in r.operands.iter().zip(&r.operand_types) {
            let slots = match (types, &mut flat) {
                (Some(types), _) if types.len() != group.len() => {
                    return Err(self.count_mismatch(r, group.len(), types.len()));
                }
                (Some(types), _) => types.iter().map(|&t| Some(t)).collect(),
                (None, Some(flat)) => flat.take(group.len()).map(Some).collect(),
                (None, None) => vec![None; group.len()],
            };
            out.push(slots);
        }
        Ok(out)
    }

    fn count_mismatch(&self, r: &Reading<'a>, values: usize, types: usize) -> Box<crate::diag::Diagnostic> {
        let at = r.operands.iter().flatten().next().map_or(r.name, |n| n.at);
        self.error_at(
            &codes::IR_TYPE_MISMATCH,
            at,
            format!("`{}` has {values} operands here but {types} types for them", r.spec.name),
        )
    }
}

/// One slot for each result.
fn result_slots(r: &Reading<'_>, named: usize) -> Vec<Vec<Option<Type>>> {
    let ones = r.spec.results.iter().filter(|s| s.arity == Arity::One).count();
    let total = r.all_result_types.as_ref().map_or(named, Vec::len);
    let mut flat = r.all_result_types.clone().unwrap_or_default().into_iter();
    let mut out: Vec<Vec<Option<Type>>> = vec![];
    for (s, types) in r.spec.results.iter().zip(&r.result_types) {
        let open = s.arity == Arity::Variadic || r.all_result_types.is_some();
        let count = match s.arity {
            Arity::One => 1,
            _ if open => total.saturating_sub(ones),
            _ => 0,
        };
        out.push(match types {
            Some(types) => types.iter().map(|&t| Some(t)).collect(),
            None => (0..count).map(|_| flat.next()).collect(),
        });
    }
    // There are more types than the table has results for. They are kept, so that the verifier sees what the text says.
    if let Some(last) = out.last_mut() {
        last.extend(flat.map(Some));
    }
    out
}

impl Reading<'_> {
    fn set_types(&mut self, of: Group, types: Vec<Type>) {
        match of {
            Group::Operand(i) => self.operand_types[i] = Some(types),
            Group::Result(i) => self.result_types[i] = Some(types),
            Group::Operands => self.all_operand_types = Some(types),
            Group::Results => self.all_result_types = Some(types),
        }
    }

    /// Distributes operands that were read as one list over the groups.
    fn split_operands(&mut self) {
        let Some(all) = self.all_operands.take() else { return };
        let ones = self.spec.operands.iter().filter(|s| s.arity == Arity::One).count();
        let mut rest = all.len().saturating_sub(ones);
        let mut all = all.into_iter();
        for (group, s) in self.operands.iter_mut().zip(self.spec.operands) {
            let n = match s.arity {
                Arity::One => 1,
                Arity::Optional => rest.min(1),
                Arity::Variadic => rest,
            };
            if s.arity != Arity::One {
                rest -= n;
            }
            *group = all.by_ref().take(n).collect();
        }
        if let Some(last) = self.operands.last_mut() {
            last.extend(all);
        }
    }
}

fn bare_type(constraint: &'static Constraint) -> Option<BareType> {
    let is = |c: &'static Constraint| std::ptr::eq(c, constraint);
    if is(&PTR) {
        Some(BareType::Pointer)
    } else if is(&MEMDESC) {
        Some(BareType::MemDesc)
    } else if is(&TENSORDESC) {
        Some(BareType::TensorDesc)
    } else {
        None
    }
}

/// Makes an array of dictionaries, or nothing where all of them are empty.
pub(super) fn dict_array(dicts: Vec<Vec<(Name, Attr, Token)>>) -> Option<Attr> {
    if dicts.iter().all(Vec::is_empty) {
        return None;
    }
    let dict = |mut entries: Vec<(Name, Attr, Token)>| {
        entries.sort_by_key(|a| a.0);
        Attr::new(AttrData::Dict(entries.into_iter().map(|(n, a, _)| (n, a)).collect()))
    };
    Some(Attr::new(AttrData::Array(dicts.into_iter().map(dict).collect())))
}
