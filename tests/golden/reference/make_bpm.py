"""Six picture pairs scored by the reference with the tiny checkpoints: boxes, masks, crops, parts, normalised, overall."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from . import bpm_reference as bpm
from .common import picture, write_json

FIELDS = ["original_part", "edited_part", "edit_type", "being_added", "added_object", "size", "position"]
# Decisions that float noise of 1e-4 or a network's last digits could turn are not allowed: least distances.
LEAST_MARGINS = {
    "rank": 5e-4, "box threshold": 2e-3, "size ratio": 0.02, "position pixels": 1.0, "position IoU": 0.01,
    "best source box": 1e-3, "crop truncation": 0.02,
}


@dataclass
class Pair:
    """One edit to score. `seed` was searched so that there are boxes, masks neither empty nor full, and no near ties."""

    name: str
    instruction: str
    parse: list[str]
    size: tuple[int, int]
    edit_size: tuple[int, int]
    seed: int
    suffix: str = "png"


PAIRS = [
    Pair("add", "Add a yellow star above the house.",
         ["none", "house and yellow star", "add", "house", "yellow star", "none", "above"], (160, 120), (160, 120), 24),
    Pair("remove", "Remove the cat.",
         ["cat", "none", "remove", "none", "none", "none", "none"], (150, 100), (128, 96), 3),
    # "ball" holds "all": a global edit to the released scripts. The source is stored on its side, with an EXIF orientation.
    Pair("replace", "turn the red ball into a blue cup",
         ["red ball", "blue cup", "replace", "none", "none", "unchanged", "unchanged"], (120, 160), (120, 160), 14, "jpg"),
    Pair("size", "Make the tree bigger!",
         ["tree", "bigger tree", "change size", "none", "none", "bigger", "unchanged"], (128, 128), (128, 128), 93),
    Pair("global", "make it a night picture",
         ["all", "all", "other", "none", "none", "none", "none"], (140, 110), (140, 110), 1),
    Pair("missing", "turn the bird into a fish",
         ["bird", "fish", "replace", "none", "none", "unchanged", "unchanged"], (144, 108), (144, 108), 16),
]


def draw(pair: Pair, seed: int) -> tuple[Image.Image, Image.Image]:
    """Source and edited picture; the edit differs by two shapes, a global edit in its light."""
    source = picture(*pair.size, seed, 4, noise=0)
    if pair.suffix == "jpg":
        # Grey, flat in each 8×8 block: only the blocks' means are stored, so every JPEG decoder gives the same pixels.
        # (These random networks turn a level's difference into other boxes.)
        small = source.convert("L").resize((pair.size[0] // 8, pair.size[1] // 8), Image.BOX)
        source = small.resize(pair.size, Image.NEAREST)
    edit = source.convert("RGB").resize(pair.edit_size, Image.BILINEAR)
    if pair.name == "global":
        return source, Image.fromarray((np.asarray(edit) * [0.35, 0.4, 0.6]).astype(np.uint8))
    rng = np.random.default_rng(seed + 1000)
    pen = ImageDraw.Draw(edit)
    for shape in (pen.ellipse, pen.rectangle):
        x, y = rng.uniform(0.2, 0.8) * edit.width, rng.uniform(0.2, 0.8) * edit.height
        r = rng.uniform(0.08, 0.2) * edit.width
        shape([x - r, y - r, x + r, y + r], fill=tuple(int(v) for v in rng.integers(0, 256, 3)))
    return source, edit


def write_pictures(folder: Path, pair: Pair, seed: int) -> None:
    source, edit = draw(pair, seed)
    edit.save(folder / f"{pair.name}-edit.png")
    if pair.suffix == "png":
        source.save(folder / f"{pair.name}-source.png")
        return
    # Orientation 6: the stored picture must be turned a quarter clockwise.
    exif = Image.Exif()
    exif[0x0112] = 6
    file = folder / f"{pair.name}-source.jpg"
    source.transpose(Image.ROTATE_90).save(file, quality=100, exif=exif)
    assert np.array_equal(bpm.open_upright(file), np.asarray(source.convert("RGB"))), "the JPEG is not exact"


def score_pair(networks: bpm.Networks, folder: Path, pair: Pair, profile: str) -> bpm.Result:
    source = bpm.open_upright(folder / f"{pair.name}-source.{pair.suffix}")
    edit = bpm.open_upright(folder / f"{pair.name}-edit.png")
    return bpm.score(networks, profile, source, edit, pair.instruction, dict(zip(FIELDS, pair.parse)))


def coco_rle(mask: np.ndarray) -> dict:
    """COCO's compressed run lengths, written from the format: column-major, zeros first, differences to the run two before."""
    flat = np.concatenate([[False], mask.flatten(order="F")])
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    runs = np.diff(np.concatenate([[0], edges, [mask.size]])).tolist()
    text = []
    for i, run in enumerate(runs):
        value = run - (runs[i - 2] if i > 2 else 0)
        more = True
        while more:
            low, value = value & 31, value >> 5
            more = value != (-1 if low & 16 else 0)
            text.append(chr(48 + low + (32 if more else 0)))
    return {"size": list(mask.shape), "counts": "".join(text)}


def value_json(value):
    return {"na": value.why} if isinstance(value, bpm.Missing) else value


def boxes_json(boxes: list[bpm.Box]) -> list:
    return [{"box": [round(v, 4) for v in b.edges], "confidence": round(b.score, 6), "phrase": b.phrase} for b in boxes]


def result_json(result: bpm.Result, combined: dict) -> dict:
    return {
        "global": result.is_global,
        "boxes": {"source": boxes_json(result.source_boxes), "edit": boxes_json(result.edit_boxes)},
        "mask": None if result.mask is None else coco_rle(result.mask),
        "mask_share": None if result.mask is None else result.mask.mean(),
        "crop": result.crop,
        "parts": {name: value_json(getattr(result, name)) for name in ("size", "position", "modify", "preserve")},
        "normalised": {name: value_json(combined[name]) for name in ("modify", "preserve")},
        "overall": value_json(combined["overall"]),
        "branches": result.branches,
    }


def make(folder: Path) -> None:
    networks = bpm.Networks(folder.parent)
    for pair in PAIRS:
        write_pictures(folder, pair, pair.seed)
    expected = {"pairs": [], "ranges": {}, "scores": {}}
    for pair in PAIRS:
        expected["pairs"].append(
            {
                "name": pair.name, "source": f"{pair.name}-source.{pair.suffix}", "edit": f"{pair.name}-edit.png",
                "instruction": pair.instruction, "parse": dict(zip(FIELDS, pair.parse)),
            }
        )
    for profile in bpm.PROFILES:
        results = [score_pair(networks, folder, pair, profile) for pair in PAIRS]
        bounds = bpm.fit_range(profile, results)
        expected["ranges"][profile] = bounds
        expected["scores"][profile] = {
            pair.name: result_json(result, bpm.combine(profile, result, bounds)) for pair, result in zip(PAIRS, results)
        }
        for pair, result in zip(PAIRS, results):
            check(pair, profile, result)
            report(pair, profile, expected["scores"][profile][pair.name])
    for name, value in networks.margins.items():
        assert value > LEAST_MARGINS[name], f"{name}: {value}"
    write_json(folder / "expected.json", expected)


def check(pair: Pair, profile: str, result: bpm.Result) -> None:
    for name, value in result.margins.items():
        assert value > LEAST_MARGINS[name], f"{pair.name} {profile} {name}: {value}"


def report(pair: Pair, profile: str, row: dict) -> None:
    show = lambda value: f"{value:.4f}" if isinstance(value, float) else "na"
    parts = " ".join(f"{name} {show(value)}" for name, value in row["parts"].items())
    share = "none" if row["mask_share"] is None else f"{row['mask_share']:.2f}"
    counts = f"{len(row['boxes']['source'])}+{len(row['boxes']['edit'])}"
    print(f"  {profile} {pair.name}: boxes {counts}, mask {share}, crop {row['crop']}, {parts}, overall {show(row['overall'])}")
