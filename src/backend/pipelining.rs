//! Choices of the software pipeliner that Triton does not have.

/// Which of them are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pipelining {
    pub refill: Refill,
    pub chains: Chains,
    /// In a cluster, copies of [`Refill::All`] go to all blocks that want the same.
    pub multicast: bool,
    pub stages: Stages,
    pub steps: Steps,
    pub programs: Programs,
    pub operands: Operands,
    pub slots: Slots,
    pub rows: Rows,
    pub iterations: Iterations,
    pub versions: Versions,
    pub loads: Loads,
}

/// In which loops copies by hardware wait for the slot that they fill, and not for the block (`ttc-refill-slots`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Refill {
    /// In none.
    Never,
    /// Where warp groups gain from running apart ([`crate::analysis::chained_products`]).
    #[default]
    Chained,
    /// In all of them.
    All,
}

/// When a loop in which one product waits for another begins its next iteration (`ttc-rotate-chains`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Chains {
    /// Its first product runs beside the last one of the iteration before, where slots are refilled.
    #[default]
    Rotated,
    /// Behind the iteration before.
    InOrder,
}

/// How many stages loops get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stages {
    /// Fewer than asked for, where a second block fits on a multiprocessor then (`ttc-fit-stages`), or where more do
    /// not fit into one.
    #[default]
    Fit,
    /// As many as asked for.
    Asked,
}

/// How much of K an iteration fetches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Steps {
    /// Several steps of the source where one is less than a line of memory (`ttc-fuse-k-steps`).
    #[default]
    Fused,
    /// One.
    One,
}

/// How many programs a block does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Programs {
    /// Two where they load the same and the launch has many (`ttc-merge-programs`).
    #[default]
    Merged,
    /// Two where they load the same, however few there are.
    Two,
    /// One.
    One,
}

/// Where a narrow product of a loop has its first operand, if that is the same in each iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Operands {
    /// In registers (`ttc-keep-operands`).
    #[default]
    Kept,
    /// In shared memory.
    Shared,
}

/// How many slots a ring of buffers has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slots {
    /// One more than needed where that saves a barrier in each iteration (`ttc-spare-slots`).
    #[default]
    Spare,
    /// As few as possible.
    Fewest,
}

/// How a chain of products does rows that warps multiply in several steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// Part by part (`ttc-split-rows`).
    #[default]
    Split,
    /// All at once.
    Whole,
}

/// How a loop does its full blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Iterations {
    /// In a copy without masks (`ttc-full-iterations`).
    #[default]
    Full,
    /// As all others.
    Masked,
}

/// How often code stands that would be better if more were known of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Versions {
    /// Twice, and the program sees which it takes (`ttc-multiples`, `ttc-whole-vectors`).
    #[default]
    Two,
    /// Once.
    One,
}

/// When a loop without products starts what it loads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Loads {
    /// An iteration ahead (`ttc-loads-ahead`) where the model of waits says that it costs clearly less.
    #[default]
    Cheaper,
    /// An iteration ahead.
    Ahead,
    /// In the iteration that uses it.
    InTurn,
}

impl Pipelining {
    /// What the command line says of the words that [`Pipelining::parse`] takes.
    pub const HELP: &str = "Schedules, separated by commas: `refill` (copies by hardware wait for the slot that they fill, and \
                            not for the block, in every loop; else where warp groups gain from it), `no-refill` (in no \
                            loop), `in-order` (no product of the next iteration begins before this one's last), `multicast` (with `refill`, one copy goes to all blocks of a cluster that read it), \
                            `all-stages` (as many stages as asked for, also where fewer let two blocks fit), `one-step` \
                            (one step of K an iteration, also where several make a line of memory), `one-program` (each \
                            block does one program, also where two load the same), `two-programs` (a block does two that \
                            load the same, however few a launch has), `shared-operands` (no \
                            operand of a product stays in registers over a loop), `fewest-slots` (no ring of buffers gets a slot to \
                            save a barrier), `whole-rows` (no chain of products is split into parts of its rows), `masked-iterations` (no loop gets a copy \
                            without masks for its full blocks), `one-version` (no code gets a copy for sizes that are \
                            multiples of 16, or for masks that split no vector), `loads-ahead` (loops without products load for the \
                            next iteration, also where the model says that it gains nothing), `loads-in-turn` (they \
                            load what they use in the same iteration)";

    /// Triton's schedules.
    pub const TRITON: Pipelining = Pipelining {
        refill: Refill::Never,
        chains: Chains::InOrder,
        multicast: false,
        stages: Stages::Asked,
        steps: Steps::One,
        programs: Programs::One,
        operands: Operands::Shared,
        slots: Slots::Fewest,
        rows: Rows::Whole,
        iterations: Iterations::Masked,
        versions: Versions::One,
        loads: Loads::InTurn,
    };

    /// The choices that a list of words names, separated by commas. What it does not name is as by default.
    ///
    /// # Errors
    /// The word that names none, and those that do.
    pub fn parse(text: &str) -> Result<Pipelining, String> {
        let mut chosen = Pipelining::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "refill" => chosen.refill = Refill::All,
                "no-refill" => chosen.refill = Refill::Never,
                "in-order" => chosen.chains = Chains::InOrder,
                "multicast" => chosen.multicast = true,
                "all-stages" => chosen.stages = Stages::Asked,
                "one-step" => chosen.steps = Steps::One,
                "one-program" => chosen.programs = Programs::One,
                "two-programs" => chosen.programs = Programs::Two,
                "shared-operands" => chosen.operands = Operands::Shared,
                "fewest-slots" => chosen.slots = Slots::Fewest,
                "whole-rows" => chosen.rows = Rows::Whole,
                "masked-iterations" => chosen.iterations = Iterations::Masked,
                "one-version" => chosen.versions = Versions::One,
                "loads-ahead" => chosen.loads = Loads::Ahead,
                "loads-in-turn" => chosen.loads = Loads::InTurn,
                _ => {
                    return Err(format!(
                        "`{word}` is no choice of the pipeliner, expected `refill`, `no-refill`, `in-order`, `multicast`, \
                         `all-stages`, `one-step`, `one-program`, `two-programs`, `shared-operands`, `fewest-slots`, \
                         `whole-rows`, `masked-iterations`, `one-version`, `loads-ahead` or `loads-in-turn`"
                    ));
                }
            }
        }
        if chosen.multicast && chosen.refill != Refill::All {
            return Err("`multicast` goes with `refill`: write `refill,multicast`".to_owned());
        }
        Ok(chosen)
    }

    /// The words of what is chosen and is not the default.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        let Pipelining {
            refill,
            chains,
            multicast,
            stages,
            steps,
            programs,
            operands,
            slots,
            rows,
            iterations,
            versions,
            loads,
        } = self;
        let words = [
            ("refill", refill == Refill::All),
            ("no-refill", refill == Refill::Never),
            ("in-order", chains == Chains::InOrder),
            ("multicast", multicast),
            ("all-stages", stages == Stages::Asked),
            ("one-step", steps == Steps::One),
            ("one-program", programs == Programs::One),
            ("two-programs", programs == Programs::Two),
            ("shared-operands", operands == Operands::Shared),
            ("fewest-slots", slots == Slots::Fewest),
            ("whole-rows", rows == Rows::Whole),
            ("masked-iterations", iterations == Iterations::Masked),
            ("one-version", versions == Versions::One),
            ("loads-ahead", loads == Loads::Ahead),
            ("loads-in-turn", loads == Loads::InTurn),
        ];
        words.into_iter().filter(|(_, on)| *on).map(|(word, _)| word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_choices() {
        assert_eq!(Pipelining::parse(""), Ok(Pipelining::default()));
        let all = Pipelining::parse(" multicast, refill,all-stages,").unwrap();
        assert!(all.refill == Refill::All && all.multicast && all.stages == Stages::Asked);
        for choice in [all, Pipelining::TRITON, Pipelining::default()] {
            assert_eq!(Pipelining::parse(&choice.words().join(",")), Ok(choice));
        }
        assert!(Pipelining::parse("refil").unwrap_err().contains("`refil`"));
        assert!(Pipelining::parse("multicast").unwrap_err().contains("`refill,multicast`"));
        assert!(Pipelining::parse("no-refill,multicast").unwrap_err().contains("`refill,multicast`"));
    }
}
