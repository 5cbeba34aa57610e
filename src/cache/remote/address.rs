//! The address of a remote store.
//!
//! ```text
//! redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]     rediss:// with TLS
//! s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]    keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
//! file:///FOLDER
//! ```
//!
//! `%40` stands for `@`, as in any address.

use std::collections::BTreeMap;

/// An address in its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
// Without the feature, an address is only checked.
#[cfg_attr(not(feature = "remote-cache"), allow(dead_code))]
pub(super) enum Address {
    Redis {
        /// `redis://HOST:PORT`
        endpoint: String,
        user: String,
        password: String,
        database: i64,
    },
    S3 {
        bucket: String,
        prefix: String,
        endpoint: Option<String>,
        region: Option<String>,
    },
    Folder(String),
}

impl Address {
    /// Reads an address.
    pub(super) fn parse(text: &str) -> Result<Address, String> {
        let (scheme, rest) = text.split_once("://").ok_or("expected `redis://…`, `s3://…` or `file:///…`")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        match scheme {
            "redis" | "rediss" => redis(scheme, rest, query),
            "s3" => s3(rest, query),
            "file" if rest.starts_with('/') && rest.len() > 1 && query.is_empty() => Ok(Address::Folder(plain(rest)?)),
            "file" => Err("expected a folder from the root on: `file:///var/cache/ttc`".to_owned()),
            other => Err(format!("`{other}://` is unknown; expected `redis://…`, `s3://…` or `file:///…`")),
        }
    }
}

fn redis(scheme: &str, rest: &str, query: &str) -> Result<Address, String> {
    let (who, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    let (host, database) = place.split_once('/').unwrap_or((place, ""));
    let (user, password) = who.split_once(':').unwrap_or((who, ""));
    if host.is_empty() || host.starts_with(':') {
        return Err(format!("expected a host, as in `{scheme}://localhost:6379`"));
    }
    if !query.is_empty() {
        return Err(format!("`?{query}`: an address of Redis has no parameters"));
    }
    let number = |text: &str| text.parse().map_err(|_| format!("`/{text}`: expected the number of a database"));
    let database = if database.is_empty() { 0 } else { number(database)? };
    Ok(Address::Redis {
        endpoint: format!("{scheme}://{host}"),
        user: plain(user)?,
        password: plain(password)?,
        database,
    })
}

fn s3(rest: &str, query: &str) -> Result<Address, String> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err("expected a bucket: `s3://bucket/prefix`".to_owned());
    }
    let mut parameters = BTreeMap::new();
    for pair in query.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}`: expected NAME=VALUE"))?;
        parameters.insert(name, plain(value)?);
    }
    let (endpoint, region) = (parameters.remove("endpoint"), parameters.remove("region"));
    if let Some((name, _)) = parameters.first_key_value() {
        return Err(format!("`{name}` is no parameter of `s3://`; expected `endpoint` or `region`"));
    }
    Ok(Address::S3 { bucket: bucket.to_owned(), prefix: plain(prefix)?, endpoint, region })
}

/// A text with `%XX` replaced by the byte.
fn plain(text: &str) -> Result<String, String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).ok_or_else(|| format!("`%{part}`: expected two digits"))?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| format!("`%{digits}`: expected two digits"))?);
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| format!("`{text}` is no text"))
}

/// An address without the name and the password in it.
pub(in crate::cache) fn without_secret(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_what_is_wrong_is_said() {
        let redis = |endpoint: &str, user: &str, password: &str, database| Address::Redis {
            endpoint: endpoint.into(),
            user: user.into(),
            password: password.into(),
            database,
        };
        let s3 = |prefix: &str, endpoint: Option<&str>, region: Option<&str>| Address::S3 {
            bucket: "b".into(),
            prefix: prefix.into(),
            endpoint: endpoint.map(str::to_owned),
            region: region.map(str::to_owned),
        };
        for (text, address) in [
            ("redis://h", redis("redis://h", "", "", 0)),
            ("rediss://me:p%40ss@h:1/3", redis("rediss://h:1", "me", "p@ss", 3)),
            ("s3://b", s3("", None, None)),
            ("s3://b/x/y?endpoint=http://h:1&region=r", s3("x/y", Some("http://h:1"), Some("r"))),
            ("file:///var/c%20d", Address::Folder("/var/c d".into())),
        ] {
            assert_eq!(Address::parse(text).as_ref(), Ok(&address), "{text}");
        }
        for (text, part) in [
            ("host", "expected `redis://"),
            ("ftp://h", "`ftp://` is unknown"),
            ("redis://:1", "expected a host"),
            ("redis://h/x", "number of a database"),
            ("redis://h?a=b", "no parameters"),
            ("s3:///p", "expected a bucket"),
            ("s3://b?zone=1", "`zone` is no parameter"),
            ("s3://b?zone", "expected NAME=VALUE"),
            ("file://c", "from the root on"),
            ("file:///%4", "expected two digits"),
            ("file:///%zz", "expected two digits"),
            ("file:///%ff", "is no text"),
        ] {
            let why = Address::parse(text).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn a_message_shows_no_password() {
        assert_eq!(without_secret("redis://me:secret@host:1"), "redis://…@host:1");
        assert_eq!(without_secret("s3://bucket/a"), "s3://bucket/a");
    }
}
