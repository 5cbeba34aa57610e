//! Variants: specialisations of the kernels of a run, each with types, values and options of its own.
//!
//! 1. `f16: *_ptr=*fp16:16, BLOCK=128, num_warps=8` is a variant by the name `f16`. An item that is a type is one, the
//!    options of the launch are known by name, and anything else is a value, as `-D` gives it.
//! 2. Several signatures are variants by the names `s0`, `s1` and so on.
//! 3. What a variant says wins over the options of the run, and these win over what the input says ([`Preset`]).

use std::collections::BTreeMap;

use super::job::{Job, JobOptions};
use crate::backend::Pipelining;
use crate::diag::Diagnostic;
use crate::diag::codes::cli;
use crate::irgen::front::signature::{parse_descriptor, parse_type, split};
use crate::irgen::front::type_rules::is_pattern;
use crate::irgen::{Given, TypeRule};

/// What an input itself says of its compilation, as a case file does.
#[derive(Clone, Debug, Default)]
pub struct Preset {
    pub kernel: Option<String>,
    pub signature: Option<String>,
    pub defines: Vec<(String, String)>,
    pub given: Given,
    pub pipelining: Option<Pipelining>,
    /// The grid over the kernel's own arguments and compile-time values.
    pub grid: Option<String>,
}

/// A specialisation.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// The name, which is part of the names of its files.
    pub name: String,
    pub signature: Option<String>,
    pub types: Vec<TypeRule>,
    pub defines: Vec<(String, String)>,
    pub given: Given,
}

impl Variant {
    /// Reads a variant: `NAME: PARAMETER=TYPE, PARAMETER=VALUE`.
    ///
    /// # Errors
    /// `E0910` for a text of another form.
    pub fn parse(text: &str) -> Result<Variant, Diagnostic> {
        let bad = |why: &str| {
            Diagnostic::error(&cli::BAD_OPTION, format!("`--variant {text}`: {why}"))
                .help("write `--variant \"f16: x_ptr=*fp16:16, n=i32, BLOCK=128, num_warps=8\"`")
        };
        let (name, items) = text.split_once(':').ok_or_else(|| bad("expected NAME: PARAMETER=TYPE, …"))?;
        let mut variant = Variant { name: name.trim().to_owned(), ..Variant::default() };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !variant.name.starts_with(|c: char| c.is_ascii_alphabetic()) || !variant.name.chars().all(plain) {
            return Err(bad("a name begins with a letter and consists of letters, digits and `_`"));
        }
        for item in split(items) {
            let (name, value) = item.split_once('=').ok_or_else(|| bad(&format!("`{item}` is no NAME=TYPE")))?;
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || value.is_empty() {
                return Err(bad(&format!("`{item}` is no NAME=TYPE")));
            }
            let given = &mut variant.given;
            let option = match name {
                "num_warps" => Some(&mut given.num_warps),
                "num_stages" => Some(&mut given.num_stages),
                "num_ctas" => Some(&mut given.num_ctas),
                "maxnreg" => Some(&mut given.maxnreg),
                _ => given.amd.named(name),
            };
            match option {
                Some(slot) => *slot = Some(value.parse().map_err(|_| bad(&format!("`{item}` is no number")))?),
                None if is_type(value) || is_pattern(name) => {
                    variant.types.push(TypeRule { of_variant: true, ..TypeRule::new(name, value) });
                }
                None => variant.defines.push((name.to_owned(), value.to_owned())),
            }
        }
        Ok(variant)
    }

    /// The variants of several signatures. One signature alone makes none.
    #[must_use]
    pub fn of_signatures(signatures: &[String]) -> Vec<Variant> {
        let variant = |(i, s): (usize, &String)| Variant {
            name: format!("s{i}"),
            signature: Some(s.clone()),
            ..Variant::default()
        };
        if signatures.len() < 2 { vec![] } else { signatures.iter().enumerate().map(variant).collect() }
    }
}

/// Whether an item is meant as a type, be it a right one or not: `i32:16`, `*f32`, `tensordesc<fp16[64]>`, `constexpr`.
fn is_type(text: &str) -> bool {
    let body = text.rsplit_once(':').map_or(text, |(body, _)| body);
    text.starts_with('*')
        || text == "constexpr"
        || parse_type(text).is_some()
        || parse_type(body).is_some()
        || parse_descriptor(text).is_some()
}

impl Job {
    /// The options that hold: those of its variant, then those of the run, then those of its input.
    #[must_use]
    pub fn settled(&self) -> JobOptions {
        let (preset, variant) = (&self.input.preset, self.variant.clone().unwrap_or_default());
        let run = &*self.options;
        let types: Vec<TypeRule> = run.types.iter().chain(&variant.types).cloned().collect();
        let typed = |rules: &[TypeRule], name: &str| rules.iter().any(|r| r.pattern == name);
        let from_input = preset.defines.iter().filter(|(n, _)| !typed(&types, n));
        let from_run = run.defines.iter().filter(|(n, _)| !typed(&variant.types, n));
        let Given { num_warps, num_stages, num_ctas, maxnreg, amd } = variant.given.or(run.given()).or(preset.given);
        JobOptions {
            signature: variant.signature.or_else(|| run.signature.clone()).or_else(|| preset.signature.clone()),
            defines: from_input.chain(from_run).chain(&variant.defines).cloned().collect(),
            types,
            num_warps,
            num_stages,
            num_ctas,
            maxnreg,
            amd,
            pipelining: run.pipelining.or(preset.pipelining),
            ..run.clone()
        }
    }
}

/// The name of a job's kernel in PTX, the cubin and the metadata, if `--symbol` gives one: the text with `{kernel}`,
/// `{variant}`, `{config}` and `{arch}` replaced. A kernel in a class, `Class.kernel`, is `Class_kernel` there.
#[must_use]
pub fn symbol(job: &Job, kernel: &str) -> Option<String> {
    let config = job.config.map(|n| n.to_string()).unwrap_or_default();
    let variant = job.variant.as_ref().map(|v| v.name.as_str()).unwrap_or_default();
    let text = job.options.symbol.as_ref()?;
    let kernel = job.full_name(kernel).replace('.', "_");
    let values = [("{kernel}", &*kernel), ("{variant}", variant), ("{config}", &config), ("{arch}", job.target.name)];
    Some(values.iter().fold(text.clone(), |text, (word, value)| text.replace(word, value)))
}

/// Checks the text of `--symbol`, and that it tells different kernels apart.
///
/// # Errors
/// `E0910` where it cannot be a name in PTX (PTX ISA, "Identifiers"), or where several kernels or configurations would
/// get one name. Architectures and variants may share it, since a launcher chooses between them.
pub fn check_symbols(jobs: &[Job]) -> Result<(), Diagnostic> {
    let mut names = BTreeMap::new();
    for job in jobs {
        let Some(text) = &job.options.symbol else { continue };
        let bad = |why: &str| Diagnostic::error(&cli::BAD_OPTION, format!("`--symbol {text}`: {why}"));
        let name = symbol(job, job.kernel.as_deref().unwrap_or("kernel")).unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
        if !name.chars().all(plain)
            || matches!(&*name, "" | "_" | "$")
            || name.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(bad(&format!("`{name}` cannot be a kernel's name"))
                .help("a name has letters from a to z, digits, `_` and `$`; {kernel}, {variant}, {config} and {arch} stand for what differs"));
        }
        let what = (job.input.path.clone(), job.kernel.clone(), job.config);
        if names.entry(name.clone()).or_insert_with(|| what.clone()) != &what {
            return Err(bad(&format!("several kernels would be called `{name}`"))
                .help("tell them apart by {kernel} and {config}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_has_types_values_and_options() {
        let v =
            Variant::parse("f16: x_*=*fp16:16, n = i32 , BLOCK=128, ACT='a,b', F_*=True, num_warps=8, t=*f99").unwrap();
        let types: Vec<String> = v.types.iter().map(|r| format!("{}={}", r.pattern, r.ty)).collect();
        assert_eq!((v.name.as_str(), types.join(" ").as_str()), ("f16", "x_*=*fp16:16 n=i32 F_*=True t=*f99"));
        assert!(v.types.iter().all(|r| r.of_variant));
        assert_eq!(v.defines, [("BLOCK".into(), "128".into()), ("ACT".into(), "'a,b'".into())]);
        assert_eq!(v.given, Given { num_warps: Some(8), ..Given::default() });
        assert!(Variant::parse("plain:").unwrap().types.is_empty());
    }

    #[test]
    fn variants_of_another_form_are_errors() {
        for text in
            ["x=i32", "1a: x=i32", ": x=i32", "a b: x=i32", "a: x", "a: =i32", "a: x=", "a: num_warps=many", "a.b:"]
        {
            assert_eq!(Variant::parse(text).unwrap_err().code.id, "E0910", "{text}");
        }
    }
}
