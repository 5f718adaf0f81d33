"""Trains the demo SAM: one mask (index 0) per box prompt on square-stretched pictures, as the metric uses it.

Boxes are the true visible ones, most of them jittered as a detector would; sometimes the whole picture, whose mask is the
background. Loss: binary cross entropy and dice on the logits at the network's input size.
"""

from __future__ import annotations

import argparse
import pathlib

import cv2
import numpy as np
import torch
import torch.nn.functional as F

import nets
from cache import Store
from train_dino import to_net
from training import Average, Clock, adamw, prefetched, set_rate

SIDE, BOXES = nets.SAM_SIDE, 3


class Boxes:
    """Batches of square pictures with three boxes each and the masks they ask for."""

    def __init__(self, root: str):
        sizes = Store(root).sizes
        self.all = [(p, i, m, n) for parts in sizes.values() for p, i, m in parts for n in range(len(m)) if m[n]["things"]]

    def one(self, rng: np.random.Generator, plain: bool):
        while True:
            pictures, ids, metas, n = self.all[int(rng.integers(0, len(self.all)))]
            things = [t for t in metas[n]["things"] if t["opacity"] >= 0.28]
            if things:
                break
        picture, where = np.asarray(pictures[n]), np.asarray(ids[n])
        ghosts = [t["id"] for t in metas[n]["things"] if t["opacity"] < 0.28]
        where = np.where(np.isin(where, ghosts), 0, where).astype(np.uint8) if ghosts else where
        x0, y0, side = 0.0, 0.0, 1.0
        if not plain and rng.random() < 0.5:
            side = float(rng.uniform(0.7, 1.0))
            x0, y0 = float(rng.uniform(0, 1 - side)), float(rng.uniform(0, 1 - side))
        h, w = where.shape
        rows, cols = slice(int(y0 * h), int((y0 + side) * h)), slice(int(x0 * w), int((x0 + side) * w))
        picture = cv2.resize(picture[rows, cols], (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        where = cv2.resize(where[rows, cols], (SIDE, SIDE), interpolation=cv2.INTER_NEAREST)
        if not plain and rng.random() < 0.5:
            picture, where = picture[:, ::-1], where[:, ::-1]
        live = [k for k in np.unique(where) if k > 0 and (where == k).sum() > 40]
        return (picture, where, live) if live else self.one(rng, plain)

    def batch(self, rng: np.random.Generator, count: int, plain: bool = False):
        images = np.empty((count, SIDE, SIDE, 3), np.uint8)
        boxes, masks = np.empty((count, BOXES, 4), np.float32), np.empty((count, BOXES, SIDE, SIDE), bool)
        for place in range(count):
            images[place], where, live = self.one(rng, plain)
            for k in range(BOXES):
                if not plain and rng.random() < 0.08:
                    boxes[place, k], masks[place, k] = (0, 0, SIDE, SIDE), where == 0
                    continue
                mask = where == live[int(rng.integers(0, len(live)))]
                ys, xs = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
                box = np.float32([xs[0], ys[0], xs[-1] + 1, ys[-1] + 1])
                if not plain and rng.random() < 0.7:
                    extent = np.float32([box[2] - box[0], box[3] - box[1]] * 2)
                    box = np.clip(box + rng.normal(0, 0.05, 4) * extent, 0, SIDE).astype(np.float32)
                boxes[place, k], masks[place, k] = box, mask
        return images, torch.from_numpy(boxes), torch.from_numpy(masks)


def logits_of(model, pixels: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    """Mask logits [n, boxes, side, side] at the input size; mask index 0."""
    low = model(pixel_values=pixels, input_boxes=boxes, multimask_output=False).pred_masks[:, :, 0]
    return F.interpolate(low, (SIDE, SIDE), mode="bilinear", align_corners=False)


def loss_of(model, images, boxes, masks, rng) -> torch.Tensor:
    logits = logits_of(model, to_net(images, rng), boxes)
    target = masks.float()
    cross = F.binary_cross_entropy_with_logits(logits, target, reduction="none").mean((2, 3))
    area = target.mean((2, 3)).clamp(min=0.01)
    p = logits.sigmoid()
    dice = 1 - (2 * (p * target).sum((2, 3)) + 1) / (p.sum((2, 3)) + target.sum((2, 3)) + 1)
    return (dice + 0.3 * cross / area.clamp(max=0.3)).mean()


@torch.no_grad()
def validate(model, data: Boxes, rounds: int = 8) -> str:
    """Mean IoU with true boxes, on things only."""
    rng, found = np.random.default_rng(5), []
    for _ in range(rounds):
        images, boxes, masks = data.batch(rng, 16, plain=True)
        got = logits_of(model, to_net(images), boxes) > 0
        found += ((got & masks).sum((2, 3)) / (got | masks).sum((2, 3)).clamp(min=1)).flatten().tolist()
    return f"mean IoU {np.mean(found):.3f} tenth percentile {np.percentile(found, 10):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", required=True)
    parser.add_argument("--val", required=True)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=nets.DEMO)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(12)
    rng = np.random.default_rng(12)
    model = nets.load("sam", given.out)[0] if given.resume else nets.fresh("sam")[0]
    for p in [*model.mask_decoder.iou_prediction_head.parameters(), *model.prompt_encoder.mask_embed.parameters()]:
        p.requires_grad_(False)  # not used: one mask a box, no mask prompts
    train, val = Boxes(given.train), Boxes(given.val)
    optimizer, clock, average = adamw(model), Clock(given.minutes, given.rate), Average(model)
    batches = prefetched(lambda r: train.batch(r, given.batch), 12)
    step, total = 0, 0.0
    while not clock.done():
        model.train()
        set_rate(optimizer, clock.rate())
        loss = loss_of(model, *next(batches), rng)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update(model)
        step, total = step + 1, total + loss.item()
        if step % 100 == 0:
            print(f"sam step {step} part {clock.part():.2f} loss {total / 100:.3f}  {validate(average.model, val)}", flush=True)
            total = 0.0
            nets.save("sam", average.model, None, given.out)
    print("sam end", step, validate(average.model, val, 30), flush=True)
    nets.save("sam", average.model, None, given.out)


if __name__ == "__main__":
    main()
