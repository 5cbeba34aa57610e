//! Typing at random: the server never ends, and what it shows is what a fresh look at the text shows, although it keeps
//! what it found of kernels that an edit does not reach.
//!
//! `TTC_LSP_EDITS=10000` makes it that many edits (`make lsp-random`).

use serde_json::{Value, json};

use super::client::{Client, uri};

/// How many edits there are if nobody says.
const EDITS: u64 = 150;

/// After how many edits the diagnostics are compared.
const BETWEEN: u64 = 10;

const START: &str = "\
import triton
import triton.language as tl

SIZE = 64

@triton.jit
def half(x, by: tl.constexpr):
    return x / by

@triton.jit
def k(p: \"*fp32:16\", n: \"i32\", BLOCK: tl.constexpr = SIZE):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, n):
        x = tl.load(p + offs, mask=offs < n, other=0.0)
        if i > 3:
            acc += half(x, 2)
        else:
            acc = acc - tl.sum(x, 0)
    tl.store(p + offs, acc, mask=offs < n)

@triton.jit
def halved(p: \"*fp32:16\", BLOCK: tl.constexpr = SIZE):
    offs = tl.arange(0, BLOCK)
    tl.store(p + offs, half(tl.load(p + offs), 4))

@triton.jit
def ones(p: \"*fp16\", n: \"i32\"):
    offs = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(p + offs, 1.0, mask=offs < n)
";

const WORDS: [&str; 34] = [
    "(",
    ")",
    "[",
    "]",
    "\n",
    "\n    ",
    "    ",
    ":",
    ",",
    "tl.",
    "tl.load(",
    "x",
    "BLOCK",
    "=",
    "==",
    "+",
    "*",
    "\"",
    "'",
    "#",
    "for i in range(n):\n",
    "if x:",
    "else:",
    "@triton.jit\n",
    "def f(a):\n    return a\n",
    "1",
    "0xg",
    "é😀",
    "\\",
    "\t",
    "\"\"\"",
    "return",
    "lambda y: y",
    "f\"{x",
];

/// A random number generator that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

/// A place in the text in UTF-16 units, and its byte.
fn place(text: &str, random: &mut Random) -> (u64, u64, usize) {
    let mut at = random.below(text.len() as u64 + 1) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let col: usize = text[start..at].chars().map(char::len_utf16).sum();
    (text[..at].matches('\n').count() as u64, col as u64, at)
}

fn fresh(client: &mut Client, text: &str, doc: &str) -> Vec<Value> {
    client.open(doc, "triton", text);
    let said = client.diagnostics(doc, 1);
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": doc } }));
    said
}

#[test]
fn random_edits_leave_no_stale_diagnostic() {
    let count = std::env::var("TTC_LSP_EDITS").map_or(EDITS, |n| n.parse().expect("a number of edits"));
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let (doc, other) = (uri(&folder.path().join("k.tk")), uri(&folder.path().join("fresh.tk")));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut text = START.to_owned();
    client.open(&doc, "triton", &text);
    for edit in 1..=count {
        let version = edit as i64 + 1;
        // Now and then everything is undone, so that much of the text is right most of the time.
        if random.below(12) == 0 {
            client.edit(&doc, version, [0, 0, 9999, 0], START);
            START.clone_into(&mut text);
        } else {
            let (line, col, lo) = place(&text, &mut random);
            let (word, length) = (WORDS[random.below(WORDS.len() as u64) as usize], random.below(4) as usize);
            let rest = text[lo..].split('\n').next().unwrap();
            let removed: String = rest.chars().take(if random.below(2) == 0 { length } else { 0 }).collect();
            let word = if random.below(4) == 0 { "" } else { word };
            let end = col + removed.chars().map(|c| c.len_utf16() as u64).sum::<u64>();
            client.edit(&doc, version, [line, col, line, end], word);
            text.replace_range(lo..lo + removed.len(), word);
        }
        // Some requests are on their way while the text changes.
        if random.below(3) == 0 {
            let (line, col, _) = place(&text, &mut random);
            let method =
                ["textDocument/hover", "textDocument/completion", "textDocument/definition"][random.below(3) as usize];
            client.begin(method, super::client::place(&doc, line, col));
        }
        if edit % BETWEEN == 0 {
            let shown = client.diagnostics(&doc, version);
            let mut expected = fresh(&mut client, &text, &other);
            // The name of the document stands in places.
            for d in &mut expected {
                *d = serde_json::from_str(&d.to_string().replace("fresh.tk", "k.tk")).unwrap();
            }
            assert_eq!(shown, expected, "after {edit} edits:\n{text}");
        }
    }
    client.stop();
}
