"""A corpus without references: the vote of the candidates alone, from download to the page."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from small_project import document, write_checkpoint

from brido.settings.load import check_params
from brido.tables import CORPUS, read_batches, read_rows, similarity_schema
from brido.utils.errors import BridoError
from stages import (
    choose,
    decode,
    download,
    evaluate,
    generate,
    likelihood,
    needs,
    pairwise,
    paths,
    pool,
    report,
    score,
    support,
    train,
)  # fmt: skip

SYSTEMS = ["base", "vote"]


def raw_params(**changes: object) -> dict:
    """A small params.yaml on files without summaries."""
    files = {"train": "texts.jsonl", "summary_column": None}
    files |= {"validation_fraction": 0.3, "test_fraction": 0.3}
    source = {"checkpoint": "base", "min_length": 5, "max_length": 12, "diversity_penalty": 3.0}
    source |= {"num_candidates": 4, "num_beams": 4, "num_beam_groups": 4}
    reading = {"max_source_tokens": 20, "decoder_prefix": "generation"}
    validation = {"every": 4, "documents": 4}
    raw: dict = {
        "data": {"source": "files", "files": files},
        "checkpoints": {"base": {"source": "none here"}},
        "reading": {"default": reading},
        "generation": {"base": source},
        "documents": {"train": None, "validation": None},
        "training": {"epochs": 1, "validation": validation, "max_candidate_tokens": 12},
        "pool": {"too_few": "leave_out"},
        "systems": ["base"],
        "tuned": {"vote": {}},
        "variants": {},
        "evaluation": {"metrics": ["rouge", "mentions"], "rouge": {}, "mentions": {}},
        "runtime": {"device": "cpu", "threads": 1},
        "report": {"bootstrap_samples": 20, "page_documents": 3},
    }
    for place, value in changes.items():
        section, _, key = place.partition("__")
        raw[section] = raw.get(section, {}) | {key: value} if key else value
    return raw


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    texts = [{"id": f"d{number}", "document": document(number)} for number in range(40)]
    Path("texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    Path("params.yaml").write_text(yaml.safe_dump(raw_params()))
    write_checkpoint(paths.checkpoint("base"))
    return tmp_path


def test_from_download_to_the_page(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    params = check_params(raw_params())
    download.main()
    rows = read_rows(paths.corpus("train"), CORPUS, "")
    assert rows
    assert all(row["summary"] is None and row["references"] == [] for row in rows)
    generate.make(params, "base")
    pool.main()
    pairwise.main()
    for batch in read_batches(paths.similarity("train"), similarity_schema(4), ""):
        values = batch["similarity"].flatten().to_numpy(zero_copy_only=False).reshape(-1, 4, 5)
        assert np.isnan(values[:, :, 4]).all()
        assert np.isfinite(values[:, :, :4]).all()
    labelled = raw_params(
        scoring__alpha=1.0, data={"source": "world"}, choice={"by": "mentions.good"}
    )
    with pytest.raises(BridoError, match=r"scoring\.alpha.*has no reference"):
        score.write_scores(check_params(labelled), "vote")
    decode.decode(params, "base")
    for stage in (needs, support, likelihood, score, train):
        arguments = ["vote"] if stage in (score, train) else []
        monkeypatch.setattr("sys.argv", [stage.__name__, *arguments])
        stage.main()
    said = capsys.readouterr().err
    assert "documents have no reference: the elected candidate" in said
    with paths.history("vote").open() as stream:
        history = list(csv.DictReader(stream))
    assert float(history[0]["cross_entropy"]) > 0
    assert {row["rouge"] for row in history} == {""}
    assert all(row["tau"] for row in history)
    decode.decode(params, "vote")
    for system in SYSTEMS:
        for split in ("validation", "test"):
            evaluate.evaluate(params, system, split)
    assert "rouge base test: nothing measured" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["stages.choose"])
    choose.main()
    choice = json.loads(paths.CHOICE.read_text())
    assert (choice["reason"], choice["by"]) == ("few documents", "mentions.good")
    assert all(row["rouge"] is None for row in choice["systems"].values())
    report.main()
    kept = json.loads(Path("metrics/intervals.json").read_text())
    assert "mentions" in kept["systems"]["vote"]
    assert Path("report/index.html").is_file()


def test_what_needs_references_is_refused_in_the_settings() -> None:
    with pytest.raises(BridoError) as error:
        check_params(raw_params(scoring__alpha=3.0, systems=["reference", "base"]))
    said = str(error.value)
    assert "systems: remove `reference`" in said
    assert "scoring.alpha: 3" in said
    assert said.count("(data.files.summary_column is null)") == 2


@pytest.mark.parametrize(
    ("base", "key"),
    [
        ({"source": "embedded", "embedded": {"world": None}}, "embedded"),
        ({"source": "x", "fine_tuning": {}}, "fine_tuning"),
    ],
)
def test_a_model_that_would_learn_from_references_is_refused_in_the_settings(base, key) -> None:
    with pytest.raises(BridoError, match=rf"checkpoints\.base\.{key}: .*summary_column is null"):
        check_params(raw_params(checkpoints={"base": base}))
