//! The `scf` and `cf` dialects: structured control flow, and branches between blocks.

use super::table::dialect;
use super::verify;

dialect! {
    /// Operations of the `scf` dialect.
    Scf(ScfOp) "scf" (scf) {
        /// A counted loop from `lower` up to but not including `upper`, with values carried from one iteration to the
        /// next. The region's arguments are the induction variable and the carried values; it ends in `scf.yield` of
        /// the next carried values.
        For "for"
            (lower: one INT_OR_INDEX, upper: one INT_OR_INDEX, step: one INT_OR_INDEX, init: many ANY)
            -> (results: many ANY)
            { unsignedCmp: Unit => Absent }
            {
            layouts: LayoutRule::Carried,
            classes: Classes::CONTROL_FLOW,
            regions: &["body"],
            traits: Traits::SINGLE_BLOCK.union(Traits::LOOP),
            effects: Effects::Recursive,
            format: Format::Custom,
            verify: Some(verify::scf::r#for),
        };
        /// Runs the first region if the condition holds, else the second, which may be empty when there are no results.
        If "if" (condition: one I1) -> (results: many ANY) {} {
            classes: Classes::CONTROL_FLOW,
            regions: &["then", "else"],
            traits: Traits::SINGLE_BLOCK,
            effects: Effects::Recursive,
            format: Format::Custom,
            verify: Some(verify::scf::r#if),
        };
        /// Runs `before`; its `scf.condition` says whether `after` runs and the loop goes on. The condition's further
        /// operands are the results.
        While "while" (inits: many ANY) -> (results: many ANY) {} {
            layouts: LayoutRule::Carried,
            classes: Classes::CONTROL_FLOW,
            regions: &["before", "after"],
            traits: Traits::SINGLE_BLOCK.union(Traits::LOOP),
            effects: Effects::Recursive,
            format: Format::Custom,
            verify: Some(verify::scf::r#while),
        };
        /// Ends the first region of `scf.while`.
        Condition "condition" (condition: one I1, args: many ANY) -> () {} {
            layouts: LayoutRule::Carried,
            traits: Traits::TERMINATOR,
            format: Format::Text("`(` $condition `)` attr-dict ($args^ `:` type($args))?"),
            verify: Some(verify::scf::condition),
        };
        /// Gives the values of a region to the operation around it.
        Yield "yield" (results: many ANY) -> () {} {
            layouts: LayoutRule::Carried,
            classes: Classes::YIELDS,
            traits: Traits::TERMINATOR,
            format: Format::Text("attr-dict ($results^ `:` type($results))?"),
            verify: Some(verify::scf::r#yield),
        };
        /// Runs its region once.
        ExecuteRegion "execute_region" () -> (results: many ANY) { no_inline: Unit => Absent } {
            classes: Classes::CONTROL_FLOW,
            regions: &["region"],
            effects: Effects::Recursive,
            format: Format::Custom,
            verify: Some(verify::scf::execute_region),
        };
    }
}

dialect! {
    /// Operations of the `cf` dialect.
    Cf(CfOp) "cf" (cf) {
        /// Jumps to a block, with arguments.
        Br "br" (args: many ANY) -> () {} {
            successors: 1,
            traits: Traits::TERMINATOR.union(Traits::BRANCH),
            format: Format::Custom,
        };
        /// Jumps to the first block if the condition holds, else to the second.
        CondBr "cond_br"
            (condition: one I1, true_args: many ANY, false_args: many ANY)
            -> ()
            { branch_weights: DenseArray(32) => Absent }
            {
            successors: 2,
            traits: Traits::TERMINATOR.union(Traits::BRANCH).union(Traits::ATTR_SIZED_OPERANDS),
            format: Format::Custom,
            verify: Some(verify::cf::cond_br),
        };
        /// Stops the program with a message if the condition does not hold.
        Assert "assert" (arg: one I1) -> () { msg: Str } {
            effects: Effects::Write,
            format: Format::Text("$arg `,` $msg attr-dict"),
        };
    }
}
