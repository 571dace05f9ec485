"""A corpus without references: the vote of the candidates alone, from download to the page."""

import csv
import json
from pathlib import Path

import finished_run
import numpy as np
import pytest
from small_project import document

from brido.settings.load import load_params
from brido.tables import CORPUS, read_rows
from brido.utils.errors import BridoError
from stages import paths, score

FILES = {"train": "texts.jsonl", "summary_column": None}
FILES |= {"validation_fraction": 0.3, "test_fraction": 0.3}
CHANGES: dict = {
    "data": {"source": "files", "files": FILES},
    "documents": {"train": None, "validation": None},
    "systems": ["base"],
    "tuned": {"vote": {}},
    "variants": {},
    "evaluation": {"metrics": ["rouge", "mentions"]},
}


def test_from_download_to_the_page(tmp_path: Path, monkeypatch, capsys):
    texts = [{"id": f"d{number}", "document": document(number)} for number in range(40)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    finished_run.make(tmp_path, **CHANGES)
    monkeypatch.chdir(tmp_path)
    said = capsys.readouterr().err
    assert "documents have no reference: the elected candidate" in said
    assert "rouge base test: nothing measured" in said
    rows = read_rows(paths.corpus("train"), CORPUS, "")
    assert rows
    assert all(row["summary"] is None and row["references"] == [] for row in rows)
    matrices = read_rows(paths.similarity("train"), None, "")
    values = np.reshape([row["similarity"] for row in matrices], (-1, 4, 5))
    assert np.isnan(values[:, :, 4]).all()
    assert np.isfinite(values[:, :, :4]).all()
    with paths.history("vote").open() as stream:
        history = list(csv.DictReader(stream))
    assert float(history[0]["cross_entropy"]) > 0
    assert {row["rouge"] for row in history} == {""}
    assert all(row["tau"] for row in history)
    choice = json.loads(paths.CHOICE.read_text())
    assert (choice["reason"], choice["by"]) == ("few documents", "mentions.good")
    assert all(row["rouge"] is None for row in choice["systems"].values())
    kept = json.loads(Path("metrics/intervals.json").read_text())
    assert "mentions" in kept["systems"]["vote"]
    assert Path("report/index.html").is_file()
    # Settings of another corpus, whose alpha asks for its references.
    asks = {"scoring": {"alpha": 1.0}, "choice": {"by": "mentions.good"}}
    finished_run.write_params(tmp_path, **CHANGES | {"data": {"source": "world"}} | asks)
    with pytest.raises(BridoError, match=r"scoring\.alpha.*has no reference"):
        score.write_scores(load_params(), "vote")
