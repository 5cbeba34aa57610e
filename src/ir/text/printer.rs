//! Prints operations as MLIR does with Triton's settings.
//!
//! 1. Values and blocks get names ([`Names`]).
//! 2. A first run over the module learns which attributes and locations occur, and gives them aliases
//!    ([`super::writer`]).
//! 3. A second run prints aliases, then the module, then aliases of locations.
//!
//! An operation is printed by the format in its table ([`super::format`]), by a function of its own
//! ([`super::custom`]), or generically: `"tt.reduce"(%0) <{axis = 0 : i32}> ({ … }) : (tensor<8xf32>) -> f32`.

use super::custom;
use super::format::{self, Anchor, Compiled, Custom, Elem, ElemKind, Group};
use super::names::Names;
use super::writer::{Aliases, Text};
use crate::ir::core::{Attr, AttrData, Block, Ir, Name, Op, Region, Type, Value};
use crate::ir::dialects::enums::Enumeration;
use crate::ir::dialects::spec::{Arity, AttrKind, AttrSpec, EnumSpec, Format, OpSpec};
use crate::ir::dialects::{OpKind, Traits, TtOp, discardable, enums};

/// The options of printing.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// Whether to write locations.
    pub locations: bool,
    /// Whether to write every operation in the generic form.
    pub generic: bool,
}

impl PrintOptions {
    /// The options with which Triton dumps modules, so with locations.
    #[must_use]
    pub fn with_locations() -> PrintOptions {
        PrintOptions { locations: true, generic: false }
    }
}

/// The text of a module, with aliases, ending in a line break.
#[must_use]
pub fn print_module(ir: &Ir, opts: &PrintOptions) -> String {
    let mut p = Printer::new(ir, ir.module(), *opts, Aliases::Collect(Box::default()));
    p.full_op(ir.module());
    let Aliases::Collect(collector) = std::mem::replace(&mut p.text.aliases, Aliases::None) else {
        unreachable!("set above")
    };
    let table = collector.finish();
    let order = table.order.clone();
    p.text.aliases = Aliases::Use(Box::new(table));
    p.text.out.clear();
    for (name, symbol, _) in order.iter().filter(|a| !a.2) {
        p.text.definition(name, *symbol);
    }
    p.full_op(ir.module());
    p.text.push("\n");
    for (name, symbol, _) in order.iter().filter(|a| a.2) {
        p.text.definition(name, *symbol);
    }
    p.text.out
}

/// The text of one operation with everything nested in it, without aliases. Values are named as in the whole module.
#[must_use]
pub fn print_op(ir: &Ir, op: Op, opts: &PrintOptions) -> String {
    let root = if ir.is_ancestor(ir.module(), op) {
        ir.module()
    } else {
        std::iter::successors(Some(op), |&o| ir.parent_op(o)).last().unwrap_or(op)
    };
    let mut p = Printer::new(ir, root, *opts, Aliases::None);
    p.full_op(op);
    p.text.out
}

/// Prints operations of one module.
pub struct Printer<'a> {
    pub ir: &'a Ir,
    pub text: Text,
    names: Names,
    opts: PrintOptions,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn new(ir: &'a Ir, root: Op, opts: PrintOptions, aliases: Aliases) -> Printer<'a> {
        Printer { ir, text: Text::new(aliases), names: Names::new(ir, root, opts.generic), opts, indent: 0 }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push(text);
    }

    /// Writes a line break and the current indentation.
    pub(super) fn newline(&mut self) {
        self.push("\n");
        self.start_line();
    }

    fn start_line(&mut self) {
        for _ in 0..self.indent {
            self.push("  ");
        }
    }

    // ---- operations ----

    /// Writes results, operation and location.
    fn full_op(&mut self, op: Op) {
        self.start_line();
        let results = self.ir.results(op);
        if let Some(&first) = results.first() {
            self.names.write_group(first, &mut self.text.out);
            if self.names.is_separate(self.ir, op) {
                for &result in &results[1..] {
                    self.push(", ");
                    self.names.write_group(result, &mut self.text.out);
                }
            } else if results.len() > 1 {
                self.push(&format!(":{}", results.len()));
            }
            self.push(" = ");
        }
        // MLIR meets an operation's location before what is in the operation. That decides the numbers of location
        // aliases.
        if self.opts.locations && matches!(self.text.aliases, Aliases::Collect(_)) {
            self.text.trailing_loc(self.ir.loc(op), true);
        }
        self.op(op);
        if self.opts.locations && !matches!(self.text.aliases, Aliases::Collect(_)) {
            self.text.trailing_loc(self.ir.loc(op), true);
        }
    }

    fn op(&mut self, op: Op) {
        let kind = self.ir.kind(op);
        if self.opts.generic
            || matches!(kind, OpKind::Unregistered(_))
            || !self.has_expected_shape(op)
            || self.text_loses_types(op)
        {
            return self.generic(op);
        }
        match kind.spec().format {
            Format::Generic => self.generic(op),
            Format::Custom => {
                if !custom::print(self, op, kind) {
                    self.generic(op);
                }
            }
            Format::Text(_) => {
                let compiled = format::compiled(kind).expect("an operation with a format");
                self.push(kind.name());
                self.elems(op, &compiled.elems, compiled);
            }
        }
    }

    /// Whether the operation has as many operands, results, regions and successors as its table says. If not, only the
    /// generic form can show it.
    fn has_expected_shape(&self, op: Op) -> bool {
        let spec = self.ir.spec(op);
        let count = |specs: &[crate::ir::dialects::spec::OperandSpec], n: usize| {
            let least = specs.iter().filter(|s| s.arity == Arity::One).count();
            let most = if specs.iter().any(|s| s.arity == Arity::Variadic) { usize::MAX } else { specs.len() };
            (least..=most).contains(&n)
        };
        let regions = self.ir.regions_of(op).len();
        let open = spec.regions.last().is_some_and(|r| r.ends_with('*'));
        count(spec.operands, self.ir.operands(op).len())
            && count(spec.results, self.ir.results(op).len())
            && (regions == spec.regions.len() || open && regions + 1 >= spec.regions.len())
            && self.ir.successors(op).len() == spec.successors
            && self.has_fitting_segments(op, spec)
            && spec.attrs.iter().all(|a| {
                !matches!(a.default, crate::ir::dialects::spec::DefaultValue::Required)
                    || self.ir.stored_attr(op, a.name).is_some()
            })
    }

    /// Whether the operation's own text would leave out a type that cannot be computed from the rest, which is the
    /// address space of a block pointer's base.
    fn text_loses_types(&self, op: Op) -> bool {
        self.ir.is(op, TtOp::MakeTensorPtr) && {
            let [base, block] = [self.ir.operand(op, 0), self.ir.result(op)].map(|v| self.ir.ty(v));
            block.pointee().is_some_and(|block| base != Type::ptr(block.elem()))
        }
    }

    /// Whether the attributes that say how operands and results are grouped agree with how many there are.
    fn has_fitting_segments(&self, op: Op, spec: &OpSpec) -> bool {
        let fits = |name: &str, specs: &[crate::ir::dialects::spec::OperandSpec], n: usize, needed: bool| {
            let Some(sizes) = self.ir.stored_attr(op, name).and_then(Attr::as_dense_array) else { return !needed };
            let admitted = |(s, &size): (&crate::ir::dialects::spec::OperandSpec, &i64)| match s.arity {
                Arity::One => size == 1,
                Arity::Optional => (0..=1).contains(&size),
                Arity::Variadic => size >= 0,
            };
            sizes.len() == specs.len()
                && specs.iter().zip(sizes).all(admitted)
                && sizes.iter().map(|&s| s as u128).sum::<u128>() == n as u128
        };
        let sized = spec.has(Traits::ATTR_SIZED_OPERANDS);
        fits("operandSegmentSizes", spec.operands, self.ir.operands(op).len(), sized)
            && fits("resultSegmentSizes", spec.results, self.ir.results(op).len(), false)
    }

    /// Writes `"d.op"(%a)[^bb1] <{p = 1}> ({…}) {d = 2} : (i32) -> i32`.
    pub(super) fn generic(&mut self, op: Op) {
        let ir = self.ir;
        self.text.string(ir.op_name(op));
        self.push("(");
        self.values(ir.operands(op));
        self.push(")");
        if !ir.successors(op).is_empty() {
            self.push("[");
            for (i, &b) in ir.successors(op).iter().enumerate() {
                self.push(if i > 0 { ", " } else { "" });
                self.block_name(b);
            }
            self.push("]");
        }
        let (inherent, rest) = self.split_attrs(op);
        if !inherent.is_empty() {
            self.push(" <{");
            self.text.named_attrs(&inherent);
            self.push("}>");
        }
        if !ir.regions_of(op).is_empty() {
            self.push(" (");
            for (i, &r) in ir.regions_of(op).iter().enumerate() {
                self.push(if i > 0 { ", " } else { "" });
                self.region(r, true, true, true);
            }
            self.push(")");
        }
        self.attr_dict(&rest, false);
        self.push(" : ");
        let (inputs, results) = (self.types(ir.operands(op)), self.types(ir.results(op)));
        self.text.function_type(&inputs, &results);
    }

    /// The attributes of the operation's table, in the form that the generic text has, and then the others.
    fn split_attrs(&self, op: Op) -> (Vec<(Name, Attr)>, Vec<(Name, Attr)>) {
        let spec = self.ir.spec(op);
        let inherent = |name: &str| {
            spec.attr(name).is_some() || matches!(name, "operandSegmentSizes" | "resultSegmentSizes" | CACHE_POLICY)
        };
        self.text_attrs(op).into_iter().partition(|a| inherent(a.0.as_str()))
    }

    /// The operation's attributes as text shows them. Enumerations have their dialects' form, and cache modifier and
    /// eviction policy are one attribute.
    fn text_attrs(&self, op: Op) -> Vec<(Name, Attr)> {
        let spec = self.ir.spec(op);
        let shown =
            self.ir.attrs(op).iter().map(|&(n, a)| (n, spec.attr(n.as_str()).map_or(a, |s| generic_form(s, a))));
        let Some(policy) = has_cache_policy(spec).then(|| cache_policy(self.ir, op)) else { return shown.collect() };
        let mut attrs: Vec<(Name, Attr)> = shown.filter(|a| !matches!(a.0.as_str(), "cache" | "evict")).collect();
        attrs.extend(policy.map(|p| (Name::of(CACHE_POLICY), p)));
        attrs.sort_by_key(|a| a.0);
        attrs
    }

    // ---- pieces ----

    pub(super) fn value(&mut self, value: Value) {
        self.names.write(self.ir, value, &mut self.text.out);
    }

    /// Writes values with commas between them.
    pub(super) fn values(&mut self, values: &[Value]) {
        for (i, &v) in values.iter().enumerate() {
            self.push(if i > 0 { ", " } else { "" });
            self.value(v);
        }
    }

    pub(super) fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&v| self.ir.ty(v)).collect()
    }

    /// Writes the types of values with commas between them.
    pub(super) fn type_list(&mut self, values: &[Value]) {
        let types = self.types(values);
        self.text.commas(types, Text::ty);
    }

    pub(super) fn block_name(&mut self, block: Block) {
        let name = self.names.block(block);
        self.push(&name);
    }

    /// Writes ` {a = 1}`, or nothing.
    pub(super) fn attr_dict(&mut self, attrs: &[(Name, Attr)], keyword: bool) {
        if !attrs.is_empty() {
            self.push(if keyword { " attributes {" } else { " {" });
            self.text.named_attrs(attrs);
            self.push("}");
        }
    }

    /// Writes the operation's attributes without these, defaults and segment sizes.
    pub(super) fn attr_dict_without(&mut self, op: Op, hidden: &[&str], keyword: bool) {
        let spec = self.ir.spec(op);
        let shown = |name: &str, value: Attr| {
            (name == CACHE_POLICY || !hidden.contains(&name))
                && !matches!(name, "operandSegmentSizes" | "resultSegmentSizes")
                && spec.attr(name).and_then(AttrSpec::default_value) != Some(value)
        };
        let attrs: Vec<(Name, Attr)> = self.text_attrs(op).into_iter().filter(|&(n, a)| shown(n.as_str(), a)).collect();
        self.attr_dict(&attrs, keyword);
    }

    /// Writes `%x: i32 {a = 1} loc(…)`, a parameter of a function or a partition.
    pub(super) fn region_argument(&mut self, arg: Value, attrs: &[(Name, Attr)]) {
        self.value(arg);
        self.push(": ");
        self.text.ty(self.ir.ty(arg));
        // MLIR looks for no aliases in a parameter's attributes, and they hold none.
        self.attr_dict(attrs, false);
        self.argument_loc(arg);
    }

    /// MLIR writes the location of an argument without its alias, and counts it among those that are defined before the
    /// module.
    fn argument_loc(&mut self, arg: Value) {
        if self.opts.locations {
            self.text.trailing_loc(self.ir.value_loc(arg), false);
        }
    }

    /// Writes a region in braces. The flags say whether to write the entry block's arguments, its terminators, and the
    /// header of an empty entry block.
    pub(super) fn region(&mut self, region: Region, entry_args: bool, terminators: bool, empty_header: bool) {
        self.push("{\n");
        for (i, &block) in self.ir.blocks_of(region).iter().enumerate() {
            let header = i > 0
                || (empty_header && self.ir.first_op(block).is_none())
                || (entry_args && !self.ir.args(block).is_empty());
            self.block(block, header, terminators || i > 0);
        }
        self.start_line();
        self.push("}");
    }

    fn block(&mut self, block: Block, header: bool, terminator: bool) {
        if header {
            self.start_line();
            self.block_name(block);
            if !self.ir.args(block).is_empty() {
                self.push("(");
                for (i, &arg) in self.ir.args(block).iter().enumerate() {
                    self.push(if i > 0 { ", " } else { "" });
                    self.value(arg);
                    self.push(": ");
                    self.text.ty(self.ir.ty(arg));
                    self.argument_loc(arg);
                }
                self.push(")");
            }
            self.push(":");
            self.predecessors(block);
            self.push("\n");
        }
        self.indent += 1;
        let last = self.ir.last_op(block);
        for op in self.ir.ops(block) {
            if !terminator && Some(op) == last && self.ir.kind(op).has(Traits::TERMINATOR) {
                break;
            }
            self.full_op(op);
            self.push("\n");
        }
        self.indent -= 1;
    }

    /// Writes the comment that names the blocks which jump here.
    fn predecessors(&mut self, block: Block) {
        let Some(region) = self.ir.parent_region(block) else { return };
        let blocks = self.ir.blocks_of(region);
        let mut preds: Vec<Block> = vec![];
        for &b in blocks {
            let jumps = self.ir.last_op(b).map_or(0, |t| self.ir.successors(t).iter().filter(|&&s| s == block).count());
            preds.extend(std::iter::repeat_n(b, jumps));
        }
        match preds.as_slice() {
            [] if blocks.first() == Some(&block) => {}
            [] => self.push("  // no predecessors"),
            [one] => {
                self.push("  // pred: ");
                self.block_name(*one);
            }
            many => {
                self.push(&format!("  // {} preds: ", many.len()));
                for (i, &b) in many.iter().enumerate() {
                    self.push(if i > 0 { ", " } else { "" });
                    self.block_name(b);
                }
            }
        }
    }

    // ---- declarative formats ----

    fn elems(&mut self, op: Op, elems: &[Elem], format: &Compiled) {
        for elem in elems {
            if elem.space {
                self.push(" ");
            }
            self.elem(op, &elem.kind, format);
        }
    }

    fn elem(&mut self, op: Op, kind: &ElemKind, format: &Compiled) {
        match kind {
            ElemKind::Literal(text) => self.push(text),
            ElemKind::Operands(g) => {
                let values = group_values(self.ir, op, *g).to_vec();
                self.values(&values);
            }
            ElemKind::Attr(at) => self.shown_attr(op, &self.ir.spec(op).attrs[*at]),
            ElemKind::Successor(i) => self.block_name(self.ir.successors(op)[*i]),
            ElemKind::Types { of, bare: true } => {
                for &v in group_values(self.ir, op, *of) {
                    self.text.stripped_type(self.ir.ty(v));
                }
            }
            ElemKind::Types { of, bare: false } => {
                let values = group_values(self.ir, op, *of).to_vec();
                self.type_list(&values);
            }
            ElemKind::FunctionType(a, b) => {
                let (a, b) = (self.types(group_values(self.ir, op, *a)), self.types(group_values(self.ir, op, *b)));
                self.text.function_type(&a, &b);
            }
            ElemKind::AttrDict { keyword } => {
                let hidden: Vec<&str> = format.shown.iter().map(|&i| self.ir.spec(op).attrs[i].name).collect();
                self.attr_dict_without(op, &hidden, *keyword);
            }
            ElemKind::Optional { anchor, then, otherwise } => {
                let elems = if self.present(op, *anchor) { then } else { otherwise };
                self.elems(op, elems, format);
            }
            // Cache modifiers are left out in all formats that have such a list, because Triton 3.9 reads them in the
            // dictionary only.
            ElemKind::AnyOf(_) if has_cache_policy(self.ir.spec(op)) => {}
            ElemKind::AnyOf(clauses) => {
                for (anchor, elems) in clauses {
                    if self.present(op, *anchor) {
                        self.elems(op, elems, format);
                    }
                }
            }
            ElemKind::Custom(c) => self.directive(op, *c),
        }
    }

    fn present(&self, op: Op, anchor: Anchor) -> bool {
        match anchor {
            Anchor::Group(g) => !group_values(self.ir, op, g).is_empty(),
            Anchor::Attr(at) => {
                let spec = &self.ir.spec(op).attrs[at];
                self.ir.stored_attr(op, spec.name).is_some_and(|v| spec.default_value() != Some(v))
            }
        }
    }

    /// Writes an attribute where the format names it: enumerations by their words, others without their type.
    fn shown_attr(&mut self, op: Op, spec: &AttrSpec) {
        let Some(value) = self.ir.attr(op, spec.name) else { return };
        match (&spec.kind, value.as_int()) {
            (AttrKind::Enum(e), Some(v)) if e.case(v).is_some() => self.push(e.case(v).unwrap_or_default()),
            (AttrKind::Flags(e), Some(v)) => {
                self.push("<");
                self.push(&flags_text(e, v));
                self.push(">");
            }
            (AttrKind::Any | AttrKind::Typed, _) => self.text.attr(value),
            _ => self.text.attr_without_type(value),
        }
    }

    fn directive(&mut self, op: Op, custom: Custom) {
        match custom {
            Custom::Token { dep, token } => {
                if !result_group(self.ir, op, token).is_empty() {
                    self.push("[");
                    let dep = self.ir.operand_group(op, dep).to_vec();
                    self.values(&dep);
                    self.push("]");
                }
            }
            Custom::Barriers { barriers, preds } => {
                let pairs: Vec<(Value, Value)> = self
                    .ir
                    .operand_group(op, barriers)
                    .iter()
                    .copied()
                    .zip(self.ir.operand_group(op, preds).iter().copied())
                    .collect();
                for (barrier, pred) in pairs {
                    self.push(", ");
                    self.value(barrier);
                    self.push("[");
                    self.value(pred);
                    self.push("]");
                }
            }
            Custom::Offsets(at) => {
                let values =
                    self.ir.attr(op, self.ir.spec(op).attrs[at].name).and_then(Attr::as_dense_array).unwrap_or(&[]);
                self.text.commas(values, |t, v| t.push(&v.to_string()));
            }
        }
    }
}

/// The values of a group.
#[must_use]
pub fn group_values(ir: &Ir, op: Op, group: Group) -> &[Value] {
    match group {
        Group::Operand(i) => ir.operand_group(op, i),
        Group::Operands => ir.operands(op),
        Group::Results => ir.results(op),
        Group::Result(i) => result_group(ir, op, i),
    }
}

/// The results of group `group`. If several groups are open, `resultSegmentSizes` says which they are.
#[must_use]
pub fn result_group(ir: &Ir, op: Op, group: usize) -> &[Value] {
    let results = ir.results(op);
    let specs = ir.spec(op).results;
    let len = |i: usize| match ir.stored_attr(op, "resultSegmentSizes").and_then(Attr::as_dense_array) {
        Some(sizes) => sizes.get(i).and_then(|&s| usize::try_from(s).ok()).unwrap_or(0),
        None if specs[i].arity == Arity::One => 1,
        None => results.len().saturating_sub(specs.iter().filter(|s| s.arity == Arity::One).count()),
    };
    let start: usize = (0..group).map(len).sum();
    results.get(start..start + len(group)).unwrap_or(&[])
}

/// The words of a set of flags: `nsw, nuw`.
#[must_use]
pub fn flags_text(spec: &EnumSpec, value: i64) -> String {
    if let Some(word) = spec.case(value) {
        return word.to_owned();
    }
    let words: Vec<&str> = spec.cases.iter().filter(|c| c.1 > 0 && value & c.1 == c.1).map(|c| c.0).collect();
    words.join(if std::ptr::eq(spec, &raw const enums::FASTMATH) { "," } else { ", " })
}

/// The attribute in which Triton 3.9 keeps what the tables call `cache` and `evict`.
pub(super) const CACHE_POLICY: &str = discardable::CACHE_POLICY.name();

/// Whether an operation has a cache modifier and an eviction policy.
pub(super) fn has_cache_policy(spec: &OpSpec) -> bool {
    spec.attr("cache").is_some() && spec.attr("evict").is_some()
}

/// The attribute `#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>`, unless both are the default.
fn cache_policy(ir: &Ir, op: Op) -> Option<Attr> {
    enums::cache_policy(ir.enum_attr(op, "cache")?, ir.enum_attr(op, "evict")?)
}

/// An attribute as the generic form shows it. There, some enumerations are attributes of their dialect, or wider
/// integers.
fn generic_form(spec: &AttrSpec, value: Attr) -> Attr {
    let Some(v) = value.as_int() else { return value };
    let opaque = |text: String| Attr::new(AttrData::Opaque(Name::of(&text)));
    match spec.kind {
        AttrKind::Flags(e) if std::ptr::eq(e, &raw const enums::OVERFLOW) => {
            opaque(format!("#arith.overflow<{}>", flags_text(e, v)))
        }
        AttrKind::Flags(e) if std::ptr::eq(e, &raw const enums::FASTMATH) => {
            opaque(format!("#arith.fastmath<{}>", flags_text(e, v)))
        }
        AttrKind::Enum(e)
            if std::ptr::eq(e, enums::CmpiPredicate::SPEC) || std::ptr::eq(e, enums::CmpfPredicate::SPEC) =>
        {
            Attr::int(v, Type::int(64))
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::core::{Builder, InsertPoint, Loc, OpState};
    use crate::ir::dialects::{ArithOp, TtOp};

    /// An operation that says that it has three operands and has one is shown in the generic form, since no other can.
    #[test]
    fn segments_that_do_not_add_up_are_printed() {
        let mut ir = Ir::new(Loc::unknown());
        let block = ir.module_block();
        let mut b = Builder::new(&mut ir, InsertPoint::End(block), Loc::unknown());
        let at = b.value(crate::ir::dialects::UbOp::Poison, &[], Type::ptr(Type::f32()));
        let state = b
            .state(TtOp::Load)
            .operands(&[at])
            .results(&[Type::f32()])
            .attr("operandSegmentSizes", Attr::i32_array(&[1, 1, 1]));
        b.insert(state);
        let text = print_module(&ir, &PrintOptions::default());
        assert!(text.contains("\"tt.load\"(%0) <{operandSegmentSizes = array<i32: 1, 1, 1>}>"), "{text}");
    }

    #[test]
    fn a_small_kernel_prints_as_triton_would() {
        let loc = Loc::file("k.py", 3, 1);
        let mut ir = Ir::new(loc);
        let args = [Type::ptr(Type::f32()), Type::int(32)];
        let func = OpState::new(TtOp::Func, loc)
            .attr("sym_name", Attr::str("k"))
            .attr("sym_visibility", Attr::str("public"))
            .attr("function_type", Attr::ty(Type::function(&args, &[])))
            .attr("noinline", Attr::bool(false))
            .regions(1);
        let func = ir.create_op(func);
        ir.append(ir.module_block(), func);
        let body =
            ir.add_block(ir.region(func, 0), &[(args[0], Loc::named("p", loc)), (args[1], Loc::named("n", loc))]);
        let (ptr, n) = (ir.args(body)[0], ir.args(body)[1]);
        let mut b = Builder::new(&mut ir, InsertPoint::End(body), Loc::named("n", Loc::file("k.py", 4, 2)));
        let one = b.i32(1);
        b.loc = loc;
        let five = b.i32(5);
        let sum = b.value(ArithOp::Addi, &[n, one], Type::int(32));
        let sum = b.value(ArithOp::Addi, &[sum, five], Type::int(32));
        let at = b.value(TtOp::Addptr, &[ptr, sum], args[0]);
        let state = b
            .state(TtOp::Load)
            .operands(&[at])
            .results(&[Type::f32()])
            .attr("operandSegmentSizes", Attr::i32_array(&[1, 0, 0]));
        let x = b.insert(state);
        let x = b.ir.result(x);
        b.op(TtOp::Store, &[at, x], &[]);
        b.op(TtOp::Return, &[], &[]);
        let want = r"module {
  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %n_0 = arith.constant 1 : i32
    %c5_i32 = arith.constant 5 : i32
    %0 = arith.addi %n, %n_0 : i32
    %1 = arith.addi %0, %c5_i32 : i32
    %2 = tt.addptr %p, %1 : !tt.ptr<f32>, i32
    %3 = tt.load %2 : !tt.ptr<f32>
    tt.store %2, %3 : !tt.ptr<f32>
    tt.return
  }
}
";
        assert_eq!(print_module(&ir, &PrintOptions::default()), want);
        let text = print_module(&ir, &PrintOptions::with_locations());
        assert!(
            text.starts_with(
                "#loc = loc(\"k.py\":3:1)\n#loc2 = loc(\"p\"(#loc))\n#loc3 = loc(\"n\"(#loc))\nmodule {\n"
            ),
            "{text}"
        );
        assert!(text.ends_with("} loc(#loc)\n#loc1 = loc(\"k.py\":4:2)\n#loc4 = loc(\"n\"(#loc1))\n"), "{text}");
    }
}
