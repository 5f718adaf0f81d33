"""Writes comparison.json: random tables and what independent implementations make of them, for `stats::comparison` and `stats::people`.

Run in an environment with requirements.txt: python generate_comparison.py
Sources: krippendorff (alpha), scipy (ranks, correlations within items, Mann-Whitney U for the area under the curve), statsmodels (Holm's
correction), numpy (means, percentiles). What is random in the program (bootstrap, permutations, halves) is drawn here by a second
implementation of SplitMix64 and evaluated with numpy, so intervals and p values must match exactly. null: not defined.
"""

import itertools
import json
import math
import warnings
from pathlib import Path

import krippendorff
import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

warnings.filterwarnings("ignore")
RNG = np.random.default_rng(20261129)
MASK = (1 << 64) - 1


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


class SplitMix:
    """SplitMix64 (Steele, Lea and Flood, 2014), and numbers below a limit by multiplication and shift."""

    def __init__(self, seed):
        self.state = seed & MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, limit):
        return (self.bits() * limit) >> 64

    def coin(self):
        return self.bits() >> 63 == 1


def alpha(table, level):
    try:
        return number(krippendorff.alpha(reliability_data=np.array(table, float).T, level_of_measurement=level))
    except (ValueError, AssertionError):
        return None


def people_case(items, models, raters, values, missing, repeated):
    """A long table; a rater may answer twice, the last answer counts."""
    answers = []
    for item, model, criterion in itertools.product(range(items), range(models), ["size", "style"]):
        truth = RNG.integers(0, len(values))
        for rater in range(raters):
            if RNG.random() < missing:
                continue
            for _ in range(2 if RNG.random() < repeated else 1):
                at = int(np.clip(truth + RNG.integers(-1, 2), 0, len(values) - 1))
                answers.append({"item": f"i{item}", "model": f"m{model}", "rater": f"r{rater}", "criterion": criterion,
                                "value": values[at]})
    last = {}
    for a in answers:
        last[a["criterion"], a["item"], a["model"], a["rater"]] = a["value"]
    expected = {}
    for criterion, model in itertools.product(["size", "style"], [f"m{m}" for m in range(models)]):
        table = [[last.get((criterion, f"i{i}", model, f"r{r}"), math.nan) for r in range(raters)] for i in range(items)]
        pairs = [(a, b) for row in table for a, b in itertools.combinations([v for v in row if not math.isnan(v)], 2)]
        expected.setdefault(criterion, {})[model] = {
            **{level: alpha(table, level) for level in ["nominal", "ordinal", "interval"]},
            "percent": sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        }
    means = {}
    for (criterion, item, model, _), value in last.items():
        means.setdefault((item, model, criterion), []).append(value)
    repeats = {}
    for criterion, rater in itertools.product(["size", "style"], [f"r{r}" for r in range(raters)]):
        runs = {}
        for a in answers:
            if a["criterion"] == criterion and a["rater"] == rater:
                runs.setdefault((a["item"], a["model"]), []).append(a["value"])
        twice = [values[-2:] for values in runs.values() if len(values) > 1]
        repeats.setdefault(criterion, {})[rater] = {
            "repeats": len(twice), "equal": number(np.mean([a == b for a, b in twice])) if twice else None,
            "distance": number(np.mean([abs(a - b) for a, b in twice])) if twice else None,
        }
    return {"answers": answers, "between": expected, "repeats": repeats,
            "means": [[*key, float(np.mean(value))] for key, value in sorted(means.items())]}


def subjects(items, models, levels, missing):
    rows = []
    for item, model in itertools.product(range(items), range(models)):
        human = int(RNG.integers(3, 16)) / 3
        metric = int(np.clip(round(human + RNG.normal(0, 1.5)), 0, levels)) / levels
        other = int(np.clip(round(human + RNG.normal(0, 2.5)), 0, levels)) / levels
        rows.append({"item": f"i{item:02}", "model": f"m{model}", "metric": None if RNG.random() < missing else metric, "other": other,
                     "human": None if RNG.random() < missing else human})
    return rows


def cells(rows, key):
    """For each item with a comparison: list of (pair, compared, right); people's ties dropped, the metric's wrong."""
    names = sorted({r["item"] for r in rows})
    value = {(r["item"], r["model"]): (r[key], r["human"]) for r in rows}
    models = sorted({r["model"] for r in rows})
    table = []
    for item in names:
        row = []
        for pair in itertools.combinations(models, 2):
            got = [value.get((item, m), (None, None)) for m in pair]
            if any(v is None for g in got for v in g):
                row.append((pair, 0, 0.0))
                continue
            human, metric = np.sign(got[0][1] - got[1][1]), np.sign(got[0][0] - got[1][0])
            row.append((pair, int(human != 0), float(human != 0 and human == metric)))
        table.append(row)
    return table


def macro(table, drawn):
    sums = {}
    for item in drawn:
        for pair, compared, right in table[item]:
            c, r = sums.get(pair, (0, 0.0))
            sums[pair] = (c + compared, r + right)
    shares = [r / c for c, r in sums.values() if c]
    return float(np.mean(shares)) if shares else math.nan


def interval(values, level):
    known = [v for v in values if not math.isnan(v)]
    tail = (1 - level) / 2 * 100
    return [float(np.percentile(known, tail)), float(np.percentile(known, 100 - tail))]


def bootstrap_case(items, models, levels, missing, seed):
    rows = subjects(items, models, levels, missing)
    table = [row for row in cells(rows, "metric") if any(compared for _, compared, _ in row)]
    random, values = SplitMix(seed), []
    for _ in range(500):
        values.append(macro(table, [random.below(len(table)) for _ in range(len(table))]))
    low, high = interval(values, 0.95)
    return {"rows": rows, "seed": seed, "resamples": 500, "macro": macro(table, range(len(table))), "low": low, "high": high,
            "items": len(table)}


def permutation_case(items, models, levels, seed):
    """Two metrics on the same edits: difference of agreement, and p by swapping the metrics within items drawn by coin."""
    rows = subjects(items, models, levels, 0.0)
    first, second = cells(rows, "metric"), cells(rows, "other")
    every = range(len(first))
    seen = macro(first, every) - macro(second, every)
    random, far = SplitMix(seed ^ 0x51616E66), 0
    for _ in range(400):
        a, b = [], []
        for item in every:
            keep = random.coin()
            a.append(first[item] if keep else second[item])
            b.append(second[item] if keep else first[item])
        far += abs(macro(a, every) - macro(b, every)) >= abs(seen) - 1e-12
    return {"rows": rows, "seed": seed, "resamples": 400, "difference": seen, "p": (1 + far) / 401}


def places(values):
    return ((stats.rankdata(values) - 1) / (len(values) - 1)).tolist()


def line_case(items, models, levels, missing):
    rows = subjects(items, models, levels, missing)
    both = [r for r in rows if r["metric"] is not None and r["human"] is not None]
    x, y = [r["metric"] for r in both], [r["human"] for r in both]
    per_item = {"spearman": [], "kendall": []}
    for item in sorted({r["item"] for r in both}):
        a = [r["metric"] for r in both if r["item"] == item]
        b = [r["human"] for r in both if r["item"] == item]
        if len(a) > 1 and len(set(a)) > 1 and len(set(b)) > 1:
            per_item["spearman"].append(stats.spearmanr(a, b).statistic)
            per_item["kendall"].append(stats.kendalltau(a, b).statistic)
    good = np.array(y) > np.median(y)
    score = np.array(x)
    u = stats.mannwhitneyu(score[good], score[~good]).statistic
    gaps = [[r["item"], r["model"], m, h] for r, m, h in zip(both, places(x), places(y))]
    return {"rows": rows, "spearman": number(stats.spearmanr(x, y).statistic), "pearson": number(stats.pearsonr(x, y).statistic),
            "kendall": number(stats.kendalltau(x, y).statistic), "per_item_spearman": number(np.mean(per_item["spearman"])),
            "per_item_kendall": number(np.mean(per_item["kendall"])), "items_with_rho": len(per_item["spearman"]),
            "area": number(u / (good.sum() * (~good).sum())), "places": gaps}


def votes_case(items, models, voters):
    """Votes in either order of the two models, ties and both bad among them; the metric has three values."""
    names = [f"m{m}" for m in range(models)]
    metric = {(f"i{i}", m): (int(RNG.integers(0, 3)) / 2 if RNG.random() > 0.1 else None) for i in range(items) for m in names}
    votes = []
    for item, voter in itertools.product(range(items), range(voters)):
        a, b = RNG.choice(names, 2, replace=False).tolist()
        choice = ["first", "second", "tie", "both_bad"][int(RNG.choice(4, p=[0.4, 0.35, 0.15, 0.1]))]
        votes.append({"item": f"i{item}", "first": a, "second": b, "rater": f"v{voter}", "preference": choice})
    expected = {}
    for policy in ["paper", "half", "dropped"]:
        sums = {}
        for vote in votes:
            a, b = metric[vote["item"], vote["first"]], metric[vote["item"], vote["second"]]
            if a is None or b is None or vote["preference"] in ("tie", "both_bad") or (policy == "dropped" and a == b):
                continue
            right = (a > b) == (vote["preference"] == "first") and a != b
            pair = tuple(sorted([vote["first"], vote["second"]]))
            compared, sum_right = sums.get(pair, (0, 0.0))
            sums[pair] = (compared + 1, sum_right + (0.5 if policy == "half" and a == b else float(right)))
        expected[policy] = {"compared": sum(c for c, _ in sums.values()), "micro": sum(r for _, r in sums.values()) / sum(c for c, _ in sums.values()),
                            "macro": float(np.mean([r / c for c, r in sums.values()]))}
    return {"votes": votes, "metric": [[item, model, value] for (item, model), value in metric.items()], "expected": expected}


def holm_case(n):
    p = np.round(RNG.random(n) ** 3, 4)
    return {"p": p.tolist(), "corrected": multipletests(p, method="holm")[1].tolist()}


def main():
    golden = {
        "people": [people_case(*shape) for shape in [(12, 2, 3, [0, 0.5, 1], 0.15, 0.2), (8, 3, 4, [1, 2, 3, 4, 5], 0.3, 0.1),
                                                     (6, 2, 2, [1], 0.0, 0.0)]],
        "bootstrap": [bootstrap_case(*shape) for shape in [(12, 3, 5, 0.1, 1), (20, 2, 3, 0.0, 7), (9, 4, 1000, 0.2, 42)]],
        "permutation": [permutation_case(*shape) for shape in [(15, 3, 5, 1), (10, 2, 1000, 9)]],
        "lines": [line_case(*shape) for shape in [(10, 4, 5, 0.1), (15, 3, 2, 0.0), (8, 5, 1000, 0.2)]],
        "votes": [votes_case(*shape) for shape in [(10, 3, 2), (15, 4, 3)]],
        "holm": [holm_case(n) for n in [1, 4, 10]],
    }
    Path(__file__).with_name("comparison.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
