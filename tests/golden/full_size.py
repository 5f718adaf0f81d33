"""EditScope's networks at the published sizes against PyTorch: `python tests/golden/full_size.py [CASE …]`.

For each case a checkpoint of the published layout and size is made with random weights (seeded, scaled so that activations stay sane), PyTorch
answers for one picture, EditScope's example `full_size` answers from the same files, and the answers are compared. A table is printed; the exit
code is 1 when an aim is missed. Aims: cosine of features at least 0.9999, the same detections above the threshold with boxes within half a pixel
of 500, IoU of masks at least 0.995. Detections are compared for the same order of proposals,
which is compared by itself (`same_ranks`). A case named `…-original` loads the same weights from the authors' own layout, and must give the same bits.

Needs the packages of requirements.txt, up to 12 GB of memory and 11 GB of disk, and some minutes a case on two cores. Files go to `--work` (a
temporary folder without it) and are deleted after each case unless `--keep` is given.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE))

COSINE, PIXELS, IOU = 0.9999, 0.5, 0.995
# Float32 against float64 in PyTorch differs by 7e-7 of the largest score at this size (measured); two may differ both ways.
NOISE = 2e-6
# case → (network, case whose weights and answers it shares, what the example is given within the case's folder)
CASES = {
    "clip-l-14": ("clip", None, "hub"),
    "clip-l-14-original": ("clip", "clip-l-14", "ViT-L-14.pt"),
    "clip-l-14-script": ("clip", "clip-l-14", "ViT-L-14-script.pt"),
    "sam-b": ("sam", None, "hub"),
    "sam-b-original": ("sam", "sam-b", "sam_vit_b.pth"),
    "sam-h": ("sam", None, "hub"),
    "grounding-dino-t": ("grounding-dino", None, "hub"),
    "grounding-dino-t-original": ("grounding-dino", "grounding-dino-t", "groundingdino_swint.pth"),
    "grounding-dino-b": ("grounding-dino", None, "hub"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all without")
    parser.add_argument("--work", type=Path, help="where checkpoints go")
    parser.add_argument("--keep", action="store_true", help="keep them")
    parser.add_argument("--program", type=Path, help="the built example; built with cargo without")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ranks:
        again(options.work, options.ranks)
        return 0
    if options.make:
        make(options.make, options.work)
        return 0
    wanted = options.cases or list(CASES)
    if unknown := set(wanted) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}")
    program = options.program or build()
    bases = list(dict.fromkeys(CASES[case][1] or case for case in wanted))
    missed = []
    print("| checkpoint | what | found | aim | load s | run s (PyTorch) | peak loading | peak running |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for base in bases:
            folder = (options.work or Path(temporary)) / base
            if not (folder / "answers.json").exists():
                # A process of its own, so that PyTorch's memory is free again before EditScope runs.
                subprocess.run([sys.executable, __file__, "--make", base, "--work", folder], check=True)
            missed += check(base, folder, wanted, program)
            if not options.keep:
                shutil.rmtree(folder)
    for line in missed:
        print("missed:", line)
    return 1 if missed else 0


def build() -> Path:
    command = ["cargo", "build", "--release", "--locked", "--example", "full_size", "--message-format=json-render-diagnostics"]
    lines = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    built = [json.loads(line) for line in lines if '"full_size"' in line]
    return Path(next(line["executable"] for line in built if line.get("executable")))


def check(base: str, folder: Path, wanted: list[str], program: Path) -> list[str]:
    """Runs every wanted case of `base`, prints its rows and gives what it missed."""
    answers = json.loads((folder / "answers.json").read_text())
    first, missed = None, []
    for case, (network, shares, checkpoint) in CASES.items():
        if (shares or case) != base or (case not in wanted and not any(CASES[w][1] == case for w in wanted)):
            continue
        command = [program, network, folder / checkpoint, folder / "inputs.json"]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        rows = []
        if network == "grounding-dino" and report["outputs"]["ranks"] != answers["ranks"]:
            answers, rows = same_ranks(folder, report["outputs"]["ranks"], answers)
        rows += compare(network, report["outputs"], answers)
        if shares and case.endswith("-original"):
            same = report["outputs"] == first["outputs"]
            rows.append(("same bits as the hub's layout", "yes" if same else "no", "yes", same))
        first = first or report
        costs = [
            f"{report['load_seconds']:.1f}", f"{report['run_seconds']:.1f} ({answers['seconds']:.1f})",
            gigabytes(report["peak_bytes_loaded"]), gigabytes(report["peak_bytes"]),
        ]
        size = f"{case}, {gigabytes(weight_bytes(folder / checkpoint))} of weights"
        for number, (what, found, aim, reached) in enumerate(rows):
            cells = [size, what, found, aim, *costs] if number == 0 else ["", what, found, aim, "", "", "", ""]
            print("| " + " | ".join(cells) + " |", flush=True)
            if not reached:
                missed.append(f"{case}: {what} is {found}, aim {aim}")
    return missed


def weight_bytes(path: Path) -> int:
    return (path / "model.safetensors" if path.is_dir() else path).stat().st_size


def gigabytes(count: int | None) -> str:
    return "?" if count is None else f"{count / 1e9:.2f} GB"


def compare(network: str, ours: dict, theirs: dict) -> list[tuple[str, str, str, bool]]:
    """Rows of what was compared, what was found, the aim, and whether it is reached."""
    import numpy as np

    def cosine(a, b) -> float:
        a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    rows = []
    if network == "clip":
        for what in ["pictures", "texts"]:
            worst = min(cosine(a, b) for a, b in zip(ours[what], theirs[what], strict=True))
            rows.append((f"cosine of {what}' features, lowest of {len(theirs[what])}", f"{worst:.8f}", f"≥ {COSINE}", worst >= COSINE))
    elif network == "sam":
        worst = cosine(ours["embedding"], theirs["embedding"])
        rows.append(("cosine of the embedding", f"{worst:.8f}", f"≥ {COSINE}", worst >= COSINE))
        overlaps = []
        for a, b in zip(ours["masks"], theirs["masks"], strict=True):
            a, b = (np.frombuffer(mask.encode(), np.uint8) == ord("1") for mask in (a, b))
            overlaps.append((a & b).sum() / max((a | b).sum(), 1))
        rows.append((f"IoU of masks, lowest of {len(overlaps)}", f"{min(overlaps):.5f}", f"≥ {IOU}", min(overlaps) >= IOU))
    else:
        rows += [row for text, *both in zip(theirs["texts"], ours["candidates"], theirs["kept"], strict=True) for row in detections(text, *both, theirs)]
    return rows


def detections(text: str, ours: list[dict], theirs: list[dict], answers: dict) -> list[tuple[str, str, str, bool]]:
    """Every kept box of PyTorch has one of ours within the aim, with the same words, and the other way round."""
    width, height = answers["size"]
    scale = [500 / width, 500 / height] * 2
    kept = [found for found in ours if found["score"] > answers["threshold"]]
    furthest, same_query, words = 0.0, 0, 0
    for one in theirs:
        apart = [(max(abs(a - b) * s for a, b, s in zip(one["box"], other["box"], scale)), other) for other in kept]
        nearest, other = min(apart, key=lambda pair: pair[0]) if apart else (float("inf"), None)
        furthest = max(furthest, nearest)
        same_query += other is not None and other["query"] == one["query"]
        words += other is not None and other["phrase"] == one["phrase"]
    count = len(theirs)
    return [
        (f"“{text}”: kept boxes", str(len(kept)), str(count), len(kept) == count),
        ("furthest edge, pixels of 500", f"{furthest:.4f}", f"≤ {PIXELS}", furthest <= PIXELS),
        ("same words, same rank", f"{words}, {same_query} of {count}", f"{count} words", words == count),
    ]


def same_ranks(folder: Path, ranks: list[list[int]], answers: dict) -> tuple[dict, list[tuple[str, str, str, bool]]]:
    """PyTorch's answers with EditScope's order of the proposals, and a row on that order.

    The rank of a proposal chooses which of the learned contents its query starts with. Among the scores of 900 random proposals some are nearer
    together than float noise; where two swap, every detection moves. So the order is compared by itself, up to noise, and what follows from
    it is compared for the same order."""
    path = folder / "ranks.json"
    path.write_text(json.dumps({"texts": answers["texts"], "ranks": ranks}))
    subprocess.run([sys.executable, __file__, "--work", folder, "--ranks", path], check=True)
    found = json.loads(path.read_text())
    swapped = sum(a != b for ours, theirs in zip(ranks, answers["ranks"], strict=True) for a, b in zip(ours, theirs, strict=True))
    excess = max(one["excess"] for one in found)
    row = (f"{swapped} of 900 ranks differ: by how much of the largest score", f"{excess:.1e}", f"≤ {NOISE:.0e}", excess <= NOISE)
    return {**answers, "kept": [one["kept"] for one in found]}, [row]


def again(folder: Path, path: Path) -> None:
    """Replaces a file of orders by PyTorch's detections for them."""
    from reference import full_size_cases

    asked = json.loads(path.read_text())
    found = [full_size_cases.with_ranks(folder, text, ranks) for text, ranks in zip(asked["texts"], asked["ranks"], strict=True)]
    path.write_text(json.dumps(found))


def make(case: str, folder: Path) -> None:
    """The checkpoint, the inputs and PyTorch's answers of a case."""
    import torch

    from reference import full_size_cases

    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(os.cpu_count() or 1)
    start = time.time()
    inputs, answers = full_size_cases.MAKERS[case](folder)
    (folder / "inputs.json").write_text(json.dumps(inputs))
    (folder / "answers.json").write_text(json.dumps(answers))
    print(f"{case}: made in {time.time() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
