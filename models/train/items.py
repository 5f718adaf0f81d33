"""Items with four edits each: what is asked, what four imaginary editors made of it, and the truth about each.

The four roles: `good`; `over_preserved` (hardly changes anything: at most a faint trace of what was asked);
`over_modified` (does what was asked and damages what was not); `misplaced` (puts or sizes things wrongly).
"""

from __future__ import annotations

import dataclasses

import numpy as np

import sprites
from backgrounds import PLACES, STATES
from scene import DAMAGES, SIZES, Scene, Thing, crowding, free_place, random_thing

EDITORS = {"good": "Margit", "over_preserved": "Osric", "over_modified": "Blitz", "misplaced": "Wanda"}
ROLES = list(EDITORS)
KINDS = ["add", "add left", "add right", "add above", "add below", "add inside", "remove", "replace", "color", "texture",
         "bigger", "smaller", "move", "background", "global"]


@dataclasses.dataclass(frozen=True)
class Edit:
    """One edit; `done`, `size_ok` and `position_ok` are the truth in 0..1 that the simulated raters see."""

    role: str
    scene: Scene
    done: float
    size_ok: float
    position_ok: float


@dataclasses.dataclass(frozen=True)
class Item:
    """`target` are the names of the things that the instruction is about (in source or edit)."""

    kind: str
    instruction: str
    parse: dict[str, str]
    source: Scene
    edits: tuple[Edit, ...]
    target: tuple[str, ...]


def article(phrase: str) -> str:
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def parse_of(original: str, edited: str, edit_type: str, being_added="none", added="none", size="none", position="none") -> dict[str, str]:
    return {"original_part": original, "edited_part": edited, "edit_type": edit_type, "being_added": being_added,
            "added_object": added, "size": size, "position": position}


def _pick(rng, options):
    return options[int(rng.integers(0, len(options)))]


def _names(rng, count: int) -> list[str]:
    return [str(n) for n in rng.choice(sprites.NAMES, size=count, replace=False)]


def base_scene(rng, count: int, painted: float = 0.3, twins: float = 0.0) -> Scene:
    """A source picture with up to `count` things of different classes; with probability `twins` one class twice."""
    width, height = _pick(rng, SIZES)
    scene = Scene(width, height, str(_pick(rng, PLACES)), int(rng.integers(0, 2**31)), ())
    names = _names(rng, count)
    if count > 1 and rng.random() < twins:
        names[-1] = names[0]
    for name in names:
        size = float(rng.uniform(75, 165)) * (0.85 if count > 3 else 1.0)
        at = free_place(rng, scene, size, limit=0.18 if rng.random() < 0.25 else 0.03)
        if at:
            scene = scene.with_(things=(*scene.things, random_thing(rng, name, size, *at, painted)))
    return scene


def _damage(rng) -> tuple[tuple[str, float], ...]:
    kinds = [str(k) for k in rng.choice(DAMAGES, size=int(rng.integers(1, 3)), replace=False)]
    return tuple((k, float(rng.uniform(0.55, 1.0))) for k in kinds)


def _over_modified(rng, scene: Scene, keep: set[str]) -> Scene:
    """Damages what the instruction does not name: other things go, turn, change paint; the background changes; tone suffers."""
    things = []
    for thing in scene.things:
        roll = rng.random()
        if thing.name in keep or roll < 0.3:
            things.append(thing)
        elif roll < 0.55:
            things.append(thing.with_(name=_pick(rng, sprites.NAMES), angle=0.0))
        elif roll < 0.8:
            things.append(thing.with_(color=str(_pick(rng, list(sprites.COLORS))), texture=None, mix=1.0))
    scene = scene.with_(things=tuple(things))
    if rng.random() < 0.5:
        scene = scene.with_(place=str(_pick(rng, PLACES)), seed=scene.seed + 5)
        return scene.with_(damage=_damage(rng)[:1]) if rng.random() < 0.5 else scene
    return scene.with_(damage=_damage(rng))


def _four(rng, good: Scene, faint: Scene, faint_done: float, wrong: Scene, wrong_marks: tuple[float, float, float], keep: set[str],
          stated: bool = True) -> tuple[Edit, ...]:
    """The four edits; `wrong_marks` are done, size_ok and position_ok of the misplaced one."""
    left = 1.0 if not stated else max(0.1, faint_done)
    return (
        Edit("good", good, 1.0, 1.0, 1.0),
        Edit("over_preserved", faint, faint_done, left, left),
        Edit("over_modified", _over_modified(rng, good, keep), 0.9, 1.0, 1.0),
        Edit("misplaced", wrong, *wrong_marks),
    )


def _sides(scene: Scene, ref: Thing, size: float, side: str) -> tuple[float, float, float, float]:
    """Where the centre of a thing lies that is on one side of another, along that axis (pixels, centre bounds)."""
    gap = (ref.size + size) * 0.47
    slack = ref.size * 0.22
    return {"left": (0, ref.cy - slack, ref.cx - gap, ref.cy + slack), "right": (ref.cx + gap, ref.cy - slack, scene.width, ref.cy + slack),
            "above": (ref.cx - slack, 0, ref.cx + slack, ref.cy - gap), "below": (ref.cx - slack, ref.cy + gap, ref.cx + slack, scene.height)}[side]


OPPOSITE = {"left": "right", "right": "left", "above": "below", "below": "above"}
WHERE = {"left": ["to the left of", "on the left side of", "left of"], "right": ["to the right of", "on the right side of", "right of"],
         "above": ["above", "over"], "below": ["below", "under", "underneath"], "inside": ["inside", "in"]}


def _faint_thing(rng, thing: Thing) -> tuple[Thing, float]:
    """A thing that is hardly there."""
    level = float(rng.uniform(0.3, 0.45))
    return thing.with_(opacity=level), level


def add(rng, where: str | None) -> Item | None:
    """An addition, without a reference (`where` None), beside one, or inside one."""
    scene = base_scene(rng, int(rng.integers(1, 4)) if where else int(rng.integers(2, 4)))
    if not scene.things:
        return None
    fresh = [n for n in sprites.NAMES if n not in {t.name for t in scene.things}]
    name, size = str(_pick(rng, fresh)), float(rng.uniform(80, 140))
    ref, region = scene.things[0], None
    others = scene.things
    if where == "inside":
        ref = ref.with_(size=float(rng.uniform(190, 240)), cx=scene.width / 2 + float(rng.uniform(-50, 50)), cy=scene.height / 2 + float(rng.uniform(-40, 40)),
                        name=str(_pick(rng, ["house", "bus", "tree", "balloon", "ball", "gift", "clock", "book", "donut"])), angle=0.0)
        if ref.name == name:
            return None
        others = tuple(t for t in scene.things[1:] if crowding(t, ref) < 0.05 and t.name != ref.name)
        scene = scene.with_(things=(ref, *others))
        size = float(rng.uniform(60, 80))
        region = (ref.cx - 22, ref.cy - 12, ref.cx + 22, ref.cy + 28)
    elif where:
        region = _sides(scene, ref, size, where)
        others = scene.things
    at = free_place(rng, scene, size, 0.06, region=region, keep_off=others)
    if at is None:
        return None
    paint = random_thing(rng, name, size, *at, 0.2)
    added = paint.phrase()
    good = scene.with_(things=(*scene.things, paint))
    ghost, level = _faint_thing(rng, paint)
    faint = scene.with_(things=(*scene.things, ghost))
    if where in OPPOSITE:
        bad_region = _sides(scene, ref, size, OPPOSITE[where])
    elif where == "inside":
        bad_region = None
    else:
        bad_region = None
    wrong_size = size * float(_pick(rng, [0.55, 1.7])) if where is None else size * float(rng.uniform(0.9, 1.3))
    bad_at = free_place(rng, scene, wrong_size, 0.1, region=bad_region) or free_place(rng, scene, wrong_size * 0.7, 0.1) if where else at
    if bad_at is None:
        return None
    wrong = scene.with_(things=(*scene.things, paint.with_(size=wrong_size, cx=bad_at[0], cy=bad_at[1], angle=paint.angle + 25)))
    if where is None:
        text = _pick(rng, ["Add {a} to the picture.", "Put {a} in the image", "Could you add {a}?", "Please add {a}.", "I'd like {a} in this photo."])
        text = text.format(a=article(added))
        marks, ref_name = (0.8, 0.1, 0.6), "none"
    else:
        text = _pick(rng, ["Add {a} {w} the {r}.", "Put {a} {w} the {r}", "Could you place {a} {w} the {r}?", "Please add {a} {w} the {r}."])
        text = text.format(a=article(added), w=_pick(rng, WHERE[where]), r=ref.phrase())
        marks, ref_name = (0.7, 0.7, 0.0), ref.phrase()
    parse = parse_of("none", added, "add", ref_name, added, "none", where or "none")
    return Item("add" if where is None else f"add {where}", text, parse, scene, _four(rng, good, faint, level * 0.7, wrong, marks, {name, ref.name}), (name, ref.name))


def _local(rng, paintable: bool, painted: float = 0.25) -> tuple[Scene, int, Thing] | None:
    """A source scene and the thing in it that the instruction will be about."""
    scene = base_scene(rng, int(rng.integers(2, 5)), painted)
    for index, thing in enumerate(scene.things):
        if not paintable or thing.name in sprites.PAINTABLE:
            return scene, index, thing
    return None


def _moved(rng, scene: Scene, index: int, thing: Thing, size: float) -> Thing | None:
    """The thing somewhere else, clearly away from where it was."""
    rest = scene.swap(index)
    for _ in range(12):
        at = free_place(rng, rest, size, 0.15)
        if at and abs(at[0] - thing.cx) + abs(at[1] - thing.cy) > 0.3 * min(scene.width, scene.height):
            return thing.with_(cx=at[0], cy=at[1], size=size)
    return None


def remove(rng) -> Item | None:
    found = _local(rng, False)
    if found is None or len(found[0].things) < 2:
        return None
    scene, index, thing = found
    level = float(rng.uniform(0.7, 0.85))
    moved = _moved(rng, scene, index, thing, thing.size * 0.7)
    if moved is None:
        return None
    text = _pick(rng, ["Remove the {o}.", "Please get rid of the {o}", "Could you erase the {o}?", "Delete the {o} from the picture.", "Take the {o} out of the image."])
    parse = parse_of(thing.phrase(), "none", "remove")
    return Item("remove", text.format(o=thing.phrase()), parse, scene, _four(
        rng, scene.swap(index), scene.swap(index, thing.with_(opacity=level)), 0.15, scene.swap(index, moved), (0.3, 0.5, 0.2), {thing.name}), (thing.name,))


def replace(rng) -> Item | None:
    found = _local(rng, False)
    if found is None:
        return None
    scene, index, thing = found
    fresh = [n for n in sprites.NAMES if n not in {t.name for t in scene.things}]
    new = Thing(str(_pick(rng, fresh)), thing.cx, thing.cy, thing.size, 0.0, thing.flip)
    level = float(rng.uniform(0.35, 0.45))
    moved = _moved(rng, scene, index, new, thing.size * float(_pick(rng, [0.6, 1.3])))
    if moved is None:
        return None
    text = _pick(rng, ["Replace the {o} with {n}.", "Turn the {o} into {n}", "Change the {o} to {n}.", "Could you swap the {o} for {n}?", "Can the {o} be replaced by {n}?"])
    parse = parse_of(thing.phrase(), new.name, "replace", size="unchanged", position="unchanged")
    return Item("replace", text.format(o=thing.phrase(), n=article(new.name)), parse, scene, _four(
        rng, scene.swap(index, new), scene.swap(index, thing.with_(opacity=0.85), new.with_(opacity=level)), level * 0.6, scene.swap(index, moved),
        (0.8, 0.1, 0.0), {thing.name, new.name}, stated=False), (thing.name, new.name))


def paint(rng, texture: bool) -> Item | None:
    found = _local(rng, True)
    if found is None:
        return None
    scene, index, thing = found
    if texture:
        word = str(_pick(rng, sprites.TEXTURES))
        new = thing.with_(color=None, texture=word, mix=1.0)
        texts = ["Make the {o} {w}.", "Can you make the {o} look {w}?", "Turn the {o} {w}", "I want the {o} to be {w}."]
    else:
        word = str(_pick(rng, [c for c in sprites.COLORS if c != thing.color]))
        new = thing.with_(color=word, texture=None, mix=1.0)
        texts = ["Could you paint the {o} {w}?", "Make the {o} {w}.", "Change the color of the {o} to {w}.", "Turn the {o} {w}", "The {o} should be {w}.", "Recolor the {o} {w}"]
    if word in (thing.color, thing.texture):
        return None
    level = float(rng.uniform(0.12, 0.3))
    faint = thing.with_(color=new.color, texture=new.texture, mix=level) if thing.phrase() == thing.name else thing.with_(mix=1 - level)
    moved = _moved(rng, scene, index, new, thing.size * float(_pick(rng, [0.6, 1.35])))
    if moved is None:
        return None
    parse = parse_of(thing.phrase(), f"{word} {thing.name}", "change texture" if texture else "change color", size="unchanged", position="unchanged")
    return Item("texture" if texture else "color", _pick(rng, texts).format(o=thing.phrase(), w=word), parse, scene, _four(
        rng, scene.swap(index, new), scene.swap(index, faint), level, scene.swap(index, moved), (0.9, 0.1, 0.0), {thing.name}, stated=False), (thing.name,))


def resize(rng, bigger: bool) -> Item | None:
    found = _local(rng, False, 0.15)
    if found is None:
        return None
    scene, index, thing = found
    factor = float(rng.uniform(1.4, 1.65)) if bigger else float(rng.uniform(0.5, 0.66))
    size = thing.size * factor
    rest = scene.swap(index)
    if not 48 <= size <= 250:
        return None
    cx = float(np.clip(thing.cx, size * 0.48, scene.width - size * 0.48))
    cy = float(np.clip(thing.cy, size * 0.48, scene.height - size * 0.48))
    new = thing.with_(size=size, cx=cx, cy=cy)
    if any(crowding(new, o) > 0.12 for o in rest.things) or abs(cx - thing.cx) + abs(cy - thing.cy) > 22:
        return None
    opposite = thing.with_(size=float(np.clip(thing.size / factor, 45, 240)), cx=cx, cy=cy)
    if any(crowding(opposite, o) > 0.25 for o in rest.things):
        return None
    word = "bigger" if bigger else "smaller"
    texts = ["Make the {o} {w}.", "Could you make the {o} {w}?", "Enlarge the {o}" if bigger else "Shrink the {o}", "The {o} should be {w}."]
    parse = parse_of(thing.phrase(), f"{word} {thing.phrase()}", "change size", size=word, position="unchanged")
    faint = thing.with_(size=thing.size * (1.03 if bigger else 0.97))
    return Item(word, _pick(rng, texts).format(o=thing.phrase(), w=word), parse, scene, _four(
        rng, scene.swap(index, new), scene.swap(index, faint), 0.1, scene.swap(index, opposite), (0.2, 0.0, 0.9), {thing.name}), (thing.name,))


def move(rng) -> Item | None:
    found = _local(rng, False, 0.15)
    if found is None:
        return None
    scene, index, thing = found
    side = str(_pick(rng, list(OPPOSITE)))
    step = float(rng.uniform(1.05, 1.4)) * thing.size
    dx, dy = {"left": (-step, 0), "right": (step, 0), "above": (0, -step), "below": (0, step)}[side]
    new, wrong = thing.with_(cx=thing.cx + dx, cy=thing.cy + dy), thing.with_(cx=thing.cx - 0.45 * dx + 0.5 * dy, cy=thing.cy - 0.45 * dy + 0.5 * dx)
    rest = scene.swap(index)
    for t in (new, wrong):
        half = t.size * 0.45
        if not (half < t.cx < scene.width - half and half < t.cy < scene.height - half) or any(crowding(t, o) > 0.1 for o in rest.things):
            return None
    words = {"left": "to the left", "right": "to the right", "above": "up", "below": "down"}[side]
    text = _pick(rng, ["Move the {o} {w}.", "Shift the {o} {w}", "Could you move the {o} {w}?"]).format(o=thing.phrase(), w=words)
    parse = parse_of(thing.phrase(), thing.phrase(), "other", size="unchanged", position=side)
    return Item("move", text, parse, scene, _four(rng, scene.swap(index, new), scene.swap(index, thing.with_(cx=thing.cx + dx * 0.06, cy=thing.cy + dy * 0.06)), 0.1,
                                                  scene.swap(index, wrong), (0.2, 1.0, 0.0), {thing.name}), (thing.name,))


def change_background(rng) -> Item | None:
    scene = base_scene(rng, int(rng.integers(2, 4)))
    place = str(_pick(rng, [p for p in PLACES if p != scene.place]))
    if not scene.things:
        return None
    good = scene.with_(place2=place, blend=1.0)
    faint = scene.with_(place2=place, blend=float(rng.uniform(0.08, 0.16)))
    damaged = tuple(t.with_(color=str(_pick(rng, list(sprites.COLORS))), texture=None) if rng.random() < 0.6 else t.with_(name=str(_pick(rng, sprites.NAMES)))
                    for t in scene.things)
    wrong = good.with_(things=tuple(t.with_(size=t.size * 0.6, cx=scene.width - t.cx, cy=scene.height - t.cy) for t in scene.things))
    text = _pick(rng, ["Change the background to {p}.", "Replace the background with {p}", "Make the background {p}.", "Could you change the background to {p}?"])
    parse = parse_of("background", place, "replace", size="unchanged", position="unchanged")
    return Item("background", text.format(p=article(place)), parse, scene, (
        Edit("good", good, 1.0, 1.0, 1.0), Edit("over_preserved", faint, 0.12, 1.0, 1.0),
        Edit("over_modified", good.with_(things=damaged), 0.9, 1.0, 1.0), Edit("misplaced", wrong, 0.9, 0.2, 0.1)), ("background",))


GLOBAL_TEXTS = {
    "rainy day": ["Make it a rainy day.", "Turn this into a rainy day", "Could you make it a rainy day?"],
    "snowy day": ["Make it a snowy day.", "Turn this into a snowy day", "Could it be a snowy day?"],
    "night": ["Make it night.", "Turn day into night", "Change the scene to night."],
    "sunset": ["Make it a sunset.", "Change the scene to sunset", "Turn the picture into a sunset scene."],
    "old photo": ["Make it look like an old photo.", "Turn the picture into an old photo", "Give it the look of an old photo."],
    "pencil sketch": ["Turn the picture into a pencil sketch.", "Make it a pencil sketch", "Make it look like a pencil sketch."],
    "oil painting": ["Turn the picture into an oil painting.", "Make it an oil painting", "Make it look like an oil painting."],
}


def change_all(rng) -> Item | None:
    scene = base_scene(rng, int(rng.integers(2, 5)))
    if not scene.things:
        return None
    state = str(_pick(rng, list(STATES)))
    good = scene.with_(state=state, strength=float(rng.uniform(0.9, 1.0)))
    faint = scene.with_(state=state, strength=float(rng.uniform(0.1, 0.22)))
    over = _over_modified(rng, good.with_(strength=0.75), set())
    wrong = good.with_(strength=0.7, things=tuple(t.with_(size=t.size * 0.6, cx=scene.width - t.cx) for t in scene.things))
    text = _pick(rng, GLOBAL_TEXTS[state])
    return Item("global", text, parse_of("all", "all", "other"), scene, (
        Edit("good", good, 1.0, 1.0, 1.0), Edit("over_preserved", faint, 0.15, 1.0, 1.0),
        Edit("over_modified", over, 0.7, 0.8, 0.8), Edit("misplaced", wrong, 0.6, 0.2, 0.2)), (state,))


def make(kind: str, rng) -> Item:
    """An item of a kind; draws again until the scene has room for it."""
    for _ in range(500):
        if kind.startswith("add"):
            item = add(rng, kind[4:] or None)
        else:
            item = {"remove": remove, "replace": replace, "color": lambda r: paint(r, False), "texture": lambda r: paint(r, True),
                    "bigger": lambda r: resize(r, True), "smaller": lambda r: resize(r, False), "move": move,
                    "background": change_background, "global": change_all}[kind](rng)
        if item is not None:
            return item
    raise RuntimeError(f"no room for an item of kind {kind} in 500 tries")
