"""The evaluate stage: its table, its signature, its errors, and equal bytes twice."""

import json
import os
from pathlib import Path

import pytest
from dying import dying

from brido.corpus.settings import WorldSettings
from brido.evaluation.parts import read_inputs
from brido.evaluation.registry import find_metric
from brido.settings.load import check_params
from brido.tables import CORPUS, DECODED, WORLD_CORPUS, read_metadata, read_rows, write_table
from brido.utils.errors import BridoError
from brido.world import documents
from stages import evaluate as stage
from stages import paths
from stages.evaluate import evaluate

BASE = {"checkpoints": {"base": {"source": "embedded"}}}
PARAMS = check_params(BASE)
CHEAP = ["rouge", "mentions", "world_judge"]
BY_ROUGE = {"by": "rouge.r1"}
BY_MENTIONS = {"by": "mentions.good", "rouge_loss": None}


def measuring(*metrics, **sections):
    """The defaults with these metrics."""
    evaluation = {"metrics": list(metrics)} | {name: {} for name in metrics}
    return check_params(BASE | {"evaluation": evaluation} | sections)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with twelve documents of the world and the summaries of a system."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    rows = list(documents(WorldSettings(), "test", 12))
    write_table(paths.corpus("test"), [rows], WORLD_CORPUS)
    write_summaries(rows, [row["summary"] for row in rows])
    return rows


def write_summaries(rows, texts, system="vote"):
    decoded = [
        {"id": row["id"], "summary": text, "score": 0.0}
        for row, text in zip(rows, texts, strict=True)
    ]
    write_table(paths.decoded(system, "test"), [decoded], DECODED)


def test_a_row_a_document_a_column_of_each_metric_and_signatures(project):
    params = measuring(*CHEAP)
    path = evaluate(params, "vote")
    assert path == paths.evaluation("vote")
    rows = read_rows(path, None, "")
    assert [row["id"] for row in rows] == [row["id"] for row in project]
    names = [f"{name}.{column}" for name in CHEAP for column in find_metric(name).names]
    assert list(rows[0]) == ["id", *names, "detail"]
    # Each column is that of the metric alone.
    inputs = read_inputs(paths.corpus("test"), paths.decoded("vote", "test"))
    for name in CHEAP:
        found = find_metric(name).measure(inputs)
        for row, alone, detail in zip(rows, found.rows, found.details, strict=True):
            assert {column: row[f"{name}.{column}"] for column in alone} == alone
            assert json.loads(row["detail"])[name] == json.loads(json.dumps(detail))
    signatures = read_metadata(path, "")["signature"]
    assert list(signatures) == sorted(CHEAP)
    assert all(own["n"] == len(project) and own["implementation"] for own in signatures.values())
    first = path.read_bytes()
    assert evaluate(params, "vote").read_bytes() == first
    assert list(Path(os.environ["BRIDO_WORK"]).rglob("*.parquet")) == []


def test_what_is_not_measured_is_null(project):
    write_summaries(project, [row["summary"] for row in project], "reference")
    (row, *_) = read_rows(
        evaluate(measuring("rouge", "mentions", "world_judge"), "reference"), None, ""
    )
    assert row["rouge.r1"] is None
    assert row["mentions.unsupported"] is not None
    (row, *_) = read_rows(evaluate(measuring("rouge", choice=BY_ROUGE), "reference"), None, "")
    assert (row["rouge.r1"], row["detail"]) == (None, "{}")


@pytest.mark.parametrize(("code", "again"), [("", 2), ("-other", 3)])
def test_after_a_kill_parts_that_other_code_measured_are_measured_again(
    project, monkeypatch, code, again
):
    measured, own = [], stage.code_key()

    monkeypatch.setattr(stage, "PART", 4)
    monkeypatch.setattr(stage, "Measurer", dying(stage.Measurer, measured))
    params = measuring("rouge", choice=BY_ROUGE)
    with pytest.raises(KeyboardInterrupt):
        evaluate(params, "vote")
    monkeypatch.setattr(stage, "code_key", lambda: own + code)
    evaluate(params, "vote")
    assert len(measured[2:]) == again


def test_a_corpus_without_facts(project):
    rows = [{name: row[name] for name in CORPUS.names} for row in project]
    write_table(paths.corpus("test"), [rows], CORPUS)
    path = evaluate(measuring("mentions", choice=BY_MENTIONS), "vote")
    assert "approximate" in read_metadata(path, "")["signature"]["mentions"]["implementation"]
    with pytest.raises(BridoError, match="world_qa needs the column `facts`"):
        evaluate(measuring("mentions", "world_qa", choice=BY_MENTIONS), "vote")


def test_summaries_of_other_documents_are_refused(project):
    write_summaries(project[1:], [row["summary"] for row in project[1:]])
    with pytest.raises(BridoError, match=r"(?s)other documents.*dvc repro decode@vote"):
        evaluate(PARAMS, "vote")


def test_missing_tables_name_the_stage(project):
    with pytest.raises(BridoError, match="dvc repro decode_base"):
        evaluate(PARAMS, "base")
    with pytest.raises(BridoError, match="dvc repro vary@guided"):
        evaluate(PARAMS, "guided")
    paths.corpus("test").unlink()
    with pytest.raises(BridoError, match="dvc repro download"):
        evaluate(PARAMS, "vote")


def test_the_command_line_explains_itself(run_stage, project):
    Path("params.yaml").write_text(json.dumps(BASE))
    result = run_stage("stages.evaluate", "rouge")
    assert result.returncode == 2
    assert "usage: python -m stages.evaluate SYSTEM" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_dry_run_counts_all_systems_in_one_sum(project, monkeypatch, capsys):
    """What two systems say in the same words is asked once; a stage says where the sum is."""
    same = [row["summary"] for row in project]
    write_summaries(project, same, "reference")
    write_summaries(project, same, "base")
    write_summaries(project, [*same[:-2], "Other.", "Another."], "vote")
    evaluation = {"metrics": ["geval", "mentions"], "mentions": {}}
    evaluation["geval"] = {"model": "m", "samples": 3}
    params = check_params(
        {
            "checkpoints": {"base": {"source": "embedded"}},
            "systems": ["reference", "base"],
            "tuned": {"vote": {}},
            "variants": {},
            "choice": {"rouge_loss": None, "by": "mentions.good"},
            "evaluation": evaluation,
            "runtime": {"endpoint": {"base_url": "http://localhost:1/v1", "dry_run": True}},
        }
    )
    monkeypatch.setattr(stage, "load_params", lambda: params)
    monkeypatch.setattr("sys.argv", ["stages.evaluate", "geval", "--dry-run"])
    stage.main()
    shown = capsys.readouterr().out
    assert "geval of reference, base, vote:" in shown
    assert f"calls to make:  {14 * 3} (0 more answers are in the store)" in shown
    with pytest.raises(BridoError, match=r"no table of vote. `python -m stages.evaluate geval --"):
        evaluate(params, "vote")
    with pytest.raises(BridoError, match="rouge does not ask a server"):
        stage.forecast(params, "rouge")


@pytest.mark.parametrize(
    ("choice", "measured"),
    [
        ({}, ["rouge", "mentions", "world_judge"]),
        ({"by": "extractiveness.coverage"},
         ["rouge", "mentions", "extractiveness", "world_judge"]),
    ],
)  # fmt: skip
def test_what_chooses_is_measured_on_validation_documents_too(choice, measured):
    params = PARAMS.model_copy(update={"choice": PARAMS.choice.model_copy(update=choice)})
    for split, names in (("test", params.evaluation.metrics), ("validation", measured)):
        assert [metric.name for metric in stage.metrics_of(params, "vote", split)] == names


@pytest.mark.parametrize(
    ("among", "both"),
    [(None, {"base", "vote"}), (["guided"], {"base"}), (["vote"], {"base", "vote"})],
)
def test_what_can_be_chosen_is_measured_on_validation_documents_too(monkeypatch, among, both):
    """Base is always compared."""
    choice = PARAMS.choice.model_copy(update={"among": among})
    params = PARAMS.model_copy(update={"choice": choice})
    asked = set()
    monkeypatch.setattr(stage, "load_params", lambda: params)
    monkeypatch.setattr(stage, "evaluate", lambda _, *what: asked.add(what))
    for system in ("reference", "base", "vote", "elected"):
        monkeypatch.setattr("sys.argv", ["stages.evaluate", system])
        stage.main()
    assert {system for system, split in asked if split == "validation"} == both
    assert len(asked) == 4 + len(both)
