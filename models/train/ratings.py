"""Simulated raters: marks 1-5 computed from the truth about an edit, with a personal bias and noise.

The rule (also in README.md), before bias and noise, all rounded to 1-5 at the end:
  modification = 1 + 4 * done            (how far the instruction was carried out, 0..1)
  preservation = 5 - 4 * min(1, d / 0.10)  (d: mean distance outside the true region of the edit, 0..1; global edits: 5 minus
                                          2 for every thing that went or changed its class, at least 1)
  size, position = 1 + 4 * size_ok, 1 + 4 * position_ok
  overall = 0.4 modification + 0.3 preservation + 0.15 size + 0.15 position
These are no opinions of people and are labelled `simulated` wherever they are stored.
"""

from __future__ import annotations

import numpy as np

RATERS = {"simulated-a": (0.0, 0.35), "simulated-b": (-0.4, 0.5), "simulated-c": (0.3, 0.6)}


def _true_region(item, source, picture) -> np.ndarray:
    """Where the instruction allows change: the target's pixels in source and edit (background: everything but the things)."""
    region = np.zeros(source.ids.shape, bool)
    for shot in (source, picture):
        for index, thing in enumerate(shot.scene.things):
            if thing.name in item.target:
                region |= shot.ids == index + 1
    if item.kind == "background":
        region = (source.ids == 0) & (picture.ids == 0)
    if item.kind.startswith("add") and len(item.target) > 1:
        for index, thing in enumerate(source.scene.things):
            if thing.name == item.target[1]:
                region &= ~((source.ids == index + 1) & (picture.ids == index + 1))
    return region


def _preservation(item, source, picture, pixels) -> float:
    if item.kind == "global":
        before = sorted(t.name for t in source.scene.things)
        after = [t.name for t in picture.scene.things]
        lost = sum(1 for name in before if name not in after)
        return max(1.0, 5 - 2 * lost - (1 if picture.scene.damage else 0))
    outside = ~_true_region(item, source, picture)
    if not outside.any():
        return 5.0
    gap = (source.rgb[outside].astype(np.float64) - pixels[outside]) ** 2
    distance = float(np.sqrt(gap.mean(axis=1)).mean() / 255)
    return 5 - 4 * min(1.0, distance / 0.10)


def rate(item, edit, source, picture, pixels, seed: int, number: int) -> list[dict]:
    """Three simulated ratings of one edit, in the form of the neutral manifest."""
    truth = {"modification": 1 + 4 * edit.done, "preservation": _preservation(item, source, picture, pixels),
             "size": 1 + 4 * edit.size_ok, "position": 1 + 4 * edit.position_ok}
    truth["overall"] = 0.4 * truth["modification"] + 0.3 * truth["preservation"] + 0.15 * truth["size"] + 0.15 * truth["position"]
    marks = []
    for place, (rater, (bias, spread)) in enumerate(RATERS.items()):
        rng = np.random.default_rng([seed, number, place, *map(ord, edit.role)])
        values = {name: int(np.clip(round(value + bias + rng.normal(0, spread)), 1, 5)) for name, value in truth.items()}
        marks.append({"rater": rater, "simulated": True, "values": values, "comment": ""})
    return marks
