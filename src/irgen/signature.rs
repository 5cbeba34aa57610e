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
//! Without a command-line signature the same words stand in the parameters' annotations: `x_ptr: "*fp32:16"`, `n: "i32"`, `BLOCK: tl.constexpr`.

use std::rc::Rc;

use super::KernelRequest;
use super::builtins::member;
use super::config::{ConfigInfo, Launch};
use super::heuristics::Heuristics;
use super::lookup::class_of;
use super::lower::{Lower, R};
use super::types::{Dtype, Ty};
use super::value::{Class, Const, Func, Space, Val};
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::diag::suggest::{did_you_mean, nearest};
use crate::parser::ast::{Constant, ExprKind, Param, ParamKind};
use crate::source::Span;

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

/// `1 item`, `2 items`
fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The types of other languages by their names, with those of signatures.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (&["f16", "float16_t", "__half"], "fp16"),
    (&["f32", "float32_t", "single"], "fp32"),
    (&["f64", "float64_t"], "fp64"),
    (&["bfloat", "__nv_bfloat16"], "bf16"),
    (&["f8", "fp8", "float8", "e5m2", "f8e5m2", "fp8e5m2"], "fp8e5"),
    (&["e4m3", "f8e4m3", "fp8e4m3", "f8e4m3fn", "fp8e4", "e4m3fn"], "fp8e4nv"),
    (&["long", "size_t", "int64_t", "ssize_t"], "i64"),
    (&["int32_t"], "i32"),
    (&["uint", "uint32_t", "unsigned"], "u32"),
    (&["uint64_t"], "u64"),
    (&["int8_t"], "i8"),
    (&["uint8_t"], "u8"),
    (&["int16_t"], "i16"),
];

/// What to do about an item of a signature, or an annotation, that is no type.
fn item_help(text: &str) -> String {
    let (body, hint) = text.rsplit_once(':').map_or((text, None), |(b, h)| (b.trim(), Some(h.trim())));
    if let Some(hint) = hint
        && parse_type(body).is_some()
    {
        return format!("`:{hint}` says nothing: there are `:16` (divisible by 16) and `:1` (equal to 1)");
    }
    let stars: String = body.chars().take_while(|c| *c == '*').collect();
    let word = body.trim_start_matches('*').trim_end_matches('*').trim();
    let stars = if body.ends_with('*') { "*".to_owned() } else { stars };
    let other = OTHER_NAMES.iter().find(|(words, _)| words.contains(&&*word.to_ascii_lowercase())).map(|(_, here)| *here);
    let known = || Dtype::ALL.iter().filter(|d| **d != Dtype::Void).flat_map(|d| [d.short(), d.name().to_owned()]).collect::<Vec<_>>();
    let near = |word: &str| nearest(word, known().iter().map(String::as_str)).map(str::to_owned);
    let exact = Dtype::parse(word).map(|d| d.short());
    match other.map(str::to_owned).or(exact).or_else(|| near(word)) {
        Some(here) => format!("did you mean `{stars}{here}`?"),
        None => "types are `i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp8e5 fp8e4b15 fp16 bf16 fp32 fp64`, pointers `*TYPE`, with `:16` for divisible by 16; a compile-time value is a literal or `constexpr`".to_owned(),
    }
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
            Some(Val::Const(Const::Type(ty))) if ty.dtype != Dtype::Void && !ty.is_block() => Item::Value { ty, divisible: false },
            Some(v) if class_of(&v) == Some(Class::Constexpr) => Item::Constexpr,
            Some(v) if class_of(&v) == Some(Class::Int) => Item::Value { ty: Ty::scalar(Dtype::Int32), divisible: false },
            Some(v) if class_of(&v) == Some(Class::Float) => Item::Value { ty: Ty::scalar(Dtype::Fp32), divisible: false },
            Some(v) if class_of(&v) == Some(Class::Bool) => Item::Value { ty: Ty::scalar(Dtype::Int1), divisible: false },
            _ => Item::Unknown,
        }
    }

    /// Reports annotations that name nothing, as Python does when it runs the file: `tl.constxpr`.
    ///
    /// # Errors
    /// One is reported.
    pub fn check_annotations(&mut self, func: &Func) -> R<()> {
        let mut failed = false;
        for annotation in func.def.params.iter().filter_map(|p| p.annotation.as_ref()) {
            let why = match &annotation.kind {
                ExprKind::Attribute { value, .. } if value.dotted().is_some() => self.attempt(func.module, |cx| cx.expr(annotation)).err(),
                // A name that is nearly a known one; others may be anything that Python has.
                ExprKind::Name(name) if nearest(name, ["constexpr"].into_iter()).is_some() => {
                    self.attempt(func.module, |cx| cx.expr(annotation)).err()
                }
                _ => None,
            };
            let Some(Some(why)) = why else { continue };
            if why.code == &names::UNKNOWN_ATTRIBUTE || (why.code == &names::UNKNOWN_NAME && why.help.is_some()) {
                failed = true;
                let _ = self.report(why);
            }
        }
        if failed { Err(super::lower::Reported) } else { Ok(()) }
    }

    /// Reports annotations that are strings and nearly types: `"int33"`, `"*fp32:8"`. Any other text may be meant for people.
    pub fn check_nearly_types(&mut self, func: &Func) {
        for p in &func.def.params {
            let Some(ExprKind::Constant(Constant::Str(text))) = p.annotation.as_ref().map(|a| &a.kind) else { continue };
            let nearly =
                text.rsplit_once(':').is_some_and(|(body, _)| parse_type(body).is_some()) || item_help(text).starts_with("did you mean");
            if nearly && self.signature_item(text, func.module).is_none() {
                self.bad_annotation(p, text);
            }
        }
    }

    fn bad_annotation(&mut self, p: &Param, text: &str) {
        let at = p.annotation.as_ref().map_or(p.span, |a| a.span);
        let message = format!("the annotation \"{text}\" of `{}` is neither a type nor a value", p.name);
        let _ =
            self.report(Diagnostic::error(&names::SIGNATURE_TYPE, message).at(at, "read as an item of a signature").help(item_help(text)));
    }

    /// Without a signature an annotation that is a string must be an item of one, unless a value makes it needless.
    /// Gives the parameters that were reported.
    fn bad_annotations<'f>(&mut self, func: &'f Func, defines: &[(String, String)]) -> Vec<&'f str> {
        let mut said = vec![];
        for p in &func.def.params {
            let Some(ExprKind::Constant(Constant::Str(text))) = p.annotation.as_ref().map(|a| &a.kind) else { continue };
            let given = p.default.is_some() || defines.iter().any(|(n, _)| *p.name.name == **n);
            if given || self.signature_item(text, func.module).is_some() {
                continue;
            }
            said.push(&*p.name.name);
            self.bad_annotation(p, text);
        }
        said
    }

    /// All parameters of a kernel, from the signature or the annotations, with the values that `-D`, a configuration, heuristics and defaults give:
    /// the first that gives one wins, but a heuristic is asked even where a configuration gave a value, as in Triton. Sets the launch's options too.
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
            let diag =
                Diagnostic::error(&names::SIGNATURE_TYPE, format!("the kernel's parameter `{}` takes any number of arguments", p.name));
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

    /// What is wrong with a signature whose length does not fit.
    fn length_help(&mut self, func: &Func, text: &str, parts: &[&str]) -> String {
        let params = &func.def.params;
        if parts.last().is_some_and(|p| p.is_empty()) && parts.len() == params.len() + 1 {
            return "the signature ends with a comma, which starts one more item".to_owned();
        }
        let others: Vec<&str> = text.split([';', ' ', '\t']).filter(|p| !p.is_empty()).collect();
        if parts.len() == 1 && others.len() == params.len() {
            return "items are separated by commas".to_owned();
        }
        let items: Vec<Item> = params.iter().map(|p| self.annotation_item(func, p)).collect();
        let names: Vec<&str> = params.iter().map(|p| &*p.name.name).collect();
        let template = self.signature_template(func, &items);
        format!("give one item for each of: {}; for example --signature \"{template}\"", names.join(", "))
    }

    fn bad_define(&mut self, name: &str, text: &str, span: Span) {
        let diag = Diagnostic::error(&names::BAD_DEFINE, format!("the value `{text}` of `{name}` cannot be evaluated"))
            .at(span, "for this parameter")
            .help("a value is a number, `True`, `None`, a quoted string ('gelu'), a dtype (tl.float16), a tuple, or the name of a function in the file");
        let _ = self.report(diag);
    }

    /// Takes `-D` for names of the file and of files that it imports, and reports those for nothing.
    fn take_defines(&mut self, func: &Func, defines: &[(String, String)]) -> bool {
        let mut failed = false;
        for (name, text) in defines {
            if func.def.params.iter().any(|p| *p.name.name == **name) {
                continue;
            }
            match self.define_value(text, func.module) {
                Some(v) => {
                    self.given_globals.insert(name.clone(), (v, false));
                }
                None => {
                    failed = true;
                    self.bad_define(name, text, func.def.header);
                }
            }
        }
        // What was evaluated before may have used these names.
        if !self.given_globals.is_empty() {
            self.globals.clear();
        }
        failed
    }

    /// Reports `-D` for what is neither a parameter of the kernel nor a name that it uses.
    pub fn unused_defines(&mut self, func: &Func, defines: &[(String, String)]) -> R<()> {
        let mut failed = false;
        for (name, _) in defines {
            if self.given_globals.get(name).is_none_or(|(_, used)| *used) {
                continue;
            }
            if !self.mods.get(func.module).bindings(name).is_empty() {
                continue;
            }
            failed = true;
            let params: Vec<&str> = func.def.params.iter().map(|p| &*p.name.name).collect();
            let message = format!("the kernel `{}` has no parameter `{name}`, and uses no name of a file that is called so", func.name());
            let diag = Diagnostic::error(&names::BAD_DEFINE, message).at(func.def.header, "this kernel");
            let near = did_you_mean(name, params.iter().copied());
            let _ = self.report(diag.help(near.unwrap_or_else(|| format!("its parameters are {}", params.join(", ")))));
        }
        if failed { Err(super::lower::Reported) } else { Ok(()) }
    }

    /// Reports the parameters about which too little is known, in one message.
    fn missing(&mut self, func: &Func, missing: &[(&Param, bool)], items: &[Item], choose: bool, heuristics: &Heuristics) {
        let list = |constexpr: bool| missing.iter().filter(|m| m.1 == constexpr).map(|m| m.0.name.to_string()).collect::<Vec<_>>();
        let (values, kinds) = (list(true), list(false));
        let mut parts = vec![];
        if !kinds.is_empty() {
            parts.push(format!("types of {}", kinds.join(", ")));
        }
        if !values.is_empty() {
            parts.push(format!("values of {}", values.join(", ")));
        }
        let mut diag =
            Diagnostic::error(&names::MISSING_PARAMETER, format!("the kernel `{}` needs the {}", func.name(), parts.join(" and the ")));
        if missing.len() > 4 {
            let all = func.def.params.len();
            diag = diag.at(func.def.name.span, format!("{} of its {all} parameters are not known", missing.len()));
        }
        for (p, constexpr) in missing {
            match p.default.as_ref().filter(|_| *constexpr) {
                Some(e) => {
                    let why = self.attempt(func.module, |cx| cx.expr(e)).err().flatten();
                    diag = diag.at(e.span, "this default is not known at compile time");
                    diag = why.into_iter().fold(diag, |d, why| d.note(why.message));
                }
                None if missing.len() > 4 => {}
                None => diag = diag.at(p.span, if *constexpr { "no value" } else { "no type" }),
            }
        }
        diag = heuristics.explain(diag);
        let mut help = vec![];
        if choose {
            help.extend(self.which_config(func, missing));
        }
        if !values.is_empty() {
            help.push(format!("pass {}", values.iter().map(|v| format!("-D {v}=…")).collect::<Vec<_>>().join(" ")));
        }
        if !kinds.is_empty() {
            let template = self.signature_template(func, items);
            help.push(format!(
                "annotate parameters (`x_ptr: \"*fp32:16\"`, `n: \"i32\"`), or pass the types in order, these guesses corrected: --signature \"{template}\""
            ));
        }
        let _ = self.report(diag.help(help.join("; ")));
    }

    /// Says that configurations give what is missing.
    fn which_config(&mut self, func: &Func, missing: &[(&Param, bool)]) -> Option<String> {
        let all = match self.configs(func) {
            Ok(all) => all?,
            Err(_) => return Some("the configurations of the file cannot be evaluated".to_owned()),
        };
        let gives = |p: &Param| all.iter().any(|c| c.values.iter().any(|(n, _)| **n == *p.name.name));
        let given: Vec<String> = missing.iter().filter(|m| gives(m.0)).map(|m| m.0.name.to_string()).collect();
        if given.is_empty() {
            return None;
        }
        let names = given.join(", ");
        Some(match all.len() {
            1 => format!("the file has one configuration, which gives {names}: --config 0"),
            n => format!("the file has {n} configurations, which give {names}: --config 0 to --config {}, or --config all", n - 1),
        })
    }
}
