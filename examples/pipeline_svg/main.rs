//! What software pipelining does to a loop, as a picture: `cargo run --example pipeline_svg -- FILE.ttgir OUT.svg`.
//!
//! FILE is TTGIR behind `--tritongpu-schedule-loops`; the bounds of its loop are constants. `docs/pipeline-loop.svg`
//! was made so.
#![allow(clippy::print_stderr)]

use std::process::ExitCode;

use ttc::report::before_and_after;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &args[..] else {
        eprintln!("usage: pipeline_svg FILE.ttgir OUT.svg");
        return ExitCode::from(2);
    };
    let drawn = std::fs::read_to_string(input).map_err(|e| e.to_string()).and_then(|t| before_and_after(input, &t));
    match drawn.and_then(|picture| std::fs::write(output, picture.svg()).map_err(|e| e.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{input}: {why}");
            ExitCode::FAILURE
        }
    }
}
