"""The command `brido evaluate`: every metric on a file, its settings, means and lines."""

import json

import numpy as np
import pytest
from bad_endpoint import BadEndpoint
from rouge_score.rouge_scorer import RougeScorer

from brido.cli.evaluate import command, read_settings
from brido.stats import bootstrap_interval
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

ROWS = [
    {
        "id": f"d{number}",
        "document": f"Document {number} is about Leeds.",
        "summary": f"About Leeds, {number}.",
        "reference": f"It is about Leeds and {number}.",
    }
    for number in range(24)
]


@pytest.fixture
def given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_means_with_intervals_and_a_line_for_each_document(given, tmp_path, capsys):
    invoke(command, ["rouge", given, "-o", str(tmp_path / "out.jsonl")])
    printed = capsys.readouterr().out
    rows = lines((tmp_path / "out.jsonl").read_text())
    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    expected = [
        100 * scorer.score(row["reference"], row["summary"])["rouge1"].fmeasure for row in ROWS
    ]
    assert [row["r1"] for row in rows] == expected
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    (low,), (high,) = bootstrap_interval(np.array(expected)[:, None], 1000, 0.95, 0)
    (line,) = [line for line in printed.splitlines() if line.startswith("R-1 ")]
    assert line.split()[1:] == [
        f"{np.mean(expected):.2f}", f"({low:.1f}…{high:.1f}),", "24", "documents",
    ]  # fmt: skip
    assert json.loads(printed.split("signature: ")[1])["implementation"] == "rouge_score"
    invoke(command, ["rouge", given, "-o", "-"])
    both = capsys.readouterr()
    assert lines(both.out) == rows
    assert "R-1" in both.err


def endpoint(server=None):
    words = ["model=judge", "samples=1", "store=a.sqlite"]
    words += [] if server is None else [f"base_url={server.url}"]
    return [part for word in words for part in ("-S", word)]


def test_a_judge_is_counted_asked_and_replayed(given, capsys):
    marks = {"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 2}
    with BadEndpoint(answer=lambda *_: json.dumps(marks)) as server:
        invoke(command, ["geval", given, "--dry-run", *endpoint(server)])
        assert "calls to make:  24 " in capsys.readouterr().out
        assert not server.requests
        invoke(command, ["geval", given, "-o", "-", *endpoint(server)])
        asked = capsys.readouterr().out
    assert {name: lines(asked)[0][name] for name in marks} == marks
    invoke(command, ["geval", given, "-o", "-", "-S", "replay=true", *endpoint()])
    assert capsys.readouterr().out == asked


def test_a_full_key_is_taken_as_it_is(tmp_path):
    short = ["model=m", "max_cost=2", "samples=3", "runtime.device=cpu"]
    settings, runtime = read_settings("geval", short)
    assert (settings.model, settings.samples, runtime.endpoint.max_cost) == ("m", 3, 2)
    assert runtime.device == "cpu"
    full = ["evaluation.geval.model=m", "runtime.endpoint.max_cost=2", *short[2:]]
    assert read_settings("geval", full) == (settings, runtime)
    # The metric has no such key; the whole run's budget has another name.
    with pytest.raises(BridoError, match=r"evaluation\.geval\.max_tokens: unknown key"):
        read_settings("geval", ["evaluation.geval.max_tokens=5"])


def test_wrong_settings_are_named_together_and_never_shown():
    wrong = ["modle=m", "samples=none", "top_p=7", "key=sk-secret", "seed=2024-99-99"]
    with pytest.raises(BridoError) as error:
        read_settings("geval", wrong)
    text = str(error.value)
    keys = {line.split(":")[0].removeprefix("  - ") for line in text.splitlines()[1:]}
    names = ("modle", "samples", "top_p", "key", "seed")
    assert keys == {f"evaluation.geval.{name}" for name in names}
    with pytest.raises(BridoError) as other:
        read_settings("geval", ["sk-secret"])
    assert "sk-secret" not in text + str(other.value)
