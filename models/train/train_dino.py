"""Trains the demo Grounding DINO on rendered scenes, with transformers' own forward pass.

Two losses. Dense, on the two-stage proposals: every cell in the middle of a thing must score on the tokens of its phrase
and give its box (many cells per thing, so it learns fast). One-to-one, on each decoder layer: Hungarian matching, which
teaches the decoder to keep one box per thing. A phrase's tokens and its full stop are right together; [CLS] and [SEP] are
always wrong, because the metric takes the largest score over all tokens. Prompts hold one phrase, as in the metric, or up
to three. A thing of the right class in another colour is left out of the loss unless the right one is there too.

Before that, and with it, the image features are taught to name what stands under them (aux_names.py): one phrase a picture says
too little to learn 40 classes in an hour on two cores.
"""

from __future__ import annotations

import argparse
import pathlib

import cv2
import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torchvision.ops import box_iou, generalized_box_iou

import nets
import sprites
from aux_names import Namer
from backgrounds import PLACES
from cache import Store
from training import Average, Clock, adamw, prefetched, set_rate

STOP = 1012
ABSENT = 0.42  # share of phrases that name a class that is not in the picture


def net_size(width: int, height: int) -> tuple[int, int]:
    """Width and height of the network's input for a picture (shorter side fixed, other side truncated)."""
    short, long = min(width, height), max(width, height)
    other = int(nets.DINO_SHORT * long / short)
    return (nets.DINO_SHORT, other) if width < height else (other, nets.DINO_SHORT)


def matches(thing: dict, words: list[str]) -> str:
    """Whether a thing is what a phrase names: yes, no, or unsure (right class, wrong or faint colour or texture; hardly visible)."""
    if thing["name"] not in words:
        return "no"
    if thing["opacity"] < 0.28:
        return "unsure"
    clear = thing["mix"] >= 0.7
    has = {w for w in (thing["color"], thing["texture"]) if w and clear}
    wanted = {w for w in words if w in sprites.COLORS or w in sprites.TEXTURES}
    return "yes" if wanted <= has else "unsure"


def draw_phrase(rng: np.random.Generator, meta: dict) -> tuple[str, list[list[float]], list[list[float]]] | None:
    """A phrase with the boxes it names and the boxes that do not count either way."""
    whole = [0.0, 0.0, 1.0, 1.0]
    roll, things = rng.random(), meta["things"]
    if roll < 0.10:
        if rng.random() < 0.4:
            return "background", [whole], []
        if meta["place"] is None or meta["state"] or meta["damaged"]:
            return None
        name = meta["place"] if rng.random() < 0.5 else str(rng.choice(PLACES))
        return name, [whole] if name == meta["place"] else [], []
    if roll < 0.10 + ABSENT or not things:
        there = {t["name"] for t in things}
        name = str(rng.choice([n for n in sprites.NAMES if n not in there]))
        words = [name]
        if rng.random() < 0.3:
            words.insert(0, str(rng.choice(list(sprites.COLORS) + sprites.TEXTURES)))
    else:
        thing = things[int(rng.integers(0, len(things)))]
        words = [thing["name"]]
        own = [w for w in (thing["color"], thing["texture"]) if w and thing["mix"] >= 0.7]
        if own and rng.random() < 0.6:
            words = [*own, thing["name"]]
        elif rng.random() < 0.1:
            words.insert(0, str(rng.choice(list(sprites.COLORS) + sprites.TEXTURES)))
        if rng.random() < 0.12:
            words.insert(0, str(rng.choice(["bigger", "smaller", "small", "large", "tiny", "huge", "big"])))
    verdicts = [matches(t, words) for t in things]
    right = [t["box"] for t, v in zip(things, verdicts) if v == "yes"]
    unsure = [t["box"] for t, v in zip(things, verdicts) if v == "unsure"]
    attribute = any(w in sprites.COLORS or w in sprites.TEXTURES for w in words)
    if right and attribute:
        unsure = [t["box"] for t, v in zip(things, verdicts) if v == "unsure" and (t["mix"] < 0.7 or t["opacity"] < 0.28)]
    return " ".join(words), right, unsure


class Pictures:
    """Batches of one size with prompts and boxes."""

    def __init__(self, root: str):
        self.store = Store(root).sizes
        self.sizes = list(self.store)
        counts = np.array([sum(len(m) for _, _, m in self.store[s]) for s in self.sizes], float)
        self.share = counts / counts.sum()

    def batch(self, rng: np.random.Generator, count: int, phrases: int | None = None, plain: bool = False, zoom: float = 0.7):
        size = self.sizes[int(rng.choice(len(self.sizes), p=self.share))]
        width, height = net_size(*map(int, size.split("x")))
        images, prompts, targets, every = np.empty((count, height, width, 3), np.uint8), [], [], []
        for place in range(count):
            pictures, _, metas = self.store[size][int(rng.integers(0, len(self.store[size])))]
            number = int(rng.integers(0, len(metas)))
            meta, picture = metas[number], np.asarray(pictures[number])
            drawn: list = []
            wanted = phrases or int(rng.choice([1, 2, 3], p=[0.6, 0.2, 0.2]))
            while len(drawn) < wanted:
                phrase = draw_phrase(rng, meta)
                if phrase and phrase[0].split()[-1] not in [d[0].split()[-1] for d in drawn]:
                    drawn.append(phrase)
            window = (0.0, 0.0, 1.0)
            whole = any(b == [0.0, 0.0, 1.0, 1.0] for d in drawn for b in d[1])
            if not plain and not whole and rng.random() < 0.6:
                side = float(rng.uniform(zoom, 1.0))
                window = (float(rng.uniform(0, 1 - side)), float(rng.uniform(0, 1 - side)), side)
            flip = not plain and rng.random() < 0.5
            images[place] = shot(picture, window, flip, width, height)
            prompts.append(" ".join(d[0] + " ." for d in drawn))
            targets.append([(seen(d[1], window, flip), seen(d[2], window, flip)) for d in drawn])
            every.append([(box[0], t) for t in meta["things"] if (box := seen([t["box"]], window, flip))])
        return images, prompts, targets, every


def shot(picture: np.ndarray, window: tuple[float, float, float], flip: bool, width: int, height: int) -> np.ndarray:
    """A window (relative x, y, side) of a picture at the network's size, possibly mirrored."""
    h, w = picture.shape[:2]
    x0, y0 = int(window[0] * w), int(window[1] * h)
    part = picture[y0:y0 + max(8, int(window[2] * h)), x0:x0 + max(8, int(window[2] * w))]
    out = cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA if part.shape[0] > height else cv2.INTER_LINEAR)
    return out[:, ::-1] if flip else out


def seen(boxes: list[list[float]], window: tuple[float, float, float], flip: bool) -> list[list[float]]:
    """Boxes in the window's relative coordinates, cut at its rim."""
    out = []
    for x0, y0, x1, y1 in boxes:
        a = [(x0 - window[0]) / window[2], (y0 - window[1]) / window[2], (x1 - window[0]) / window[2], (y1 - window[1]) / window[2]]
        a = [float(np.clip(v, 0, 1)) for v in a]
        if a[2] - a[0] < 0.03 or a[3] - a[1] < 0.03:
            continue
        out.append([1 - a[2], a[1], 1 - a[0], a[3]] if flip else a)
    return out


def to_net(images: np.ndarray, rng: np.random.Generator | None = None) -> torch.Tensor:
    """Normalised pixels [n, 3, h, w], with small random gain and grain when a generator is given."""
    x = torch.from_numpy(images).float() / 255
    if rng is not None:
        x = x * torch.from_numpy(rng.uniform(0.85, 1.1, (len(images), 1, 1, 3))).float() + torch.randn_like(x) * 0.012
    return ((x - torch.tensor(nets.MEAN)) / torch.tensor(nets.DEVIATION)).permute(0, 3, 1, 2)


def phrase_columns(ids: list[int]) -> list[int]:
    """Per token the number of its phrase; -1 for [CLS], [SEP] and padding."""
    columns, phrase = [], 0
    for token in ids:
        columns.append(-1 if token in (0, 101, 102) else phrase)
        phrase += token == STOP
    return columns


def centred(boxes: torch.Tensor) -> torch.Tensor:
    return torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)


def corners(boxes: torch.Tensor) -> torch.Tensor:
    return torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def focal(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor, alpha: float = 0.2) -> torch.Tensor:
    """Summed focal loss (gamma 2) with a weight per entry."""
    p = logits.sigmoid()
    ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    hit = p * target + (1 - p) * (1 - target)
    return ((alpha * target + (1 - alpha) * (1 - target)) * (1 - hit) ** 2 * ce * weight).sum()


def box_loss(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Summed L1 and GIoU loss of matched boxes, both as centre and size."""
    giou = generalized_box_iou(corners(found), corners(wanted)).diagonal()
    return 5 * (found - wanted).abs().sum() + 2 * (1 - giou).sum()


def heads(model, out):
    """Logits over the tokens and boxes of each decoder layer, as GroundingDinoForObjectDetection computes them."""
    for level in range(model.config.decoder_layers):
        reference = out.init_reference_points if level == 0 else out.intermediate_reference_points[:, level - 1]
        hidden = out.intermediate_hidden_states[:, level]
        yield hidden, (model.bbox_embed[level](hidden) + torch.special.logit(reference, eps=1e-5)).sigmoid()


def grid(width: int, height: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cell centres (relative) and level of every encoder cell, in the encoder's order."""
    places, levels = [], []
    w, h = -(-width // 4), -(-height // 4)
    for level in range(4):
        w, h = -(-w // 2), -(-h // 2)
        y, x = torch.meshgrid((torch.arange(h) + 0.5) / h, (torch.arange(w) + 0.5) / w, indexing="ij")
        places.append(torch.stack([x.flatten(), y.flatten()], 1))
        levels.append(torch.full((h * w,), level))
    return torch.cat(places), torch.cat(levels)


def dense_targets(places: torch.Tensor, levels: torch.Tensor, boxes: torch.Tensor, width: int, height: int) -> torch.Tensor:
    """Per cell the index of the box it must find, or -1: cells in the middle of a box, on the level of the box's size."""
    owner = torch.full((len(places),), -1)
    for index in torch.argsort(-(boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).tolist():
        x0, y0, x1, y1 = boxes[index].tolist()
        side = max((x1 - x0) * width, (y1 - y0) * height)
        level = 0 if side < 26 else 1 if side < 72 else 2 if side < 145 else 3
        cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
        reach = 0.22
        inside = ((places[:, 0] - cx).abs() < reach * (x1 - x0)) & ((places[:, 1] - cy).abs() < reach * (y1 - y0)) & (levels == level)
        if not inside.any():
            gap = (places - torch.tensor([cx, cy])).abs().sum(1) + (levels != level) * 10
            inside = torch.arange(len(places)) == gap.argmin()
        owner[inside] = index
    return owner


def in_any(points: torch.Tensor, boxes: list[list[float]]) -> torch.Tensor:
    hit = torch.zeros(len(points), dtype=torch.bool)
    for x0, y0, x1, y1 in boxes:
        hit |= (points[:, 0] > x0) & (points[:, 0] < x1) & (points[:, 1] > y0) & (points[:, 1] < y1)
    return hit


def naming_targets(every, width: int, height: int):
    """Places and levels of the cells and, per picture, the owner of each cell and whether it lies in some box."""
    places, levels = grid(width, height)
    owners, inside = [], []
    for things in every:
        boxes = torch.tensor([b for b, _ in things]).reshape(-1, 4)
        owners.append(dense_targets(places, levels, boxes, width, height) if len(boxes) else torch.full((len(places),), -1))
        inside.append(in_any(places, boxes.tolist()))
    return torch.stack(owners), torch.stack(inside)


def warm_loss(model, namer, tok, images, every, rng) -> torch.Tensor:
    """Naming only: backbone and projections, no encoder."""
    pixels = to_net(images, rng)
    features = model.model.backbone(pixels, torch.ones(pixels.shape[0], *pixels.shape[2:], dtype=torch.long))[0]
    maps = [model.model.input_proj_vision[k](f) for k, (f, _) in enumerate(features)]
    maps.append(model.model.input_proj_vision[3](features[-1][0]))
    return namer.loss(model, tok, maps, every, *naming_targets(every, images.shape[2], images.shape[1]))


def loss_of(model, namer, tok, images, prompts, targets, every, rng):
    ids, mask = nets.dino_tokens(tok, prompts)
    namer.maps.clear()
    out = model.model(pixel_values=to_net(images, rng), input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids), return_dict=True)
    text, tokens = out.encoder_last_hidden_state_text, ids.shape[1]
    height, width = images.shape[1:3]
    places, levels = grid(width, height)
    dense = out.enc_outputs_class[..., :tokens].clone()
    found_dense = out.enc_outputs_coord_logits
    layers = [((hidden @ text.transpose(1, 2)), boxes) for hidden, boxes in heads(model, out)]
    total, count = torch.zeros(()), 0
    for n, phrases in enumerate(targets):
        columns = torch.tensor(phrase_columns(ids[n].tolist()))
        live = mask[n].bool()
        boxes = torch.tensor([b for right, _ in phrases for b in right]).reshape(-1, 4)
        owner_phrase = torch.tensor([k for k, (right, _) in enumerate(phrases) for _ in right], dtype=torch.long)
        hot = (columns[None, :] == owner_phrase[:, None]).float()
        count += len(boxes)
        owner = dense_targets(places, levels, boxes, width, height) if len(boxes) else torch.full((len(places),), -1)
        target = torch.zeros(len(places), tokens)
        target[owner >= 0] = hot[owner[owner >= 0]]
        weight = torch.ones(len(places), tokens)
        for k, (_, unsure) in enumerate(phrases):
            if unsure:
                weight[in_any(places, unsure)[:, None] & (columns == k)[None, :]] = 0
        weight[target > 0] = 1
        valid = torch.isfinite(found_dense[n]).all(1) & torch.isfinite(dense[n][:, 0])
        weight[~valid] = 0
        positives = max(1, int((owner >= 0).sum()))
        total = total + focal(dense[n][:, live], target[:, live], weight[:, live]) / positives * max(1, len(boxes))
        pick = (owner >= 0) & valid
        if pick.any():
            total = total + box_loss(found_dense[n][pick].sigmoid(), centred(boxes)[owner[pick]]) / int(pick.sum()) * len(boxes)
        for logits, found in layers:
            total = total + matched_loss(logits[n][:, live], found[n], boxes, hot[:, live], columns[live], phrases)
    naming = namer.loss(model, tok, namer.maps, every, *naming_targets(every, width, height))
    return total / max(1, count) + 0.7 * naming


def matched_loss(logits, found, boxes, hot, columns, phrases) -> torch.Tensor:
    """One decoder layer of one picture: Hungarian matching, then classification of all queries and boxes of the matched."""
    target, weight = torch.zeros_like(logits), torch.ones_like(logits)
    with torch.no_grad():
        for k, (_, unsure) in enumerate(phrases):
            if unsure:
                close = (box_iou(corners(found), torch.tensor(unsure)) > 0.4).any(1)
                weight[close[:, None] & (columns == k)[None, :]] = 0
    loss = torch.zeros(())
    if len(boxes):
        wanted = centred(boxes)
        with torch.no_grad():
            p = logits.sigmoid() @ (hot / hot.sum(1, keepdim=True)).T
            cost = -2 * p + 5 * torch.cdist(found, wanted, p=1) - 2 * generalized_box_iou(corners(found), boxes)
            rows, cols = linear_sum_assignment(torch.nan_to_num(cost, 1e3).numpy())
        target[rows] = hot[cols]
        weight[rows] = 1
        loss = loss + box_loss(found[rows], wanted[cols])
    return loss + 2 * focal(logits, target, weight)


@torch.no_grad()
def validate(model, tok, data: Pictures, rounds: int = 14) -> str:
    """Recall at IoU 0.5 of named things (all / with colour or texture / faint) and share of absent phrases found, one phrase a prompt."""
    rng = np.random.default_rng(5)
    hits = {"plain": [], "painted": [], "background": []}
    false, extra = [], []
    for _ in range(rounds):
        images, prompts, targets, _ = data.batch(rng, 24, phrases=1, plain=True)
        ids, mask = nets.dino_tokens(tok, prompts)
        out = model(pixel_values=to_net(images), input_ids=ids, attention_mask=mask)
        score = out.logits[..., : ids.shape[1]].sigmoid().amax(-1)
        for n, ((right, unsure),) in enumerate(targets):
            kept = corners(out.pred_boxes[n][score[n] > 0.3])
            if right:
                iou = box_iou(kept, torch.tensor(right)) if len(kept) else torch.zeros(1, len(right))
                group = "background" if right[0] == [0, 0, 1, 1] else "painted" if any(w in prompts[n].split() for w in [*sprites.COLORS, *sprites.TEXTURES]) else "plain"
                hits[group] += (iou.amax(0) >= 0.5).tolist()
                extra.append(len(kept) / len(right))
            elif not unsure:
                false.append(len(kept) > 0)
    parts = " ".join(f"{k} {np.mean(v) if v else float('nan'):.3f}" for k, v in hits.items())
    return f"found {parts} | absent found {np.mean(false):.3f} | boxes per thing {np.mean(extra):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", required=True)
    parser.add_argument("--val", required=True)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--warm", type=float, default=7, help="minutes of naming alone before the detector's own losses")
    parser.add_argument("--warm-rate", type=float, default=2e-3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--every", type=int, default=200)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=nets.DEMO)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(13)
    rng = np.random.default_rng(13)
    model, tok = nets.load("grounding-dino", given.out) if given.resume else nets.fresh("grounding-dino")
    train, val = Pictures(given.train), Pictures(given.val)
    namer = Namer(model)
    if given.resume and (given.out / "namer.pt").exists():
        namer.load_state_dict(torch.load(given.out / "namer.pt"))
    optimizer = adamw(torch.nn.ModuleList([model, namer]))
    warm = Clock(given.warm, given.warm_rate)
    batches = prefetched(lambda r: train.batch(r, given.batch, phrases=1, zoom=0.4), 14, workers=2, depth=6) if given.warm else None
    step, total = 0, 0.0
    while given.warm and not warm.done():
        set_rate(optimizer, warm.peak * min(1, (step + 1) / 50))
        images, _, _, every = next(batches)
        loss = warm_loss(model, namer, tok, images, every, rng)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        step, total = step + 1, total + loss.item()
        if step % 50 == 0:
            print(f"dino warm step {step} part {warm.part():.2f} loss {total / 50:.3f} {namer.report()}", flush=True)
            total = 0.0
    if given.warm:
        nets.save("grounding-dino", model, tok, given.out)
        torch.save(namer.state_dict(), given.out / "namer.pt")
    batches = prefetched(lambda r: train.batch(r, given.batch), 13, workers=2, depth=6)
    clock, average = Clock(given.minutes, given.rate), Average(model)
    step, total = 0, 0.0
    while not clock.done():
        model.train()
        set_rate(optimizer, clock.rate())
        loss = loss_of(model, namer, tok, *next(batches), rng)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        average.update(model)
        step, total = step + 1, total + loss.item()
        if step % 50 == 0:
            print(f"dino step {step} part {clock.part():.2f} loss {total / 50:.3f} named right {namer.right:.3f}", flush=True)
            total = 0.0
        if step % given.every == 0:
            print(f"dino step {step} {validate(average.model, tok, val)}", flush=True)
            nets.save("grounding-dino", average.model, tok, given.out)
    print("dino end", step, validate(average.model, tok, val, 30), flush=True)
    nets.save("grounding-dino", average.model, tok, given.out)


if __name__ == "__main__":
    main()
