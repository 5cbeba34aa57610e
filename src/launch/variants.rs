//! Puts the compilations of one kernel into the order in which a launcher tries them, and checks that they are variants
//! of one kernel.
//!
//! 1. All variants take the same arguments: the same names and types in the same order.
//! 2. A variant with more promises comes before one with fewer: it is launched where its promises hold, and the others
//!    catch the rest. Settling a value counts for more than a divisor, and a large divisor for more than a small one.
//! 3. Between variants of the same promises, the code that was made for a GPU comes before code that merely runs there:
//!    `sm_90a` before `sm_90`, `sm_86` before `sm_80`.
//! 4. Two variants that no GPU and no argument tell apart are an error, since the second would never run.

use std::cmp::Reverse;

use super::{Argument, Kernel, Variant};
use crate::target::{RunsOn, Target};

/// A promise about one argument: its name, what it is equal to, and what it is a multiple of.
pub type Promise<'a> = (&'a str, Option<i64>, Option<u64>);

impl Variant {
    /// The promises about arguments, in the order of the arguments. A multiple of 1 is no promise.
    #[must_use]
    pub fn promises(&self) -> Vec<Promise<'_>> {
        let of = |a: &'_ Argument| (a.equals, a.divisible_by.filter(|&d| d > 1 && a.equals.is_none()));
        let arguments = self.descriptor.arguments.iter();
        arguments.map(|a| (&*a.name, of(a))).filter(|(_, p)| *p != (None, None)).map(|(n, (e, d))| (n, e, d)).collect()
    }

    /// The GPUs that run the variant. `None` for an architecture that ttc does not know.
    #[must_use]
    pub fn runs_on(&self) -> Option<RunsOn> {
        Some(Target::parse(&self.arch).ok()?.runs_on())
    }

    /// The extension of a file of the image.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        if self.is_code_object() { "hsaco" } else { "cubin" }
    }

    /// What the image is called in a sentence.
    #[must_use]
    pub fn image_words(&self) -> &'static str {
        if self.is_code_object() { "code object" } else { "cubin" }
    }

    fn is_code_object(&self) -> bool {
        matches!(self.runs_on(), Some(RunsOn::Processor(_)))
    }

    /// How much is promised: the arguments of settled values, then the bits of the divisors.
    fn promised(&self) -> (usize, u32) {
        let promises = self.promises();
        let settled = promises.iter().filter(|(_, equals, _)| equals.is_some()).count();
        (settled, promises.iter().filter_map(|(_, _, d)| d.map(u64::ilog2)).sum())
    }
}

impl Kernel {
    /// A kernel of these variants, in the order in which they are tried.
    ///
    /// # Errors
    /// Says which two variants do not belong together, and why.
    pub fn of(name: String, mut variants: Vec<Variant>) -> Result<Kernel, String> {
        let first = variants.first().ok_or_else(|| format!("`{name}` was not compiled"))?;
        for other in &variants[1..] {
            same_arguments(&name, first, other)?;
        }
        // The sort is stable, so that equals keep the order in which they were asked for.
        variants.sort_by_cached_key(|v| Reverse((v.promised(), v.runs_on())));
        for (i, v) in variants.iter().enumerate() {
            let twin = |w: &&Variant| w.runs_on() == v.runs_on() && w.promises() == v.promises();
            if let Some(twin) = variants[..i].iter().find(twin) {
                return Err(twins(&name, twin, v));
            }
        }
        Ok(Kernel { name, variants })
    }
}

fn same_arguments(name: &str, a: &Variant, b: &Variant) -> Result<(), String> {
    let shown = |x: &Argument| format!("`{}: {}`", x.name, x.ty);
    let (left, right) = (&a.descriptor.arguments, &b.descriptor.arguments);
    if let Some((x, y)) = left.iter().zip(right).find(|(x, y)| (&x.name, &x.ty) != (&y.name, &y.ty)) {
        return Err(format!(
            "`{name}` takes {} in one compilation (for {}) and {} in another (for {})",
            shown(x),
            a.arch,
            shown(y),
            b.arch
        ));
    }
    if left.len() != right.len() {
        let (more, fewer) = if left.len() > right.len() { (a, b) } else { (b, a) };
        let extra = &more.descriptor.arguments[fewer.descriptor.arguments.len()];
        return Err(format!(
            "`{name}` takes {} in one compilation (for {}) and not in another (for {})",
            shown(extra),
            more.arch,
            fewer.arch
        ));
    }
    Ok(())
}

/// The error for two variants that nothing at run time chooses between.
fn twins(name: &str, a: &Variant, b: &Variant) -> String {
    let differ = a.constants.iter().find(|(k, v)| b.constants.get(*k) != Some(*v));
    let how = match differ {
        Some((k, v)) => {
            let other = b.constants.get(k).map_or("absent", |v| v.as_str());
            format!("differ only in constants ({k} is {v} and {other})")
        }
        None => "differ in nothing that is known at a launch".to_owned(),
    };
    format!("two compilations of `{name}` for {} {how}, so the second would never be launched", a.arch)
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Descriptor, VERSION};
    use super::*;

    fn variant(arch: &str, arguments: &[(&str, &str, Option<u64>, Option<i64>)]) -> Variant {
        let argument = |&(name, ty, divisible_by, equals): &(&str, &str, _, _)| Argument {
            name: name.into(),
            ty: ty.into(),
            divisible_by,
            equals,
            ..Argument::default()
        };
        let descriptor = Descriptor {
            version: VERSION,
            symbol: "k".into(),
            threads: 128,
            shared: 0,
            cluster: [1; 3],
            programmatic: false,
            grid: None,
            arguments: arguments.iter().map(argument).collect(),
            parameters: vec![],
            parameter_bytes: 0,
            elsewhere: Access::default(),
        };
        Variant { arch: arch.into(), constants: std::collections::BTreeMap::new(), descriptor, image: vec![] }
    }

    #[test]
    fn what_promises_more_is_tried_first_and_then_what_fits_the_gpu() {
        let x = |arch, d, e| variant(arch, &[("x", "*fp32", d, None), ("n", "i32", None, e)]);
        let all = vec![
            x("sm_80", None, None),
            x("sm_90", Some(16), None),
            x("sm_80", Some(16), None),
            x("sm_90a", Some(16), None),
            x("sm_86", Some(1), None),
            x("sm_80", Some(4), None),
            x("sm_80", None, Some(1)),
        ];
        let kernel = Kernel::of("k".into(), all).unwrap();
        let shown: Vec<String> = kernel.variants.iter().map(|v| format!("{} {:?}", v.arch, v.promised())).collect();
        assert_eq!(
            shown,
            [
                "sm_80 (1, 0)",
                "sm_90a (0, 4)",
                "sm_90 (0, 4)",
                "sm_80 (0, 4)",
                "sm_80 (0, 2)",
                "sm_86 (0, 0)",
                "sm_80 (0, 0)"
            ]
        );
    }

    #[test]
    fn what_is_no_variant_of_one_kernel_says_why() {
        let of = |a, b| Kernel::of("k".into(), vec![a, b]).unwrap_err();
        let one = || variant("sm_80", &[("x", "*fp32", None, None)]);
        assert_eq!(
            of(one(), variant("sm_90", &[("x", "*fp16", None, None)])),
            "`k` takes `x: *fp32` in one compilation (for sm_80) and `x: *fp16` in another (for sm_90)"
        );
        assert_eq!(
            of(one(), variant("sm_90", &[])),
            "`k` takes `x: *fp32` in one compilation (for sm_80) and not in another (for sm_90)"
        );
        assert!(of(one(), one()).contains("differ in nothing that is known at a launch"));
        let mut other = one();
        other.constants.insert("BLOCK".into(), "64".into());
        assert!(of(other, one()).contains("only in constants (BLOCK is 64 and absent)"));
        assert_eq!(Kernel::of("k".into(), vec![]).unwrap_err(), "`k` was not compiled");
    }
}
