// A session in VS Code's own extension host: open, edit into a fault, diagnostics, hover, definition, references,
// completion, quick fix, inlay hints, lens, IR, close. `host/run.mjs` starts it; the results go to the file that the
// environment variable TTC_SESSION names, a line for each check.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const patience = 30000;
const results = [];

function check(what, ok, found) {
  results.push({ what, ok: Boolean(ok), found: ok ? undefined : JSON.stringify(found) });
}

/** What `question` gives, as soon as `enough` accepts it, or at last. */
async function eventually(question, enough) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await question();
    if (enough(found) || Date.now() > end) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const KERNEL = `import triton
import triton.language as tl

@triton.jit
def scale(x_ptr: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 1024):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(x_ptr + offs, x * 2.0, mask=offs < n)
`;

const TTGIR = `#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: f32) {
    %0 = tt.splat %x : f32 -> tensor<512xf32, #blocked>
    %1 = arith.addf %0, %0 : tensor<512xf32, #blocked>
    tt.return
  }
}
`;

async function open(name, text) {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file).with({
    scheme: vscode.workspace.workspaceFolders[0].uri.scheme,
    authority: vscode.workspace.workspaceFolders[0].uri.authority,
  }));
  await vscode.window.showTextDocument(document);
  return document;
}

/** The place of a text in a document, `more` characters behind its start. */
function at(document, text, more = 0) {
  return document.positionAt(document.getText().indexOf(text) + more);
}

function words(hovers) {
  return (hovers ?? []).flatMap((h) => h.contents.map((c) => c.value ?? c)).join("\n");
}

const ask = (command, document, ...more) => vscode.commands.executeCommand(command, document.uri, ...more);

async function kernels() {
  const document = await open("scale.tk", KERNEL);
  const faults = () => vscode.languages.getDiagnostics(document.uri);
  check("the language of .tk is triton", document.languageId === "triton", document.languageId);
  const hover = () => ask("vscode.executeHoverProvider", document, at(document, "offs ="));
  const hovered = words(await eventually(hover, (h) => words(h).includes("int32[1024]")));
  check("hover says the type", hovered.includes("int32[1024]"), hovered);
  check("nothing is wrong", faults().length === 0, faults());

  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(at(document, "arange"), at(document, "arange", 6)), "aragne");
  await vscode.workspace.applyEdit(edit);
  const found = await eventually(faults, (f) => f.length === 1);
  check("a fault shows", found.length === 1 && found[0].message.includes("aragne"), found);
  check("with its code", JSON.stringify(found[0]?.code ?? "").includes("E0202"), found[0]?.code);

  const range = new vscode.Range(at(document, "aragne"), at(document, "aragne", 6));
  const actions = await ask("vscode.executeCodeActionProvider", document, range);
  const fix = actions.find((a) => a.title === "write `arange`");
  check("quick fix", fix?.edit !== undefined, actions.map((a) => a.title));
  if (fix?.edit) {
    await vscode.workspace.applyEdit(fix.edit);
  }
  check("the fix repairs the text", document.getText() === KERNEL, document.getText());
  check("the fault is gone", (await eventually(faults, (f) => f.length === 0)).length === 0, faults());

  const use = at(document, "offs < n");
  const definition = await ask("vscode.executeDefinitionProvider", document, use);
  const line = (definition[0]?.range ?? definition[0]?.targetRange)?.start.line;
  check("definition", line === 5, definition);
  const uses = await ask("vscode.executeReferenceProvider", document, use);
  check("references", uses.length === 5, uses);
  const library = await ask("vscode.executeDefinitionProvider", document, at(document, "import triton", 8));
  check("definition of a package leads nowhere", library.length === 0, library);

  const typing = new vscode.WorkspaceEdit();
  typing.insert(document.uri, new vscode.Position(7, 0), "    y = tl.\n");
  await vscode.workspace.applyEdit(typing);
  const offer = () => ask("vscode.executeCompletionItemProvider", document, new vscode.Position(7, 11));
  const named = (list) => (list?.items ?? []).find((i) => (i.label.label ?? i.label) === "arange");
  const item = named(await eventually(offer, (list) => named(list) !== undefined));
  check("completion", (item?.detail ?? "").includes("arange(start, end)"), item);
  await vscode.commands.executeCommand("undo");
  await eventually(async () => document.getText(), (t) => t === KERNEL);
  check("undo", document.getText() === KERNEL, document.getText());

  const all = new vscode.Range(0, 0, document.lineCount, 0);
  const hints = () => ask("vscode.executeInlayHintProvider", document, all);
  const label = (h) => (typeof h.label === "string" ? h.label : h.label.map((p) => p.value).join(""));
  const shown = (await eventually(hints, (h) => (h ?? []).length >= 2)).map(label);
  check("inlay hints", shown.some((l) => l.includes("fp32[1024]")), shown);

  await document.save();
  const lens = () => ask("vscode.executeCodeLensProvider", document, 10);
  const title = (l) => (l ?? []).map((x) => x.command?.title ?? "").join(" ");
  const said = title(await eventually(lens, (l) => title(l).includes("registers")));
  check("lens of the last compile", said.includes("registers"), said);

  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  check("closed", vscode.window.activeTextEditor === undefined, vscode.window.activeTextEditor?.document.uri.path);
}

async function ir() {
  const document = await open("k.ttgir", TTGIR);
  check("the language of .ttgir is ttgir", document.languageId === "ttgir", document.languageId);
  const use = at(document, "addf %0", 6);
  const hover = () => ask("vscode.executeHoverProvider", document, use);
  const hovered = words(await eventually(hover, (h) => words(h).includes("tensor<512xf32")));
  check("hover says type and layout", hovered.includes("sizePerThread = [4]"), hovered);
  const definition = await ask("vscode.executeDefinitionProvider", document, use);
  const line = (definition[0]?.range ?? definition[0]?.targetRange)?.start.line;
  check("definition of a value", line === 3, definition);
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
}

exports.run = async () => {
  try {
    const extension = vscode.extensions.getExtension("ttc.ttc");
    check("the extension is there", extension !== undefined);
    await kernels();
    await ir();
    check("the extension is active", extension?.isActive);
    await vscode.commands.executeCommand("ttc.restart");
    check("the server can be restarted", true);
  } catch (error) {
    check("the session runs to its end", false, String(error?.stack ?? error));
  }
  fs.writeFileSync(process.env.TTC_SESSION, JSON.stringify({ version: vscode.version, results }));
};
