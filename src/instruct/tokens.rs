//! Text to lower-case words and marks: quotes, contractions, misspellings, and whether the text is English at all.

use super::lexicon::{COMMANDS, MISSPELLINGS, OPENERS, is_command, is_opener};

/// The words of an instruction.
#[derive(Debug, Default)]
pub struct Tokens {
    /// Lower-case words; `, . ! ? ; : ( )` stand alone; a quoted text is one word and may hold spaces.
    pub words: Vec<String>,
    /// Misspellings that were read as another word.
    pub corrected: Vec<String>,
}

const CONTRACTIONS: &[(&str, &str)] = &[
    ("i'd", "i would"),
    ("i'll", "i will"),
    ("i'm", "i am"),
    ("we'd", "we would"),
    ("it'd", "it would"),
    ("let's", "let us"),
    ("don't", "do not"),
    ("doesn't", "does not"),
    ("didn't", "did not"),
    ("shouldn't", "should not"),
    ("couldn't", "could not"),
    ("wouldn't", "would not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("isn't", "is not"),
    ("aren't", "are not"),
    ("wasn't", "was not"),
    ("weren't", "were not"),
    ("it's", "it is"),
    ("there's", "there is"),
    ("that's", "that is"),
    ("what's", "what is"),
    ("she's", "she is"),
    ("he's", "he is"),
    ("gonna", "going to"),
    ("wanna", "want to"),
    ("'d", "would"),
];

/// Whether most of the letters are Latin. Text without letters is not.
pub fn is_mostly_latin(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let latin = text.chars().filter(|c| c.is_alphabetic() && (*c as u32) < 0x250).count();
    latin > 0 && latin * 2 > letters
}

/// Scripts by the ranges of their letters (Unicode blocks), for messages only.
const SCRIPTS: [(&str, &[(u32, u32)]); 10] = [
    ("Greek", &[(0x370, 0x3ff), (0x1f00, 0x1fff)]),
    ("Cyrillic", &[(0x400, 0x52f)]),
    ("Hebrew", &[(0x590, 0x5ff)]),
    ("Arabic", &[(0x600, 0x6ff), (0x750, 0x77f), (0x8a0, 0x8ff)]),
    ("Devanagari", &[(0x900, 0x97f)]),
    ("Thai", &[(0xe00, 0xe7f)]),
    ("Japanese (kana)", &[(0x3040, 0x30ff)]),
    ("Chinese", &[(0x3400, 0x4dbf), (0x4e00, 0x9fff), (0x20000, 0x2ffff)]),
    ("Korean", &[(0xac00, 0xd7af), (0x1100, 0x11ff)]),
    ("Latin", &[(0x41, 0x24f)]),
];
/// Characters of the text that a message quotes.
const QUOTED: usize = 24;

/// What a text that is not mostly Latin is instead, in words.
pub fn no_english(text: &str) -> String {
    let start: String = text.trim().chars().take(QUOTED).collect();
    let quote = format!("'{start}{}'", if text.trim().chars().count() > QUOTED { "…" } else { "" });
    let script_of = |c: char| SCRIPTS.iter().position(|(_, ranges)| ranges.iter().any(|&(from, to)| (from..=to).contains(&u32::from(c))));
    let mut counts = [0_usize; SCRIPTS.len()];
    let letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic()).collect();
    letters.iter().filter_map(|&c| script_of(c)).for_each(|script| counts[script] += 1);
    let most = (0..SCRIPTS.len()).max_by_key(|&script| counts[script]).filter(|&script| counts[script] > 0);
    match most {
        _ if letters.is_empty() => format!("there is no word in the instruction, only {quote}"),
        Some(script) => format!("the instruction is not English but written in {} letters ({quote})", SCRIPTS[script].0),
        None => format!("the instruction is not English but written in letters that the rules do not know ({quote})"),
    }
}

/// Splits a text into words and marks and undoes contractions and known misspellings.
pub fn tokenize(text: &str) -> Tokens {
    let text = ["->", "=>", "→", "➡️", "➡"].iter().fold(text.to_owned(), |text, arrow| text.replace(arrow, " to "));
    let chars: Vec<char> = text.chars().map(plain).flat_map(char::to_lowercase).collect();
    let mut tokens = Tokens::default();
    let mut word = String::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let before = at.checked_sub(1).map(|i| chars[i]);
        let next = chars.get(at + 1).copied();
        if (c == '"' || c == '\'')
            && !before.is_some_and(char::is_alphanumeric)
            && let Some(end) = closing_quote(&chars, at)
        {
            push_word(&mut tokens, &mut word);
            let quoted: String = chars[at + 1..end].iter().collect();
            tokens.words.push(quoted.split_whitespace().collect::<Vec<_>>().join(" "));
            at = end + 1;
            continue;
        }
        let inner = matches!(c, '\'' | '-' | '&' | '/')
            || (matches!(c, '.' | ',' | ':') && before.is_some_and(|b| b.is_ascii_digit()) && next.is_some_and(|n| n.is_ascii_digit()));
        if c.is_alphanumeric() || c == '%' || inner {
            word.push(c);
        } else {
            push_word(&mut tokens, &mut word);
            if ",.!?;:()".contains(c) {
                tokens.words.push(c.to_string());
            } else if matches!(c, '\n' | '，' | '。') {
                tokens.words.push(".".to_owned());
            } else if matches!(c, '—' | '–') {
                tokens.words.push(",".to_owned());
            }
        }
        at += 1;
    }
    push_word(&mut tokens, &mut word);
    tokens
}

/// Typographic quotes and spaces as their plain forms.
fn plain(c: char) -> char {
    match c {
        '‘' | '’' | '`' | '´' | 'ʼ' => '\'',
        '“' | '”' | '„' | '«' | '»' => '"',
        '\u{a0}' | '\t' | '\r' => ' ',
        other => other,
    }
}

/// The position of the quote that closes the one at `open`, if what lies between is not empty.
fn closing_quote(chars: &[char], open: usize) -> Option<usize> {
    (open + 2..chars.len())
        .find(|&i| chars[i] == chars[open] && !chars.get(i + 1).is_some_and(|c| c.is_alphanumeric()) && chars[open + 1] != ' ')
}

fn push_word(tokens: &mut Tokens, word: &mut String) {
    if word == "w/" {
        word.clear();
        tokens.words.push("with".to_owned());
        return;
    }
    let trimmed = word.trim_matches(|c| matches!(c, '-' | '\'' | '/')).to_owned();
    // The apostrophe of a plural possessive ("the girls' hats") belongs to the word.
    let text = if word.ends_with("s'") { format!("{trimmed}'") } else { trimmed };
    word.clear();
    if text.is_empty() {
        return;
    }
    let text = if text == "&" { "and".to_owned() } else { text };
    if let Some((_, full)) = CONTRACTIONS.iter().find(|(short, _)| *short == text) {
        tokens.words.extend(full.split(' ').map(str::to_owned));
    } else if let Some((_, right)) = MISSPELLINGS.iter().find(|(wrong, _)| *wrong == text) {
        tokens.corrected.push(format!("'{text}' as '{right}'"));
        tokens.words.push((*right).to_owned());
    } else {
        tokens.words.push(text);
    }
}

/// A verb that opens instructions, one slip of the keyboard away from `word`; only long verbs, since short ones are near to too many nouns.
pub fn near_verb(word: &str) -> Option<&'static str> {
    if word.len() < 5 || is_command(word) || is_opener(word) {
        return None;
    }
    COMMANDS
        .split_ascii_whitespace()
        .chain(OPENERS.split_ascii_whitespace())
        .filter(|verb| verb.len() >= 6)
        .find(|verb| one_slip(word, verb))
}

/// Whether one letter left out, put in, taken for another, or two neighbours swapped turn `a` into `b`.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[same..], &b[same..]);
    let swapped = rest_a.len() >= 2 && rest_b.len() >= 2 && rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a[2..] == rest_b[2..];
    let taken = !rest_a.is_empty() && !rest_b.is_empty() && rest_a[1..] == rest_b[1..];
    let left_out = !rest_b.is_empty() && *rest_a == rest_b[1..];
    let put_in = !rest_a.is_empty() && rest_a[1..] == *rest_b;
    swapped || taken || left_out || put_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_one_word_and_apostrophes_are_not_quotes() {
        let words = tokenize("Replace 'Happy Day' on the dogs' bowl with the cat’s “NAME”, I'd say.").words;
        assert_eq!(
            words,
            ["replace", "happy day", "on", "the", "dogs'", "bowl", "with", "the", "cat's", "name", ",", "i", "would", "say", "."]
        );
    }

    #[test]
    fn one_slip_finds_verbs_but_leaves_nouns_alone() {
        assert_eq!(near_verb("repalce"), Some("replace"));
        assert_eq!(near_verb("chnage"), Some("change"));
        assert_eq!(near_verb("delet"), Some("delete"));
        assert_eq!(near_verb("plate"), None);
        assert_eq!(near_verb("remove"), None);
    }

    #[test]
    fn chinese_emoji_and_nothing_are_not_latin() {
        for text in ["将图像转换为漫画风格。", "🐱➡️🐶", "", "123", "أضف قطة"] {
            assert!(!is_mostly_latin(text), "{text}");
        }
        assert!(is_mostly_latin("Add a piñata"));
    }

    #[test]
    fn what_is_no_english_is_called_what_it_is() {
        assert_eq!(no_english(" 🦊 → 🐻 "), "there is no word in the instruction, only '🦊 → 🐻'");
        assert_eq!(no_english("123"), "there is no word in the instruction, only '123'");
        for (text, script) in [
            ("将图像转换为漫画风格。", "Chinese"),
            ("أضف قطة", "Arabic"),
            ("сделай дом красным", "Cyrillic"),
            ("家を赤くする", "Japanese (kana)"),
        ] {
            assert_eq!(no_english(text), format!("the instruction is not English but written in {script} letters ('{text}')"));
        }
        let long = no_english(&"ж".repeat(30));
        assert!(long.ends_with(&format!("('{}…')", "ж".repeat(24))), "{long}");
    }
}
