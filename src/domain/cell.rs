//! Text in the cells of a table that a spreadsheet may open: text that begins like a formula would be run there.
//!
//! Such a text gets an apostrophe in front, which spreadsheets know as "this is text" and the readers here take off again. Numbers stay as
//! they are.

use std::borrow::Cow;

/// The cell as it is written; [`unescaped_cell`] gives `text` back.
pub fn escaped_cell(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) && text.parse::<f64>().map_or(true, |number| !number.is_finite()) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text of a cell that [`escaped_cell`] wrote; others stay as they are.
pub fn unescaped_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_formula(rest.trim_start_matches('\''))).unwrap_or(cell)
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_numbers_stay_and_everything_comes_back() {
        for (text, cell) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd", "'+cmd"),
            ("-- none", "'-- none"),
            ("\t=1", "'\t=1"),
            ("-inf", "'-inf"),
            ("'=1", "''=1"),
            ("-0.5", "-0.5"),
            ("+3", "+3"),
            ("-1e-7", "-1e-7"),
            ("'quoted'", "'quoted'"),
            ("'", "'"),
            ("", ""),
            ("a=b", "a=b"),
        ] {
            assert_eq!(escaped_cell(text), cell);
            assert_eq!(unescaped_cell(cell), text);
        }
    }
}
