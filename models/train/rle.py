"""COCO run lengths as text: column-major runs starting with background, coded as the COCO API does.

Own implementation of the published format: each count after the second is stored as the difference to the count two
places before, in 5-bit groups with a continuation bit, as characters from 48 on.
"""

from __future__ import annotations

import numpy as np


def runs(mask: np.ndarray) -> list[int]:
    """Run lengths of a bool mask [h, w] in column-major order, the first of background."""
    flat = np.concatenate([[False], mask.flatten(order="F")])
    turns = np.flatnonzero(flat[1:] != flat[:-1])
    return np.diff(np.concatenate([[0], turns, [mask.size]])).tolist()


def encode(mask: np.ndarray) -> str:
    """The `counts` text of a mask."""
    counts, out = runs(mask), []
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        while True:
            group = value & 31
            value >>= 5
            more = value != (-1 if group & 16 else 0)
            out.append(chr(48 + (group | (32 if more else 0))))
            if not more:
                break
    return "".join(out)


def decode(counts: str, height: int, width: int) -> np.ndarray:
    """The mask [h, w] of a `counts` text."""
    values, at = [], 0
    while at < len(counts):
        value = shift = 0
        while True:
            group = ord(counts[at]) - 48
            at += 1
            value |= (group & 31) << shift
            shift += 5
            if not group & 32:
                if group & 16:
                    value |= -1 << shift
                break
        values.append(value + values[-2] if len(values) > 2 else value)
    flat = np.repeat(np.arange(len(values)) % 2 == 1, values)
    return flat.reshape(width, height).T
