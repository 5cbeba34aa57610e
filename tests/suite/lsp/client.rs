//! A client of the language server, over the real protocol against the real program.

use std::collections::VecDeque;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer may take before the test fails. A machine that is busy may take long.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server and what it has said.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications that nobody has asked for yet.
    notes: VecDeque<Value>,
    next: i64,
}

impl Client {
    /// Starts a server with a folder as its workspace.
    pub(crate) fn start(root: &Path) -> Client {
        Client::start_program(env!("CARGO_BIN_EXE_ttc").as_ref(), root)
    }

    pub(crate) fn start_program(program: &Path, root: &Path) -> Client {
        let mut child = Command::new(program)
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Client { child, input, messages, notes: VecDeque::new(), next: 0 };
        let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
        let root = uri(root);
        let about =
            client.ask("initialize", json!({ "processId": null, "rootUri": root, "capabilities": capabilities }));
        assert_eq!(about["serverInfo"]["name"], "ttc");
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer, and gives its number.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request: its result, or its error's code.
    pub(crate) fn end(&mut self, id: i64) -> Result<Value, i64> {
        loop {
            let message = self.message();
            if message.get("method").is_none() && message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error["code"].as_i64().unwrap()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.keep(message);
        }
    }

    /// Sends a request and waits for its result.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.end(id).unwrap_or_else(|code| panic!("{method} failed with {code}"))
    }

    fn message(&mut self) -> Value {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended: {:?}", self.child.wait()),
        }
    }

    fn keep(&mut self, message: Value) {
        if let (Some(id), Some(_)) = (message.get("id"), message.get("method")) {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
        } else {
            self.notes.push_back(message);
        }
    }

    /// The diagnostics of a version of a document. Diagnostics of an older version are a stale answer if a newer one
    /// was published before.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            while let Some(note) = self.notes.pop_front() {
                let params = &note["params"];
                if note["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri {
                    let shown = params["version"].as_i64().unwrap_or(i64::MAX);
                    assert!(shown <= version, "diagnostics of a version that is not there yet");
                    if shown == version {
                        return params["diagnostics"].as_array().unwrap().clone();
                    }
                }
            }
            assert!(begin.elapsed() < PATIENCE, "no diagnostics of version {version}");
            let message = self.message();
            self.keep(message);
        }
    }

    pub(crate) fn open(&mut self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a range, as an editor does after a key.
    pub(crate) fn edit(&mut self, uri: &str, version: i64, range: [u64; 4], text: &str) {
        let change = json!({ "range": self::range(range), "text": text });
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// A request about a place of a document.
    pub(crate) fn at(&mut self, method: &str, uri: &str, line: u64, character: u64) -> Value {
        self.ask(method, place(uri, line, character))
    }

    /// Ends the server as the protocol wants it.
    pub(crate) fn stop(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(from: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => {
                if let Some(n) = header.strip_prefix("Content-Length: ") {
                    length = n.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

pub(crate) fn range([line, col, end_line, end_col]: [u64; 4]) -> Value {
    json!({ "start": { "line": line, "character": col }, "end": { "line": end_line, "character": end_col } })
}

pub(crate) fn place(uri: &str, line: u64, character: u64) -> Value {
    let position = json!({ "line": line, "character": character });
    json!({ "textDocument": { "uri": uri }, "position": position, "context": { "includeDeclaration": true } })
}

/// The text with the edit of a code action made.
pub(crate) fn with_edits(text: &str, edits: &[Value]) -> String {
    let offset = |at: &Value| {
        let (line, col) = (at["line"].as_u64().unwrap() as usize, at["character"].as_u64().unwrap() as usize);
        text.split_inclusive('\n').take(line).map(str::len).sum::<usize>() + col
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|e| (offset(&e["range"]["start"]), offset(&e["range"]["end"]), e["newText"].as_str().unwrap()))
        .collect();
    edits.sort_unstable();
    let mut out = text.to_owned();
    for (lo, hi, new) in edits.into_iter().rev() {
        out.replace_range(lo..hi, new);
    }
    out
}
