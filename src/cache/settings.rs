//! Where a cache lies and how large it may get, as the environment says it.
//!
//! | variable | meaning |
//! |---|---|
//! | `TTC_CACHE_DIR` | the folder; without it `$XDG_CACHE_HOME/ttc`, else `$HOME/.cache/ttc` |
//! | `TTC_CACHE_SIZE` | how many bytes the entries may have: `5G`, `200M`; 5 GiB without it |
//! | `TTC_CACHE_REMOTE` | a store that several machines share: `redis://…`, `s3://…`, `file:///…` |

use std::ffi::OsString;
use std::path::PathBuf;

use crate::diag::Diagnostic;
use crate::diag::codes::cli;

/// How many bytes the entries may have when nobody says.
pub const USUAL_LIMIT: u64 = 5 << 30;

/// What a cache is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The folder. `None` where the environment names no home.
    pub dir: Option<PathBuf>,
    /// How many bytes the entries may have together.
    pub limit: u64,
    /// The address of a store that several machines share.
    pub remote: Option<String>,
}

impl Settings {
    /// What the environment of this process says.
    ///
    /// # Errors
    /// `E0910` when a size is none.
    pub fn of_environment() -> Result<Settings, Diagnostic> {
        Settings::of(&|name| std::env::var_os(name))
    }

    fn of(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Settings, Diagnostic> {
        let value = |name: &str| variable(name).filter(|v| !v.is_empty());
        // The specification of base directories ignores relative paths.
        let home = |name: &str| value(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let dir = value("TTC_CACHE_DIR")
            .map(PathBuf::from)
            .or_else(|| home("XDG_CACHE_HOME").map(|d| d.join("ttc")))
            .or_else(|| home("HOME").map(|d| d.join(".cache/ttc")));
        let limit = match value("TTC_CACHE_SIZE").map(|v| v.to_string_lossy().into_owned()) {
            None => USUAL_LIMIT,
            Some(text) => size(&text).map_err(|why| {
                Diagnostic::error(&cli::BAD_OPTION, format!("`TTC_CACHE_SIZE={text}`: {why}"))
                    .help("write a size such as `5G` or `200M`, or unset the variable")
            })?,
        };
        let remote = value("TTC_CACHE_REMOTE").map(|v| v.to_string_lossy().into_owned());
        Ok(Settings { dir, limit, remote })
    }
}

/// Reads a size in bytes: `2G`, `512M`, `1000000`.
///
/// # Errors
/// What is expected instead.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, c)) if !c.is_ascii_digit() => (&text[..at], c),
        _ => (text, ' '),
    };
    let shift = match unit.to_ascii_uppercase() {
        ' ' => 0,
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ => return Err(format!("`{unit}` is no unit: K, M, G or T")),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(1 << shift))
        .ok_or_else(|| "expected a size such as 512M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where_the_cache_lies() {
        let of = |given: &[(&str, &str)]| {
            Settings::of(&|name| given.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
        };
        let dir = |given: &[(&str, &str)]| of(given).unwrap().dir.map(|d| d.display().to_string());
        let homes = [("HOME", "/home/me"), ("XDG_CACHE_HOME", "/caches")];
        assert_eq!(dir(&homes).as_deref(), Some("/caches/ttc"));
        assert_eq!(dir(&homes[..1]).as_deref(), Some("/home/me/.cache/ttc"));
        assert_eq!(dir(&[("HOME", "/h"), ("XDG_CACHE_HOME", "relative")]).as_deref(), Some("/h/.cache/ttc"));
        assert_eq!(dir(&[("HOME", "/h"), ("TTC_CACHE_DIR", "here")]).as_deref(), Some("here"));
        assert_eq!(dir(&[("HOME", "")]), None);
        assert_eq!(of(&[]).unwrap().limit, 5 << 30);
        assert_eq!(of(&[("TTC_CACHE_SIZE", "2k")]).unwrap().limit, 2048);
        assert_eq!(of(&[("TTC_CACHE_SIZE", "many")]).unwrap_err().code.id, "E0910");
        assert_eq!(size("99999999999T").unwrap_err(), "expected a size such as 512M");
    }
}
