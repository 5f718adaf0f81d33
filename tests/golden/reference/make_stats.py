"""Rank statistics and agreement on small tables with ties and gaps, by SciPy and by direct counting."""

import itertools
from pathlib import Path

import numpy as np
from scipy import stats

from .common import write_json


def krippendorff_alpha(table: list[list[float | None]], metric: str) -> float | None:
    """Krippendorff's alpha (2011, "Computing Krippendorff's Alpha-Reliability") by counting pairs; rows are raters.

    1 − (mean difference of pairs within units) / (mean difference of all pairs); units with fewer than two values are left out.
    """
    units = [[row[i] for row in table if row[i] is not None] for i in range(len(table[0]))]
    units = [unit for unit in units if len(unit) >= 2]
    values = sorted(value for unit in units for value in unit)
    if not values:
        return None
    counts = {value: values.count(value) for value in values}

    def difference(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(count for value, count in counts.items() if low <= value <= high)
        return (between - (counts[a] + counts[b]) / 2) ** 2

    total = len(values)
    observed = sum(difference(a, b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)) / total
    expected = sum(difference(a, b) for a, b in itertools.permutations(values, 2)) / (total * (total - 1))
    return None if expected == 0 else 1 - observed / expected


def pairwise_agreement(rows: list[dict]) -> dict:
    """Share of items where metric and people prefer the same of two models: human ties left out, metric ties wrong; mean over pairs."""
    models = sorted({row["model"] for row in rows})
    at = {(row["item"], row["model"]): row for row in rows}
    items = sorted({row["item"] for row in rows})
    pairs = []
    for first, second in itertools.combinations(models, 2):
        right = counted = human_ties = missing = 0
        for item in items:
            a, b = at.get((item, first)), at.get((item, second))
            if a is None or b is None or a["metric"] is None or b["metric"] is None:
                missing += 1
                continue
            human, metric = a["human"] - b["human"], a["metric"] - b["metric"]
            if human == 0:
                human_ties += 1
                continue
            counted += 1
            right += human * metric > 0
        share = right / counted if counted else None
        pairs.append(
            {"models": [first, second], "right": right, "counted": counted, "human_ties": human_ties, "missing": missing, "share": share}
        )
    shares = [pair["share"] for pair in pairs if pair["share"] is not None]
    counted = sum(pair["counted"] for pair in pairs)
    return {
        "pairs": pairs,
        "macro": float(np.mean(shares)) if shares else None,
        "micro": sum(pair["right"] for pair in pairs) / counted if counted else None,
    }


def correlations(x: list[float], y: list[float]) -> dict:
    """Null where a side is constant."""
    if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
        return {"kendall_tau_b": None, "spearman": None, "pearson": None}
    return {
        "kendall_tau_b": float(stats.kendalltau(x, y, variant="b").statistic),
        "spearman": float(stats.spearmanr(x, y).statistic),
        "pearson": float(stats.pearsonr(x, y).statistic),
    }


def make(folder: Path) -> None:
    rng = np.random.default_rng(7)
    vectors = []
    for count in (2, 3, 10, 40):
        x = rng.integers(0, 6, count) / 2
        y = np.round(0.5 * x + rng.normal(0, 0.6, count), 1)
        vectors.append({"x": x.tolist(), "y": y.tolist()})
    vectors.append({"x": [1.0, 1.0, 1.0], "y": [1.0, 2.0, 3.0]})
    vectors.append({"x": rng.normal(0, 1, 25).tolist(), "y": rng.normal(0, 1, 25).tolist()})
    for row in vectors:
        row |= correlations(row["x"], row["y"])

    tables = []
    for raters, units, gaps in ((3, 12, 0.0), (4, 15, 0.3), (2, 6, 0.0), (5, 9, 0.5)):
        truth = rng.integers(1, 6, units)
        table = np.clip(truth + rng.integers(-1, 2, (raters, units)), 1, 5).astype(float)
        lost = rng.random((raters, units)) < gaps
        tables.append([[None if l else float(v) for v, l in zip(row, lose)] for row, lose in zip(table, lost)])
    tables.append([[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]])  # no variation: undefined
    alphas = [
        {"raters_by_units": table} | {metric: krippendorff_alpha(table, metric) for metric in ("nominal", "ordinal", "interval")}
        for table in tables
    ]

    rows = []
    for item in range(12):
        for model in ("a", "b", "c", "d"):
            if rng.random() < 0.06:
                continue
            human = float(rng.integers(2, 11)) / 2
            metric = None if rng.random() < 0.08 else round(0.3 * human + float(rng.normal(0, 0.5)), 1)
            rows.append({"item": f"i{item:02}", "model": model, "metric": metric, "human": human})
    expected = {
        "correlations": vectors,
        "krippendorff": alphas,
        "pairwise": {"rows": rows, **pairwise_agreement(rows)},
    }
    write_json(folder / "expected.json", expected)
    print("  alphas", [[row[m] and round(row[m], 3) for m in ("nominal", "ordinal", "interval")] for row in alphas])
    print("  macro", expected["pairwise"]["macro"], "micro", expected["pairwise"]["micro"])
