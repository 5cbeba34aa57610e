//! What `ttc bench` and `ttc tune` have in common: the case, and the configurations of its parameters.

use std::path::Path;

use ttc::cases::config::value_of;
use ttc::cases::{Case, Config, Folder, Lists, Loaded, Value};
use ttc::diag::suggest::did_you_mean;
use ttc::diag::{Diagnostic, codes};
use ttc::driver::{JobOptions, input};

use crate::args::Measured;

type Try<T> = Result<T, Vec<Diagnostic>>;

/// Reads a case file, or the case that lies beside a kernel file.
pub(super) fn load(m: &Measured, folder: &mut Folder, file: &Path) -> Try<Loaded> {
    let kernel = m.kernel.as_deref();
    let mut loaded = if file.extension().is_some_and(|e| e == "toml") {
        folder.load_for(file, kernel)?
    } else {
        let input = input::read(&mut folder.sources, file, None).map_err(|d| vec![d])?;
        folder.find(&input, kernel)?.ok_or_else(|| {
            let message = format!("there is no case file (.toml) for `{}`", file.display());
            let d = Diagnostic::error(&codes::interp::BAD_ARGUMENTS, message);
            vec![d.help("`ttc list --template` writes one to begin with")]
        })?
    };
    loaded.case.max_memory = m.max_memory;
    Ok(loaded)
}

/// The options that hold for every compilation.
pub(super) fn options(m: &Measured) -> JobOptions {
    JobOptions { ptxas: m.gpu.ptxas.clone(), ..JobOptions::default() }
}

/// The configurations of a case: each combination of the values that `--sweep` or the case gives to parameters, where
/// `--param` and `-D` do not settle them. `lists` are the case's own, of `[bench]` or `[tune]`.
pub(super) fn configs(m: &Measured, loaded: &Loaded, lists: &Lists) -> Try<Vec<Config>> {
    let case = &loaded.case;
    let one = |d: Diagnostic| vec![d];
    let mut base = case.default_config();
    for (name, text) in &m.param {
        case.set(&mut base, name, text).map_err(one)?;
    }
    for (name, text) in &m.define {
        base = base.with(name, value_of(text));
    }
    let mut swept: Lists = vec![];
    for text in &m.sweep {
        swept.push(sweep(case, text).map_err(one)?);
    }
    let settled = |name: &String| m.param.iter().chain(&m.define).any(|(n, _)| n == name);
    for (name, values) in lists {
        if !swept.iter().any(|(n, _)| n == name) && !settled(name) {
            swept.push((name.clone(), values.clone()));
        }
    }
    for (name, _) in &swept {
        known(loaded, name).map_err(one)?;
    }
    let all = case.combinations(&base, &swept).map_err(one)?;
    if all.is_empty() {
        let message = format!("`requires` of the case `{}` lets no configuration through", case.name);
        return Err(vec![Diagnostic::error(&codes::interp::BAD_CASE, message)]);
    }
    Ok(all)
}

/// Reads `--sweep NAME` or `--sweep NAME=V,V`.
fn sweep(case: &Case, text: &str) -> Result<(String, Vec<Value>), Diagnostic> {
    if let Some((name, values)) = text.split_once('=') {
        let values = values.split(',').map(|v| value_of(v.trim())).collect();
        return Ok((name.trim().to_owned(), values));
    }
    let listed = case.bench.params.iter().chain(&case.params).find(|(n, _)| n == text);
    listed.cloned().ok_or_else(|| {
        let message = format!("`--sweep {text}`: the case `{}` lists no values of `{text}`", case.name);
        Diagnostic::error(&codes::cli::BAD_OPTION, message).help(format!("write `--sweep {text}=1024,4096`"))
    })
}

/// Checks that a name is one of the case, the kernel or the options of the compilation.
pub(super) fn known(loaded: &Loaded, name: &str) -> Result<(), Diagnostic> {
    let options = ttc::cases::config::COMPILE_OPTIONS;
    let params = loaded.case.params.iter().map(|(n, _)| &**n);
    let own = loaded.kernel.params.iter().map(|p| &*p.name);
    let all: Vec<&str> = params.chain(own).chain(options).collect();
    if all.contains(&name) {
        return Ok(());
    }
    let message = format!("`{name}` is no parameter of the case `{}` or of its kernel", loaded.case.name);
    let d = Diagnostic::error(&codes::interp::BAD_CASE, message);
    Err(match did_you_mean(name, all.iter().copied()) {
        Some(help) => d.help(help),
        None => d.help(format!("there are {}", all.join(", "))),
    })
}
