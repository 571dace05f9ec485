"""Memory and time of the stages pairwise and score on tables as long as those of CNN/DM.

    python -m benchmarks.vote_tables [--documents 300000] [--score-documents 200000] [--threads 2]

Tables of N = 32 candidates of XSum's shape, the same 1,024 documents over and over under new ids,
are written to a temporary folder and the stages run on them as users run them. Peak memory is that
of the stage's process; two lengths show whether it grows.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from ruamel.yaml import YAML

from benchmarks.rouge_texts import XSUM, Document, read_shapes
from brido.tables import CORPUS, LIKELIHOOD, POOL, SUPPORT, similarity_schema, write_table

ROOT = Path(__file__).parent.parent
SIZE = 32
BATCH = 1024
# What the pool says of candidates that all vote and can be elected.
BALLOT = {"sources": ["base"] * SIZE, "search_scores": [0.0] * SIZE}
BALLOT |= {name: [True] * SIZE for name in ("voters", "eligible", "ended")}
MEASURE = """
import resource, runpy, sys, time
start = time.perf_counter()
runpy.run_module(sys.argv[1], run_name="__main__", alter_sys=True)
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def write_texts(folder: Path, split: str, documents: int, texts: list[Document]) -> None:
    """Corpus and pool of one split."""

    def rows(columns: bool) -> Iterator[list[dict]]:
        for first in range(0, documents, BATCH):
            batch = []
            for index in range(first, min(first + BATCH, documents)):
                candidates, reference = texts[index % len(texts)]
                row = {"id": f"document-{index:07d}"}
                if columns:
                    row |= {"candidates": candidates, "raw": candidates} | BALLOT
                else:
                    row |= {"document": "d", "summary": reference, "references": [reference]}
                batch.append(row)
            yield batch

    write_table(folder / f"data/corpus/{split}.parquet", rows(False), CORPUS)
    write_table(folder / f"data/pool/{split}.parquet", rows(True), POOL)


def write_similarity(folder: Path, split: str, documents: int) -> None:
    """A similarity table of random values."""
    generator = np.random.default_rng(0)
    schema = similarity_schema(SIZE)

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, documents, BATCH):
            ids = pa.array([f"document-{i}" for i in range(first, min(first + BATCH, documents))])
            values = generator.random(len(ids) * SIZE * (SIZE + 1), np.float32)
            lists = pa.FixedSizeListArray.from_arrays(pa.array(values), SIZE * (SIZE + 1))
            yield pa.record_batch([ids, lists], names=schema.names)

    write_table(folder / f"data/similarity/{split}.parquet", batches(), schema)


def write_evidence(folder: Path) -> None:
    """What stage score checks its vote with, of one validation document."""
    for name, size in (("validation", SIZE), ("base", 1)):
        row = {"id": "document-0000000", "support": [1.0] * size, "unsupported": [0] * size}
        rows = [row | {"words": [9] * size}]
        write_table(folder / f"data/support/{name}.parquet", [rows], SUPPORT)
    row = {"id": "document-0000000", "log_probability": [0.0] * SIZE, "tokens": [9] * SIZE}
    write_table(folder / "data/likelihood/validation.parquet", [[row]], LIKELIHOOD)


def write_params(folder: Path, combination: str | None = None, **runtime: object) -> None:
    """params.yaml with the stages' defaults but for `runtime`, and no test documents.

    combination: that of section pairwise; None: the default.
    """
    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text())
    params["runtime"] |= runtime
    params["pairwise"]["combination"] = combination or params["pairwise"]["combination"]
    params["documents"]["test"] = 0
    params["systems"].remove("elected")
    with (folder / "params.yaml").open("w") as stream:
        yaml.dump(params, stream)


def run(folder: Path, stage: str) -> str:
    """Wall and CPU seconds and peak MiB of a stage's process, in words."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    output = subprocess.run(
        [sys.executable, "-c", MEASURE, stage],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    wall, used, peak = map(float, output.split())
    return f"{wall:.1f} s wall, {used:.1f} s CPU, {peak:.0f} MiB peak"


def main() -> None:
    """Print one line a run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--score-documents", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    texts = (read_shapes(None, SIZE)[XSUM] * 4)[:BATCH]
    for documents in (options.documents // 10, options.documents):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_params(folder, threads=options.threads)
            write_texts(folder, "train", documents, texts)
            write_texts(folder, "validation", 1, texts)
            print(
                f"pairwise, {documents:,} documents: {run(folder, 'stages.pairwise')}", flush=True
            )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_params(folder, threads=options.threads)
        for split, documents in (("train", options.score_documents), ("validation", 1)):
            write_texts(folder, split, documents, texts)
            write_similarity(folder, split, documents)
        write_evidence(folder)
        print(f"score, {options.score_documents:,} documents: {run(folder, 'stages.score')}")


if __name__ == "__main__":
    main()
