//! The seven fields of each kind of edit, by the conventions of the metric's parse.
//!
//! Additions and removals have no size; a removal has no position; replacement, colour and texture imply an unchanged
//! size and position; a change of size implies an unchanged position; a whole-picture edit is `all`, `all`.

use super::lexicon as lex;
use super::phrase::{
    Words, head, is_adjective_phrase, is_colour, is_colour_phrase, is_possessive, is_texture_phrase, is_whole, phrase, pronoun_noun,
    property_words, size_phrase, with_property, without,
};
use super::places::{Place, Placed, first_place, split_place};
use crate::domain::{EditType, Parse};

/// One edit that was read, not yet an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub parse: Parse,
    /// Why the reader guessed.
    pub doubts: Vec<String>,
    /// The clause itself holds another edit.
    pub more: bool,
}

impl Draft {
    fn new(kind: EditType, original: &str, edited: &str) -> Self {
        let stays = matches!(kind, EditType::Replace | EditType::ChangeColor | EditType::ChangeTexture);
        let implied = if stays { "unchanged" } else { "none" };
        let field = |text: &str| if text.trim().is_empty() { "none".to_owned() } else { text.trim().to_owned() };
        let parse = Parse {
            original_part: field(original),
            edited_part: field(edited),
            edit_type: kind.word().to_owned(),
            being_added: "none".into(),
            added_object: "none".into(),
            size: implied.into(),
            position: implied.into(),
            ..Parse::default()
        };
        Self { parse, doubts: Vec::new(), more: false }
    }

    /// The same with a reason for doubt.
    pub fn doubtful(mut self, why: impl Into<String>) -> Self {
        self.doubts.push(why.into());
        self
    }

    /// The same with the mark that the clause holds another edit.
    pub fn with_more(mut self) -> Self {
        self.more = true;
        self
    }
}

/// Nothing could be read: every field `none`, so that the metric says "not applicable" and invents nothing.
pub fn unread(why: impl Into<String>) -> Draft {
    Draft::new(EditType::Other, "", "").doubtful(why)
}

/// The whole picture changes.
pub fn global() -> Draft {
    Draft::new(EditType::Other, "all", "all")
}

/// `thing` appears, at `reference` where that is not empty.
pub fn add(thing: &str, reference: &str, place: Place) -> Draft {
    let mut draft = Draft::new(EditType::Add, "", thing);
    draft.parse.added_object = draft.parse.edited_part.clone();
    if !reference.is_empty() && !is_whole(&[reference]) {
        reference.clone_into(&mut draft.parse.being_added);
    }
    place.word().clone_into(&mut draft.parse.position);
    draft
}

/// An addition as it was split.
pub fn add_placed(placed: &Placed) -> Draft {
    let weather = placed.thing.split(' ').all(|w| {
        lex::is_weather(w)
            || matches!(w, "heavy" | "light" | "falling" | "and" | "thick" | "dense" | "effect" | "flakes" | "drops" | "some")
    });
    // Things that lie over the whole picture, and pictures themselves ("generate an image of …").
    let head = head(&placed.thing);
    let overall = lex::is_picture(head) || matches!(head, "vignette" | "grain" | "noise" | "border");
    if overall && placed.reference.is_empty() {
        return global();
    }
    if weather && placed.reference.is_empty() && !placed.thing.is_empty() {
        return global();
    }
    add(&placed.thing, &placed.reference, placed.place)
}

/// `thing` goes.
pub fn remove(thing: &Words) -> Draft {
    if is_whole(thing) {
        return unread("it is not said what to remove");
    }
    let thing = phrase(thing);
    if thing.is_empty() { unread("it is not said what to remove") } else { Draft::new(EditType::Remove, &thing, "") }
}

/// `new` stands where `old` stood.
pub fn replace(old: &str, new: &str) -> Draft {
    Draft::new(EditType::Replace, old, new)
}

/// `thing` takes another place. Both phrases name the thing alone: the place in the phrase would make a detector find the
/// other thing too.
pub fn relocate(placed: &Placed) -> Draft {
    let mut draft = Draft::new(EditType::Other, &placed.thing, &placed.thing);
    "unchanged".clone_into(&mut draft.parse.size);
    placed.place.word().clone_into(&mut draft.parse.position);
    if placed.place != Place::Other && !placed.reference.is_empty() {
        let why = format!("the place is told from '{}', but a move is measured from where the thing was", placed.reference);
        return draft.doubtful(why);
    }
    draft
}

/// `thing` gets another size; `word` is the adjective for the edited phrase.
pub fn resize(thing: &str, word: &str, bigger: bool) -> Draft {
    let bare = without(thing, |w| lex::is_bigger(w) || lex::is_smaller(w));
    let mut draft = Draft::new(EditType::ChangeSize, thing, &with_property(word, &bare));
    if bigger { "bigger" } else { "smaller" }.clone_into(&mut draft.parse.size);
    "unchanged".clone_into(&mut draft.parse.position);
    draft
}

/// `thing` gets another colour.
pub fn recolour(thing: &str, colour: &str) -> Draft {
    let bare = without(thing, |w| is_colour(w) || matches!(w, "bright" | "dark" | "light" | "lime"));
    Draft::new(EditType::ChangeColor, thing, &with_property(colour, &bare))
}

/// `thing` gets another material or pattern.
pub fn retexture(thing: &str, texture: &str) -> Draft {
    let bare = without(thing, lex::is_texture);
    let bare = if is_texture_phrase(&thing.split(' ').take(1).collect::<Vec<_>>()) { bare } else { without(&bare, |w| w == "chocolate") };
    let texture = if texture == "wood" { "wooden" } else { texture };
    Draft::new(EditType::ChangeTexture, thing, &with_property(texture, &bare))
}

/// `thing` changes in a way that is none of the paper's kinds; `edited` is the whole new phrase.
pub fn other(thing: &str, edited: &str) -> Draft {
    Draft::new(EditType::Other, thing, edited)
}

/// The thing that words name; a person's pronoun becomes a noun and a doubt.
pub fn subject(words: &Words) -> (String, Option<String>) {
    let doubt = match words {
        [one] => pronoun_noun(one).map(|noun| format!("'{one}' is read as '{noun}'")),
        _ => None,
    };
    (phrase(words), doubt)
}

/// Whether the words speak of weather, season, time of day or style.
pub fn is_global_state(words: &Words) -> bool {
    words.iter().any(|w| lex::is_weather(w) || lex::is_season_or_time(w) || lex::is_style(w) || lex::is_weather_adjective(w))
        || words
            .windows(2)
            .any(|pair| matches!(pair, ["golden" | "blue", "hour"] | ["stained", "glass"] | ["pop" | "line" | "clip", "art"]))
}

/// "Make X Y", "X becomes Y", "change X to Y": what it asks for depends on what Y names.
pub fn become_state(thing: &Words, state: &Words) -> Draft {
    let comma = state.iter().position(|w| lex::is_comma_word(w)).unwrap_or(state.len());
    let mut state = &state[..comma];
    while let [rest @ .., "please" | "instead" | "too" | "again" | "now"] = state {
        state = rest;
    }
    if state.is_empty() {
        if thing.last().is_some_and(|w| lex::is_global_aspect(w)) {
            return global();
        }
        if let Some(["color" | "colour" | "colors" | "colours", "of", owner @ ..]) = thing.strip_prefix(&["the"]).or(Some(thing)) {
            let owner = phrase(owner);
            return Draft::new(EditType::ChangeColor, &owner, &owner).doubtful("the new colour is not said");
        }
        let (thing, _) = subject(thing);
        return replace(&thing, &format!("different {thing}")).doubtful("it is not said into what it changes");
    }
    if is_whole(thing) {
        return whole_becomes(state);
    }
    let (thing_text, doubt) = subject(thing);
    let draft = aspect_becomes(thing, state).unwrap_or_else(|| thing_becomes(&thing_text, state));
    match doubt {
        Some(why) => draft.doubtful(why),
        None => draft,
    }
}

/// The whole picture takes on a state; a state that does not sound like one is doubtful.
fn whole_becomes(state: &Words) -> Draft {
    let adjectives = is_adjective_phrase(state) && size_phrase(state).is_none() && !is_colour_phrase(state);
    let grey = state.contains(&"black") && state.contains(&"white");
    if is_global_state(state) || adjectives || grey || is_whole(state) {
        return global();
    }
    global().doubtful("'it' or the picture is read as the whole picture")
}

/// "The color of X", "X's color", "the material of X", "the weather": the property that the noun names changes.
fn aspect_becomes(thing: &Words, state: &Words) -> Option<Draft> {
    let named = thing.iter().position(|w| is_aspect(w))?;
    let aspect = thing[named];
    let owner: Vec<&str> = match thing.get(named + 1) {
        None => thing[..named].to_vec(),
        Some(&"of") => thing[named + 2..].to_vec(),
        Some(_) => return None,
    };
    let (mut owner, whole) = (phrase(&owner), owner.is_empty() || owner.iter().all(|w| lex::is_article(w)) || is_whole(&owner));
    if whole || matches!(owner.as_str(), "camera" | "art" | "overall" | "time" | "day" | "scene" | "the") {
        return Some(if is_texture_aspect(aspect) { become_unowned(aspect, state) } else { global() });
    }
    if let Some(bare) = owner.strip_suffix("'s").or_else(|| owner.strip_suffix('\'')) {
        owner = bare.to_owned();
    }
    Some(match aspect {
        "color" | "colour" | "colors" | "colours" => {
            let (from, to) = from_to(state);
            let named = from.map_or_else(|| owner.clone(), |from| with_property(&property_words(from), &owner));
            recolour(&named, &property_words(to))
        }
        "number" | "count" | "amount" => other(&owner, &format!("{} {owner}", phrase(from_to(state).1))),
        "action" | "pose" | "posture" | "gesture" => other(&owner, &format!("{owner} {}", phrase(state))),
        "size" => match size_phrase(state) {
            Some(bigger) => resize(&owner, &property_words(state), bigger),
            None => other(&owner, &with_property(&property_words(state), &owner)).doubtful("the new size is not a size word"),
        },
        _ if is_texture_aspect(aspect) => retexture(&owner, &property_words(state)),
        _ => other(&owner, &with_property(&phrase(state), &owner)),
    })
}

fn become_unowned(aspect: &str, state: &Words) -> Draft {
    global().doubtful(format!("it is not said whose {aspect} becomes {}", state.join(" ")))
}

fn is_aspect(word: &str) -> bool {
    matches!(word, "action" | "pose" | "posture" | "gesture")
        || matches!(word, "color" | "colour" | "colors" | "colours" | "size" | "number" | "count" | "amount")
        || is_texture_aspect(word)
        || lex::is_global_aspect(word)
}

fn is_texture_aspect(word: &str) -> bool {
    matches!(word, "texture" | "material" | "pattern" | "fabric")
}

/// "From red to blue" split in two; the first part only when it is there.
pub fn from_to<'a, 'b>(state: &'b Words<'a>) -> (Option<&'b Words<'a>>, &'b Words<'a>) {
    if let ["from", rest @ ..] = state
        && let Some(to) = rest.iter().position(|w| matches!(*w, "to" | "into"))
    {
        return (Some(&rest[..to]), &rest[to + 1..]);
    }
    (None, state)
}

/// A local thing takes on a state: colour, size, material, other property, another kind of thing.
fn thing_becomes(thing: &str, state: &Words) -> Draft {
    let article = state.first().is_some_and(|w| matches!(*w, "a" | "an"));
    let mut state = state;
    while let ["look" | "looks" | "like" | "be" | "appear" | "become", rest @ ..] = state {
        state = rest;
    }
    let bare: Vec<&str> = state.iter().copied().filter(|w| !matches!(*w, "one" | "ones") && !lex::is_article(w)).collect();
    let pro_form = state.last().is_some_and(|w| matches!(*w, "one" | "ones"));
    if is_colour_phrase(&bare) {
        return recolour(thing, &property_words(&bare));
    }
    if let Some(bigger) = size_phrase(&bare) {
        return resize(thing, &size_word(&property_words(&bare), &bare), bigger);
    }
    let material = matches!(bare[..], ["made", "of" | "from" | "out", ..] | ["out", "of", ..]) || bare.starts_with(&["from"]);
    if material {
        return retexture(thing, &property_words(&bare));
    }
    if is_texture_phrase(&bare) && (!article || pro_form || bare.iter().any(|w| lex::is_texture_noun(w))) {
        return retexture(thing, &property_words(&bare));
    }
    if let [first, "of" | "with" | "in", _, ..] = bare[..]
        && is_adjective_phrase(&[first])
    {
        return other(thing, &format!("{thing} {}", phrase(state)));
    }
    if let [.., "different" | "another" | "other" | "new", "color" | "colour"] = bare[..] {
        return Draft::new(EditType::ChangeColor, thing, thing).doubtful("the new colour is not said");
    }
    let new = phrase(state);
    if pro_form {
        return other(thing, &with_property(&property_words(&bare), thing));
    }
    if is_adjective_phrase(&bare) && !article {
        let property = bare.iter().copied().filter(|w| !lex::is_degree(w) || *w == "more").collect::<Vec<_>>().join(" ");
        // "Arabic writing" to "Chinese": an adjective of the same kind takes the place of the old one.
        let swapped = bare.len() == 1 && thing.split(' ').next().is_some_and(is_nationality) && is_nationality(bare[0]);
        let stem = if swapped { without(thing, is_nationality) } else { thing.to_owned() };
        let edited = with_property(&property, &stem);
        return if swapped { replace(thing, &edited) } else { other(thing, &edited) };
    }
    if !article && bare.iter().all(|w| lex::is_style(w) || lex::is_season_or_time(w)) {
        return other(thing, &with_property(&bare.join(" "), thing));
    }
    same_head(thing, &new).unwrap_or_else(|| replace(thing, &new))
}

/// The old thing with a new property named in full: "curtains" to "white curtains".
fn same_head(thing: &str, new: &str) -> Option<Draft> {
    if head(thing) != head(new) || thing == new {
        return None;
    }
    let (old, fresh): (Vec<&str>, Vec<&str>) = (thing.split(' ').collect(), new.split(' ').collect());
    let gained: Vec<&str> = fresh.iter().copied().filter(|w| !old.contains(w)).collect();
    let kind = if is_colour_phrase(&gained) {
        EditType::ChangeColor
    } else if is_texture_phrase(&gained) {
        EditType::ChangeTexture
    } else {
        let bigger = size_phrase(&gained)?;
        return Some(resize(thing, &property_words(&gained), bigger));
    };
    Some(Draft::new(kind, thing, new))
}

/// The adjective for the edited phrase: the comparative where the text only grades ("twice as tall" to "taller").
fn size_word(property: &str, state: &Words) -> String {
    let graded = state.contains(&"as") || state.contains(&"more");
    match property {
        "" | "its" | "their" => if state.contains(&"half") { "smaller" } else { "bigger" }.to_owned(),
        "tall" | "long" | "small" | "short" | "thick" if graded => format!("{property}er"),
        "large" | "wide" if graded => format!("{property}r"),
        "big" if graded => "bigger".to_owned(),
        other => other.trim_start_matches("more ").to_owned(),
    }
}

fn is_nationality(word: &str) -> bool {
    matches!(
        word,
        "chinese"
            | "english"
            | "french"
            | "japanese"
            | "italian"
            | "spanish"
            | "german"
            | "american"
            | "russian"
            | "korean"
            | "indian"
            | "arabic"
            | "greek"
            | "mexican"
            | "african"
            | "asian"
            | "european"
            | "egyptian"
            | "roman"
            | "thai"
            | "british"
    )
}

/// "X has Y": an addition to X, or a new property of a part that X has.
pub fn owns(owner: &Words, thing: &Words) -> Draft {
    let thing = if let ["on" | "also" | "more", rest @ ..] = thing { rest } else { thing };
    if let ["no", gone @ ..] = thing {
        return remove(gone);
    }
    let (owner_text, doubt) = subject(owner);
    let end = first_place(thing).filter(|f| f.at > 0 && thing[f.at] != "of").map_or(thing.len(), |f| f.at);
    let named = &thing[..end];
    let draft = match own_part(&owner_text, named) {
        Some(draft) => draft,
        None if is_whole(owner) => add_placed(&split_place(thing)),
        None => add(&phrase(named), &owner_text, Place::Other),
    };
    match doubt {
        Some(why) => draft.doubtful(why),
        None => draft,
    }
}

/// "Blue eyes" of a cat: the part exists and changes.
fn own_part(owner: &str, named: &Words) -> Option<Draft> {
    let text = phrase(named);
    let words: Vec<&str> = text.split(' ').collect();
    let (part, property) = words.split_last().filter(|(part, _)| lex::is_own_part(part))?;
    if property.is_empty() || owner.is_empty() || property.iter().any(|w| is_possessive(w)) {
        return None;
    }
    let old = format!("{} {part}", super::phrase::possessive(owner));
    if property.iter().any(|w| is_colour(w)) {
        Some(recolour(&old, &property.join(" ")))
    } else if let Some(bigger) = size_phrase(property) {
        Some(resize(&old, &property_words(property), bigger))
    } else if is_adjective_phrase(property) || is_texture_phrase(property) {
        Some(other(&old, &with_property(&property.join(" "), &old)))
    } else {
        None
    }
}
