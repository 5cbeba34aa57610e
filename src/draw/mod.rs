//! Pictures: shapes with places and inks, as one value that is written as SVG or handed to the page of `ttc report`.
//!
//! 1. A [`Picture`] is made of [`Shape`]s by the methods `rect`, `line`, `text` and so on. Who draws knows places and
//!    words, and neither XML nor JSON.
//! 2. An [`Ink`] names what a colour is for, so that a page can have one colour for it in the light and one in the
//!    dark.
//! 3. [`svg`] writes a picture as a file of its own. As JSON it is a list of shapes, which the page draws.
//! 4. [`axes`] has round steps, places on an axis and short numbers.
//!
//! Example: `picture.rect(0.0, 0.0, 72.0, 16.0, Ink::hue(137, 60, 80))` is in SVG `<rect x="0" y="0" width="72"
//! height="16" fill="hsl(137,60%,80%)"/>`.

pub mod axes;
mod ink;
mod svg;

use serde::Serialize;

pub use ink::Ink;

/// Shapes on an area of so many pixels.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Picture {
    pub width: f64,
    pub height: f64,
    /// The size of the letters where a text says nothing else.
    pub font: f64,
    /// Whether all letters have one width.
    #[serde(skip_serializing_if = "is_false")]
    pub monospaced: bool,
    pub shapes: Vec<Shape>,
}

/// On which side of its place a text stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Style {
    pub anchor: Anchor,
    pub ink: Ink,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    #[serde(skip_serializing_if = "is_false")]
    pub bold: bool,
    /// Whether it is written from below to above.
    #[serde(skip_serializing_if = "is_false")]
    pub turned: bool,
}

impl Style {
    /// A usual text with this anchor.
    #[must_use]
    pub fn at(anchor: Anchor) -> Style {
        Style { anchor, ink: Ink::Text, size: None, bold: false, turned: false }
    }

    #[must_use]
    pub fn ink(self, ink: Ink) -> Style {
        Style { ink, ..self }
    }

    /// A title of this size.
    #[must_use]
    pub fn title(size: f64) -> Style {
        Style { size: Some(size), bold: true, ..Style::at(Anchor::Start) }
    }
}

/// One cell of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    pub label: String,
    pub fill: Ink,
}

/// Something that is drawn.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub enum Shape {
    Rect {
        x: f64,
        y: f64,
        w: f64,
        h: f64,
        fill: Ink,
        #[serde(skip_serializing_if = "Option::is_none")]
        stroke: Option<Ink>,
        /// What a browser shows under the pointer.
        #[serde(skip_serializing_if = "String::is_empty")]
        title: String,
        /// What the shape stands for, as a number that the picture's maker knows.
        #[serde(skip_serializing_if = "Option::is_none")]
        link: Option<usize>,
    },
    Line {
        from: (f64, f64),
        to: (f64, f64),
        ink: Ink,
        /// The lengths of strokes and gaps.
        #[serde(skip_serializing_if = "Option::is_none")]
        dash: Option<(u8, u8)>,
    },
    Text {
        x: f64,
        y: f64,
        text: String,
        style: Style,
    },
    /// A line through points, with a dot at each, whose title says what it is.
    Curve {
        ink: Ink,
        points: Vec<(f64, f64)>,
        titles: Vec<String>,
    },
    /// Cells of one size, row by row.
    Table {
        x: f64,
        y: f64,
        columns: usize,
        w: f64,
        h: f64,
        cells: Cells,
    },
}

/// The cells of a table. In JSON, the inks are numbers of a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cells(pub Vec<Cell>);

impl Serialize for Cells {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Columns<'a> {
            inks: Vec<Ink>,
            fills: Vec<usize>,
            labels: Vec<&'a str>,
        }
        let mut numbers = std::collections::BTreeMap::new();
        let mut inks = vec![];
        let mut number = |ink: Ink| {
            *numbers.entry(ink).or_insert_with(|| {
                inks.push(ink);
                inks.len() - 1
            })
        };
        let fills = self.0.iter().map(|c| number(c.fill)).collect();
        Columns { inks, fills, labels: self.0.iter().map(|c| c.label.as_str()).collect() }.serialize(to)
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Picture {
    #[must_use]
    pub fn new(width: f64, height: f64, font: f64) -> Picture {
        Picture { width, height, font, ..Picture::default() }
    }

    pub fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, fill: Ink) {
        self.shapes.push(Shape::Rect { x, y, w, h, fill, stroke: None, title: String::new(), link: None });
    }

    /// A rectangle with an edge, and what it is.
    pub fn bar(&mut self, (x, y, w, h): (f64, f64, f64, f64), fill: Ink, title: &str, link: Option<usize>) {
        let stroke = Some(Ink::Edge);
        self.shapes.push(Shape::Rect { x, y, w, h, fill, stroke, title: title.to_owned(), link });
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        self.shapes.push(Shape::Line { from, to, ink, dash: None });
    }

    pub fn dashed(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, dash: (u8, u8)) {
        self.shapes.push(Shape::Line { from, to, ink, dash: Some(dash) });
    }

    pub fn text(&mut self, x: f64, y: f64, style: Style, text: impl Into<String>) {
        self.shapes.push(Shape::Text { x, y, text: text.into(), style });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let mut p = Picture::new(100.0, 50.5, 11.0);
        p.rect(0.0, 1.25, 72.0, 16.0, Ink::hue(137, 60, 80));
        p.bar((1.0, 2.0, 3.0, 4.0), Ink::Wait, "a < b", Some(3));
        p.text(4.0, 5.0, Style::at(Anchor::Middle), "x & \"y\"");
        let cells = [("T0:0", Ink::Paper), ("T1:0", Ink::Faint), ("T2:0", Ink::Paper)];
        let cells = cells.map(|(label, fill)| Cell { label: label.into(), fill }).to_vec();
        p.shapes.push(Shape::Table { x: 0.0, y: 0.0, columns: 2, w: 40.0, h: 20.0, cells: Cells(cells) });
        p
    }

    #[test]
    fn a_picture_as_svg_has_its_shapes_with_words_escaped() {
        let svg = picture().svg();
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50.5\""), "{svg}");
        assert!(
            svg.contains("<rect x=\"0\" y=\"1.2\" width=\"72\" height=\"16\" fill=\"hsl(137,60%,80%)\"/>"),
            "{svg}"
        );
        assert!(svg.contains("<title>a &lt; b</title>") && svg.contains(">x &amp; &quot;y&quot;</text>"), "{svg}");
        // The third cell begins the second row.
        assert!(svg.contains("<rect x=\"0\" y=\"20\" width=\"40\""), "{svg}");
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    }

    #[test]
    fn a_picture_as_json_has_inks_by_name_and_says_nothing_usual() {
        let json = serde_json::to_value(picture()).unwrap();
        let shapes = json["shapes"].as_array().unwrap();
        assert_eq!(shapes[0]["fill"], "hsl(137,60%,80%)");
        assert!(shapes[0].get("title").is_none() && shapes[0].get("link").is_none());
        assert_eq!((&shapes[1]["fill"], &shapes[1]["link"]), (&"wait".into(), &3.into()));
        assert_eq!(shapes[3]["cells"]["fills"], serde_json::json!([0, 1, 0]));
        assert_eq!(shapes[3]["cells"]["inks"], serde_json::json!(["paper", "faint"]));
    }
}
