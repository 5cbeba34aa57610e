//! A kernel's signature: what type each parameter has, or which value at compile time.
//!
//! One item a parameter, as in Triton's ahead-of-time tool:
//!
//! | item | meaning |
//! |---|---|
//! | `*fp32`, `*ki32` | a pointer (to constant data) |
//! | `i32`, `u8`, `fp16`, `i1` | a scalar |
//! | `…:16` | the value is divisible by 16 |
//! | `…:1` | the value is 1 and folded in |
//! | `1024`, `0.5`, `True`, `None`, `'gelu'` | a compile-time value |
//! | `constexpr` | a compile-time value that `-D` gives |
//! | `tensordesc<fp16[64, 32]>` | a tensor descriptor |
//!
//! Without a command-line signature the same words stand in the parameters' annotations: `x_ptr: "*fp32:16"`, `n:
//! "i32"`, `BLOCK: tl.constexpr`.

use std::rc::Rc;

use super::KernelRequest;
use super::builtins::member;
use super::config::{ConfigInfo, Launch};
use super::lookup::class_of;
use super::lower::{Lower, R};
use super::signature_faults::{item_help, plural};
use super::types::{Dtype, Ty};
use super::value::{Class, Const, Func, Space, Val};
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::diag::suggest::did_you_mean;
use crate::parser::ast::{Param, ParamKind};

/// The parameters of a kernel by name, and the configuration that gave some of them their values.
pub type Parameters = (Vec<(Rc<str>, Item)>, Option<ConfigInfo>);

/// What one parameter is.
#[derive(Clone)]
pub enum Item {
    /// A run-time value and what it is divisible by.
    Value { ty: Ty, divisible: bool },
    /// A tensor descriptor of such blocks.
    Desc(Ty),
    /// A compile-time value.
    Const(Val),
    /// A compile-time value that `-D` or a default must give.
    Constexpr,
    /// Nothing is known.
    Unknown,
}

/// Splits a signature at its commas, except those in brackets, braces, angles and quotes.
#[must_use]
pub fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start, mut quote) = (vec![], 0i32, 0, None);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[' | '(' | '<' | '{') => depth += 1,
            (None, ']' | ')' | '>' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() || !parts.is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

/// The type that a word of a signature names: `*fp32`, `u8`.
#[must_use]
pub fn parse_type(text: &str) -> Option<Ty> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('*') {
        let (rest, constant) = rest.strip_prefix('k').map_or((rest, false), |r| (r, true));
        return parse_type(rest).map(|t| Ty::scalar(Dtype::pointer_to(t, constant)));
    }
    Dtype::parse(text).filter(|&d| d != Dtype::Void).map(Ty::scalar)
}

fn parse_descriptor(text: &str) -> Option<Ty> {
    let inner = text.strip_prefix("tensordesc<")?.strip_suffix('>')?;
    let (elem, rest) = inner.split_once('[')?;
    let (dims, _) = rest.split_once(']')?;
    let shape = dims.split(',').map(|d| d.trim().parse().ok()).collect::<Option<Vec<i64>>>()?;
    Some(Ty::block(parse_type(elem)?.dtype, &shape))
}

impl Lower<'_> {
    /// Reads one item of a signature; the value of a literal is evaluated like an expression of the kernel's file.
    pub fn signature_item(&mut self, text: &str, module: usize) -> Option<Item> {
        let text = text.trim();
        if text == "constexpr" {
            return Some(Item::Constexpr);
        }
        if let Some(block) = parse_descriptor(text) {
            return Some(Item::Desc(block));
        }
        let (body, hint) = match text.rsplit_once(':') {
            Some((body, hint)) if matches!(hint.trim(), "16" | "1" | "") => (body.trim(), hint.trim()),
            _ => (text, ""),
        };
        if let Some(ty) = parse_type(body) {
            return Some(match hint {
                "1" => Item::Const(Val::int(1)),
                hint => Item::Value { ty, divisible: hint == "16" },
            });
        }
        self.define_value(text, module).map(Item::Const)
    }

    /// The value of a literal, dtype, tuple or function name, in the scope of the kernel's file.
    pub fn define_value(&mut self, text: &str, module: usize) -> Option<Val> {
        let expr = crate::parser::parse_expr_str(self.mods.map, "<value>", text).ok()?;
        if let Some(v) = self.evaluate(module, &expr) {
            return Some(v);
        }
        // The file may know Triton under another name than `tl`.
        let path = expr.dotted()?;
        match path.as_slice() {
            ["tl", name] | ["triton", "language", name] => member(Space::Language, name),
            [name] => member(Space::Language, name).filter(|v| matches!(v, Val::Const(Const::Type(_)))),
            _ => None,
        }
    }

    /// What a parameter's annotation says.
    pub fn annotation_item(&mut self, func: &Func, p: &Param) -> Item {
        let Some(annotation) = &p.annotation else { return Item::Unknown };
        match self.evaluate(func.module, annotation) {
            Some(Val::Const(Const::Str(text))) => self.signature_item(&text, func.module).unwrap_or(Item::Unknown),
            Some(Val::Const(Const::Type(ty))) if ty.dtype != Dtype::Void && !ty.is_block() => {
                Item::Value { ty, divisible: false }
            }
            Some(v) if class_of(&v) == Some(Class::Constexpr) => Item::Constexpr,
            Some(v) if class_of(&v) == Some(Class::Int) => {
                Item::Value { ty: Ty::scalar(Dtype::Int32), divisible: false }
            }
            Some(v) if class_of(&v) == Some(Class::Float) => {
                Item::Value { ty: Ty::scalar(Dtype::Fp32), divisible: false }
            }
            Some(v) if class_of(&v) == Some(Class::Bool) => {
                Item::Value { ty: Ty::scalar(Dtype::Int1), divisible: false }
            }
            _ => Item::Unknown,
        }
    }

    /// All parameters of a kernel, from the signature or the annotations, with the values that `-D`, a configuration,
    /// heuristics and defaults give: the first that gives one wins, but a heuristic is asked even where a configuration
    /// gave a value, as in Triton. Sets the launch's options too.
    pub fn parameters(&mut self, func: &Func, request: &KernelRequest, launch: &mut Launch) -> R<Parameters> {
        let (signature, defines) = (request.signature.as_deref(), &request.defines);
        let mut failed = self.take_defines(func, defines);
        failed |= self.check_annotations(func).is_err();
        let config = request.config.map(|n| self.choose_config(func, n)).transpose()?;
        if let Some((_, config)) = &config {
            *launch = request.given.over(self.config_launch(config));
        }
        let heuristics = self.heuristics(func);
        let params = &func.def.params;
        if let Some(p) = params.iter().find(|p| matches!(p.kind, ParamKind::VarArgs | ParamKind::VarKwargs)) {
            let diag = Diagnostic::error(
                &names::SIGNATURE_TYPE,
                format!("the kernel's parameter `{}` takes any number of arguments", p.name),
            );
            return Err(self.report(diag.at(p.span, "a kernel needs a fixed list of parameters")));
        }
        let mut items = match signature {
            Some(text) => self.signature_items(func, text)?,
            None => params.iter().map(|p| self.annotation_item(func, p)).collect(),
        };
        let mut said = vec![];
        if signature.is_none() {
            said = self.bad_annotations(func, defines);
            failed |= !said.is_empty();
        }
        let mut missing = vec![];
        // What the command line says, or the file in place of a signature.
        let mut fixed: Vec<bool> = items.iter().map(|i| matches!(i, Item::Const(_))).collect();
        for ((p, item), fixed) in params.iter().zip(&mut items).zip(&mut fixed) {
            let define = defines.iter().rev().find(|(n, _)| **n == *p.name.name);
            if let Some((_, text)) = define {
                if let Some(v) = self.define_value(text, func.module) {
                    *item = Item::Const(v);
                    *fixed = true;
                } else {
                    failed = true;
                    self.bad_define(&p.name.name, text, p.span);
                }
                continue;
            }
            let open = matches!(item, Item::Constexpr | Item::Unknown);
            let tuned = config.as_ref().and_then(|(_, c)| c.values.iter().find(|(n, _)| **n == *p.name.name));
            if let Some((_, v)) = tuned.filter(|_| open) {
                *item = Item::Const(v.clone());
            } else if open && !heuristics.gives(&p.name.name) {
                let default = p.default.as_ref().and_then(|e| self.evaluate(func.module, e));
                match default {
                    Some(v) => *item = Item::Const(v),
                    None if said.contains(&&*p.name.name) => {}
                    None => missing.push((p, matches!(item, Item::Constexpr))),
                }
            }
        }
        if !missing.is_empty() {
            let (missing, items) = (missing, items.clone());
            self.missing(func, &missing, &items, request.config.is_none(), &heuristics);
            failed = true;
        }
        if failed {
            return Err(super::lower::Reported);
        }
        self.apply_heuristics(func, &heuristics, &mut items, &fixed, launch, request.given)?;
        let items = params.iter().zip(items).map(|(p, item)| (Rc::from(&*p.name.name), item)).collect();
        Ok((items, config.map(|(info, _)| info)))
    }

    fn signature_items(&mut self, func: &Func, text: &str) -> R<Vec<Item>> {
        let parts = split(text);
        let params = &func.def.params;
        if parts.len() != params.len() {
            let (items, all) = (plural(parts.len(), "item"), plural(params.len(), "parameter"));
            let message = format!("the signature has {items}, the kernel `{}` has {all}", func.name());
            let diag = Diagnostic::error(&names::SIGNATURE_LENGTH, message).at(func.def.header, all);
            let help = self.length_help(func, text, &parts);
            return Err(self.report(diag.help(help)));
        }
        let mut items = vec![];
        let mut failed = false;
        for (p, part) in params.iter().zip(parts) {
            if let Some(item) = self.signature_item(part, func.module) {
                items.push(item);
            } else {
                failed = true;
                let message = format!("`{part}` in the signature is neither a type nor a value");
                let diag = Diagnostic::error(&names::SIGNATURE_TYPE, message).at(p.span, "for this parameter");
                let _ = self.report(diag.help(item_help(part)));
            }
        }
        if failed { Err(super::lower::Reported) } else { Ok(items) }
    }

    /// Takes `-D` for names of the file and of files that it imports, and reports those for nothing.
    fn take_defines(&mut self, func: &Func, defines: &[(String, String)]) -> bool {
        let mut failed = false;
        for (name, text) in defines {
            if func.def.params.iter().any(|p| *p.name.name == **name) {
                continue;
            }
            // A parameter that is misspelt; other names may be found in files that are not read yet.
            if self.mods.get(func.module).bindings(name).is_empty()
                && let Some(help) = did_you_mean(name, func.def.params.iter().map(|p| &*p.name.name))
            {
                failed = true;
                let message = format!("the kernel `{}` has no parameter `{name}`", func.name());
                let _ = self.report(
                    Diagnostic::error(&names::BAD_DEFINE, message).at(func.def.header, "this kernel").help(help),
                );
                continue;
            }
            if let Some(v) = self.define_value(text, func.module) {
                self.given_globals.insert(name.clone(), (v, false));
            } else {
                failed = true;
                self.bad_define(name, text, func.def.header);
            }
        }
        // What was evaluated before may have used these names.
        if !self.given_globals.is_empty() {
            self.globals.clear();
        }
        failed
    }
}
