"""Trains the demo CLIP: captions of crops, and the direction from a source crop to an edited crop.

Losses: (1) contrast between crops and phrases, phrases that are equal count as equal; (2) the metric's own quantity,
cos(I(edit) - I(source), T(edited) - T(original)) with unnormalised features: high for good edits, also against the text
directions of the other items, low for edits that hardly change anything, middling for damaged or misplaced ones;
(3) for whole-picture edits the cosine of the edited picture and the instruction. So the demo network is taught on the same
kinds of edits that the demo shows (other seeds): it shows how the metric works, it is no evidence for the metric.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

import nets
from cache import Store
from training import Average, Clock, adamw, set_rate

# What the cosine of an edit may be at most, by role: good is pushed to 1 instead.
CEILING = {1: 0.0, 2: 0.45, 3: 0.45}


class Pairs:
    """Crops and texts of all items."""

    def __init__(self, root: str):
        store = Store(root)
        self.crops = [c for c, _ in store.crops]
        self.where = [(k, n) for k, (_, pairs) in enumerate(store.crops) for n in range(len(pairs))]
        self.pairs = [p for _, pairs in store.crops for p in pairs]

    def batch(self, rng: np.random.Generator, size: int):
        chosen = rng.integers(0, len(self.where), size)
        bad = rng.choice([1, 2, 3], size=size, p=[0.5, 0.3, 0.2])
        rows = np.empty((size, 4, *self.crops[0].shape[4:]), np.uint8)
        for place, pick in enumerate(chosen):
            part, number = self.where[pick]
            variant = rng.integers(0, self.crops[part].shape[1])
            rows[place, :2] = self.crops[part][number, variant, 0]
            rows[place, 2:] = self.crops[part][number, variant, bad[place]]
            if rng.random() < 0.5:
                rows[place] = rows[place, :, :, ::-1]
        return rows, [self.pairs[k] for k in chosen], torch.tensor(bad)


def pixels(rows: np.ndarray, rng: np.random.Generator | None = None) -> torch.Tensor:
    """Normalised pixels [n, 3, side, side]; with a generator also small shared changes of shift, gain and blur per row."""
    x = torch.from_numpy(rows).float() / 255
    if rng is not None:
        dx, dy = rng.integers(-2, 3, 2)
        x = torch.roll(x, (int(dy), int(dx)), dims=(-3, -2))
        x = x * torch.from_numpy(rng.uniform(0.92, 1.06, (len(rows), 1, 1, 1, 1))).float()
    x = (x - torch.tensor(nets.CLIP_MEAN)) / torch.tensor(nets.CLIP_DEVIATION)
    return x.flatten(0, -4).permute(0, 3, 1, 2)


def texts_of(pair: dict) -> tuple[str, str]:
    """The phrases of source and edit; for whole-picture edits the edit's is the instruction. `none` means no text."""
    if pair["kind"] == "global":
        return "none", pair["instruction"].lower()
    return pair["parse"]["original_part"], pair["parse"]["edited_part"]


def directions(model, tok, pairs: list[dict]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[tuple[str, str]]]:
    """Text directions [n, d], features of the source phrase and of the edited phrase (zero where there is none), and the texts."""
    texts = [texts_of(p) for p in pairs]
    unique = list(dict.fromkeys(t for pair in texts for t in pair if t != "none"))
    ids, mask = nets.clip_tokens(tok, unique)
    features = model.get_text_features(input_ids=ids, attention_mask=mask)
    zero = torch.zeros_like(features[0])
    table = dict(zip(unique, features))
    source, edit = (torch.stack([table.get(pair[k], zero) for pair in texts]) for k in (0, 1))
    return edit - source, source, edit, texts


def same(labels: list) -> torch.Tensor:
    return torch.tensor([[a == b for b in labels] for a in labels])


def contrast(logits: torch.Tensor, equal: torch.Tensor) -> torch.Tensor:
    """Cross entropy where several columns may be right."""
    target = equal.float() / equal.sum(1, keepdim=True)
    return -(target * F.log_softmax(logits, 1)).sum(1).mean()


def loss_of(model, tok, rows, pairs, bad, rng) -> torch.Tensor:
    n = len(pairs)
    image = model.get_image_features(pixel_values=pixels(rows, rng)).view(n, 4, -1)
    direction, source_text, edit_text, texts = directions(model, tok, pairs)
    is_global = torch.tensor([p["kind"] == "global" for p in pairs])
    good_change = torch.where(is_global[:, None], image[:, 1], image[:, 1] - image[:, 0])
    bad_change = torch.where(is_global[:, None], image[:, 3], image[:, 3] - image[:, 2])
    good, other = F.cosine_similarity(good_change, direction), F.cosine_similarity(bad_change, direction)
    ceiling = torch.tensor([CEILING[int(b)] for b in bad])
    direct = (1 - good).mean() + 1.5 * F.relu(other - ceiling).mean() + F.relu(0.45 - good + other).mean()
    scale = model.logit_scale.exp().clamp(max=50)
    across = F.normalize(good_change, dim=1) @ F.normalize(direction, dim=1).T
    direct = direct + 0.5 * contrast(across * 12, same(texts))
    crops = torch.cat([image[:, 0], image[:, 1]])
    captions = torch.cat([source_text, edit_text])
    labels = [t[0] for t in texts] + [t[1] for t in texts]
    use = torch.tensor([label not in ("none", "background") for label in labels])
    labels = [label for label, u in zip(labels, use.tolist()) if u]
    likeness = F.normalize(crops[use], dim=1) @ F.normalize(captions[use], dim=1).T * scale
    equal = same(labels)
    return direct + 0.5 * (contrast(likeness, equal) + contrast(likeness.T, equal))


@torch.no_grad()
def validate(model, tok, data: Pairs) -> str:
    """Share of items where the good edit has the larger modify part, by role of the other; and mean cosines."""
    cosines = []
    for start in range(0, len(data.where), 50):
        chosen = range(start, min(start + 50, len(data.where)))
        rows = np.stack([data.crops[data.where[k][0]][data.where[k][1], 0] for k in chosen])
        pairs = [data.pairs[k] for k in chosen]
        image = model.get_image_features(pixel_values=pixels(rows)).view(len(pairs), 4, 2, -1)
        direction = directions(model, tok, pairs)[0]
        is_global = torch.tensor([p["kind"] == "global" for p in pairs])[:, None, None]
        change = torch.where(is_global, image[:, :, 1], image[:, :, 1] - image[:, :, 0])
        cosines.append(F.cosine_similarity(change, direction[:, None], dim=-1))
    cosine = torch.cat(cosines)
    means = " ".join(f"{v:.2f}" for v in cosine.mean(0).tolist())
    wins = " ".join(f"{v:.2f}" for v in (cosine[:, :1] > cosine[:, 1:]).float().mean(0).tolist())
    return f"cos by role {means}  good wins {wins}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", required=True)
    parser.add_argument("--val", required=True)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--resume", action="store_true", help="go on from the saved checkpoint")
    parser.add_argument("--out", type=pathlib.Path, default=nets.DEMO)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    model, tok = nets.load("clip", given.out) if given.resume else nets.fresh("clip")
    train, val = Pairs(given.train), Pairs(given.val)
    optimizer, clock, average = adamw(model), Clock(given.minutes, given.rate), Average(model)
    step, total = 0, 0.0
    while not clock.done():
        model.train()
        set_rate(optimizer, clock.rate())
        loss = loss_of(model, tok, *train.batch(rng, given.batch), rng)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update(model)
        step, total = step + 1, total + loss.item()
        if step % 150 == 0:
            print(f"clip step {step} part {clock.part():.2f} loss {total / 150:.3f}  {validate(average.model, tok, val)}", flush=True)
            total = 0.0
            nets.save("clip", average.model, tok, given.out)
    print("clip end", step, validate(average.model, tok, val), flush=True)
    nets.save("clip", average.model, tok, given.out)


if __name__ == "__main__":
    main()
