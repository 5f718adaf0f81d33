//! What a comparison was made of and by whom: enough to make it again.

use serde::{Deserialize, Serialize};

use crate::domain::Range;

/// Where the numbers come from.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct About {
    /// The name it is saved under; empty when it is not saved.
    #[serde(default)]
    pub name: String,
    /// Who saved it; empty when it is not saved.
    #[serde(default)]
    pub who: String,
    /// Milliseconds since 1970, UTC; `None` when it is not saved.
    #[serde(default)]
    pub at_millis: Option<i64>,
    /// The project or files, as they were named.
    pub data: String,
    /// Hashes of the content: of the edits with their pictures, of the scores, of the opinions.
    pub content: Vec<Content>,
    /// Version of the program that computed it.
    pub program: String,
    /// The profile of the scores; `None` when no scores of the metric are compared.
    pub profile: Option<String>,
    pub range: Option<Range>,
    /// Names of the checkpoints with a hash of their content, one for each that made scores.
    pub checkpoints: Vec<String>,
    pub devices: Vec<String>,
    /// Everyone who rated or voted, by name.
    pub rater_set: Vec<String>,
    /// The tie policy in words.
    pub tie_policy: String,
    pub edits: usize,
    pub rated: usize,
    pub vote_count: usize,
    /// Ratings made by a program are among those compared with.
    pub simulated_ratings: bool,
}

/// The hash of one thing that went in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub what: String,
    /// BLAKE3, first 16 bytes in hexadecimal.
    pub hash: String,
}

impl About {
    /// Adds the hash of lines that say what went in. Their order does not matter.
    pub fn add_content(&mut self, what: &str, lines: impl IntoIterator<Item = String>) {
        self.content.push(Content { what: what.to_owned(), hash: hash_of(lines) });
    }
}

/// BLAKE3 over the sorted lines, first 16 bytes in hexadecimal: the order of rows changes nothing.
pub fn hash_of(lines: impl IntoIterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines.into_iter().collect();
    lines.sort();
    let mut hasher = blake3::Hasher::new();
    for line in lines {
        // The length keeps two lines from reading as one.
        hasher.update(&(line.len() as u64).to_le_bytes());
        hasher.update(line.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// A time as `2026-11-29 21:04 UTC`, by the civil calendar (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
pub fn utc_text(millis: i64) -> String {
    let (days, seconds) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000) / 1000);
    // Days are counted from 0000-03-01, so that a leap day ends its year.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected texts: `date -u -d @SECONDS '+%F %H:%M UTC'` of GNU coreutils.
    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc_text(seconds * 1000), text);
        }
    }

    #[test]
    fn the_hash_forgets_the_order_and_nothing_else() {
        let lines = |texts: &[&str]| hash_of(texts.iter().map(|t| (*t).to_owned()));
        assert_eq!(lines(&["a", "b"]), lines(&["b", "a"]));
        assert_ne!(lines(&["a", "b"]), lines(&["ab"]));
        assert_ne!(lines(&["a"]), lines(&["a", "a"]));
    }
}
