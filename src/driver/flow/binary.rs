//! From PTX to a binary: ptxas, and other attempts where the first one spills registers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use super::forms::{Form, Made, Settings};
use super::{Flow, Step};
use crate::backend::{self, Binary, Cost, Generator, Iterations, Loads, Pipelining, Stage, Tools, Versions};
use crate::codegen::Module;
use crate::diag::codes::tools as codes;
use crate::diag::{Diagnostic, Severity};
use crate::driver::job::JobOptions;
use crate::driver::reproducer::{Panic, apart};
use crate::driver::timings;
use crate::ir::Ir;
use crate::ir::dialects::discardable::VERSIONS;
use crate::passes::remarks::Group;
use crate::passes::ttg::loads_ahead::{self, Entered};
use crate::passes::ttg::{full_iterations, whole_vectors};
use crate::ptxas::Stop;
use crate::threads::{self, Core};

/// Bytes of PTX beyond which there is no other attempt: ptxas takes seconds for more. It is not the time of the first
/// try that decides, since a busy machine must make the same code as an idle one.
const LARGEST: usize = 400_000;

/// TTGIR before the passes in front of code generation, and what other forms of it there are.
pub(super) struct Spare {
    ir: Ir,
    /// One without copies, with fewer registers.
    without_copies: bool,
    /// One whose loops start loads ahead, and how often these are entered.
    loads_ahead: Option<Entered>,
}

/// What is known of the code of a kernel besides its assembly.
#[derive(Clone, Copy, Default)]
pub(super) struct About {
    /// The bytes of shared memory of a block.
    pub(super) shared: Option<u32>,
    /// How many versions of its code there are, of which each program runs one.
    pub(super) versions: u32,
}

/// How many versions of its code a module has.
pub(super) fn versions(ir: &Ir) -> u32 {
    ir.get(ir.module(), VERSIONS).map_or(1, |versions| versions.max(1) as u32)
}

pub(super) fn tools<'a>(options: &'a JobOptions, file: Option<&'a str>, about: About) -> Tools<'a> {
    Tools {
        assembler: options.ptxas.as_deref(),
        line_info: options.line_info,
        fp_fusion: options.fp_fusion,
        retry: options.retry,
        shared: about.shared,
        versions: about.versions,
        source_name: file,
        time_limit: options.time_limit,
        stop: None,
        most_cost: None,
        line_listing: false,
    }
}

/// Assembly with its instructions in another order, and what the assembler made of it. `None` if there is no other
/// order that is likely to spill less, or the assembler failed.
type OtherOrder = Option<(String, Binary)>;

/// Whether another order of instructions is worth a try, for a kernel with this assembly.
fn wants_other_order(binary: &Binary, assembly: &str) -> bool {
    binary.spilled() > 0 && !binary.settled && assembly.len() <= LARGEST
}

/// Whether a binary without copies is better than one with them, of which each program runs half. On an H200, where the
/// model says 1.13 and 1.08 it ran at 1.21 and 1.49 of the speed, and at 0.76 and 0.59 for 0.73 and 0.82.
fn is_worth_its_masks(plain: &Binary, copied: &Binary) -> bool {
    let is_cheaper = plain.cost.zip(copied.cost).map_or(plain.spilled() == 0, |(one, two)| one.full * 2.0 <= two.full);
    plain.spilled() < copied.spilled() && is_cheaper
}

/// How much cheaper code must be by the model that starts loads ahead. Or with as many blocks and loops that are
/// entered once, how much cheaper for few warps, and how much it may cost more then where the multiprocessor is full.
/// On an H200, 86 kernels of more than 4 us with the first ran at 1.178 of their speed, 46 above 1.05 and six below
/// 0.95; 29 others with the second at 1.112, 16 and none; and the other 194 at 0.994, 45 and 55.
const AHEAD: f64 = 1.05;
const AHEAD_FOR_FEW: f64 = 1.1;
const NO_DEARER: f64 = 1.03;

/// How much dearer the first answer for code that starts loads ahead may be by the model, so that the assembler is
/// asked for another one. Of 323 real kernels 103 are beyond that, for one of which another answer would be taken;
/// their other answers are 15 % of what the assembler takes for all code that starts loads ahead.
const HOPELESS: f64 = 1.1;

/// Whether a binary that starts loads ahead is better than one that does not.
fn is_better_ahead(ahead: &Binary, first: &Binary, entered: Entered) -> bool {
    let is_cheaper = ahead.cost.zip(first.cost).is_some_and(|(ahead, first)| {
        let is_for_few = ahead.few * AHEAD_FOR_FEW <= first.few && ahead.full <= first.full * NO_DEARER;
        ahead.full * AHEAD <= first.full || is_for_few && ahead.blocks >= first.blocks && entered == Entered::Once
    });
    ahead.spilled() <= first.spilled() && is_cheaper
}

/// Whether another order of instructions is better: it spills less and costs less by the model, or it spills less by a
/// tenth and costs hardly more. On an H200, of 19 kernels whose gathered order takes a tenth less of the stack or more,
/// eleven ran above 1.05 of their speed, up to 3.5, and none below 0.95 (geometric mean 1.17).
fn is_better_order(other: &Binary, first: &Binary) -> bool {
    let is_clear = other.spilled() * 10 < first.spilled() * 9;
    let costs_less =
        |(other, first): (Cost, Cost)| other.full < first.full || is_clear && other.full <= first.full * HARDLY_MORE;
    other.spilled() < first.spilled() && other.cost.zip(first.cost).map_or(is_clear, costs_less)
}

/// How much more an order that spills less by a tenth may cost by the model.
const HARDLY_MORE: f64 = 1.05;

/// Without copies of loops for their full blocks, and of what masks split.
fn leave_out_copies(chosen: &mut Pipelining) {
    chosen.iterations = Iterations::Masked;
    chosen.versions = Versions::One;
}

/// With loads that start ahead.
fn start_loads_ahead(chosen: &mut Pipelining, has_copies: bool) {
    chosen.loads = Loads::Ahead;
    if !has_copies {
        leave_out_copies(chosen);
    }
}

/// What code that starts loads ahead may cost beside the first form, so that the assembler is asked again.
fn most_cost(first: &Binary) -> f64 {
    first.cost.map_or(f64::INFINITY, |cost| cost.full * HOPELESS)
}

/// What another thread made of its part of the job.
fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, Panic>>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic)).unwrap_or_else(|panic| panic.resume())
}

/// Operations of TTGIR beyond which none is kept for another attempt: LLVM needs the memory.
const MOST_OPS: usize = 5_000;

impl Flow<'_, '_> {
    /// What makes a stage, as the table of times calls it.
    pub(super) fn work(&self, stage: Stage) -> &'static str {
        backend::work(&self.job.target, stage)
    }

    /// Starts the assembler, which loads while the assembly is made.
    pub(super) fn start_assembler(&mut self) {
        if self.ahead.is_none() && self.goes_past(Stage::Assembly) {
            let tools = tools(&self.options, None, About::default());
            self.ahead = self.generator().ok().and_then(|generator| generator.ahead(&self.job.target, &tools));
        }
    }

    /// Keeps TTGIR before the passes in front of code generation, if the kernel may be compiled again from it.
    pub(super) fn keep_spare(&mut self, ir: &Ir) {
        let pipelining = self.settings().gpu_options().pipelining;
        let may = self.options.retry && self.goes_past(Stage::Assembly);
        if !may || ir.all_ops(ir.module()).len() > MOST_OPS {
            return;
        }
        let without_copies = pipelining.iterations == Iterations::Full && full_iterations::applies(ir)
            || pipelining.versions == Versions::Two && whole_vectors::applies(ir);
        let may_be_ahead =
            pipelining.loads == Loads::Cheaper && self.generator().is_ok_and(<dyn Generator>::knows_cost);
        let loads_ahead = if may_be_ahead { loads_ahead::applies(ir) } else { None };
        if without_copies || loads_ahead.is_some() {
            self.spare = Some(Spare { ir: ir.clone(), without_copies, loads_ahead });
        }
    }

    /// Assembles PTX of ours. The PTX comes back as the assembler was given it for the binary.
    ///
    /// 1. A kernel that spills, and parts of which are there twice (loops for their full blocks, code for masks that
    ///    split no vector), is compiled without the copies. That is taken if it spills less and the generator's model
    ///    says that it costs no more: a program runs half of what is there twice. Where too many registers are alive at
    ///    once for that, the assembler is not asked.
    /// 2. If it spills much, it is compiled with its instructions in another order and with what saves registers, which
    ///    is taken if it spills less and the model says that it costs less. Without a model it has to spill less by
    ///    more than a tenth. Not for more PTX than [`LARGEST`], and not where fewer registers at once are not to be
    ///    expected of it.
    ///
    /// Where it is likely that the second is needed, it is made while the assembler still works on the first. Which is
    /// taken does not depend on that.
    ///
    /// 3. If loops may start loads ahead, the kernel is compiled with these as well, by another thread if there is a
    ///    core for it. That is taken if it spills no more and the model says that it costs less ([`is_better_ahead`]).
    pub(super) fn tried_again(&mut self, module: Module, ptx: String) -> Step<(String, Option<Binary>)> {
        if !self.goes_past(Stage::Assembly) {
            return Ok((ptx, None));
        }
        let spare = self.spare.take().filter(|spare| ptx.len() <= LARGEST || spare.without_copies);
        let Some(spare) = spare else {
            let (text, best, _) = self.with_fewest_spills(module, ptx, None)?;
            return Ok((text, Some(best)));
        };
        let entered = spare.loads_ahead.filter(|_| ptx.len() <= LARGEST);
        let core = entered.and_then(|_| Core::take());
        let copied = Some(&spare.ir).filter(|_| spare.without_copies);
        let (first, other) = match core {
            Some(_) => self.beside_loads_ahead(module, ptx, copied, &spare.ir),
            None => (self.with_fewest_spills(module, ptx, copied), None),
        };
        drop(core);
        let (text, best, has_copies) = first?;
        let Some(entered) = entered else { return Ok((text, Some(best))) };
        let other = match other {
            Some(made) => made,
            None => self.with_loads_ahead(spare.ir, has_copies, &best),
        };
        // Where only the other attempt fails, the first one stands.
        if let Ok(Made { facts, assembly, mut binary }) = other
            && is_better_ahead(&binary, &best, entered)
        {
            self.made.metadata.take_memory(&facts);
            return Ok((binary.assembly.take().unwrap_or(assembly), Some(binary)));
        }
        Ok((text, Some(best)))
    }

    /// The binary of the form that starts loads ahead, behind the first one.
    fn with_loads_ahead(&mut self, ir: Ir, has_copies: bool, best: &Binary) -> Step<Made> {
        let (choose, most) = (|chosen: &mut Pipelining| start_loads_ahead(chosen, has_copies), most_cost(best).into());
        self.with_settings(|settings, times| settings.binary(ir, choose, &most, None, times))
    }

    /// The first two attempts, and beside them the binary of the form that starts loads ahead, which is `None` if it is
    /// to have no copies after all. What another thread does counts as time of the assembler, as far as it is waited
    /// for.
    fn beside_loads_ahead(
        &mut self,
        module: Module,
        ptx: String,
        copied: Option<&Ir>,
        ir: &Ir,
    ) -> (Step<(String, Binary, bool)>, Option<Step<Made>>) {
        let Ok(stop) = Stop::new() else { return (self.with_fewest_spills(module, ptx, copied), None) };
        let (options, most) = (self.options.clone(), OnceLock::new());
        let settings = Settings { options: &options, job: self.job, launch: self.launch };
        let choose = |chosen: &mut Pipelining| start_loads_ahead(chosen, true);
        let other = || {
            threads::heap::prepare();
            apart(|| settings.binary(ir.clone(), choose, &most, Some(&stop), &mut vec![]))
        };
        thread::scope(|scope| {
            let other = threads::start(|builder| builder.spawn_scoped(scope, other));
            // Whatever becomes of the first form, the other one must not wait for its cost.
            let first = catch_unwind(AssertUnwindSafe(|| self.with_fewest_spills(module, ptx, copied)));
            let cost = match &first {
                Ok(Ok((_, best, true))) => Some(most_cost(best)),
                _ => None,
            };
            if cost.is_none() {
                stop.stop();
            }
            most.get_or_init(|| cost.unwrap_or(f64::NEG_INFINITY));
            let first = first.unwrap_or_else(|panic| resume_unwind(panic));
            let other = self.timed(self.work(Stage::Binary), |_| other.ok().map(joined));
            (first, other.filter(|_| cost.is_some()))
        })
    }

    /// The first two attempts, and whether what comes of them has copies.
    fn with_fewest_spills(
        &mut self,
        mut module: Module,
        ptx: String,
        copied: Option<&Ir>,
    ) -> Step<(String, Binary, bool)> {
        let mut has_copies = true;
        let mut about = About { shared: self.made.metadata.shared, versions: self.versions };
        let may_begin = copied.is_none() && self.is_likely_to_spill(&ptx);
        let core = if may_begin { Core::take() } else { None };
        let (mut best, early) = match core {
            Some(_) => self.with_other_order(&mut module, &ptx, about)?,
            None => (self.assembled(&ptx, None, about)?, None),
        };
        drop(core);
        let mut text = best.assembly.take().unwrap_or(ptx);
        if best.spilled() == 0 {
            return Ok((text, best, has_copies));
        }
        // Where only the other attempt fails, the first one stands.
        if let Some(ir) = copied
            && let Ok(form) = self.form_without_copies(ir)
            && self.may_fit(&form.assembly)
            && let Ok(mut binary) = self.assembled(&form.assembly, None, form.about)
            && is_worth_its_masks(&binary, &best)
        {
            text = binary.assembly.take().unwrap_or(form.assembly);
            (best, module, about, has_copies) = (binary, form.module, form.about, false);
            self.made.metadata.take_memory(module.facts());
        }
        if !wants_other_order(&best, &text) {
            return Ok((text, best, has_copies));
        }
        let other = match early {
            Some(known) => known,
            None => self.other_order(&mut module, &text, about)?,
        };
        if let Some((other, mut binary)) = other
            && is_better_order(&binary, &best)
        {
            text = binary.assembly.take().unwrap_or(other);
            best = binary;
        }
        Ok((text, best, has_copies))
    }

    /// Makes another order than that of this PTX, and a binary of it.
    fn other_order(&mut self, module: &mut Module, ptx: &str, about: About) -> Step<OtherOrder> {
        let other = self.timed(self.work(Stage::Assembly), |_| module.emit_again()).map_err(|e| vec![e])?;
        let generator = self.generator()?;
        let Some(other) = other.filter(|other| generator.may_spill_less(other, ptx)) else { return Ok(None) };
        Ok(self.assembled(&other, None, about).ok().map(|binary| (other, binary)))
    }

    /// Whether another order is likely to be needed, so that it is worth beginning before the first answer is there.
    fn is_likely_to_spill(&self, ptx: &str) -> bool {
        let may = self.options.retry && ptx.len() <= LARGEST;
        may && self.generator().is_ok_and(|generator| generator.may_spill(ptx))
    }

    /// Whether it is likely that the registers suffice for this assembly.
    fn may_fit(&self, assembly: &str) -> bool {
        self.generator().is_ok_and(|generator| !generator.may_spill(assembly))
    }

    /// The first answer, and what [`Flow::other_order`] gives, made at the same time. The latter is `None` if it was
    /// not tried or proved needless.
    fn with_other_order(&mut self, module: &mut Module, ptx: &str, about: About) -> Step<(Binary, Option<OtherOrder>)> {
        let (options, target) = (self.options.clone(), self.job.target);
        let tools = tools(&options, None, about);
        let generator = self.generator()?;
        let Ok(stop) = Stop::new() else { return Ok((self.assembled(ptx, None, about)?, None)) };
        let ahead = Mutex::new(self.ahead.take());
        let take_ahead = || ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
        let first = || {
            let answer = generator.assemble(ptx, &target, &tools, take_ahead());
            if !answer.as_ref().is_ok_and(|first| wants_other_order(first, ptx)) {
                stop.stop();
            }
            answer
        };
        let (first, other) = thread::scope(|scope| {
            let Ok(first) = threads::start(|builder| builder.spawn_scoped(scope, move || apart(first))) else {
                return (first(), None);
            };
            let other = self.timed(self.work(Stage::Assembly), |_| module.emit_again());
            self.timed(self.work(Stage::Binary), |_| {
                let tools = Tools { stop: Some(&stop), ..tools };
                let assembled = |text: String| {
                    let binary = generator.assemble(&text, &target, &tools, None).ok()?;
                    Some((text, binary))
                };
                let is_worth_it = |text: &String| generator.may_spill_less(text, ptx);
                let other = other.map(|text| text.filter(is_worth_it).and_then(assembled));
                let first = joined(first);
                (first, Some(other))
            })
        });
        self.look_for_slow_assembler(generator);
        let first = first.map_err(|e| vec![e])?;
        // If the first answer is good enough, nobody asks what became of the other.
        let other = other.filter(|_| wants_other_order(&first, ptx)).transpose().map_err(|e| vec![e])?;
        Ok((first, other))
    }

    /// The assembly of the form without copies.
    fn form_without_copies(&mut self, ir: &Ir) -> Step<Form> {
        self.with_settings(|settings, times| settings.form(ir.clone(), leave_out_copies, times))
    }

    /// Assembles PTX that the user wrote, in this file; ptxas's complaints then point into it.
    pub(super) fn assemble(&mut self, ptx: &str, file: Option<&str>) -> Step {
        if !self.goes_past(Stage::Assembly) {
            return Ok(());
        }
        let binary = self.assembled(ptx, file, About { shared: self.made.metadata.shared, versions: 1 })?;
        self.keep_binary(binary)
    }

    fn assembled(&mut self, ptx: &str, file: Option<&str>, about: About) -> Step<Binary> {
        let options = self.options.clone();
        let tools = tools(&options, file, about);
        let (generator, ahead) = (self.generator()?, self.ahead.take());
        let done = self
            .timed(self.work(Stage::Binary), |f| generator.assemble(ptx, &f.job.target, &tools, ahead))
            .map_err(|e| vec![e])?;
        self.look_for_slow_assembler(generator);
        Ok(done)
    }

    fn look_for_slow_assembler(&mut self, generator: &dyn Generator) {
        if timings::assembler_is_slow(&self.made.timings) {
            self.made.slow_assembler = Some(generator.assembler(self.options.ptxas.as_deref()));
        }
    }

    /// Keeps the binary and what is known of it.
    pub(super) fn keep_binary(&mut self, done: Binary) -> Step {
        self.made.metadata.registers = Some(done.registers);
        self.made.metadata.spills = Some(done.spill_stores + done.spill_loads);
        self.remark_registers(done.registers, done.spill_stores, done.spill_loads);
        self.keep(Stage::Binary, |_| done.bytes.clone());
        if !self.goes_past(Stage::Binary) {
            return Ok(());
        }
        let options = self.options.clone();
        let tools = Tools { line_listing: self.debug.line_listing, ..tools(&options, None, About::default()) };
        let generator = self.generator()?;
        let listing =
            self.timed(self.work(Stage::Listing), |_| generator.list(&done.bytes, &tools)).map_err(|e| vec![e])?;
        self.keep(Stage::Listing, |_| listing.into_bytes());
        if self.debug.line_listing {
            // The listing is what was asked for; without this it lacks a column.
            match self.timed("registers in use", |_| generator.lives(&done.bytes, &tools)) {
                Ok(lives) => self.made.lives = lives,
                Err(why) => self.made.diagnostics.push(Diagnostic { severity: Severity::Warning, ..why }),
            }
        }
        Ok(())
    }

    /// Makes the remark on registers from what ptxas says, if it was asked for.
    fn remark_registers(&mut self, registers: u32, stored: u32, loaded: u32) {
        if !self.debug.remarks.contains(&Group::Spill) {
            return;
        }
        let spilled = if stored + loaded == 0 {
            "nothing is spilled".to_owned()
        } else {
            format!("{stored} bytes of spill stores, {loaded} of spill loads")
        };
        let name = &self.made.kernel;
        let mut remark = Diagnostic::remark(
            &codes::REGISTER_USE,
            format!("`{name}` uses {registers} registers a thread; {spilled}"),
        );
        if let Some(place) = &self.kernel_loc {
            remark = remark.at(place.clone(), "");
        }
        if stored + loaded > 0 {
            let more =
                if self.launch.maxnreg.is_some() { "raise `--maxnreg`, use more warps" } else { "use more warps" };
            remark = remark.help(format!("{more} or smaller blocks, so that a thread holds fewer elements"));
        }
        self.made.diagnostics.push(remark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cost;

    fn binary(spilled: u32, full: Option<f64>) -> Binary {
        let cost = full.map(|full| Cost { full, few: full, blocks: 4 });
        Binary {
            bytes: vec![],
            registers: 255,
            spill_stores: spilled,
            spill_loads: 0,
            settled: false,
            cost,
            assembly: None,
        }
    }

    #[test]
    fn copies_go_where_they_cost_more_than_masks() {
        let copied = binary(500, Some(2000.0));
        assert!(is_worth_its_masks(&binary(400, Some(1000.0)), &copied));
        assert!(!is_worth_its_masks(&binary(0, Some(1001.0)), &copied));
        assert!(!is_worth_its_masks(&binary(500, Some(900.0)), &copied));
        // Without a model nothing may spill.
        assert!(is_worth_its_masks(&binary(0, None), &binary(500, None)));
        assert!(!is_worth_its_masks(&binary(4, None), &binary(500, None)));
    }

    #[test]
    fn loads_ahead_cost_less_in_a_full_multiprocessor_or_for_few_warps() {
        let with = |full, few, blocks| Binary { cost: Some(Cost { full, few, blocks }), ..binary(0, None) };
        let first = with(1000.0, 5000.0, 4);
        assert!(is_better_ahead(&with(950.0, 5000.0, 3), &first, Entered::Once));
        assert!(!is_better_ahead(&with(960.0, 5000.0, 4), &first, Entered::Once));
        assert!(is_better_ahead(&with(1030.0, 4500.0, 4), &first, Entered::Once));
        assert!(!is_better_ahead(&with(1030.0, 4500.0, 3), &first, Entered::Once));
        assert!(!is_better_ahead(&with(1031.0, 4500.0, 4), &first, Entered::Once));
        assert!(!is_better_ahead(&with(1030.0, 4600.0, 4), &first, Entered::Once));
        assert!(is_better_ahead(&with(950.0, 5000.0, 3), &first, Entered::Often));
        assert!(!is_better_ahead(&with(1030.0, 4500.0, 4), &first, Entered::Often));
        let spills = Binary { spill_stores: 4, ..with(500.0, 500.0, 4) };
        assert!(!is_better_ahead(&spills, &first, Entered::Once));
    }

    #[test]
    fn another_order_spills_less_and_costs_less() {
        let first = binary(500, Some(2000.0));
        assert!(is_better_order(&binary(499, Some(1999.0)), &first));
        assert!(!is_better_order(&binary(450, Some(2000.0)), &first));
        assert!(is_better_order(&binary(449, Some(2100.0)), &first));
        assert!(!is_better_order(&binary(449, Some(2101.0)), &first));
        assert!(!is_better_order(&binary(500, Some(1000.0)), &first));
        assert!(is_better_order(&binary(449, None), &binary(500, None)));
        assert!(!is_better_order(&binary(450, None), &binary(500, None)));
    }
}
