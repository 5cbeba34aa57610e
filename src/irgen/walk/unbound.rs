//! Names without a value: why a kernel cannot use a name, and what to do about it.
//!
//! 1. A name that nothing binds is misspelt, or its import is missing.
//! 2. A name that a loop or one side of an `if` binds has no value after it.
//! 3. An import whose file is not found is reported at the import, once, with the first use beside it. If the file is
//!    found and lacks the name, the search goes on in that file: the cause may be an import of its own.
//! 4. What host code computes is reported with the part of it that is not known at compile time; `-D NAME=EXPR` can
//!    give the value.
//!
//! Each name is reported once for a file: what follows from it would only repeat it.

use super::attempt::because;
use super::walker::Walker;
use crate::diag::codes::names;
use crate::diag::suggest::nearest;
use crate::diag::{Code, Diagnostic};
use crate::irgen::builtins;
use crate::irgen::emit::Reported;
use crate::irgen::front::advice;
use crate::irgen::front::modules::Imported;
use crate::irgen::front::space::Space;
use crate::irgen::front::top_level::{Binding, Bound};
use crate::irgen::value::{Const, Object};
use crate::parser::ast::{Expr, ExprKind};
use crate::source::Span;

/// What is said of the place where a file changes a value.
const CHANGED: &str = "changed here, in a way that ttc does not follow";

/// How many files the search for a cause follows.
const MAX_HOPS: u32 = 16;

impl Walker<'_> {
    /// Reports a name that has no value here.
    pub fn unknown_name(&mut self, name: &str) -> Reported {
        // Where a bound was passed while the name was evaluated, that is why it has no value.
        if let Err(said) = self.out.within_bounds() {
            return said;
        }
        let module = self.frame.module;
        if self.frame.hiding.iter().any(|n| &**n == name) {
            return self.out.error_help(
                &names::UNKNOWN_NAME,
                format!("`{name}` has no value here"),
                "its value depends on a loop, or on the side of a run-time `if`",
                "give what is needed here a name of its own, with a run-time value before the loop or the `if`",
            );
        }
        if self.frame.own.iter().any(|n| &**n == name) {
            return self.out.error_help(
                &names::UNKNOWN_NAME,
                format!("`{name}` has no value here"),
                "the function sets it, but not on the way here",
                format!("give `{name}` a value before"),
            );
        }
        if self.names.unknown.contains(&(module, name.to_owned())) && !self.out.is_quiet() {
            self.out.count_error();
            return Reported;
        }
        if self.frame.lost.iter().any(|n| &**n == name) {
            return self.out.error_help(
                &names::UNKNOWN_NAME,
                format!("`{name}` has no value here"),
                "set only inside a loop, or on one side of a run-time `if`",
                format!("give `{name}` a value before the loop or the `if`"),
            );
        }
        if !self.out.is_quiet() && !self.names.unknown.insert((module, name.to_owned())) {
            self.out.count_error();
            return Reported;
        }
        if let Some(why) = self.mods.unreadable(module, name) {
            let mut diag = why.clone();
            diag.message = format!("`{name}` is imported from a file that cannot be used: {}", diag.message);
            diag.labels.clear();
            return self.out.report(diag.at(self.out.span(), "needs that file"));
        }
        let module = self.mods.binder(module, name);
        let top = self.mods.get(module);
        if let Some(span) = top.hidden(name) {
            let diag =
                not_known(name, self.out.span()).at(span, "known when this function around the kernel is called");
            return self.out.report(diag);
        }
        let diag = match top.bindings(name).first().cloned() {
            Some(binding) => self.unbound(module, name, &binding, MAX_HOPS),
            None => match top.change(name) {
                Some(at) => not_known(name, self.out.span()).at(at, CHANGED),
                None => self.undefined(module, name),
            },
        };
        self.out.report(diag)
    }

    /// Nothing binds the name.
    fn undefined(&mut self, module: usize, name: &str) -> Diagnostic {
        let diag = Diagnostic::error(&names::UNKNOWN_NAME, format!("`{name}` is not defined"))
            .at(self.out.span(), "not defined");
        if let Some(help) = advice::missing_import(name) {
            let diag = diag.help(help);
            let statement = help.split('`').nth(1).filter(|s| s.contains("import "));
            return match statement.zip(self.import_place(module)) {
                Some((statement, place)) => {
                    diag.fix_all(format!("add `{statement}`"), vec![(place, format!("{statement}\n"))])
                }
                None => diag,
            };
        }
        if builtins::member(Space::Language, name).is_some() {
            return meant(diag, self.out.span(), &format!("tl.{name}"));
        }
        if let Some(help) = advice::python_name(name) {
            let diag = diag.help(help);
            return match help.strip_prefix("write `").and_then(|h| h.strip_suffix('`')) {
                Some(word) => diag.fix(self.out.span(), word),
                None => diag,
            };
        }
        if let Some(help) = builtins::instead_of(&self.out.target(), name).filter(|_| name.len() > 2) {
            return diag.help(help);
        }
        let locals = || self.frame.scope.iter().map(|(n, _)| &**n);
        if let Some(near) = nearest(name, locals().chain(self.mods.get(module).names())) {
            return meant(diag, self.out.span(), near);
        }
        if let Some(near) = nearest(name, builtins::python_names()) {
            return meant(diag, self.out.span(), near);
        }
        let stars = self.mods.get(module).stars().to_vec();
        match stars.iter().find(|s| self.mods.import(module, s.level, &s.path).is_none()) {
            Some(star) => {
                let shown = dotted(star.level, &star.path);
                diag.at(star.at, format!("`{shown}`, which may define it, was not found"))
                    .help(where_to_look(star.level, &star.path))
            }
            None => diag.help("give it a value before this line, or check the spelling"),
        }
    }

    /// Where another import of a file belongs: before its first one, behind those of `__future__`.
    fn import_place(&self, module: usize) -> Option<Span> {
        let file = self.mods.get(module).file;
        let text = &*self.mods.map.file(file).text;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let import = line.starts_with("import ") || line.starts_with("from ");
            if (import && !line.starts_with("from __future__")) || line.starts_with(['@', 'd']) {
                return Some(Span { file, lo: at, hi: at });
            }
            at += line.len() as u32;
        }
        None
    }

    /// A binding of the file leads to no value.
    fn unbound(&mut self, module: usize, name: &str, binding: &Binding, hops: u32) -> Diagnostic {
        let used = self.out.span();
        let changed = self.mods.get(module).change(name).map(|at| (at, CHANGED));
        let undecided = self
            .names
            .undecided
            .get(&(module, name.to_owned()))
            .map(|&at| (at, "depends on this, which host code decides"));
        if let Some((at, why)) = changed.or(undecided) {
            return not_known(name, used).at(at, why);
        }
        match &binding.bound {
            Bound::Import(path) => match advice::host_package(path) {
                Some(package) => host_value(used, name, package),
                None => self.not_found(0, path, binding.span, name),
            },
            Bound::From { level, path, name: wanted, at } => {
                self.unbound_from(module, name, (*level, path, wanted), (*at, binding.span), hops)
            }
            Bound::Value(e) | Bound::Element(e, _) => self.unknown_value(module, name, e),
            Bound::Host(why) => {
                let diag =
                    Diagnostic::error(&names::UNKNOWN_VALUE, format!("`{name}` is a function that ttc cannot read"))
                        .at(used, "used in a kernel");
                let cause = why.first().map_or_else(|| "defined here".to_owned(), |d| d.message.clone());
                let place = why.first().and_then(Diagnostic::place).cloned();
                diag.at(place.unwrap_or_else(|| binding.span.into()), cause)
                    .help("a kernel can call functions with `@triton.jit`; mend what is wrong in this one")
            }
            // One that changes was said above.
            Bound::Class(_) => not_known(name, used).at(binding.span, "defined here"),
            Bound::Function(def) => {
                let at = def.decorators.iter().find(|d| !d.keeps()).map_or(def.header, |d| d.span);
                Diagnostic::error(
                    &names::UNKNOWN_VALUE,
                    format!("what the decorator of `{name}` makes of it is not known"),
                )
                .at(used, "used in a kernel")
                .at(at, "host code that ttc cannot evaluate")
                .help("a kernel can call functions whose one decorator is `@triton.jit`")
            }
        }
    }

    /// `from path import wanted` gives nothing: the file is missing, or the name in it.
    fn unbound_from(
        &mut self,
        module: usize,
        name: &str,
        (level, path, wanted): (u32, &[String], &str),
        (at, alias): (Span, Span),
        hops: u32,
    ) -> Diagnostic {
        if let Some(package) = advice::host_package(path).filter(|_| level == 0) {
            return host_value(self.out.span(), name, package);
        }
        match self.mods.import(module, level, path) {
            None => self.not_found(level, path, at, name),
            Some(Imported::Nothing) => {
                let mut full = path.to_vec();
                full.push(wanted.to_owned());
                self.not_found(level, &full, alias, name)
            }
            Some(Imported::Space(space)) => {
                let candidates = builtins::member_names(space);
                let (package, used) = (space.name(), self.out.span());
                let diag = Diagnostic::error(&names::UNKNOWN_ATTRIBUTE, format!("{package} has no `{wanted}`"))
                    .at(alias, "imported here");
                let diag = diag.at(used, "used here");
                let known = builtins::instead_of(&self.out.target(), wanted);
                if let Some(near) = nearest(wanted, candidates.into_iter()).filter(|_| known.is_none()) {
                    return meant(diag, Span { hi: alias.lo + wanted.len() as u32, ..alias }, near);
                }
                with_help(diag, space.advice().map(str::to_owned).or(known))
            }
            Some(Imported::Module(m)) => {
                let next = self.mods.get(m).bindings(wanted).first().cloned();
                if let Some(next) = next.filter(|_| m != module && hops > 0) {
                    return self.unbound(m, wanted, &next, hops - 1).at(alias, format!("`{wanted}` is imported here"));
                }
                let file = self.mods.map.file(self.mods.get(m).file).name.clone();
                let used = self.out.span();
                let known: Vec<String> = self.mods.get(m).names().map(str::to_owned).collect();
                let diag =
                    Diagnostic::error(&names::IMPORT, format!("`{file}` has no `{wanted}`")).at(alias, "imported here");
                let diag = diag.at(used, "used here");
                match nearest(wanted, known.iter().map(String::as_str)) {
                    Some(near) => meant(diag, Span { hi: alias.lo + wanted.len() as u32, ..alias }, near),
                    None => diag,
                }
            }
        }
    }

    /// The file of an import does not exist.
    fn not_found(&mut self, level: u32, path: &[String], at: Span, name: &str) -> Diagnostic {
        let shown = dotted(level, path);
        Diagnostic::error(&names::IMPORT, format!("`{shown}` was not found"))
            .at(at, "imported here")
            .at(self.out.span(), format!("`{name}` is used here"))
            .help(where_to_look(level, path))
    }

    /// What host code computes and ttc cannot.
    fn unknown_value(&mut self, module: usize, name: &str, e: &Expr) -> Diagnostic {
        let why = self.attempt(module, |cx| cx.expr(e)).err().flatten();
        because(not_known(name, self.out.span()).at(e.span, "computed by host code"), why)
    }

    /// `np.sqrt` in a kernel: reports a member of a package that exists on the host only. `None` if this is something
    /// else.
    pub fn host_member(&mut self, value: &Expr, attr: &str) -> Option<Reported> {
        let ExprKind::Name(name) = &value.kind else { return None };
        if self.frame.host || self.frame.local(name).is_some() {
            return None;
        }
        let module = self.frame.module;
        let path = match self.mods.bindings(module, name).first().map(|b| b.bound.clone()) {
            Some(Bound::Import(path)) => path,
            Some(Bound::From { level: 0, path, .. }) => path,
            _ => return None,
        };
        let package = advice::host_package(&path)?;
        if self.global(module, name).is_some() {
            return None;
        }
        Some(self.no_host_member(&format!("{name}.{attr}"), attr, package))
    }

    /// Reports something that a package of the host has, with what the language has for it.
    pub fn no_host_member(&mut self, shown: &str, attr: &str, package: &str) -> Reported {
        let found = self.space_attr(Space::Language, attr);
        let is_type = matches!(found, Some(Object::Const(Const::Type(_))));
        // `tl.cat` takes two tensors, that of others a list.
        let is_function = matches!(found, Some(Object::Const(Const::Func(_) | Const::Builtin(_))));
        let here = is_function && attr != "cat";
        let help = if is_type {
            format!(
                "the type is `tl.{attr}`; a number stands for itself, and a tensor is converted with `x.to(tl.{attr})`"
            )
        } else if here {
            format!("use `tl.{attr}`")
        } else {
            let known = builtins::instead_of(&self.out.target(), attr);
            known.unwrap_or_else(|| "kernels use the functions of `triton.language`".to_owned())
        };
        let message = format!("`{shown}` belongs to {package}, which runs on the host");
        let at = self.out.span();
        let diag = Diagnostic::error(&names::UNKNOWN_VALUE, message).at(at, "a kernel runs on the GPU").help(help);
        self.out.report(if here { diag.fix(at, format!("tl.{attr}")) } else { diag })
    }
}

fn not_known(name: &str, used: Span) -> Diagnostic {
    Diagnostic::error(&names::UNKNOWN_VALUE, format!("the value of `{name}` is not known at compile time"))
        .at(used, "used in a kernel")
        .help(format!("if it is a number, a type or a function of the language, give it: -D {name}=…; otherwise pass it as a parameter"))
}

fn host_value(used: Span, name: &str, package: &str) -> Diagnostic {
    Diagnostic::error(&names::UNKNOWN_VALUE, format!("`{name}` belongs to {package}, which runs on the host"))
        .at(used, "a kernel runs on the GPU")
        .help("kernels use the functions of `triton.language`")
}

/// Adds what was probably meant instead of the word at a place.
fn meant(diag: Diagnostic, at: Span, near: &str) -> Diagnostic {
    diag.help(format!("did you mean `{near}`?")).fix(at, near)
}

fn with_help(diag: Diagnostic, help: Option<String>) -> Diagnostic {
    match help {
        Some(help) => diag.help(help),
        None => diag,
    }
}

/// `..a.b`
pub(super) fn dotted(level: u32, path: &[String]) -> String {
    format!("{}{}", ".".repeat(level as usize), path.join("."))
}

/// What to do about a file that was not found.
pub(super) fn where_to_look(level: u32, path: &[String]) -> String {
    if level > 0 {
        return "relative imports start at the folder of the file".to_owned();
    }
    if path.starts_with(&["triton".to_owned(), "experimental".to_owned()]) {
        return "what `triton.experimental` holds, Gluon for one, is another language than Triton's, and ttc does not compile it"
            .to_owned();
    }
    let first = path.first().map_or("it", String::as_str);
    format!(
        "ttc looked in the folder of the file, in those above it, and in those of -I; pass the folder that holds `{first}` with -I"
    )
}

impl Walker<'_> {
    /// Reports `base.attr` that does not exist, with the member that was probably meant.
    pub fn unknown_attribute(&mut self, base: &Object, attr: &str) -> Reported {
        if let Object::Const(Const::Space(space)) = base {
            if builtins::known_but_missing(*space, attr) {
                return self.out.unsupported(&format!("`{attr}` of {}", space.name()));
            }
            if *space == Space::Torch && !self.frame.host {
                return self.no_host_member(&format!("torch.{attr}"), attr, "PyTorch");
            }
            if *space == Space::PyMath && advice::is_of_math(attr) {
                return self.not_evaluated(attr);
            }
        }
        if let (Object::Tuple(_), "append" | "extend" | "insert" | "pop") = (base, attr) {
            return self.list_change(attr);
        }
        let (what, candidates): (String, Vec<&str>) = match base {
            Object::Const(Const::Space(space)) => (space.name().to_owned(), builtins::member_names(*space)),
            Object::Tensor(_) => (base.describe(), builtins::tensor_attr_names()),
            Object::Const(Const::Module(m)) => {
                (format!("`{}`", self.mods.map.file(self.mods.get(*m).file).name), vec![])
            }
            Object::Const(Const::HostClass(_, name)) => (format!("the class `{name}`"), vec![]),
            other => (other.describe(), vec![]),
        };
        let code: &'static Code = &names::UNKNOWN_ATTRIBUTE;
        let mut diag =
            Diagnostic::error(code, format!("{what} has no `{attr}`")).at(self.out.span(), "no such attribute");
        let known = match base {
            Object::Tensor(_) => builtins::instead_of(&self.out.target(), attr),
            Object::Const(Const::Space(space)) => {
                space.replaced(attr).map(str::to_owned).or_else(|| builtins::instead_of(&self.out.target(), attr))
            }
            _ => None,
        };
        if let Some(near) = nearest(attr, candidates.into_iter()).filter(|_| known.is_none()) {
            return self.out.report(meant(diag, self.out.span().tail(attr.len()), near));
        }
        let help = known.or_else(|| match base {
            Object::Const(Const::Space(space)) => space.advice().map(str::to_owned),
            Object::Const(Const::Str(_)) => Some("to print a value write `tl.device_print(\"x\", x)`".to_owned()),
            Object::Const(Const::Type(t)) if t.is_block() => {
                Some(format!("that is the type of a block; ask the one of its elements: `x.dtype.{attr}`"))
            }
            Object::Tensor(_) if self.space_attr(Space::Language, attr).is_some() => {
                Some(format!("it is a function of `tl`, not a method: write `tl.{attr}(…)`"))
            }
            Object::Tensor(_) => Some(
                "`docs/language.md` lists the methods of tensors; most functions of `tl` take the tensor first"
                    .to_owned(),
            ),
            _ => None,
        });
        if let Some(help) = help {
            diag = diag.help(help);
        }
        self.out.report(diag)
    }

    /// Reports a function of Python's `math` that ttc does not know.
    fn not_evaluated(&mut self, name: &str) -> Reported {
        let help = match name {
            "pow" => "write `x ** y`; of tensors `libdevice.pow(x, y)`".to_owned(),
            "fabs" => "write `abs(x)`, which takes numbers and tensors".to_owned(),
            "tau" => "write `2 * math.pi`".to_owned(),
            _ => {
                let here =
                    builtins::member(Space::Language, name).map(|_| format!("`tl.{name}` computes with tensors"));
                let here = here
                    .or_else(|| builtins::instead_of(&self.out.target(), name).map(|h| format!("for tensors: {h}")));
                let pass = "pass the number as a `tl.constexpr` parameter".to_owned();
                here.map_or(pass.clone(), |here| format!("{pass}; {here}"))
            }
        };
        let message = format!("ttc does not evaluate `math.{name}`");
        self.out.error_help(&names::UNSUPPORTED, message, "used here", help)
    }

    fn list_change(&mut self, method: &str) -> Reported {
        self.out.list_change();
        self.out.error_help(
            &names::NOT_IN_KERNELS,
            format!("a list in a kernel cannot change: `{method}` is not part of the kernel language"),
            "lists are tuples here",
            "in a loop that is unrolled (`tl.static_range`) write `values = values + [v]`; in any other keep a tensor and `tl.store` what is ready",
        )
    }
}
