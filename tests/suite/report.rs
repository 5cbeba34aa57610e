//! The page of `ttc report`: its data say which lines belong together.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The page of a kernel and the data in it.
fn page(arguments: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.html");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = Command::new(env!("CARGO_BIN_EXE_ttc"))
        .current_dir(root)
        .arg("report")
        .args(arguments)
        .arg("-o")
        .arg(&output)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let html = std::fs::read_to_string(output).unwrap();
    let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    let data = serde_json::from_str(&html[start..end]).unwrap();
    (html, data)
}

/// The lines of a stage that lead to a line of the kernel's file, as the page finds them.
fn linked(data: &Value, stage: &str, file: &str, line: u64) -> Vec<String> {
    let files = data["files"].as_array().unwrap();
    let file = files.iter().position(|f| f["name"] == file).unwrap() as u64;
    let places = data["places"].as_array().unwrap();
    let Some(place) = places.iter().position(|p| p[0] == file && p[1] == line) else { return vec![] };
    let chains = data["chains"].as_array().unwrap();
    let stage = data["sides"][0]["stages"].as_array().unwrap().iter().find(|s| s["name"] == stage).unwrap();
    let (lines, at) = (stage["lines"].as_array().unwrap(), stage["at"].as_array().unwrap());
    assert_eq!(lines.len(), at.len());
    let leads = |at: &Value| {
        usize::try_from(at.as_i64().unwrap()).is_ok_and(|c| chains[c].as_array().unwrap().iter().any(|p| *p == place))
    };
    lines.iter().zip(at).filter(|(_, at)| leads(at)).map(|(l, _)| l.as_str().unwrap().trim().to_owned()).collect()
}

#[test]
fn every_stage_of_a_softmax_leads_back_to_its_source() {
    if std::env::var_os("TTC_TEST_TOOLS").is_none() {
        return;
    }
    let (html, data) = page(&["kernels/softmax.toml", "--arch", "sm_90a"]);
    let file = "kernels/softmax.tk";
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let line = |word: &str| source.lines().position(|l| l.contains(word)).unwrap() as u64 + 1;
    let has = |stage: &str, line: u64, word: &str| {
        let lines = linked(&data, stage, file, line);
        assert!(lines.iter().any(|l| l.contains(word)), "line {line} has no `{word}` in {stage}: {lines:#?}");
    };
    for (word, expected) in [
        (
            "tl.load",
            [
                ("TTIR", "tt.load"),
                ("TTGIR", "tt.load"),
                ("LLVM IR", "ld.global"),
                ("PTX", "ld.global"),
                ("SASS", "LDG"),
            ],
        ),
        (
            "tl.store",
            [
                ("TTIR", "tt.store"),
                ("TTGIR", "tt.store"),
                ("LLVM IR", "st.global"),
                ("PTX", "st.global"),
                ("SASS", "STG"),
            ],
        ),
        // A function of the library, which was inlined.
        (
            "tl.max",
            [("TTIR", "tt.reduce"), ("TTGIR", "tt.reduce"), ("LLVM IR", "shfl"), ("PTX", "shfl"), ("SASS", "SHFL")],
        ),
    ] {
        for (stage, found) in expected {
            has(stage, line(word), found);
        }
    }
    // And no line leads where it has no business.
    for stage in ["TTIR", "TTGIR", "PTX", "SASS"] {
        let loads = linked(&data, stage, file, line("tl.load"));
        assert!(
            !loads.iter().any(|l| l.contains("tt.store") || l.contains("st.global") || l.contains("STG")),
            "{loads:#?}"
        );
    }
    let side = &data["sides"][0];
    let (all, traced) = (side["traced"][0].as_u64().unwrap(), side["traced"][1].as_u64().unwrap());
    assert!(all > 50 && traced * 100 >= all * 95, "{traced} of {all} instructions are traced");
    let shown: BTreeSet<&str> =
        side["passes"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert!(shown.contains("tritongpu-coalesce") && shown.contains("input"), "{shown:?}");
    assert!(
        side["passes"].as_array().unwrap().iter().any(|p| p["lines"].is_null()),
        "a pass that changes nothing has no text"
    );
    assert!(side["times"].as_array().unwrap().iter().any(|t| t[0] == "ptxas"));
    // One file: nothing is loaded from elsewhere. The name of SVG's elements looks like an address and is none.
    let html = html.replace("\"http://www.w3.org/2000/svg\"", "");
    for word in ["src=", "href=", "@import", "http://", "https://", "fetch(", "url("] {
        assert!(!html.contains(word), "the page has `{word}`");
    }
}

#[test]
fn no_text_of_a_kernel_ends_the_data() {
    if std::env::var_os("TTC_TEST_TOOLS").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.tk");
    let text = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(p: \"*fp32\"):\n    # </script><script>alert(1)</script> <!--\n    tl.store(p, 1.0)\n";
    std::fs::write(&kernel, text).unwrap();
    let (html, data) = page(&[kernel.to_str().unwrap()]);
    assert_eq!(data["files"][0]["text"], text);
    assert_eq!(html.matches("</script>").count(), 2);
}
