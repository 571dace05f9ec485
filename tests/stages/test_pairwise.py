"""Stage pairwise: the same bytes by any number of workers, and words of every script.

What it writes, and what it does after a kill, is in test_run.py.
"""

import json
from pathlib import Path

import finished_run
import numpy as np
import pyarrow.parquet as pq
from pool_rows import pooled

from brido.tables import CORPUS, POOL, read_metadata, write_table
from stages import pairwise, paths


def test_the_bytes_do_not_depend_on_the_number_of_workers(finished, monkeypatch):
    monkeypatch.setattr(pairwise, "SHARD_DOCUMENTS", 5)
    found = set()
    for combination in ("harmonic_r1_r2", "mean_r1_r2_rlsum"):  # threads, processes
        for threads in (1, 2):
            changes = {"pairwise": {"combination": combination}, "runtime": {"threads": threads}}
            finished_run.write_params(finished, **changes)
            pairwise.main()
            found.add((combination, paths.similarity("train").read_bytes()))
    assert len(found) == 2


def settings(**changes):
    params = {"pairwise": changes, "scoring": {"unit": "sentence"}, "documents": {"test": 0}}
    Path("params.yaml").write_text(json.dumps(params | {"systems": ["base"]}))


def test_texts_of_other_scripts_are_said_or_compared_by_unicode_words(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    texts = ["猫在睡觉。狗在叫。", "猫在睡觉。", "今天下雨。", "2024年。"]
    for split in ("train", "validation"):
        corpus = [{"id": split, "document": "d", "summary": texts[1], "references": []}]
        write_table(paths.corpus(split), [corpus], CORPUS)
        write_table(paths.pool(split), [[pooled(split, texts)]], POOL)
    settings()
    pairwise.main()
    said = capsys.readouterr().err
    assert "pairwise.tokenizer" in said
    assert "evaluation.rouge.tokenizer" in said
    settings(tokenizer="unicode")
    pairwise.main()
    assert "warning" not in capsys.readouterr().err
    kept = read_metadata(paths.similarity("train"), "")
    assert (kept["unit"], kept["pairwise"]["tokenizer"]) == ("sentence", "unicode")
    (row,) = pq.read_table(paths.similarity("train")).to_pylist()
    # The reference's sentence is in the first two candidates.
    votes = np.reshape(row["similarity"], (4, 5))
    assert votes[1, 4] == 1 > votes[0, 4] > 0 == votes[2, 4]
