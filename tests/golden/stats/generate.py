"""Writes tables.json: random tables with ties, missing cells and constants, and what independent implementations make of them.

Run in an environment with requirements.txt: python generate.py
Sources: scipy (correlations, area under the curve as U / (n1 n2), Davidson by numerical optimisation), krippendorff (alpha),
statsmodels (Cohen's and Fleiss' kappa), pingouin (ICC), choix (Bradley-Terry). The pairwise agreement is counted here by the
definition, in another way than the program does it. null: not defined.
"""

import itertools
import json
import math
import warnings
from pathlib import Path

import choix
import krippendorff
import numpy as np
import pandas as pd
import pingouin
from scipy import optimize, stats
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

warnings.filterwarnings("ignore")
RNG = np.random.default_rng(20250613)


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def columns():
    yield [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]
    yield [0.5, 0.5], [1.0, 2.0]
    yield [1.0, 2.0], [2.0, 1.0]
    for n, levels in [(5, 3), (12, 4), (40, 5), (40, 1000), (200, 7)]:
        x = RNG.integers(0, levels, n) / levels
        y = np.round(x * 2 + RNG.normal(0, 1, n), 1)
        yield x.tolist(), y.tolist()


def correlation_case(x, y):
    return {"x": x, "y": y, "pearson": number(stats.pearsonr(x, y).statistic), "spearman": number(stats.spearmanr(x, y).statistic),
            "kendall_tau_b": number(stats.kendalltau(x, y, variant="b").statistic)}


def curve_case(n, levels):
    score = RNG.integers(0, levels, n).astype(float)
    good = (score + RNG.normal(0, levels / 2, n)) > levels / 2
    u = stats.mannwhitneyu(score[good], score[~good]).statistic
    return {"scores": score.tolist(), "good": good.tolist(), "area": number(u / (good.sum() * (~good).sum()))}


def rater_case(units, raters, values, missing):
    truth = RNG.integers(0, len(values), units)
    table = np.array([[values[np.clip(t + RNG.integers(-1, 2), 0, len(values) - 1)] for _ in range(raters)] for t in truth], float)
    table[RNG.random(table.shape) < missing] = np.nan
    case = {"units": [[number(v) for v in row] for row in table]}
    for level in ["nominal", "ordinal", "interval"]:
        case[level] = number(krippendorff.alpha(reliability_data=table.T, level_of_measurement=level))
    full = table[~np.isnan(table).any(axis=1)]
    counts = np.array([[(row == v).sum() for v in sorted(set(full.ravel()))] for row in full])
    case["fleiss"] = number(fleiss_kappa(counts))
    both = table[~np.isnan(table[:, :2]).any(axis=1)][:, :2]
    seen = sorted(set(both.ravel()))
    square = np.zeros((len(seen), len(seen)))
    for a, b in both:
        square[seen.index(a), seen.index(b)] += 1
    for name, weights in [("cohen", None), ("cohen_linear", "linear"), ("cohen_quadratic", "quadratic")]:
        # The distance of two answers is that of their values, whichever other values occur.
        distances = None if weights is None else np.array(seen)
        case[name] = number(cohens_kappa(square, weights=distances, wt=weights, return_results=False))
    long = pd.DataFrame([{"unit": i, "rater": j, "value": v} for i, row in enumerate(full) for j, v in enumerate(row)])
    icc = pingouin.intraclass_corr(long, targets="unit", raters="rater", ratings="value")
    kinds = ["one_one", "two_one", "three_one", "one_mean", "two_mean", "three_mean"]
    case["icc"] = {kind: number(value) for kind, value in zip(kinds, icc["ICC"])}
    pairs = [(a, b) for row in table for a, b in itertools.combinations(row[~np.isnan(row)], 2)]
    case["percent"] = sum(a == b for a, b in pairs) / len(pairs)
    return case


def agreement_case(items, models, levels, missing):
    names = [f"model-{chr(97 + m)}" for m in range(models)]
    rows = []
    for item, name in itertools.product(range(items), names):
        if RNG.random() < 0.1:
            continue
        human = int(RNG.integers(3, 16)) / 3
        metric = int(np.clip(round(human + RNG.normal(0, 1.5)), 0, levels)) / levels
        rows.append({"item": f"item-{item}", "model": name, "metric": None if RNG.random() < missing else metric,
                     "human": None if RNG.random() < missing else human})
    case = {"rows": rows}
    value = {(r["item"], r["model"]): (r["metric"], r["human"]) for r in rows}
    threshold = 1.5 / levels
    for policy in ["paper", "half", "dropped", "calibrated"]:
        shares, right_all, compared_all = [], 0.0, 0
        for a, b in itertools.combinations(names, 2):
            right, compared = 0.0, 0
            for item in range(items):
                (ma, ha), (mb, hb) = (value.get((f"item-{item}", m), (None, None)) for m in (a, b))
                if None in (ma, ha, mb, hb):
                    continue
                human = np.sign(ha - hb)
                if policy == "calibrated":
                    metric = 0 if abs(ma - mb) <= threshold else np.sign(ma - mb)
                    compared, right = compared + 1, right + (metric == human)
                    continue
                if human == 0 or (policy == "dropped" and ma == mb):
                    continue
                compared += 1
                right += 0.5 if policy == "half" and ma == mb else float(np.sign(ma - mb) == human)
            right_all, compared_all = right_all + right, compared_all + compared
            if compared:
                shares.append(right / compared)
        case[policy] = {"macro": number(np.mean(shares)), "micro": right_all / compared_all, "compared": int(compared_all),
                        "right": float(right_all)}
    case["threshold"] = threshold
    return case


def strength_case(models, games, tie_chance):
    names = [f"model-{chr(97 + m)}" for m in range(models)]
    skill = RNG.normal(0, 0.7, models)
    duels = []
    for _ in range(games):
        a, b = sorted(RNG.choice(models, 2, replace=False).tolist())
        chance = 1 / (1 + math.exp(skill[b] - skill[a]))
        winner = "tie" if RNG.random() < tie_chance else "first" if RNG.random() < chance else "second"
        duels.append({"first": names[a], "second": names[b], "winner": winner})
    order = {n: i for i, n in enumerate(names)}
    pairs = [(order[d["first"]], order[d["second"]], d["winner"]) for d in duels]
    # A tie as half a win for each: every duel enters twice, a tie once in each direction.
    doubled = [p for a, b, w in pairs for p in {"first": [(a, b)] * 2, "second": [(b, a)] * 2, "tie": [(a, b), (b, a)]}[w]]
    half = choix.opt_pairwise(models, doubled, method="Newton-CG", tol=1e-12)

    def loss(x):
        strength, nu = np.exp(x[:-1]), math.exp(x[-1])
        total = 0.0
        for a, b, w in pairs:
            root = nu * math.sqrt(strength[a] * strength[b])
            top = {"first": strength[a], "second": strength[b], "tie": root}[w]
            total -= math.log(top / (strength[a] + strength[b] + root))
        return total + x[:-1].mean() ** 2

    best = optimize.minimize(loss, np.zeros(models + 1), method="BFGS", options={"gtol": 1e-9})
    davidson = best.x[:-1] - best.x[:-1].mean()
    return {"duels": duels, "half_wins": (half - half.mean()).tolist(), "davidson": davidson.tolist(), "tie": math.exp(best.x[-1])}


def main():
    golden = {
        "correlation": [correlation_case(x, y) for x, y in columns()],
        "curve": [curve_case(n, levels) for n, levels in [(10, 3), (60, 5), (60, 1000)]],
        "raters": [rater_case(*shape) for shape in [(12, 3, [0, 0.5, 1], 0.0), (30, 3, [1, 2, 3, 4, 5], 0.2), (25, 2, [1, 2, 4, 8], 0.1),
                                                    (40, 5, [1, 2, 3, 4, 5], 0.1), (20, 4, [0, 1], 0.0)]],
        "agreement": [agreement_case(*shape) for shape in [(6, 2, 3, 0.0), (20, 4, 5, 0.1), (15, 3, 1000, 0.2)]],
        "strengths": [strength_case(*shape) for shape in [(3, 60, 0.2), (5, 200, 0.1)]],
    }
    text = json.dumps(golden, separators=(",", ":"))
    Path(__file__).with_name("tables.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
