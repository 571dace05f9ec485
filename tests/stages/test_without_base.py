"""A server's candidates are voted on, scored and exported where no model is named base."""

import itertools
import json
from pathlib import Path

import finished_run
import params_file
import pytest
from bad_endpoint import BadEndpoint
from click.testing import CliRunner

from brido.cli.main import group
from brido.settings.load import check_params
from brido.settings.presets import read_preset
from brido.tables import POOL, SCORES, read_rows
from brido.utils.errors import BridoError
from stages import paths

PRESETS = Path(__file__).parents[2] / "presets"
NOUNS = ("ferry", "bridge", "school", "market", "river")


def nothing(**sections):
    """The preset `endpoint` without a base."""
    raw = read_preset("endpoint", PRESETS) | sections
    return raw | {"checkpoints": {**raw["checkpoints"], "base": {"source": "none"}}}


def test_what_needs_base_is_named_at_once():
    beams = {"method": "diverse_beam", "checkpoint": "base"}
    raw = nothing(tuned={"vote": {}, "clear": {"scoring": {"information": 0.5}}})
    raw["generation"] = raw["generation"] | {"own": beams}
    raw["checkpoints"]["base"]["adapter"] = "my/adapter"
    raw["checkpoints"]["other"] = {"source": "none"}
    with pytest.raises(BridoError) as caught:
        check_params(raw)
    said = str(caught.value)
    keys = ("generation.own.checkpoint", "tuned.clear.scoring", "checkpoints.base.adapter")
    for key in (*keys, "checkpoints.other.source"):
        assert f"{key}:" in said
    assert "tuned.vote" not in said
    with pytest.raises(BridoError, match="scoring: information"):
        check_params(nothing(scoring={"information": 1.0}))


CALLS = itertools.count()


def answer(question):
    """Each call of a prompt gets another answer."""
    number = (sum(map(ord, question)) + 7 * next(CALLS)) % 97
    return f"The {NOUNS[number % 5]} was closed, and {number} people came."


STAGES = (
    "download", "checkpoint base", "decode base", "generate served", "pool", "pairwise", "needs",
    "support", "likelihood", "elect", "score vote",
)  # fmt: skip


def test_scores_and_pairs_come_without_a_base(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)
    (tmp_path / "my").mkdir()
    documents = [f"The {NOUNS[n % 5]} number {n} was closed on day {n * 7}." for n in range(40)]
    lines = [
        {"id": f"a{n}", "document": text, "summary": f"{NOUNS[n % 5]} {n} closed."}
        for n, text in enumerate(documents)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "my/articles.jsonl").write_text(text)
    raw = nothing()
    with BadEndpoint(answer=answer) as server:
        raw["runtime"]["endpoint"]["base_url"] = server.url
        params_file.write(tmp_path, raw)
        for stage in STAGES:
            finished_run.run(monkeypatch, *stage.split())
    pool = read_rows(paths.pool("train"), POOL, "")
    assert len(read_rows(paths.scores("vote", "train"), SCORES, "")) == len(pool) > 0
    done = CliRunner().invoke(group, ["export-pairs", "-o", "pairs.jsonl"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "pairs.jsonl").read_text().count("\n") > 20
