"""Token ids of the tiny CLIP and BERT vocabularies for plain, odd and over-long strings."""

from pathlib import Path

from transformers import BertTokenizerFast, CLIPTokenizerFast

from .common import write_json

STRINGS = [
    "",
    " ",
    "a red ball",
    "A  Red\tBALL\n",
    "cat.",
    "a cat. a red ball.",
    "is it a dog? yes!",
    "it's the dog's ball, they're small",
    "I'd like 12 apples & 3.5 birds",
    "café naïve Ünder",
    "cafe\u0301 (combining)",
    "STRASSE straße İstanbul",
    "红色的球",
    "red 球 ball",
    "한국어 ภาษาไทย עברית",
    "😀 cat 👩‍👩‍👧 🇫🇷",
    "a\u00a0b\u2003c\u200bd",
    "tab\x00null\ufffd",
    "under_score snake_case--dash—em",
    "...!!??",
    "<|startoftext|> a <|endoftext|> b",
    "[CLS] a [SEP] b [MASK] [PAD]",
    "http://example.org/a?b=c#d",
    "3rd 2nd 1st 100%",
    "x" * 120,
    "a red ball " * 40,
    "remove the small dog, then turn the car into a blue boat and make the sky orange",
    "don't can't we've he'll I'm",
    "“quoted” ‘text’ … ½ ² ﬁ Ⅳ",
    "ǅ Ǆ ẞ Σίσυφος ΣΊΣΥΦΟΣ",
    "\u0130 \u212a \u00c5",
]


def make(folder: Path) -> None:
    golden = folder.parent
    clip = CLIPTokenizerFast(tokenizer_file=str(golden / "clip" / "tokenizer.json"))
    bert = BertTokenizerFast(tokenizer_file=str(golden / "grounding-dino" / "tokenizer.json"), do_lower_case=True)
    rows = []
    for text in STRINGS:
        # CLIP: cut to 77 with both ends, the end token last. Grounding DINO: lower case, trimmed, a full stop at the end.
        phrase = text.lower().strip()
        phrase = phrase if phrase.endswith(".") else phrase + "."
        rows.append(
            {
                "text": text,
                "clip": clip(text, truncation=True, max_length=77)["input_ids"],
                "clip_uncut_length": len(clip(text)["input_ids"]),
                "bert": bert(text)["input_ids"],
                "grounding_dino": bert(phrase)["input_ids"],
            }
        )
    write_json(folder / "ids.json", rows)
    print(f"  {len(rows)} strings; longest CLIP {max(row['clip_uncut_length'] for row in rows)} tokens")
