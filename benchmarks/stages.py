"""Time and memory of stage pairwise on long tables.

    python -m benchmarks.stages [--documents 300000] [--engines here,ray]

Tables of N = 32 candidates (1,024 documents over and over under new ids) are written to a temporary
folder, and the stage runs on them as users run it: on a tenth of the documents and on all. The
rate is that of the documents between, so that no start is in it; memory that does not grow shows as
equal peaks. Peak memory is that of the process that a user starts. CNN/DM's shape, in which
sentences must be found first, gets a tenth of the documents. `ray` starts a local cluster. Linux.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from ruamel.yaml import YAML

from benchmarks.harness import head, row
from benchmarks.texts import CNNDM, COMBINATIONS, XSUM, Document, read_shapes
from brido.tables import CORPUS, POOL, write_table

ROOT = Path(__file__).parent.parent
SIZE, BATCH = 32, 1024
# What the pool says of candidates that all vote and can be elected.
BALLOT = {"sources": ["base"] * SIZE, "search_scores": [0.0] * SIZE}
BALLOT |= {name: [True] * SIZE for name in ("voters", "eligible", "ended")}
MEASURE = """
import json, resource, runpy, sys, time
start = time.perf_counter()
runpy.run_module(sys.argv[1], run_name="__main__", alter_sys=True)
own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
cpu = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
print(json.dumps([time.perf_counter() - start, cpu, own.ru_maxrss / 1024]))
"""


def write_texts(folder: Path, split: str, documents: int, texts: list[Document]) -> None:
    """Write corpus and pool of one split."""

    def rows(pool: bool) -> Iterator[list[dict]]:
        for first in range(0, documents, BATCH):
            batch = []
            for index in range(first, min(first + BATCH, documents)):
                candidates, reference = texts[index % len(texts)]
                one = {"id": f"document-{index:07d}"}
                if pool:
                    one |= {"candidates": candidates, "raw": candidates} | BALLOT
                else:
                    one |= {"document": "d", "summary": reference, "references": [reference]}
                batch.append(one)
            yield batch

    write_table(folder / f"data/corpus/{split}.parquet", rows(False), CORPUS)
    write_table(folder / f"data/pool/{split}.parquet", rows(True), POOL)


def write_project(folder: Path, shape: str, documents: int, runtime: dict) -> None:
    """Write params.yaml, and the tables that the stage reads of so many training documents."""
    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text())
    params["runtime"] |= runtime
    params["pairwise"]["combination"] = COMBINATIONS[shape]
    params["documents"]["test"] = 0
    params["systems"].remove("elected")
    with (folder / "params.yaml").open("w") as stream:
        yaml.dump(params, stream)
    texts = (read_shapes(None, SIZE)[shape] * 4)[:BATCH]
    for split, count in (("train", documents), ("validation", 1)):
        write_texts(folder, split, count, texts)


def run(shape: str, documents: int, engine: str, workers: int) -> list[float]:
    """Wall and CPU seconds and peak MiB of the stage's process."""
    number = {"workers": None if engine == "here" else workers, "threads": workers}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    environment.pop("RAY_ADDRESS", None)
    with tempfile.TemporaryDirectory() as folder:
        runtime = {"engine": engine, "log_seconds": 1000.0, **number}
        write_project(Path(folder), shape, documents, runtime)
        command = [sys.executable, "-c", MEASURE, "stages.pairwise"]
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a row for each engine, shape and number of workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--engines", default="here", help="here,ray")
    options = parser.parse_args()
    head("shape", "engine", "workers", "documents", "CPU s", "peak MiB", "documents/s")
    for shape, engine, workers in product((XSUM, CNNDM), options.engines.split(","), (1, 2)):
        most = options.documents // (10 if shape == CNNDM else 1)
        few = most // 10
        (wall, cpu, peak), (short, _, less) = (
            run(shape, documents, engine, workers) for documents in (most, few)
        )
        rate = (most - few) / (wall - short)
        row(
            shape, engine, workers, f"{few:,}, {most:,}", f"{cpu:.1f}", f"{less:.0f}, {peak:.0f}",
            f"{rate:,.0f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
