//! Types of parameters by name, as `--type` and variants give them.
//!
//! 1. A rule is a pattern and an item of a signature: `x_ptr=*fp32:16`, `stride_*=i32`. In a pattern `*` stands for any
//!    text and `?` for one character.
//! 2. Of the rules that fit a parameter, those of a variant win over the others, and then a name in full wins over a
//!    pattern.
//! 3. Rules of the same rank must agree.
//!
//! Example: with `*_ptr=*fp32` and `out_ptr=*fp16`, `x_ptr` is `*fp32` and `out_ptr` is `*fp16`.

/// The type that a pattern gives to parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeRule {
    /// The name of a parameter, or a pattern.
    pub pattern: String,
    /// An item of a signature.
    pub ty: String,
    /// Whether a variant says it.
    pub of_variant: bool,
}

impl TypeRule {
    /// A rule for the whole run.
    #[must_use]
    pub fn new(pattern: impl Into<String>, ty: impl Into<String>) -> TypeRule {
        TypeRule { pattern: pattern.into(), ty: ty.into(), of_variant: false }
    }

    /// Whether the rule names one parameter in full.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !is_pattern(&self.pattern)
    }

    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        fits(&self.pattern, name)
    }

    fn rank(&self) -> (bool, bool) {
        (self.of_variant, self.is_exact())
    }
}

/// Whether a text stands for several names.
#[must_use]
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether a pattern fits a name.
///
/// The pattern is matched from the left. Where it fails, the last `*` takes one character more, so the time is bounded
/// by the product of the lengths.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                (p, n) = (at + 1, taken + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The rule for a parameter, if there is one.
///
/// # Errors
/// Two rules of the same rank that disagree.
pub fn rule_for<'r>(rules: &'r [TypeRule], name: &str) -> Result<Option<&'r TypeRule>, [&'r TypeRule; 2]> {
    let mut best: Option<&TypeRule> = None;
    let mut rival = None;
    for rule in rules.iter().filter(|r| r.fits(name)) {
        match best {
            Some(b) if rule.rank() < b.rank() => {}
            Some(b) if rule.rank() == b.rank() => {
                if rule.ty.trim() != b.ty.trim() {
                    rival = Some([b, rule]);
                }
            }
            _ => (best, rival) = (Some(rule), None),
        }
    }
    rival.map_or(Ok(best), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(all: &[(&str, &str, bool)]) -> Vec<TypeRule> {
        all.iter().map(|&(p, t, of_variant)| TypeRule { of_variant, ..TypeRule::new(p, t) }).collect()
    }

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, name, expected) in [
            ("stride_*", "stride_am", true),
            ("stride_*", "stride_", true),
            ("stride_*", "a_stride_m", false),
            ("*stride*", "a_stride_m", true),
            ("*_ptr", "x_ptr_ptr", true),
            ("*_ptr", "x_ptrs", false),
            ("?", "n", true),
            ("?", "", false),
            ("*", "", true),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "a_c_b", false),
            ("n", "N", false),
            ("*é?", "xéy", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        assert!(!fits(&"*a".repeat(30), &"a".repeat(29)));
        assert!(!fits(&format!("{}b", "*a".repeat(30)), &"a".repeat(2000)));
    }

    #[test]
    fn a_name_wins_over_a_pattern_and_a_variant_over_both() {
        let all = rules(&[("*_ptr", "*fp32", false), ("x_ptr", "*fp16", false)]);
        assert_eq!(rule_for(&all, "x_ptr").unwrap().unwrap().ty, "*fp16");
        assert_eq!(rule_for(&all, "y_ptr").unwrap().unwrap().ty, "*fp32");
        assert_eq!(rule_for(&all, "n"), Ok(None));
        let all = rules(&[("x_ptr", "*fp16", false), ("x_*", "*bf16", true)]);
        assert_eq!(rule_for(&all, "x_ptr").unwrap().unwrap().ty, "*bf16");
    }

    #[test]
    fn rules_of_one_rank_must_agree_unless_a_higher_one_decides() {
        let two = rules(&[("x_*", "*fp16", false), ("*_ptr", "*fp32", false)]);
        assert_eq!(rule_for(&two, "x_ptr").unwrap_err().map(|r| r.pattern.as_str()), ["x_*", "*_ptr"]);
        assert!(rule_for(&two, "y_ptr").is_ok());
        let decided = rules(&[("x_*", "*fp16", false), ("*_ptr", "*fp32", false), ("x_ptr", "*fp32", false)]);
        assert_eq!(rule_for(&decided, "x_ptr").unwrap().unwrap().ty, "*fp32");
        let same = rules(&[("x_*", "*fp16", false), ("*_ptr", " *fp16", false)]);
        assert!(rule_for(&same, "x_ptr").is_ok());
    }
}
