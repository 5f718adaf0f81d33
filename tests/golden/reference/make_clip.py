"""A tiny CLIP checkpoint in the published folder layout, and its stages on one picture and some phrases."""

import collections
import json
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPTokenizerFast

from .common import WORDS, Stages, picture, randomise, write_json

SEED = 11
PHRASES = ["a red ball", "cat", "Make the small dog bigger!", "it's a wall, café 2", ""]


def byte_letters() -> dict[int, str]:
    """The byte to character table of byte-level BPE: printable bytes stand for themselves, the rest follow from 256 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {b: chr(b) for b in plain}
    for extra, b in enumerate(b for b in range(256) if b not in table):
        table[b] = chr(256 + extra)
    return table


def learn_merges(words: list[str], count: int) -> list[tuple[str, str]]:
    """Byte pair merges: the most frequent pair first, ties by spelling."""
    pieces = [tuple(word[:-1]) + (word[-1] + "</w>",) for word in words]
    merges = []
    while len(merges) < count:
        pairs = collections.Counter(pair for word in pieces for pair in zip(word, word[1:]))
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        joined = []
        for word in pieces:
            out, i = [], 0
            while i < len(word):
                if word[i : i + 2] == best:
                    out.append(best[0] + best[1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            joined.append(tuple(out))
        pieces = joined
    return merges


def write_tokenizer(folder: Path) -> int:
    """tokenizer.json with the published pipeline and a small vocabulary; gives the vocabulary's size."""
    letters = list(byte_letters().values())
    merges = learn_merges(WORDS, 170)
    tokens = letters + [c + "</w>" for c in letters] + ["".join(m) for m in merges]
    tokens = list(dict.fromkeys(tokens)) + ["<|startoftext|>", "<|endoftext|>"]
    vocab_file, merges_file = folder / "vocab.json", folder / "merges.txt"
    vocab_file.write_text(json.dumps({t: i for i, t in enumerate(tokens)}))
    merges_file.write_text("#version: 0.2\n" + "\n".join(" ".join(m) for m in merges) + "\n")
    fast = CLIPTokenizerFast(str(vocab_file), str(merges_file))
    data = json.loads(fast.backend_tokenizer.to_str())
    # The published file writes a merge as one string.
    data["model"]["merges"] = [m if isinstance(m, str) else " ".join(m) for m in data["model"]["merges"]]
    (folder / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False))
    vocab_file.unlink()
    merges_file.unlink()
    return len(tokens)


def write_checkpoint(folder: Path) -> None:
    vocabulary = write_tokenizer(folder)
    # Sizes stand in the *_dict members and override; what these leave out is a default (77 positions, quick-GELU, eps 1e-5).
    # End token 2 is the published file's, and no token.
    text = dict(
        hidden_size=32, intermediate_size=128, num_attention_heads=4, num_hidden_layers=2, projection_dim=24,
        vocab_size=vocabulary, eos_token_id=2,
    )
    vision = dict(
        hidden_size=40, intermediate_size=160, num_attention_heads=4, num_hidden_layers=3, patch_size=14,
        image_size=56, projection_dim=24,
    )
    config = {
        "architectures": ["CLIPModel"],
        "initializer_factor": 1.0,
        "logit_scale_init_value": 2.6592,
        "model_type": "clip",
        "projection_dim": 24,
        "text_config": {**text, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-05, "model_type": "clip_text_model"},
        "text_config_dict": text,
        "torch_dtype": "float32",
        "vision_config": {**vision, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-05, "model_type": "clip_vision_model"},
        "vision_config_dict": vision,
    }
    write_json(folder / "config.json", config)
    write_json(
        folder / "preprocessor_config.json",
        {
            "crop_size": 56, "do_center_crop": True, "do_normalize": True, "do_resize": True,
            "feature_extractor_type": "CLIPFeatureExtractor",
            "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
            "resample": 3, "size": 56,
        },
    )
    model = CLIPModel(CLIPConfig.from_pretrained(folder))
    randomise(model, SEED, special={"projection.weight": 0.4, "logit_scale": 1.0})
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    # The published file holds the position numbers as unused int64 buffers.
    tensors["text_model.embeddings.position_ids"] = torch.arange(77)[None]
    tensors["vision_model.embeddings.position_ids"] = torch.arange(17)[None]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder: Path):
    """(model, image processor, tokenizer) of a CLIP folder; the slow image processor, which uses PIL."""
    model = CLIPModel.from_pretrained(folder, attn_implementation="eager").eval()
    return model, CLIPImageProcessor.from_pretrained(folder), CLIPTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))


def make(folder: Path) -> None:
    write_checkpoint(folder)
    picture(97, 71, 5).save(folder / "picture.png")
    picture(83, 166, 6).save(folder / "picture-tall.png")
    model, processor, tokenizer = load(folder)
    stages = Stages()
    first = True
    for name in ["picture", "picture-tall"]:
        pixels = processor(Image.open(folder / f"{name}.png"), return_tensors="pt")["pixel_values"]
        hooks = []
        if first:
            vision = model.vision_model
            hooks = [
                stages.hook(vision.embeddings.patch_embedding, "image.patch_embed"),
                stages.hook(vision.embeddings, "image.embeddings"),
                stages.hook(vision.pre_layrnorm, "image.pre_norm"),
                stages.hook(vision.encoder.layers[0], "image.block0"),
                stages.hook(vision.encoder.layers[-1], "image.last_hidden"),
                stages.hook(vision.post_layernorm, "image.pooled"),
            ]
        stages.keep(f"{name}.pixels", pixels)
        stages.keep(f"{name}.features", model.get_image_features(pixel_values=pixels))
        for hook in hooks:
            hook.remove()
        first = False
    stages.tensors = {k.replace("image.", "picture."): v for k, v in stages.tensors.items()}
    for number, phrase in enumerate(PHRASES):
        # One phrase at a time and without padding: the causal mask makes padding irrelevant.
        ids = tokenizer(phrase, return_tensors="pt")["input_ids"]
        hooks = []
        if number == 0:
            text = model.text_model
            hooks = [
                stages.hook(text.embeddings, "text0.embeddings"),
                stages.hook(text.encoder.layers[0], "text0.block0"),
                stages.hook(text.final_layer_norm, "text0.last_hidden"),
            ]
        stages.keep(f"text{number}.ids", ids)
        stages.keep(f"text{number}.features", model.get_text_features(input_ids=ids))
        for hook in hooks:
            hook.remove()
    write_json(folder / "phrases.json", PHRASES)
    check(stages)
    stages.save(folder / "stages.safetensors")


def check(stages: Stages) -> None:
    """The random network must tell its inputs apart, or a wrong port could pass."""
    texts = torch.cat([stages.tensors[f"text{i}.features"] for i in range(len(PHRASES))])
    cosine = torch.nn.functional.cosine_similarity(texts[:, None], texts[None], dim=-1)
    images = torch.nn.functional.cosine_similarity(
        stages.tensors["picture.features"], stages.tensors["picture-tall.features"]
    )
    print("  text cosines", [round(v, 2) for v in cosine[0].tolist()], "image cosine", round(images.item(), 2))
    assert cosine[0, 1:].max() < 0.95 and images.item() < 0.98
