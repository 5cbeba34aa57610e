// Writes a module's assembly as LLVM's interface for C does, with two passes less.
//
// `LiveDebugValues` follows where variables of the source are, and for that looks at all aliases of each register that
// an instruction writes: on AMD's GPUs a register has dozens, and the pass takes a tenth of the time of the back end. A
// module without such variables, with line tables alone, has nothing to follow.
//
// The machine numbers values twice before it selects instructions, at its highest level (`addEarlyCSEOrGVNPass` of
// LLVM's AMDGPUTargetMachine.cpp). What it finds is what its passes before have repeated: `EarlyCSE`, which it runs at
// the level below, finds the same in a tenth of the time (docs/amd.md).
//
// The passes are those that the target machine adds; they go through a list that leaves or changes these.

#include <cstddef>

#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"

using namespace llvm;

using Take = void (*)(void *, const char *, size_t);

namespace {

class Filtered : public legacy::PassManagerBase {
    legacy::PassManager &to;
    const bool follows_variables;

  public:
    Filtered(legacy::PassManager &to, bool follows_variables) : to(to), follows_variables(follows_variables) {}

    void add(Pass *pass) override {
        if (!follows_variables && pass->getPassID() == &LiveDebugValuesID) {
            delete pass;
        } else if (pass->getPassName() == "Global Value Numbering") { // its class is private to its file
            delete pass;
            to.add(createEarlyCSEPass());
        } else {
            to.add(pass);
        }
    }
};

bool names_variables(const Module &module) {
    for (const Function &function : module)
        for (const Instruction &instruction : instructions(function))
            for (const DbgRecord &record : instruction.getDbgRecordRange())
                if (isa<DbgVariableRecord>(record))
                    return true;
    return false;
}

} // namespace

/// Whether the machine can write assembly for the module, which it changes; then `take` gets the text with `to`.
extern "C" bool ttc_emit_assembly(LLVMTargetMachineRef machine_ref, LLVMModuleRef module_ref, Take take, void *to) {
    TargetMachine &machine = *reinterpret_cast<TargetMachine *>(machine_ref);
    Module &module = *unwrap(module_ref);
    module.setDataLayout(machine.createDataLayout());

    SmallVector<char, 0> text;
    raw_svector_ostream stream(text);
    legacy::PassManager passes;
    Filtered filtered(passes, names_variables(module));
    if (machine.addPassesToEmitFile(filtered, stream, nullptr, CodeGenFileType::AssemblyFile))
        return false;
    passes.run(module);
    take(to, text.data(), text.size());
    return true;
}
