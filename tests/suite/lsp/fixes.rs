//! Quick fixes: each turns a faulty text into a right one.

use serde_json::{Value, json};

use super::client::{Client, range, uri, with_edits};

/// Opens a text, takes the first fix, and expects what the text becomes; it must have fewer faults.
fn check(client: &mut Client, name: &str, before: &str, after: &str) {
    let doc = uri(&std::env::temp_dir().join(name));
    client.open(&doc, "triton", before);
    let said = client.diagnostics(&doc, 1);
    assert!(!said.is_empty(), "nothing is wrong with\n{before}");
    let whole =
        json!({ "textDocument": { "uri": doc }, "range": range([0, 0, 999, 0]), "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", whole);
    let edits = actions[0]["edit"]["changes"][&doc].as_array().unwrap_or_else(|| panic!("no fix in {said:#?}"));
    let fixed = with_edits(before, edits);
    assert_eq!(fixed, after, "{}", actions[0]["title"]);
    client.edit(&doc, 2, [0, 0, 999, 0], &fixed);
    let left: Vec<Value> = client.diagnostics(&doc, 2);
    assert!(left.len() < said.len(), "{left:#?}");
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": doc } }));
}

const HEAD: &str = "import triton\nimport triton.language as tl\n\n@triton.jit\n";

#[test]
fn what_a_help_says_can_be_done_for_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let body = |header: &str, body: &str| format!("{HEAD}def k({header}):\n    {body}\n");
    let p = "p: \"*fp32\", n: \"i32\"";
    let cases = [
        // Misspelt names, members, keywords, annotations.
        (body("p: \"*fp32\", BLOCK: tl.constexpr = 16", "tl.store(p + tl.arange(0, BLOK), 1.0)"), "BLOK", "BLOCK"),
        (body(p, "tl.stroe(p, 1.0)"), "stroe", "store"),
        (body(p, "tl.store(p, tl.load(p, maks=n > 0))"), "maks", "mask"),
        (body(p, "tl.store(p, tl.sum(tl.load(p + tl.arange(0, 8)), dim=0))"), "dim=", "axis="),
        (body("p: \"*fp23\"", "tl.store(p, 1.0)"), "*fp23\"", "*fp32\""),
        // Functions of other packages.
        (body(p, "tl.store(p + arange(0, 4), 1.0)"), " arange", " tl.arange"),
        // Operators of Python and of other languages.
        (body(p, "tl.store(p, 1.0, mask=n > 0 && n < 4)"), "&&", "and"),
        (body(p, "if n <> 4:\n        tl.store(p, 1.0)"), "<>", "!="),
        (body(p, "if n = 4:\n        tl.store(p, 1.0)"), "n = 4", "n == 4"),
        (body(p, "if n == 4\n        tl.store(p, 1.0)"), "4\n", "4:\n"),
        (
            body(p, "i = tl.arange(0, 8)\n    tl.store(p + i, 1.0, mask=i < n and i > 0)"),
            "i < n and i > 0",
            "(i < n) & (i > 0)",
        ),
        (
            body(p, "i = tl.arange(0, 8)\n    tl.store(p + i, 1.0, mask=(i < n) and i > 0)"),
            "(i < n) and i > 0",
            "(i < n) & (i > 0)",
        ),
        (body("p: \"*fp32\", M: tl.constexpr = 'a'", "if M is 'a':\n        tl.store(p, 1.0)"), "M is 'a'", "M == 'a'"),
    ];
    for (i, (before, wrong, right)) in cases.iter().enumerate() {
        check(&mut client, &format!("case{i}.tk"), before, &before.replacen(wrong, right, 1));
    }
    client.stop();
}

#[test]
fn a_missing_import_is_added_where_imports_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let after = format!(
        "\"\"\"A file.\"\"\"\n\nimport triton.language as tl\n{}",
        "import triton\n\n@triton.jit\ndef k(p: \"*fp32\"):\n    tl.store(p, 1.0)\n"
    );
    let before = after.replace("import triton.language as tl\n", "");
    check(&mut client, "imports.tk", &before, &after);
    client.stop();
}
