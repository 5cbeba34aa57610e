//! Pipelines as data and as text: `canonicalize,tritongpu-pipeline{num-stages=3},cse`.
//!
//! 1. A pipeline is a list of steps separated by commas; `builtin.module(…)` around it is accepted and dropped.
//! 2. A step is the name of a pass and, in braces, `option=value` pairs separated by spaces; a flag may stand without a
//!    value.
//! 3. Names, options and the form of values are checked when the text is read. Which passes there are says the caller,
//!    so that running passes depends on none of them.

use std::collections::BTreeMap;

use super::manager::{OptionKind, Pass};
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;

/// Gives the pass of a name, or says that there is none.
pub type Named = fn(&str) -> Result<&'static Pass, Diagnostic>;

/// Options of a run by name, in the form in which they are written.
pub type PassOptions = BTreeMap<String, String>;

/// A pass with the options it runs with; what is not given has its default.
#[derive(Clone, Debug)]
pub struct Step {
    pub pass: &'static Pass,
    pub options: PassOptions,
}

impl Step {
    /// A step with these options.
    ///
    /// # Panics
    /// If the pass has no option of a given name: steps from text are checked by [`Step::checked`].
    #[must_use]
    pub fn new(pass: &'static Pass, options: &[(&str, String)]) -> Step {
        assert!(
            options.iter().all(|(n, _)| pass.options.iter().any(|o| o.name == *n)),
            "{} has these options",
            pass.name
        );
        Step { pass, options: options.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect() }
    }

    /// A step from names in text.
    ///
    /// # Errors
    /// If there is no such pass or option, or a value is malformed.
    pub fn checked(name: &str, options: &[(&str, &str)], named: Named) -> Result<Step, Diagnostic> {
        let pass = named(name)?;
        for &(option, value) in options {
            let spec = pass.options.iter().find(|o| o.name == option);
            let Some(spec) = spec else {
                let known: Vec<&str> = pass.options.iter().map(|o| o.name).collect();
                let known =
                    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
                return Err(Diagnostic::error(
                    &codes::BAD_OPTION,
                    format!("pass '{name}' has no option '{option}': {known}"),
                ));
            };
            let (ok, expected) = match spec.kind {
                OptionKind::Int => (value.parse::<i64>().is_ok(), "an integer"),
                OptionKind::Bool => (matches!(value, "true" | "false" | "1" | "0"), "true or false"),
                OptionKind::Str => (true, "a string"),
            };
            if !ok {
                let message = format!("option '{option}' of pass '{name}' takes {expected}, got '{value}'");
                return Err(Diagnostic::error(&codes::BAD_OPTION, message));
            }
        }
        Ok(Step { pass, options: options.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect() })
    }

    /// The options of a run: those given, and the defaults of the others.
    #[must_use]
    pub fn options_with_defaults(&self) -> PassOptions {
        let mut all = self.options.clone();
        for spec in self.pass.options {
            all.entry(spec.name.to_owned()).or_insert_with(|| spec.default.to_owned());
        }
        all
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.pass.name)?;
        if !self.options.is_empty() {
            let options: Vec<String> = self.options.iter().map(|(n, v)| format!("{n}={v}")).collect();
            write!(f, "{{{}}}", options.join(" "))?;
        }
        Ok(())
    }
}

/// Passes in the order in which they run.
#[derive(Clone, Default, Debug)]
pub struct Pipeline {
    pub steps: Vec<Step>,
}

impl Pipeline {
    /// Appends a pass without options.
    pub fn add(&mut self, pass: &'static Pass) {
        self.steps.push(Step::new(pass, &[]));
    }

    /// Appends a pass with options.
    pub fn add_with(&mut self, pass: &'static Pass, options: &[(&str, String)]) {
        self.steps.push(Step::new(pass, options));
    }

    /// Reads a pipeline.
    ///
    /// # Errors
    /// If the text is malformed or names what does not exist.
    pub fn parse(text: &str, named: Named) -> Result<Pipeline, Diagnostic> {
        let mut text = text.trim();
        if let Some(inner) = text.strip_prefix("builtin.module(") {
            text = inner
                .strip_suffix(')')
                .ok_or_else(|| malformed("expected ')' at the end of 'builtin.module('"))?
                .trim();
        }
        let mut steps = vec![];
        let mut rest = text;
        while !rest.is_empty() {
            let (step, tail) = parse_step(rest, named)?;
            steps.push(step);
            rest = match tail.strip_prefix(',') {
                Some(next) if next.trim().is_empty() => return Err(malformed("expected a pass after ','")),
                Some(next) => next.trim_start(),
                None if tail.is_empty() => tail,
                None => return Err(malformed(format!("expected ',' before '{tail}'"))),
            };
        }
        Ok(Pipeline { steps })
    }
}

fn malformed(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(&codes::PIPELINE_SYNTAX, message)
}

/// Reads one step; gives what follows it.
fn parse_step(text: &str, named: Named) -> Result<(Step, &str), Diagnostic> {
    let end = text.find(['{', ',']).unwrap_or(text.len());
    let (name, rest) = (text[..end].trim(), &text[end..]);
    if name.is_empty() {
        return Err(malformed(format!("expected the name of a pass, got '{text}'")));
    }
    let Some(inner) = rest.strip_prefix('{') else { return Ok((Step::checked(name, &[], named)?, rest)) };
    let Some(close) = inner.find('}') else {
        return Err(malformed(format!("the options of '{name}' do not end: expected '}}'")));
    };
    let options: Vec<(&str, &str)> =
        inner[..close].split_whitespace().map(|o| o.split_once('=').unwrap_or((o, "true"))).collect();
    Ok((Step::checked(name, &options, named)?, inner[close + 1..].trim_start()))
}

impl std::fmt::Display for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::registry::named;

    #[test]
    fn pipelines_print_and_read_back() {
        let text = "convert-triton-to-tritongpu{num-warps=4 target=cuda:90},canonicalize,cse";
        let again = Pipeline::parse(text, named).expect("a pipeline reads back");
        assert_eq!((again.to_string().as_str(), again.steps.len()), (text, 3));
        let wrapped = Pipeline::parse("builtin.module(canonicalize, cse)", named).expect("the wrapper is accepted");
        assert_eq!(wrapped.to_string(), "canonicalize,cse");
    }

    #[test]
    fn faults_are_named() {
        let code = |text: &str| Pipeline::parse(text, named).map(|_| ()).expect_err("this is malformed").code.id;
        assert_eq!(code("canonicalise"), "E0601");
        assert_eq!(code("cse{x=1}"), "E0602");
        assert_eq!(code("convert-triton-to-tritongpu{num-warps=four}"), "E0602");
        assert_eq!(code("cse,"), "E0603");
        assert_eq!(code("cse{"), "E0603");
        assert_eq!(code("builtin.module(cse"), "E0603");
        let error = Pipeline::parse("canonicalise", named).expect_err("there is no such pass");
        assert!(error.help.is_some_and(|h| h.contains("canonicalize")));
    }
}
