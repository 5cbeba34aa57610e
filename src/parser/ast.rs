//! The syntax tree: plain data, every node with the [`Span`] it was read from.
//!
//! Shapes follow Python's own `ast` module (names, order, what is optional), so that whoever knows that one knows this
//! one. Where they differ, it is to keep every recursion over the tree shallow and every list flat:
//! 1. `if`/`elif`/`else` is one [`StmtKind::If`] with a list of branches, not a chain of nested ones; `and`/`or` chains
//!    and comparison chains are lists too.
//! 2. A [`Module`] holds [`Item`]s, not statements: what a kernel can refer to (imports, assignments, functions, and
//!    the `if`, `try` and `class` blocks around them). Other host code leaves nothing behind.
//! 3. Statements that a kernel never holds (`try`, `class`, `match`, `async …`) are [`StmtKind::Unsupported`] with the
//!    statements of their blocks, so that a function nested in them is found and whoever compiles one can say what is
//!    unsupported.
//!
//! The depth of a tree is bounded by the parser ([`super::limits`]), so recursive walks and drops cannot overflow the
//! stack.
//!
//! Example: `y = x[:, None] + 1` is
//! `Assign([Name y], BinOp(Subscript(Name x, Tuple[Slice(-, -, -), None]), Add, 1))`.

pub mod dump;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::diag::Diagnostic;
use crate::source::Span;

/// A name where it stands. Names are shared strings; compare them as `&*ident.name == "x"` or `ident == "x"`.
#[derive(Clone, PartialEq, Debug)]
pub struct Ident {
    pub name: Arc<str>,
    pub span: Span,
}

impl PartialEq<str> for Ident {
    fn eq(&self, other: &str) -> bool {
        &*self.name == other
    }
}

impl PartialEq<&str> for Ident {
    fn eq(&self, other: &&str) -> bool {
        &*self.name == *other
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

// ----------------------------------------------------------------------------------------------------------------
// modules

/// A file: what its kernels can refer to, in source order.
#[derive(Clone, PartialEq, Debug)]
pub struct Module {
    pub items: Vec<Item>,
    /// Top-level names whose values change otherwise than by the assignments among the items, and where.
    pub changes: BTreeMap<String, Span>,
    /// The same for the names of functions, by the place of `def`.
    pub inner_changes: BTreeMap<u32, BTreeMap<String, Span>>,
    /// The whole file.
    pub span: Span,
}

/// One thing at the top level of a file, of a class, or of a conditional block.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A `StmtKind::{Import, ImportFrom, Assign, AnnAssign, AugAssign}`. Other simple statements are dropped.
    Stmt(Stmt),
    /// A function, jit-decorated or not, whose body was parsed. Functions nested in it are in its body.
    Function(FunctionDef),
    /// A host function that did not parse.
    Opaque(OpaqueFunction),
    Class(ClassItem),
    If(IfItem),
    Try(TryItem),
    /// Another host block (`for`, `while`, `with`, `match`, `async …`) that defines something.
    Block(BlockItem),
}

impl Module {
    /// Every function of the file that was parsed, in source order, however deep it is nested.
    #[must_use]
    pub fn functions(&self) -> Vec<&FunctionDef> {
        let mut all = vec![];
        in_items(&self.items, &mut all);
        all
    }

    /// Every kernel of the file in source order.
    #[must_use]
    pub fn jit_functions(&self) -> Vec<&FunctionDef> {
        let mut all = self.functions();
        all.retain(|f| f.is_jit);
        all
    }
}

fn in_items<'a>(items: &'a [Item], out: &mut Vec<&'a FunctionDef>) {
    for item in items {
        match item {
            Item::Stmt(_) => {}
            Item::Function(f) => in_function(f, out),
            Item::Opaque(OpaqueFunction { items, .. })
            | Item::Class(ClassItem { items, .. })
            | Item::Block(BlockItem { items, .. }) => {
                in_items(items, out);
            }
            Item::If(i) => {
                for branch in &i.branches {
                    in_items(&branch.items, out);
                }
                in_items(&i.orelse, out);
            }
            Item::Try(t) => {
                in_items(&t.body, out);
                for handler in &t.handlers {
                    in_items(handler, out);
                }
                in_items(&t.orelse, out);
                in_items(&t.finalbody, out);
            }
        }
    }
}

fn in_function<'a>(f: &'a FunctionDef, out: &mut Vec<&'a FunctionDef>) {
    out.push(f);
    in_block(&f.body, out);
}

fn in_block<'a>(body: &'a [Stmt], out: &mut Vec<&'a FunctionDef>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(f) => in_function(f, out),
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    in_block(&branch.body, out);
                }
                in_block(orelse, out);
            }
            StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                in_block(body, out);
                in_block(orelse, out);
            }
            StmtKind::With { body, .. } | StmtKind::Unsupported { body, .. } => in_block(body, out),
            _ => {}
        }
    }
}

impl Item {
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Item::Stmt(s) => s.span,
            Item::Function(f) => f.span,
            Item::Opaque(f) => f.span,
            Item::Class(c) => c.span,
            Item::If(i) => i.span,
            Item::Try(t) => t.span,
            Item::Block(b) => b.span,
        }
    }
}

/// A host function whose header or body is not in the subset (or not Python); known by name only.
#[derive(Clone, PartialEq, Debug)]
pub struct OpaqueFunction {
    pub name: Ident,
    /// Its decorators, those that parsed.
    pub decorators: Vec<Decorator>,
    /// Functions found in its body.
    pub items: Vec<Item>,
    /// Why it did not parse: what to tell whoever calls it.
    pub why: Vec<Diagnostic>,
    pub span: Span,
}

/// A host class. Its methods are functions like any other.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassItem {
    pub name: Ident,
    pub decorators: Vec<Decorator>,
    /// The classes that it is made of: `B` and `C` of `class A(B, C, metaclass=M):`.
    pub bases: Vec<Expr>,
    pub items: Vec<Item>,
    /// From `class` to the colon.
    pub header: Span,
    pub span: Span,
}

/// `if`/`elif`/`else` around items. Name resolution may decide the tests or follow all branches in order.
#[derive(Clone, PartialEq, Debug)]
pub struct IfItem {
    pub branches: Vec<ItemBranch>,
    pub orelse: Vec<Item>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ItemBranch {
    /// `None` when the condition did not parse.
    pub test: Option<Expr>,
    pub items: Vec<Item>,
}

/// `try`/`except`/`else`/`finally` around items.
#[derive(Clone, PartialEq, Debug)]
pub struct TryItem {
    pub body: Vec<Item>,
    /// One list for each `except`.
    pub handlers: Vec<Vec<Item>>,
    pub orelse: Vec<Item>,
    pub finalbody: Vec<Item>,
    pub span: Span,
}

/// A host block that is neither `if`, `try`, `class` nor `def`, kept because of what it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockItem {
    /// Its first word: `for`, `with`, …
    pub keyword: Arc<str>,
    pub items: Vec<Item>,
    pub span: Span,
}

// --------------------------------------------------------------------------------------------------------------
// functions

/// `def name(params) -> returns: body`
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionDef {
    pub name: Ident,
    /// From the outermost (first in the text) to the innermost.
    pub decorators: Vec<Decorator>,
    pub params: Vec<Param>,
    pub returns: Option<Expr>,
    /// With the docstring, if there is one, as its first expression statement.
    pub body: Vec<Stmt>,
    /// Whether a decorator makes it a kernel by [`Decorator::is_jit`].
    pub is_jit: bool,
    /// Whether syntax errors were reported inside; statements are missing from `body` then.
    pub broken: bool,
    /// From the first decorator to the end of the body.
    pub span: Span,
    /// From `def` to the colon.
    pub header: Span,
}

/// `@expr`
#[derive(Clone, PartialEq, Debug)]
pub struct Decorator {
    pub expr: Expr,
    /// From `@` to the end of the expression.
    pub span: Span,
}

impl Decorator {
    /// The dotted path that is applied or called: `["triton", "autotune"]` for `@triton.autotune(configs=…)`. `None`
    /// when the decorator is anything but names, dots and at most one call.
    #[must_use]
    pub fn path(&self) -> Option<Vec<&str>> {
        match &self.expr.kind {
            ExprKind::Call(call) => call.func.dotted(),
            _ => self.expr.dotted(),
        }
    }

    /// The call's arguments, if the decorator is a call.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match &self.expr.kind {
            ExprKind::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Whether the last name of the path ends in `jit`: `@triton.jit`, `@jit`, `@gluon.jit`,
    /// `@triton.jit(noinline=True)`, `@my_jit`.
    #[must_use]
    pub fn is_jit(&self) -> bool {
        self.path().is_some_and(|p| p.last().is_some_and(|n| n.ends_with("jit")))
    }

    /// Whether the decorator leaves what the function computes as it is: Triton's `constexpr_function`, caches of
    /// Python and of PyTorch's compiler, and the like.
    #[must_use]
    pub fn keeps(&self) -> bool {
        const KEEPING: [&str; 11] = [
            "classmethod",
            "compile",
            "disable",
            "inference_mode",
            "no_grad",
            "overload",
            "override",
            "property",
            "staticmethod",
            "wrap",
            "wraps",
        ];
        let named = |n: &str| n.ends_with("constexpr_function") || n.ends_with("cache") || KEEPING.contains(&n);
        self.is_jit() || self.is_extern() || self.path().is_some_and(|p| p.last().is_some_and(|n| named(n)))
    }

    /// Whether the decorator is Triton's for functions that write a kernel's operations from Python: `@core.extern`,
    /// `@tl.core.builtin`.
    #[must_use]
    pub fn is_extern(&self) -> bool {
        self.path().is_some_and(|p| p.last().is_some_and(|n| matches!(*n, "extern" | "builtin")))
    }
}

/// How a parameter takes its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// Before `/`.
    PositionalOnly,
    Normal,
    /// After `*` or `*args`.
    KeywordOnly,
    /// `*args`
    VarArgs,
    /// `**kwargs`
    VarKwargs,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    pub name: Ident,
    pub kind: ParamKind,
    pub annotation: Option<Expr>,
    pub default: Option<Expr>,
    /// Of the whole parameter, with its stars, annotation and default.
    pub span: Span,
}

// -------------------------------------------------------------------------------------------------------------
// statements

#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    /// Of the whole statement, with the blocks of a compound one.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// An expression alone on its line.
    Expr(Expr),
    /// `a = b = value`: the targets from left to right.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    /// `target: annotation = value`
    AnnAssign {
        target: Expr,
        annotation: Expr,
        value: Option<Expr>,
    },
    /// `target op= value`
    AugAssign {
        target: Expr,
        op: BinOp,
        value: Expr,
    },
    /// The branches (`if` and every `elif`) in order, at least one.
    If {
        branches: Vec<IfBranch>,
        orelse: Vec<Stmt>,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    With {
        items: Vec<WithItem>,
        body: Vec<Stmt>,
    },
    FunctionDef(Box<FunctionDef>),
    Return(Option<Expr>),
    Raise {
        exc: Option<Expr>,
        cause: Option<Expr>,
    },
    Assert {
        test: Expr,
        msg: Option<Expr>,
    },
    Del(Vec<Expr>),
    Global(Vec<Ident>),
    Nonlocal(Vec<Ident>),
    /// `import a.b as c, d`
    Import(Vec<Alias>),
    ImportFrom(ImportFrom),
    Pass,
    Break,
    Continue,
    /// A statement that no kernel may hold: `try`, `except`, `finally`, `else` of a `try`, `class`, `match`, `case`,
    /// `async`, `type`. Only its blocks are parsed.
    Unsupported {
        keyword: Arc<str>,
        body: Vec<Stmt>,
    },
}

/// `if test:` or `elif test:` with its block.
#[derive(Clone, PartialEq, Debug)]
pub struct IfBranch {
    pub test: Expr,
    pub body: Vec<Stmt>,
    /// Of the header and the block.
    pub span: Span,
}

/// `context as target`
#[derive(Clone, PartialEq, Debug)]
pub struct WithItem {
    pub context: Expr,
    pub target: Option<Expr>,
    pub span: Span,
}

/// `path as name` in an import.
#[derive(Clone, PartialEq, Debug)]
pub struct Alias {
    /// The dotted path; one name in a `from` import.
    pub path: Vec<Ident>,
    pub asname: Option<Ident>,
    pub span: Span,
}

impl Alias {
    /// The name that the import binds: the `as` name, else the first of the path.
    #[must_use]
    pub fn bound(&self) -> &Ident {
        self.asname.as_ref().unwrap_or(&self.path[0])
    }
}

/// `from ..module import a, b as c` or `from module import *`
#[derive(Clone, PartialEq, Debug)]
pub struct ImportFrom {
    /// The number of leading dots; 0 for an absolute import.
    pub level: u32,
    /// Empty for `from . import x`.
    pub module: Vec<Ident>,
    pub names: ImportNames,
}

impl ImportFrom {
    /// `from ..module`: where the statement says what is imported from.
    #[must_use]
    pub fn source_span(&self, stmt: Span) -> Span {
        let end = match (self.module.last(), &self.names) {
            (Some(last), _) => last.span.hi,
            (None, ImportNames::Star(star)) => star.lo,
            (None, ImportNames::List(aliases)) => aliases.first().map_or(stmt.hi, |a| a.span.hi),
        };
        Span { hi: end, ..stmt }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum ImportNames {
    /// `*`
    Star(Span),
    List(Vec<Alias>),
}

// ------------------------------------------------------------------------------------------------------------
// expressions

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// Without parentheses around it, except for a tuple, a generator and a `yield` that need them.
    pub span: Span,
}

impl Expr {
    /// The names of a dotted path, `["tl", "math", "exp"]`; `None` for any other expression.
    #[must_use]
    pub fn dotted(&self) -> Option<Vec<&str>> {
        let mut path = vec![];
        let mut at = self;
        loop {
            match &at.kind {
                ExprKind::Attribute { value, attr } => {
                    path.push(&*attr.name);
                    at = value;
                }
                ExprKind::Name(name) => {
                    path.push(&**name);
                    path.reverse();
                    return Some(path);
                }
                _ => return None,
            }
        }
    }

    /// The name, if the expression is one.
    #[must_use]
    pub fn as_name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Name(Arc<str>),
    Constant(Constant),
    /// An f-string, or several adjacent strings of which one is.
    FString(FString),
    /// `value.attr`
    Attribute {
        value: Box<Expr>,
        attr: Ident,
    },
    /// `value[index]`; several indices are a [`ExprKind::Tuple`], slices are [`ExprKind::Slice`].
    Subscript {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    /// `lower:upper:step`, only inside a subscript.
    Slice(Slice),
    Call(Box<Call>),
    UnaryOp {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    BinOp {
        left: Box<Expr>,
        op: BinOp,
        right: Box<Expr>,
    },
    /// `a and b and c`: two values or more, one operator.
    BoolOp {
        op: BoolOp,
        values: Vec<Expr>,
    },
    /// `left op1 e1 op2 e2 …`: one pair or more.
    Compare {
        left: Box<Expr>,
        rest: Vec<(CmpOp, Expr)>,
    },
    /// `body if test else orelse`
    IfExp {
        test: Box<Expr>,
        body: Box<Expr>,
        orelse: Box<Expr>,
    },
    Lambda(Box<Lambda>),
    /// `(target := value)`; the target is a name.
    Walrus {
        target: Ident,
        value: Box<Expr>,
    },
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    Dict(Vec<DictItem>),
    ListComp(Box<Comp>),
    SetComp(Box<Comp>),
    Generator(Box<Comp>),
    DictComp(Box<DictComp>),
    /// `*value` in a call, a display, a subscript or a target list.
    Starred(Box<Expr>),
    /// `yield` or `yield value`
    Yield(Option<Box<Expr>>),
    YieldFrom(Box<Expr>),
    Await(Box<Expr>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    None,
    Bool(bool),
    Ellipsis,
    /// Exact; a minus sign is a [`UnaryOp::Neg`] around it.
    Int(u128),
    Float(f64),
    /// The factor of `j`. Reported inside kernels.
    Imaginary(f64),
    /// Escapes decoded, adjacent literals joined. A lone surrogate escape is U+FFFD.
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// The parts of an f-string in order.
#[derive(Clone, PartialEq, Debug)]
pub struct FString {
    pub parts: Vec<FStringPart>,
    /// Whether one of the pieces was a `t"…"` template.
    pub template: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum FStringPart {
    Literal(String),
    Field(Box<FStringField>),
}

/// `{value!r:spec}`. The self-documenting `{value=}` is the text `value=` before a field with `!r`, or without it if
/// there is a spec.
#[derive(Clone, PartialEq, Debug)]
pub struct FStringField {
    pub value: Expr,
    /// `r`, `s` or `a` after `!`.
    pub conversion: Option<char>,
    /// After `:`; may hold fields itself.
    pub spec: Option<Vec<FStringPart>>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Slice {
    pub lower: Option<Box<Expr>>,
    pub upper: Option<Box<Expr>>,
    pub step: Option<Box<Expr>>,
}

/// `func(args, keywords)`
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub func: Expr,
    /// Positional arguments in order; `*args` is a [`ExprKind::Starred`].
    pub args: Vec<Expr>,
    /// Keyword arguments in order.
    pub keywords: Vec<Keyword>,
}

impl Call {
    /// The value of the keyword argument with this name.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&Expr> {
        self.keywords.iter().find(|k| k.name.as_ref().is_some_and(|n| n == name)).map(|k| &k.value)
    }
}

/// `name=value`, or `**value` without a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Keyword {
    pub name: Option<Ident>,
    pub value: Expr,
    pub span: Span,
}

/// `lambda params: body`
#[derive(Clone, PartialEq, Debug)]
pub struct Lambda {
    pub params: Vec<Param>,
    pub body: Expr,
}

/// `key: value`, or `**value` without a key.
#[derive(Clone, PartialEq, Debug)]
pub struct DictItem {
    pub key: Option<Expr>,
    pub value: Expr,
}

/// The inside of a list, set or generator comprehension.
#[derive(Clone, PartialEq, Debug)]
pub struct Comp {
    pub element: Expr,
    pub clauses: Vec<CompClause>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DictComp {
    pub key: Expr,
    pub value: Expr,
    pub clauses: Vec<CompClause>,
}

/// `for target in iter if … if …`
#[derive(Clone, PartialEq, Debug)]
pub struct CompClause {
    pub target: Expr,
    pub iter: Expr,
    pub ifs: Vec<Expr>,
    pub is_async: bool,
}

// --------------------------------------------------------------------------------------------------------------
// operators

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    MatMul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    BitOr,
    BitXor,
    BitAnd,
}

impl BinOp {
    /// As written: `+`, `//`, …
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::MatMul => "@",
            BinOp::Div => "/",
            BinOp::FloorDiv => "//",
            BinOp::Mod => "%",
            BinOp::Pow => "**",
            BinOp::LShift => "<<",
            BinOp::RShift => ">>",
            BinOp::BitOr => "|",
            BinOp::BitXor => "^",
            BinOp::BitAnd => "&",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `+x`
    Pos,
    /// `~x`
    Invert,
    /// `not x`
    Not,
}

impl UnaryOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Pos => "+",
            UnaryOp::Invert => "~",
            UnaryOp::Not => "not",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BoolOp {
    And,
    Or,
}

impl BoolOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            BoolOp::And => "and",
            BoolOp::Or => "or",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CmpOp {
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
    Is,
    IsNot,
    In,
    NotIn,
}

impl CmpOp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "==",
            CmpOp::NotEq => "!=",
            CmpOp::Lt => "<",
            CmpOp::LtE => "<=",
            CmpOp::Gt => ">",
            CmpOp::GtE => ">=",
            CmpOp::Is => "is",
            CmpOp::IsNot => "is not",
            CmpOp::In => "in",
            CmpOp::NotIn => "not in",
        }
    }
}
