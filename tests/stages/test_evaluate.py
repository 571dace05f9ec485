"""The evaluate stage: its table, its signature, its errors, and equal bytes twice."""

import json

import pytest
from dying import dying

from brido.corpus.settings import WorldSettings
from brido.evaluation.registry import find_metric
from brido.settings.load import check_params
from brido.tables import CORPUS, DECODED, WORLD_CORPUS, read_metadata, read_rows, write_table
from brido.utils.errors import BridoError
from brido.world import documents
from stages import evaluate as stage
from stages import paths
from stages.evaluate import evaluate

PARAMS = check_params({"checkpoints": {"base": {"source": "embedded"}}})
CHEAP = ["rouge", "mentions", "world_judge"]


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


@pytest.mark.parametrize("metric", CHEAP)
def test_a_row_a_document_and_a_signature(project, metric):
    path = evaluate(PARAMS, metric, "vote")
    assert path == paths.evaluation(metric, "vote")
    rows = read_rows(path, None, "")
    assert [row["id"] for row in rows] == [row["id"] for row in project]
    assert tuple(rows[0])[1:-1] == find_metric(metric).names
    assert all(json.loads(row["detail"]) is not None for row in rows)
    signature = read_metadata(path, "")["signature"]
    assert signature["n"] == len(project)
    assert signature["implementation"]
    first = path.read_bytes()
    assert evaluate(PARAMS, metric, "vote").read_bytes() == first


@pytest.mark.parametrize(("code", "again"), [("", 2), ("-other", 3)])
def test_after_a_kill_parts_that_other_code_measured_are_measured_again(
    project, monkeypatch, code, again
):
    measured, own = [], stage.code_key()

    monkeypatch.setattr(stage, "PART", 4)
    monkeypatch.setattr(stage, "Measurer", dying(stage.Measurer, measured))
    with pytest.raises(KeyboardInterrupt):
        evaluate(PARAMS, "rouge", "vote")
    monkeypatch.setattr(stage, "code_key", lambda: own + code)
    evaluate(PARAMS, "rouge", "vote")
    assert len(measured[2:]) == again


def test_a_corpus_without_facts(project):
    rows = [{name: row[name] for name in CORPUS.names} for row in project]
    write_table(paths.corpus("test"), [rows], CORPUS)
    path = evaluate(PARAMS, "mentions", "vote")
    assert "approximate" in read_metadata(path, "")["signature"]["implementation"]
    with pytest.raises(BridoError, match="world_qa needs the column `facts`"):
        evaluate(PARAMS, "world_qa", "vote")
    assert not paths.evaluation("world_qa", "vote").exists()


def test_summaries_of_other_documents_are_refused(project):
    write_summaries(project[1:], [row["summary"] for row in project[1:]])
    with pytest.raises(BridoError, match=r"(?s)other documents.*dvc repro decode@vote"):
        evaluate(PARAMS, "rouge", "vote")


def test_missing_tables_name_the_stage(project):
    with pytest.raises(BridoError, match="dvc repro decode_base"):
        evaluate(PARAMS, "rouge", "base")
    with pytest.raises(BridoError, match="dvc repro vary@guided"):
        evaluate(PARAMS, "rouge", "guided")
    paths.corpus("test").unlink()
    with pytest.raises(BridoError, match="dvc repro download"):
        evaluate(PARAMS, "rouge", "vote")


def test_the_command_line_explains_itself(run_stage, project):
    result = run_stage("stages.evaluate", "rouge")
    assert result.returncode == 2
    assert "usage: python -m stages.evaluate METRIC SYSTEM" in result.stderr
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
    assert f"for {14 * 3} answers (0 more are in the store)" in shown
    with pytest.raises(BridoError, match=r"no table of vote. `python -m stages.evaluate geval --"):
        evaluate(params, "geval", "vote")
    with pytest.raises(BridoError, match="rouge does not ask a server"):
        stage.forecast(params, "rouge")


@pytest.mark.parametrize(
    ("choice", "validation"),
    [
        ({}, {("rouge", "vote"), ("mentions", "vote"), ("rouge", "base"), ("mentions", "base")}),
        ({"among": ["guided"]}, {("rouge", "base"), ("mentions", "base")}),
        (
            {"among": [], "by": "extractiveness.coverage"},
            {("rouge", "base"), ("mentions", "base"), ("extractiveness", "base")},
        ),
    ],
)
def test_what_chooses_is_measured_on_validation_documents_too(choice, validation):
    """`among` without a name is refused elsewhere; base is always compared."""
    params = PARAMS.model_copy(update={"choice": PARAMS.choice.model_copy(update=choice)})
    both = {
        (metric, system)
        for metric in ("rouge", "mentions", "extractiveness", "world_qa")
        for system in ("reference", "base", "vote", "elected")
        if stage.splits_of(params, metric, system) == ["test", "validation"]
    }
    assert both == validation
    assert stage.splits_of(params, "rouge", "elected") == ["test"]
