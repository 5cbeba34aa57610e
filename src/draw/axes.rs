//! Numbers on axes: where they stand, how far lines of a grid are apart, and how numbers are written.

/// A round step that makes about five of the range.
#[must_use]
pub fn step(range: f64) -> f64 {
    let power = 10f64.powf((range / 5.0).log10().floor());
    let part = range / 5.0 / power;
    power
        * if part < 1.5 {
            1.0
        } else if part < 3.5 {
            2.0
        } else if part < 7.5 {
            5.0
        } else {
            10.0
        }
}

/// A number with as many digits as tell it from its neighbours.
#[must_use]
pub fn number(value: f64) -> String {
    let text = if value != 0.0 && value.abs() < 0.01 { format!("{value:.2e}") } else { format!("{value:.3}") };
    if text.contains('e') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A place in pixels, to a tenth.
#[must_use]
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The places of ticks on a line from 0 to 1. It is logarithmic if the largest value is at least eight times the least
/// one. Values that are no numbers stand side by side.
#[must_use]
pub fn places(ticks: &[String]) -> Vec<f64> {
    let numbers: Option<Vec<f64>> = ticks.iter().map(|t| t.parse().ok().filter(|v: &f64| v.is_finite())).collect();
    let even = || (0..ticks.len()).map(|i| i as f64 / (ticks.len().max(2) - 1) as f64).collect();
    let Some(numbers) = numbers else { return even() };
    let (least, most) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    if least >= most {
        return even();
    }
    let scale = |v: f64| if least > 0.0 && most >= 8.0 * least { v.ln() } else { v };
    numbers.iter().map(|&v| (scale(v) - scale(least)) / (scale(most) - scale(least))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_ranges_are_logarithmic_and_words_stand_side_by_side() {
        let of = |ticks: &[&str]| places(&ticks.iter().map(|&t| t.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["0", "5", "10"]), [0.0, 0.5, 1.0]);
        assert!((of(&["1", "10", "100"])[1] - 0.5).abs() < 1e-12);
        assert_eq!(of(&["fp16", "bf16", "fp32"]), [0.0, 0.5, 1.0]);
        assert_eq!((of(&["7"]), of(&["7", "7"]), of(&[])), (vec![0.0], vec![0.0, 1.0], vec![]));
    }

    #[test]
    fn steps_are_round() {
        for (range, want) in [(1.0, 0.2), (3.5, 0.5), (9.0, 2.0), (600.0, 100.0)] {
            assert!((step(range) - want).abs() < 1e-9, "{range}");
        }
        assert_eq!([number(0.0), number(2.5), number(0.0004), number(1000.0)], ["0", "2.5", "4.00e-4", "1000"]);
        assert_eq!([short(66.0), short(0.25), short(-3.0)], ["66", "0.2", "-3"]);
    }
}
