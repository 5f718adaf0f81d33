//! Names as they are printed for people: whatever they hold, a line stays one line and nothing in it steers the terminal.

use std::borrow::Cow;

/// `text` with control characters and those that turn the direction of writing written as `\n`, `\u{1b}`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The same for a text of several lines.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, ends of lines and paragraphs, and what the bidirectional algorithm (Unicode, UAX 9) takes as an order.
fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(visible("a\nb\tc\r\u{1b}[31m\u{202e}d\u{9b}"), "a\\nb\\tc\\r\\u{1b}[31m\\u{202e}d\\u{9b}");
        assert_eq!(visible_lines("a\nb\tc"), "a\nb\\tc");
        // Letters of any script, accents and joined emoji are left alone.
        assert!(matches!(visible("Größe א مرحبا 👩\u{200d}🔧"), Cow::Borrowed(_)));
    }
}
