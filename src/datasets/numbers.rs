//! Numbers as tables write them: which sign stands before the decimals is decided once for a file.

use super::SheetRow;
use crate::domain::is_answer;

/// The sign before the decimals of a file's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DecimalSign {
    /// A comma is no part of a number.
    Point,
    Comma,
    /// Nothing tells: a comma is taken for the sign where it cannot stand between thousands.
    #[default]
    Unknown,
}

impl DecimalSign {
    /// That of the rows of a table. Where commas part the cells, numbers have points; else the numbers tell that can be read in one way only.
    pub(super) fn of(rows: &[SheetRow], delimiter: Option<u8>) -> Self {
        if delimiter == Some(b',') {
            return Self::Point;
        }
        let (mut points, mut commas) = (false, false);
        for text in rows.iter().flat_map(|row| row.cells.values()).filter_map(|cell| cell.as_str()) {
            let text = text.trim();
            points |= text.contains('.') && text.parse::<f64>().is_ok();
            commas |= text.contains(',') && !may_be_thousands(text) && with_comma(text).is_some();
        }
        match (points, commas) {
            (true, false) => Self::Point,
            (false, true) => Self::Comma,
            _ => Self::Unknown,
        }
    }

    /// The number in a cell; none beyond what an answer or a score can be ([`is_answer`]).
    pub fn number(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let with_sign = || match self {
            Self::Point => None,
            Self::Comma => with_comma(text),
            Self::Unknown => with_comma(text).filter(|_| !may_be_thousands(text)),
        };
        text.parse().ok().or_else(with_sign).filter(|value: &f64| is_answer(*value))
    }

    /// Why [`Self::number`] gives none.
    pub fn why_none(self, text: &str) -> String {
        let text = text.trim();
        let number = || Some((with_comma(text)?, text.replace(',', "").parse::<f64>().ok()?));
        match (self, number()) {
            (Self::Point, Some(_)) => format!("'{text}' is not a number: the numbers of this file have a decimal point, and no comma"),
            (_, Some((decimal, whole))) if may_be_thousands(text) => format!("'{text}' is not a number: it may mean {decimal} or {whole}"),
            _ if is_too_large(text) => format!("'{text}' is beyond ±1e15, which no scale needs"),
            _ => format!("'{text}' is not a number"),
        }
    }
}

/// Whether a cell holds a number that is too large for an answer.
fn is_too_large(text: &str) -> bool {
    let has_digits = text.contains(|c: char| c.is_ascii_digit()); // "inf" is a number to Rust only
    has_digits && text.parse().ok().or_else(|| with_comma(text)).is_some_and(|value: f64| !value.is_nan() && !is_answer(value))
}

/// Words for a number that is not there; they do not speak against a column of numbers.
pub fn is_missing_word(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['+', '-']).to_lowercase();
    ["nan", "inf", "infinity", "n/a", "na", "#n/a", "null", "none", ""].contains(&text.as_str())
}

fn with_comma(text: &str) -> Option<f64> {
    let has_one = text.matches(',').count() == 1 && !text.contains('.');
    if has_one { text.replacen(',', ".", 1).parse().ok() } else { None }
}

/// `1,234` is a thousand and more where a comma parts thousands; `0,234` and `1,23` are not.
fn may_be_thousands(text: &str) -> bool {
    let Some((whole, rest)) = text.trim_start_matches(['+', '-']).split_once(',') else { return false };
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    digits(whole) && digits(rest) && rest.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_is_read_by_the_sign_of_its_file() {
        let read = |text: &str| [DecimalSign::Point, DecimalSign::Comma, DecimalSign::Unknown].map(|sign| sign.number(text));
        assert_eq!(read("1.5"), [Some(1.5); 3]);
        assert_eq!(read("3,5"), [None, Some(3.5), Some(3.5)]);
        assert_eq!(read("1,234"), [None, Some(1.234), None]);
        assert_eq!(read("-0,234"), [None, Some(-0.234), Some(-0.234)]);
        assert_eq!(read("1,234.5"), [None; 3]);
        for none in ["1e400", "1e16", "nan", "inf", "", "x"] {
            assert_eq!(read(none), [None; 3], "{none}");
        }
        assert_eq!(DecimalSign::Unknown.why_none("1,234"), "'1,234' is not a number: it may mean 1.234 or 1234");
        assert!(DecimalSign::Point.why_none("1,234").contains("have a decimal point"));
        assert_eq!(DecimalSign::Point.why_none("x"), "'x' is not a number");
    }
}
