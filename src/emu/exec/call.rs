//! Calls of functions and of the system ("PTX ISA, call", "Abstracting the ABI").

use super::Try;
use super::access::RANK_SHIFT;
use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::{Call, Callee};
use crate::emu::report::Kind;

/// How many calls may nest.
const MAX_CALLS: usize = 1024;

/// How many registers the calls of a warp may have.
const MAX_REGISTERS: usize = 1 << 18;

impl Env<'_, '_> {
    /// The address at which a block's shared memory starts.
    pub(crate) fn shared_start(&self, block: usize) -> u64 {
        (block as u64) << RANK_SHIFT
    }

    pub(crate) fn call(&mut self, warp: &mut Warp, call: &Call, active: u32) -> Try<()> {
        let argument = |warp: &Warp, lane: usize, index: usize| {
            call.arguments.get(index).map_or(0, |a| Self::call_argument(warp, lane, a.offset, a.bytes.min(8)))
        };
        match call.callee {
            Callee::Function(index) => {
                if warp.frames.len() >= MAX_CALLS {
                    let message = format!("more than {MAX_CALLS} calls are nested");
                    return Err(self.fault(warp, active, Kind::Endless, message));
                }
                let functions = &self.run.program.functions;
                if warp.registers.len() + functions[index].registers as usize > MAX_REGISTERS {
                    let message = format!("nested calls need more than {MAX_REGISTERS} registers");
                    return Err(self.fault(warp, active, Kind::Endless, message));
                }
                let pair = (&functions[warp.function], &functions[index]);
                let shared = self.shared_start(warp.block);
                warp.call(index, pair, active, (&call.arguments, &call.results), shared);
            }
            Callee::Printf => {
                for lane in each(active) {
                    let (format, values) = (argument(warp, lane, 0), argument(warp, lane, 1));
                    self.printf(warp, lane, format, values);
                }
            }
            Callee::AssertFail => {
                let Some(lane) = each(active).next() else { return Ok(()) };
                let [message, file, line, function] = [0, 1, 2, 3].map(|i| argument(warp, lane, i));
                let (file, function) = (self.text_at(file), self.text_at(function));
                let text = format!("assertion failed: {}", self.text_at(message));
                let mut finding = self.finding(warp, active, Kind::Trap, text);
                finding.notes.push((format!("in {function}, {file}:{line}"), None));
                return Err(Box::new(finding));
            }
        }
        Ok(())
    }
}
