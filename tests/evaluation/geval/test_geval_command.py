"""The command `brido geval`."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from bad_endpoint import BadEndpoint
from standard_input import stdin
from written_marks import clean_answer

from brido.cli import geval as command
from brido.evaluation.geval import METRIC
from brido.evaluation.geval.criteria import CRITERIA
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

ROWS = [
    {
        "id": f"d{number}",
        "system": system,
        "document": f"Document {number}",
        "summary": f"{system}.",
    }
    for system in ("base", "tuned")
    for number in range(5)
]


def write_lines(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


@pytest.fixture
def given(tmp_path):
    return write_lines(tmp_path / "in.jsonl", ROWS)


def settings(tmp_path, server=None):
    words = ["model=judge", "score_mode=greedy", f"store={tmp_path / 'a.sqlite'}"]
    if server is not None:
        words.append(f"base_url={server.url}")
    return [part for word in words for part in ("-S", word)]


def test_a_table_means_differences_and_the_signature(tmp_path, given, capsys):
    out = tmp_path / "marks.parquet"
    with BadEndpoint(answer=clean_answer) as server:
        invoke(command.command, [str(given), "-o", str(out), *settings(tmp_path, server)])
    table = pq.read_table(out)
    assert table.column_names == ["id", "system", *METRIC.names, "detail"]
    rows = table.to_pylist()
    assert [(row["id"], row["system"]) for row in rows] == [(r["id"], r["system"]) for r in ROWS]
    detail = json.loads(rows[0]["detail"])
    assert json.loads(detail["answers"][0]["text"]) == {name: rows[0][name] for name in CRITERIA}
    printed = capsys.readouterr().out
    means = {
        system: [np.mean([row[name] for row in rows if row["system"] == system])
                 for name in METRIC.names]
        for system in ("base", "tuned")
    }  # fmt: skip
    means["tuned - base"] = np.subtract(means["tuned"], means["base"])
    for system, expected in means.items():
        (line,) = [each for each in printed.splitlines() if re.match(rf"{system}  ", each)]
        shown = [float(word.strip("*")) for word in line.removeprefix(system).split()]
        assert shown == pytest.approx(expected, abs=0.006)
    signature = json.loads(printed.split("Signature: ")[1])
    assert signature == json.loads(pq.read_schema(out).metadata[b"brido"])["signature"]
    assert signature["answers"] == 10


def test_dry_run_and_replay_from_the_command_line(tmp_path, given, capsys, monkeypatch):
    with BadEndpoint(answer=clean_answer) as server:
        invoke(command.command, [str(given), "--dry-run", *settings(tmp_path, server)])
        assert "calls to make:  10 " in capsys.readouterr().out
        assert not server.requests
        invoke(command.command, [str(given), *settings(tmp_path, server)])
        asked = capsys.readouterr().out
    invoke(command.command, [str(given), "--replay", *settings(tmp_path)])
    assert capsys.readouterr().out == asked
    monkeypatch.setattr("sys.stdin", stdin(given.read_bytes()))
    invoke(command.command, ["-", "--replay", *settings(tmp_path)])
    assert capsys.readouterr().out == asked


def test_settings_come_from_a_params_file_and_changes(tmp_path):
    params = Path(__file__).parents[3] / "params.yaml"
    settings, runtime = command.read_settings(params, ["model=m", "max_cost=2", "samples=3"], {})
    assert (settings.model, settings.samples, runtime.max_cost) == ("m", 3, 2)
    # As messages and docs/configuration.md call the keys.
    full = ["evaluation.geval.model=m", "runtime.endpoint.max_cost=2"]
    settings, runtime = command.read_settings(params, full, {})
    assert (settings.model, runtime.max_cost) == ("m", 2)
    with pytest.raises(BridoError) as error:
        command.read_settings(
            None, ["modle=m", "samples=none", "top_p=7", "key=sk-secret", "seed=2024-99-99"], {}
        )
    text = str(error.value)
    keys = {line.split(":")[0].removeprefix("  - ") for line in text.splitlines()[1:]}
    names = ("modle", "samples", "top_p", "key", "seed")
    assert keys == {f"evaluation.geval.{name}" for name in names}
    assert "sk-secret" not in text
    with pytest.raises(BridoError) as error:
        command.read_settings(None, ["sk-secret"], {})
    assert "sk-secret" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ("[1]\n", "object is expected"), ("", "no rows"),
     ('{"document": "d"}', r"row 1 \(id 1\): no text in `summary`"),
     ('{"document": " ", "summary": ""}', r"row 1 \(id 1\): no text in `document`"),
     ('{"id": 1, "document": "d", "summary": "s"}\n' * 2, "comes 2 times")],
)  # fmt: skip
def test_input_that_cannot_be_marked(tmp_path, content, message):
    path = tmp_path / "in.jsonl"
    path.write_text(content)
    with pytest.raises(BridoError, match=message):
        command.read_summaries(path)


def test_an_id_that_is_missing_is_the_number_of_the_row(tmp_path):
    names = (None, "a", None, "", " ", math.nan)
    rows = [{"id": name, "document": "d", "summary": "s"} for name in names]
    path = tmp_path / "in.json"
    path.write_text(json.dumps(rows))
    assert [row["id"] for row in command.read_summaries(path)] == [*"1a3456"]


def test_a_system_may_be_the_number_0(tmp_path):
    rows = [{"system": system, "document": "d", "summary": ""} for system in (0, 1, None, "")]
    path = write_lines(tmp_path / "in.jsonl", rows)
    found = [row["system"] for row in command.read_summaries(path)]
    assert found == ["0", "1", "summary", "summary"]


def test_the_evaluate_stage_writes_the_judges_table(tmp_path, monkeypatch):
    from brido.settings.load import check_params
    from brido.tables import CORPUS, DECODED, read_metadata, write_table
    from stages import evaluate, paths

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    rows = ROWS[:5]
    corpus = [{**row, "references": [row["summary"]]} for row in rows]
    decoded = [{"id": row["id"], "summary": row["summary"], "score": 0.0} for row in rows]
    write_table(paths.corpus("test"), [corpus], CORPUS)
    write_table(paths.decoded("base", "test"), [decoded], DECODED)
    with BadEndpoint(answer=clean_answer) as server:
        params = check_params(
            {
                "checkpoints": {"base": {"source": "embedded"}},
                "choice": {"by": "mentions.good"},
                "evaluation": {
                    "metrics": ["rouge", "mentions", "geval"],
                    **{"rouge": {}, "mentions": {}},
                    "geval": {"model": "m", "samples": 2},
                },
                "runtime": {"endpoint": {"base_url": server.url}},
            }
        )
        path = evaluate.evaluate(params, "base")
        first = path.read_bytes()
        asked = len(server.requests)
        assert evaluate.evaluate(params, "base").read_bytes() == first
        assert len(server.requests) == asked == 10
    assert {f"geval.{name}" for name in METRIC.names} < set(pq.read_table(path).column_names)
    signature = read_metadata(path, "evaluate")["signature"]["geval"]
    assert signature["served_models"] == {"m-as-served": 10}
    assert (tmp_path / ".brido" / "judge" / "answers.sqlite").is_file()
