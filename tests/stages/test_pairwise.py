"""The pairwise stage: what it writes, however many workers there are."""

import json
import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from dying import dying
from pool_rows import pooled

from brido.tables import CORPUS, POOL, read_metadata, write_table
from stages import pairwise

TEXT = "Police said two men were hurt. The lorry hit a wall in Ashwick. Nobody was held."
WORDS = TEXT.split()
SIZE = 4


def summary(generator):
    return " ".join(generator.choices(WORDS, k=generator.randint(0, 14)))


def write_inputs(documents, skipped=(), validation=None):
    """Corpus and candidates of both splits; the candidates leave out the `skipped` rows."""
    tables = {}
    for split, count in (("train", documents), ("validation", validation or documents)):
        generator = random.Random(split)
        corpus = [
            {"id": f"{split}-{i}", "document": "d", "summary": summary(generator), "references": []}
            for i in range(count)
        ]
        rows = [
            pooled(row["id"], [summary(generator) for _ in range(SIZE)])
            for i, row in enumerate(corpus)
            if i not in skipped
        ]
        write_table(Path(f"data/corpus/{split}.parquet"), [corpus], CORPUS)
        write_table(Path(f"data/pool/{split}.parquet"), [rows], POOL)
        references = {row["id"]: row["summary"] for row in corpus}
        tables[split] = [(row["id"], row["candidates"], references[row["id"]]) for row in rows]
    return tables


def settings(threads=1, unit="summary", **changes):
    params = {"pairwise": changes, "scoring": {"unit": unit}, "runtime": {"threads": threads}}
    params |= {"documents": {"test": 0}, "systems": ["base"]}
    Path("params.yaml").write_text(json.dumps(params))


def output(split="train"):
    return Path(f"data/similarity/{split}.parquet")


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)


def test_the_bytes_do_not_depend_on_the_number_of_workers(monkeypatch):
    write_inputs(13, validation=2)
    monkeypatch.setattr(pairwise, "SHARD_DOCUMENTS", 5)
    found = set()
    for combination in ("harmonic_r1_r2", "mean_r1_r2_rlsum"):  # threads, processes
        for threads in (1, 2):
            settings(threads, combination=combination)
            pairwise.main()
            found.add((combination, output().read_bytes()))
    assert len(found) == 2


@pytest.mark.parametrize(("code", "again"), [("", 1), ("-other", 2)])
def test_after_a_kill_parts_that_other_code_compared_are_compared_again(monkeypatch, code, again):
    write_inputs(10, validation=2)
    settings()
    compared, own = [], pairwise.code_key()

    monkeypatch.setattr(pairwise, "SHARD_DOCUMENTS", 5)
    monkeypatch.setattr(pairwise, "Comparer", dying(pairwise.Comparer, compared))
    with pytest.raises(KeyboardInterrupt):
        pairwise.main()
    monkeypatch.setattr(pairwise, "code_key", lambda: own + code)
    pairwise.main()
    # The last one is of the validation documents.
    assert len(compared[2:-1]) == again


def test_texts_of_other_scripts_are_said_or_compared_by_unicode_words(capsys):
    texts = ["猫在睡觉。狗在叫。", "猫在睡觉。", "今天下雨。", "2024年。"]
    for split in ("train", "validation"):
        corpus = [{"id": split, "document": "d", "summary": texts[1], "references": []}]
        write_table(Path(f"data/corpus/{split}.parquet"), [corpus], CORPUS)
        write_table(Path(f"data/pool/{split}.parquet"), [[pooled(split, texts)]], POOL)
    settings(unit="sentence")
    pairwise.main()
    said = capsys.readouterr().err
    assert "pairwise.tokenizer" in said
    assert "evaluation.rouge.tokenizer" in said
    settings(unit="sentence", tokenizer="unicode")
    pairwise.main()
    assert "warning" not in capsys.readouterr().err
    kept = read_metadata(output(), "")
    assert (kept["unit"], kept["pairwise"]["tokenizer"]) == ("sentence", "unicode")
    (row,) = pq.read_table(output()).to_pylist()
    # The reference's sentence is in the first two candidates.
    votes = np.reshape(row["similarity"], (SIZE, SIZE + 1))
    assert votes[1, SIZE] == 1 > votes[0, SIZE] > 0 == votes[2, SIZE]
