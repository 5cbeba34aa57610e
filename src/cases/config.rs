//! Configurations of a case: one value for each parameter, and what follows from them for a launch.

use super::expr::Expression;
use super::random::{self, Fill};
use super::spec::{ArgKind, ArgSpec, BufferSpec, Case, bad};
use super::value::{Env, Value};
use crate::diag::Diagnostic;
use crate::diag::codes::interp as codes;
use crate::driver::{JobOptions, Pipelining, Preset};
use crate::interp::{Budget, MAX_DESCRIPTOR_RANK};
use crate::irgen::front::signature::parse_type;
use crate::irgen::types::Dtype;
use crate::irgen::{KernelInfo, Source};
use crate::launch::grid;
use crate::parser::ast::{Expr, ExprKind};

/// Parameters that are options of the compilation. They are no part of what a kernel computes.
pub const COMPILE_OPTIONS: [&str; 5] = ["num_warps", "num_stages", "num_ctas", "maxnreg", PIPELINE];

/// That of them whose value is no number: choices of the software pipeliner.
pub const PIPELINE: &str = "pipeline";

/// One value for each parameter of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The parameters and their values, in the order of the file.
    pub params: Vec<(String, Value)>,
}

impl Config {
    pub(super) fn env(&self) -> Env {
        self.params.iter().cloned().collect()
    }

    /// The configuration without the options of the compilation. Configurations with equal keys compute the same.
    #[must_use]
    pub fn meaning(&self) -> Config {
        let kept = self.params.iter().filter(|(n, _)| !COMPILE_OPTIONS.contains(&n.as_str()));
        Config { params: kept.cloned().collect() }
    }
}

/// Shows the parameters: `m=37 n=781 dtype=fp32`.
impl std::fmt::Display for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = self.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
        f.write_str(&parts.join(" "))
    }
}

/// One configuration as a launch sees it.
#[derive(Clone, Debug)]
pub struct Instance {
    pub config: Config,
    /// Parameters, constants and scalar arguments by name.
    pub values: Env,
    pub grid: [u32; 3],
    /// The arguments in the order of the kernel's parameters, without the compile-time ones.
    pub args: Vec<InstanceArg>,
    /// The options of the compilation, with signature and defines.
    pub options: JobOptions,
}

/// An argument of an [`Instance`].
#[derive(Clone, Debug)]
pub enum InstanceArg {
    Scalar { name: String, dtype: Dtype, value: Value },
    Buffer(Buffer),
}

impl InstanceArg {
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            InstanceArg::Scalar { name, .. } => name,
            InstanceArg::Buffer(b) => &b.name,
        }
    }
}

/// A buffer of an [`Instance`].
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub fill: Fill,
    pub seed: u64,
    /// Whether the buffer is compared with the reference.
    pub out: bool,
    /// The largest `|got - want| / max(1, |want|)` that passes. `None` asks for equality.
    pub tolerance: Option<f64>,
    /// The shape of the blocks if the argument is a descriptor; empty for a pointer.
    pub block: Vec<usize>,
}

impl Buffer {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The contents before the launch. They are zero where nothing is filled in.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        random::encode(self.dtype, random::values(&self.fill, self.seed, self.len()))
    }
}

pub(super) type Try<T> = Result<T, Diagnostic>;

impl Case {
    /// All combinations of the parameters' values that `requires` lets through. The last parameter varies fastest.
    pub fn configs(&self) -> Try<Vec<Config>> {
        let mut all = vec![vec![]];
        for (name, values) in &self.params {
            let longer = |c: &Vec<(String, Value)>| {
                values
                    .iter()
                    .map(|v| c.iter().cloned().chain([(name.clone(), v.clone())]).collect())
                    .collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        self.allowed(all.into_iter().map(|params| Config { params }))
    }

    /// The configuration of each parameter's first value.
    pub fn default_config(&self) -> Config {
        Config { params: self.params.iter().filter_map(|(n, v)| Some((n.clone(), v.first()?.clone()))).collect() }
    }

    /// At most so many of all configurations, spread evenly over them.
    pub fn spread(&self, most: usize) -> Try<Vec<Config>> {
        let all = self.configs()?;
        let take = all.len().min(most);
        Ok((0..take).map(|i| all[i * all.len() / take].clone()).collect())
    }

    /// The default, and every configuration that differs from it in one parameter other than the options of the
    /// compilation.
    pub fn neighbours(&self) -> Try<Vec<Config>> {
        let default = self.default_config();
        let mut all = vec![default.clone()];
        for (at, (name, values)) in self.params.iter().enumerate() {
            if COMPILE_OPTIONS.contains(&name.as_str()) {
                continue;
            }
            for v in values.iter().skip(1) {
                let mut one = default.clone();
                one.params[at].1 = v.clone();
                all.push(one);
            }
        }
        self.allowed(all)
    }

    pub(super) fn allowed(&self, all: impl IntoIterator<Item = Config>) -> Try<Vec<Config>> {
        let mut out = vec![];
        for config in all {
            let keep = match &self.requires {
                Some(e) => e.eval(&self.environment(&config)?)?.is_true(),
                None => true,
            };
            if keep {
                out.push(config);
            }
        }
        Ok(out)
    }

    /// Sets a parameter of a configuration from its text, as the command line gives it.
    pub fn set(&self, config: &mut Config, name: &str, text: &str) -> Try<()> {
        let Some(slot) = config.params.iter_mut().find(|(n, _)| n == name) else {
            let known: Vec<&str> = self.params.iter().map(|(n, _)| n.as_str()).collect();
            return Err(Diagnostic::error(
                &codes::BAD_CASE,
                format!("the case `{}` has no parameter `{name}`", self.name),
            )
            .help(format!("its parameters are {}", known.join(", "))));
        };
        slot.1 = value_of(text);
        Ok(())
    }

    /// The values of parameters and constants. A constant may use those before it.
    pub(super) fn environment(&self, config: &Config) -> Try<Env> {
        let mut env = config.env();
        for (name, e) in &self.constants {
            // A configuration that is tried may say the value of a constant.
            if config.params.iter().all(|(n, _)| n != name) {
                let value = e.eval(&env)?;
                env.insert(name.clone(), value);
            }
        }
        Ok(env)
    }

    /// Works out what a configuration means for a compilation of a kernel. Its buffers are not filled, so their sizes
    /// do not matter.
    ///
    /// # Errors
    /// Those of [`Case::instance`] that are not about memory.
    pub fn preset(&self, kernel: &KernelInfo, config: &Config) -> Result<Preset, Vec<Diagnostic>> {
        let env = self.environment(config).map_err(|d| vec![d])?;
        self.launch_grid(&env).map_err(|d| vec![d])?;
        let what = self.what(kernel, &env, &mut |_, _| Ok(()))?;
        let options = self.compile_options(&env).map_err(|d| vec![d])?;
        let grid = self.grid_of_kernel(&what.defines);
        Ok(Preset {
            grid,
            kernel: Some(kernel.name.clone()),
            signature: Some(what.items.join(", ")),
            defines: what.defines,
            given: options.given(),
            pipelining: options.pipelining,
        })
    }

    /// The items of the signature and the compile-time values that a kernel gets. `argument` is called for each
    /// argument with the annotation of its parameter.
    fn what<'c>(
        &'c self,
        kernel: &KernelInfo,
        env: &Env,
        argument: &mut dyn FnMut(&'c ArgSpec, Option<&str>) -> Try<()>,
    ) -> Result<What, Vec<Diagnostic>> {
        let unknown = self.args.iter().filter(|a| kernel.params.iter().all(|p| p.name != a.name));
        let mut errors: Vec<Diagnostic> = unknown
            .map(|a| {
                Diagnostic::error(
                    &codes::BAD_CASE,
                    format!("the kernel `{}` has no parameter `{}`", kernel.name, a.name),
                )
                .at(a.span, "")
            })
            .collect();
        let mut what = What::default();
        for p in &kernel.params {
            if let Some(spec) = self.args.iter().find(|a| a.name == p.name) {
                let made = item(spec, p.ty.as_deref(), env).and_then(|item| {
                    what.items.push(item);
                    argument(spec, p.ty.as_deref())
                });
                errors.extend(made.err());
            } else if let Some(value) = env.get(&p.name) {
                what.items.push("constexpr".to_owned());
                what.defines.push((p.name.clone(), value.to_define()));
            } else if p.value.is_some() || p.source == Some(Source::Heuristic) {
                what.items.push("constexpr".to_owned());
            } else {
                let message =
                    format!("the kernel's parameter `{}` has neither an argument nor a value in the case", p.name);
                errors.push(Diagnostic::error(&codes::BAD_CASE, message).at(self.place(), ""));
            }
        }
        if errors.is_empty() { Ok(what) } else { Err(errors) }
    }

    /// Works out what a configuration means for a kernel.
    pub fn instance(&self, kernel: &KernelInfo, config: &Config) -> Result<Instance, Vec<Diagnostic>> {
        let env = self.environment(config).map_err(|d| vec![d])?;
        let grid = self.launch_grid(&env).map_err(|d| vec![d])?;
        let (mut values, mut args) = (env.clone(), vec![]);
        let mut budget = Budget::new(self.max_memory);
        let What { items, defines } = self.what(kernel, &env, &mut |spec, annotation| {
            args.extend(self.argument(spec, annotation, &env, &mut budget)?);
            // This also holds for an argument that is folded into the kernel.
            if let ArgKind::Scalar { value, .. } = &spec.kind {
                values.insert(spec.name.clone(), value.eval(&env)?);
            }
            Ok(())
        })?;
        let options = JobOptions {
            signature: Some(items.join(", ")),
            defines,
            ..self.compile_options(&env).map_err(|d| vec![d])?
        };
        Ok(Instance { config: config.clone(), values, grid, args, options })
    }

    fn place(&self) -> crate::source::Span {
        crate::source::Span { file: self.file, lo: 0, hi: 0 }
    }

    fn launch_grid(&self, env: &Env) -> Try<[u32; 3]> {
        let mut grid = [1; 3];
        for (slot, e) in grid.iter_mut().zip(&self.grid) {
            let v = e.int(env)?;
            *slot = u32::try_from(v)
                .ok()
                .filter(|v| *v > 0)
                .ok_or_else(|| bad(e, &format!("{v} is no number of programs")))?;
        }
        Ok(grid)
    }

    /// The grid in the words of the kernel: over integer arguments and compile-time values that have the name and the
    /// value of a parameter of the case. `None` where it needs something else, or nothing: a number alone says how many
    /// programs the case has, and not how many the kernel needs for other arguments.
    fn grid_of_kernel(&self, defines: &[(String, String)]) -> Option<String> {
        let same = |a: &&ArgSpec| {
            let value = match &a.kind {
                ArgKind::Scalar { value, .. } => value.expr.as_name(),
                ArgKind::Buffer(_) => None,
            };
            value == Some(a.name.as_str())
        };
        let integers: Vec<&str> = self.args.iter().filter(same).map(|a| a.name.as_str()).collect();
        let constants = defines.iter().cloned().collect();
        let text = self.grid.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join(", ");
        let axes = grid::parse(&text, &constants, &integers).ok()?;
        axes.iter().any(|axis| !matches!(axis, grid::Expr::Int(_))).then_some(text)
    }

    fn compile_options(&self, env: &Env) -> Try<JobOptions> {
        let mut options = JobOptions::default();
        let JobOptions { num_warps, num_stages, num_ctas, maxnreg, .. } = &mut options;
        for (name, slot) in COMPILE_OPTIONS.iter().zip([num_warps, num_stages, num_ctas, maxnreg]) {
            if let Some(v) = env.get(*name) {
                let number = v.as_int().and_then(|v| u32::try_from(v).ok()).ok_or_else(|| {
                    Diagnostic::error(&codes::BAD_CASE, format!("`{name}` is {v}, expected a small integer"))
                        .at(self.place(), "")
                })?;
                *slot = Some(number);
            }
        }
        if let Some(v) = env.get(PIPELINE) {
            let chosen = match v {
                Value::Str(text) => Pipelining::parse(text),
                _ => Err(format!("`{PIPELINE}` is {v}, expected a text")),
            };
            let chosen = chosen.map_err(|message| Diagnostic::error(&codes::BAD_CASE, message).at(self.place(), ""))?;
            options.pipelining = Some(chosen);
        }
        Ok(options)
    }

    /// Makes the argument, unless it is folded into the kernel.
    fn argument(
        &self,
        spec: &ArgSpec,
        annotation: Option<&str>,
        env: &Env,
        budget: &mut Budget,
    ) -> Try<Option<InstanceArg>> {
        match &spec.kind {
            ArgKind::Buffer(b) => Ok(Some(InstanceArg::Buffer(self.buffer(&spec.name, b, env, budget)?))),
            ArgKind::Scalar { value, dtype } => {
                let (dtype, v) = scalar(value, dtype.as_ref(), annotation, env)?;
                let folded = scalar_hint(spec, dtype, &v, env)? == ":1";
                Ok((!folded).then(|| InstanceArg::Scalar { name: spec.name.clone(), dtype, value: v }))
            }
        }
    }

    fn buffer(&self, name: &str, spec: &BufferSpec, env: &Env, budget: &mut Budget) -> Try<Buffer> {
        let shape: Vec<usize> = spec.shape.iter().map(|e| e.size(env)).collect::<Try<_>>()?;
        let dtype = spec.dtype.dtype(env)?;
        let n = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|n| *n <= 1 << 40);
        let n = n.ok_or_else(|| bad(&spec.dtype, &format!("the buffer `{name}` of shape {shape:?} is too large")))?;
        let size = n as u64 * random::element_size(dtype) as u64;
        budget
            .take(&format!("the buffer `{name}`"), size * if spec.fill.is_some() { 1 } else { 2 })
            .map_err(|d| d.at(spec.dtype.span, ""))?;
        let fill = spec.fill.as_ref().map_or(Ok(Fill::Poison), |e| fill(e, env, n, budget))?;
        let of_type = spec.tolerance.iter().find(|(d, _)| d.is_none_or(|d| d == dtype));
        let tolerance = of_type.map(|(_, e)| e.float(env)).transpose()?;
        let seed = random::seed(&self.name, name, &shape);
        let block: Vec<usize> = spec.block.iter().map(|e| e.size(env)).collect::<Try<_>>()?;
        if !block.is_empty() && (block.len() != shape.len() || block.len() > MAX_DESCRIPTOR_RANK) {
            let text = format!(
                "blocks of `{name}` have {} axes, and the buffer {}; descriptors have 1 to 5",
                block.len(),
                shape.len()
            );
            return Err(bad(&spec.dtype, &text));
        }
        Ok(Buffer { name: name.to_owned(), dtype, shape, fill, seed, out: spec.out, tolerance, block })
    }
}

/// The value of a parameter by its text, as the command line gives it. What is no expression is a text.
#[must_use]
pub fn value_of(text: &str) -> Value {
    let nowhere = crate::source::Span { file: crate::source::FileId(0), lo: 0, hi: 0 };
    match Expression::parse(text, nowhere).and_then(|e| e.value(&Env::new())) {
        Ok(Value::Name(n)) => Value::Str(n),
        Ok(v) => v,
        Err(_) => Value::Str(text.to_owned()),
    }
}

/// What a kernel is compiled for.
#[derive(Default)]
struct What {
    /// The items of the signature.
    items: Vec<String>,
    defines: Vec<(String, String)>,
}

/// Makes the item of the signature for an argument.
fn item(spec: &ArgSpec, annotation: Option<&str>, env: &Env) -> Try<String> {
    match &spec.kind {
        ArgKind::Buffer(b) => {
            let dtype = signature_word(b.dtype.dtype(env)?);
            if !b.block.is_empty() {
                let block: Vec<usize> = b.block.iter().map(|e| e.size(env)).collect::<Try<_>>()?;
                return Ok(format!("tensordesc<{dtype}{block:?}>"));
            }
            let divisibility = spec.divisibility.as_ref().map(|d| d.int(env)).transpose()?;
            Ok(format!("*{dtype}{}", if divisibility.unwrap_or(16) % 16 == 0 { ":16" } else { "" }))
        }
        ArgKind::Scalar { value, dtype } => {
            let (dtype, v) = scalar(value, dtype.as_ref(), annotation, env)?;
            Ok(format!("{}{}", signature_word(dtype), scalar_hint(spec, dtype, &v, env)?))
        }
    }
}

/// The type and the value of a scalar.
fn scalar(value: &Expression, given: Option<&Expression>, annotation: Option<&str>, env: &Env) -> Try<(Dtype, Value)> {
    let v = value.eval(env)?;
    let annotated = annotation.and_then(|a| parse_type(a.split(':').next().unwrap_or(a))).map(|t| t.dtype);
    let dtype = match (given, annotated) {
        (Some(e), _) => e.dtype(env)?,
        (None, Some(d)) => d,
        (None, None) => scalar_type(&v).ok_or_else(|| bad(value, &format!("{v} is no run-time argument")))?,
    };
    if v.as_f64().is_none() || (!dtype.is_float() && v.as_int().is_none()) {
        return Err(bad(value, &format!("{v} is no {}", dtype.name())));
    }
    Ok((dtype, v))
}

/// What the signature says of a scalar behind its type. As in Triton's launcher, an integer 1 is folded in (`:1`) and
/// is no argument.
fn scalar_hint(spec: &ArgSpec, dtype: Dtype, v: &Value, env: &Env) -> Try<&'static str> {
    let divisibility = spec.divisibility.as_ref().map(|d| d.int(env)).transpose()?;
    Ok(match (divisibility, v.as_int()) {
        (_, None) => "",
        (Some(d), _) if d % 16 == 0 => ":16",
        (Some(_), _) => "",
        (None, Some(1)) if dtype.is_int() && !dtype.is_bool() => ":1",
        (None, Some(n)) if dtype.is_int() && !dtype.is_bool() && n % 16 == 0 => ":16",
        (None, _) => "",
    })
}

/// The word for a dtype in a signature. A truth value is `i1`.
fn signature_word(dtype: Dtype) -> String {
    if dtype.is_bool() { "i1".to_owned() } else { dtype.short() }
}

/// The type that Triton's launcher gives to a Python value.
fn scalar_type(v: &Value) -> Option<Dtype> {
    Some(match v {
        Value::Bool(_) => Dtype::Int1,
        Value::Int(v) if i32::try_from(*v).is_ok() => Dtype::Int32,
        Value::Int(_) => Dtype::Int64,
        Value::Float(_) => Dtype::Fp32,
        Value::None | Value::Str(_) | Value::Name(_) => return None,
    })
}

/// Reads `fill = "…"` for a buffer of `n` elements.
pub(super) fn fill(e: &Expression, env: &Env, n: usize, budget: &mut Budget) -> Try<Fill> {
    let (name, args): (&str, &[Expr]) = match &e.expr.kind {
        ExprKind::Name(name) => (name, &[]),
        ExprKind::Call(call) => (call.func.dotted().and_then(|p| p.last().copied()).unwrap_or_default(), &call.args),
        _ => ("", &[]),
    };
    let numbers = || {
        args.iter()
            .map(|a| super::expr::evaluate(a, env).and_then(|v| v.as_f64().ok_or_else(|| format!("{v} is no number"))))
            .collect::<Result<Vec<f64>, String>>()
            .map_err(|why| bad(e, &why))
    };
    let whole = |v: f64| v as i64;
    Ok(match name {
        "normal" => match numbers()?.as_slice() {
            [] => Fill::Normal(0.0, 1.0),
            [mean, deviation] => Fill::Normal(*mean, *deviation),
            _ => return Err(bad(e, "`normal` takes nothing, or mean and standard deviation")),
        },
        "uniform" => match numbers()?.as_slice() {
            [] => Fill::Uniform(0.0, 1.0),
            [lo, hi] if lo <= hi => Fill::Uniform(*lo, *hi),
            _ => return Err(bad(e, "`uniform` takes nothing, or a lower and an upper bound")),
        },
        "randint" => match numbers()?.as_slice() {
            [lo, hi] if lo < hi => Fill::Randint(whole(*lo), whole(*hi)),
            _ => return Err(bad(e, "`randint` takes the least value, and one above the greatest")),
        },
        "constant" => match numbers()?.as_slice() {
            [c] => Fill::Constant(*c),
            _ => return Err(bad(e, "`constant` takes one number")),
        },
        "each" => {
            let values = numbers()?;
            if values.len() != n {
                return Err(bad(e, &format!("the buffer has {n} elements, and this lists {}", values.len())));
            }
            Fill::Each(values)
        }
        "zeros" => Fill::Constant(0.0),
        "ones" => Fill::Constant(1.0),
        "arange" => Fill::Arange,
        "permutation" => {
            budget.take("a permutation", 8 * n as u64).map_err(|d| d.at(e.span, ""))?;
            Fill::Permutation
        }
        "poison" => Fill::Poison,
        _ => {
            budget
                .take(&format!("`{}`, an expression for each element,", e.text), 8 * n as u64)
                .map_err(|d| d.at(e.span, ""))?;
            let mut env = env.clone();
            let mut each = |i: usize| {
                env.insert("i".to_owned(), Value::Int(i as i64));
                e.float(&env)
            };
            Fill::Each((0..n).map(&mut each).collect::<Try<_>>()?)
        }
    })
}
