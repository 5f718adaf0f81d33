"""Writes models.json: Elo, the sweep of the weight alpha with its held-out half, and the ground-truth test, on random tables with ties,
missing values and constants.

Needs nothing but Python: python generate_models.py
Everything is computed here from its definition (Elo 1978 with scale 400; bpm.md sections 5 and 8; SplitMix64 by Steele, Lea and Flood 2014,
Fisher and Yates 1948), by other means than the program's: sets and dictionaries of what was compared instead of running sums. null: not
defined. Parts lie on a grid of eighths, so that ties are ties and not a matter of the last bit.
"""

import itertools
import json
import math
import random
from fractions import Fraction
from pathlib import Path

RANDOM = random.Random(20261130)
ALPHAS = [0.0, 0.25, 0.5, 0.625, 0.75, 1.0]


def elo_case(models, count, ties):
    """Ratings after a sequence of duels; the expected score by the logistic function."""
    duels, ratings = [], {}
    k = RANDOM.choice([16.0, 32.0])
    for _ in range(count):
        first, second = RANDOM.sample(models, 2)
        winner = "tie" if RANDOM.random() < ties else RANDOM.choice(["first", "second"])
        duels.append([first, second, winner])
    for first, second, winner in duels:
        difference = (ratings.get(first, 1000.0) - ratings.get(second, 1000.0)) * math.log(10) / 400
        expected = {first: 1 / (1 + math.exp(-difference)), second: 1 / (1 + math.exp(difference))}
        got = {first: {"first": 1, "second": 0, "tie": 0.5}[winner], second: {"first": 0, "second": 1, "tie": 0.5}[winner]}
        new = {model: ratings.get(model, 1000.0) + k * (got[model] - expected[model]) for model in (first, second)}
        ratings.update(new)
    return {"k": k, "duels": duels, "ratings": dict(sorted(ratings.items()))}


def overall(row, alpha):
    """Exactly, in fractions; None when a part that has a weight is missing."""
    total = Fraction(0)
    for weight, parts in [(Fraction(alpha), ("modify", "preserve")), (1 - Fraction(alpha), ("size", "position"))]:
        if weight == 0:
            continue
        if any(row[part] is None for part in parts):
            return None
        total += weight * sum(Fraction(row[part]) for part in parts)
    return total


def agreement(rows, alpha, policy):
    """The plain mean over pairs of models of the share of items on which the metric prefers what people prefer."""
    table = {(row["item"], row["model"]): row for row in rows}
    models = sorted({row["model"] for row in rows})
    shares = []
    for a, b in itertools.combinations(models, 2):
        points = []
        for item in sorted({row["item"] for row in rows}):
            pair = table.get((item, a)), table.get((item, b))
            if None in pair or any(row["human"] is None or overall(row, alpha) is None for row in pair):
                continue
            people = Fraction(pair[0]["human"]) - Fraction(pair[1]["human"])
            metric = overall(pair[0], alpha) - overall(pair[1], alpha)
            if people == 0:
                continue
            if metric == 0:
                points.append({"paper": 0.0, "half": 0.5}[policy])
            else:
                points.append(float((people > 0) == (metric > 0)))
        if points:
            shares.append(sum(points) / len(points))
    return sum(shares) / len(shares) if shares else None


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) * limit) >> 64


def held_out(rows, policy, seed):
    """The weight that is best on one half of the items (the smallest of equals), judged on the other half."""
    items = sorted({row["item"] for row in rows})
    if len(items) < 2:
        return None
    source = SplitMix64(seed)
    for last in range(len(items) - 1, 0, -1):
        other = source.below(last + 1)
        items[last], items[other] = items[other], items[last]
    chosen = set(items[: len(items) // 2])
    on, off = [row for row in rows if row["item"] in chosen], [row for row in rows if row["item"] not in chosen]
    found = [(share, -alpha) for alpha in ALPHAS if (share := agreement(on, alpha, policy)) is not None]
    if not found:
        return None
    share, alpha = max(found)
    judged = agreement(off, -alpha, policy)
    if judged is None:
        return None
    return {"alpha": -alpha, "chosen": share, "held_out": judged, "items": [len(chosen), len(items) - len(chosen)]}


def sweep_case(items, models, missing, levels):
    value = lambda: None if RANDOM.random() < missing else RANDOM.randrange(levels) / 8
    rows = []
    for item in range(items):
        for model in models:
            if RANDOM.random() < 0.05:
                continue
            human = None if RANDOM.random() < missing else RANDOM.randrange(2, 11) / 2
            parts = {part: value() for part in ("modify", "preserve", "size", "position")}
            rows.append({"item": f"i{item:02}", "model": model, **parts, "human": human})
    case = {"rows": rows, "alphas": ALPHAS, "seed": RANDOM.randrange(1 << 32)}
    for policy in ("paper", "half"):
        case[policy] = {"sweep": [agreement(rows, alpha, policy) for alpha in ALPHAS], "held_out": held_out(rows, policy, case["seed"])}
    return case


def truth_case(items, kinds, missing, levels):
    """How often the good edit of an item is strictly above every worse one."""
    edits = []
    for item in range(items):
        marks = ["good"] + [kind for kind in kinds if RANDOM.random() < 0.9]
        if RANDOM.random() < 0.1:
            marks.append("good")
        if RANDOM.random() < 0.1:
            marks.remove("good")
        for mark in marks:
            metric = None if RANDOM.random() < missing else RANDOM.randrange(levels) / 4
            edits.append({"item": f"i{item:02}", "kind": mark, "metric": metric, "good": mark == "good"})
    names = {edit["item"] for edit in edits}
    wins, judged, unmarked, incomplete = set(), set(), set(), set()
    against = {}
    for name in names:
        own = [edit for edit in edits if edit["item"] == name]
        good, worse = [e for e in own if e["good"]], [e for e in own if not e["good"]]
        if len(good) != 1 or not worse:
            unmarked.add(name)
            continue
        for edit in worse:
            if None not in (edit["metric"], good[0]["metric"]):
                against.setdefault(edit["kind"], []).append(good[0]["metric"] > edit["metric"])
        if any(edit["metric"] is None for edit in own):
            incomplete.add(name)
            continue
        judged.add(name)
        if good[0]["metric"] > max(edit["metric"] for edit in worse):
            wins.add(name)
    return {
        "edits": edits, "share": len(wins) / len(judged) if judged else None, "right": len(wins), "items": len(judged),
        "missing_metric": len(incomplete), "unmarked": len(unmarked),
        "against": {kind: [sum(results), len(results)] for kind, results in sorted(against.items())},
    }


def main():
    models = ["ddim", "ip2p", "mgie", "pie", "turbo"]
    found = {
        "elo": [elo_case(models[:n], count, ties) for n, count, ties in [(2, 1, 0), (2, 12, 0.5), (3, 40, 0.2), (5, 300, 0.1), (5, 30, 1)]],
        "weights": [
            sweep_case(8, models[:2], 0, 4), sweep_case(12, models[:3], 0.1, 9), sweep_case(20, models[:4], 0.3, 3),
            sweep_case(1, models[:3], 0, 5), sweep_case(6, models[:1], 0, 5), sweep_case(10, models[:3], 0, 1),
            sweep_case(9, models[:2], 0.8, 9), sweep_case(30, models, 0.05, 17),
        ],
        "ground_truth": [
            truth_case(10, ["over_preserved", "over_modified"], 0, 9), truth_case(30, ["over_preserved", "over_modified"], 0.1, 4),
            truth_case(12, ["over_preserved"], 0.3, 2), truth_case(15, ["a", "b", "c"], 0.05, 1), truth_case(3, ["x"], 1, 3),
        ],
    }
    Path(__file__).with_name("models.json").write_text(json.dumps(found) + "\n")
    print({name: len(cases) for name, cases in found.items()})


main()
