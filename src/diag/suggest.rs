//! Suggestions: the known word to which a misspelt one is nearest.
//!
//! Names of one or two letters are near to nearly everything, so they get no suggestion and are never suggested.
//!
//! Example: `maxium` is near to `maximum` (one letter is missing), `block` to `BLOCK`.

/// The candidate nearest to a misspelt word, if one is near.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() < 3 {
        return None;
    }
    let limit = 1 + word.len() / 4;
    let letters = word.chars().count();
    let far = |c: &str| if letters.abs_diff(c.chars().count()) > 3 { usize::MAX } else { distance(word, c) };
    candidates.filter(|c| c.len() > 2).map(|c| (far(c), c)).filter(|&(d, _)| d > 0 && d <= limit).min().map(|(_, c)| c)
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
    fn distance_counts_edits() {
        assert_eq!((distance("sm_91", "sm_90"), distance("", "abc"), distance("kitten", "sitting")), (1, 3, 3));
    }
}
