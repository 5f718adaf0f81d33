"""Make every golden fixture of this folder again: `python generate.py [--only NAME]`.

Numbers are deterministic for the versions pinned in requirements.txt (one thread, fixed seeds, float32 on the CPU).
"""

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# In this order: later fixtures read the checkpoints of earlier ones.
NAMES = ["clip", "sam", "grounding-dino", "layouts", "resize", "tokenizers", "bpm", "stats", "baselines"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=NAMES, help="make one fixture; the ones it reads must exist")
    wanted = parser.parse_args().only
    sys.path.insert(0, str(HERE))
    for name in [wanted] if wanted else NAMES:
        module = importlib.import_module(f"reference.make_{name.replace('-', '_')}")
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        print(f"== {name}", flush=True)
        module.make(folder)
        for path in folder.rglob("*"):
            if path.is_file():
                path.chmod(0o644)


if __name__ == "__main__":
    main()
