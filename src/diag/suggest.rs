//! Suggestions: the known word to which a misspelt one is nearest.
//!
//! A suggestion must not lead from one thing to another that only looks like it, so a slip is small for the length of
//! the word:
//!
//! 1. Case aside, words of up to five letters differ by one edit, those of up to eleven by two, longer ones by three.
//! 2. The words between `_` are compared one by one: `atomic_inc` is not near to `atomic_and`, nor `offs_m` to
//!    `offs_n`.
//! 3. The digits are the same, or one of a number of several digits is another: `exp10` is not near to `exp`, nor
//!    `acc1` to `acc2`, but `int33` is near to `int32`.
//!
//! Names of one or two letters are near to nearly everything, so they get no suggestion and are never suggested.
//!
//! Example: `maxium` is near to `maximum` (one letter is missing), `block` to `BLOCK`.

/// The candidate for which a word is most likely a slip, if there is one.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() < 3 {
        return None;
    }
    let near = candidates.filter(|c| c.len() > 2 && is_slip(word, c));
    near.map(|c| (distance(word, c), c)).min().map(|(_, c)| c)
}

/// How many edits make a slip of a word of so many letters.
fn limit(letters: usize) -> usize {
    match letters {
        0..=5 => 1,
        6..=11 => 2,
        _ => 3,
    }
}

fn is_slip(word: &str, known: &str) -> bool {
    if word == known || word.len().abs_diff(known.len()) > 3 {
        return false;
    }
    let digits = |w: &str| {
        let mut digits: Vec<u8> = w.bytes().filter(u8::is_ascii_digit).collect();
        digits.sort_unstable();
        digits
    };
    if word.eq_ignore_ascii_case(known) {
        return true;
    }
    // The number of several digits that holds all digits of a word.
    let number = |w: &str| {
        let number: String = w.chars().filter(char::is_ascii_digit).collect();
        (number.len() > 1 && w.contains(&number)).then_some(number)
    };
    let one_other = number(word).zip(number(known)).is_some_and(|(a, b)| a.len() == b.len() && distance(&a, &b) == 1);
    if (digits(word) != digits(known) && !one_other) || distance(word, known) > limit(word.chars().count()) {
        return false;
    }
    let (of_word, of_known): (Vec<&str>, Vec<&str>) = (word.split('_').collect(), known.split('_').collect());
    if of_word.len() != of_known.len() || of_word.len() == 1 {
        return true;
    }
    // Another letter in a part of one or two is another name.
    let is_part = |a: &str, b: &str| match a.len().min(b.len()) {
        0..=2 if a.len() == b.len() => a.eq_ignore_ascii_case(b),
        _ => distance(a, b) <= limit(a.chars().count()),
    };
    of_word.iter().zip(&of_known).all(|(a, b)| is_part(a, b))
}

/// "did you mean …?" for [`nearest`].
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|n| format!("did you mean `{n}`?"))
}

/// Counts edits (insert, delete, replace, swap neighbours) from one word to the other. Changes of case cost nothing by
/// themselves; if there are any, they count as one edit together. Words of more than 64 letters are far from all
/// others.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    if a != b && a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().max(b.len()) > 64 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_short_ones_are_left_alone() {
        let known = ["maximum", "max", "minimum", "n", "k", "offsets", "BLOCK"];
        assert_eq!(nearest("maxium", known.into_iter()), Some("maximum"));
        assert_eq!(nearest("offset", known.into_iter()), Some("offsets"));
        assert_eq!(nearest("block", known.into_iter()), Some("BLOCK"));
        assert_eq!(nearest("np", known.into_iter()), None);
        assert_eq!(nearest("v", known.into_iter()), None);
        assert_eq!(nearest("entirely", known.into_iter()), None);
    }

    #[test]
    fn other_words_are_no_slips() {
        let known = [
            "sin",
            "trans",
            "min",
            "all",
            "exp",
            "str",
            "atomic_and",
            "reduce_or",
            "offs_n",
            "log2",
            "static_range",
            "int32",
        ];
        for other in
            ["tan", "trunc", "fmin_", "roll", "exp10", "iter", "atomic_inc", "reduce_max", "offs_m", "log10", "e3m2"]
        {
            assert_eq!(nearest(other, known.into_iter()), None, "{other}");
        }
        for (slip, meant) in [
            ("int33", "int32"),
            ("tarns", "trans"),
            ("atomic_adn", "atomic_and"),
            ("staticrange", "static_range"),
            ("off_n", "offs_n"),
        ] {
            assert_eq!(nearest(slip, known.into_iter()), Some(meant));
        }
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!((distance("sm_91", "sm_90"), distance("", "abc"), distance("kitten", "sitting")), (1, 3, 3));
    }
}
