//! Choices of the software pipeliner that Triton does not have.

/// Which of them are made. None is, unless somebody asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pipelining {
    /// Copies by hardware wait for the slot that they fill, and not for the block (`ttc-refill-slots`).
    pub refill: bool,
}

impl Pipelining {
    /// The choices that a list of words names, separated by commas.
    ///
    /// # Errors
    /// The word that names none, and those that do.
    pub fn parse(text: &str) -> Result<Pipelining, String> {
        let mut chosen = Pipelining::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "refill" => chosen.refill = true,
                _ => return Err(format!("`{word}` is no choice of the pipeliner, expected `refill`")),
            }
        }
        Ok(chosen)
    }

    /// The words of what is chosen.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        let Pipelining { refill } = self;
        [("refill", refill)].into_iter().filter(|(_, on)| *on).map(|(word, _)| word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_choices() {
        assert_eq!(Pipelining::parse(""), Ok(Pipelining::default()));
        let all = Pipelining::parse(" refill,").unwrap();
        assert!(all.refill);
        assert_eq!(Pipelining::parse(&all.words().join(",")), Ok(all));
        assert!(Pipelining::parse("refil").unwrap_err().contains("`refil`"));
    }
}
