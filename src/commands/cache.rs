//! `ttc cache`: where the cache lies, what it holds, and how to make it smaller.

use std::fmt::Write as _;

use serde_json::json;
use ttc::cache::{self, Removed, Settings, Store};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::plain;
use ttc::source::SourceMap;

use super::Report;
use crate::args::CacheCommand;

pub(crate) fn cache(command: &CacheCommand) -> Report {
    run(command).unwrap_or_else(|d| Report::errors(vec![d], SourceMap::default()))
}

fn run(command: &CacheCommand) -> Result<Report, Diagnostic> {
    let settings = Settings::of_environment()?;
    let dir = settings.dir.ok_or_else(|| {
        let text = "the cache has no folder, since neither `HOME` nor `XDG_CACHE_HOME` names one";
        Diagnostic::error(&codes::cli::CACHE_UNUSABLE, text).help("name a folder with `TTC_CACHE_DIR`")
    })?;
    let shown = dir.display().to_string();
    let store = Store::new(dir, settings.limit);
    let locked = |e: std::io::Error| {
        Diagnostic::error(&codes::cli::CACHE_UNUSABLE, format!("the cache `{shown}` cannot be locked: {}", plain(&e)))
            .help("`ttc cache` must be able to write the folder")
    };
    Ok(Report::text(match command {
        CacheCommand::Path => format!("{shown}\n"),
        CacheCommand::Stats { json } => stats(&store, *json),
        CacheCommand::Gc { max_size, check, json } => {
            let removed = cache::gc(&store, max_size.unwrap_or(settings.limit), *check).map_err(locked)?;
            gone(&removed, *json)
        }
        CacheCommand::Clear { json } => gone(&cache::clear(&store).map_err(locked)?, *json),
    }))
}

fn stats(store: &Store, as_json: bool) -> String {
    let (entries, bytes, counts) = cache::stats(store);
    let cache::Counts { hits, later_hits, misses, bytes: _, puts: _ } = counts;
    let (path, limit) = (store.dir().display().to_string(), store.limit());
    if as_json {
        let value = json!({
            "path": path, "entries": entries, "bytes": bytes, "limit": limit,
            "hits": hits, "later_hits": later_hits, "misses": misses,
        });
        return format!("{value}\n");
    }
    let asked = hits + later_hits + misses;
    let share =
        |n: u64| if asked == 0 { String::new() } else { format!(" ({:.1} %)", n as f64 * 100.0 / asked as f64) };
    let mut text = String::new();
    let rows = [
        ("folder", path),
        ("entries", entries.to_string()),
        ("bytes", format!("{bytes} of at most {limit}")),
        ("hits", format!("{hits}{}", share(hits))),
        ("hits behind the front end", format!("{later_hits}{}", share(later_hits))),
        ("misses", format!("{misses}{}", share(misses))),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "{name:26}{value}");
    }
    text
}

fn gone(removed: &Removed, as_json: bool) -> String {
    let Removed { entries, bytes, damaged, leftovers, left, left_bytes } = *removed;
    if as_json {
        let value = json!({
            "removed": entries, "removed_bytes": bytes, "damaged": damaged, "leftovers": leftovers,
            "entries": left, "bytes": left_bytes,
        });
        return format!("{value}\n");
    }
    format!(
        "removed {entries} entries ({bytes} bytes), {damaged} damaged ones, {leftovers} leftovers of killed processes\n\
         {left} entries ({left_bytes} bytes) are left\n"
    )
}
