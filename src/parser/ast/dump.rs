//! A compact text form of the tree, for tests and for looking at it.
//!
//! Expressions are s-expressions on one line, operators first: `a + b * c` is `(+ a (* b c))`, `x[:, None]` is `([] x
//! (tuple (: _ _ _) None))`, `f(a, k=1, *b)` is `(call f a (* b) k=1)`. Statements stand one on a line, blocks indented
//! by two blanks below their header. Spans are left out; two texts that mean the same dump the same.

use std::fmt::{self, Write};

use super::{
    Comp, CompClause, Constant, Decorator, Expr, ExprKind, FStringPart, FunctionDef, Ident, ImportNames, Item, Module,
    Param, ParamKind, Stmt, StmtKind,
};

/// The dump of a file.
#[must_use]
pub fn module(module: &Module) -> String {
    let mut out = Dump::default();
    out.items(&module.items);
    out.text
}

/// The dump of one function with its block.
#[must_use]
pub fn function(def: &FunctionDef) -> String {
    let mut out = Dump::default();
    out.function(def);
    out.text
}

/// The dump of an expression, on one line.
#[must_use]
pub fn expr(expr: &Expr) -> String {
    expr.to_string()
}

/// Writes blanks and what is given.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {
        $out.line(format_args!($($arg)*))
    };
}

#[derive(Default)]
struct Dump {
    text: String,
    depth: usize,
}

impl Dump {
    fn line(&mut self, args: fmt::Arguments<'_>) {
        let width = 2 * self.depth;
        writeln!(self.text, "{:width$}{args}", "").expect("writing to a string cannot fail");
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item_block(&mut self, header: &str, items: &[Item]) {
        put!(self, "{header}");
        self.depth += 1;
        self.items(items);
        self.depth -= 1;
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Stmt(stmt) => self.stmt(stmt),
            Item::Function(def) => self.function(def),
            Item::Opaque(opaque) => {
                self.decorators(&opaque.decorators);
                self.item_block(&format!("opaque def {}", opaque.name), &opaque.items);
            }
            Item::Class(class) => {
                self.decorators(&class.decorators);
                self.item_block(&format!("class {}", class.name), &class.items);
            }
            Item::If(item) => {
                for (i, branch) in item.branches.iter().enumerate() {
                    let word = if i == 0 { "if" } else { "elif" };
                    self.item_block(&format!("{word} {}", opt(branch.test.as_ref())), &branch.items);
                }
                if !item.orelse.is_empty() {
                    self.item_block("else", &item.orelse);
                }
            }
            Item::Try(item) => {
                self.item_block("try", &item.body);
                for handler in &item.handlers {
                    self.item_block("except", handler);
                }
                for (word, items) in [("else", &item.orelse), ("finally", &item.finalbody)] {
                    if !items.is_empty() {
                        self.item_block(word, items);
                    }
                }
            }
            Item::Block(block) => self.item_block(&format!("block {}", block.keyword), &block.items),
        }
    }

    fn decorators(&mut self, decorators: &[Decorator]) {
        for decorator in decorators {
            put!(self, "@ {}", decorator.expr);
        }
    }

    fn function(&mut self, def: &FunctionDef) {
        self.decorators(&def.decorators);
        let returns = def.returns.as_ref().map(|r| format!(" -> {r}")).unwrap_or_default();
        let broken = if def.broken { " BROKEN" } else { "" };
        put!(self, "def {} {}{returns}{broken}", def.name, Params(&def.params));
        self.block(&def.body);
    }

    fn block(&mut self, body: &[Stmt]) {
        self.depth += 1;
        for stmt in body {
            self.stmt(stmt);
        }
        self.depth -= 1;
    }

    fn orelse(&mut self, orelse: &[Stmt]) {
        if !orelse.is_empty() {
            put!(self, "else");
            self.block(orelse);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { branches, orelse } => {
                for (i, branch) in branches.iter().enumerate() {
                    put!(self, "{} {}", if i == 0 { "if" } else { "elif" }, branch.test);
                    self.block(&branch.body);
                }
                self.orelse(orelse);
            }
            StmtKind::For { target, iter, body, orelse } => {
                put!(self, "for {target} in {iter}");
                self.block(body);
                self.orelse(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                put!(self, "while {test}");
                self.block(body);
                self.orelse(orelse);
            }
            StmtKind::With { items, body } => {
                let items =
                    items.iter().map(|i| format!(" ({} as {})", i.context, opt(i.target.as_ref()))).collect::<String>();
                put!(self, "with{items}");
                self.block(body);
            }
            StmtKind::FunctionDef(def) => self.function(def),
            StmtKind::Unsupported { keyword, body } => {
                put!(self, "unsupported {keyword}");
                self.block(body);
            }
            _ => self.simple(&stmt.kind),
        }
    }

    fn simple(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Expr(value) => put!(self, "(expr {value})"),
            StmtKind::Assign { targets, value } => put!(self, "(={} {value})", List(targets)),
            StmtKind::AnnAssign { target, annotation, value } => {
                put!(self, "(: {target} {annotation} {})", opt(value.as_ref()));
            }
            StmtKind::AugAssign { target, op, value } => put!(self, "({}= {target} {value})", op.symbol()),
            StmtKind::Return(value) => put!(self, "(return {})", opt(value.as_ref())),
            StmtKind::Raise { exc, cause } => put!(self, "(raise {} {})", opt(exc.as_ref()), opt(cause.as_ref())),
            StmtKind::Assert { test, msg } => put!(self, "(assert {test} {})", opt(msg.as_ref())),
            StmtKind::Del(targets) => put!(self, "(del{})", List(targets)),
            StmtKind::Global(names) => put!(self, "(global{})", Names(names, " ")),
            StmtKind::Nonlocal(names) => put!(self, "(nonlocal{})", Names(names, " ")),
            StmtKind::Import(names) => {
                put!(self, "(import{})", names.iter().map(alias).collect::<String>());
            }
            StmtKind::ImportFrom(from) => {
                let names = match &from.names {
                    ImportNames::Star(_) => " *".to_owned(),
                    ImportNames::List(list) => list.iter().map(alias).collect(),
                };
                put!(self, "(from {}{}{names})", from.level, Names(&from.module, " ."));
            }
            StmtKind::Pass => put!(self, "(pass)"),
            StmtKind::Break => put!(self, "(break)"),
            StmtKind::Continue => put!(self, "(continue)"),
            _ => {}
        }
    }
}

fn alias(alias: &super::Alias) -> String {
    let path = alias.path.iter().map(|i| &*i.name).collect::<Vec<_>>().join(".");
    match &alias.asname {
        Some(name) => format!(" ({path} as {name})"),
        None => format!(" {path}"),
    }
}

/// Shows an expression, or `_` where there is none.
fn opt(expr: Option<&Expr>) -> String {
    expr.map_or_else(|| "_".to_owned(), Expr::to_string)
}

/// Shows expressions with a blank before each.
struct List<'a>(&'a [Expr]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|e| write!(f, " {e}"))
    }
}

struct Names<'a>(&'a [Ident], &'a str);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|n| write!(f, "{}{n}", self.1))
    }
}

/// Shows parameters, such as `(a /b *c=1)`. The mark in front of a name gives its kind, as in `ParamKind`.
struct Params<'a>(&'a [Param]);

impl fmt::Display for Params<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, p) in self.0.iter().enumerate() {
            let mark = match p.kind {
                ParamKind::PositionalOnly => "/",
                ParamKind::Normal => "",
                ParamKind::KeywordOnly => "kw:",
                ParamKind::VarArgs => "*",
                ParamKind::VarKwargs => "**",
            };
            write!(f, "{}{mark}{}", if i == 0 { "" } else { " " }, p.name)?;
            if let Some(annotation) = &p.annotation {
                write!(f, ":{annotation}")?;
            }
            if let Some(default) = &p.default {
                write!(f, "={default}")?;
            }
        }
        f.write_str(")")
    }
}

struct Clauses<'a>(&'a [CompClause]);

impl fmt::Display for Clauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|c| {
            let word = if c.is_async { "async-for" } else { "for" };
            write!(f, " ({word} {} {}{})", c.target, c.iter, List(&c.ifs))
        })
    }
}

fn comp(f: &mut fmt::Formatter<'_>, word: &str, comp: &Comp) -> fmt::Result {
    write!(f, "({word} {}{})", comp.element, Clauses(&comp.clauses))
}

/// Shows printable ASCII as it is, and the rest as `\u{…}`.
fn quoted(f: &mut fmt::Formatter<'_>, text: impl Iterator<Item = char>) -> fmt::Result {
    f.write_char('"')?;
    for c in text {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            ' '..='~' => f.write_char(c)?,
            _ => write!(f, "\\u{{{:x}}}", c as u32)?,
        }
    }
    f.write_char('"')
}

fn parts(f: &mut fmt::Formatter<'_>, all: &[FStringPart]) -> fmt::Result {
    for part in all {
        f.write_char(' ')?;
        match part {
            FStringPart::Literal(text) => quoted(f, text.chars())?,
            FStringPart::Field(field) => {
                write!(f, "{{{}", field.value)?;
                if let Some(c) = field.conversion {
                    write!(f, " !{c}")?;
                }
                if let Some(spec) = &field.spec {
                    f.write_str(" :")?;
                    parts(f, spec)?;
                }
                f.write_char('}')?;
            }
        }
    }
    Ok(())
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::None => f.write_str("None"),
            Constant::Bool(true) => f.write_str("True"),
            Constant::Bool(false) => f.write_str("False"),
            Constant::Ellipsis => f.write_str("..."),
            Constant::Int(value) => write!(f, "{value}"),
            Constant::Float(value) => write!(f, "{value:?}"),
            Constant::Imaginary(value) => write!(f, "{value:?}j"),
            Constant::Str(text) => quoted(f, text.chars()),
            Constant::Bytes(bytes) => {
                f.write_char('b')?;
                quoted(f, bytes.iter().map(|&b| b as char))
            }
        }
    }
}

/// The s-expression of the tree.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Name(name) => f.write_str(name),
            ExprKind::Constant(value) => write!(f, "{value}"),
            ExprKind::FString(string) => {
                f.write_str(if string.template { "(t" } else { "(f" })?;
                parts(f, &string.parts)?;
                f.write_char(')')
            }
            ExprKind::Attribute { value, attr } => write!(f, "(. {value} {attr})"),
            ExprKind::Subscript { value, index } => write!(f, "([] {value} {index})"),
            ExprKind::Slice(s) => {
                write!(f, "(: {} {} {})", opt(s.lower.as_deref()), opt(s.upper.as_deref()), opt(s.step.as_deref()))
            }
            ExprKind::Call(call) => {
                write!(f, "(call {}{}", call.func, List(&call.args))?;
                for keyword in &call.keywords {
                    match &keyword.name {
                        Some(name) => write!(f, " {name}={}", keyword.value)?,
                        None => write!(f, " **{}", keyword.value)?,
                    }
                }
                f.write_char(')')
            }
            ExprKind::UnaryOp { op, operand } => write!(f, "({} {operand})", op.symbol()),
            ExprKind::BinOp { left, op, right } => write!(f, "({} {left} {right})", op.symbol()),
            ExprKind::BoolOp { op, values } => write!(f, "({}{})", op.symbol(), List(values)),
            ExprKind::Compare { left, rest } => {
                write!(f, "(cmp {left}")?;
                rest.iter().try_for_each(|(op, right)| write!(f, " {} {right}", op.symbol()))?;
                f.write_char(')')
            }
            ExprKind::IfExp { test, body, orelse } => write!(f, "(if {test} {body} {orelse})"),
            ExprKind::Lambda(lambda) => write!(f, "(lambda {} {})", Params(&lambda.params), lambda.body),
            ExprKind::Walrus { target, value } => write!(f, "(:= {target} {value})"),
            ExprKind::Tuple(elements) => write!(f, "(tuple{})", List(elements)),
            ExprKind::List(elements) => write!(f, "(list{})", List(elements)),
            ExprKind::Set(elements) => write!(f, "(set{})", List(elements)),
            ExprKind::Dict(items) => {
                f.write_str("(dict")?;
                for item in items {
                    match &item.key {
                        Some(key) => write!(f, " ({key} {})", item.value)?,
                        None => write!(f, " (** {})", item.value)?,
                    }
                }
                f.write_char(')')
            }
            ExprKind::ListComp(c) => comp(f, "listcomp", c),
            ExprKind::SetComp(c) => comp(f, "setcomp", c),
            ExprKind::Generator(c) => comp(f, "generator", c),
            ExprKind::DictComp(c) => write!(f, "(dictcomp {} {}{})", c.key, c.value, Clauses(&c.clauses)),
            ExprKind::Starred(value) => write!(f, "(* {value})"),
            ExprKind::Yield(value) => write!(f, "(yield {})", opt(value.as_deref())),
            ExprKind::YieldFrom(value) => write!(f, "(yield-from {value})"),
            ExprKind::Await(value) => write!(f, "(await {value})"),
        }
    }
}
