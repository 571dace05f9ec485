"""Speed and memory of the embedded world: python -m benchmarks.world

Each measurement runs in a process of its own, so that peak memory is that of one number of
documents; constant memory shows as equal peaks.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from brido.corpus.settings import WorldSettings
from brido.tables import ROWS_PER_GROUP, WORLD_CORPUS, write_table
from brido.world import documents


def measure(count: int, to_table: bool) -> None:
    """Generate `count` documents (and write them as the corpus table) and print one row."""
    start = time.process_time()
    if to_table:
        with tempfile.TemporaryDirectory() as folder:
            rows = documents(WorldSettings(), "train", count)
            batches = iter(lambda: list(islice(rows, ROWS_PER_GROUP)), [])
            write_table(Path(folder) / "corpus.parquet", batches, WORLD_CORPUS)
    else:
        for _ in documents(WorldSettings(), "train", count):
            pass
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    what = "generated and written as Parquet" if to_table else "generated"
    print(f"| {count:,} | {what} | {count / seconds:,.0f} | {peak:.0f} |", flush=True)


def main() -> None:
    """Print a table: documents a second of CPU time on one core, and peak memory."""
    parser = argparse.ArgumentParser(description="speed and memory of the embedded world")
    parser.add_argument("--one", type=int, help="measure this number of documents alone")
    parser.add_argument("--table", action="store_true", help="write the table too")
    options = parser.parse_args()
    if options.one:
        measure(options.one, options.table)
        return
    print("| documents | | per second of CPU time | peak MiB |\n|---|---|---|---|", flush=True)
    for count in (10_000, 100_000):
        for extra in ([], ["--table"]):
            command = [sys.executable, "-m", "benchmarks.world", "--one", str(count), *extra]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
