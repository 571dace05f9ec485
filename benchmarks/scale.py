"""Memory of the driver over time, and documents a second, with either engine: stage pairwise.

    python -m benchmarks.scale [--documents 300000] [--rate-documents 60000] [--engines here,ray]

A table of N = 32 candidates of XSum's shape, the same 1,024 documents over and over under new ids,
is written to a temporary folder, and the stage runs on it as users run it, with two workers. What
is resident of the process that the user started is read while it works: all of it, and what is its
own (the rest is shared with others: files, libraries, Ray's object store). Then, on a table of
--rate-documents, the rate of one worker and of two, between the first finished unit and the last,
so that no start is in it, and the same with sentences to be found (a tenth as many documents of
CNN/DM's shape); 0 leaves that out. `ray` starts a local one. Linux.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rouge_texts import CNNDM, XSUM, read_shapes
from benchmarks.vote_tables import BATCH, ROOT, SIZE, write_params, write_texts
from stages.pairwise import SHARD_DOCUMENTS

ENGINES = ("here", "ray")
COMBINATIONS = {XSUM: "harmonic_r1_r2", CNNDM: "mean_r1_r2_rlsum"}
LINES = 12  # of a run's table
INTERVAL = 0.2  # seconds between two looks


@dataclass(frozen=True)
class Moment:
    """A look at a running stage: seconds since its start, documents finished, MiB of the driver."""

    seconds: float
    documents: int
    resident: float
    own: float


def write_project(folder: Path, documents: int, shape: str) -> None:
    """Tables of so many training documents."""
    texts = (read_shapes(None, SIZE)[shape] * 4)[:BATCH]
    write_texts(folder, "train", documents, texts)
    write_texts(folder, "validation", 1, texts)


def watch(
    folder: Path, engine: str, workers: int, documents: int, shape: str = XSUM
) -> list[Moment]:
    """Run the stage and look at it again and again."""
    here = engine == "here"
    number = {"threads": workers, "workers": None if here else workers}
    write_params(folder, COMBINATIONS[shape], engine=engine, log_seconds=1000.0, **number)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    environment.pop("RAY_ADDRESS", None)
    started, moments = time.monotonic(), []
    stage = subprocess.Popen(
        [sys.executable, "-m", "stages.pairwise"],
        cwd=folder, env=environment,
    )  # fmt: skip
    while stage.poll() is None:
        memory = _memory(stage.pid)
        shards = sum(1 for _ in (folder / ".brido/work/pairwise/train").glob("*/[0-9]*.parquet"))
        done = min(shards * SHARD_DOCUMENTS, documents)
        # At its end a stage removes its shards.
        done = max(done, moments[-1].documents if moments else 0)
        if memory:
            moments.append(Moment(time.monotonic() - started, done, *memory))
        time.sleep(INTERVAL)
    if stage.returncode:
        raise SystemExit(f"stages.pairwise failed ({engine}, {workers} workers)")
    return moments


def _memory(process: int) -> tuple[float, float] | None:
    """MiB that are resident of a process, and those of them that are its own; None at its end."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    found = {line.split(":")[0]: line.split()[1] for line in lines if "kB" in line}
    if "RssAnon" not in found:
        return None
    return int(found["VmRSS"]) / 1024, int(found["RssAnon"]) / 1024


def rate(moments: list[Moment], documents: int) -> float:
    """Documents a second between the first finished unit and the last."""
    first = next(moment for moment in moments if moment.documents)
    last = next(moment for moment in moments if moment.documents == documents)
    if last is first:
        return float("nan")  # so few that one look saw them all
    return (last.documents - first.documents) / (last.seconds - first.seconds)


def show(moments: list[Moment], documents: int) -> None:
    """A line for every so many seconds, the peaks, and the rate."""
    for moment in [*moments[:: max(len(moments) // LINES, 1)], moments[-1]]:
        print(
            f"  {moment.seconds:6.0f} s {moment.documents:9,} documents "
            f"{moment.resident:6.0f} MiB resident {moment.own:6.0f} MiB its own"
        )
    peak = max(moment.resident for moment in moments)
    middle = next(n for n, moment in enumerate(moments) if moment.documents >= documents / 2)
    before, after = (
        max(moment.own for moment in half) for half in (moments[:middle], moments[middle:])
    )
    print(
        f"  peak {peak:.0f} MiB; its own at most {before:.0f} in the first half of the documents, "
        f"{after:.0f} after it; {rate(moments, documents):,.0f} documents/s",
        flush=True,
    )


def compare(shape: str, documents: int, engines: list[str]) -> None:
    """A line for each engine: the rates of one worker and of two, and their ratio."""
    with tempfile.TemporaryDirectory() as name:
        write_project(Path(name), documents, shape)
        for engine in engines:
            one, two = (
                rate(watch(Path(name), engine, number, documents, shape), documents)
                for number in (1, 2)
            )
            print(
                f"{engine}, {shape}: {one:,.0f} documents/s, with two workers {two:,.0f}: "
                f"{two / one:.2f}",
                flush=True,
            )


def main() -> None:
    """Memory of every engine, then the rates of one worker and two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--rate-documents", type=int, default=60_000)
    parser.add_argument("--engines", default=",".join(ENGINES))
    options = parser.parse_args()
    engines = options.engines.split(",")
    with tempfile.TemporaryDirectory() as name:
        write_project(Path(name), options.documents, XSUM)
        for engine in engines:
            print(f"{engine}, two workers, {options.documents:,} documents:", flush=True)
            show(watch(Path(name), engine, 2, options.documents), options.documents)
    if options.rate_documents:
        for shape, documents in (
            (XSUM, options.rate_documents),
            (CNNDM, options.rate_documents // 10),
        ):
            compare(shape, documents, engines)


if __name__ == "__main__":
    main()
