//! The buffers of a run as files: `--out` writes them, `--expect` compares with them.

use std::path::{Path, PathBuf};

use ttc::cases::launch::compare;
use ttc::cases::manual::{self, Bound};
use ttc::diag::{Diagnostic, codes};
use ttc::interp::{Budget, Memory};

use super::prepare::Bindings;
use crate::args::Launched;

/// A buffer with the elements that it should have.
pub(in crate::commands) struct Expected {
    buffer: Bound,
    /// Who says so.
    source: String,
    want: Vec<f64>,
    tolerance: Option<f64>,
}

/// What the interpreter computed for every result, as what it should be.
pub(in crate::commands) fn interpreted(computed: &Bindings, tolerance: Option<f64>) -> Vec<Expected> {
    let results = computed.buffers.iter().filter(|b| computed.results.contains(&b.name));
    let expected = |buffer: &Bound| Expected {
        source: "the interpreter computes".to_owned(),
        want: computed.memory.values(buffer.id),
        tolerance: tolerance.or(buffer.tolerance),
        buffer: buffer.clone(),
    };
    results.map(expected).collect()
}

/// The buffers and files that an option `[NAME=]FILE` names.
pub(in crate::commands) fn named(
    option: &str,
    texts: &[String],
    launch: &Bindings,
) -> Result<Vec<(Bound, PathBuf)>, Diagnostic> {
    let known: Vec<&str> = launch.buffers.iter().map(|b| b.name.as_str()).collect();
    let bad = |message: String| {
        let help = if known.is_empty() {
            "the kernel has no buffers".to_owned()
        } else {
            format!("the buffers are {}", known.join(", "))
        };
        Err(Diagnostic::error(&codes::cli::BAD_OPTION, message).help(help))
    };
    let mut all = vec![];
    for text in texts {
        let (name, path) = match text.split_once('=') {
            Some((name, path)) => (name.to_owned(), path),
            None => match (launch.results.as_slice(), stem(text)) {
                (_, Some(stem)) if known.contains(&stem.as_str()) => (stem, text.as_str()),
                ([one], _) => (one.clone(), text.as_str()),
                _ => {
                    return bad(format!(
                        "`--{option} {text}`: which buffer is meant is not clear; write `--{option} NAME={text}`"
                    ));
                }
            },
        };
        let Some(buffer) = launch.buffers.iter().find(|b| b.name == name) else {
            return bad(format!("`--{option} {text}`: the kernel has no buffer `{name}`"));
        };
        all.push((buffer.clone(), PathBuf::from(path)));
    }
    Ok(all)
}

fn stem(path: &str) -> Option<String> {
    Path::new(path).file_stem().map(|s| s.to_string_lossy().into_owned())
}

/// Reads what `--expect` names, before the run.
pub(in crate::commands) fn expected(i: &Launched, launch: &Bindings) -> Result<Vec<Expected>, Diagnostic> {
    let mut budget = Budget::new(i.max_memory);
    let mut all = vec![];
    for (buffer, path) in named("expect", &i.expect, launch)? {
        let array = manual::read_array(&path, &mut budget)?;
        let count: usize = buffer.shape.iter().product();
        if array.shape.iter().product::<usize>() != count {
            let message = format!(
                "`{}` has the shape {:?}, and `{}` {:?}",
                path.display(),
                array.shape,
                buffer.name,
                buffer.shape
            );
            return Err(Diagnostic::error(&codes::interp::UNEXPECTED, message));
        }
        // Bits of a type that NumPy lacks are taken as that type. Other numbers are rounded to the type, since no
        // kernel could give more.
        let mut memory = Memory::new();
        let id = if manual::fits(array.elem, buffer.elem) {
            memory.add(&buffer.name, buffer.elem, &array.bytes)
        } else {
            let raw = memory.add(&buffer.name, array.elem, &array.bytes);
            let values = memory.values(raw);
            memory.add_values(&buffer.name, buffer.elem, &values)
        };
        let tolerance = i.tolerance.or(buffer.tolerance);
        let source = format!("`{}` holds", path.display());
        all.push(Expected { want: memory.values(id), buffer, source, tolerance });
    }
    Ok(all)
}

/// Makes one error for each buffer that is not as expected.
pub(in crate::commands) fn differences(expected: &[Expected], memory: &Memory) -> Vec<Diagnostic> {
    let wrong = |e: &Expected| {
        let m = compare(&memory.values(e.buffer.id), &e.want, e.tolerance).err()?;
        let (name, source) = (&e.buffer.name, &e.source);
        let message = format!("`{name}` is not what {source}: {} of {} elements differ", m.count, e.want.len());
        let shown: Vec<String> = coordinates(&e.buffer.shape, m.index).iter().map(ToString::to_string).collect();
        let d = Diagnostic::error(&codes::interp::UNEXPECTED, message);
        let d = d.note(format!("the worst is [{}]: got {}, want {}", shown.join(", "), m.got, m.want));
        Some(match e.tolerance {
            Some(t) => d.note(format!("the tolerance is {t}")),
            None => d.help("`--tolerance 1e-5` allows for rounding"),
        })
    };
    expected.iter().filter_map(wrong).collect()
}

/// The coordinates of a row-major position.
fn coordinates(shape: &[usize], index: usize) -> Vec<usize> {
    let mut rest = index;
    let mut out = vec![0; shape.len()];
    for (at, &size) in out.iter_mut().zip(shape).rev() {
        *at = rest % size.max(1);
        rest /= size.max(1);
    }
    out
}
