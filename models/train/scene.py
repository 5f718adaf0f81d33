"""A scene is data: a background, objects and a state. Rendering gives the picture and where each object is visible."""

from __future__ import annotations

import dataclasses
import functools

import cv2
import numpy as np

import backgrounds
import sprites

SIZES = [(480, 400), (400, 480), (448, 448), (500, 400), (400, 500), (480, 360), (420, 420), (460, 420)]


@dataclasses.dataclass(frozen=True)
class Thing:
    """One object; centre and longer side in image pixels."""

    name: str
    cx: float
    cy: float
    size: float
    angle: float = 0.0
    flip: bool = False
    color: str | None = None
    texture: str | None = None
    mix: float = 1.0
    opacity: float = 1.0

    def phrase(self) -> str:
        """What a person would call it: with its colour or texture once that is clearly there."""
        words = [w for w in (self.color, self.texture) if w and self.mix >= 0.7]
        return " ".join([*words, self.name])

    def with_(self, **changes) -> "Thing":
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True)
class Scene:
    """Width and height in pixels, a background (optionally blended towards a second one), objects from back to front."""

    width: int
    height: int
    place: str
    seed: int
    things: tuple[Thing, ...]
    place2: str | None = None
    blend: float = 0.0
    state: str | None = None
    strength: float = 0.0
    damage: tuple[tuple[str, float], ...] = ()

    def with_(self, **changes) -> "Scene":
        return dataclasses.replace(self, **changes)

    def swap(self, index: int, *new: Thing) -> "Scene":
        """The scene with the thing at `index` replaced by others (none: removed)."""
        return self.with_(things=self.things[:index] + new + self.things[index + 1:])

    def place_name(self) -> str | None:
        """The name of the visible background, or None while two are blended or damage hides it."""
        if self.place2 is None or self.blend < 0.15:
            return self.place
        return self.place2 if self.blend > 0.7 else None


@dataclasses.dataclass
class Picture:
    """Pixels uint8 [h, w, 3] and, per pixel, 1 + the index of the thing on top (0: background)."""

    rgb: np.ndarray
    ids: np.ndarray
    scene: Scene

    def box(self, index: int) -> tuple[int, int, int, int] | None:
        """The visible box of a thing: x0, y0, x1, y1 in image pixels, end exclusive."""
        mask = self.ids == index + 1
        rows, cols = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        if rows.size == 0:
            return None
        return int(cols[0]), int(rows[0]), int(cols[-1]) + 1, int(rows[-1]) + 1


@functools.lru_cache(maxsize=96)
def _background(name: str, seed: int, height: int, width: int) -> np.ndarray:
    return backgrounds.background(name, seed, height, width)


def _hurt(img: np.ndarray, kind: str, amount: float, seed: int) -> np.ndarray:
    """Damage to everything: what an editor does that changes too much."""
    rng = np.random.default_rng([seed, 79])
    if kind == "tint":
        target = np.float32(list(sprites.COLORS.values())[int(rng.integers(0, 7))])
        return img * (1 - 0.55 * amount) + target * 0.55 * amount
    if kind == "blur":
        return cv2.GaussianBlur(img, (0, 0), 1 + 5 * amount)
    if kind == "contrast":
        return (img - 128) * (1 + 0.9 * amount) + 128
    if kind == "dim":
        return img * (1 - 0.55 * amount)
    if kind == "smudge":
        h, w = img.shape[:2]
        out = img.copy()
        for _ in range(2 + int(5 * amount)):
            color = tuple(float(v) for v in rng.uniform(30, 230, 3))
            axes = (int(w * rng.uniform(0.08, 0.2)), int(h * rng.uniform(0.06, 0.16)))
            center = (int(rng.integers(0, w)), int(rng.integers(0, h)))
            cv2.ellipse(out, center, axes, float(rng.uniform(0, 180)), 0, 360, color, -1, cv2.LINE_AA)
        return out
    raise ValueError(f"unknown damage {kind}")


DAMAGES = ["tint", "blur", "contrast", "dim", "smudge"]


def render(scene: Scene) -> Picture:
    """Draws a scene. Objects with little opacity still have their place in the id map; callers look at `opacity`."""
    h, w = scene.height, scene.width
    img = _background(scene.place, scene.seed, h, w).copy()
    if scene.place2 is not None and scene.blend > 0:
        img = img * (1 - scene.blend) + _background(scene.place2, scene.seed + 1, h, w) * scene.blend
    hurts_back = [d for d in scene.damage if d[0] == "smudge"]
    for kind, amount in hurts_back:
        img = _hurt(img, kind, amount, scene.seed)
    ids = np.zeros((h, w), np.uint8)
    for index, thing in enumerate(scene.things):
        sprite = sprites.fitted(thing.name, thing.color, thing.texture, thing.mix, thing.size, thing.angle, thing.flip)
        sh, sw = sprite.shape[:2]
        x0, y0 = round(thing.cx - sw / 2), round(thing.cy - sh / 2)
        ax0, ay0, ax1, ay1 = max(x0, 0), max(y0, 0), min(x0 + sw, w), min(y0 + sh, h)
        if ax1 <= ax0 or ay1 <= ay0:
            continue
        part = sprite[ay0 - y0:ay1 - y0, ax0 - x0:ax1 - x0]
        alpha = part[..., 3:] * thing.opacity
        img[ay0:ay1, ax0:ax1] = img[ay0:ay1, ax0:ax1] * (1 - alpha) + part[..., :3] * thing.opacity
        ids[ay0:ay1, ax0:ax1][part[..., 3] > 0.5] = index + 1
    if scene.state is not None and scene.strength > 0:
        img = backgrounds.with_state(np.clip(img, 0, 255), scene.state, scene.strength, scene.seed)
    for kind, amount in scene.damage:
        if kind != "smudge":
            img = _hurt(img, kind, amount, scene.seed)
    return Picture(np.clip(np.round(img), 0, 255).astype(np.uint8), ids, scene)


def _reach(thing: Thing) -> float:
    return thing.size * 0.5


def crowding(a: Thing, b: Thing) -> float:
    """How far two things reach into each other, relative to the smaller: 0 = apart (square reach, so on the safe side)."""
    dx = _reach(a) + _reach(b) - abs(a.cx - b.cx)
    dy = _reach(a) + _reach(b) - abs(a.cy - b.cy)
    if dx <= 0 or dy <= 0:
        return 0.0
    return dx * dy / (min(a.size, b.size) ** 2)


def free_place(rng: np.random.Generator, scene: Scene, size: float, limit: float = 0.08, tries: int = 60,
               region: tuple[float, float, float, float] | None = None, keep_off: tuple[Thing, ...] | None = None) -> tuple[float, float] | None:
    """A centre where a thing of this size fits, touching the others at most by `limit`; None when there is none.

    `region` bounds the centre (x0, y0, x1, y1 in pixels)."""
    others = scene.things if keep_off is None else keep_off
    margin = size * 0.46
    x0, y0, x1, y1 = region or (0, 0, scene.width, scene.height)
    x0, y0, x1, y1 = max(x0, margin), max(y0, margin), min(x1, scene.width - margin), min(y1, scene.height - margin)
    if x1 <= x0 or y1 <= y0:
        return None
    for _ in range(tries):
        probe = Thing("cat", float(rng.uniform(x0, x1)), float(rng.uniform(y0, y1)), size)
        if all(crowding(probe, o) <= limit for o in others):
            return probe.cx, probe.cy
    return None


def random_thing(rng: np.random.Generator, name: str, size: float, cx: float, cy: float, painted: float) -> Thing:
    """A thing with a random pose; with probability `painted` it has a colour or texture of its own."""
    color = texture = None
    if rng.random() < painted:
        if rng.random() < 0.65:
            color = str(rng.choice(list(sprites.COLORS)))
        else:
            texture = str(rng.choice(sprites.TEXTURES))
    angle = float(rng.uniform(-18, 18)) if rng.random() < 0.5 else 0.0
    return Thing(name, cx, cy, size, angle, bool(rng.random() < 0.5), color, texture)
