"""`brido sensitivity`, `brido read`, stage sensitivity."""

import json

import pytest

from brido.cli import read
from brido.utils.commands import invoke
from brido.utils.errors import BridoError


def test_summaries_of_a_run_are_printed_beside_their_documents(
    finished_run, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(finished_run)
    invoke(read.command, ["-n", "3", "base", "vote"])
    printed = capsys.readouterr().out
    assert [line.split(":")[0] for line in printed.splitlines() if " of 3: " in line] == [
        "1 of 3", "2 of 3", "3 of 3",
    ]  # fmt: skip
    for name in ("reference", "base", "vote"):
        assert printed.count(f"\n  {name}\n") == 3
    # A random model's words are no sentence of the world.
    assert "not whole: no sentence" in printed
    invoke(read.command, ["-n", "3", "base", "vote"])
    assert capsys.readouterr().out == printed
    invoke(read.command, ["-n", "100"])
    assert "16 of 16" in capsys.readouterr().out
    with pytest.raises(BridoError, match="no test summaries by bass.*did you mean base"):
        invoke(read.command, ["bass"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BridoError, match="by base: `dvc repro`"):
        invoke(read.command, [])


def test_the_stage_writes_what_each_check_sees_and_the_choice_keeps_it(finished_run):
    found = json.loads((finished_run / "metrics/sensitivity.json").read_text())
    choice = json.loads((finished_run / "metrics/choice.json").read_text())
    assert list(found) == ["mentions", "world_judge"]
    assert choice["sensitivity"] == found
    # By the facts of the world every name of another article is noticed.
    assert found["world_judge"]["noticed"]["invented name"]["share"] == 1.0
    assert found["mentions"]["unsupported"]["of"] == 24
    assert "world_judge chooses and measures, as it knows the facts." in choice["verdict"][0]
