"""Renders the training and validation pictures once and keeps them as arrays for the three training scripts.

    python cache.py --out /tmp/editscope-train --items 6000 --first 0        (training; seeds [SEED, number])
    python cache.py --out /tmp/editscope-val --items 200 --seed 555           (validation)

Per part: `pictures-WxH.npy` uint8 [n, h/2, w/2, 3] and `ids-WxH.npy` uint8 [n, h/2, w/2] by picture size, `crops.npy`
uint8 [items, variants, 4 edits, 2 (source, edit), 64, 64, 3], and `meta.pkl`. Half size is enough: the networks see less.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import pathlib
import pickle

import cv2
import numpy as np

import items as items_
from make_demo import noisy
from nets import CLIP_SIDE
from scene import Picture, render

SEED = 7
VARIANTS = 2


def half(picture: Picture, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels and id map at half size."""
    h, w = pixels.shape[:2]
    return cv2.resize(pixels, (w // 2, h // 2), interpolation=cv2.INTER_AREA), picture.ids[: h // 2 * 2: 2, : w // 2 * 2: 2]


def things_of(picture: Picture) -> list[dict]:
    """The things of a picture with their visible boxes in relative coordinates x0 y0 x1 y1."""
    h, w = picture.ids.shape
    found = []
    for index, thing in enumerate(picture.scene.things):
        box = picture.box(index)
        if box is None or (picture.ids == index + 1).sum() < 60:
            continue
        found.append({"id": index + 1, "name": thing.name, "color": thing.color, "texture": thing.texture, "mix": thing.mix,
                      "opacity": thing.opacity, "phrase": thing.phrase(), "box": [box[0] / w, box[1] / h, box[2] / w, box[3] / h]})
    return found


def crop_box(item: items_.Item, source: Picture, edit: Picture) -> tuple[float, float, float, float] | None:
    """The box that the metric would crop by, from the truth, in pixels: the added thing in the edit, else the target in the source."""
    h, w = source.ids.shape
    if item.kind in ("background", "global"):
        return 0, 0, w, h
    picture = edit if item.kind.startswith("add") else source
    boxes = [picture.box(i) for i, t in enumerate(picture.scene.things) if t.name == item.target[0]]
    boxes = [b for b in boxes if b]
    return boxes[0] if boxes else None


def crop(pixels: np.ndarray, box, grow: float, shift: tuple[float, float]) -> np.ndarray:
    """The box grown about its (shifted) centre, clipped, and stretched to CLIP's input size."""
    h, w = pixels.shape[:2]
    bw, bh = box[2] - box[0], box[3] - box[1]
    cx, cy = (box[0] + box[2]) / 2 + shift[0] * bw, (box[1] + box[3]) / 2 + shift[1] * bh
    x0, y0 = max(0, int(cx - bw * grow / 2)), max(0, int(cy - bh * grow / 2))
    x1, y1 = min(w, int(cx + bw * grow / 2)), min(h, int(cy + bh * grow / 2))
    part = pixels[y0:max(y1, y0 + 2), x0:max(x1, x0 + 2)]
    shrink = part.shape[0] > CLIP_SIDE or part.shape[1] > CLIP_SIDE
    return cv2.resize(part, (CLIP_SIDE, CLIP_SIDE), interpolation=cv2.INTER_AREA if shrink else cv2.INTER_CUBIC)


def build(job: tuple[int, int, int, str]) -> None:
    """Renders items first..last-1 and writes one part."""
    first, last, seed, out = job
    part = pathlib.Path(out) / f"part-{first:06d}"
    part.mkdir(parents=True, exist_ok=True)
    pictures, ids, metas = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    crops, pairs = [], []

    def keep(picture: Picture, pixels: np.ndarray) -> None:
        size = f"{picture.scene.width}x{picture.scene.height}"
        small, small_ids = half(picture, pixels)
        pictures[size].append(small)
        ids[size].append(small_ids)
        metas[size].append({"things": things_of(picture), "place": picture.scene.place_name(), "state": picture.scene.state,
                            "damaged": bool(picture.scene.damage)})

    for number in range(first, last):
        rng = np.random.default_rng([seed, number])
        item = items_.make(items_.KINDS[number % len(items_.KINDS)], rng)
        source = render(item.source)
        keep(source, source.rgb)
        row = np.zeros((VARIANTS, 4, 2, CLIP_SIDE, CLIP_SIDE, 3), np.uint8)
        whole = True
        for place, edit in enumerate(item.edits):
            picture = render(edit.scene)
            pixels = noisy(picture, rng)
            keep(picture, pixels)
            box = crop_box(item, source, picture)
            if box is None:
                whole = False
                continue
            for variant in range(VARIANTS):
                grow, shift = 1.5 * rng.uniform(0.92, 1.08), tuple(rng.uniform(-0.04, 0.04, 2))
                row[variant, place, 0] = crop(source.rgb, box, grow, shift)
                row[variant, place, 1] = crop(pixels, box, grow, shift)
        if whole:
            crops.append(row)
            pairs.append({"kind": item.kind, "instruction": item.instruction, "parse": item.parse, "done": [e.done for e in item.edits],
                          "size": [e.size_ok for e in item.edits]})
        crowd = render(items_.base_scene(rng, int(rng.integers(2, 6)), painted=0.5, twins=0.3))
        keep(crowd, noisy(crowd, rng))
    for size in pictures:
        np.save(part / f"pictures-{size}.npy", np.stack(pictures[size]))
        np.save(part / f"ids-{size}.npy", np.stack(ids[size]))
    np.save(part / "crops.npy", np.stack(crops))
    with open(part / "meta.pkl", "wb") as file:
        pickle.dump({"pictures": dict(metas), "pairs": pairs}, file)


class Store:
    """All finished parts, memory-mapped: `sizes` maps "WxH" to a list of (pictures, ids, metas)."""

    def __init__(self, root: str):
        self.sizes, self.crops = collections.defaultdict(list), []
        for part in sorted(pathlib.Path(root).glob("part-*")):
            if not (part / "meta.pkl").exists():
                continue
            meta = pickle.loads((part / "meta.pkl").read_bytes())
            for size, metas in meta["pictures"].items():
                self.sizes[size].append((np.load(part / f"pictures-{size}.npy", mmap_mode="r"), np.load(part / f"ids-{size}.npy", mmap_mode="r"), metas))
            self.crops.append((np.load(part / "crops.npy", mmap_mode="r"), meta["pairs"]))
        if not self.sizes:
            raise SystemExit(f"{root} holds no finished part; run cache.py first")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--items", type=int, default=6000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--part", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    jobs = [(k, min(k + given.part, given.first + given.items), given.seed, given.out) for k in range(given.first, given.first + given.items, given.part)]
    with multiprocessing.Pool(given.jobs) as pool:
        for _ in pool.imap(build, jobs):
            print("part done", flush=True)
