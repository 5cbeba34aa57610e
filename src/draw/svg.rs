//! A picture as the text of an SVG file.

use std::fmt::Write;

use super::axes::short;
use super::{Anchor, Cell, Picture, Shape, Style};

impl Picture {
    /// The picture as a file on white paper.
    #[must_use]
    pub fn svg(&self) -> String {
        let (w, h) = (short(self.width), short(self.height));
        let family = if self.monospaced { "monospace" } else { "sans-serif" };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{family}\" font-size=\"{}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            short(self.font)
        );
        self.shapes.iter().for_each(|s| shape(&mut out, s));
        out.push_str("</svg>\n");
        out
    }
}

/// The text with characters that mean something in XML written otherwise.
#[must_use]
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Rect { x, y, w, h, fill, stroke, title, link: _ } => {
            let stroke = stroke.map_or_else(String::new, |s| format!(" stroke=\"{}\"", s.colour()));
            let end = titled(title, "rect");
            let size = size(*x, *y, *w, *h);
            let _ = writeln!(out, "<rect {size} fill=\"{}\"{stroke}{end}", fill.colour());
        }
        Shape::Line { from, to, ink, dash } => {
            let dash = dash.map_or_else(String::new, |(a, b)| format!(" stroke-dasharray=\"{a} {b}\""));
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(short);
            let stroke = ink.colour();
            let _ = writeln!(out, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{stroke}\"{dash}/>");
        }
        Shape::Text { x, y, text, style } => written(out, *x, *y, *style, text),
        Shape::Curve { ink, points, titles } => {
            let places: Vec<String> = points.iter().map(|p| format!("{},{}", short(p.0), short(p.1))).collect();
            let (places, colour) = (places.join(" "), ink.colour());
            let _ =
                writeln!(out, "<polyline points=\"{places}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
            for ((x, y), title) in points.iter().zip(titles) {
                let (x, y, end) = (short(*x), short(*y), titled(title, "circle"));
                let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"{end}");
            }
        }
        Shape::Table { x, y, columns, w, h, cells } => {
            for (i, cell) in cells.0.iter().enumerate() {
                let (column, row) = ((i % columns) as f64, (i / columns) as f64);
                table_cell(out, (x + column * w, y + row * h, *w, *h), cell);
            }
        }
    }
}

/// How many letters of a label fit into a cell.
const LABEL: usize = 24;

fn table_cell(out: &mut String, (x, y, w, h): (f64, f64, f64, f64), cell: &Cell) {
    let (size, fill) = (size(x, y, w, h), cell.fill.colour());
    let _ = write!(out, "<rect {size} fill=\"{fill}\" stroke=\"white\"/><g><title>{}</title>", escaped(&cell.label));
    // What does not fit is in the title.
    let short: String = if cell.label.chars().count() > LABEL {
        cell.label.chars().take(LABEL - 2).chain("…".chars()).collect()
    } else {
        cell.label.clone()
    };
    written(out, x + w / 2.0, y + h - 6.0, Style::at(Anchor::Middle), &short);
    out.truncate(out.trim_end().len());
    out.push_str("</g>\n");
}

fn size(x: f64, y: f64, w: f64, h: f64) -> String {
    let [x, y, w, h] = [x, y, w, h].map(short);
    format!("x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"")
}

/// The end of an element that may have a title.
fn titled(title: &str, element: &str) -> String {
    if title.is_empty() { "/>".to_owned() } else { format!("><title>{}</title></{element}>", escaped(title)) }
}

fn written(out: &mut String, x: f64, y: f64, style: Style, text: &str) {
    let anchor = match style.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let (x, y) = (short(x), short(y));
    let size = style.size.map_or_else(String::new, |s| format!(" font-size=\"{}\"", short(s)));
    let bold = if style.bold { " font-weight=\"bold\"" } else { "" };
    let turned = if style.turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let fill = style.ink.colour();
    let _ =
        writeln!(out, "<text x=\"{x}\" y=\"{y}\"{anchor} fill=\"{fill}\"{size}{bold}{turned}>{}</text>", escaped(text));
}
