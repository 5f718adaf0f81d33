"""Writes masks.json: what pycocotools says about five masks, for tests/coco_golden.rs.

    python tests/golden/coco/generate.py        # with pycocotools 2.0.11 and numpy

The masks are given by formulas that the test repeats. Run lengths, area and box are pycocotools' own; the polygons are traced here along
the sides of the pixels, and kept only if pycocotools fills them back to exactly the mask (holes apart: its polygons have none).
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from pycocotools import mask as coco

SHAPES = {
    "rectangle": (9, 7, lambda x, y: (x >= 2) & (x < 6) & (y >= 1) & (y < 4)),
    "angle": (12, 9, lambda x, y: ((x >= 2) & (x < 5) & (y >= 1) & (y < 7)) | ((x >= 2) & (x < 10) & (y >= 5) & (y < 7))),
    "disc": (70, 60, lambda x, y: (x - 30) ** 2 + (y - 25) ** 2 < 18**2),
    "ring": (40, 40, lambda x, y: ((x - 20) ** 2 + (y - 20) ** 2 < 15**2) & ((x - 20) ** 2 + (y - 20) ** 2 >= 6**2)),
    "corners": (8, 8, lambda x, y: ((x < 3) & (y < 3)) | ((x >= 3) & (x < 6) & (y >= 3) & (y < 6))),
}


def rings(mask):
    """Outlines along the sides of the pixels, the mask on the right hand; at a corner shared by two parts they turn right."""
    height, width = mask.shape
    padded = np.pad(mask, 1)
    steps = defaultdict(list)
    for y, x in zip(*np.nonzero(mask)):
        x, y = int(x), int(y)
        if not padded[y, x + 1]:
            steps[x, y].append((x + 1, y))
        if not padded[y + 1, x + 2]:
            steps[x + 1, y].append((x + 1, y + 1))
        if not padded[y + 2, x + 1]:
            steps[x + 1, y + 1].append((x, y + 1))
        if not padded[y + 1, x]:
            steps[x, y + 1].append((x, y))
    while steps:
        start = min(steps, key=lambda p: (p[1], p[0]))
        ring, at, before = [], start, None
        while True:
            choices = steps[at]
            right = before and (at[0] - (at[1] - before[1]), at[1] + (at[0] - before[0]))
            to = right if right in choices else choices[0]
            choices.remove(to)
            if not choices:
                del steps[at]
            ring.append(at)
            before, at = at, to
            if at == start:
                break
        turns = lambda i: (ring[i][0] == ring[i - 1][0]) != (ring[(i + 1) % len(ring)][0] == ring[i][0])
        yield [ring[i] for i in range(len(ring)) if turns(i)]


def area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1])) / 2


found = {}
for name, (width, height, inside) in SHAPES.items():
    y, x = np.mgrid[0:height, 0:width]
    mask = np.asfortranarray(inside(x, y).astype(np.uint8))
    rle = coco.encode(mask)
    outer = [ring for ring in rings(mask) if area(ring) > 0]
    holes = [ring for ring in rings(mask) if area(ring) < 0]
    flat = [[v for point in ring for v in point] for ring in outer]
    filled = coco.decode(coco.merge(coco.frPyObjects([[float(v) for v in ring] for ring in flat], height, width)))
    missing = int((filled != mask).sum())
    assert missing == -sum(area(ring) for ring in holes), name
    found[name] = {
        "size": [height, width],
        "counts": rle["counts"].decode(),
        "area": int(coco.area(rle)),
        "bbox": coco.toBbox(rle).tolist(),
        "polygons": sorted(flat),
        "holes": len(holes),
    }

Path(__file__).with_name("masks.json").write_text(json.dumps(found, indent=1) + "\n")
