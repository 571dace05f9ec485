"""Which stages a changed parameter reruns: read off DVC's graph, and once by a real run."""

import json

import networkx
import pytest
from dvc.repo import Repo
from dvc_project import ROOT, commit, copy_project, run, small_settings

TAIL = {"train", "decode@tuned", "evaluate-tuned", "report"}
ELECT = {"elect", "evaluate-elected"}
SYSTEMS = ("reference", "base", "guided", "elected", "tuned")
EVALUATE_ALL = {f"evaluate-{system}" for system in SYSTEMS}
GUIDE = {"guide@guided", "evaluate-guided"}
AFTER_POOL = {"pairwise", "support", "likelihood", "score", *ELECT, *TAIL}
AFTER_GENERATE = {"generate@base", "pool", *AFTER_POOL}
# Read off the graph: in a run DVC stops at `score`, whose scores do not depend on these.
AFTER_SUPPORT = {"support", "score", *ELECT, *TAIL}


@pytest.fixture(scope="module")
def graph():
    with Repo(str(ROOT)) as repo:
        yield repo.index.graph


def rerun(graph, key):
    """The stages whose params cover `key`, and every stage downstream of them."""
    stages = set()
    for stage in graph:
        for param in stage.params:
            if any(key == name or key.startswith(f"{name}.") for name in param.params):
                stages |= {stage, *networkx.ancestors(graph, stage)}
    return {_short(stage.addressing) for stage in stages}


def _short(name):
    """evaluate@METRIC-SYSTEM -> evaluate-SYSTEM: the metric does not matter here."""
    name, _, item = name.partition("@")
    return f"evaluate-{item.split('-')[-1]}" if name == "evaluate" else f"{name}@{item}".strip("@")


@pytest.mark.parametrize(
    ("key", "stages"),
    [
        ("scoring.alpha", {"score", *TAIL}),
        ("scoring.normalization", {"score", *ELECT, *TAIL}),
        ("scoring.unit", {"pairwise", "score", *ELECT, *TAIL}),
        ("generation.base.diversity_penalty", AFTER_GENERATE),
        ("documents.train", AFTER_GENERATE),
        ("pool.eligible", {"pool", *AFTER_POOL}),
        ("pairwise.combination", {"pairwise", "score", *ELECT, *TAIL}),
        ("support.checker", AFTER_SUPPORT),
        ("likelihood.others", {"likelihood", "score", *ELECT, *TAIL}),
        ("scoring.information", {"likelihood", "score", *ELECT, *TAIL}),
        ("scoring.prior_weight", {"likelihood", "score", *ELECT, *TAIL}),
        ("training.gamma", TAIL),
        ("guidance.guided.weight", {*GUIDE, "report"}),
        (
            "decoding.length_penalty",
            {"decode@base", "decode@tuned", *GUIDE, *EVALUATE_ALL, *AFTER_SUPPORT},
        ),
        (
            "reading.default.max_source_tokens",
            # Fine-tuning reads as later stages do; what does not fine-tune comes back as it was.
            {"checkpoint@base", "decode@base", "evaluate-base", *GUIDE, *AFTER_GENERATE},
        ),
        ("report.bootstrap_samples", {"report"}),
        ("runtime.batch_tokens", set()),
    ],
)
def test_a_changed_key_reruns_these_stages(graph, key, stages):
    found = rerun(graph, key)
    if key.startswith("decoding"):
        stages = stages - {"evaluate-reference"}
    assert found == stages


def test_a_metric_reruns_alone(graph):
    assert rerun(graph, "evaluation.rouge.use_stemmer") == {*EVALUATE_ALL, "report"}


def test_everything_follows_the_data(graph):
    assert rerun(graph, "data.world.seed") == {_short(stage.addressing) for stage in graph}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The pipeline run once on a small world, committed, and what that run printed."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    output = run(folder, "dvc", "exp", "run", "-n", "small", *small_settings())
    commit(folder, "small")
    return folder, output


def stages_run(output):
    """The stages that a `dvc repro` or `dvc exp run` says it ran."""
    lines = [line for line in output.splitlines() if line.startswith("Running stage '")]
    return {_short(line.split("'")[1]) for line in lines}


@pytest.mark.slow
def test_the_whole_pipeline_as_a_dvc_user_sees_it(project):
    folder, first = project
    assert stages_run(first) >= {"download", "checkpoint@base", "train", "report"}
    systems = {path.stem for path in (folder / "metrics/systems").glob("*.json")}
    assert systems == set(SYSTEMS)
    before = {
        path.name: path.read_bytes() for path in (folder / "metrics").rglob("*") if path.is_file()
    }

    again = run(folder, "dvc", "repro")
    assert stages_run(again) == set()

    votes = json.loads((folder / "metrics/votes.json").read_text())
    assert votes["election"]["sentence"] in first

    # Another way to decode tells base's own output anew, and trains nothing.
    output = run(folder, "dvc", "exp", "run", "-S", "decoding.length_penalty=0.5")
    assert {"decode@base", "support", "score"} <= stages_run(output)
    assert "train" not in stages_run(output)
    run(folder, "git", "reset", "-q", "--hard")

    output = run(folder, "dvc", "exp", "run", "-S", "scoring.alpha=31")
    assert stages_run(output) == {"score", *TAIL}
    assert json.loads((folder / "metrics/systems/base.json").read_text())
    assert "tuned" in run(folder, "dvc", "metrics", "diff", "--all")
    assert "31" in run(folder, "dvc", "params", "diff")

    # Back at alpha 0 with every stage forced: the same bytes as the first time.
    run(folder, "git", "reset", "-q", "--hard")  # DVC has staged the experiment's params
    assert "alpha: 0 " in (folder / "params.yaml").read_text()
    run(folder, "dvc", "repro", "--force")
    after = {
        path.name: path.read_bytes() for path in (folder / "metrics").rglob("*") if path.is_file()
    }
    assert after.keys() == before.keys()
    changed = [name for name in after if after[name] != before[name] and name != "training.csv"]
    assert changed == []
