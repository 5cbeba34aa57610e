//! What a colour is for. As SVG it is a colour on white paper; as JSON a name, for which a page has its own colours.

use serde::{Serialize, Serializer};

/// A colour by its use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ink {
    Paper,
    Text,
    /// Words that matter less.
    Soft,
    Axis,
    Grid,
    /// The edge of a bar.
    Edge,
    /// Time in which something waits.
    Wait,
    /// An area behind the rest.
    Faint,
    /// Something to look at: a limit, a conflict.
    Alarm,
    /// Words on a coloured area, which are dark in the dark as well.
    OnColour,
    /// The line of a series, by its number.
    Series(u8),
    /// Hue in degrees, saturation and lightness in percent.
    Hue(u16, u8, u8),
}

/// Colours that differ for people who do not see all of them (Wong, Nature Methods 8, 2011).
const SERIES: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

impl Ink {
    /// A colour by its hue in degrees, saturation and lightness in percent.
    #[must_use]
    pub fn hue(hue: u64, saturation: u8, lightness: u8) -> Ink {
        Ink::Hue((hue % 360) as u16, saturation, lightness)
    }

    /// The colour of the n-th of many. Hues are 137 degrees apart, so neighbours differ most.
    #[must_use]
    pub fn nth(n: usize, saturation: u8, lightness: u8) -> Ink {
        Ink::hue(n as u64 * 137, saturation, lightness)
    }

    /// The colour for SVG.
    pub(super) fn colour(self) -> String {
        match self {
            Ink::Paper => "white".into(),
            Ink::Text | Ink::OnColour => "#111111".into(),
            Ink::Soft => "#555555".into(),
            Ink::Axis => "#333333".into(),
            Ink::Grid => "#e4e4e4".into(),
            Ink::Edge => "#555555".into(),
            Ink::Wait => "#cfcfcf".into(),
            Ink::Faint => "#f3f0e6".into(),
            Ink::Alarm => "#c62828".into(),
            Ink::Series(n) => SERIES[usize::from(n) % SERIES.len()].into(),
            Ink::Hue(h, s, l) => format!("hsl({h},{s}%,{l}%)"),
        }
    }
}

impl Serialize for Ink {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let name = match self {
            Ink::Paper => "paper",
            Ink::Text => "text",
            Ink::Soft => "soft",
            Ink::Axis => "axis",
            Ink::Grid => "grid",
            Ink::Edge => "edge",
            Ink::Wait => "wait",
            Ink::Faint => "faint",
            Ink::Alarm => "alarm",
            Ink::OnColour => "oncolour",
            Ink::Series(_) | Ink::Hue(..) => return to.serialize_str(&self.colour()),
        };
        to.serialize_str(name)
    }
}
