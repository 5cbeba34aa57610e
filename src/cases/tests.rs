//! Tests of case files: those that are wrong say where (E1017), and those that are right mean what they say.

use super::config::{Instance, InstanceArg};
use super::random::Fill;
use super::{Case, Config, Value, spec};
use crate::diag::{Diagnostic, Place};
use crate::irgen::{KernelInfo, KernelParam, Kind, Template};
use crate::source::SourceMap;

fn read(text: &str) -> Result<Case, Vec<String>> {
    let mut map = SourceMap::default();
    let file = map.add("k.toml", Some("k.toml".as_ref()), text);
    spec::read(&map, file).map_err(|d| shown(&map, d))
}

/// `line: message` of each diagnostic. All of them must be E1017.
fn shown(map: &SourceMap, diagnostics: Vec<Diagnostic>) -> Vec<String> {
    let line = |d: &Diagnostic| match d.place() {
        Some(Place::Span(s)) => map.line_col(*s).line,
        _ => 0,
    };
    assert!(diagnostics.iter().all(|d| d.code.id == "E1017"), "{diagnostics:?}");
    diagnostics.iter().map(|d| format!("{}: {}", line(d), d.message)).collect()
}

fn kernel(params: &[(&str, Option<&str>, Option<&str>)]) -> KernelInfo {
    let param = |&(name, ty, value): &(&str, Option<&str>, Option<&str>)| KernelParam {
        name: name.to_owned(),
        kind: Kind::Scalar,
        annotation: None,
        ty: ty.map(str::to_owned),
        value: value.map(str::to_owned),
        source: None,
        needed: value.is_none(),
        guess: None,
        stored: false,
    };
    KernelInfo {
        name: "k".to_owned(),
        full_name: "k".to_owned(),
        line: 1,
        entry: true,
        params: params.iter().map(param).collect(),
        heuristics: vec![],
        template: Template::default(),
        configs: Ok(vec![]),
        key: vec![],
    }
}

fn instance(text: &str, params: &[(&str, Option<&str>, Option<&str>)], at: usize) -> Instance {
    let case = read(text).unwrap();
    let config = case.configs().unwrap()[at].clone();
    case.instance(&kernel(params), &config).unwrap()
}

#[test]
fn wrong_files_say_where() {
    for (text, want) in [
        (
            "grid = [1]\nkernal = 'k'",
            vec![
                "2: `kernal` means nothing here; there are kernel, file, reference, grid, requires, [params], [constants], [args.NAME]",
            ],
        ),
        ("grid = 'n +'", vec!["1: `n +` is no expression"]),
        ("grid = [1, 2, 3, 4]", vec!["1: a case needs `grid`, a list of one to three expressions"]),
        (
            "[args.x]\nshape = ['n']",
            vec!["1: the argument `x` needs either `value` (a scalar) or `shape` and `dtype` (a buffer)"],
        ),
        ("grid = [1]\n[args.x]\nvalue = 1\nout = 3", vec!["4: expected true or false, found integer"]),
        ("grid = [1]\n[params]\nn = []", vec!["3: a parameter needs at least one value"]),
        ("grid = [1]\n[params]\nn = [[1]]", vec!["3: expected a number, a string or a truth value, found array"]),
        ("grid = [1]\nparams = 3", vec!["2: expected a table, found integer"]),
        ("grid = [1]\n[args.x]\nshape = 'n'\ndtype = 'fp32'\ntolerance = { fp33 = 1 }", vec!["5: `fp33` is no dtype"]),
    ] {
        let got = read(text).unwrap_err();
        assert!(got.len() == want.len() && got.iter().zip(&want).all(|(g, w)| g.starts_with(w)), "{text}\n{got:#?}");
    }
    assert!(read("grid = [").unwrap_err()[0].starts_with("1: "));
}

#[test]
fn parameters_combine_and_requirements_filter() {
    let case = read("grid = [1]\nrequires = 'a < b'\n[params]\na = [1, 2]\nb = [2, 3]\nnum_warps = [4, 8]").unwrap();
    let text = |c: Vec<Config>| c.iter().map(ToString::to_string).collect::<Vec<_>>();
    let all = text(case.configs().unwrap());
    assert_eq!(all.len(), 6);
    assert_eq!(all[..3], ["a=1 b=2 num_warps=4", "a=1 b=2 num_warps=8", "a=1 b=3 num_warps=4"]);
    assert_eq!(text(case.neighbours().unwrap()), ["a=1 b=2 num_warps=4", "a=1 b=3 num_warps=4"]);
    let mut one = case.default_config();
    case.set(&mut one, "a", "5").unwrap();
    assert_eq!(one.to_string(), "a=5 b=2 num_warps=4");
    assert!(case.set(&mut one, "c", "5").unwrap_err().help.unwrap().contains("a, b, num_warps"));
}

const WHOLE: &str = "
grid = ['cdiv(n, BLOCK)', 2]
[params]
n = [32, 1, 33]
dtype = ['fp16', 'i8']
num_warps = 8
[constants]
BLOCK = 'next_power_of_2(n)'
HALF = 'BLOCK // 2'
ACT = \"'gelu'\"
OUT = 'tl.float32'
[args.x]
shape = ['n', '2']
dtype = 'dtype'
fill = 'normal(1, eps)'
out = true
tolerance = { fp16 = 0.5 }
[args.y]
shape = 3
dtype = 'i64'
fill = 'each(0, n, n * 2)'
divisibility = 1
[args.z]
shape = 4
dtype = 'fp32'
fill = 'i * 2 + 1'
[args.n]
value = 'n'
[args.big]
value = 4294967296
[args.eps]
value = 0.5
";

const PARAMS: [(&str, Option<&str>, Option<&str>); 11] = [
    ("x", None, None),
    ("y", None, None),
    ("z", None, None),
    ("n", None, None),
    ("big", None, None),
    ("eps", Some("fp64"), None),
    ("BLOCK", Some("constexpr"), None),
    ("HALF", Some("constexpr"), None),
    ("ACT", Some("constexpr"), None),
    ("OUT", Some("constexpr"), None),
    ("REST", Some("constexpr"), Some("3")),
];

#[test]
fn a_configuration_becomes_a_launch() {
    let text = WHOLE.replace("[params]", "[params]\neps = 0.25");
    let i = instance(&text, &PARAMS, 0);
    assert_eq!(i.grid, [1, 2, 1]);
    assert_eq!(i.options.num_warps, Some(8));
    let constexpr = ["constexpr"; 5].join(", ");
    assert_eq!(
        i.options.signature.as_deref(),
        Some(&*format!("*fp16:16, *i64, *fp32:16, i32:16, i64:16, fp64, {constexpr}"))
    );
    let define = |n: &str, v: &str| (n.to_owned(), v.to_owned());
    assert_eq!(
        i.options.defines,
        [define("BLOCK", "32"), define("HALF", "16"), define("ACT", "'gelu'"), define("OUT", "tl.float32")]
    );
    let fills: Vec<&Fill> = i.buffers().map(|b| &b.fill).collect();
    let each = |v: &[f64]| Fill::Each(v.to_vec());
    assert_eq!(fills, [&Fill::Normal(1.0, 0.25), &each(&[0.0, 32.0, 64.0]), &each(&[1.0, 3.0, 5.0, 7.0])]);
    assert_eq!(i.outputs().map(|b| b.tolerance).collect::<Vec<_>>(), [Some(0.5)]);
    // A value of 1 is folded in, an odd value is not divisible, and another dtype has no tolerance.
    let i = instance(&text, &PARAMS, 3);
    assert!(
        i.options.signature.as_deref().unwrap().starts_with("*i8:16, *i64, *fp32:16, i32:1,"),
        "{:?}",
        i.options.signature
    );
    assert!(!i.args.iter().any(|a| matches!(a, InstanceArg::Scalar { name, .. } if name == "n")));
    assert_eq!(i.values["n"], Value::Int(1));
    assert_eq!(i.outputs().map(|b| b.tolerance).collect::<Vec<_>>(), [None]);
    assert!(instance(&text, &PARAMS, 4).options.signature.unwrap().contains("i32, i64:16"));
}

#[test]
fn what_does_not_fit_the_kernel_is_named() {
    let mut map = SourceMap::default();
    let file = map.add("k.toml", Some("k.toml".as_ref()), WHOLE);
    let case = spec::read(&map, file).unwrap();
    let config = case.default_config();
    let mut params = PARAMS.to_vec();
    params[3].0 = "m";
    let wrong = case.instance(&kernel(&params), &config).unwrap_err();
    let said = shown(&map, wrong);
    assert_eq!(
        said,
        [
            "27: the kernel `k` has no parameter `n`",
            "15: `normal(1, eps)`: eps is no number",
            "1: the kernel's parameter `m` has neither an argument nor a value in the case",
        ]
    );
}
