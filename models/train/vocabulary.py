"""The two small vocabularies, written as tokenizer.json in the form of the published ones.

Grounding DINO: WordPiece, uncased, BERT's ids for [PAD] [UNK] [CLS] [SEP] [MASK] and for ASCII punctuation and digits
(so "." is 1012 and "?" 1029); then letters, their continuations, and words. CLIP: byte-level BPE with `</w>`; the end
token is the largest id. Unknown words fall into letters (WordPiece) or bytes (BPE).
"""

from __future__ import annotations

import json
import pathlib
import string

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import items
import sprites
from backgrounds import PLACES, STATES

EXTRA = """a an the of to in on at by for with from and or not no is are be it this that these those all some other another
left right above below under underneath over inside side beside next near behind front top bottom middle up down
big bigger small smaller large larger tiny huge tall taller short shorter unchanged size position background foreground
add put place remove erase delete get rid take out replace swap change turn make move shift paint recolor color colour
enlarge shrink could would can you please i want like should have has look looks picture image photo scene old new into
black white grey gray brown gold golden silver dark light bright plastic metal glass stone fur
man woman boy girl person people child face hair eye hand shirt dress coat table cup plate bowl bottle box bag lamp
door window wall floor sky sun moon star cloud rain snow water sea river grass sand flower leaf road street sign
building city train truck boat plane phone computer book food bread fruit lemon orange""".split()


def words() -> list[str]:
    """Every word that phrases, captions and instructions of the demo use, and some common ones; each once, sorted by first use."""
    texts = [*sprites.NAMES, *sprites.COLORS, *sprites.TEXTURES, *PLACES, *STATES, *[t for group in items.GLOBAL_TEXTS.values() for t in group]]
    seen = dict.fromkeys(w.strip(".,?!").lower() for text in texts for w in text.split())
    seen.update(dict.fromkeys(EXTRA))
    return list(seen)


def wordpiece() -> Tokenizer:
    """BERT-uncased form with about 1500 entries."""
    vocab = {f"[unused{i}]": i for i in range(999)}
    for name, at in (("[PAD]", 0), ("[UNK]", 100), ("[CLS]", 101), ("[SEP]", 102), ("[MASK]", 103)):
        vocab = {k: v for k, v in vocab.items() if v != at}
        vocab[name] = at
    for code in range(33, 65):
        vocab[chr(code)] = 999 + code - 33
    for extra in [*"[\\]^_`", *string.ascii_lowercase, *"{|}~", *[f"##{c}" for c in string.ascii_lowercase + string.digits],
                  "##s", "##ed", "##ing", "##er", "##es", "##y", *words()]:
        vocab.setdefault(extra, max(vocab.values()) + 1)
    tok = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100))
    tok.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok.post_processor = processors.TemplateProcessing(single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
                                                       special_tokens=[("[CLS]", 101), ("[SEP]", 102)])
    tok.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    tok.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tok


def _bpe_shell(model: models.BPE) -> Tokenizer:
    tok = Tokenizer(model)
    tok.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    split = Regex(r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(split, behavior="removed", invert=True),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tok


def _bytes_in_order() -> list[str]:
    """The 256 byte characters of byte-level BPE: printable bytes first, as themselves, then the rest from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [chr(b) for b in printable] + [chr(256 + n) for n in range(256 - len(printable))]


def clip_bpe() -> Tokenizer:
    """CLIP's form: bytes, bytes with `</w>`, merges, start, end."""
    learner = _bpe_shell(models.BPE(continuing_subword_prefix="", end_of_word_suffix="</w>"))
    trainer = trainers.BpeTrainer(vocab_size=2000, min_frequency=1, end_of_word_suffix="</w>", show_progress=False,
                                  initial_alphabet=_bytes_in_order())
    learner.train_from_iterator(words(), trainer)
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in json.loads(learner.to_str())["model"]["merges"]]
    letters = _bytes_in_order()
    vocab: dict[str, int] = {}
    for entry in [*letters, *[c + "</w>" for c in letters], *[a + b for a, b in merges], "<|startoftext|>", "<|endoftext|>"]:
        vocab.setdefault(entry, len(vocab))
    tok = _bpe_shell(models.BPE(vocab, merges, unk_token="<|endoftext|>", continuing_subword_prefix="", end_of_word_suffix="</w>"))
    start, end = vocab["<|startoftext|>"], vocab["<|endoftext|>"]
    tok.post_processor = processors.RobertaProcessing(sep=("<|endoftext|>", end), cls=("<|startoftext|>", start), trim_offsets=False, add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.add_special_tokens(["<|startoftext|>", "<|endoftext|>"])
    return tok


def save(tok: Tokenizer, folder: pathlib.Path) -> None:
    """Writes tokenizer.json. Merges go as strings "a b", the older and more widely read form."""
    data = json.loads(tok.to_str())
    if "merges" in data["model"]:
        data["model"]["merges"] = [m if isinstance(m, str) else " ".join(m) for m in data["model"]["merges"]]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
