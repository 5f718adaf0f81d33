"""Prints the demo quality table for a folder made by make_demo.py: detector, segmenter, and what BPM prefers.

    python evaluate.py --set /tmp/held-out --models ../demo

An own short reading of the `corrected` profile (no code of the program): parts per edit, min-max over the set, alpha 0.7.
A missing value is never made up: an edit whose overall is not applicable can neither win nor lose, and is counted apart.
"""

from __future__ import annotations

import argparse
import json
import pathlib

import cv2
import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

import nets
import rle
import sprites

SIDE, KEEP, ALPHA = 500, 0.3, 0.7


def normal(rgb: np.ndarray, mean: list[float], deviation: list[float]) -> torch.Tensor:
    x = (torch.from_numpy(np.array(rgb)).float() / 255 - torch.tensor(mean)) / torch.tensor(deviation)
    return x.permute(2, 0, 1)[None]


class Networks:
    """The three networks with the preprocessing of the published ones at the demo sizes."""

    def __init__(self, root: pathlib.Path):
        self.dino, self.dino_tok = nets.load("grounding-dino", root)
        self.clip, self.clip_tok = nets.load("clip", root)
        self.sam, _ = nets.load("sam", root)
        for model in (self.dino, self.clip, self.sam):
            model.eval()

    @torch.no_grad()
    def detect(self, rgb: np.ndarray, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        """Boxes [n, 4] on the 500 canvas (x0 y0 x1 y1) and their scores, above the box threshold, in query order."""
        h, w = rgb.shape[:2]
        short = nets.DINO_SHORT
        if max(h, w) / min(h, w) * short > nets.DINO_LONG:
            short = round(nets.DINO_LONG * min(h, w) / max(h, w))
        size = (short, int(short * h / w)) if w <= h else (int(short * w / h), short)
        pixels = normal(np.asarray(Image.fromarray(rgb).resize(size, Image.BILINEAR)), nets.MEAN, nets.DEVIATION)
        text = phrase.lower().strip()
        ids, mask = nets.dino_tokens(self.dino_tok, [text if text.endswith(".") else text + "."])
        out = self.dino(pixel_values=pixels, input_ids=ids, attention_mask=mask)
        score = out.logits[0].sigmoid().amax(-1)
        kept = score > KEEP
        box = out.pred_boxes[0][kept]
        box = torch.cat([box[:, :2] - box[:, 2:] / 2, box[:, :2] + box[:, 2:] / 2], 1) * SIDE
        return box.numpy(), score[kept].numpy()

    @torch.no_grad()
    def segment(self, canvas: np.ndarray, boxes: np.ndarray) -> np.ndarray:
        """One mask per box: bool [n, 500, 500]; `canvas` is the picture stretched to 500 by 500."""
        if len(boxes) == 0:
            return np.zeros((0, SIDE, SIDE), bool)
        small = np.asarray(Image.fromarray(canvas).resize((nets.SAM_SIDE, nets.SAM_SIDE), Image.BILINEAR))
        prompt = torch.from_numpy(np.asarray(boxes, np.float32))[None] * (nets.SAM_SIDE / SIDE)
        low = self.sam(pixel_values=normal(small, nets.MEAN, nets.DEVIATION), input_boxes=prompt, multimask_output=False).pred_masks[0, :, 0][None]
        net = F.interpolate(low, (nets.SAM_SIDE, nets.SAM_SIDE), mode="bilinear", align_corners=False)
        return (F.interpolate(net, (SIDE, SIDE), mode="bilinear", align_corners=False)[0] > 0).numpy()

    @torch.no_grad()
    def image(self, rgb: np.ndarray) -> torch.Tensor:
        """Unnormalised CLIP feature of a picture or crop; shorter side resized, centre cropped."""
        side = nets.CLIP_SIDE
        h, w = rgb.shape[:2]
        size = (side, int(side * h / w)) if w <= h else (int(side * w / h), side)
        small = np.asarray(Image.fromarray(rgb).resize(size, Image.BICUBIC))
        top, left = (small.shape[0] - side) // 2, (small.shape[1] - side) // 2
        return self.clip.get_image_features(pixel_values=normal(small[top:top + side, left:left + side], nets.CLIP_MEAN, nets.CLIP_DEVIATION))[0]

    @torch.no_grad()
    def text(self, phrase: str) -> torch.Tensor:
        ids, mask = nets.clip_tokens(self.clip_tok, [phrase])
        return self.clip.get_text_features(input_ids=ids, attention_mask=mask)[0]


def canvas_of(rgb: np.ndarray) -> np.ndarray:
    return cv2.resize(rgb, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)


def iou(a, b) -> float:
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    area = lambda x: (x[2] - x[0]) * (x[3] - x[1])
    return w * h / (area(a) + area(b) - w * h)


def size_holds(word: str, source, edit) -> bool:
    area = lambda x: (x[2] - x[0]) * (x[3] - x[1])
    ratio = area(edit) / max(area(source), 1e-6)
    return ratio > 1.2 if word == "bigger" else ratio < 0.8 if word == "smaller" else 0.8 <= ratio <= 1.2


def position_holds(word: str, source, edit) -> bool:
    dx, dy = [(edit[k] + edit[k + 2]) / 2 - (source[k] + source[k + 2]) / 2 for k in (0, 1)]
    if word == "unchanged":
        return abs(dx) + abs(dy) < 40
    if word == "inside":
        return edit[0] > source[0] and edit[1] > source[1] and edit[2] < source[2] and edit[3] < source[3]
    side = {"left": -dx, "right": dx, "above": -dy, "below": dy}[word]
    return side > 0 and side > (abs(dy) if word in ("left", "right") else abs(dx)) and iou(source, edit) < 0.4


def relation(word: str, holds, source, edits) -> float | None:
    """1, 0.5 or 0 over all edited boxes; 1 when nothing is stated; None when a box is missing."""
    if word == "none":
        return 1.0
    if source is None or len(edits) == 0:
        return None
    good = [holds(word, source, e) for e in edits]
    return 1.0 if all(good) else 0.5 if any(good) else 0.0


def crop(rgb_canvas: np.ndarray, box) -> np.ndarray:
    cx, cy, w, h = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, (box[2] - box[0]) * 1.5, (box[3] - box[1]) * 1.5
    x0, y0, x1, y1 = [int(np.clip(v, 0, SIDE)) for v in (cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)]
    return canvas_of(rgb_canvas[y0:max(y1, y0 + 1), x0:max(x1, x0 + 1)])


def parts(net: Networks, source: np.ndarray, edit: np.ndarray, instruction: str, parse: dict[str, str]) -> dict[str, float | None]:
    """The four parts of one edit under `corrected`; None is not applicable."""
    if parse["original_part"] == "all":
        return {"size": None, "position": None, "preserve": None, "global": True,
                "modify": float(F.cosine_similarity(net.image(edit), net.text(instruction), dim=0))}
    adds, removes = parse["original_part"] == "none", parse["edited_part"] == "none"
    reference = parse["being_added"] if adds else parse["original_part"]
    src_boxes, src_scores = net.detect(source, reference) if reference != "none" else (np.zeros((0, 4)), np.zeros(0))
    phrase = parse["added_object"] if adds else parse["edited_part"]
    edit_boxes = np.zeros((0, 4)) if removes else net.detect(edit, phrase)[0]
    best = src_boxes[int(src_scores.argmax())] if len(src_boxes) else None
    a, b = canvas_of(source), canvas_of(edit)
    masks = [net.segment(b, edit_boxes if len(edit_boxes) else (src_boxes if not adds else edit_boxes))]
    if not adds:
        masks.append(net.segment(a, src_boxes))
    union = np.concatenate(masks).any(0) if sum(map(len, masks)) else np.zeros((SIDE, SIDE), bool)
    gap = np.sqrt(((a.astype(np.float64) - b) ** 2).mean(-1)) / 255
    crop_by = edit_boxes if adds else src_boxes
    modify = None
    if len(crop_by):
        box = [*crop_by[:, :2].min(0), *crop_by[:, 2:].max(0)]
        change = net.image(crop(b, box)) - net.image(crop(a, box))
        if adds:
            direction = net.text(parse["edited_part"])
        elif removes:
            direction = -net.text(parse["original_part"])
        else:
            direction = net.text(parse["edited_part"]) - net.text(parse["original_part"])
        modify = float(F.cosine_similarity(change, direction, dim=0))
    return {"size": relation(parse["size"], size_holds, best, edit_boxes), "position": relation(parse["position"], position_holds, best, edit_boxes),
            "modify": modify, "preserve": None if union.all() else float(1 - gap[~union].mean()), "global": False}


def overall(rows: list[dict]) -> None:
    """Adds `overall` to each row: min-max of modify and preserve over the set, then the combination."""
    spans = {k: (min(v), max(v)) for k in ("modify", "preserve") if (v := [r[k] for r in rows if r[k] is not None])}
    for row in rows:
        scaled = {k: None if row[k] is None else (row[k] - spans[k][0]) / (spans[k][1] - spans[k][0]) for k in spans}
        if row["global"]:
            row["overall"] = scaled["modify"]
        elif None in (row["size"], row["position"], *scaled.values()):
            row["overall"] = None
        else:
            row["overall"] = ALPHA * sum(scaled.values()) + (1 - ALPHA) * (row["size"] + row["position"])


def detector_table(net: Networks, root: pathlib.Path, truths: list[dict]) -> None:
    groups: dict[str, list[bool]] = {"present, all pictures": [], "present, sources and good edits": [], "absent found": [], "wrong colour found": []}
    ious: list[float] = []
    for truth in truths:
        rgb = np.asarray(Image.open(root / truth["picture"]).convert("RGB"))
        w, h = truth["size"]
        scale = np.array([SIDE / w, SIDE / h] * 2)
        cache: dict[str, np.ndarray] = {}
        for thing in truth["objects"]:
            if thing["phrase"] not in cache:
                cache[thing["phrase"]] = net.detect(rgb, thing["phrase"])[0]
            hit = any(iou(found, np.array(thing["box"]) * scale) >= 0.5 for found in cache[thing["phrase"]])
            groups["present, all pictures"].append(hit)
            if truth["role"] in ("source", "good"):
                groups["present, sources and good edits"].append(hit)
        for phrase in truth["absent"]:
            groups["absent found"].append(len(net.detect(rgb, phrase)[0]) > 0)
        for phrase in truth["absent_attribute"]:
            groups["wrong colour found"].append(len(net.detect(rgb, phrase)[0]) > 0)
        if truth["objects"]:
            boxes = np.array([np.array(t["box"]) * scale for t in truth["objects"]])
            for mask, thing in zip(net.segment(canvas_of(rgb), boxes), truth["objects"]):
                real = rle.decode(thing["mask"]["counts"], h, w).astype(np.uint8)
                real = cv2.resize(real, (SIDE, SIDE), interpolation=cv2.INTER_NEAREST).astype(bool)
                ious.append((mask & real).sum() / max(1, (mask | real).sum()))
    for name, values in groups.items():
        print(f"{name:34s} {100 * np.mean(values):5.1f} %  ({sum(values)}/{len(values)})")
    print(f"SAM with true boxes, mean IoU      {np.mean(ious):.3f}    (n {len(ious)})")


def preference(rows: list[dict], other: str) -> None:
    items: dict[str, dict[str, dict]] = {}
    for row in rows:
        items.setdefault(row["item"], {})[row["role"]] = row
    pairs = [(i["good"]["overall"], i[other]["overall"]) for i in items.values()]
    both = [(g, o) for g, o in pairs if g is not None and o is not None]
    wins, lone = sum(g > o for g, o in both), sum(g is not None and o is None for g, o in pairs)
    print(f"good over {other:15s} {wins}/{len(both)} comparable = {100 * wins / max(1, len(both)):5.1f} %; only the good one has a value {lone}; "
          f"the good one has none {sum(g is None for g, _ in pairs)}; of all items: strict {100 * wins / len(pairs):.1f} %, with those {100 * (wins + lone) / len(pairs):.1f} %")


def bpm_table(net: Networks, root: pathlib.Path, truths: list[dict], verbose: bool) -> None:
    roles = {t["picture"]: t["role"] for t in truths}
    rows = []
    for line in (root / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        edit = json.loads(line)
        source, edited = (np.asarray(Image.open(root / edit[k]).convert("RGB")) for k in ("source", "edited"))
        rows.append(parts(net, source, edited, edit["instruction"], edit["parse"]) | {"item": edit["item"], "role": roles[edit["edited"]]})
    overall(rows)
    if verbose:
        show = lambda v: "  na " if v is None else f"{v:5.2f}"
        for row in rows:
            print(f"{row['item']:22s} {row['role']:15s}", *(show(row[k]) for k in ("size", "position", "modify", "preserve", "overall")))
    for other in ("over_preserved", "over_modified", "misplaced"):
        preference(rows, other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, default=nets.DEMO)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, help="pictures for the detector and segmenter table")
    parser.add_argument("--only", choices=["nets", "bpm"])
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    net = Networks(given.models)
    truths = [json.loads(line) for line in (given.set / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    print(f"{given.set.name}: {len(truths)} pictures; classes {len(sprites.NAMES)}")
    if given.only != "bpm":
        detector_table(net, given.set, truths[: given.limit])
    if given.only != "nets":
        bpm_table(net, given.set, truths, given.verbose)


if __name__ == "__main__":
    main()
