"""Which stages a changed parameter reruns: read off DVC's graph, and once by a real run."""

import json
import re

import networkx
import pytest
from dvc.repo import Repo
from dvc_project import ROOT, commit, copy_project, overrides, run

TUNED = ("vote", "information", "control")
VARIANTS = ("guided", "short", "checked")
SYSTEMS = ("reference", "base", "elected", *VARIANTS, *TUNED)


def each(stage, systems=TUNED):
    """A stage of these systems."""
    return {f"{stage}@{system}" for system in systems}


END = {"choose", "report"}
TAIL = {*each("train"), *each("decode"), *each("evaluate"), *END}
ELECT = {"elect", "evaluate@elected"}
EVALUATE_ALL = each("evaluate", SYSTEMS)
VARY = {*each("vary", VARIANTS), *each("evaluate", VARIANTS)}
ORDERS = {*each("score"), *TAIL}
AFTER_SUPPORT = {*ORDERS, *ELECT}
AFTER_POOL = {"pairwise", "support", "likelihood", *AFTER_SUPPORT}
AFTER_GENERATE = {"generate@base", "pool", *AFTER_POOL}
CONTROL = {"score@control", "train@control", "decode@control", "evaluate@control"}


@pytest.fixture(scope="module")
def graph():
    with Repo(str(ROOT)) as repo:
        yield repo.index.graph


def rerun(graph, key):
    """The stages whose params cover `key`, and every stage downstream of them.

    Stage needs stops there: its files keep their bytes unless an order needs more of them
    (tests/stages/test_needs.py).
    """
    stages = set()
    for stage in graph:
        for param in stage.params:
            if any(key == name or key.startswith(f"{name}.") for name in param.params):
                later = networkx.ancestors(graph, stage) if stage.addressing != "needs" else ()
                stages |= {stage, *later}
    return {_short(stage.addressing) for stage in stages}


def _short(name):
    """evaluate_tuned@SYSTEM and evaluate_variants@SYSTEM -> evaluate@SYSTEM."""
    return re.sub("^evaluate_[a-z]+", "evaluate", name)


@pytest.mark.parametrize(
    ("key", "stages"),
    [
        ("scoring.alpha", {"needs", *ORDERS}),
        ("scoring.normalization", {"needs", *ORDERS, *ELECT}),
        ("scoring.unit", {"needs", "pairwise", *ORDERS, *ELECT}),
        # Candidates of a checked system are written as these.
        ("generation.base.diversity_penalty", {*AFTER_GENERATE, *VARY}),
        ("documents.train", AFTER_GENERATE),
        ("pool.eligible", {"pool", *AFTER_POOL}),
        ("pairwise.combination", {"pairwise", *ORDERS, *ELECT}),
        ("support.checker", {"support", *AFTER_SUPPORT}),
        ("likelihood.others", {"likelihood", *AFTER_SUPPORT}),
        ("training.gamma", TAIL),
        ("tuned.control.scoring.shuffle", {"needs", *CONTROL, *END}),
        ("variants.guided.guidance.weight", {"vary@guided", "evaluate@guided", *END}),
        (
            "decoding.length_penalty",
            {"decode_base", *VARY, *EVALUATE_ALL, *each("decode"), *END}
            - {"evaluate@reference", "evaluate@elected"},
        ),
        (
            "reading.default.max_source_tokens",
            # Fine-tuning reads as later stages do; what does not fine-tune comes back as it was.
            {"checkpoint@base", "decode_base", "evaluate@base", *VARY, *AFTER_GENERATE},
        ),
        ("choice.rouge_loss", END),
        ("choice.among", {*EVALUATE_ALL, *END}),
        ("report.bootstrap_samples", END),
        ("runtime.batch_tokens", set()),
    ],
)
def test_a_changed_key_reruns_these_stages(graph, key, stages):
    assert rerun(graph, key) == stages


def test_a_metric_reruns_alone(graph):
    assert rerun(graph, "evaluation.rouge.use_stemmer") == {*EVALUATE_ALL, "sensitivity", *END}


def test_everything_follows_the_data(graph):
    every = {_short(stage.addressing) for stage in graph}
    assert rerun(graph, "data.world.seed") == every - {"needs"}


def test_what_orders_need_decides_support_and_likelihood_alone(graph):
    (needs,) = (stage for stage in graph if stage.addressing == "needs")
    direct = {_short(stage.addressing) for stage in graph.predecessors(needs)}
    assert direct == {"support", "likelihood"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The pipeline run once on a small world, committed, and what that run printed."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    settings = [part for override in overrides() for part in ("-S", override)]
    output = run(folder, "dvc", "exp", "run", "-n", "small", *settings)
    commit(folder, "small")
    return folder, output


def stages_run(output):
    """The stages that a `dvc repro` or `dvc exp run` says it ran."""
    lines = [line for line in output.splitlines() if line.startswith("Running stage '")]
    return {_short(line.split("'")[1]) for line in lines}


@pytest.mark.slow
def test_the_whole_pipeline_as_a_dvc_user_sees_it(project):
    folder, first = project
    assert stages_run(first) >= {"download", "checkpoint@base", *TAIL}
    kept = json.loads((folder / "metrics/intervals.json").read_text())
    assert set(kept["systems"]) == set(SYSTEMS)
    before, page = numbers(folder), (folder / "report/index.html").read_bytes()

    again = run(folder, "dvc", "repro")
    assert stages_run(again) == set()

    choice = json.loads((folder / "metrics/choice.json").read_text())
    assert choice["chosen"] in SYSTEMS
    assert any(line in first for line in choice["verdict"])
    assert (folder / "data/chosen/brido.json").is_file()

    # Another way to decode trains nothing.
    output = run(folder, "dvc", "exp", "run", "-S", "decoding.length_penalty=0.5", "decode")
    assert stages_run(output) == {*each("decode")}
    run(folder, "git", "reset", "-q", "--hard")

    # Without the control nobody else is trained again.
    output = run(folder, "dvc", "exp", "run", "-S", "~tuned.control")
    assert stages_run(output) == {"needs", *END}
    assert "No control was trained" in output
    run(folder, "git", "reset", "-q", "--hard")

    changes = ("-S", "scoring.alpha=31", "-S", "evaluation.metrics=[rouge,world_judge]")
    output = run(folder, "dvc", "exp", "run", *changes)
    assert {"needs", *each("score"), *each("train"), *END} <= stages_run(output)
    assert stages_run(output) <= {"needs", *ORDERS, *EVALUATE_ALL, "sensitivity"}
    assert "chosen.good" in run(folder, "dvc", "metrics", "diff", "--all")
    assert "31" in run(folder, "dvc", "params", "diff")

    # The page of the experiment is that of no commit; with the commit its own comes back.
    assert (folder / "report/index.html").read_bytes() != page
    run(folder, "git", "reset", "-q", "--hard")  # DVC has staged the experiment's params
    run(folder, "dvc", "checkout")
    assert (folder / "report/index.html").read_bytes() == page
    assert "alpha: 0" in (folder / "params.yaml").read_text()

    # Back at alpha 0 only stages run whose files Git keeps, and the tables are those of the first
    # time. That all stages write the same bytes again is a test of its own: tests/test_kills.py.
    assert stages_run(run(folder, "dvc", "repro")) <= {"sensitivity", *END}
    assert numbers(folder) == before


def numbers(folder):
    """The bytes of every file below metrics."""
    files = (path for path in (folder / "metrics").rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}
