"""EditScope beside PyTorch: the same tasks on the same checkpoints with the same number of threads, in turns.

    cargo bench --bench worker --no-run          # once; optimised as cargo's bench profile says
    python benches/reference/checkpoints.py DIR  # once; random weights at full size
    python benches/reference/compare.py DIR [--threads 1] [--rounds 3] [--tasks sam item]

Each side is a process of its own that loads the networks of one task and then waits; they never compute at the same time. The first
round is not counted. For each task: median seconds of both sides by the clock and of the processor (all threads together; steadier on a
machine that does other things too), EditScope's as a part of PyTorch's, and the largest memory of each process so far. `item` is one source with four edits: EditScope's whole pipeline against the released scripts' way, which begins anew for
every edit.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TASKS = ["clip-pictures", "clip-texts", "sam", "detector", "item"]


class Side:
    """One process that runs a task on command."""

    def __init__(self, command: list[str], threads: int):
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads), "PYTHONWARNINGS": "ignore", "TRANSFORMERS_VERBOSITY": "error"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        if self.answer() != "ready":
            sys.exit(f"{command[0]} did not get ready")

    def answer(self) -> str:
        return self.process.stdout.readline().strip()

    def seconds(self) -> tuple[float, float]:
        """Runs the task once: seconds by the clock and of the processor."""
        before = self.processor()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        clock = float(self.answer())
        return clock, self.processor() - before

    def processor(self) -> float:
        """Processor seconds of all threads so far; `nan` where the system does not say."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return float("nan")
        # The name, in brackets, may hold anything; user and system ticks are the 12th and 13th fields behind it.
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_gib(self) -> float:
        """Largest resident memory so far; `nan` where the system does not say."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return float("nan")
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**20

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def newest_worker() -> Path:
    """The bench binary that cargo built last."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = [path for path in target.glob("release/deps/worker-*") if path.suffix == "" and os.access(path, os.X_OK)]
    if not found:
        sys.exit(f"no worker in {target}/release/deps: run `cargo bench --bench worker --no-run` first")
    return max(found, key=lambda path: path.stat().st_mtime)


def compare(task: str, arguments: argparse.Namespace) -> None:
    """Runs one task on both sides in turns and prints a line of the table."""
    theirs = Side(
        [sys.executable, str(HERE / "torch_worker.py"), str(arguments.models), task, "--threads", str(arguments.threads)],
        arguments.threads,
    )
    ours = Side([str(arguments.worker or newest_worker()), str(arguments.models), task], arguments.threads)
    rounds = [(theirs.seconds(), ours.seconds()) for _ in range(arguments.rounds + 1)][1:]
    columns = []
    for kind in (0, 1):
        reference, own = (statistics.median(run[kind] for run in side) for side in zip(*rounds))
        columns.append(f"{reference:9.2f} {own:9.2f} {own / reference if reference else float('nan'):6.2f}")
    print(f"{task:14} {' '.join(columns)} {theirs.peak_gib():8.2f} {ours.peak_gib():8.2f}", flush=True)
    theirs.close()
    ours.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--worker", type=Path, help="the bench binary, if not the newest")
    arguments = parser.parse_args()
    print(f"{'':14} {'by the clock, s':^26} {'of the processor, s':^26} {'memory, GiB':^17}")
    print(f"{'task':14} {'PyTorch':>9} {'EditScope':>9} {'ratio':>6} {'PyTorch':>9} {'EditScope':>9} {'ratio':>6} {'PyTorch':>8} {'EditScope':>8}", flush=True)
    for task in arguments.tasks:
        compare(task, arguments)


if __name__ == "__main__":
    main()
