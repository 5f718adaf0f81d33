"""What Pillow and OpenCV give for the metric's resizes, and the sizes that the three networks' preprocessing chooses."""

from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from transformers import SamImageProcessor
from transformers.image_transforms import get_resize_output_image_size
from transformers.models.grounding_dino.image_processing_grounding_dino import get_size_with_aspect_ratio

from .common import write_json

# name → (width, height); hard noise, so that a bicubic overshoots and every rounding shows.
SOURCES = {"noise": (61, 47), "column": (1, 9), "row": (9, 1), "tall": (24, 70), "even": (100, 80), "smooth": (40, 32)}
PIL_CASES = [
    ("noise", [(30, 20), (97, 80), (61, 20), (30, 47), (20, 90), (1, 1), (7, 1), (61, 47)]),
    ("column", [(5, 5), (1, 4)]),
    ("row", [(4, 3), (20, 1)]),
    ("tall", [(12, 35), (10, 29), (24, 30), (48, 140)]),
    ("smooth", [(17, 23), (64, 50)]),
]
OPENCV_CASES = [
    ("noise", [(37, 29), (122, 94), (30, 23), (1, 1), (61, 47), (20, 90)]),
    ("column", [(20, 20)]),
    ("row", [(20, 20)]),
    ("even", [(50, 40), (50, 41), (25, 20), (99, 79)]),
    ("smooth", [(17, 23), (64, 50)]),
]
# To the 500×500 canvas from pictures made by `formula`, so that no large file is needed.
CANVAS_SIZES = [(1000, 1000), (640, 427), (333, 500), (500, 500), (512, 512), (1301, 870), (250, 250), (97, 61), (1000, 500)]
SIZES = [
    (640, 480), (480, 640), (500, 500), (333, 500), (1333, 800), (800, 1333), (1920, 1080), (1081, 1921), (224, 224),
    (225, 224), (97, 61), (61, 97), (1, 1), (1, 50), (50, 1), (7, 1000), (1000, 7), (1023, 1025), (2048, 683), (683, 2048),
    (1366, 768), (799, 1331), (1201, 2001), (3999, 2999), (300, 500), (1501, 900),
]


def formula(width: int, height: int) -> np.ndarray:
    """A picture from whole numbers alone: value = (7x + 13y + 29c + (x·y mod 251)) mod 256, [height,width,3]."""
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return ((7 * x + 13 * y + 29 * c + x * y % 251) % 256).astype(np.uint8)


def fnv1a64(data: bytes) -> str:
    """The 64-bit FNV-1a hash in hexadecimal: shows a bit-exact match without storing the picture."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def make(folder: Path) -> None:
    for stale in folder.glob("*.png"):
        stale.unlink()
    rng = np.random.default_rng(3)
    images = {}
    for name, (width, height) in SOURCES.items():
        if name == "smooth":
            y, x = np.mgrid[0:height, 0:width]
            data = np.stack([x * 6, y * 7, 255 - (x + y) * 3], -1)
        elif name == "noise":
            # Half of the pixels black or white.
            data = rng.integers(0, 256, (height, width, 3))
            data = np.where(rng.random(data.shape) < 0.5, np.where(data < 128, 0, 255), data)
        else:
            data = rng.integers(0, 256, (height, width, 3))
        images[name] = Image.fromarray(data.astype(np.uint8), "RGB")
        images[name].save(folder / f"source-{name}.png")
    cases = []
    for name, sizes in PIL_CASES:
        for kind, resample in [("pil-bicubic", Image.BICUBIC), ("pil-bilinear", Image.BILINEAR)]:
            for size in sizes:
                save(folder, cases, name, kind, size, images[name].resize(size, resample))
    for name, sizes in OPENCV_CASES:
        for size in sizes:
            out = cv2.resize(np.asarray(images[name]), size, interpolation=cv2.INTER_LINEAR)
            save(folder, cases, name, "opencv-bilinear", size, Image.fromarray(out))
    canvases = []
    for width, height in CANVAS_SIZES:
        out = cv2.resize(formula(width, height), (500, 500), interpolation=cv2.INTER_LINEAR)
        file = f"canvas-{width}x{height}.png"
        # Every 25th pixel of each row and column, from the 12th on.
        Image.fromarray(np.ascontiguousarray(out[12::25, 12::25])).save(folder / file)
        canvases.append({"width": width, "height": height, "fnv1a64": fnv1a64(out.tobytes()), "sample": file})
    write_json(folder / "index.json", {"cases": cases, "canvas500": canvases})
    write_json(folder / "sizes.json", [sizes_of(*size) for size in SIZES])
    print(f"  {len(cases)} cases, {len(canvases)} canvases, {len(SIZES)} sizes")


def save(folder: Path, cases: list, source: str, kind: str, size: tuple[int, int], image: Image.Image) -> None:
    file = f"{kind}-{source}-{size[0]}x{size[1]}.png"
    image.save(folder / file)
    cases.append({"source": f"source-{source}.png", "kind": kind, "width": size[0], "height": size[1], "output": file})


def sizes_of(width: int, height: int) -> dict:
    """[width, height] after each network's resize, before any crop or padding; null where the rule gives an empty picture."""
    blank = np.zeros((height, width, 3), np.uint8)
    shape = (height, width)
    clip = lambda side: get_resize_output_image_size(
        blank, side, default_to_square=False, input_data_format="channels_last"
    )
    sam = lambda side: SamImageProcessor()._get_preprocess_shape(shape, side)
    dino = lambda short, long: get_size_with_aspect_ratio(shape, short, long)
    flip = lambda pair: [int(pair[1]), int(pair[0])] if min(pair) > 0 else None
    return {
        "width": width,
        "height": height,
        "clip_224": flip(clip(224)),
        "clip_56": flip(clip(56)),
        "sam_1024": flip(sam(1024)),
        "sam_160": flip(sam(160)),
        "grounding_dino_800_1333": flip(dino(800, 1333)),
        "grounding_dino_105_421": flip(dino(105, 421)),
    }
