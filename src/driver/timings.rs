//! The time of a compilation by stage, and what to say when the assembler takes nearly all of it.

use std::time::Duration;

use super::job::Compiled;
use crate::backend;

/// How long the assembler takes before anything is said of it. Nobody waits long for a shorter run.
const LONG: Duration = Duration::from_secs(5);

/// The share of the whole, in percent, that the assembler takes before anything is said of it.
const MOST: u128 = 80;

/// Stages with their times, in order.
type Timings = [(&'static str, Duration)];

/// Adds the time of a stage. A stage that runs twice has one time.
pub(super) fn add(timings: &mut Vec<(&'static str, Duration)>, stage: &'static str, took: Duration) {
    match timings.iter_mut().find(|(known, _)| *known == stage) {
        Some((_, time)) => *time += took,
        None => timings.push((stage, took)),
    }
}

fn total(timings: &Timings) -> Duration {
    timings.iter().map(|(_, time)| *time).sum()
}

fn of_assembler(timings: &Timings) -> Duration {
    timings.iter().filter(|(stage, _)| backend::is_assembler(stage)).map(|(_, time)| *time).sum()
}

/// Whether the assembler took long, and most of the compilation.
pub(super) fn assembler_is_slow(timings: &Timings) -> bool {
    let own = of_assembler(timings);
    own > LONG && own.as_millis() * 100 > total(timings).as_millis() * MOST
}

/// The table of `--time-passes` for the stages, a line each, with the sum.
#[must_use]
pub fn table(timings: &Timings) -> String {
    let line = |name: &str, time: Duration| format!("{:9.3} ms         {name}\n", time.as_secs_f64() * 1e3);
    let stages: String = timings.iter().map(|&(stage, time)| line(stage, time)).collect();
    stages + &line("all stages", total(timings))
}

/// What there is to say of an assembler that took most of a long compilation, and what would make that shorter.
#[must_use]
pub fn note(made: &Compiled) -> Option<String> {
    let assembler = made.slow_assembler.as_ref()?;
    let (own, all) = (of_assembler(&made.timings).as_secs_f64(), total(&made.timings).as_secs_f64());
    Some(format!(
        "note: {assembler} took {own:.1} s of the {all:.1} s for `{}`. Fewer elements a thread (smaller blocks, more \
         warps), loops that are not unrolled, or another ptxas (`--ptxas`) can make that shorter\n",
        made.kernel
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(ours: u64, assembler: u64) -> Compiled {
        let timings = vec![("PTX", Duration::from_millis(ours)), ("ptxas", Duration::from_millis(assembler))];
        let slow_assembler = assembler_is_slow(&timings).then(|| "ptxas 13.4".to_owned());
        Compiled { kernel: "k".to_owned(), timings, slow_assembler, ..Compiled::default() }
    }

    #[test]
    fn an_assembler_is_slow_when_it_takes_long_and_most_of_the_time() {
        let said = |ours, assembler| note(&compiled(ours, assembler)).is_some();
        assert!(said(1000, 5001));
        assert!(!said(0, 5000), "five seconds are not long");
        assert!(!said(2500, 10_000), "80 % are not most");
        assert!(said(2499, 10_000));
        assert!(!said(0, 0));
    }

    #[test]
    fn the_note_names_the_assembler_and_the_times_and_the_kernel() {
        let text = note(&compiled(1250, 12_340)).unwrap();
        assert!(text.starts_with("note: ptxas 13.4 took 12.3 s of the 13.6 s for `k`. Fewer elements"), "{text}");
    }

    #[test]
    fn the_table_has_a_line_a_stage_and_the_sum() {
        let expected = " 1250.000 ms         PTX\n 5001.000 ms         ptxas\n 6251.000 ms         all stages\n";
        assert_eq!(table(&compiled(1250, 5001).timings), expected);
    }
}
