//! What a person does in an editor: open, edit into a fault, look around, repair, close.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::client::{Client, place, range, uri, with_edits};

const HELPERS: &str = "\
import triton
import triton.language as tl

@triton.jit
def scaled(x, factor):
    \"\"\"The product of both.\"\"\"
    return x * factor
";

const KERNEL: &str = "\
import triton
import triton.language as tl
from helpers import scaled

SIZE = 256

@triton.jit
def scale(x_ptr: \"*fp32:16\", n: \"i32\", BLOCK: tl.constexpr = 1024):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(x_ptr + offs, scaled(x, 2.0), mask=offs < n)
";

struct Folder {
    _keep: tempfile::TempDir,
    path: PathBuf,
}

fn folder() -> Folder {
    let keep = tempfile::tempdir().unwrap();
    let path = keep.path().canonicalize().unwrap();
    std::fs::write(path.join("helpers.py"), HELPERS).unwrap();
    std::fs::write(path.join("scale.tk"), KERNEL).unwrap();
    Folder { _keep: keep, path }
}

fn messages(diagnostics: &[Value]) -> Vec<String> {
    diagnostics.iter().map(|d| d["message"].as_str().unwrap().to_owned()).collect()
}

/// The place of the `nth` occurrence of a word: line and column.
fn find(text: &str, word: &str, nth: usize) -> (u64, u64) {
    let at = text.match_indices(word).nth(nth).unwrap().0;
    let line = text[..at].matches('\n').count();
    (line as u64, (at - text[..at].rfind('\n').map_or(0, |i| i + 1)) as u64)
}

fn hover(client: &mut Client, uri: &str, text: &str, word: &str, nth: usize) -> String {
    let (line, col) = find(text, word, nth);
    client.at("textDocument/hover", uri, line, col)["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_session_from_open_to_close() {
    let folder = folder();
    let mut client = Client::start(&folder.path);
    let doc = uri(&folder.path.join("scale.tk"));
    client.open(&doc, "triton", KERNEL);
    assert_eq!(client.diagnostics(&doc, 1), Vec::<Value>::new());

    // Into a fault and back.
    let (line, col) = find(KERNEL, "arange", 0);
    client.edit(&doc, 2, [line, col, line, col + 6], "aragne");
    let broken = KERNEL.replace("arange", "aragne");
    let said = client.diagnostics(&doc, 2);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!((said[0]["code"].as_str(), said[0]["severity"].as_i64()), (Some("E0202"), Some(1)), "{said:?}");
    assert_eq!(said[0]["range"]["start"]["line"], line);
    let wanted = json!({ "textDocument": { "uri": doc }, "range": said[0]["range"], "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", wanted);
    assert_eq!(actions[0]["title"], "write `arange`");
    let edits = actions[0]["edit"]["changes"][&doc].as_array().unwrap();
    assert_eq!(with_edits(&broken, edits), KERNEL);
    client.edit(&doc, 3, [line, col, line, col + 6], "arange");
    assert_eq!(client.diagnostics(&doc, 3), Vec::<Value>::new());

    // What things are.
    let offs = hover(&mut client, &doc, KERNEL, "offs", 0);
    assert!(offs.contains("offs: int32[1024]") && offs.contains("1024 contiguous"), "{offs}");
    let pointer = hover(&mut client, &doc, KERNEL, "x_ptr", 1);
    assert!(pointer.contains("aligned to 16 bytes"), "{pointer}");
    let block = hover(&mut client, &doc, KERNEL, "BLOCK", 1);
    assert!(block.contains("constexpr = 1024"), "{block}");
    let load = hover(&mut client, &doc, KERNEL, "load", 0);
    assert!(load.contains("load(pointer, mask=None"), "{load}");
    let scaled = hover(&mut client, &doc, KERNEL, "scaled(", 0);
    assert!(scaled.contains("scaled(x, factor)") && scaled.contains("The product of both."), "{scaled}");

    // Where they come from.
    let (line, col) = find(KERNEL, "scaled(", 0);
    let there = client.at("textDocument/definition", &doc, line, col);
    assert_eq!(there[0]["uri"], uri(&folder.path.join("helpers.py")));
    assert_eq!(there[0]["range"]["start"], json!({ "line": 4, "character": 4 }));
    let (line, col) = find(KERNEL, "offs", 2);
    let there = client.at("textDocument/definition", &doc, line, col);
    assert_eq!(there[0]["range"]["start"], json!({ "line": 9, "character": 4 }));
    let uses = client.at("textDocument/references", &doc, line, col);
    assert_eq!(uses.as_array().unwrap().len(), 5, "{uses}");

    // What can be written.
    let (line, col) = find(KERNEL, "tl.load", 0);
    let offered = client.at("textDocument/completion", &doc, line, col + 3);
    let offered = offered.as_array().unwrap();
    let item =
        |name: &str| offered.iter().find(|i| i["label"] == name).unwrap_or_else(|| panic!("{name} is not offered"));
    assert!(item("arange")["detail"].as_str().unwrap().starts_with("arange(start, end)"), "{}", item("arange"));
    assert!(item("cdiv")["documentation"]["value"].as_str().is_some_and(|t| !t.is_empty()));
    assert!(offered.len() > 100);

    let whole = json!({ "textDocument": { "uri": doc }, "range": range([0, 0, 99, 0]) });
    let hints = client.ask("textDocument/inlayHint", whole);
    let labels: Vec<&str> = hints.as_array().unwrap().iter().map(|h| h["label"].as_str().unwrap()).collect();
    assert_eq!(labels, [": int32", ": int32[1024]", ": fp32[1024]"]);

    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": doc } }));
    assert_eq!(lenses[0]["command"]["title"], "compile");
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": doc } }));
    assert_eq!(client.diagnostics(&doc, i64::MAX), Vec::<Value>::new());
    client.stop();
}

#[test]
fn helpers_are_followed_both_ways_and_as_they_are_edited() {
    let folder = folder();
    let mut client = Client::start(&folder.path);
    let (kernel, helpers) = (uri(&folder.path.join("scale.tk")), uri(&folder.path.join("helpers.py")));
    client.open(&helpers, "python", HELPERS);
    client.open(&kernel, "triton", KERNEL);
    assert_eq!(client.diagnostics(&kernel, 1), Vec::<Value>::new());
    let uses = client.at("textDocument/references", &helpers, 4, 5);
    let places: Vec<(String, u64)> = uses
        .as_array()
        .unwrap()
        .iter()
        .map(|u| {
            (
                u["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(),
                u["range"]["start"]["line"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [("helpers.py", 4), ("scale.tk", 2), ("scale.tk", 11)];
    assert_eq!(places, expected.map(|(f, l)| (f.to_owned(), l)));
    // A fault in a helper that is open and not saved shows at the call.
    client.edit(&helpers, 2, [6, 11, 6, 12], "y");
    let said = loop {
        let said = client.diagnostics(&kernel, 1);
        if !said.is_empty() {
            break said;
        }
    };
    assert_eq!(said[0]["range"]["start"]["line"], 11, "{said:?}");
    assert!(messages(&said)[0].contains("`y` is not defined"), "{said:?}");
    assert_eq!(said[0]["relatedInformation"][0]["location"]["uri"], helpers);
    client.stop();
}

#[test]
fn the_prelude_opens_as_a_file() {
    let folder = folder();
    let mut client = Client::start(&folder.path);
    let doc = uri(&folder.path.join("sum.tk"));
    let text = "import triton.language as tl\nimport triton\n\n@triton.jit\ndef k(p: \"*fp32\"):\n    s = tl.load(p + tl.arange(0, 16)).sum()\n    tl.store(p, tl.sum(s + tl.zeros((16,), tl.float32)))\n";
    client.open(&doc, "triton", text);
    assert_eq!(messages(&client.diagnostics(&doc, 1)), Vec::<String>::new());
    for nth in [0, 1] {
        let (line, col) = find(text, "sum", nth);
        let there = client.at("textDocument/definition", &doc, line, col);
        let path =
            there[0]["uri"].as_str().unwrap_or_else(|| panic!("{there}")).strip_prefix("file://").unwrap().to_owned();
        let line = there[0]["range"]["start"]["line"].as_u64().unwrap() as usize;
        let library = std::fs::read_to_string(path).unwrap();
        assert!(library.lines().nth(line).unwrap().starts_with("def sum("), "{there}");
    }
    client.stop();
}

#[test]
fn a_kernel_without_types_says_what_it_needs_and_gets_them_from_a_case() {
    let folder = folder();
    let text = KERNEL.replace(": \"*fp32:16\"", "").replace(": \"i32\"", "").replace(" = 1024", "");
    let mut client = Client::start(&folder.path);
    let doc = uri(&folder.path.join("other.py"));
    client.open(&doc, "python", &text);
    let said = client.diagnostics(&doc, 1);
    assert_eq!((said.len(), said[0]["severity"].as_i64()), (1, Some(4)), "{said:?}");
    assert!(messages(&said)[0].contains("`scale` needs the types or values of x_ptr, n, BLOCK"), "{said:?}");
    let wanted = json!({ "textDocument": { "uri": doc }, "range": said[0]["range"], "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", wanted);
    let edits = actions[0]["edit"]["changes"][&doc].as_array().unwrap();
    let typed = with_edits(&text, edits);
    assert!(
        typed.contains("def scale(x_ptr: \"*fp32")
            && typed.contains("n: \"i32")
            && typed.contains("BLOCK: tl.constexpr = "),
        "{typed}"
    );

    // The case beside it knows.
    let case = "grid = [\"cdiv(n, BLOCK)\"]\n\n[params]\nn = [2048]\nBLOCK = [512]\n\n[args.x_ptr]\nshape = [\"n\"]\ndtype = \"fp16\"\nout = true\n\n[args.n]\nvalue = \"n\"\n";
    std::fs::write(folder.path.join("third.toml"), case).unwrap();
    let doc = uri(&folder.path.join("third.py"));
    client.open(&doc, "python", &text);
    let said = client.diagnostics(&doc, 1);
    if said.is_empty() {
        let x = hover(&mut client, &doc, &text, "x = ", 0);
        assert!(x.contains("[512]"), "{x}");
    } else {
        panic!("{said:?}");
    }
    client.stop();
}

#[test]
fn a_manifest_gives_the_types() {
    let folder = folder();
    let text = KERNEL.replace(": \"*fp32:16\"", "").replace(": \"i32\"", "").replace(" = 1024", "");
    std::fs::write(folder.path.join("built.py"), &text).unwrap();
    let manifest = "[kernel.scale]\nfile = \"built.py\"\ntypes = { x_ptr = \"*bf16:16\", n = \"i32\" }\nconstants = { BLOCK = 128 }\n";
    std::fs::write(folder.path.join("ttc.toml"), manifest).unwrap();
    let mut client = Client::start(&folder.path);
    let doc = uri(&folder.path.join("built.py"));
    client.open(&doc, "python", &text);
    assert_eq!(messages(&client.diagnostics(&doc, 1)), Vec::<String>::new());
    let x = hover(&mut client, &doc, &text, "x = ", 0);
    assert!(x.contains("x: bf16[128]"), "{x}");
    // A manifest that changes counts at once.
    std::fs::write(folder.path.join("ttc.toml"), manifest.replace("128", "256")).unwrap();
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(messages(&client.diagnostics(&doc, 1)), Vec::<String>::new());
    let x = hover(&mut client, &doc, &text, "x = ", 0);
    assert!(x.contains("x: bf16[256]"), "{x}");
    client.stop();
}

#[test]
fn a_request_ends_when_its_text_changes_or_it_is_cancelled() {
    let folder = folder();
    let mut client = Client::start(&folder.path);
    let doc = uri(&folder.path.join("scale.tk"));
    client.open(&doc, "triton", KERNEL);
    let first = client.begin("textDocument/hover", place(&doc, 9, 5));
    client.edit(&doc, 2, [0, 0, 0, 0], "#\n");
    let second = client.begin("textDocument/hover", place(&doc, 10, 5));
    client.tell("$/cancelRequest", json!({ "id": second }));
    // An answer that was there before the change or the cancellation is fine, too.
    assert!(matches!(client.end(first), Ok(_) | Err(-32801)));
    assert!(matches!(client.end(second), Ok(_) | Err(-32800)));
    assert_eq!(client.diagnostics(&doc, 2), Vec::<Value>::new());
    assert!(client.begin("textDocument/rename", place(&doc, 0, 0)) > 0);
    client.stop();
}

#[test]
fn saving_compiles_and_the_lens_shows_what_came_out() {
    if std::env::var_os("TTC_TEST_TOOLS").is_none() {
        return;
    }
    let folder = folder();
    let mut client = Client::start(&folder.path);
    let doc = uri(&folder.path.join("scale.tk"));
    client.open(&doc, "triton", KERNEL);
    assert_eq!(client.diagnostics(&doc, 1), Vec::<Value>::new());
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": doc } }));
    // Compiling publishes again.
    assert_eq!(client.diagnostics(&doc, 1), Vec::<Value>::new());
    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": doc } }));
    let title = lenses[0]["command"]["title"].as_str().unwrap();
    assert!(title.contains(" registers, no spills, 0 bytes of shared memory"), "{title}");
    client.edit(&doc, 2, [0, 0, 0, 0], "#\n");
    let lenses = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": doc } }));
    assert!(lenses[0]["command"]["title"].as_str().unwrap().ends_with("(before the last change)"), "{lenses}");
    client.stop();
}

#[test]
fn input_that_is_not_the_protocol_is_an_error_with_a_code() {
    for text in ["no header\r\n\r\n", ""] {
        let mut server = Command::new(env!("CARGO_BIN_EXE_ttc"));
        server.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = server.spawn().unwrap();
        server.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let done = server.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(1) && said.contains("error[E0964]"), "{text:?}: {said}");
        assert!(done.stdout.is_empty(), "{text:?}");
    }
}
