//! A plot of a measurement: a line for each series over a parameter, as an SVG file.
//!
//! 1. The horizontal axis is logarithmic if the largest value is at least eight times the least one. Values that are
//!    no numbers stand side by side.
//! 2. The vertical axis starts at 0. A level, such as the bandwidth of a copy, is a dashed line.
//! 3. Every point has a title with its numbers, which a browser shows under the pointer.
//!
//! Example: a point is `<circle cx="80" cy="300" r="4" fill="#1f6fb4"><title>ttc, n = 1024: 0.4</title></circle>`.

use crate::draw::axes::{number, places, step};
use crate::draw::{Anchor, Ink, Picture, Shape, Style};

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

impl Plot {
    /// The picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let axes = Axes::of(self);
        let mut out = Picture::new(WIDTH, HEIGHT, 12.0);
        out.text(LEFT, 24.0, Style::title(16.0), self.title.clone());
        out.text(LEFT, 44.0, Style::at(Anchor::Start).ink(Ink::Soft), self.subtitle.clone());
        self.grid(&mut out, &axes);
        if let Some((name, value)) = &self.level {
            out.dashed((LEFT, axes.y(*value)), (WIDTH - RIGHT, axes.y(*value)), Ink::Soft, (6, 4));
            let label = format!("{name}: {}", number(*value));
            out.text(LEFT + 8.0, axes.y(*value) - 6.0, Style::at(Anchor::Start).ink(Ink::Soft), label);
        }
        for (n, series) in self.series.iter().enumerate() {
            self.line_of(&mut out, &axes, n, series);
        }
        out
    }

    fn grid(&self, out: &mut Picture, axes: &Axes) {
        let step = step(axes.top);
        let mut n = 0;
        while f64::from(n) * step <= axes.top {
            let value = f64::from(n) * step;
            let ink = if n == 0 { Ink::Axis } else { Ink::Grid };
            out.line((LEFT, axes.y(value)), (WIDTH - RIGHT, axes.y(value)), ink);
            out.text(LEFT - 8.0, axes.y(value) + 4.0, Style::at(Anchor::End), number(value));
            n += 1;
        }
        // Labels that would overlap are left out.
        let mut free = f64::NEG_INFINITY;
        let middle = Style::at(Anchor::Middle);
        for (i, tick) in self.ticks.iter().enumerate() {
            let (x, half) = (axes.x(i), 3.8 * tick.chars().count() as f64);
            out.line((x, HEIGHT - BOTTOM), (x, HEIGHT - BOTTOM + 5.0), Ink::Axis);
            if x - half > free {
                out.text(x, HEIGHT - BOTTOM + 20.0, middle, tick.clone());
                free = x + half + 4.0;
            }
        }
        out.text(LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 16.0, middle, self.x.clone());
        out.text(20.0, f64::midpoint(TOP, HEIGHT - BOTTOM), Style { turned: true, ..middle }, self.y.clone());
    }

    fn line_of(&self, out: &mut Picture, axes: &Axes, n: usize, (name, values): &(String, Vec<Option<f64>>)) {
        let ink = Ink::Series(n as u8);
        let there: Vec<(usize, f64)> = values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (i, v))).collect();
        let title =
            |&(i, v): &(usize, f64)| format!("{name}, {} = {}: {} {}", self.x, self.ticks[i], number(v), self.y);
        let points = there.iter().map(|&(i, v)| (axes.x(i), axes.y(v))).collect();
        out.shapes.push(Shape::Curve { ink, points, titles: there.iter().map(title).collect() });
        let (x, y) = (WIDTH - RIGHT + 16.0, TOP + 10.0 + 20.0 * n as f64);
        out.rect(x, y - 10.0, 12.0, 12.0, ink);
        out.text(x + 18.0, y, Style::at(Anchor::Start), name.clone());
    }
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
    fn a_picture_has_its_points_and_is_xml() {
        let svg = plot(&["1024", "4096", "65536"]).picture().svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("<title>ttc, n = 4096: 2 TB/s</title>") && svg.contains("add &lt;n&gt;"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        for empty in [plot(&[]), Plot::default()] {
            assert!(!empty.picture().svg().contains("NaN"));
        }
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
            let all = texts(&crowded.picture().svg());
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
