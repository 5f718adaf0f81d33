//! Quotes that open a cell and are never closed: read as they stand they would swallow every row after them.

use std::borrow::Cow;

/// `text` without the quotes that open a cell and do not close it, and the line of each of them. Such a quote is not closed at all, or only
/// on a later line in the middle of a cell; then it is the opening one of another cell.
pub(super) fn without_stray(text: &str, delimiter: u8) -> (Cow<'_, str>, Vec<usize>) {
    let bytes = text.as_bytes();
    let mut stray = Vec::new();
    let (mut at, mut line, mut at_start) = (0, 1, true);
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' && at_start {
            match end_of_quoted(bytes, at, delimiter) {
                Some(end) => {
                    line += bytes[at..end].iter().filter(|byte| **byte == b'\n').count();
                    at = end;
                }
                None => {
                    stray.push((at, line));
                    at += 1;
                }
            }
            at_start = false;
            continue;
        }
        line += usize::from(byte == b'\n');
        at_start = byte == delimiter || matches!(byte, b'\n' | b'\r');
        at += 1;
    }
    if stray.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in &stray {
        kept.push_str(&text[from..*at]);
        from = at + 1;
    }
    kept.push_str(&text[from..]);
    (Cow::Owned(kept), stray.into_iter().map(|(_, line)| line).collect())
}

/// What to say about a quote of [`without_stray`].
pub(super) const STRAY: &str = "a quote opens a cell here and is not closed; the row is read as if the quote were not there";

/// The byte after the closing quote of the cell that opens at `start`; `None` when it is stray. Sloppy quotes within one line are closed.
fn end_of_quoted(bytes: &[u8], start: usize, delimiter: u8) -> Option<usize> {
    let mut at = start + 1;
    let mut lines = false;
    loop {
        match bytes.get(at)? {
            b'"' if bytes.get(at + 1) == Some(&b'"') => at += 2,
            b'"' => break,
            byte => {
                lines |= *byte == b'\n';
                at += 1;
            }
        }
    }
    let is_end = bytes.get(at + 1).is_none_or(|next| *next == delimiter || matches!(next, b'\n' | b'\r'));
    (is_end || !lines).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_quotes_that_are_not_closed_are_taken_out() {
        let same = |text: &str| assert_eq!(without_stray(text, b','), (Cow::Borrowed(text), vec![]), "{text}");
        same("a,b\n1,\"two\nlines, \"\"quoted\"\"\"\n2,\"x\"\r\n");
        same("a,b\n5\" wide,\"5\" tall\"\n");
        same("\"\",\"\"");
        let (text, lines) = without_stray("a,b\n1,\"two\nlines\"\n2,\"oops\n3,x\n", b',');
        assert_eq!((text.as_ref(), lines), ("a,b\n1,\"two\nlines\"\n2,oops\n3,x\n", vec![4]));
        // The second one would close the first in the middle of a cell.
        let (text, lines) = without_stray("a;b\n1;\"oops\n2;\"again\n3;x\n", b';');
        assert_eq!((text.as_ref(), lines), ("a;b\n1;oops\n2;again\n3;x\n", vec![2, 3]));
    }
}
