"""Procedural backgrounds and whole-picture states (weather, time of day, style) of the demo scenes.

Everything is drawn from a numpy generator, so a seed gives the same pixels again. Noise is kept low and smooth: the
pictures are committed as JPEG and must stay small.
"""

from __future__ import annotations

import cv2
import numpy as np


def _vertical(height: int, width: int, stops: list[tuple[float, tuple[int, int, int]]]) -> np.ndarray:
    """A vertical gradient through (relative height, colour) stops."""
    at = np.linspace(0, 1, height)
    places = [p for p, _ in stops]
    column = np.stack([np.interp(at, places, [c[k] for _, c in stops]) for k in range(3)], axis=-1)
    return np.repeat(column[:, None, :], width, axis=1).astype(np.float32)


def _smooth(rng: np.random.Generator, height: int, width: int, cell: int) -> np.ndarray:
    """Smooth noise in -1..1 with features of about `cell` pixels: [h, w]."""
    small = rng.uniform(-1, 1, (height // cell + 3, width // cell + 3)).astype(np.float32)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def _beach(rng, h, w):
    sea = rng.uniform(0.3, 0.42)
    sand = sea + rng.uniform(0.08, 0.16)
    img = _vertical(h, w, [(0, (120, 195, 240)), (sea, (195, 230, 245)), (sea + 0.01, (30, 130, 185)), (sand - 0.01, (70, 180, 200)),
                           (sand, (250, 240, 215)), (sand + 0.03, (238, 214, 160)), (1, (222, 190, 128))])
    return img + _smooth(rng, h, w, 12)[..., None] * 4


def _desert(rng, h, w):
    img = _vertical(h, w, [(0, (250, 196, 120)), (0.4, (253, 226, 170)), (1, (253, 226, 170))])
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    for k, color in enumerate([(222, 150, 84), (206, 128, 62), (188, 108, 48)]):
        ridge = h * (0.42 + 0.18 * k) + h * 0.06 * np.sin(x / w * rng.uniform(4, 8) + rng.uniform(0, 6))
        img = np.where((y > ridge)[..., None], np.float32(color), img)
    return img + _smooth(rng, h, w, 30)[..., None] * 5


def _meadow(rng, h, w):
    line = rng.uniform(0.28, 0.45)
    img = _vertical(h, w, [(0, (110, 175, 240)), (line, (200, 228, 250)), (line + 0.01, (120, 190, 80)), (1, (58, 138, 48))])
    grass = (np.arange(h) / h > line)[:, None]
    return img + (_smooth(rng, h, w, 7) * grass)[..., None] * np.float32([10, 14, 8])


def _night_sky(rng, h, w):
    img = _vertical(h, w, [(0, (8, 10, 38)), (1, (38, 42, 92))])
    for _ in range(rng.integers(35, 60)):
        center = (int(rng.integers(0, w)), int(rng.integers(0, h)))
        cv2.circle(img, center, int(rng.integers(1, 3)), (250.0, 248.0, 220.0), -1, cv2.LINE_AA)
    return img


def _brick_wall(rng, h, w):
    img = np.full((h, w, 3), (205, 196, 186), np.float32)
    bh, bw = int(rng.integers(26, 34)), int(rng.integers(58, 74))
    for row in range(h // bh + 1):
        for col in range(-1, w // bw + 1):
            shade = rng.uniform(0.88, 1.08)
            x0 = col * bw + (row % 2) * bw // 2
            color = tuple(float(c * shade) for c in (168, 76, 58))
            cv2.rectangle(img, (x0 + 2, row * bh + 2), (x0 + bw - 3, row * bh + bh - 3), color, -1)
    return img


def _snowfield(rng, h, w):
    line = rng.uniform(0.3, 0.42)
    img = _vertical(h, w, [(0, (176, 200, 222)), (line, (222, 232, 240)), (line + 0.01, (250, 252, 255)), (1, (226, 236, 246))])
    return img + _smooth(rng, h, w, 50)[..., None] * 5


def _ocean(rng, h, w):
    img = _vertical(h, w, [(0, (40, 140, 205)), (1, (10, 62, 125))])
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    wave = np.sin(y / 9 + 1.6 * np.sin(x / rng.uniform(28, 40) + rng.uniform(0, 6)))
    return img + np.clip(wave, 0.4, 1)[..., None] * 26 - 10


def _wooden_floor(rng, h, w):
    img = np.zeros((h, w, 3), np.float32)
    plank = int(rng.integers(40, 58))
    for k in range(h // plank + 1):
        img[k * plank:(k + 1) * plank] = np.float32([176, 122, 72]) * rng.uniform(0.88, 1.1)
        img[k * plank:k * plank + 2] = (98, 62, 34)
    return img + _smooth(rng, h, w, 24)[..., None] * 5


def _pink_wall(rng, h, w):
    img = _vertical(h, w, [(0, (250, 196, 214)), (1, (240, 160, 190))])
    return img + _smooth(rng, h, w, 90)[..., None] * 4


def _checkered_floor(rng, h, w):
    side = int(rng.integers(44, 62))
    y, x = np.mgrid[0:h, 0:w]
    on = ((x // side) + (y // side)) % 2 == 0
    return np.where(on[..., None], np.float32([232, 232, 226]), np.float32([150, 172, 178])).astype(np.float32)


BACKGROUNDS = {
    "beach": _beach, "desert": _desert, "meadow": _meadow, "night sky": _night_sky, "brick wall": _brick_wall,
    "snowfield": _snowfield, "ocean": _ocean, "wooden floor": _wooden_floor, "pink wall": _pink_wall,
    "checkered floor": _checkered_floor,
}
PLACES = list(BACKGROUNDS)


def background(name: str, seed: int, height: int, width: int) -> np.ndarray:
    """A background by name and seed: float32 [h, w, 3] in about 0..255."""
    rng = np.random.default_rng([seed, 77])
    return BACKGROUNDS[name](rng, height, width) * rng.uniform(0.95, 1.05)


def _grey(img: np.ndarray) -> np.ndarray:
    return (img @ np.float32([0.299, 0.587, 0.114]))[..., None]


def _rainy(img, rng):
    h, w = img.shape[:2]
    out = (0.45 * img + 0.55 * _grey(img)) * np.float32([0.62, 0.68, 0.76]) + 12
    streaks = np.zeros((h, w), np.float32)
    for _ in range(150):
        x, y, n = int(rng.integers(0, w)), int(rng.integers(0, h)), int(rng.integers(14, 30))
        cv2.line(streaks, (x, y), (x - n // 4, y + n), 1.0, 1, cv2.LINE_AA)
    return out + streaks[..., None] * 75


def _snowy(img, rng):
    h, w = img.shape[:2]
    out = (0.6 * img + 0.4 * _grey(img)) * 0.72 + np.float32([62, 66, 72])
    for _ in range(190):
        cv2.circle(out, (int(rng.integers(0, w)), int(rng.integers(0, h))), int(rng.integers(1, 5)), (252.0, 252.0, 255.0), -1, cv2.LINE_AA)
    return out


def _night(img, rng):
    return (0.6 * img + 0.4 * _grey(img)) * np.float32([0.26, 0.3, 0.5]) + np.float32([2, 4, 14])


def _sunset(img, rng):
    h = img.shape[0]
    t = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    glow = np.float32([255, 120, 40]) * (1 - t) + np.float32([150, 40, 90]) * t
    return img * np.float32([0.72, 0.5, 0.42]) + glow * 0.34


def _old_photo(img, rng):
    h, w = img.shape[:2]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    edge = ((x / w - 0.5) ** 2 + (y / h - 0.5) ** 2)[..., None]
    return (_grey(img) * 0.8 + 34) * np.float32([1.06, 0.88, 0.62]) * (1.08 - 0.7 * edge)


def _sketch(img, rng):
    grey = cv2.GaussianBlur(_grey(img)[..., 0], (0, 0), 1.0)
    gx, gy = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    ink = np.clip(np.hypot(gx, gy) / 90, 0, 1)
    paper = 238 + 0.06 * (grey - 128)
    return np.repeat((paper * (1 - 0.85 * ink))[..., None], 3, axis=2)


def _painting(img, rng):
    soft = cv2.medianBlur(np.clip(img, 0, 255).astype(np.uint8), 11).astype(np.float32)
    mean = _grey(soft)
    vivid = np.clip(mean + (soft - mean) * 1.55, 0, 255)
    strokes = _smooth(rng, *img.shape[:2], 5)[..., None] * 12
    return np.round(vivid / 42) * 42 + strokes


STATES = {
    "rainy day": _rainy, "snowy day": _snowy, "night": _night, "sunset": _sunset, "old photo": _old_photo,
    "pencil sketch": _sketch, "oil painting": _painting,
}


def with_state(img: np.ndarray, name: str, strength: float, seed: int) -> np.ndarray:
    """The picture with a whole-picture state at a strength of 0..1."""
    changed = STATES[name](img, np.random.default_rng([seed, 78]))
    return img * (1 - strength) + np.clip(changed, 0, 255) * strength
