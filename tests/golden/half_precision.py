"""What half precision costs: the demo's 96 edits scored with its checkpoints as they are, with every weight rounded to F16 and BF16, and with
`--precision f16`.

`python tests/golden/half_precision.py PROGRAM` (the built `editscope`). The rounded checkpoints are ordinary files in these types, read by the
program; the arithmetic stays in float32, so that those rows show what a half-precision file loses. The rows `--precision f16` show the program's
own half precision (weights and inputs of linear layers rounded, products summed in float32 and rounded), computed by the CPU.
Prints a table of the change in every part: how many of the edits have it, largest and mean change, and the change in the overall and in the order.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from scipy.stats import spearmanr

REPOSITORY = Path(__file__).resolve().parents[2]
PARTS = ["size", "position", "modify", "preserve"]


def rounded(folder: Path, kind: torch.dtype) -> Path:
    """A copy of the demo's checkpoints in another type."""
    for network in (REPOSITORY / "models" / "demo").iterdir():
        if not network.is_dir():
            continue
        shutil.copytree(network, folder / network.name)
        path = folder / network.name / "model.safetensors"
        tensors = {name: value.to(kind) if value.is_floating_point() else value for name, value in load_file(path).items()}
        save_file(tensors, path, metadata={"format": "pt"})
    return folder


def scores(program: str, project: Path, models: str, out: Path, precision: str = "f32") -> dict:
    command = [program, "score", project, "--models", models, "--device", "cpu", "--precision", precision, "--baselines", "none", "--out", out]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return {(line["item"], line["model"]): line for line in map(json.loads, out.read_text().splitlines())}


def main() -> None:
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([program, "demo", "--folder", folder / "demo", "--no-window"], check=True, stdout=subprocess.DEVNULL)
        project = next((folder / "demo").glob("*.editscope"))
        whole = scores(program, project, "demo", folder / "f32.jsonl")
        print(f"{len(whole)} edits\n\n| half precision | part | edits | changed | largest change | mean change |\n|---|---|---|---|---|---|")
        for name, kind in [("F16", torch.float16), ("BF16", torch.bfloat16)]:
            models = rounded(folder / name, kind)
            found = scores(program, project, str(models), folder / f"{name}.jsonl")
            report(f"file in {name}", whole, found)
        report("`--precision f16`", whole, scores(program, project, "demo", folder / "half.jsonl", precision="f16"))


def report(name: str, whole: dict, found: dict) -> None:
    assert whole.keys() == found.keys()
    for part in [*PARTS, "overall"]:
        pick = (lambda line: line["overall"]) if part == "overall" else (lambda line: line["parts"][part])
        pairs = [(pick(whole[key]), pick(found[key])) for key in whole]
        lost = sum(isinstance(a, dict) != isinstance(b, dict) for a, b in pairs)
        numbers = np.array([(a, b) for a, b in pairs if not isinstance(a, dict) and not isinstance(b, dict)], float)
        apart = np.abs(numbers[:, 0] - numbers[:, 1])
        note = f", {lost} came or went" if lost else ""
        print(f"| {name} | {part} | {len(numbers)}{note} | {int((apart > 0).sum())} | {apart.max():.2g} | {apart.mean():.2g} |")
        if part == "overall":
            order = spearmanr(numbers[:, 0], numbers[:, 1]).statistic
            print(f"| {name} | order of the overalls (Spearman) | {len(numbers)} | | {order:.5f} | |")


if __name__ == "__main__":
    main()
