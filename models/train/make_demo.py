"""Writes a set of items in the neutral format: pictures, manifest.jsonl and truth.jsonl.

    python make_demo.py --items 24 --seed 20240 --out ../../assets/demo

The same seed gives the same scenes. Demo, validation and training seeds differ (README.md).
"""

from __future__ import annotations

import argparse
import io
import json
import pathlib

import numpy as np
from PIL import Image

import items as items_
import ratings
import sprites
from backgrounds import PLACES
from rle import encode
from scene import Picture, render

# The 24 demo items: every kind at least once.
PLAN = ["add", "add left", "remove", "color", "replace", "bigger", "add above", "texture", "global", "add inside", "background", "move",
        "add right", "remove", "color", "replace", "smaller", "add below", "texture", "global", "add", "remove", "color", "replace"]


def noisy(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """What any editor does to all pixels: a slight change of brightness and fine grain (at most about two levels)."""
    gain = rng.uniform(0.992, 1.008)
    grain = rng.normal(0, 0.6, picture.rgb.shape[:2])[..., None]
    return np.clip(np.round(picture.rgb * gain + grain), 0, 255).astype(np.uint8)


def jpeg(rgb: np.ndarray, quality: int = 92) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
    return buffer.getvalue()


def picture_truth(path: str, picture: Picture, rng: np.random.Generator) -> dict:
    """Objects with phrase, box and mask; phrases that are absent; wrong colours or textures of things that are there."""
    scene, h, w = picture.scene, *picture.rgb.shape[:2]
    objects = []
    for index, thing in enumerate(scene.things):
        box = picture.box(index)
        if box is None or thing.opacity < 0.6:
            continue
        mask = picture.ids == index + 1
        objects.append({"phrase": thing.phrase(), "class": thing.name, "box": list(box), "mask": {"size": [h, w], "counts": encode(mask)}})
    there = {t.name for t in scene.things}
    absent = [str(n) for n in rng.choice([n for n in sprites.NAMES if n not in there], size=3, replace=False)]
    attribute = []
    for thing in scene.things:
        same = {t.color for t in scene.things if t.name == thing.name}
        if thing.color and thing.mix >= 0.7 and thing.opacity >= 0.6:
            attribute.append(str(rng.choice([c for c in sprites.COLORS if c not in same])) + " " + thing.name)
    return {"picture": path, "size": [w, h], "objects": objects, "place": scene.place_name(), "state": scene.state if scene.strength > 0.6 else None,
            "absent": absent, "absent_attribute": attribute}


def write(count: int, seed: int, out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "pictures").mkdir(exist_ok=True)
    rows, truths = [], []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        item = items_.make(PLAN[number % len(PLAN)], rng)
        key = f"{number + 1:02d}-{item.kind.replace(' ', '-')}"
        source = render(item.source)
        source_path = f"pictures/{key}-source.jpg"
        (out / source_path).write_bytes(jpeg(source.rgb))
        truths.append(picture_truth(source_path, source, rng) | {"item": key, "role": "source"})
        for edit in item.edits:
            picture = render(edit.scene)
            pixels = noisy(picture, rng)
            editor = items_.EDITORS[edit.role]
            path = f"pictures/{key}-{editor.lower()}.jpg"
            (out / path).write_bytes(jpeg(pixels))
            marks = ratings.rate(item, edit, source, picture, pixels, seed, number)
            rows.append({"id": f"{key}-{editor.lower()}", "item": key, "source": source_path, "instruction": item.instruction, "edited": path,
                         "model": editor, "parse": item.parse, "ratings": marks})
            truths.append(picture_truth(path, picture, rng) | {"item": key, "role": edit.role, "model": editor})
    for name, lines in (("manifest.jsonl", rows), ("truth.jsonl", truths)):
        (out / name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--seed", type=int, default=20240)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    given = parser.parse_args()
    write(given.items, given.seed, given.out)
