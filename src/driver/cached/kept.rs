//! What is kept of a compilation, and its form as bytes.
//!
//! A [`Result`] is what the stages behind the front end made. A [`Record`] says under which files on the disk a request
//! leads to which result, and what the front end said on the way. A request and a change of the kernel's neighbour in
//! its file thus lead to two records and one result.
//!
//! Artifacts stand behind the JSON of the rest, byte for byte.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::backend::Stage;
use crate::cache::{Key, of_bytes};
use crate::diag::{Diagnostic, Fix, Label, Place, Severity, codes};
use crate::driver::job::Compiled;
use crate::driver::metadata::{Metadata, Param};
use crate::irgen::{Trail, embed_library_file};
use crate::source::{FileId, SourceMap, Span};
use crate::text_file;

/// What the stages behind the front end made.
#[derive(Serialize, Deserialize)]
pub(super) struct Result {
    kernel: String,
    metadata: Metadata,
    /// All parameters. The form of the metadata that is written leaves some of them out.
    params: Vec<Param>,
    /// What these stages said.
    said: Vec<Said>,
    /// The stages that were made, with their sizes.
    stages: Vec<(Stage, u64)>,
    /// The bytes of the stages, one after another.
    #[serde(skip)]
    bytes: Vec<u8>,
}

impl Result {
    /// Keeps what was made. The first `front` diagnostics are the front end's, which are another's to keep. It is
    /// `None` if a diagnostic cannot be kept.
    pub(super) fn of(made: &Compiled, front: usize, sources: &SourceMap) -> Option<Result> {
        // The rest is the front end's, or not kept.
        let Compiled {
            kernel,
            artifacts,
            metadata,
            diagnostics,
            files: _,
            trail: _,
            timings: _,
            printed: _,
            dumps: _,
            passes: _,
            slow_assembler: _,
            lives: _,
        } = made;
        Some(Result {
            kernel: kernel.clone(),
            metadata: metadata.clone(),
            params: metadata.params.clone(),
            said: diagnostics.get(front..)?.iter().map(|d| Said::of(d, sources)).collect::<Option<_>>()?,
            stages: artifacts.iter().map(|(stage, bytes)| (*stage, bytes.len() as u64)).collect(),
            bytes: artifacts.values().flatten().copied().collect(),
        })
    }

    /// Adds everything to a compilation that the front end has begun. It is `None`, and nothing is added, if the entry
    /// does not fit.
    pub(super) fn restore(self, made: &mut Compiled, sources: &mut SourceMap) -> Option<()> {
        let Result { kernel, metadata, params, said, stages, bytes } = self;
        let said: Vec<Diagnostic> = said.into_iter().map(|s| s.restore(sources)).collect::<Option<_>>()?;
        let mut rest = &bytes[..];
        let mut artifacts = vec![];
        for (stage, size) in stages {
            let (bytes, more) = rest.split_at_checked(usize::try_from(size).ok()?)?;
            artifacts.push((stage, bytes.to_owned()));
            rest = more;
        }
        if !rest.is_empty() {
            return None;
        }
        (made.kernel, made.metadata) = (kernel, Metadata { params, ..metadata });
        made.artifacts.extend(artifacts);
        made.diagnostics.extend(said);
        Some(())
    }

    /// The bytes of a result. There are none if it does not read back as it is, since a compilation from the cache must
    /// not know less than one without.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let head = serde_json::to_vec(self).ok()?;
        let back: Result = serde_json::from_slice(&head).ok()?;
        let same = format!("{:?}", back.known()) == format!("{:?}", self.known());
        debug_assert!(same, "{:?} reads back as {:?}", self.known(), back.known());
        same.then(|| [&(head.len() as u64).to_le_bytes(), &head[..], &self.bytes].concat())
    }

    /// What must read back as it was.
    fn known(&self) -> impl std::fmt::Debug {
        let Result { kernel, metadata, params, said: _, stages, bytes: _ } = self;
        (kernel.clone(), Metadata { params: params.clone(), ..metadata.clone() }, stages.clone())
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Result> {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (head, bytes) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Result { bytes: bytes.to_owned(), ..serde_json::from_slice(head).ok()? })
    }
}

/// Under which files a request leads to which result.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    /// The key of the result.
    result: String,
    /// The files that were read beside the input, with the digests of their texts.
    files: Vec<(PathBuf, String)>,
    /// What imports looked for.
    trail: Trail,
    /// What the front end said.
    said: Vec<Said>,
    /// The lines that `tl.static_print` printed.
    printed: Vec<String>,
}

impl Record {
    /// Keeps what the front end made. It is `None` if some of it cannot be kept.
    pub(super) fn of(result: Key, made: &Compiled, front: usize, sources: &SourceMap) -> Option<Record> {
        if made.trail.unreadable {
            return None;
        }
        let digest = |&file: &FileId| {
            let file = sources.get(file)?;
            Some((file.path.clone()?, of_bytes(file.text.as_bytes()).to_string()))
        };
        Some(Record {
            result: result.to_string(),
            // The first file is the input, whose text is part of the request.
            files: made.files.iter().skip(1).map(digest).collect::<Option<_>>()?,
            trail: made.trail.clone(),
            said: made.diagnostics.get(..front)?.iter().map(|d| Said::of(d, sources)).collect::<Option<_>>()?,
            printed: made.printed.clone(),
        })
    }

    /// The key of the result, if the disk is as it was. The files that were read are then in `sources`, and what the
    /// front end said is in `made`.
    pub(super) fn restore(self, made: &mut Compiled, sources: &mut SourceMap) -> Option<Key> {
        let Record { result, files, trail, said, printed } = self;
        if !trail.holds() {
            return None;
        }
        for (path, digest) in files {
            let known = sources.iter().find(|(_, f)| f.path.as_ref() == Some(&path)).map(|(id, _)| id);
            let file = if let Some(file) = known {
                file
            } else {
                let text = text_file::read_plain_file(&path).ok()?;
                sources.add(path.display().to_string(), Some(&path), text)
            };
            if of_bytes(sources.file(file).text.as_bytes()).to_string() != digest {
                return None;
            }
            made.files.push(file);
        }
        made.trail = trail;
        let said: Vec<Diagnostic> = said.into_iter().map(|s| s.restore(sources)).collect::<Option<_>>()?;
        made.diagnostics.extend(said);
        made.printed.extend(printed);
        result.parse().ok()
    }

    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        // A path that is no text cannot be kept.
        serde_json::to_vec(self).ok()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Record> {
        serde_json::from_slice(bytes).ok()
    }
}

/// A diagnostic, with names in the place of what only one process knows.
#[derive(Serialize, Deserialize)]
struct Said {
    code: String,
    severity: String,
    message: String,
    labels: Vec<(SaidPlace, String)>,
    notes: Vec<String>,
    help: Option<String>,
    /// The title of a change that would help, and its places with texts.
    #[serde(default)]
    fix: Option<(String, Vec<(SaidPlace, String)>)>,
}

#[derive(Serialize, Deserialize)]
enum SaidPlace {
    /// A range in the file that the map has under a name.
    Named(String, u32, u32),
    /// A range in a file of ttc's own library.
    Library(u32, u32, u32),
    At(String, u32, u32),
    File(String),
}

/// The severities that something which did not fail can have.
const SEVERITIES: [Severity; 3] = [Severity::Warning, Severity::Remark, Severity::Note];

impl Said {
    fn of(d: &Diagnostic, sources: &SourceMap) -> Option<Said> {
        let Diagnostic { code, severity, message, labels, notes, help, fix } = d;
        let place = |place: &Place| {
            Some(match place {
                Place::Span(Span { file, lo, hi }) => match file.embedded_number() {
                    Some(number) => SaidPlace::Library(number, *lo, *hi),
                    None => SaidPlace::Named(sources.get(*file)?.name.clone(), *lo, *hi),
                },
                Place::At { file, line, col } => SaidPlace::At(file.clone(), *line, *col),
                Place::File(file) => SaidPlace::File(file.clone()),
            })
        };
        let label = |Label { place: at, text }: &Label| Some((place(at)?, text.clone()));
        let edit = |(span, text): &(Span, String)| Some((place(&Place::Span(*span))?, text.clone()));
        Some(Said {
            code: code.id.to_owned(),
            severity: SEVERITIES.contains(severity).then(|| severity.word().to_owned())?,
            message: message.clone(),
            labels: labels.iter().map(label).collect::<Option<_>>()?,
            notes: notes.clone(),
            help: help.clone(),
            fix: match fix {
                Some(f) => Some((f.title.clone(), f.edits.iter().map(edit).collect::<Option<_>>()?)),
                None => None,
            },
        })
    }

    fn restore(self, sources: &mut SourceMap) -> Option<Diagnostic> {
        let Said { code, severity, message, labels, notes, help, fix } = self;
        let mut place = |place| {
            Some(match place {
                SaidPlace::Named(name, lo, hi) => Place::Span(Span { file: sources.find(&name)?, lo, hi }),
                SaidPlace::Library(number, lo, hi) => {
                    Place::Span(Span { file: embed_library_file(sources, number)?, lo, hi })
                }
                SaidPlace::At(file, line, col) => Place::At { file, line, col },
                SaidPlace::File(file) => Place::File(file),
            })
        };
        let labels: Option<Vec<Label>> =
            labels.into_iter().map(|(at, text)| Some(Label { place: place(at)?, text })).collect();
        let mut edit = |(at, text)| match place(at)? {
            Place::Span(span) => Some((span, text)),
            _ => None,
        };
        let fix = match fix {
            Some((title, edits)) => {
                Some(Box::new(Fix { title, edits: edits.into_iter().map(&mut edit).collect::<Option<_>>()? }))
            }
            None => None,
        };
        Some(Diagnostic {
            code: codes::find(&code)?,
            severity: SEVERITIES.into_iter().find(|s| s.word() == severity)?,
            message,
            labels: labels?,
            notes,
            help,
            fix,
        })
    }
}
