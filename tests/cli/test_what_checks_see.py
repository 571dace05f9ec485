"""`brido sensitivity`, `brido read`, stage sensitivity, and the check that init proposes."""

import json
from types import SimpleNamespace

import pytest

from brido.cli import read, sensitivity
from brido.cli.init import checks
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

DOCUMENTS = [f"In town Ann Lee lent Bo Ek {40 + n} euros. So it was." for n in range(24)]
ROWS = [{"document": text, "summary": text.split(". ")[0] + "."} for text in DOCUMENTS]


def test_the_command_prints_what_a_check_sees(tmp_path, capsys):
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    invoke(sensitivity.command, ["mentions", str(file)])
    printed = capsys.readouterr().out
    cells = {line[:20].strip(): line[20:].split() for line in printed.splitlines() if line}
    assert cells["swapped names"][:2] == ["0", "%"]
    assert cells["changed number"][:2] == ["100", "%"]
    assert cells["called unsupported"][-1] == "24"
    assert "not swapped names (0 %)" in printed
    with pytest.raises(BridoError, match="mentions, .*geval"):
        invoke(sensitivity.command, ["rouge", str(file)])
    file.write_text(json.dumps(ROWS[0]))
    with pytest.raises(BridoError, match="two documents"):
        invoke(sensitivity.command, ["mentions", str(file)])


def test_summaries_of_a_run_are_printed_beside_their_documents(finished_run, monkeypatch, capsys):
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
    with pytest.raises(BridoError, match="by base: `dvc repro`"):
        invoke(read.command, ["--data", "nowhere"])


def test_the_stage_writes_what_each_check_sees_and_the_choice_keeps_it(finished_run):
    found = json.loads((finished_run / "metrics/sensitivity.json").read_text())
    choice = json.loads((finished_run / "metrics/choice.json").read_text())
    assert list(found) == ["mentions", "world_judge"]
    assert choice["sensitivity"] == found
    # By the facts of the world every name of another article is noticed.
    assert found["world_judge"]["noticed"]["invented name"]["share"] == 1.0
    assert found["mentions"]["unsupported"]["of"] == 24
    assert "world_judge chooses and measures, as it knows the facts." in choice["verdict"][0]


def proposed(monkeypatch, named=None, at_hand=True, seconds=0.1):
    monkeypatch.setattr(checks, "seconds_a_pair", lambda tokens: seconds)
    monkeypatch.setattr(checks, "_is_at_hand", lambda model: at_hand)
    data = SimpleNamespace(documents={"validation": 40, "test": 60})
    limits = SimpleNamespace(documents=SimpleNamespace(mean=800), sentences=2.0)
    plan = SimpleNamespace(evaluated=50, tuned=("vote", "control"), variants=("checked",))
    return checks.choose_check(named, data, limits, plan, 20)


def test_a_check_that_reads_is_proposed_where_it_is_at_hand_and_quick(monkeypatch):
    check = proposed(monkeypatch)
    # 4 systems, 40 and 50 documents of 2 chunks, 2 sentences each, a tenth of a second.
    assert check.minutes == pytest.approx(4 * 90 * 2 * 2 * 0.1 / 60)
    assert check.settings() == {
        "evaluation": {"minicheck": {}}, "choice": {"by": "minicheck.good"},
    }  # fmt: skip
    assert proposed(monkeypatch, at_hand=False).settings() == {}
    assert proposed(monkeypatch, seconds=0.42).name == "mentions"
    assert proposed(monkeypatch, seconds=0.41).name == "minicheck"
    assert proposed(monkeypatch, "mentions").name == "mentions"
    assert proposed(monkeypatch, "minicheck", at_hand=False, seconds=9).name == "minicheck"


def test_a_folder_is_a_model_and_another_name_is_refused(monkeypatch, tmp_path):
    found = proposed(monkeypatch, str(tmp_path), at_hand=False)
    assert found.settings()["evaluation"] == {"minicheck": {"model": str(tmp_path)}}
    with pytest.raises(BridoError, match="--check: rouge"):
        proposed(monkeypatch, "rouge")


def test_a_pair_is_timed_on_this_machine():
    assert checks.seconds_a_pair(8) > 0
