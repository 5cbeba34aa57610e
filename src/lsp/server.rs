//! The main thread: messages in, answers out. Whatever takes time is done elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    GotoDefinitionResponse, Hover, HoverContents, InitializeParams, Location, MarkupContent, MarkupKind, Position,
    PublishDiagnosticsParams, TextDocumentIdentifier, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::analysis::Analysis;
use super::analyst::{self, Done};
use super::begin::{capabilities, encoding, refreshes_lenses, roots};
use super::documents::{Document, Documents};
use super::positions::Encoding;
use super::references::Search;
use super::snapshot::Snapshot;
use super::{actions, compiled, completion, diagnostics, goto, hints, hover, lens};
use crate::source::Span;
use crate::threads;

/// Serves one client over standard input and output, until it says to stop.
///
/// # Errors
/// The system's error if no thread can be started, or what the client did against the protocol.
pub fn serve() -> io::Result<()> {
    let (connection, io) = Connection::stdio();
    let served = run(&connection);
    // The threads end when nobody sends to them any more.
    drop(connection);
    served?;
    io.join()
}

fn run(connection: &Connection) -> io::Result<()> {
    let against_protocol = |e: lsp_server::ProtocolError| io::Error::new(io::ErrorKind::InvalidData, e);
    let (id, params) = connection.initialize_start().map_err(against_protocol)?;
    let params: InitializeParams = serde_json::from_value(params).map_err(io::Error::other)?;
    let encoding = encoding(&params);
    let info = json!({ "name": "ttc", "version": env!("CARGO_PKG_VERSION") });
    let about = json!({ "capabilities": capabilities(encoding), "serverInfo": info });
    connection.initialize_finish(id, about).map_err(against_protocol)?;
    let (tasks, analysed) = analyst::start()?;
    let (compile, compiled) = compiled::start()?;
    let (found, searches) = unbounded();
    let server = Server {
        out: connection.sender.clone(),
        encoding,
        roots: roots(&params),
        refreshes_lenses: refreshes_lenses(&params),
        documents: Documents::default(),
        pending: vec![],
        searching: BTreeMap::new(),
        to_compile: BTreeSet::new(),
        tasks,
        compile,
        found,
        own_requests: 0,
        epoch: 0,
    };
    server.serve(connection, &analysed, &compiled, &searches).map_err(against_protocol)
}

/// A request that waits for the analysis of a document.
struct Waiting {
    request: Request,
    uri: Uri,
}

/// What a search found.
struct Found {
    id: RequestId,
    locations: Vec<Location>,
}

struct Server {
    out: Sender<Message>,
    encoding: Encoding,
    roots: Vec<PathBuf>,
    refreshes_lenses: bool,
    documents: Documents,
    pending: Vec<Waiting>,
    /// Searches that run, with what stops them.
    searching: BTreeMap<RequestId, Arc<AtomicBool>>,
    /// Documents to compile once they are analysed.
    to_compile: BTreeSet<String>,
    tasks: Sender<analyst::Task>,
    compile: Sender<compiled::Task>,
    found: Sender<Found>,
    own_requests: i32,
    /// Counts the changes on the disk that the client told of.
    epoch: u64,
}

impl Server {
    fn serve(
        mut self,
        connection: &Connection,
        analysed: &Receiver<Done>,
        compiled: &Receiver<compiled::Done>,
        searches: &Receiver<Found>,
    ) -> Result<(), lsp_server::ProtocolError> {
        loop {
            select! {
                recv(connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if connection.handle_shutdown(&request)? {
                            return Ok(());
                        }
                        self.request(request);
                    }
                    Ok(Message::Notification(n)) => self.notification(n),
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(()),
                },
                recv(analysed) -> done => if let Ok(done) = done { self.analysed(done) },
                recv(compiled) -> done => if let Ok(done) = done { self.compiled(done) },
                recv(searches) -> found => if let Ok(found) = found { self.found(found) },
            }
        }
    }

    // ---- out ----

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone needs no answer.
        let _ = self.out.send(message.into());
    }

    fn answer(&self, id: RequestId, result: &impl serde::Serialize) {
        self.send(Response::new_ok(id, result));
    }

    fn fail(&self, id: RequestId, code: ErrorCode, message: &str) {
        self.send(Response::new_err(id, code as i32, message.to_owned()));
    }

    fn publish(&self, document: &Document, version: i32) {
        let Some(a) = &document.analysis else { return };
        let mut shown = diagnostics::of_document(&a.diagnostics, &a.sources, a.file, &document.uri, self.encoding);
        if let Some(c) = document.compiled.as_ref().filter(|c| c.version == version) {
            for (said, sources) in &c.said {
                let more = diagnostics::of_document(said, sources, a.file, &document.uri, self.encoding);
                shown.extend(more.into_iter().filter(|d| !shown.contains(d)).collect::<Vec<_>>());
            }
        }
        self.show(&document.uri, shown, Some(version));
    }

    fn show(&self, uri: &Uri, diagnostics: Vec<lsp_types::Diagnostic>, version: Option<i32>) {
        let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
        self.send(Notification::new(notification::PublishDiagnostics::METHOD.to_owned(), params));
    }

    // ---- documents ----

    fn notification(&mut self, n: Notification) {
        match n.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                let Some(p) = params::<lsp_types::DidOpenTextDocumentParams>(n.params) else { return };
                let lsp_types::TextDocumentItem { uri, language_id, version, text } = p.text_document;
                let document = Document::new(uri.clone(), &language_id, version, text);
                self.documents.0.insert(uri.as_str().to_owned(), document);
                self.analyse(&uri);
            }
            notification::DidChangeTextDocument::METHOD => {
                let Some(p) = params::<lsp_types::DidChangeTextDocumentParams>(n.params) else { return };
                let (uri, encoding) = (p.text_document.uri, self.encoding);
                let Some(document) = self.documents.get_mut(&uri) else { return };
                document.change(encoding, p.content_changes);
                document.version = p.text_document.version;
                self.end_pending(&uri, ErrorCode::ContentModified, "the text has changed");
                self.analyse(&uri);
            }
            notification::DidCloseTextDocument::METHOD => {
                let Some(p) = params::<lsp_types::DidCloseTextDocumentParams>(n.params) else { return };
                let uri = p.text_document.uri;
                if let Some(document) = self.documents.0.remove(uri.as_str()) {
                    document.stop.store(true, Ordering::Relaxed);
                }
                self.end_pending(&uri, ErrorCode::ContentModified, "the document is closed");
                self.show(&uri, vec![], None);
            }
            notification::DidSaveTextDocument::METHOD => {
                let Some(p) = params::<lsp_types::DidSaveTextDocumentParams>(n.params) else { return };
                self.compile(p.text_document.uri.as_str());
            }
            // A case file, a manifest, or a file that is imported and not open.
            notification::DidChangeWatchedFiles::METHOD => {
                self.epoch += 1;
                let open: Vec<Uri> = self.documents.0.values().map(|d| d.uri.clone()).collect();
                open.iter().for_each(|uri| self.analyse(uri));
            }
            notification::Cancel::METHOD => {
                let Some(p) = params::<lsp_types::CancelParams>(n.params) else { return };
                self.cancel(&match p.id {
                    lsp_types::NumberOrString::Number(n) => RequestId::from(n),
                    lsp_types::NumberOrString::String(s) => RequestId::from(s),
                });
            }
            _ => {}
        }
    }

    /// Sends a document to the analyst, and behind it those that may import it.
    fn analyse(&mut self, uri: &Uri) {
        let (snapshots, epoch) = (self.documents.snapshots(), self.epoch);
        let stem = self.documents.get(uri).and_then(|d| d.path.file_stem()).map(|s| s.to_string_lossy().into_owned());
        let names_it = |d: &Document| stem.as_ref().is_some_and(|s| d.text.contains(s.as_str()));
        let others: Vec<String> = self
            .documents
            .0
            .iter()
            .filter(|(u, d)| *u != uri.as_str() && names_it(d))
            .map(|(u, _)| u.clone())
            .collect();
        // The analyst takes the last one first.
        for key in others.iter().map(String::as_str).chain([uri.as_str()]) {
            let Some(d) = self.documents.0.get_mut(key) else { continue };
            d.stop.store(true, Ordering::Relaxed);
            d.stop = Arc::default();
            let own = Snapshot { path: d.path.clone(), on_disk: d.on_disk, text: d.text.clone() };
            let (version, stop) = (d.version, d.stop.clone());
            let _ = self.tasks.send(analyst::Task {
                uri: key.to_owned(),
                version,
                own,
                others: snapshots.clone(),
                epoch,
                stop,
            });
        }
    }

    fn analysed(&mut self, Done { uri, analysis }: Done) {
        let Some(document) = self.documents.0.get_mut(&uri) else { return };
        if analysis.version != document.version {
            return;
        }
        document.analysis = Some(analysis.clone());
        let document = &self.documents.0[&uri];
        self.publish(document, document.version);
        let own = document.uri.clone();
        let (ready, rest) = std::mem::take(&mut self.pending).into_iter().partition(|w| w.uri == own);
        self.pending = rest;
        let ready: Vec<Waiting> = ready;
        for Waiting { request, uri } in ready {
            self.with_analysis(request, &uri, &analysis);
        }
        if self.to_compile.remove(&uri) {
            self.compile(&uri);
        }
    }

    /// Compiles a document, once it is analysed.
    fn compile(&mut self, uri: &str) {
        let Some(document) = self.documents.0.get(uri) else { return };
        let Some(analysis) = document.fresh() else {
            self.to_compile.insert(uri.to_owned());
            return;
        };
        let task = compiled::Task { uri: uri.to_owned(), analysis: analysis.clone(), stop: document.stop.clone() };
        let _ = self.compile.send(task);
    }

    fn compiled(&mut self, compiled::Done { uri, compiled }: compiled::Done) {
        let Some(document) = self.documents.0.get_mut(&uri) else { return };
        let version = compiled.version;
        document.compiled = Some(compiled);
        let document = &self.documents.0[&uri];
        if version == document.version {
            self.publish(document, version);
        }
        if self.refreshes_lenses {
            self.own_requests += 1;
            let id = RequestId::from(format!("ttc-{}", self.own_requests));
            self.send(Request::new(id, request::CodeLensRefresh::METHOD.to_owned(), Value::Null));
        }
    }

    fn found(&mut self, Found { id, locations }: Found) {
        // A search that was cancelled has its answer already.
        if self.searching.remove(&id).is_some() {
            self.answer(id, &locations);
        }
    }

    // ---- requests ----

    fn end_pending(&mut self, uri: &Uri, code: ErrorCode, why: &str) {
        let (ended, rest): (Vec<Waiting>, Vec<Waiting>) =
            std::mem::take(&mut self.pending).into_iter().partition(|w| w.uri == *uri);
        self.pending = rest;
        ended.into_iter().for_each(|w| self.fail(w.request.id, code, why));
    }

    fn cancel(&mut self, id: &RequestId) {
        if let Some(at) = self.pending.iter().position(|w| w.request.id == *id) {
            let waiting = self.pending.remove(at);
            self.fail(waiting.request.id, ErrorCode::RequestCanceled, "cancelled");
        } else if let Some(stop) = self.searching.remove(id) {
            stop.store(true, Ordering::Relaxed);
            self.fail(id.clone(), ErrorCode::RequestCanceled, "cancelled");
        }
    }

    fn request(&mut self, request: Request) {
        if request.method == request::ExecuteCommand::METHOD {
            return self.execute(request);
        }
        if !ABOUT_DOCUMENTS.contains(&request.method.as_str()) {
            return self.fail(request.id, ErrorCode::MethodNotFound, "not a request that ttc knows");
        }
        let uri = document_of(&request.params);
        let Some(document) = uri.as_ref().and_then(|uri| self.documents.get(uri)) else {
            return self.fail(request.id, ErrorCode::InvalidParams, "the document is not open");
        };
        let uri = document.uri.clone();
        match document.fresh().cloned() {
            Some(analysis) => self.with_analysis(request, &uri, &analysis),
            None => self.pending.push(Waiting { request, uri }),
        }
    }

    fn execute(&mut self, request: Request) {
        let p = params::<lsp_types::ExecuteCommandParams>(request.params);
        let uri =
            p.filter(|p| p.command == lens::COMPILE).and_then(|p| p.arguments.first()?.as_str().map(str::to_owned));
        match uri {
            Some(uri) => {
                self.compile(&uri);
                self.answer(request.id, &Value::Null);
            }
            None => self.fail(request.id, ErrorCode::InvalidParams, "ttc knows the command ttc.compile, of a document"),
        }
    }

    /// Answers a request about a document whose analysis is there.
    fn with_analysis(&mut self, request: Request, uri: &Uri, a: &Arc<Analysis>) {
        let Request { id, method, params: p } = request;
        let encoding = self.encoding;
        let text = &a.own().text;
        let at = |p: Position| encoding.offset(text, p) as u32;
        let place = position_of(&p).map(at);
        match (method.as_str(), place) {
            (request::HoverRequest::METHOD, Some(offset)) => {
                let hover = hover::hover(a, offset).map(|(value, span)| Hover {
                    contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
                    range: Some(encoding.range(a.own(), span)),
                });
                self.answer(id, &hover);
            }
            (request::GotoDefinition::METHOD, Some(offset)) => {
                let spans = goto::definition(a, offset).into_iter();
                let found = spans.filter_map(|s| goto::location(a, s, uri, encoding)).collect();
                self.answer(id, &GotoDefinitionResponse::Array(found));
            }
            (request::References::METHOD, Some(offset)) => {
                let definitions = p["context"]["includeDeclaration"].as_bool().unwrap_or(true);
                self.search(id, uri, a, offset, definitions);
            }
            (request::Completion::METHOD, Some(offset)) => self.answer(id, &completion::completion(a, offset)),
            (request::InlayHintRequest::METHOD, _) => {
                let range = range_of(&p);
                let part = range.map_or(a.span(0, u32::MAX), |r| Span { file: a.file, lo: at(r.start), hi: at(r.end) });
                self.answer(id, &hints::hints(a, part, encoding));
            }
            (request::CodeActionRequest::METHOD, _) => {
                let found = range_of(&p).map_or_else(Vec::new, |r| actions::actions(a, r, uri, encoding));
                self.answer(id, &found);
            }
            (request::CodeLensRequest::METHOD, _) => {
                let compiled = self.documents.get(uri).and_then(|d| d.compiled.as_ref());
                self.answer(id, &lens::lenses(a, compiled, uri.as_str(), encoding));
            }
            _ => self.fail(id, ErrorCode::InvalidParams, "the request lacks a position"),
        }
    }

    /// Looks for uses, in the whole workspace, on a thread.
    fn search(&mut self, id: RequestId, uri: &Uri, a: &Arc<Analysis>, offset: u32, definitions: bool) {
        let stop = Arc::new(AtomicBool::new(false));
        let search = Arc::new(Search {
            analysis: a.clone(),
            uri: uri.clone(),
            offset,
            definitions,
            roots: self.roots.clone(),
            open: self.documents.snapshots(),
            encoding: self.encoding,
            stop: stop.clone(),
        });
        let started = threads::start(|builder| {
            let (search, found, id) = (search.clone(), self.found.clone(), id.clone());
            builder.spawn(move || _ = found.send(Found { id, locations: search.run() }))
        });
        match started {
            Ok(_) => _ = self.searching.insert(id, stop),
            Err(_) => self.answer(id, &Vec::<Location>::new()),
        }
    }
}

/// The requests that are about a document.
const ABOUT_DOCUMENTS: [&str; 7] = [
    request::HoverRequest::METHOD,
    request::GotoDefinition::METHOD,
    request::References::METHOD,
    request::Completion::METHOD,
    request::InlayHintRequest::METHOD,
    request::CodeActionRequest::METHOD,
    request::CodeLensRequest::METHOD,
];

fn params<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

fn document_of(p: &Value) -> Option<Uri> {
    params::<TextDocumentIdentifier>(p.get("textDocument")?.clone()).map(|d| d.uri)
}

fn position_of(p: &Value) -> Option<Position> {
    params(p.get("position")?.clone())
}

fn range_of(p: &Value) -> Option<lsp_types::Range> {
    params(p.get("range")?.clone())
}
