"""The evaluate stage: its table, its signature, its errors, and equal bytes twice."""

import pytest
from dying import dying

from brido.corpus.settings import WorldSettings
from brido.settings.load import check_params
from brido.tables import CORPUS, DECODED, WORLD_CORPUS, read_metadata, write_table
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
