"""What the three training scripts share: a schedule over wall-clock time, an average of the weights, saving."""

from __future__ import annotations

import copy
import math
import multiprocessing
import time

import numpy as np
import torch


class Clock:
    """Learning rate by elapsed time: a short warm-up, a plateau, then a cosine down to 2 %."""

    def __init__(self, minutes: float, peak: float):
        self.start, self.total, self.peak = time.time(), minutes * 60, peak

    def part(self) -> float:
        return (time.time() - self.start) / self.total

    def rate(self) -> float:
        part = self.part()
        if part < 0.03:
            return self.peak * (0.05 + 0.95 * part / 0.03)
        if part < 0.3:
            return self.peak
        return self.peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, (part - 0.3) / 0.7))))

    def done(self) -> bool:
        return self.part() >= 1


class Average:
    """An exponential average of the weights; it is what gets validated and saved."""

    def __init__(self, model: torch.nn.Module, keep: float = 0.995):
        self.model, self.keep, self.steps = copy.deepcopy(model).eval(), keep, 0
        for p in self.model.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model: torch.nn.Module) -> None:
        self.steps += 1
        keep = min(self.keep, (1 + self.steps) / (10 + self.steps))
        for mine, new in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(new, 1 - keep)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)


def adamw(model: torch.nn.Module, decay: float = 0.02) -> torch.optim.Optimizer:
    """AdamW without decay on vectors (norms, biases, tables of one row)."""
    big = [p for p in model.parameters() if p.requires_grad and p.ndim >= 2]
    small = [p for p in model.parameters() if p.requires_grad and p.ndim < 2]
    return torch.optim.AdamW([{"params": big, "weight_decay": decay}, {"params": small, "weight_decay": 0.0}], lr=1e-3, betas=(0.9, 0.98))


def prefetched(make, seed: int, workers: int = 1, depth: int = 3):
    """Endless batches from `make(rng)`, drawn in other processes so that disk reads do not hold up the arithmetic."""
    queue = multiprocessing.Queue(depth)

    def work(number: int) -> None:
        torch.set_num_threads(1)
        rng = np.random.default_rng([seed, number, int(time.time())])
        while True:
            queue.put(make(rng))

    for number in range(workers):
        multiprocessing.Process(target=work, args=(number,), daemon=True).start()
    while True:
        yield queue.get()
