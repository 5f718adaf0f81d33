"""The networks in PyTorch, run on command: one of the two sides of `compare.py`.

Speaks the protocol of `benches/worker.rs`: prints `ready`, then, for every line read from standard input, runs the task once and prints
the seconds that it took. Every network has the attention that transformers takes by default; the pictures are the same as on the
other side, by the same formula, and so are boxes and phrases.
"""

import argparse
import os
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("models", type=Path)
parser.add_argument("task", choices=["clip-pictures", "clip-texts", "sam", "detector", "item"])
parser.add_argument("--threads", type=int, default=1)
arguments = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(arguments.threads)
# Threads that wait must not take the processor from the other side.
os.environ["KMP_BLOCKTIME"] = "0"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

import numpy as np
import torch
from PIL import Image
from transformers import (
    BertTokenizerFast,
    CLIPImageProcessor,
    CLIPModel,
    CLIPTokenizerFast,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    SamImageProcessor,
    SamModel,
)

torch.set_num_threads(arguments.threads)
torch.set_num_interop_threads(1)

# As in `benches/common/mod.rs`.
SIDE = 512
EDITS = 4
PHRASES = ["a red ball", "the small dog"]
BOXES = [[60.0, 80.0, 260.0, 300.0], [200.0, 20.0, 480.0, 450.0]]


def picture(number: int) -> Image.Image:
    """A picture by formula; `number` 0 is the source."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.uint32)
    channels = [(x * 3 + y * 5 + (x * y) // 7 + 40 * number * (channel + 1)) % 256 for channel in range(3)]
    return Image.fromarray(np.stack(channels, axis=2).astype(np.uint8))


class Networks:
    """Those that a task needs, each loaded when it is first asked for."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.loaded = {}

    def get(self, name: str, load):
        if name not in self.loaded:
            self.loaded[name] = load(self.folder / name)
        return self.loaded[name]

    def clip_pictures(self, pictures: list[Image.Image]) -> torch.Tensor:
        model, processor, _ = self.get("clip", load_clip)
        return model.get_image_features(**processor(pictures, return_tensors="pt"))

    def clip_texts(self, texts: list[str]) -> torch.Tensor:
        model, _, tokenizer = self.get("clip", load_clip)
        return model.get_text_features(**tokenizer(texts, padding=True, return_tensors="pt"))

    def masks(self, canvas: Image.Image) -> list:
        model, processor = self.get("sam", load_sam)
        inputs = processor(canvas, return_tensors="pt")
        scale = inputs["reshaped_input_sizes"][0].max() / max(canvas.size)
        boxes = torch.tensor([BOXES], dtype=torch.float32) * scale
        out = model(pixel_values=inputs["pixel_values"], input_boxes=boxes, multimask_output=False)
        return processor.post_process_masks(out.pred_masks, inputs["original_sizes"], inputs["reshaped_input_sizes"])

    def boxes(self, seen: Image.Image, phrase: str) -> torch.Tensor:
        model, processor, tokenizer = self.get("grounding-dino", load_grounding_dino)
        inputs = processor(seen, return_tensors="pt")
        words = tokenizer([phrase.lower().strip() + "."], return_tensors="pt")
        out = model(**inputs, **words)
        return out.logits.sigmoid().max(-1).values, out.pred_boxes


def load_clip(folder: Path):
    tokenizer = CLIPTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    return CLIPModel.from_pretrained(folder).eval(), CLIPImageProcessor.from_pretrained(folder), tokenizer


def load_sam(folder: Path):
    return SamModel.from_pretrained(folder).eval(), SamImageProcessor.from_pretrained(folder)


def load_grounding_dino(folder: Path):
    tokenizer = BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    return GroundingDinoForObjectDetection.from_pretrained(folder).eval(), GroundingDinoImageProcessor.from_pretrained(folder), tokenizer


def crops(source: Image.Image, edit: Image.Image) -> list[Image.Image]:
    """Both canvases cut to the box around the boxes, grown 1.5 times: what modify looks at."""
    x0, y0 = (min(box[i] for box in BOXES) for i in (0, 1))
    x1, y1 = (max(box[i] for box in BOXES) for i in (2, 3))
    grow = lambda a, b: (max(0, int((a + b) / 2 - 0.75 * (b - a))), min(500, int((a + b) / 2 + 0.75 * (b - a))))
    (left, right), (top, bottom) = grow(x0, x1), grow(y0, y1)
    return [seen.crop((left, top, right, bottom)) for seen in (source, edit)]


def edit_from_scratch(networks: Networks, source: Image.Image, edit: Image.Image) -> None:
    """What the released scripts compute for one edit: nothing is kept from one edit to the next."""
    networks.boxes(source, PHRASES[0])
    networks.boxes(edit, PHRASES[1])
    canvases = [seen.resize((500, 500), Image.BILINEAR) for seen in (source, edit)]
    for canvas in canvases:
        networks.masks(canvas)
    networks.clip_pictures(crops(*canvases))
    networks.clip_texts(PHRASES)


def item(networks: Networks) -> None:
    source = picture(0)
    for number in range(1, EDITS + 1):
        edit_from_scratch(networks, source, picture(number))


def main() -> None:
    networks = Networks(arguments.models)
    source = picture(0)
    canvas = source.resize((500, 500), Image.BILINEAR)
    tasks = {
        "clip-pictures": lambda: networks.clip_pictures(crops(canvas, picture(1).resize((500, 500), Image.BILINEAR))),
        "clip-texts": lambda: networks.clip_texts(PHRASES),
        "sam": lambda: networks.masks(canvas),
        "detector": lambda: networks.boxes(source, PHRASES[0]),
        "item": lambda: item(networks),
    }
    needed = {"clip-pictures": ["clip"], "clip-texts": ["clip"], "sam": ["sam"], "detector": ["grounding-dino"]}
    loaders = {"clip": load_clip, "sam": load_sam, "grounding-dino": load_grounding_dino}
    for name in needed.get(arguments.task, list(loaders)):
        networks.get(name, loaders[name])
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        with torch.inference_mode():
            tasks[arguments.task]()
        print(f"{time.perf_counter() - began:.6f}", flush=True)


main()
