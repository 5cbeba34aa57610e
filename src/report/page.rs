//! The page itself: one file of HTML with the data, the style and the program in it.

use super::data::Page;

const STYLE: &str = include_str!("page/style.css");
/// The program, which is one script in parts.
const PROGRAM: [&str; 6] = [
    include_str!("page/base.js"),
    include_str!("page/code.js"),
    include_str!("page/passes.js"),
    include_str!("page/numbers.js"),
    include_str!("page/compare.js"),
    include_str!("page/keys.js"),
];
const BODY: &str = include_str!("page/body.html");

/// The page as a text.
#[must_use]
pub(super) fn html(data: &Page) -> String {
    let json = serde_json::to_string(data).expect("an object with string keys always serialises");
    // No text of a kernel may end the element that it stands in.
    let json = json.replace('<', "\\u003c");
    let title = escaped(&format!("{} for {}", data.kernel, data.sides.first().map_or("", |s| s.arch.as_str())));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n{BODY}<script type=\"application/json\" id=\"data\">{json}</script>\n\
         <script>\n{}</script>\n</body>\n</html>\n",
        PROGRAM.concat()
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
