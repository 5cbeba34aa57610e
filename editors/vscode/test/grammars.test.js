// The grammars, with the engine that VS Code has: what words of a text are coloured as.

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const oniguruma = require("vscode-oniguruma");
const { Registry, parseRawGrammar } = require("vscode-textmate");

const root = path.join(__dirname, "..");

async function registry() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer);
  const { grammars } = require("../package.json").contributes;
  return new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      const file = path.join(root, grammars.find((g) => g.scopeName === scope).path);
      return parseRawGrammar(fs.readFileSync(file, "utf8"), file);
    },
  });
}

const ready = registry();

/** The innermost scope of each word of a text, in the order of the text. */
async function scopes(name, text) {
  const grammar = await (await ready).loadGrammar(name);
  const found = [];
  let state = null;
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    for (const { startIndex, endIndex, scopes } of tokens) {
      const word = line.slice(startIndex, endIndex).trim();
      if (word !== "") found.push([word, scopes.at(-1).split(".").slice(0, -1).join(".")]);
    }
  }
  return found;
}

function has(found, expected) {
  for (const [word, scope] of Object.entries(expected)) {
    assert.deepStrictEqual(found.find(([w]) => w === word), [word, scope]);
  }
}

test("kernels", async () => {
  const text = '@triton.jit\ndef k(p: "*fp32", B: tl.constexpr = 16):  # a kernel\n    x = tl.load(p + tl.arange(0, B)) if True else helper(0x1F)';
  has(await scopes("source.triton", text), {
    "@triton.jit": "entity.name.function.decorator",
    def: "storage.type.function",
    k: "entity.name.function",
    "tl.constexpr": "storage.type",
    "16": "constant.numeric",
    "# a kernel": "comment.line.number-sign",
    tl: "support.class",
    load: "support.function",
    True: "constant.language",
    helper: "entity.name.function.call",
    "0x1F": "constant.numeric",
  });
});

test("IR, through the grammar of TTGIR", async () => {
  const text = '#blocked = #ttg.blocked<{order = [0]}>\ntt.func public @k(%p: !tt.ptr<f32>) { // here\n  %r:2 = tt.load %p#1 : tensor<64xf16, #blocked>\n^bb1:';
  has(await scopes("source.ttgir", text), {
    "#blocked": "entity.name.type.alias",
    "tt.func": "keyword.other.operation",
    "@k": "entity.name.function",
    "%p": "variable.other",
    f32: "storage.type",
    "// here": "comment.line.double-slash",
    "%p#1": "variable.other",
    f16: "storage.type",
    "^bb1": "entity.name.label",
  });
});
