// Assembles a text as `llvm-mc -filetype=obj` does, in this process.
//
// LLVM's interface for C has no assembler, and starting `llvm-mc` takes longer than most kernels take to compile: the
// system loads and relocates all of LLVM first. The steps:
//   1. The target that the triple names, and its registers, instructions and processor.
//   2. A streamer that writes an object file, and a parser that feeds it.
//   3. What was written goes to `take`, in one piece.
//
// Messages are dropped. Whoever wants to know why a text is refused asks `llvm-mc`.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

using Take = void (*)(void *, const char *, size_t);

/// Whether `size` bytes of assembly at `text` are an object file for the processor; then `take` gets it with `to`. The
/// target must have been initialised with its parser.
extern "C" bool ttc_assemble(const char *triple_name, const char *processor, const char *text, size_t size, Take take,
                             void *to) {
    const Triple triple(triple_name);
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    if (!target || !target->hasMCAsmParser())
        return false;

    const MCTargetOptions options;
    const std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
    const std::unique_ptr<MCAsmInfo> syntax(target->createMCAsmInfo(*registers, triple, options));
    const std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
    const std::unique_ptr<MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, processor, ""));
    if (!registers || !syntax || !instructions || !subtarget)
        return false;

    SourceMgr source;
    source.setDiagHandler([](const SMDiagnostic &, void *) {});
    source.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(StringRef(text, size), "kernel.amdgcn"), SMLoc());
    MCContext context(triple, syntax.get(), registers.get(), subtarget.get(), &source, &options);
    context.setDiagnosticHandler(
        [](const SMDiagnostic &, bool, const SourceMgr &, std::vector<const MDNode *> &) {});
    const std::unique_ptr<MCObjectFileInfo> sections(target->createMCObjectFileInfo(context, /*PIC=*/false));
    context.setObjectFileInfo(sections.get());

    SmallVector<char, 0> object;
    raw_svector_ostream stream(object);
    std::unique_ptr<MCAsmBackend> backend(target->createMCAsmBackend(*subtarget, *registers, options));
    std::unique_ptr<MCCodeEmitter> emitter(target->createMCCodeEmitter(*instructions, context));
    if (!backend || !emitter)
        return false;
    std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(stream);
    const std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
        triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));

    const std::unique_ptr<MCAsmParser> parser(createMCAsmParser(source, context, *streamer, *syntax));
    const std::unique_ptr<MCTargetAsmParser> of_target(
        target->createMCAsmParser(*subtarget, *parser, *instructions, options));
    if (!of_target)
        return false;
    parser->setTargetParser(*of_target);
    if (parser->Run(/*NoInitialTextSection=*/false) || context.hadError())
        return false;
    take(to, object.data(), object.size());
    return true;
}
