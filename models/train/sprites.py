"""Objects of the demo scenes: Noto Color Emoji sprites, recoloured or textured on demand.

The font is the Debian package fonts-noto-color-emoji (SIL OFL 1.1). Its bitmaps have one size (109 ppem), so
every sprite is rendered once there, trimmed to what is visible, and resampled by the scene renderer.
"""

from __future__ import annotations

import functools

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
STRIKE = 109

# 40 classes, each with the one word that instructions, phrases and captions use.
CLASSES = {
    "cat": "🐈", "dog": "🐕", "cow": "🐄", "pig": "🐖", "sheep": "🐑", "elephant": "🐘", "rabbit": "🐇", "bird": "🐦",
    "duck": "🦆", "fish": "🐟", "turtle": "🐢", "butterfly": "🦋", "penguin": "🐧", "apple": "🍎", "banana": "🍌",
    "pineapple": "🍍", "strawberry": "🍓", "pizza": "🍕", "donut": "🍩", "car": "🚗", "bus": "🚌", "bicycle": "🚲",
    "rocket": "🚀", "tree": "🌳", "cactus": "🌵", "mushroom": "🍄", "house": "🏠", "chair": "🪑", "clock": "⏰",
    "umbrella": "☂", "balloon": "🎈", "guitar": "🎸", "mug": "☕", "hat": "🎩", "key": "🔑", "book": "📕", "ball": "⚽",
    "gift": "🎁", "shoe": "👟", "teapot": "🫖",
}
NAMES = list(CLASSES)

COLORS = {
    "red": (214, 40, 40), "orange": (242, 130, 30), "yellow": (240, 208, 40), "green": (46, 160, 67),
    "blue": (38, 98, 222), "purple": (128, 58, 190), "pink": (242, 120, 176),
}
TEXTURES = ["striped", "spotted", "checkered", "wooden"]
# Classes where a person would naturally ask for another colour or texture.
PAINTABLE = ["car", "bus", "bicycle", "house", "chair", "clock", "umbrella", "balloon", "guitar", "mug", "hat", "key",
             "book", "ball", "gift", "shoe", "teapot", "bird", "fish", "butterfly", "rocket", "donut", "mushroom"]


@functools.lru_cache(maxsize=None)
def plain(name: str) -> np.ndarray:
    """The trimmed sprite of a class: float32 [h, w, 4], RGB in 0..255 (not premultiplied), alpha in 0..1."""
    font = ImageFont.truetype(FONT, STRIKE)
    canvas = Image.new("RGBA", (180, 180), (0, 0, 0, 0))
    ImageDraw.Draw(canvas).text((10, 10), CLASSES[name], font=font, embedded_color=True)
    box = canvas.getbbox()
    if box is None:
        raise RuntimeError(f"{FONT} draws nothing for {name}; install the Debian package fonts-noto-color-emoji")
    sprite = np.asarray(canvas.crop(box), dtype=np.float32).copy()
    sprite[..., 3] /= 255.0
    return sprite


def _shade(sprite: np.ndarray) -> np.ndarray:
    """Lightness of the sprite, stretched to 0..1 between its own dark and light parts: [h, w]."""
    light = sprite[..., :3] @ np.float32([0.299, 0.587, 0.114])
    inside = sprite[..., 3] > 0.5
    low, high = np.percentile(light[inside], [5, 95])
    return np.clip((light - low) / max(high - low, 20.0), 0, 1)


def _ramp(shade: np.ndarray, middle: float, color: tuple[int, int, int]) -> np.ndarray:
    """Dark version of the colour at shade 0, the colour at the middle shade, lighter above: [h, w, 3]."""
    base = np.float32(color)
    t = shade[..., None]
    dark = base * (0.45 + 0.55 * np.clip(t / middle, 0, 1))
    return dark + (255 - dark) * np.clip((t - middle) / (1.001 - middle), 0, 1) * 0.5


def _pattern(texture: str, height: int, width: int) -> np.ndarray:
    """The colours of a texture before shading: [h, w, 3]."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    if texture == "striped":
        on = ((x + 0.6 * y) // 9) % 2 == 0
        return np.where(on[..., None], np.float32([250, 250, 250]), np.float32([30, 50, 120]))
    if texture == "spotted":
        on = ((x % 20 - 10) ** 2 + (y % 20 - 10) ** 2 < 36) | (((x + 10) % 20 - 10) ** 2 + ((y + 10) % 20 - 10) ** 2 < 16)
        return np.where(on[..., None], np.float32([60, 30, 20]), np.float32([250, 240, 220]))
    if texture == "checkered":
        on = ((x // 12) + (y // 12)) % 2 == 0
        return np.where(on[..., None], np.float32([245, 245, 245]), np.float32([30, 30, 30]))
    if texture == "wooden":
        grain = 0.5 + 0.5 * np.sin(y * 0.75 + 3 * np.sin(x * 0.07) + 1.5 * np.sin(x * 0.021 + y * 0.1))
        return np.float32([120, 72, 32]) + grain[..., None] * np.float32([70, 52, 30])
    raise ValueError(f"unknown texture {texture}; known: {', '.join(TEXTURES)}")


@functools.lru_cache(maxsize=4096)
def dressed(name: str, color: str | None, texture: str | None, mix: float) -> np.ndarray:
    """The sprite of a class with a colour and/or texture at strength `mix` (0 = as drawn, 1 = fully changed)."""
    sprite = plain(name)
    if color is None and texture is None:
        return sprite
    shade = _shade(sprite)
    painted = sprite[..., :3]
    if color is not None:
        middle = float(np.clip(np.median(shade[sprite[..., 3] > 0.5]), 0.03, 0.8))
        painted = _ramp(shade, middle, COLORS[color])
    if texture is not None:
        painted = _pattern(texture, *shade.shape) * (0.55 + 0.45 * shade[..., None])
    out = sprite.copy()
    out[..., :3] = sprite[..., :3] * (1 - mix) + painted * mix
    return out


def fitted(name: str, color: str | None, texture: str | None, mix: float, size: float, angle: float, flip: bool) -> np.ndarray:
    """The sprite with its longer side at `size` pixels, rotated by `angle` degrees: premultiplied float32 [h, w, 4]."""
    sprite = dressed(name, color, texture, round(mix, 2))
    premultiplied = np.dstack([sprite[..., :3] * sprite[..., 3:], sprite[..., 3:]])
    if flip:
        premultiplied = premultiplied[:, ::-1]
    h, w = premultiplied.shape[:2]
    scale = size / max(h, w)
    if scale < 0.7:
        step = (max(1, round(w * scale)), max(1, round(h * scale)))
        premultiplied = cv2.resize(np.ascontiguousarray(premultiplied), step, interpolation=cv2.INTER_AREA)
        scale *= w / step[0]
        h, w = premultiplied.shape[:2]
        scale = size / max(h, w)
    turn = cv2.getRotationMatrix2D((w / 2 - 0.5, h / 2 - 0.5), angle, scale)
    cos, sin = abs(turn[0, 0]), abs(turn[0, 1])
    new_w, new_h = int(np.ceil(w * cos + h * sin)), int(np.ceil(w * sin + h * cos))
    turn[0, 2] += new_w / 2 - w / 2
    turn[1, 2] += new_h / 2 - h / 2
    return cv2.warpAffine(np.ascontiguousarray(premultiplied), turn, (new_w, new_h), flags=cv2.INTER_LINEAR)
