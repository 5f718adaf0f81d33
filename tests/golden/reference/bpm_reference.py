"""An independent reference of the BPM metric in its three profiles, on PyTorch, transformers, OpenCV and Pillow.

Written from the description of the metric alone (paper sections as named in the docstrings), to compare EditScope against.
Coordinates are x0 y0 x1 y1 on the 500×500 canvas unless a name says otherwise; pictures are uint8 RGB [height,width,3].
"""

from dataclasses import dataclass, field

import cv2
import numpy as np
import torch
from PIL import Image, ImageOps

from .make_clip import load as load_clip
from .make_grounding_dino import load as load_grounding_dino
from .make_sam import load as load_sam
from .make_sam import mask_logits

PROFILES = ["corrected", "paper", "released-code"]
BOX_THRESHOLD, TEXT_THRESHOLD, ALPHA = 0.3, 0.25, 0.7
SIDE = 500


@dataclass
class Box:
    """One kept detection."""

    edges: list[float]
    score: float
    phrase: str

    @property
    def area(self) -> float:
        return (self.edges[2] - self.edges[0]) * (self.edges[3] - self.edges[1])

    @property
    def centre(self) -> tuple[float, float]:
        return (self.edges[0] + self.edges[2]) / 2, (self.edges[1] + self.edges[3]) / 2


@dataclass
class Missing:
    """A part without a value, and why."""

    why: str


@dataclass
class Result:
    """One edit under one profile, before normalisation."""

    is_global: bool = False
    size: float | Missing = 1.0
    position: float | Missing = 1.0
    modify: float | Missing = 0.0
    preserve: float | Missing = 0.0
    source_boxes: list[Box] = field(default_factory=list)
    edit_boxes: list[Box] = field(default_factory=list)
    mask: np.ndarray | None = None
    crop: list[int] | None = None
    branches: list[str] = field(default_factory=list)
    # Distances to the nearest decision, to see that float noise decides nothing.
    margins: dict[str, float] = field(default_factory=dict)

    def near(self, name: str, distance: float) -> None:
        self.margins[name] = min(self.margins.get(name, np.inf), abs(float(distance)))


def open_upright(path) -> np.ndarray:
    """A picture with its EXIF orientation applied."""
    return np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))


def canvas(picture: np.ndarray) -> np.ndarray:
    """500×500 by OpenCV's bilinear."""
    return cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)


class Networks:
    """The three checkpoints below one folder, with results remembered."""

    def __init__(self, folder) -> None:
        self.clip, self.clip_pixels, self.clip_tokens = load_clip(folder / "clip")
        self.sam, self.sam_pixels = load_sam(folder / "sam")
        self.dino, self.dino_processor = load_grounding_dino(folder / "grounding-dino")
        self.memory: dict = {}
        self.margins: dict[str, float] = {}

    def detect(self, picture: np.ndarray, phrase: str) -> list[Box]:
        """Kept boxes in query order; the network sees the picture, not the canvas (section 2)."""
        phrase = phrase.lower().strip()
        phrase = phrase if phrase.endswith(".") else phrase + "."
        key = ("detect", picture.tobytes(), picture.shape, phrase)
        if key not in self.memory:
            inputs = self.dino_processor(images=Image.fromarray(picture), text=phrase, return_tensors="pt")
            output = self.dino(**inputs)
            scores = output.logits[0].sigmoid()
            best = scores.max(-1).values
            boxes = []
            for query in torch.nonzero(best > BOX_THRESHOLD)[:, 0].tolist():
                cx, cy, w, h = output.pred_boxes[0, query]
                edges = torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]) * SIDE
                ids = inputs["input_ids"][0][scores[query, : inputs["input_ids"].shape[1]] > TEXT_THRESHOLD]
                label = self.dino_processor.tokenizer.decode(ids)
                boxes.append(Box(edges.tolist(), best[query].item(), label))
            ranked = torch.sort(output.enc_outputs_class[0].max(-1).values, descending=True).values
            ranked = ranked[: output.pred_boxes.shape[1] + 1]
            margins = {
                "rank": (ranked[:-1] - ranked[1:]).min().item(),
                "box threshold": (best - BOX_THRESHOLD).abs().min().item(),
            }
            self.memory[key] = boxes, margins
        boxes, margins = self.memory[key]
        for name, value in margins.items():
            self.margins[name] = min(self.margins.get(name, np.inf), value)
        return boxes

    def segment(self, picture: np.ndarray, boxes: list[Box]) -> list[np.ndarray]:
        """One mask a box, boolean [500,500]; the picture is a canvas."""
        if not boxes:
            return []
        key = ("embed", picture.tobytes())
        if key not in self.memory:
            pixels = self.sam_pixels(Image.fromarray(picture), return_tensors="pt")["pixel_values"]
            self.memory[key] = self.sam.get_image_embeddings(pixels)
        side = self.sam.config.vision_config.image_size
        prompt = torch.tensor([[box.edges for box in boxes]]) * (side / SIDE)
        output = self.sam(image_embeddings=self.memory[key], input_boxes=prompt, multimask_output=False)
        logits = mask_logits(output.pred_masks[0, :, 0], (SIDE, SIDE), side)
        return [mask.numpy() for mask in logits > 0]

    def picture_feature(self, picture: np.ndarray) -> torch.Tensor:
        pixels = self.clip_pixels(Image.fromarray(picture), return_tensors="pt")["pixel_values"]
        return self.clip.get_image_features(pixel_values=pixels)[0]

    def text_feature(self, text: str) -> torch.Tensor:
        ids = self.clip_tokens(text.lower().strip(), truncation=True, max_length=77, return_tensors="pt")["input_ids"]
        return self.clip.get_text_features(input_ids=ids)[0]


def words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def says(profile: str, text: str, word: str) -> bool:
    """Whether a field says `all` or `none` (section 6 point 2, section 11 point 1)."""
    if profile == "released-code":
        return word in text.lower()
    return word in words(text) or (word == "none" and not text.strip())


def cosine(a: torch.Tensor, b: torch.Tensor) -> float | Missing:
    lengths = a.double().norm() * b.double().norm()
    if lengths == 0:
        return Missing("a direction has length zero")
    return (a.double() @ b.double() / lengths).item()


def iou(a: Box, b: Box) -> float:
    width = min(a.edges[2], b.edges[2]) - max(a.edges[0], b.edges[0])
    height = min(a.edges[3], b.edges[3]) - max(a.edges[1], b.edges[1])
    shared = max(width, 0) * max(height, 0)
    return shared / (a.area + b.area - shared)


def size_holds(word: str, edited: Box, source: Box, result: Result) -> bool:
    """Section 3, size: the ratio of areas."""
    ratio = edited.area / source.area
    for limit in (0.8, 1.2):
        result.near("size ratio", ratio - limit)
    return {"bigger": ratio > 1.2, "smaller": ratio < 0.8, "unchanged": 0.8 <= ratio <= 1.2}[word]


def position_holds(word: str, edited: Box, source: Box, result: Result) -> bool:
    """Section 3, position: centres and overlap."""
    dx, dy = (e - s for e, s in zip(edited.centre, source.centre))
    if word == "unchanged":
        result.near("position pixels", abs(dx) + abs(dy) - 40)
        return abs(dx) + abs(dy) < 40
    e, s = edited.edges, source.edges
    if word == "inside":
        for near in (e[0] - s[0], e[1] - s[1], s[2] - e[2], s[3] - e[3]):
            result.near("position pixels", near)
        return e[0] > s[0] and e[1] > s[1] and e[2] < s[2] and e[3] < s[3]
    result.near("position pixels", abs(dx) - abs(dy))
    result.near("position pixels", dx if word in ("left", "right") else dy)
    overlap = iou(edited, source)
    result.near("position IoU", overlap - 0.4)
    side = {"left": dx < 0, "right": dx > 0, "above": dy < 0, "below": dy > 0}[word]
    dominates = abs(dx) > abs(dy) if word in ("left", "right") else abs(dy) > abs(dx)
    return side and dominates and overlap < 0.4


def share_score(holds: list[bool]) -> float:
    """All satisfy 1, some 0.5, none 0 (section 11 point 3)."""
    return 1.0 if all(holds) else 0.5 if any(holds) else 0.0


SIZE_WORDS = ["bigger", "smaller", "unchanged"]
POSITION_WORDS = ["left", "right", "above", "below", "inside", "unchanged"]


def relation(parse: dict, name: str, known: list[str]) -> str | None:
    """The relation that the parse states or that the type of edit implies (section 11 point 4)."""
    stated = next((word for word in known if word in words(parse[name])), None)
    implied = any(kind in parse["edit_type"].lower() for kind in ("replace", "change color", "change texture"))
    return stated or ("unchanged" if implied else None)


def judge_regions(profile: str, parse: dict, result: Result) -> None:
    """Size and position of `corrected` and `paper` (section 3; section 11 points 2 to 5)."""
    judges = {"size": (SIZE_WORDS, size_holds), "position": (POSITION_WORDS, position_holds)}
    for name, (known, holds) in judges.items():
        word = relation(parse, name, known)
        if word is None:
            value = 1.0
            result.branches.append(f"{name}: not judged")
        elif not result.source_boxes or not result.edit_boxes:
            side = "source" if not result.source_boxes else "edited"
            value = Missing(f"no {side} box to judge {name} by") if profile == "corrected" else 1.0
            result.branches.append(f"{name}: no {side} box")
        else:
            ranked = sorted(result.source_boxes, key=lambda box: -box.score)
            if len(ranked) > 1:
                result.near("best source box", ranked[0].score - ranked[1].score)
            value = share_score([holds(word, box, ranked[0], result) for box in result.edit_boxes])
            result.branches.append(f"{name}: {word}")
        setattr(result, name, value)


def judge_regions_released(parse: dict, result: Result) -> None:
    """Size and position of `released-code` (section 6 points 3 to 5)."""
    both = bool(result.source_boxes and result.edit_boxes)
    if not both:
        result.branches.append("size and position: a box is missing")
        return
    first = result.source_boxes[0]
    if "change size" in parse["edit_type"] and parse["size"] in SIZE_WORDS:
        result.size = 1.0 if size_holds(parse["size"], result.edit_boxes[0], first, result) else 0.0
        result.branches.append(f"size: {parse['size']}, first boxes")
    named_addition = is_addition(parse, "released-code") and not says("released-code", parse["being_added"], "none")
    if named_addition and parse["position"] in POSITION_WORDS:
        result.position = share_score([position_holds(parse["position"], box, first, result) for box in result.edit_boxes])
        result.branches.append(f"position: {parse['position']}, against the first source box")


def is_addition(parse: dict, profile: str) -> bool:
    return says(profile, parse["original_part"], "none")


def is_removal(parse: dict, profile: str) -> bool:
    return says(profile, parse["edited_part"], "none")


def locate(networks: Networks, profile: str, parse: dict, source: np.ndarray, edit: np.ndarray, result: Result) -> None:
    """Section 2: which phrase is looked for in which picture."""
    addition = is_addition(parse, profile)
    source_phrase = parse["being_added"] if addition else parse["original_part"]
    edit_phrase = parse["added_object"] if addition else parse["edited_part"]
    if not says(profile, source_phrase, "none"):
        result.source_boxes = networks.detect(source, source_phrase)
    if not says(profile, edit_phrase, "none"):
        result.edit_boxes = networks.detect(edit, edit_phrase)


def region_prompts(profile: str, parse: dict, result: Result) -> tuple[list[Box], list[Box]]:
    """The boxes that prompt SAM on the source and on the edited image (sections 2, 6.6, 7, 11.6, 11.7)."""
    if is_addition(parse, profile):
        return [], result.edit_boxes
    if profile == "paper":
        return result.source_boxes, result.edit_boxes
    if profile == "corrected":
        return result.source_boxes, result.edit_boxes or result.source_boxes
    # A missing box leaves the mask of the released scripts empty (section 6 point 5).
    if not result.source_boxes or (not result.edit_boxes and not is_removal(parse, profile)):
        return [], []
    # Of a removal the released script segments the source alone.
    return result.source_boxes, [] if is_removal(parse, profile) else result.source_boxes


def distance(source: np.ndarray, edit: np.ndarray, outside: np.ndarray, wrap: bool) -> float:
    """Mean over the pixels outside of sqrt(mean_c((a − b)²)) / 255; with `wrap` in uint8 as the released scripts (section 6 point 1)."""
    if wrap:
        difference = source - edit  # uint8 arrays: both steps wrap modulo 256
        squared = (difference * difference).astype(np.float64)
    else:
        squared = (source.astype(np.float64) - edit.astype(np.float64)) ** 2
    return float((np.sqrt(squared.mean(-1)) / 255)[outside].mean())


def preserve(profile: str, source: np.ndarray, edit: np.ndarray, mask: np.ndarray) -> float | Missing:
    released = profile == "released-code"
    if mask.all():
        return 0.0 if released else Missing("the region covers the whole picture")
    d = distance(source, edit, ~mask, wrap=released)
    return -d if released else 1 - d


def crop_edges(boxes: list[Box], result: Result) -> list[int]:
    """The enclosing box grown ×1.5 about its centre, clipped, truncated (section 4)."""
    x0, y0 = (min(box.edges[i] for box in boxes) for i in (0, 1))
    x1, y1 = (max(box.edges[i] for box in boxes) for i in (2, 3))
    cx, cy, w, h = (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) * 1.5, (y1 - y0) * 1.5
    grown = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
    clipped = [min(max(value, 0), SIDE) for value in grown]
    for value in clipped:
        if 0 < value < SIDE:
            result.near("crop truncation", value - round(value))
    return [int(value) for value in clipped]


def modify(networks: Networks, profile: str, parse: dict, pictures: dict, result: Result) -> float | Missing:
    """Section 4: the cosine of the image direction and the text direction."""
    addition, released = is_addition(parse, profile), profile == "released-code"
    boxes = result.edit_boxes if addition else result.source_boxes
    side = "edited" if addition else "source"
    if released and not addition and not boxes:
        result.branches.append("modify: no source box, edited picture against the edited phrase")
        return cosine(networks.picture_feature(pictures["edit"]), networks.text_feature(parse["edited_part"]))
    if released and not result.edit_boxes and not is_removal(parse, profile):
        result.branches.append("modify: no edited box, 0")
        return 0.0
    if not boxes:
        result.branches.append(f"modify: no {side} box to crop by")
        return Missing(f"no {side} box to crop by")
    result.crop = crop_edges(boxes, result)
    x0, y0, x1, y1 = result.crop
    if x1 <= x0 or y1 <= y0:
        return Missing("the crop is empty")
    before = networks.picture_feature(np.ascontiguousarray(pictures["source500"][y0:y1, x0:x1]))
    after = networks.picture_feature(np.ascontiguousarray(pictures["edit500"][y0:y1, x0:x1]))
    if addition:
        text = networks.text_feature(parse["added_object" if released else "edited_part"])
    elif is_removal(parse, profile):
        text = -networks.text_feature(parse["original_part"])
    else:
        text = networks.text_feature(parse["edited_part"]) - networks.text_feature(parse["original_part"])
    return cosine(after - before, text)


def score(networks: Networks, profile: str, source: np.ndarray, edit: np.ndarray, instruction: str, parse: dict) -> Result:
    """The parts of one edit under one profile; pictures are upright and of any size."""
    result = Result()
    pictures = {"source": source, "edit": edit, "source500": canvas(source), "edit500": canvas(edit)}
    if says(profile, parse["original_part"], "all"):
        result.is_global = True
        result.branches.append("global")
        result.modify = cosine(networks.picture_feature(edit), networks.text_feature(instruction))
        if profile == "released-code":
            result.size, result.position, result.preserve = 1.0, 1.0, 0.0  # as the released script stores them
        else:
            result.size, result.position, result.preserve = (Missing("a global edit") for _ in range(3))
        return result
    locate(networks, profile, parse, source, edit, result)
    if profile == "released-code":
        judge_regions_released(parse, result)
    else:
        judge_regions(profile, parse, result)
    on_source, on_edit = region_prompts(profile, parse, result)
    masks = networks.segment(pictures["source500"], on_source) + networks.segment(pictures["edit500"], on_edit)
    result.mask = np.any(masks, axis=0) if masks else np.zeros((SIDE, SIDE), bool)
    if not masks:
        result.branches.append("mask: empty, no box")
    result.preserve = preserve(profile, pictures["source500"], pictures["edit500"], result.mask)
    result.modify = modify(networks, profile, parse, pictures, result)
    return result


def fit_range(profile: str, results: list[Result]) -> dict[str, tuple[float, float] | None]:
    """Least and greatest value of modify and preserve over a set (section 5; section 6 point 8)."""
    bounds = {}
    for name in ("modify", "preserve"):
        values = [getattr(r, name) for r in results if not isinstance(getattr(r, name), Missing)]
        if profile == "released-code" and name == "preserve":
            values = [value for value in values if value not in (0.0, -1.0)]
        bounds[name] = (min(values), max(values)) if values and min(values) < max(values) else None
    return bounds


def normalise(value: float | Missing, bounds: tuple[float, float] | None) -> float | Missing:
    if isinstance(value, Missing):
        return value
    if bounds is None:
        return Missing("the range has no width")
    return (value - bounds[0]) / (bounds[1] - bounds[0])


def combine(profile: str, result: Result, bounds: dict) -> dict:
    """Section 5: `alpha (modify + preserve) + (1 − alpha)(size + position)`; alpha is 1 for global edits."""
    parts = {name: normalise(getattr(result, name), bounds[name]) for name in ("modify", "preserve")}
    overall = None
    if result.is_global and profile != "released-code":
        overall = parts["modify"]
    else:
        needed = [parts["modify"], parts["preserve"], result.size, result.position]
        overall = next((part for part in needed if isinstance(part, Missing)), None)
        if overall is None:
            alpha = 1.0 if result.is_global else ALPHA
            overall = alpha * (needed[0] + needed[1]) + (1 - alpha) * (needed[2] + needed[3])
    return {**parts, "overall": overall}
