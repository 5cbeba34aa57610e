//! Files of IR: faults, definitions, uses, types with their layouts.

use serde_json::Value;

use super::client::{Client, uri};

const TTGIR: &str = r#"#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func private @twice(%a: i32) -> i32 {
    %b = arith.addi %a, %a : i32
    tt.return %b : i32
  }
  tt.func public @k(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %c = arith.constant 3 : i32
    %d = tt.call @twice(%c) : (i32) -> i32
    %s = tt.splat %d : i32 -> tensor<1024xi32, #blocked>
    %t = arith.addi %r, %s : tensor<1024xi32, #blocked>
    cf.br ^bb1(%t : tensor<1024xi32, #blocked>)
  ^bb1(%u: tensor<1024xi32, #blocked>):
    tt.return
  }
}
"#;

/// The place of the `nth` occurrence of a word.
fn find(word: &str, nth: usize) -> (u64, u64) {
    let at = TTGIR.match_indices(word).nth(nth).unwrap().0;
    let line = TTGIR[..at].matches('\n').count();
    (line as u64, (at - TTGIR[..at].rfind('\n').map_or(0, |i| i + 1)) as u64)
}

#[test]
fn names_of_ir_lead_to_their_definitions() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let doc = uri(&folder.path().join("k.ttgir"));
    client.open(&doc, "ttgir", TTGIR);
    assert_eq!(client.diagnostics(&doc, 1), Vec::<Value>::new());
    for (word, used, defined, uses) in
        [("%r", 1, 0, 2), ("%a", 1, 0, 3), ("@twice", 1, 0, 2), ("#blocked", 2, 0, 6), ("^bb1", 0, 1, 2)]
    {
        let (line, col) = find(word, used);
        let there = client.at("textDocument/definition", &doc, line, col + 1);
        let start = &there[0]["range"]["start"];
        assert_eq!(
            (start["line"].as_u64(), start["character"].as_u64()),
            {
                let (l, c) = find(word, defined);
                (Some(l), Some(c))
            },
            "{word}: {there}"
        );
        let all = client.at("textDocument/references", &doc, line, col + 1);
        assert_eq!(all.as_array().unwrap().len(), uses, "{word}: {all}");
    }
    let (line, col) = find("%t", 0);
    let hover = client.at("textDocument/hover", &doc, line, col)["contents"]["value"].to_string();
    assert!(hover.contains("tensor<1024xi32") && hover.contains("sizePerThread = [4]"), "{hover}");
    assert!(hover.contains("8 elements a thread"), "{hover}");
    client.stop();
}

#[test]
fn faults_of_ir_are_shown_and_names_before_them_still_lead_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let doc = uri(&folder.path().join("k.ttgir"));
    let (line, col) = find("%s :", 0);
    let broken = TTGIR.replacen("%r, %s :", "%r, %z :", 1);
    client.open(&doc, "ttgir", &broken);
    let said = client.diagnostics(&doc, 1);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0]["message"].as_str().unwrap().contains("`%z` is not defined"), "{said:?}");
    assert_eq!(said[0]["range"]["start"]["line"], line);
    let there = client.at("textDocument/definition", &doc, line, col - 4);
    assert_eq!(there[0]["range"]["start"]["line"], find("%r", 0).0, "{there}");
    client.stop();
}
