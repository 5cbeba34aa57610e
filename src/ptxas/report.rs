//! Reads what `ptxas -v` says of each function.
//!
//! 1. `Compiling entry function 'k' for 'sm_80'` starts an entry function.
//! 2. `Function properties for k` starts the properties of an entry or of a function it calls, on the next line:
//!    `64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`.
//! 3. `Used 12 registers, used 1 barriers, 128 bytes smem, 360 bytes cmem[0]` belongs to the entry of step 1.
//! 4. `wgmma.mma_async instructions are serialized due to … in the function 'k'` says that each product of that
//!    function waits for the one before.
//!
//! A number that is not there is 0, because ptxas leaves out what a kernel does not use. Lines of other forms are
//! skipped, so a new release that prints more causes no error.

/// The resources of one function, or of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// How many 32-bit registers a thread has.
    pub registers: u32,
    /// Bytes that one thread stores to spill registers, counted over the code. `spill_loads` counts the bytes that it
    /// loads back.
    pub spill_stores: u32,
    pub spill_loads: u32,
    /// Bytes of a thread's stack frame.
    pub stack: u32,
    /// Bytes of a block's shared memory whose size the PTX states. What a launch adds is not in it.
    pub shared: u32,
    /// How many named barriers a block uses.
    pub barriers: u32,
    /// Whether ptxas lets each `wgmma` end before the next one starts.
    pub serialized: bool,
}

impl Usage {
    /// Bytes that go to spill registers or come back, counted over the code.
    #[must_use]
    pub fn spilled(&self) -> u32 {
        self.spill_stores.saturating_add(self.spill_loads)
    }

    /// The largest of each number, but the sum of the spills, so that no spill is hidden.
    pub(super) fn of_all(functions: &[FunctionUsage]) -> Usage {
        functions.iter().fold(Usage::default(), |all, f| Usage {
            registers: all.registers.max(f.usage.registers),
            spill_stores: all.spill_stores.saturating_add(f.usage.spill_stores),
            spill_loads: all.spill_loads.saturating_add(f.usage.spill_loads),
            stack: all.stack.max(f.usage.stack),
            shared: all.shared.max(f.usage.shared),
            barriers: all.barriers.max(f.usage.barriers),
            serialized: all.serialized || f.usage.serialized,
        })
    }
}

/// One function of a cubin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionUsage {
    pub name: String,
    /// Whether it is a kernel. Otherwise a kernel calls it, and only its stack and spills are known.
    pub entry: bool,
    pub usage: Usage,
}

/// The words of a line of this kind: `Used 12 registers` of `ptxas info    : Used 12 registers`. The first word is the
/// name of the program, which may be `ptxas-blackwell` for example.
pub(super) fn words<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let (_, rest) = line.strip_prefix("ptxas")?.split_once(' ')?;
    Some(rest.trim_start().strip_prefix(kind)?.trim_start_matches([' ', ':']))
}

/// What ptxas says where asynchronous products wait for each other.
const SERIALIZED: &str = "wgmma.mma_async instructions are serialized";

/// The functions of a `-v` log, in its order.
pub(super) fn parse(log: &str) -> Vec<FunctionUsage> {
    let mut functions: Vec<FunctionUsage> = vec![];
    let (mut entry, mut properties) = (None, None);
    let mut serialized: Vec<String> = vec![];
    for line in log.lines() {
        let info = words(line, "info").unwrap_or(line);
        if let Some((_, rest)) = info.split_once(SERIALIZED) {
            if let Some(name) = rest.split_once("in the function '").and_then(|(_, rest)| rest.split('\'').next()) {
                serialized.push(name.to_owned());
            }
        } else if let Some(rest) = info.strip_prefix("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or(rest);
            entry = Some(index_of(&mut functions, name, true));
        } else if let Some(name) = info.strip_prefix("Function properties for ") {
            properties = Some(index_of(&mut functions, name.trim(), false));
        } else if info.contains("bytes stack frame") {
            if let Some(f) = properties.take().map(|i: usize| &mut functions[i].usage) {
                f.stack = number(info, "bytes stack frame");
                f.spill_stores = number(info, "bytes spill stores");
                f.spill_loads = number(info, "bytes spill loads");
            }
        } else if info.starts_with("Used ")
            && let Some(f) = entry.take().map(|i: usize| &mut functions[i].usage)
        {
            f.registers = number(info, "registers");
            f.barriers = number(info, "barriers");
            f.shared = number(info, "bytes smem");
        }
    }
    // ptxas says it in front of the function.
    functions.iter_mut().for_each(|f| f.usage.serialized = serialized.contains(&f.name));
    functions
}

/// The index of the function with this name, added if it is new.
fn index_of(functions: &mut Vec<FunctionUsage>, name: &str, entry: bool) -> usize {
    let found = functions.iter().position(|f| f.name == name);
    let index = found.unwrap_or_else(|| {
        functions.push(FunctionUsage { name: name.to_owned(), entry: false, usage: Usage::default() });
        functions.len() - 1
    });
    functions[index].entry |= entry;
    index
}

/// The number before a unit, or 0 if there is none. In `Used 12 registers, 128 bytes smem` the number of `bytes smem`
/// is 128.
fn number(line: &str, unit: &str) -> u32 {
    let item = line.split(',').find_map(|item| item.trim().strip_suffix(unit));
    item.and_then(|i| i.split_whitespace().last()).and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
            insufficient register resources for the wgmma pipeline in the function 'a' in line 0\n\
        ptxas info    : 0 bytes gmem\n\
        ptxas info    : Compiling entry function 'b' for 'sm_80'\n\
        ptxas info    : Function properties for b\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]\n\
        ptxas info    : Compile time = 1.351 ms\n\
        ptxas info    : Compiling entry function 'a' for 'sm_80'\n\
        ptxas info    : Function properties for a\n    \
            64 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads\n\
        ptxas info    : Used 12 registers, used 1 barriers, 64 bytes cumulative stack size, 128 bytes smem, 360 bytes cmem[0]\n\
        ptxas info    : Function properties for helper\n    \
            8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n";

    #[test]
    fn entries_and_callees_are_told_apart() {
        let f = |name: &str, entry, usage| FunctionUsage { name: name.to_owned(), entry, usage };
        let (serialized, stack) = (true, 64);
        let a = Usage { registers: 12, spill_stores: 20, spill_loads: 24, stack, shared: 128, barriers: 1, serialized };
        let helper = Usage { spill_stores: 4, spill_loads: 4, stack: 8, ..Usage::default() };
        let functions = parse(LOG);
        assert_eq!(
            functions,
            [f("b", true, Usage { registers: 8, ..Usage::default() }), f("a", true, a), f("helper", false, helper)]
        );
        assert_eq!(Usage::of_all(&functions), Usage { spill_stores: 24, spill_loads: 28, ..a });
    }

    #[test]
    fn other_lines_are_no_report() {
        assert_eq!(parse(""), []);
        let odd = "ptxas info : Used many registers\n 9 bytes stack frame\nptxas info : Function properties for \nUsed 99999999999 registers\n";
        assert_eq!(parse(odd).iter().map(|f| f.usage).collect::<Vec<_>>(), [Usage::default()]);
    }
}
