//! Reading a case file: TOML to [`Case`], with every error at its place.
//!
//! The format is described in `docs/interpreter.md`. Strings in it are expressions ([`super::expr`]); they are parsed
//! here and evaluated when a configuration is chosen ([`super::config`]).

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::expr::Expression;
use super::value::{Env, Value};
use crate::diag::Diagnostic;
use crate::diag::codes::interp as codes;
use crate::irgen::types::Dtype;
use crate::source::{FileId, SourceMap, Span};

/// A case file.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's stem.
    pub name: String,
    pub file: FileId,
    /// The kernel's file, relative to the case file's folder; by default the case file's name with `.tk`.
    pub source: Option<String>,
    pub kernel: Option<String>,
    /// The name of the reference, by default the case's.
    pub reference: String,
    pub(super) grid: Vec<Expression>,
    pub(super) requires: Option<Expression>,
    /// The parameters, each with the values that it takes. The first value is the default.
    pub params: Vec<(String, Vec<Value>)>,
    pub(super) constants: Vec<(String, Expression)>,
    pub(super) args: Vec<ArgSpec>,
    /// How many bytes the case's buffers may take, see [`crate::interp::RunOptions::max_memory`].
    pub max_memory: u64,
    pub bench: BenchSpec,
    pub tune: TuneSpec,
}

/// Names, each with the values that it takes.
pub type Lists = Vec<(String, Vec<Value>)>;

/// The table `[bench]`: what `ttc bench` measures.
#[derive(Clone, Debug, Default)]
pub struct BenchSpec {
    /// The bytes that a launch has to move.
    pub(super) bytes: Option<Expression>,
    /// The floating-point operations of a launch.
    pub(super) flops: Option<Expression>,
    /// Values of parameters, instead of those of `[params]`.
    pub params: Lists,
}

/// The table `[tune]`: what `ttc tune` tries.
#[derive(Clone, Debug, Default)]
pub struct TuneSpec {
    /// Values of parameters, instead of those of `[params]`. Each combination is tuned by itself.
    pub params: Lists,
    /// Compile-time parameters and options of the compilation. Each combination is tried.
    pub space: Lists,
    /// Combinations that are tried as well.
    pub configs: Vec<Vec<(String, Value)>>,
    /// Combinations of the space of which this is false are left out.
    pub(super) requires: Option<Expression>,
    /// The values that tell one use of the kernel from another.
    pub key: Vec<String>,
}

/// The table `[args.NAME]`.
#[derive(Clone, Debug)]
pub(super) struct ArgSpec {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kind: ArgKind,
    pub(super) divisibility: Option<Expression>,
}

#[derive(Clone, Debug)]
pub(super) enum ArgKind {
    Scalar { value: Expression, dtype: Option<Expression> },
    Buffer(BufferSpec),
}

#[derive(Clone, Debug)]
pub(super) struct BufferSpec {
    pub(super) shape: Vec<Expression>,
    pub(super) dtype: Expression,
    pub(super) fill: Option<Expression>,
    pub(super) out: bool,
    pub(super) tolerance: Vec<(Option<Dtype>, Expression)>,
    /// The shape of the blocks if the parameter is a descriptor; empty for a pointer.
    pub(super) block: Vec<Expression>,
}

/// Reads the text of a case file that is in the map.
///
/// # Errors
/// `E1017` for each thing that is wrong.
pub fn read(sources: &SourceMap, file: FileId) -> Result<Case, Vec<Diagnostic>> {
    let source = sources.file(file);
    let stem = source
        .path
        .as_deref()
        .and_then(|p| p.file_stem())
        .map_or_else(|| "case".to_owned(), |s| s.to_string_lossy().into_owned());
    let text = source.text.clone();
    let (table, errors) = DeTable::parse_recoverable(&text);
    let mut r = Reader { file, errors: vec![] };
    for e in errors {
        r.error(e.span().unwrap_or(0..0), e.message().to_owned());
    }
    if !r.errors.is_empty() {
        return Err(r.errors);
    }
    let case = r.case(stem, table.get_ref());
    if r.errors.is_empty() { Ok(case) } else { Err(r.errors) }
}

struct Reader {
    file: FileId,
    errors: Vec<Diagnostic>,
}

type Item<'a> = Spanned<DeValue<'a>>;

impl Reader {
    fn span(&self, range: &Range<usize>) -> Span {
        Span { file: self.file, lo: range.start as u32, hi: range.end as u32 }
    }

    fn error(&mut self, range: Range<usize>, message: String) {
        let span = self.span(&range);
        self.errors.push(Diagnostic::error(&codes::BAD_CASE, message).at(span, ""));
    }

    /// The entries of a table in the order of the file.
    fn entries<'a, 'i>(&self, table: &'a DeTable<'i>) -> Vec<(String, Range<usize>, &'a Item<'i>)> {
        let mut all: Vec<_> = table.iter().map(|(k, v)| (k.get_ref().to_string(), k.span(), v)).collect();
        all.sort_by_key(|(_, span, _)| span.start);
        all
    }

    fn case(&mut self, name: String, table: &DeTable<'_>) -> Case {
        let mut case = Case {
            reference: name.clone(),
            name,
            file: self.file,
            source: None,
            kernel: None,
            grid: vec![],
            requires: None,
            params: vec![],
            constants: vec![],
            args: vec![],
            max_memory: crate::interp::MAX_MEMORY,
            bench: BenchSpec::default(),
            tune: TuneSpec::default(),
        };
        for (key, span, item) in self.entries(table) {
            match key.as_str() {
                "file" => case.source = self.text(item),
                "kernel" => case.kernel = self.text(item),
                "reference" => case.reference = self.text(item).unwrap_or_default(),
                "grid" => case.grid = self.expressions(item),
                "requires" => case.requires = self.expression(item),
                "params" => case.params = self.lists(item),
                "bench" => case.bench = self.bench(item),
                "tune" => case.tune = self.tune(item),
                "constants" => {
                    for (name, _, item) in self.table(item) {
                        case.constants.extend(self.expression(item).map(|e| (name, e)));
                    }
                }
                "args" => {
                    for (name, span, item) in self.table(item) {
                        case.args.extend(self.arg(name, span, item));
                    }
                }
                _ => {
                    self.unknown(
                        &key,
                        span,
                        &[
                            "kernel",
                            "file",
                            "reference",
                            "grid",
                            "requires",
                            "[params]",
                            "[constants]",
                            "[args.NAME]",
                            "[bench]",
                            "[tune]",
                        ],
                    );
                }
            }
        }
        if !(1..=3).contains(&case.grid.len()) && self.errors.is_empty() {
            self.error(0..0, "a case needs `grid`, a list of one to three expressions".to_owned());
        }
        case
    }

    fn bench(&mut self, item: &Item<'_>) -> BenchSpec {
        let mut bench = BenchSpec::default();
        for (key, span, item) in self.table(item) {
            match key.as_str() {
                "bytes" => bench.bytes = self.expression(item),
                "flops" => bench.flops = self.expression(item),
                "params" => bench.params = self.lists(item),
                _ => self.unknown(&key, span, &["bytes", "flops", "params"]),
            }
        }
        bench
    }

    fn tune(&mut self, item: &Item<'_>) -> TuneSpec {
        let mut tune = TuneSpec::default();
        for (key, span, item) in self.table(item) {
            match key.as_str() {
                "params" => tune.params = self.lists(item),
                "space" => tune.space = self.lists(item),
                "requires" => tune.requires = self.expression(item),
                "key" => tune.key = self.texts(item),
                "configs" => match item.get_ref().as_array() {
                    Some(items) => tune.configs = items.iter().map(|i| self.settings(i)).collect(),
                    None => self.error(span, "`configs` is a list of tables".to_owned()),
                },
                _ => self.unknown(&key, span, &["params", "space", "configs", "requires", "key"]),
            }
        }
        tune
    }

    /// Reads a table of names with their values.
    fn lists(&mut self, item: &Item<'_>) -> Lists {
        self.table(item).into_iter().map(|(name, _, item)| (name, self.values(item))).collect()
    }

    /// Reads a table of names with one value each.
    fn settings(&mut self, item: &Item<'_>) -> Vec<(String, Value)> {
        self.table(item).into_iter().filter_map(|(name, _, item)| Some((name, self.literal(item)?))).collect()
    }

    /// Reads a list of texts, or one alone.
    fn texts(&mut self, item: &Item<'_>) -> Vec<String> {
        match item.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|i| self.text(i)).collect(),
            None => self.text(item).into_iter().collect(),
        }
    }

    fn arg(&mut self, name: String, span: Range<usize>, item: &Item<'_>) -> Option<ArgSpec> {
        let (mut shape, mut dtype, mut fill, mut out, mut tolerance) = (None, None, None, false, vec![]);
        let (mut value, mut divisibility) = (None, None);
        let mut block = vec![];
        for (key, at, item) in self.table(item) {
            match key.as_str() {
                "shape" => shape = Some(self.expressions(item)),
                "dtype" => dtype = self.expression(item),
                "fill" => fill = self.expression(item),
                "out" => out = self.truth(item),
                "tolerance" => tolerance = self.tolerance(item),
                "block" => block = self.expressions(item),
                "value" => value = self.expression(item),
                "divisibility" => divisibility = self.expression(item),
                _ => self.unknown(
                    &key,
                    at,
                    &[
                        "shape",
                        "dtype",
                        "fill",
                        "out",
                        "tolerance",
                        "block",
                        "divisibility",
                        "or value and dtype of a scalar",
                    ],
                ),
            }
        }
        let kind = match (value, shape, dtype) {
            (Some(value), None, dtype) => ArgKind::Scalar { value, dtype },
            (None, Some(shape), Some(dtype)) => {
                ArgKind::Buffer(BufferSpec { shape, dtype, fill, out, tolerance, block })
            }
            _ => {
                self.error(
                    span,
                    format!("the argument `{name}` needs either `value` (a scalar) or `shape` and `dtype` (a buffer)"),
                );
                return None;
            }
        };
        let span = self.span(&span);
        Some(ArgSpec { name, span, kind, divisibility })
    }

    fn tolerance(&mut self, item: &Item<'_>) -> Vec<(Option<Dtype>, Expression)> {
        if item.get_ref().as_table().is_none() {
            return self.expression(item).map(|e| (None, e)).into_iter().collect();
        }
        let mut out = vec![];
        for (key, span, item) in self.table(item) {
            let Some(dtype) = Dtype::parse(&key) else {
                self.error(span, format!("`{key}` is no dtype"));
                continue;
            };
            out.extend(self.expression(item).map(|e| (Some(dtype), e)));
        }
        out
    }

    fn unknown(&mut self, key: &str, span: Range<usize>, known: &[&str]) {
        self.error(span, format!("`{key}` means nothing here; there are {}", known.join(", ")));
    }

    fn table<'a, 'i>(&mut self, item: &'a Item<'i>) -> Vec<(String, Range<usize>, &'a Item<'i>)> {
        if let Some(table) = item.get_ref().as_table() {
            return self.entries(table);
        }
        self.error(item.span(), format!("expected a table, found {}", item.get_ref().type_str()));
        vec![]
    }

    fn text(&mut self, item: &Item<'_>) -> Option<String> {
        let text = item.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.error(item.span(), format!("expected a string, found {}", item.get_ref().type_str()));
        }
        text
    }

    fn truth(&mut self, item: &Item<'_>) -> bool {
        item.get_ref().as_bool().unwrap_or_else(|| {
            self.error(item.span(), format!("expected true or false, found {}", item.get_ref().type_str()));
            false
        })
    }

    /// Reads a list of expressions, or one alone.
    fn expressions(&mut self, item: &Item<'_>) -> Vec<Expression> {
        match item.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|i| self.expression(i)).collect(),
            None => self.expression(item).into_iter().collect(),
        }
    }

    /// Reads a string that holds an expression, or a plain number or truth value.
    fn expression(&mut self, item: &Item<'_>) -> Option<Expression> {
        let text = match item.get_ref() {
            DeValue::String(s) => s.to_string(),
            _ => self.literal(item)?.to_define(),
        };
        match Expression::parse(&text, self.span(&item.span())) {
            Ok(e) => Some(e),
            Err(why) => {
                self.error(item.span(), format!("`{text}` is no expression: {why}"));
                None
            }
        }
    }

    /// Reads the values of a parameter: a list, or one alone. A string is text here, not an expression.
    fn values(&mut self, item: &Item<'_>) -> Vec<Value> {
        let values: Vec<Value> = match item.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|i| self.literal(i)).collect(),
            None => self.literal(item).into_iter().collect(),
        };
        if values.is_empty() && self.errors.is_empty() {
            self.error(item.span(), "a parameter needs at least one value".to_owned());
        }
        values
    }

    fn literal(&mut self, item: &Item<'_>) -> Option<Value> {
        let value = match item.get_ref() {
            DeValue::String(s) => Some(Value::Str(s.to_string())),
            DeValue::Boolean(b) => Some(Value::Bool(*b)),
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(Value::Int),
            DeValue::Float(f) => f.as_str().parse().ok().map(Value::Float),
            _ => None,
        };
        if value.is_none() {
            self.error(
                item.span(),
                format!("expected a number, a string or a truth value, found {}", item.get_ref().type_str()),
            );
        }
        value
    }
}

/// Makes an error at an expression.
pub(super) fn bad(e: &Expression, why: &str) -> Diagnostic {
    Diagnostic::error(&codes::BAD_CASE, format!("`{}`: {why}", e.text)).at(e.span, "")
}

impl Expression {
    pub(super) fn eval(&self, env: &Env) -> Result<Value, Diagnostic> {
        self.value(env).map_err(|why| bad(self, &why))
    }

    pub(super) fn int(&self, env: &Env) -> Result<i64, Diagnostic> {
        let v = self.eval(env)?;
        v.as_int().ok_or_else(|| bad(self, &format!("expected an integer, found {v}")))
    }

    pub(super) fn float(&self, env: &Env) -> Result<f64, Diagnostic> {
        let v = self.eval(env)?;
        v.as_f64().ok_or_else(|| bad(self, &format!("expected a number, found {v}")))
    }

    /// Computes an extent, which may be up to 2^40.
    pub(super) fn size(&self, env: &Env) -> Result<usize, Diagnostic> {
        let v = self.int(env)?;
        usize::try_from(v).ok().filter(|v| *v <= 1 << 40).ok_or_else(|| bad(self, &format!("{v} is no size")))
    }

    pub(super) fn dtype(&self, env: &Env) -> Result<Dtype, Diagnostic> {
        let v = self.eval(env)?;
        let name = match &v {
            Value::Str(s) => s.as_str(),
            Value::Name(n) => n.rsplit('.').next().unwrap_or(n),
            _ => "",
        };
        Dtype::parse(name).filter(|d| *d != Dtype::Void).ok_or_else(|| bad(self, &format!("{v} is no dtype")))
    }
}
