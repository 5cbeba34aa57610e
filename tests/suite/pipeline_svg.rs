//! docs/pipeline-loop.svg is what `examples/pipeline_svg` draws of docs/pipeline-loop.ttgir; `BLESS=1 cargo test
//! pipeline_svg` writes it anew.

use std::fs;
use std::path::Path;

use ttc::report::before_and_after;

fn input() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pipeline-loop.ttgir")).unwrap()
}

#[test]
fn the_picture_shows_what_the_pass_does() {
    let made = before_and_after("pipeline-loop.ttgir", &input()).unwrap().svg();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pipeline-loop.svg");
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, made).unwrap();
        return;
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == made,
        "docs/pipeline-loop.svg is not what the pass does now; BLESS=1 cargo test pipeline_svg, and look at it"
    );
}

#[test]
fn a_loop_without_a_schedule_is_refused() {
    let text: String = input().replace("loop.stage", "x.stage");
    let why = before_and_after("x.ttgir", &text).unwrap_err();
    assert!(why.contains("--tritongpu-schedule-loops"), "{why}");
}

#[test]
fn a_loop_with_unknown_bounds_is_refused() {
    let text = input().replace("(%x: ", "(%m: i32, %x: ").replace("%c0 to %c6", "%c0 to %m");
    let why = before_and_after("x.ttgir", &text).unwrap_err();
    assert!(why.contains("constants"), "{why}");
}
