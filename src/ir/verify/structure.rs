//! Compares the form of one operation with its table entry: counts, constraints, attributes, regions, successors.
//!
//! 1. Operands are cut into groups. If the entry has several optional or variadic groups, `operandSegmentSizes` says
//!    how; else the one flexible group takes what the others leave. Results are cut in the same way, without an
//!    attribute.
//! 2. Each value's type satisfies its group's constraint.
//! 3. Each attribute is there unless it may be absent, and is of its kind.
//! 4. There are as many regions as the entry names, with one block where it says so, and each block ends in a
//!    terminator.
//! 5. There are as many successors as stated. They belong to the same region, are not its entry, and take what is
//!    passed to them.

use super::Verifier;
use crate::diag::codes::verify as codes;
use crate::ir::core::{Attr, AttrData, Block, FloatKind, Op, TypeData, Value};
use crate::ir::dialects::spec::{Arity, AttrKind, AttrSpec, DefaultValue, Effects, EnumSpec, OperandSpec, Traits};
use crate::ir::dialects::{OpKind, OpSpec, TtOp};

const SEGMENTS: &str = "operandSegmentSizes";

impl Verifier<'_> {
    /// Does steps 1 to 5.
    pub(super) fn check_structure(&mut self, op: Op) {
        let spec = self.ir.spec(op);
        self.check_operands(op, spec);
        self.check_results(op, spec);
        for attr in spec.attrs {
            self.check_attr(op, attr);
        }
        self.check_regions(op, spec);
        if spec.has(Traits::TERMINATOR) && self.ir.next_op(op).is_some() {
            self.fault(&codes::INVALID_REGION, op, "a terminator stands before the end of its block");
        }
        let found = self.ir.successors(op).len();
        if found == spec.successors {
            self.check_successors(op);
        } else {
            self.fault(
                &codes::INVALID_REGION,
                op,
                &format!("it has {}, expected {}", count(found, "successor"), spec.successors),
            );
        }
    }

    fn check_operands(&mut self, op: Op, spec: &'static OpSpec) {
        let found = self.ir.operands(op).len();
        match segments(self, op, spec) {
            Ok(sizes) => {
                let values = self.ir.operands(op);
                self.check_groups(op, spec.operands, values, "operand", sizes);
            }
            Err(Segments::Count) => {
                let message = format!("it has {}, expected {}", count(found, "operand"), expected_count(spec.operands));
                self.fault(&codes::INVALID_OPERAND, op, &message);
            }
            Err(Segments::Attr(message)) => self.fault(&codes::INVALID_ATTRIBUTE, op, &message),
        }
    }

    fn check_results(&mut self, op: Op, spec: &'static OpSpec) {
        let values = self.ir.results(op);
        if fits(spec.results, values.len()) {
            self.check_groups(op, spec.results, values, "result", None);
        } else {
            let message =
                format!("it has {}, expected {}", count(values.len(), "result"), expected_count(spec.results));
            self.fault(&codes::INVALID_OPERAND, op, &message);
        }
    }

    /// Checks each value against the constraint of its group, after the counts are known to fit. If several optional
    /// groups have no sizes, each takes a value if the value satisfies its constraint.
    fn check_groups(
        &mut self,
        op: Op,
        groups: &'static [OperandSpec],
        values: &[Value],
        what: &str,
        sizes: Option<&[i64]>,
    ) {
        let fixed = groups.iter().filter(|g| g.arity == Arity::One).count();
        let ambiguous = sizes.is_none() && groups.len() > fixed + 1;
        let flexible = values.len().saturating_sub(fixed);
        let mut rest = values;
        for (index, group) in groups.iter().enumerate() {
            let fitting = rest.iter().take_while(|&&v| (group.constraint.holds)(self.ir.ty(v))).count();
            let len = match (sizes, group.arity) {
                (Some(sizes), _) => usize::try_from(sizes[index]).unwrap_or(0),
                (None, Arity::One) => 1,
                (None, Arity::Optional) if ambiguous => fitting.min(1),
                (None, Arity::Variadic) if ambiguous => fitting,
                (None, _) => flexible,
            };
            let (these, others) = rest.split_at(len.min(rest.len()));
            rest = others;
            for (at, &value) in these.iter().enumerate() {
                let ty = self.ir.ty(value);
                if (group.constraint.holds)(ty) {
                    continue;
                }
                let number = if group.arity == Arity::Variadic { format!(" #{at}") } else { String::new() };
                let name = group.name.trim_end_matches('_');
                let message = format!("{what} `{name}`{number} has type {ty}, expected {}", group.constraint.what);
                self.fault(&codes::INVALID_OPERAND, op, &message);
            }
        }
        if let Some(&value) = rest.first() {
            let message = format!("a {what} has type {}, which none of its groups takes", self.ir.ty(value));
            self.fault(&codes::INVALID_OPERAND, op, &message);
        }
    }

    fn check_attr(&mut self, op: Op, spec: &'static AttrSpec) {
        match self.ir.stored_attr(op, spec.name) {
            None if matches!(spec.default, DefaultValue::Required) => {
                let message = format!("attribute `{}` is missing, expected {}", spec.name, kind_words(&spec.kind));
                self.fault(&codes::INVALID_ATTRIBUTE, op, &message);
            }
            Some(attr) if !is_of_kind(attr, &spec.kind) => {
                let message = format!("attribute `{}` is {attr}, expected {}", spec.name, kind_words(&spec.kind));
                self.fault(&codes::INVALID_ATTRIBUTE, op, &message);
            }
            _ => {}
        }
    }

    fn check_regions(&mut self, op: Op, spec: &'static OpSpec) {
        let regions = self.ir.regions_of(op);
        let any = spec.regions.last().is_some_and(|name| name.ends_with('*'));
        let least = spec.regions.len() - usize::from(any);
        if regions.len() < least || (!any && regions.len() > least) {
            let expected = if any { format!("at least {least}") } else { least.to_string() };
            let message = format!("it has {}, expected {expected}", count(regions.len(), "region"));
            self.fault(&codes::INVALID_REGION, op, &message);
            return;
        }
        for (index, &region) in regions.iter().enumerate() {
            let name = spec.regions[index.min(spec.regions.len() - 1)].trim_end_matches('*');
            let blocks = self.ir.blocks_of(region);
            if spec.has(Traits::SINGLE_BLOCK) && blocks.len() > 1 {
                let message = format!("region `{name}` has {} blocks, expected one", blocks.len());
                self.fault(&codes::INVALID_REGION, op, &message);
            }
            if !spec.has(Traits::NO_TERMINATOR) {
                for &block in blocks {
                    self.check_block_end(op, name, block);
                }
            }
        }
    }

    /// Reports a block without an end. An empty block is a fault of the operation around it. An unfinished one is a
    /// fault of its last operation, which [`Self::check_place`] reports.
    fn check_block_end(&mut self, op: Op, region: &str, block: Block) {
        if self.ir.last_op(block).is_none() {
            self.fault(
                &codes::INVALID_REGION,
                op,
                &format!("a block of region `{region}` has no terminator: it is empty"),
            );
        }
    }

    /// Whether an operation that ends no block stands last in one that needs an end.
    fn is_unfinished(&self, op: Op) -> bool {
        let ends = self.ir.kind(op).is_terminator() || matches!(self.ir.kind(op), OpKind::Unregistered(_));
        let parent = self.ir.parent_op(op).map(|p| self.ir.kind(p));
        !ends
            && self.ir.next_op(op).is_none()
            && parent.is_some_and(|p| !matches!(p, OpKind::Unregistered(_)) && !p.has(Traits::NO_TERMINATOR))
    }

    /// Whether a block of an operation's regions lacks its end. The operation's rule may then not look at what the
    /// block passes on.
    pub(super) fn has_unfinished_block(&self, op: Op) -> bool {
        let blocks = self.ir.regions_of(op).iter().flat_map(|&r| self.ir.blocks_of(r));
        blocks.filter_map(|&b| self.ir.last_op(b)).any(|last| self.is_unfinished(last))
    }

    /// Checks where the operation stands. It must not be last in a block that needs a terminator, nor stand where
    /// nothing may write.
    pub(super) fn check_place(&mut self, op: Op) {
        if self.is_unfinished(op) {
            let parent = self.ir.parent_op(op).map_or("", |p| self.ir.op_name(p));
            self.fault(
                &codes::INVALID_REGION,
                op,
                &format!("it is the last of a block of `{parent}`, expected a terminator after it"),
            );
        } else if self.ir.parent_op(op).is_some_and(|p| self.ir.is(p, TtOp::MapElementwise)) {
            let writes = matches!(self.ir.spec(op).effects, Effects::Write | Effects::ReadWrite)
                && !self.ir.kind(op).is_terminator();
            if writes {
                self.fault(
                    &codes::INVALID_REGION,
                    op,
                    "it writes to memory, which nothing in `tt.map_elementwise` does",
                );
            }
        }
    }

    /// Does step 5 for an operation with the right number of successors.
    pub(super) fn check_successors(&mut self, op: Op) {
        let ir = self.ir;
        let region = ir.parent_block(op).and_then(|b| ir.parent_region(b));
        let spec = ir.spec(op);
        for (index, &block) in ir.successors(op).iter().enumerate() {
            if region.is_none() || ir.parent_region(block) != region {
                self.fault(&codes::INVALID_REGION, op, &format!("successor #{index} is a block of another region"));
            } else if region.and_then(|r| ir.entry(r)) == Some(block) {
                self.fault(
                    &codes::INVALID_REGION,
                    op,
                    &format!("successor #{index} is the entry block, to which nothing may jump"),
                );
            } else if spec.has(Traits::BRANCH) && segments(self, op, spec).is_ok() {
                let group = spec.operands.len().saturating_sub(spec.successors) + index;
                self.check_passed(op, index, block, ir.operand_group(op, group));
            }
        }
    }

    fn check_passed(&mut self, op: Op, index: usize, block: Block, passed: &[Value]) {
        let args = self.ir.args(block);
        if args.len() != passed.len() {
            let message =
                format!("it passes {} to successor #{index}, expected {}", count(passed.len(), "value"), args.len());
            self.fault(&codes::INVALID_REGION, op, &message);
            return;
        }
        for (at, (&arg, &value)) in args.iter().zip(passed).enumerate() {
            let (expected, found) = (self.ir.ty(arg), self.ir.ty(value));
            if expected != found {
                let message =
                    format!("value #{at} that it passes to successor #{index} has type {found}, expected {expected}");
                self.fault(&codes::INVALID_REGION, op, &message);
            }
        }
    }
}

/// The reason why operands cannot be cut into groups.
enum Segments {
    /// There are too many or too few.
    Count,
    /// `operandSegmentSizes` is at fault.
    Attr(String),
}

/// The sizes of the operand groups if they are stored.
fn segments(v: &Verifier<'_>, op: Op, spec: &OpSpec) -> Result<Option<&'static [i64]>, Segments> {
    let found = v.ir.operands(op).len();
    let stored = v.ir.stored_attr(op, SEGMENTS);
    if !spec.has(Traits::ATTR_SIZED_OPERANDS) {
        if stored.is_some() {
            return Err(Segments::Attr(format!("attribute `{SEGMENTS}` does not belong to this operation")));
        }
        return if fits(spec.operands, found) { Ok(None) } else { Err(Segments::Count) };
    }
    let groups = spec.operands.len();
    let Some(attr) = stored else {
        return Err(Segments::Attr(format!("attribute `{SEGMENTS}` is missing, expected {groups} sizes")));
    };
    let sizes = match attr.data() {
        AttrData::DenseArray(_, sizes) if sizes.len() == groups => sizes.as_slice(),
        _ => {
            return Err(Segments::Attr(format!(
                "attribute `{SEGMENTS}` is {attr}, expected an array of {groups} sizes"
            )));
        }
    };
    for (&size, group) in sizes.iter().zip(spec.operands) {
        let good = match group.arity {
            Arity::One => size == 1,
            Arity::Optional => size == 0 || size == 1,
            Arity::Variadic => size >= 0 && size <= found as i64,
        };
        if !good {
            let expected = group_words(group);
            return Err(Segments::Attr(format!(
                "attribute `{SEGMENTS}` gives {size} to `{}`, expected {expected}",
                group.name
            )));
        }
    }
    let total: i64 = sizes.iter().sum();
    if total != found as i64 {
        return Err(Segments::Attr(format!(
            "the sizes in `{SEGMENTS}` add up to {total}, and it has {}",
            count(found, "operand")
        )));
    }
    Ok(Some(sizes))
}

fn group_words(group: &OperandSpec) -> &'static str {
    match group.arity {
        Arity::One => "1",
        Arity::Optional => "0 or 1",
        Arity::Variadic => "no more than there are operands",
    }
}

/// Whether this many values can be cut into the groups.
fn fits(groups: &[OperandSpec], found: usize) -> bool {
    let (least, most) = bounds(groups);
    found >= least && most.is_none_or(|m| found <= m)
}

fn bounds(groups: &[OperandSpec]) -> (usize, Option<usize>) {
    let least = groups.iter().filter(|g| g.arity == Arity::One).count();
    let most = (!groups.iter().any(|g| g.arity == Arity::Variadic)).then_some(groups.len());
    (least, most)
}

fn expected_count(groups: &[OperandSpec]) -> String {
    match bounds(groups) {
        (least, Some(most)) if least == most => least.to_string(),
        (least, Some(most)) => format!("{least} to {most}"),
        (least, None) => format!("at least {least}"),
    }
}

/// A number with its noun: "1 operand", "2 operands".
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

pub(super) fn is_of_kind(attr: Attr, kind: &AttrKind) -> bool {
    match (kind, attr.data()) {
        (AttrKind::Any, _) => true,
        (AttrKind::Unit, AttrData::Unit) => true,
        (AttrKind::Bool, AttrData::Int(_, ty)) => ty.is_int_of(1),
        (AttrKind::Int(width), AttrData::Int(_, ty)) => ty.is_int_of(*width),
        (AttrKind::Enum(cases), AttrData::Int(value, ty)) => ty.is_int() && cases.case(*value).is_some(),
        (AttrKind::Flags(cases), AttrData::Int(value, ty)) => ty.is_int() && value & !all_flags(cases) == 0,
        (AttrKind::F32, AttrData::Float(_, FloatKind::F32)) => true,
        (AttrKind::Str, AttrData::Str(_)) => true,
        (AttrKind::Symbol, AttrData::Symbol(_)) => true,
        (AttrKind::Type, AttrData::Type(_)) => true,
        (AttrKind::DenseArray(width), AttrData::DenseArray(ty, _)) => matches!(**ty, TypeData::Int(w) if w == *width),
        (AttrKind::Array, AttrData::Array(_)) => true,
        (AttrKind::Dict, AttrData::Dict(_)) => true,
        (AttrKind::Typed, _) => attr.type_of().is_some(),
        _ => false,
    }
}

fn all_flags(cases: &EnumSpec) -> i64 {
    cases.cases.iter().fold(0, |acc, c| acc | c.1)
}

fn kind_words(kind: &AttrKind) -> String {
    match kind {
        AttrKind::Unit => "a unit attribute".to_owned(),
        AttrKind::Bool => "true or false".to_owned(),
        AttrKind::Int(width) => format!("an integer of type i{width}"),
        AttrKind::Enum(cases) | AttrKind::Flags(cases) => {
            let names: Vec<String> = cases.cases.iter().map(|(name, value)| format!("{name} ({value})")).collect();
            format!("the number of a case of {}: {}", cases.name, names.join(", "))
        }
        AttrKind::F32 => "a float of type f32".to_owned(),
        AttrKind::Str => "a string".to_owned(),
        AttrKind::Symbol => "a symbol".to_owned(),
        AttrKind::Type => "a type".to_owned(),
        AttrKind::DenseArray(width) => format!("an array of i{width}"),
        AttrKind::Array => "an array".to_owned(),
        AttrKind::Dict => "a dictionary".to_owned(),
        AttrKind::Typed => "a typed constant".to_owned(),
        AttrKind::Any => "any attribute".to_owned(),
    }
}
