//! A plot of a measurement: a line for each series over a parameter, as an SVG file.
//!
//! 1. The horizontal axis is logarithmic if the largest value is at least eight times the least one. Values that are
//!    no numbers stand side by side.
//! 2. The vertical axis starts at 0. A level, such as the bandwidth of a copy, is a dashed line.
//! 3. Every point has a title with its numbers, which a browser shows under the pointer.
//!
//! Example: a point is `<circle cx="80" cy="300" r="4" fill="#1f6fb4"><title>ttc, n = 1024: 0.4</title></circle>`.

use std::fmt::Write as _;

/// What to draw.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    pub title: String,
    pub subtitle: String,
    /// The name of the parameter.
    pub x: String,
    /// The unit of the values.
    pub y: String,
    /// The values of the parameter, in order.
    pub ticks: Vec<String>,
    /// For each series its name, and a value or nothing for each tick.
    pub series: Vec<(String, Vec<Option<f64>>)>,
    /// A level with its name.
    pub level: Option<(String, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 64.0;
/// Colours that differ for people who do not see all of them (Wong, Nature Methods 8, 2011).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Where the axes put a value.
struct Axes {
    places: Vec<f64>,
    top: f64,
}

impl Axes {
    fn of(plot: &Plot) -> Axes {
        let values = plot.series.iter().flat_map(|(_, v)| v.iter().flatten().copied());
        let most = values.chain(plot.level.iter().map(|l| l.1)).fold(0.0, f64::max);
        let top = if most > 0.0 && most.is_finite() { most * 1.08 } else { 1.0 };
        Axes { places: places(&plot.ticks), top }
    }

    fn x(&self, tick: usize) -> f64 {
        LEFT + 12.0 + self.places[tick] * (WIDTH - LEFT - RIGHT - 24.0)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM)
    }
}

/// The places of the ticks on a line from 0 to 1.
fn places(ticks: &[String]) -> Vec<f64> {
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

/// A round step that makes about five of the range.
fn step(range: f64) -> f64 {
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
fn number(value: f64) -> String {
    let text = if value != 0.0 && value.abs() < 0.01 { format!("{value:.2e}") } else { format!("{value:.3}") };
    if text.contains('e') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// The text with characters that mean something in XML written otherwise.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Plot {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let axes = Axes::of(self);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut out, LEFT, 24.0, "font-size=\"16\" font-weight=\"bold\"", &self.title);
        text(&mut out, LEFT, 44.0, "fill=\"#555555\"", &self.subtitle);
        self.grid(&mut out, &axes);
        if let Some((name, value)) = &self.level {
            let dashes = "stroke=\"#888888\" stroke-dasharray=\"6 4\"";
            line(&mut out, (LEFT, axes.y(*value)), (WIDTH - RIGHT, axes.y(*value)), dashes);
            let label = format!("{name}: {}", number(*value));
            text(&mut out, LEFT + 8.0, axes.y(*value) - 6.0, "fill=\"#666666\"", &label);
        }
        for (n, series) in self.series.iter().enumerate() {
            self.line_of(&mut out, &axes, n, series);
        }
        out.push_str("</svg>\n");
        out
    }

    fn grid(&self, out: &mut String, axes: &Axes) {
        let step = step(axes.top);
        let mut n = 0;
        while f64::from(n) * step <= axes.top {
            let value = f64::from(n) * step;
            let stroke = if n == 0 { "stroke=\"#333333\"" } else { "stroke=\"#e4e4e4\"" };
            line(out, (LEFT, axes.y(value)), (WIDTH - RIGHT, axes.y(value)), stroke);
            text(out, LEFT - 8.0, axes.y(value) + 4.0, "text-anchor=\"end\"", &number(value));
            n += 1;
        }
        // Labels that would overlap are left out.
        let mut free = f64::NEG_INFINITY;
        for (i, tick) in self.ticks.iter().enumerate() {
            let (x, half) = (axes.x(i), 3.8 * tick.chars().count() as f64);
            line(out, (x, HEIGHT - BOTTOM), (x, HEIGHT - BOTTOM + 5.0), "stroke=\"#333333\"");
            if x - half > free {
                text(out, x, HEIGHT - BOTTOM + 20.0, "text-anchor=\"middle\"", tick);
                free = x + half + 4.0;
            }
        }
        let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
        text(out, middle, HEIGHT - 16.0, "text-anchor=\"middle\"", &self.x);
        let place = f64::midpoint(TOP, HEIGHT - BOTTOM);
        text(out, 20.0, place, &format!("text-anchor=\"middle\" transform=\"rotate(-90 20 {place})\""), &self.y);
    }

    fn line_of(&self, out: &mut String, axes: &Axes, n: usize, (name, values): &(String, Vec<Option<f64>>)) {
        let colour = COLOURS[n % COLOURS.len()];
        let there: Vec<(usize, f64)> = values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (i, v))).collect();
        let places: Vec<String> = there.iter().map(|&(i, v)| format!("{:.1},{:.1}", axes.x(i), axes.y(v))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            places.join(" ")
        );
        for &(i, v) in &there {
            let title = escaped(&format!("{name}, {} = {}: {} {}", self.x, self.ticks[i], number(v), self.y));
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"><title>{title}</title></circle>",
                axes.x(i),
                axes.y(v)
            );
        }
        let y = TOP + 10.0 + 20.0 * n as f64;
        let x = WIDTH - RIGHT + 16.0;
        let _ = writeln!(out, "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>", y - 10.0);
        text(out, x + 18.0, y, "", name);
    }
}

fn text(out: &mut String, x: f64, y: f64, attributes: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(text));
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), attributes: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {attributes}/>",
        from.0, from.1, to.0, to.1
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(ticks: &[&str]) -> Plot {
        let values = (0..ticks.len()).map(|i| Some(i as f64 + 1.0)).collect();
        Plot {
            title: "add <n>".into(),
            x: "n".into(),
            y: "TB/s".into(),
            ticks: ticks.iter().map(|&t| t.to_owned()).collect(),
            series: vec![("ttc".into(), values)],
            level: Some(("copy".into(), 3.5)),
            ..Plot::default()
        }
    }

    #[test]
    fn wide_ranges_are_logarithmic_and_words_stand_side_by_side() {
        let of = |ticks: &[&str]| places(&plot(ticks).ticks);
        assert_eq!(of(&["0", "5", "10"]), [0.0, 0.5, 1.0]);
        assert!((of(&["1", "10", "100"])[1] - 0.5).abs() < 1e-12);
        assert_eq!(of(&["fp16", "bf16", "fp32"]), [0.0, 0.5, 1.0]);
        assert_eq!((of(&["7"]), of(&["7", "7"]), of(&[])), (vec![0.0], vec![0.0, 1.0], vec![]));
    }

    #[test]
    fn a_picture_has_its_points_and_is_xml() {
        let svg = plot(&["1024", "4096", "65536"]).svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("<title>ttc, n = 4096: 2 TB/s</title>") && svg.contains("add &lt;n&gt;"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        for empty in [plot(&[]), Plot::default()] {
            assert!(!empty.svg().contains("NaN"));
        }
    }

    #[test]
    fn steps_are_round() {
        for (range, want) in [(1.0, 0.2), (3.5, 0.5), (9.0, 2.0), (600.0, 100.0)] {
            assert!((step(range) - want).abs() < 1e-9, "{range}");
        }
        assert_eq!([number(0.0), number(2.5), number(0.0004), number(1000.0)], ["0", "2.5", "4.00e-4", "1000"]);
    }

    /// Left, right and base of each text that is not turned, at the widths of a usual font.
    fn texts(svg: &str) -> Vec<(f64, f64, f64, String)> {
        let value = |tag: &str, name: &str| -> f64 {
            tag.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let one = |part: &str| {
            let (tag, rest) = part.split_once('>').unwrap();
            let text = rest.split('<').next().unwrap().to_owned();
            let size = if tag.contains("font-size") { value(tag, "font-size") } else { 12.0 };
            let width = 0.58 * size * text.chars().count() as f64;
            let x = value(tag, "x");
            let left = if tag.contains("\"middle\"") {
                x - width / 2.0
            } else if tag.contains("\"end\"") {
                x - width
            } else {
                x
            };
            (left, left + width, value(tag, "y"), text)
        };
        svg.split("<text").skip(1).filter(|t| !t.contains("rotate")).map(one).collect()
    }

    #[test]
    fn no_text_lies_over_another() {
        let mut crowded = plot(&["1024", "1025", "1026", "1048576", "2097152"]);
        for (level, name) in [(3.5, "ttc dtype=fp16"), (5.0, "before dtype=fp16"), (0.1, "rival dtype=bf16")] {
            crowded.series.push((name.into(), vec![Some(1.0), None, Some(5.0)]));
            crowded.level = Some(("a copy".into(), level));
            let all = texts(&crowded.svg());
            assert!(all.iter().any(|t| t.3 == name) && all.iter().any(|t| t.3.starts_with("a copy: ")), "{all:?}");
            for (i, a) in all.iter().enumerate() {
                for b in &all[..i] {
                    let apart = a.1 <= b.0 || b.1 <= a.0 || (a.2 - b.2).abs() >= 11.0;
                    assert!(apart, "{a:?} lies over {b:?}");
                }
            }
        }
    }
}
