//! Reads the operations that have no declarative format. [`super::custom`] writes what is read here.

use super::custom::ADDRESS_SPACES;
use super::lexer::Tok;
use super::parse_format::dict_array;
use super::parser::{Declared, Named, Parser, Res};
use crate::diag::codes::irtext as codes;
use crate::ir::core::{Attr, Loc, Op, OpState, Region, Type, Value};
use crate::ir::dialects::{ArithOp, BuiltinOp, CfOp, OpKind, ScfOp, TtOp, TtgOp};

impl<'a> Parser<'a> {
    /// Reads an operation after its name.
    pub(super) fn custom_op(&mut self, op: Op, kind: OpKind) -> Res<()> {
        match kind {
            OpKind::Builtin(BuiltinOp::Module) => self.module(op),
            OpKind::Tt(TtOp::Func) => self.func(op),
            OpKind::Arith(ArithOp::Constant) => self.constant(op),
            OpKind::Arith(ArithOp::Select) => self.select(op),
            OpKind::Scf(ScfOp::For) => self.scf_for(op),
            OpKind::Scf(ScfOp::If) => self.scf_if(op),
            OpKind::Scf(ScfOp::While) => self.scf_while(op),
            OpKind::Scf(ScfOp::ExecuteRegion) => self.execute_region(op),
            OpKind::Cf(CfOp::Br) => self.branch(op),
            OpKind::Cf(CfOp::CondBr) => self.cond_branch(op),
            OpKind::Ttg(TtgOp::Barrier) => self.barrier(op),
            OpKind::Ttg(TtgOp::WarpSpecialize) => self.warp_specialize(op),
            _ => {
                Err(self
                    .syntax(self.tok, format!("`{}` has only the generic form, with its name in quotes", kind.name())))
            }
        }
    }

    /// Reads `{…}`, or nothing.
    fn optional_attrs(&mut self, op: Op) -> Res<()> {
        if self.is("{") {
            let entries = self.attr_entries()?;
            self.set_attrs(op, entries)?;
        }
        Ok(())
    }

    /// Reads `attributes {…}`, or nothing.
    fn optional_keyword_attrs(&mut self, op: Op) -> Res<()> {
        if self.eat("attributes") {
            let entries = self.attr_entries()?;
            self.set_attrs(op, entries)?;
        }
        Ok(())
    }

    fn module(&mut self, op: Op) -> Res<()> {
        if self.tok.kind == Tok::Symbol {
            let name = self.symbol()?;
            self.ir.set_attr(op, "sym_name", Attr::str(&name));
        }
        self.optional_keyword_attrs(op)?;
        let region = self.region_at(op, 0);
        self.region(region, true, &[])?;
        if self.ir.blocks_of(region).is_empty() {
            self.ir.add_block(region, &[]);
        }
        Ok(())
    }

    fn constant(&mut self, op: Op) -> Res<()> {
        self.optional_attrs(op)?;
        let at = self.tok;
        let value = self.attr()?;
        let Some(ty) = value.type_of() else {
            return Err(self.error_at(
                &codes::IR_BAD_LITERAL,
                at,
                format!("a constant is a number or a dense tensor, found `{value}`"),
            ));
        };
        self.ir.set_attr(op, "value", value);
        self.finish(op, &[], &[ty]);
        Ok(())
    }

    fn select(&mut self, op: Op) -> Res<()> {
        let at = self.tok;
        let names = self.named_list()?;
        self.optional_attrs(op)?;
        self.expect(":")?;
        let first = self.ty()?;
        let (condition, ty) = if self.eat(",") { (first, self.ty()?) } else { (Type::int(1), first) };
        if names.len() != 3 {
            return Err(self.syntax(
                at,
                format!("`arith.select` takes a condition and two values, found {} operands", names.len()),
            ));
        }
        let values = self.resolve_all(&names, &[condition, ty, ty])?;
        self.finish(op, &values, &[ty]);
        Ok(())
    }

    // ---- functions ----

    fn func(&mut self, op: Op) -> Res<()> {
        if matches!(self.word(), "public" | "private" | "nested") {
            let t = self.advance();
            let word = self.word_of(t);
            self.ir.set_attr(op, "sym_visibility", Attr::str(word));
        }
        let name = self.symbol()?;
        self.ir.set_attr(op, "sym_name", Attr::str(&name));
        let external = {
            // A declaration has types in place of a definition's names.
            let next = super::lexer::token(self.text, self.tok.end);
            next.kind != Tok::Value && self.word_of(next) != ")"
        };
        let mut attrs = vec![];
        let mut args = vec![];
        let inputs = self.list("(", ")", &mut |p| {
            if external {
                let ty = p.ty()?;
                attrs.push(if p.is("{") { p.attr_entries()? } else { vec![] });
                return Ok(ty);
            }
            let name = p.named()?;
            p.expect(":")?;
            let ty = p.ty()?;
            attrs.push(if p.is("{") { p.attr_entries()? } else { vec![] });
            let loc = if p.is("loc") { p.loc()? } else { p.arg_loc(name) };
            args.push(Declared { name, ty, loc });
            Ok(ty)
        })?;
        if let Some(attrs) = dict_array(attrs) {
            self.ir.set_attr(op, "arg_attrs", attrs);
        }
        let results = self.func_results(op)?;
        self.ir.set_attr(op, "function_type", Attr::ty(Type::function(&inputs, &results)));
        self.optional_keyword_attrs(op)?;
        let region = self.region_at(op, 0);
        if self.is("{") {
            self.region(region, true, &args)?;
            if self.ir.blocks_of(region).is_empty() {
                return Err(self.syntax(self.tok, "the body of a function is empty"));
            }
        }
        Ok(())
    }

    fn func_results(&mut self, op: Op) -> Res<Vec<Type>> {
        if !self.eat("->") {
            return Ok(vec![]);
        }
        if !self.is("(") {
            return Ok(vec![self.ty()?]);
        }
        let mut attrs = vec![];
        let types = self.list("(", ")", &mut |p| {
            let ty = p.ty()?;
            attrs.push(if p.is("{") { p.attr_entries()? } else { vec![] });
            Ok(ty)
        })?;
        if let Some(attrs) = dict_array(attrs) {
            self.ir.set_attr(op, "res_attrs", attrs);
        }
        Ok(types)
    }

    // ---- structured control flow ----

    /// Reads `(%a = %b, %c = %d)`.
    fn init_list(&mut self) -> Res<Vec<(Named<'a>, Named<'a>)>> {
        self.list("(", ")", &mut |p| {
            let arg = p.named()?;
            p.expect("=")?;
            Ok((arg, p.named()?))
        })
    }

    fn declare(&self, name: Named<'a>, ty: Type) -> Declared<'a> {
        Declared { name, ty, loc: self.arg_loc(name) }
    }

    /// Appends an empty `scf.yield` where the text leaves it out.
    fn end_with_yield(&mut self, op: Op, region: Region) {
        let block = match self.ir.blocks_of(region).last() {
            Some(&block) => block,
            None => self.ir.add_block(region, &[]),
        };
        let ended = self.ir.last_op(block).is_some_and(|l| self.ir.kind(l).is_terminator());
        if !ended {
            let yielded = self.ir.create_op(OpState::new(ScfOp::Yield, self.ir.loc(op)));
            self.ir.append(block, yielded);
        }
    }

    fn scf_for(&mut self, op: Op) -> Res<()> {
        if self.eat("unsigned") {
            self.ir.set_attr(op, "unsignedCmp", Attr::unit());
        }
        let iv = self.named()?;
        self.expect("=")?;
        let lower = self.named()?;
        self.expect("to")?;
        let upper = self.named()?;
        self.expect("step")?;
        let step = self.named()?;
        let (mut inits, mut types) = (vec![], vec![]);
        if self.eat("iter_args") {
            let at = self.tok;
            inits = self.init_list()?;
            self.expect("->")?;
            types = self.result_types()?;
            if inits.len() != types.len() {
                return Err(self.error_at(
                    &codes::IR_TYPE_MISMATCH,
                    at,
                    format!("{} carried values but {} types", inits.len(), types.len()),
                ));
            }
        }
        let bound = if self.eat(":") { self.ty()? } else { Type::index() };
        let mut operands = vec![self.resolve(lower, bound)?, self.resolve(upper, bound)?, self.resolve(step, bound)?];
        let mut args = vec![self.declare(iv, bound)];
        for (&(arg, init), &ty) in inits.iter().zip(&types) {
            operands.push(self.resolve(init, ty)?);
            args.push(self.declare(arg, ty));
        }
        let region = self.region_at(op, 0);
        self.region(region, false, &args)?;
        self.optional_attrs(op)?;
        self.finish(op, &operands, &types);
        self.with_final_loc(op, |p| {
            if types.is_empty() {
                p.end_with_yield(op, region);
            }
        })
    }

    /// Reads the operation's location, if there is one, before `f` makes operations that share it.
    fn with_final_loc(&mut self, op: Op, f: impl FnOnce(&mut Self)) -> Res<()> {
        if self.is("loc") {
            let loc = self.loc()?;
            self.ir.set_loc(op, loc);
        }
        f(self);
        Ok(())
    }

    fn scf_if(&mut self, op: Op) -> Res<()> {
        let condition = self.named()?;
        let condition = self.resolve(condition, Type::int(1))?;
        let types = if self.eat("->") { self.result_types()? } else { vec![] };
        let then = self.region_at(op, 0);
        self.region(then, false, &[])?;
        let otherwise = self.region_at(op, 1);
        let has_else = self.eat("else");
        if has_else {
            self.region(otherwise, false, &[])?;
        }
        self.optional_attrs(op)?;
        self.finish(op, &[condition], &types);
        self.with_final_loc(op, |p| {
            if types.is_empty() {
                p.end_with_yield(op, then);
                if has_else {
                    p.end_with_yield(op, otherwise);
                }
            }
        })
    }

    fn scf_while(&mut self, op: Op) -> Res<()> {
        let at = self.tok;
        let inits = if self.is("(") { self.init_list()? } else { vec![] };
        self.expect(":")?;
        let (inputs, results) = self.function_type()?;
        if inits.len() != inputs.len() {
            return Err(self.error_at(
                &codes::IR_TYPE_MISMATCH,
                at,
                format!("{} carried values but {} types", inits.len(), inputs.len()),
            ));
        }
        let mut operands = vec![];
        let mut args = vec![];
        for (&(arg, init), &ty) in inits.iter().zip(&inputs) {
            operands.push(self.resolve(init, ty)?);
            args.push(self.declare(arg, ty));
        }
        let before = self.region_at(op, 0);
        self.region(before, false, &args)?;
        self.expect("do")?;
        let after = self.region_at(op, 1);
        self.region(after, false, &[])?;
        self.optional_keyword_attrs(op)?;
        self.finish(op, &operands, &results);
        Ok(())
    }

    fn execute_region(&mut self, op: Op) -> Res<()> {
        let types = if self.eat("->") { self.result_types()? } else { vec![] };
        if self.eat("no_inline") {
            self.ir.set_attr(op, "no_inline", Attr::unit());
        }
        let region = self.region_at(op, 0);
        self.region(region, false, &[])?;
        self.optional_attrs(op)?;
        self.finish(op, &[], &types);
        Ok(())
    }

    // ---- branches ----

    /// Reads `^bb1(%a, %b : i32, f32)`.
    fn target(&mut self, op: Op) -> Res<Vec<Value>> {
        let block = self.successor(op)?;
        let mut blocks = self.ir.successors(op).to_vec();
        blocks.push(block);
        self.ir.set_successors(op, &blocks);
        if !self.eat("(") {
            return Ok(vec![]);
        }
        let names = self.named_list()?;
        self.expect(":")?;
        let types = self.types()?;
        self.expect(")")?;
        self.resolve_all(&names, &types)
    }

    fn branch(&mut self, op: Op) -> Res<()> {
        let args = self.target(op)?;
        self.optional_attrs(op)?;
        self.finish(op, &args, &[]);
        Ok(())
    }

    fn cond_branch(&mut self, op: Op) -> Res<()> {
        let condition = self.named()?;
        let mut operands = vec![self.resolve(condition, Type::int(1))?];
        if self.eat("weights") {
            self.expect("(")?;
            let weights = self.list("[", "]", &mut |p| p.integer())?;
            self.expect(")")?;
            self.ir.set_attr(op, "branch_weights", Attr::i32_array(&weights));
        }
        self.expect(",")?;
        let yes = self.target(op)?;
        self.expect(",")?;
        let no = self.target(op)?;
        self.optional_attrs(op)?;
        let sizes = [1, yes.len() as i64, no.len() as i64];
        operands.extend(yes);
        operands.extend(no);
        self.finish(op, &operands, &[]);
        self.ir.set_attr(op, "operandSegmentSizes", Attr::i32_array(&sizes));
        Ok(())
    }

    // ---- ttg ----

    fn barrier(&mut self, op: Op) -> Res<()> {
        let mut bits = 0;
        loop {
            bits |= match self.word() {
                "all" => 31,
                "none" => 0,
                word => match ADDRESS_SPACES.iter().find(|s| s.0 == word) {
                    Some(space) => space.1,
                    None => {
                        return Err(self.unexpected(
                            "an address space (all, none, local, global_read, global_write, tensor_read, tensor_write)",
                        ));
                    }
                },
            };
            self.advance();
            if !self.eat("|") {
                break;
            }
        }
        self.ir.set_attr(op, "addrSpace", Attr::i32(bits));
        Ok(())
    }

    fn warp_specialize(&mut self, op: Op) -> Res<()> {
        self.expect("(")?;
        let captures = self.named_list()?;
        self.expect(")")?;
        self.optional_keyword_attrs(op)?;
        self.expect("default")?;
        let default = self.region_at(op, 0);
        self.region(default, false, &[])?;
        let holder = self.region_at(op, 1);
        let block = self.ir.add_block(holder, &[]);
        let loc: Loc = self.here(self.tok);
        let partitions = self.ir.create_op(OpState::new(TtgOp::WarpSpecializePartitions, loc));
        self.ir.append(block, partitions);
        let mut warps = vec![];
        while self.is(&format!("partition{}", warps.len())) {
            self.advance();
            let args = self.list("(", ")", &mut |p| p.declared())?;
            self.expect("num_warps")?;
            self.expect("(")?;
            warps.push(self.integer()?);
            self.expect(")")?;
            let region = self.ir.add_region(partitions);
            self.region(region, true, &args)?;
        }
        self.expect(":")?;
        let (inputs, results) = self.function_type()?;
        let operands = self.resolve_all(&captures, &inputs)?;
        self.finish(partitions, &operands, &[]);
        self.ir.set_attr(op, "partitionNumWarps", Attr::i32_array(&warps));
        self.finish(op, &[], &results);
        Ok(())
    }
}
