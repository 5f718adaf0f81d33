//! How kinds of files name the tensors of a network.
//!
//! Networks ask for tensors by one set of names, those of the Hugging Face hub as transformers 4.x saved them. Every other kind of file is a
//! [`Layout`]: a list of names and what becomes of them. The lists stand with the networks (`clip/layout.rs`, …); this file reads them.
//!
//! In a name's pattern `*` stands for one part between dots (a number, `weight`), `**` for any run of characters.

/// A network and the kinds of files it is published in.
#[derive(Debug)]
pub struct Family {
    /// The network's name, for messages.
    pub network: &'static str,
    /// Tried in this order.
    pub layouts: &'static [Layout],
}

/// One kind of file.
#[derive(Debug)]
pub struct Layout {
    /// Whose names these are, for messages.
    pub name: &'static str,
    /// Names that tell this kind of file from the others; all of them are there.
    pub marks: &'static [&'static str],
    /// What may stand before every name (`{"model": …}`, a data-parallel `module.`); the longest that fits the marks is taken off.
    pub prefixes: &'static [&'static str],
    /// What becomes of the names; the first rule that fits counts, and a name that no rule fits stays as it is.
    pub rules: &'static [Rule],
    /// What the files hold beside the network, and why it is not needed.
    pub ignored: &'static [Ignored],
    pub settings: Settings,
}

/// Where a network's sizes, preprocessing and vocabulary come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// JSON files in the folder of the weights.
    Beside,
    /// The published files are weights only: sizes follow from shapes, the rest is the same for all of them.
    Inferred,
}

/// What becomes of a stored tensor.
#[derive(Debug)]
pub struct Rule {
    /// Pattern of the stored name.
    pub stored: &'static str,
    /// Patterns of the names that networks ask for; their wildcards are filled in order.
    pub names: &'static [&'static str],
    pub part: Parts,
}

/// Which part of the stored tensor each of a rule's names gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// All of it.
    Whole,
    /// Its share of the rows, in order: a projection to query, key and value in one matrix.
    Rows,
    /// All of it, rows and columns exchanged.
    Transposed,
}

/// A tensor that is not needed.
#[derive(Debug)]
pub struct Ignored {
    /// Pattern of the stored name.
    pub stored: &'static str,
    pub why: &'static str,
}

/// The tensor has another name.
pub const fn rename(stored: &'static str, names: &'static [&'static str]) -> Rule {
    Rule { stored, names, part: Parts::Whole }
}

/// The tensor's rows are several tensors.
pub const fn split(stored: &'static str, names: &'static [&'static str]) -> Rule {
    Rule { stored, names, part: Parts::Rows }
}

/// The tensor is stored as `[in, out]` where networks ask for `[out, in]`.
pub const fn transposed(stored: &'static str, names: &'static [&'static str]) -> Rule {
    Rule { stored, names, part: Parts::Transposed }
}

/// The tensor is not needed.
pub const fn ignored(stored: &'static str, why: &'static str) -> Ignored {
    Ignored { stored, why }
}

/// What a stored name stands for.
#[derive(Debug, PartialEq)]
pub enum Meaning {
    Ignored,
    /// Names that networks ask for, and what they get.
    Tensors(Vec<(String, Parts)>),
}

impl Layout {
    /// The prefix under which a file with these names is of this kind.
    pub fn recognise<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Option<&'static str> {
        let mut prefixes = self.prefixes.to_vec();
        prefixes.push("");
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
        let has = |prefix: &str, mark: &str| names.clone().filter_map(|n| n.strip_prefix(prefix)).any(|n| captures(mark, n).is_some());
        prefixes.into_iter().find(|prefix| self.marks.iter().all(|mark| has(prefix, mark)))
    }

    /// What becomes of a stored name, its prefix taken off.
    pub fn meaning(&self, stored: &str) -> Meaning {
        if self.ignored.iter().any(|ignored| captures(ignored.stored, stored).is_some()) {
            return Meaning::Ignored;
        }
        for rule in self.rules {
            if let Some(parts) = captures(rule.stored, stored) {
                return Meaning::Tensors(rule.names.iter().map(|name| (fill(name, &parts), rule.part)).collect());
            }
        }
        Meaning::Tensors(vec![(stored.to_owned(), Parts::Whole)])
    }

    /// What files of this kind call the tensor `name`; `None` when they call it that.
    pub fn stored_name(&self, name: &str) -> Option<String> {
        let fits = |rule: &Rule| rule.names.iter().find_map(|pattern| captures(pattern, name)).map(|parts| fill(rule.stored, &parts));
        self.rules.iter().find_map(fits)
    }
}

/// What the wildcards of `pattern` stand for in `name`, if it fits.
pub fn captures<'n>(pattern: &str, name: &'n str) -> Option<Vec<&'n str>> {
    let Some(at) = pattern.find('*') else {
        return (pattern == name).then(Vec::new);
    };
    let tail = name.strip_prefix(&pattern[..at])?;
    let rest = &pattern[at + 1..];
    let (rest, within) = match rest.strip_prefix('*') {
        Some(rest) => (rest, tail.len()),
        None => (rest, tail.find('.').unwrap_or(tail.len())),
    };
    let ends = (1..=within).filter(|&end| tail.is_char_boundary(end));
    ends.rev().find_map(|end| {
        let mut parts = captures(rest, &tail[end..])?;
        parts.insert(0, &tail[..end]);
        Some(parts)
    })
}

/// Whether `name` fits `pattern`.
pub fn matches(pattern: &str, name: &str) -> bool {
    captures(pattern, name).is_some()
}

/// `pattern` with its wildcards filled in order; one too many stays.
fn fill(pattern: &str, parts: &[&str]) -> String {
    let mut filled = String::new();
    let mut rest = pattern;
    for part in parts {
        let Some((head, tail)) = rest.split_once('*') else { break };
        filled.push_str(head);
        filled.push_str(part);
        rest = tail.strip_prefix('*').unwrap_or(tail);
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_by_hand() {
        assert_eq!(captures("a.*.c.*", "a.12.c.weight"), Some(vec!["12", "weight"]));
        assert_eq!(captures("a.*.c", "a.1.2.c"), None, "one star, one part");
        assert_eq!(captures("a.**.c", "a.1.2.c"), Some(vec!["1.2"]));
        assert_eq!(captures("a.norm*.x", "a.norm3.x"), Some(vec!["3"]));
        assert_eq!(captures("a.*", "a."), None, "a star stands for something");
        assert_eq!(captures("**.position_ids", "text.embeddings.position_ids"), Some(vec!["text.embeddings"]));
        assert_eq!(captures("a", "a"), Some(vec![]));
        assert_eq!(fill("x.*.y.**", &["3", "q.weight"]), "x.3.y.q.weight");
    }

    #[test]
    fn rules_go_both_ways() {
        static LAYOUT: Layout = Layout {
            name: "a test's",
            marks: &["in.0.qkv.weight"],
            prefixes: &["model.", "model.module."],
            rules: &[split("in.*.qkv.*", &["out.*.q.*", "out.*.k.*", "out.*.v.*"]), transposed("proj", &["projection.weight"])],
            ignored: &[ignored("step", "counts training steps")],
            settings: Settings::Inferred,
        };
        let names = ["model.module.in.0.qkv.weight", "model.module.proj"];
        assert_eq!(LAYOUT.recognise(names.iter().copied()), Some("model.module."));
        assert_eq!(LAYOUT.recognise(["proj"].iter().copied()), None);
        let third = |name: &str| (format!("out.7.{name}.bias"), Parts::Rows);
        assert_eq!(LAYOUT.meaning("in.7.qkv.bias"), Meaning::Tensors(vec![third("q"), third("k"), third("v")]));
        assert_eq!(LAYOUT.meaning("step"), Meaning::Ignored);
        assert_eq!(LAYOUT.meaning("else"), Meaning::Tensors(vec![("else".to_owned(), Parts::Whole)]));
        assert_eq!(LAYOUT.stored_name("out.7.k.bias").as_deref(), Some("in.7.qkv.bias"));
        assert_eq!(LAYOUT.stored_name("projection.weight").as_deref(), Some("proj"));
        assert_eq!(LAYOUT.stored_name("else"), None);
    }
}
