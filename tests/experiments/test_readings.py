"""Blind readings: what the marks say once the key is there."""

import json
import shutil

import pytest

from brido.utils.commands import invoke
from brido.utils.errors import BridoError
from experiments import reading


def test_a_blind_reading_is_counted_by_its_key(tmp_path):
    folder = tmp_path / "reading"
    folder.mkdir()
    key = {1: ["base", "tuned"], 2: ["tuned", "base"], 3: ["tuned", "base"], 4: ["base", "tuned"]}
    (folder / "key.json").write_text(json.dumps(key))
    marks = [(1, 2, 0), (2, 0, 1), (3, 0, 0), (4, 1, 1)]
    text = "".join(f'{{"number": {n}, "a": {a}, "b": {b}}}\n' for n, a, b in marks)
    (folder / "marks.jsonl").write_text(text)
    said = reading.count([folder]).splitlines()
    assert said[1].startswith("base: 75.0 % [")
    assert said[1].endswith("; 1.00 statements a summary")
    assert said[2].startswith("tuned: 25.0 % [")
    assert said[3].startswith("tuned - base: -50.0 [")
    # A second reading of as many, in which both are the same.
    shutil.copytree(folder, tmp_path / "again")
    same = "".join(f'{{"number": {n}, "a": 1, "b": 1}}\n' for n in key)
    (tmp_path / "again/marks.jsonl").write_text(same)
    both = reading.count([folder, tmp_path / "again"]).splitlines()
    assert both[0] == "2 sheets of 4 documents, 1 reader, blind to the system"
    assert both[3].startswith("tuned - base: -25.0 [")
    # Beside another system than base, which is not counted with the first.
    other = {number: [name.replace("base", "random") for name in key[number]] for number in key}
    (tmp_path / "again/key.json").write_text(json.dumps(other))
    alone = reading.count([tmp_path / "again"]).splitlines()
    assert alone[1].startswith("random: 100.0 % [")
    assert alone[3].startswith("tuned - random: +0.0 [")
    with pytest.raises(BridoError, match="base, tuned; random, tuned.: count them apart"):
        reading.count([folder, tmp_path / "again"])
    for same in (["--system", "tuned"], ["--system", "half", "--system", "half"]):
        with pytest.raises(BridoError, match="--system"):
            invoke(reading.command, ["sheet", str(tmp_path), *same])
    for wrong in (text.replace('"number": 4', '"number": 3'), text.replace('"a": 2', '"a": "2"')):
        (folder / "marks.jsonl").write_text(wrong)
        with pytest.raises(BridoError, match="must"):
            reading.count([folder])
    with pytest.raises(BridoError, match="count its reading/"):
        reading.count([tmp_path])


def test_three_systems_and_two_readers_who_agree_beyond_chance(tmp_path):
    (tmp_path / "key.json").write_text(json.dumps({"1": ["c", "b", "a"], "2": ["a", "b", "c"]}))
    for name, second in (("marks.jsonl", 1), ("marks-2.jsonl", 0)):
        lines = [{"number": 1, "a": 3, "b": 0, "c": 0}, {"number": 2, "a": 0, "b": second, "c": 2}]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)))
    said = reading.count([tmp_path]).splitlines()
    assert said[0] == "2 documents, 2 readers, blind to the system"
    shares = {line.split(":")[0]: line.split()[1] for line in said[1:4]}
    assert shares == {"a": "0.0", "b": "25.0", "c": "100.0"}
    assert [line.split(":")[0] for line in said[4:8:2]] == ["c - a", "c - b"]
    # 5 of 6 the same; by chance 3/6 x 2/6 + 3/6 x 4/6 = 1/2: kappa (5/6 - 1/2) / (1/2) = 2/3.
    assert said[-1] == "two readers agree on 83.3 % of 6 pairs of readings, kappa 0.67"
    # A third reader makes three pairs of each of the six summaries.
    shutil.copy(tmp_path / "marks.jsonl", tmp_path / "marks-3.jsonl")
    said = reading.count([tmp_path]).splitlines()
    assert said[-1].startswith("two readers agree on 88.9 % of 18 pairs of readings, kappa ")


def test_two_counts_a_summary_say_what_is_contradicted_and_what_is_not_mentioned(tmp_path):
    (tmp_path / "key.json").write_text(json.dumps({"1": ["base", "both"], "2": ["both", "base"]}))
    measures = {"base": {"words": 20.0, "copied": 0.5}, "both": {"words": 10.0, "copied": 0.75}}
    (tmp_path / reading.MEASURES).write_text(json.dumps(measures))
    lines = [{"number": 1, "a": [2, 1], "b": [0, 0]}, {"number": 2, "a": [0, 1], "b": [0, 2]}]
    (tmp_path / "marks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    said = reading.count([tmp_path], "both").splitlines()
    assert said[1].startswith("base: 100.0 %")
    assert said[1].endswith("2.50 statements a summary, 12.5 in 100 words; 20.0 words, 50 % copied")
    assert said[2].endswith("0.50 statements a summary, 5.0 in 100 words; 10.0 words, 75 % copied")
    assert [line.split(" [")[0] for line in said[3:]] == [
        "both - base: -50.0",
        "statements, both - base: -2.00",
        "contradicted, both - base: -1.00",
        "not mentioned, both - base: -1.00",
    ]
    with pytest.raises(BridoError, match="--system tuned"):
        reading.count([tmp_path], "tuned")
    for wrong in ([2, -1], [1, 2, 3], [], 3):
        lines[0]["a"] = wrong
        (tmp_path / "marks.jsonl").write_text("\n".join(map(json.dumps, lines)))
        with pytest.raises(BridoError, match=r"\[contradicted, not mentioned\]: "):
            reading.count([tmp_path])


def test_most_readers_are_compared_with_the_rules(tmp_path):
    (tmp_path / "key.json").write_text(json.dumps({"1": ["base", "vote"], "2": ["vote", "base"]}))
    marks = {"": (0, 1, 0, 0), "-2": (0, 2, 1, 0), "-3": (3, 0, 0, 1)}
    for name, (a, b, c, d) in marks.items():
        lines = [{"number": 1, "a": a, "b": b}, {"number": 2, "a": c, "b": d}]
        (tmp_path / f"marks{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "rules" not in reading.count([tmp_path], "base")
    # Two readers of three find nothing in base's first and second and in vote's second.
    rules = {
        "base": {"nothing unsupported": [True, True], "good": [True, False]},
        "vote": {"nothing unsupported": [False, False], "good": [True, False]},
    }
    (tmp_path / reading.RULES).write_text(json.dumps(rules))
    supported, good = reading.count([tmp_path], "base").splitlines()[-2:]
    assert supported == (
        "rules say nothing unsupported, readers find nothing unsupported: both 50.0 %, rules alone "
        "0.0 %, readers alone 25.0 %, neither 25.0 %; they agree on 75.0 % of 4 summaries, "
        "kappa 0.50"
    )
    assert good.startswith("rules say good, readers find nothing unsupported: both 25.0 %, ")
    assert "rules alone 25.0 %, readers alone 50.0 %, neither 0.0 %; they agree on 25.0 %" in good
    assert good.endswith("kappa -0.50")
