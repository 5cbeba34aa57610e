//! Words of commands that messages show for copying.

/// A text as one word of a POSIX shell, in quotes where it needs them: `"x=*fp32"`.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else if text.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        format!("\"{text}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_needed() {
        for (text, expected) in [
            ("n=i32:16", "n=i32:16"),
            ("x=*fp32", "\"x=*fp32\""),
            ("ACT='gelu'", "\"ACT='gelu'\""),
            ("A='$x'", r"'A='\''$x'\'''"),
            ("", "\"\""),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }
}
