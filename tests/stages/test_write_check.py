"""The check of the orders: which tables it reads, and the rows of metrics/votes.json."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pool_rows import pooled

from brido.settings.load import load_params
from brido.tables import (
    CORPUS,
    LIKELIHOOD,
    POOL,
    SUPPORT,
    similarity_schema,
    write_table,
)
from brido.utils.errors import BridoError
from brido.vote.consensus import consensus_scores, ranking
from brido.vote.evidence import write_check
from brido.vote.settings import ScoringSettings
from brido.vote.signals import shuffled_scores
from stages import check as check_stage
from stages import paths

ROOT = Path(__file__).parents[2]

SIZE, DOCUMENTS = 6, 40
VOTE = ScoringSettings(information=0.0)
LIKELY = ScoringSettings(information=1.0)
CONTROL = ScoringSettings(information=0.0, shuffle=True)


@pytest.fixture(autouse=True)
def similarity(tmp_path, monkeypatch):
    """Tables of validation documents, a later candidate more wrong and less likely."""
    monkeypatch.chdir(tmp_path)
    ids = [f"d{number}" for number in range(DOCUMENTS)]
    values = np.random.default_rng(0).random((DOCUMENTS, SIZE, SIZE + 1)).astype(np.float32)
    rows = [
        {"id": name, "similarity": value.reshape(-1)}
        for name, value in zip(ids, values, strict=True)
    ]
    write_table(paths.similarity("validation"), [rows], similarity_schema(SIZE))
    pool = [pooled(name, ["a"] * SIZE) for name in ids]
    write_table(paths.pool("validation"), [pool], POOL)
    warn_of_pool()
    corpus = [{"id": n, "document": "d", "summary": "s", "references": ["s"]} for n in ids]
    write_table(paths.corpus("validation"), [corpus], CORPUS)
    write_evidence(ids)
    return values


def warn_of_pool(*warnings):
    counts = {"warnings": {"validation": warnings, "train": ["Not these."]}}
    paths.pool_counts().write_text(json.dumps(counts))


def write_evidence(ids, others=2, base="model", **about):
    wrong = [0] * 2 + [1] * (SIZE - 2)
    for path, counts in ((paths.support("validation"), wrong), (paths.support("base"), [1])):
        row = {"support": [1.0 - count for count in counts], "unsupported": counts}
        row |= {"words": [9] * len(counts), "whole": [True] * len(counts)}
        rows = [{"id": name, "copied": [0.5] * len(counts)} | row for name in ids]
        known = {"judge": "a judge", "exact": False, "second": False, "rules": ""} | about
        write_table(path, [rows], SUPPORT, known | ({"base": base} if base else {}))
    row = {"log_probability": [-1.0 * place for place in range(SIZE)], "tokens": [2] * SIZE}
    row["prior"] = [-3.0 * SIZE + 2.0 * place for place in range(SIZE)] if others else None
    about = {"others": others, "other_writers": ["served"]}
    rows = [{"id": name} | row for name in ids]
    write_table(paths.likelihood("validation"), [rows], LIKELIHOOD, about)


def check(**orders):
    written = Path("metrics/votes.json")
    content = write_check(paths.tables("validation"), orders, paths.pool_counts(), written)
    assert json.loads(written.read_text()) == content
    return content


def test_every_order_has_a_row_and_equal_ones_share_it(similarity):
    found = check(control=CONTROL, vote=VOTE, likely=LIKELY, flat=VOTE, plain=VOTE)
    assert list(found["orders"]) == ["vote", "likely", "control"]
    assert found["orders"]["vote"]["names"] == ["vote", "flat", "plain"]
    # The first that is not shuffled elects, as the system `elected` does.
    assert found["election"]["order"] == "vote"
    scores = consensus_scores(similarity, 0)
    first = ranking(scores)[:, 0]
    assert found["election"]["unsupported"]["elected"]["mean"] == np.mean(first >= 2)
    assert found["election"]["good"]["base"]["mean"] == 0.0
    names = [f"d{number}" for number in range(DOCUMENTS)]
    shuffled = ranking(shuffled_scores(scores, names))[:, 0]
    assert found["orders"]["control"]["elected_unsupported"] == np.mean(shuffled >= 2)
    assert found["orders"]["likely"]["mean"] == 1.0
    # It is all base's own preference.
    assert found["orders"]["likely"]["left"]["mean"] == 0.5
    # What is a row already is not repeated.
    assert not {"consensus", "shuffled"} & set(found["fixed"])
    assert {"half", "reference", "copied", "shorter"} <= set(found["fixed"])
    assert found["fixed"]["log_probability"]["mean"] == 1.0
    # So does what their document adds: -i - 0.2 * (2 i - 18) falls.
    assert found["fixed"]["information"]["mean"] == 1.0
    assert (found["documents"], found["base"], found["judge"]) == (40, "model", "a judge")
    assert found["length_tolerance"] == 0.15
    assert found["other_writers"] == ["served"]
    assert "support" not in found["fixed"]


def test_the_stage_checks_every_entry_of_tuned_and_prints_the_lines(capsys):
    shutil.copy(ROOT / "params.yaml", "params.yaml")
    check_stage.main()
    found = json.loads(Path("metrics/votes.json").read_text())
    names = [name for row in found["orders"].values() for name in row["names"]]
    assert set(names) == set(load_params().tuned)
    said = capsys.readouterr().err.splitlines()
    assert said[-len(found["lines"]) :] == [f"check: {line}" for line in found["lines"]]


def test_an_order_with_the_reference_stands_beside_the_consensus():
    found = check(brio=ScoringSettings(information=0.0, alpha=math.inf))
    assert "reference" not in found["fixed"]
    assert {"consensus", "shuffled"} <= set(found["fixed"])


def test_of_the_control_alone_the_control_elects():
    assert check(control=CONTROL)["election"]["order"] == "control"


def test_warnings_of_stage_pool_are_repeated():
    warn_of_pool("4 of 9 ended.")
    found = check(vote=VOTE)
    assert found["warnings"] == ["4 of 9 ended."]
    assert "4 of 9 ended." in found["lines"][0]
    assert found["lines"][1] == found["election"]["sentence"]
    warn_of_pool()
    assert check(vote=VOTE)["warnings"] == []
    paths.pool_counts().write_text("{")
    with pytest.raises(BridoError, match="dvc repro -sf pool"):
        check(vote=VOTE)


def test_without_other_documents_information_has_no_row():
    write_evidence([f"d{number}" for number in range(DOCUMENTS)], others=0)
    found = check(vote=VOTE)
    assert "information" not in found["fixed"]
    assert found["fixed"]["log_probability"]["mean"] == 1.0


def test_on_the_world_lengths_are_equal_and_another_checker_is_judged():
    ids = [f"d{number}" for number in range(DOCUMENTS)]
    write_evidence(ids, exact=True, second=True, rules="whole: so")
    found = check(vote=VOTE)
    assert found["length_tolerance"] == 0
    assert found["fixed"]["support"]["mean"] == 1.0
    assert found["rules"] == "whole: so"


def test_a_split_without_candidates_is_named():
    for name, schema in (("pool", POOL), ("support", SUPPORT), ("likelihood", LIKELIHOOD)):
        write_table(getattr(paths, name)("validation"), [[]], schema)
    write_table(paths.support("base"), [[]], SUPPORT)
    write_table(paths.similarity("validation"), [[]], similarity_schema(SIZE))
    with pytest.raises(BridoError, match=r"documents\.validation"):
        check(vote=VOTE)


def test_what_no_table_says_is_left_out():
    write_evidence([f"d{number}" for number in range(DOCUMENTS)], base=None)
    tables = replace(paths.tables("validation"), own=None, likelihood=None)
    found = write_check(tables, {"vote": VOTE}, paths.pool_counts(), paths.VOTES)
    assert not {"election", "base"} & set(found)
    assert not {"information", "log_probability", "mean_log_probability"} & set(found["fixed"])
    assert found["taken_out"] == ["copied", "length"]
    assert found["other_writers"] == []


def test_the_file_is_json_for_readers():
    """UTF-8, a key a line, and a newline at the end."""
    check(vote=VOTE)
    text = Path("metrics/votes.json").read_text(encoding="utf-8")
    assert text.startswith('{\n  "base": "model",\n  "judge": "a judge",\n')
    assert text.endswith("\n}\n")
    assert "the reference (α = ∞)" in text


@pytest.mark.parametrize("stage", ["support", "likelihood"])
def test_a_table_that_is_missing_is_named_with_its_stage(stage):
    getattr(paths, stage)("validation").unlink()
    with pytest.raises(BridoError, match=rf"{stage}/validation\.parquet.*dvc repro {stage}`"):
        check(vote=VOTE)
