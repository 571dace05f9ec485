"""The evidence on a real model: its plan, tables and picture, and a small one that goes on."""

import json
import shutil
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from dvc_project import SMALL, copy_project, run
from ruamel.yaml import YAML

from brido.corpus.settings import WorldSettings
from brido.settings.load import read_yaml
from brido.settings.presets import flatten
from brido.tables import POOL, read_rows
from brido.utils.errors import BridoError
from brido.world import documents
from brido.world.reading import key_slots
from experiments.evidence import chain, leads, picture, plan, reading, records, room, table
from experiments.evidence.records import Row
from experiments.grids import changed

ROOT = Path(__file__).parents[2]


def test_the_plan_has_every_setting_under_every_seed():
    found = plan.read_chains(plan.PLAN)
    assert len({one.name for one in found}) == len({chain.settings_of(one) for one in found})
    assert {one.seed for one in found} == {0, 1, 2, 3, 4}
    for one in found:
        used = flatten(one.params)
        assert {used[key] for key in plan.SEEDS if key in used} == {one.seed}
        assert {"tuned", "random"} <= one.systems.keys()
        assert {"greedy", "beams"} == one.decodings.keys()
        # Of the same documents and candidates, and by the same steps.
        assert one.systems["random"].changes == {"scoring.shuffle": True}
        assert one.systems["random"].documents == one.systems["tuned"].documents


def test_every_plan_is_one(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {path.stem for path in plan.PLAN.parent.glob("*.yaml")}
    assert {path.stem for path in (ROOT / "metrics/evidence").glob("*.csv")} <= names
    found = {name: plan.read_chains(plan.PLAN.with_name(f"{name}.yaml")) for name in names}
    for chains in found.values():
        assert len({one.name for one in chains}) == len(chains)
    assert [one.seed for one in found["growth"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert {"64 documents", "64 documents, 4 candidates"} <= found["growth"][2].systems.keys()
    (zero_shot,) = (one for one in found["longer"] if one.name == "zero-shot-seed-0")
    assert zero_shot.params["checkpoints"]["base"]["fine_tuning"] is None


def test_a_plan_that_names_no_system_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = plan.PLAN.read_text().replace("[tuned, brio, random", "[tuned, bria")
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(BridoError, match="fine-tuned on 800 articles: no system bria"):
        plan.read_chains(tmp_path / "plan.yaml")


def row(system, decoding, digits, seed=0, split="test", **changes):
    values = {"words": 10.0, "r1": 60.0, "r2": 40.0, "length_penalty": None} | changes
    values["fluency"] = "3331" if digits else ""
    return Row("a", seed, "0" * 8, system, decoding, split, unsupported=digits, **values)


@pytest.fixture
def rows():
    """Two seeds; at base's length one of them is out of tuned's reach."""
    found = []
    for seed in (0, 1):
        for decoding in ("greedy", "beams"):
            found += [row("base", decoding, "3100", seed), row("tuned", decoding, "0100", seed)]
            found.append(row("base", decoding, "1110", seed, "validation"))
            found += [row(f"{size} documents", decoding, "0110", seed) for size in (2, 4)]
        found += [row("elected", "", "0000", seed, split) for split in ("validation", "test")]
        found.append(row("tuned", "beams at base's length", "0100" if seed else "", seed))
    return found


def test_rows_come_back_from_their_file(rows, tmp_path):
    records.write_rows(tmp_path / "rows.csv", rows)
    assert records.read_rows(tmp_path / "rows.csv") == rows
    assert rows[0].counts.tolist() == [3, 1, 0, 0]
    assert rows[0].flags.tolist() == [1, 1, 0, 0]


def test_tables_say_what_the_rows_hold(rows):
    (text,) = table.main_tables(rows)
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()[4:]]
    found = {(cells[0], cells[1]): cells for cells in lines}
    assert text.startswith("**a**: 2 seeds x 4 test documents")
    base = found["base", "greedy"]
    # 4 mentions in 40 words a seed.
    assert base[2].startswith("50.0 % [")
    assert base[4] == "10.00"
    tuned = found[table.LABELS["tuned"], "beams"]
    assert tuned[3].startswith("-25.0 [")
    assert tuned[6] == "75 %"
    # Of 0100, 3331 is whole in the first three: the first and the third are supported too.
    assert tuned[7].startswith("50.0 % [")
    assert tuned[9].startswith("-25.0 [")
    assert tuned[9].endswith("out of reach for 1")
    assert found[table.LABELS["elected"], ""][3].startswith("-50.0 [")


def test_the_docs_show_the_tables_of_the_committed_rows(monkeypatch):
    monkeypatch.chdir(ROOT)
    docs = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    for file in (ROOT / "metrics/evidence").glob("*.csv"):
        rows = records.read_rows(file)
        for text in table.tables(rows):
            assert text in docs
        chains = plan.read_chains(plan.PLAN.with_name(f"{file.stem}.yaml"))
        assert room.room(chains, rows) in docs
    folders = sorted((ROOT / "metrics/evidence/readings").iterdir())
    for _, seeds in groupby(folders, lambda folder: folder.name.partition("-seed-")[0]):
        for line in reading.count(list(seeds)).splitlines():
            assert line in docs


def test_the_committed_rows_are_those_of_the_plans(monkeypatch):
    monkeypatch.chdir(ROOT)
    for file in (ROOT / "metrics/evidence").glob("*.csv"):
        chains = plan.read_chains(plan.PLAN.with_name(f"{file.stem}.yaml"))
        known = {(one.setting, one.seed): chain.settings_of(one) for one in chains}
        for one in records.read_rows(file):
            assert known[one.setting, one.seed] == one.params


def test_a_text_is_cut_after_so_many_words():
    assert chain.cut(["one two  three", "one", ""], 2) == ["one two", "one", ""]


def test_a_table_says_of_how_many_seeds_a_system_is(rows):
    some = [one for one in rows if not (one.system == "2 documents" and one.seed)]
    (text,) = table.main_tables(some)
    assert text.count("| 2 documents (1 of 2 seeds) |") == 2
    assert "of 2 seeds" not in text.replace("2 documents (1 of 2 seeds)", "")


def test_what_is_the_votes_is_told_from_what_chance_does(rows):
    assert table.control_tables(rows) == []
    some = [*rows, row("random", "beams", "1100", 0, words=12.0, r1=50.0)]
    # Of the second seed only the validation documents were measured.
    some.append(row("random", "beams", "1111", 1, "validation"))
    (text,) = table.control_tables(some)
    (line,) = text.splitlines()[2:]
    cells = [cell.split(" [")[0] for cell in line.strip("| ").split(" | ")]
    assert cells[:4] == ["a", table.LABELS["tuned"], "1", "beams"]
    assert cells[4:7] == ["25.0 %", "50.0 %", "-25.0"]
    assert cells[7:11] == ["10.0, 12.0", "60.0, 50.0", "40.0, 40.0", "75 %, 75 %"]
    # 0100 and 1100 of 3331: two and one of four.
    assert cells[11] == "50.0 %, 25.0 %: +25.0"
    # As long as base, only where a length penalty gets both there.
    fitted = [row("random", "beams at base's length", "1100", seed) for seed in (0, 1)]
    (text,) = table.control_tables([*some, *fitted])
    assert [line.split(" | ")[2] for line in text.splitlines()[2:]] == ["1", "1"]
    assert "beams at base's length" in text


def test_what_electing_foretells_is_compared_with_what_tuning_did():
    many = {"validation": ("1" * 40, "0" * 40), "test": ("1" * 40, "0" * 40)}
    for better in (True, False):
        own = [
            row(system, decoding, digits, 0, split)
            for split, pair in many.items()
            for (system, decoding), digits in zip(
                (("base", "greedy"), ("tuned" if split == "test" else "elected", "greedy")),
                pair if better else pair[::-1],
                strict=True,
            )
        ]
        own = [
            row("elected", "", one.unsupported, 0, one.split) if one.system == "elected" else one
            for one in own
        ]
        (line,) = table.foretold_table(own).splitlines()[2:]
        word = "helps" if better else "harms"
        assert line.count(f"| {word} |") == 2
        assert line.endswith("| yes |")


def test_where_nothing_is_tuned_the_table_is_of_the_election():
    own = [row("base", "greedy", "1110"), row("elected", "", "1000")]
    own += [row("base", "greedy", "1100", split="validation")]
    own += [row("elected", "", "1111", split="validation")]
    (text,) = table.tables(own)
    cells = [cell.split(" [")[0] for cell in text.splitlines()[2].strip("| ").split(" | ")]
    assert cells == ["a", "50.0 %", "100.0 %", "+50.0", "75.0 %", "25.0 %", "-50.0"]


def test_documents_without_a_supported_detail_are_found():
    """Checked by the texts themselves; and the sentence about them counts what rows hold."""
    settings = WorldSettings(test=150)
    found = room.bare(settings)
    assert 0.1 < found.mean() < 0.5
    for none, article in zip(found, documents(settings, "test"), strict=True):
        event, *facts = article["facts"]
        told = [fact for fact in facts if not fact["slot"].startswith("other_")]
        values = [fact["value"] for fact in told if fact["slot"] not in key_slots(event["value"])]
        assert none == (not any(value in article["document"] for value in values))
    one = plan.read_chains(plan.PLAN)[0]
    one.params["data"]["world"]["test"] = 150
    found = room.bare(WorldSettings.model_validate(one.params["data"]["world"]))
    digits = "".join("1" if none else "0" for none in found)
    said = room.room([one], [replace(row("base", "beams", digits), setting=one.setting)])
    share = 100 * found.mean()
    assert said.startswith(
        f"{one.setting}:\n  {share:.0f} % of the test documents support no detail"
    )
    assert "100 % of base's unsupported summaries (beams)" in said


def test_the_picture_is_the_same_twice(rows, tmp_path):
    chains = [replace(one, setting="a", seed=seed) for seed in (0, 1) for one in sized()]
    first = picture.draw(tmp_path / "a", "growth", rows, chains).read_bytes()
    assert first == picture.draw(tmp_path / "b", "growth", rows, chains).read_bytes()
    untuned = [one for one in rows if one.system == "base"]
    assert picture.draw(tmp_path, "none", untuned, chains) is None


def sized():
    """A chain whose systems differ in documents and in candidates, and one in what it changes."""
    systems = {
        "tuned": plan.System(),
        "2 documents": plan.System(documents=2),
        "4 documents": plan.System(documents=4),
        "3 candidates": plan.System(documents=4, candidates=3),
        "random": plan.System({"scoring.shuffle": True}, documents=8),
        "mle": plan.System({"training.gamma": 0.0}, documents=16),
    }
    params = {"documents": {"train": 32}, "generation": {"base": {"num_candidates": 6}}}
    return [plan.Chain("a", 0, params, systems, {})]


def test_a_point_of_the_picture_is_what_a_system_was_tuned_on():
    systems = ["tuned", "2 documents", "4 documents", "3 candidates", "random", "mle"]
    own = [row(system, "beams", "1100") for system in systems]
    own += [row("4 documents", "beams at base's length", "1111")]
    found = {
        kind: {one.system: size for size, one in picture.points(kind, own, sized())}
        for kind in (picture.DOCUMENTS, picture.CANDIDATES)
    }
    assert found[picture.DOCUMENTS] == {"tuned": 32, "2 documents": 2, "4 documents": 4}
    assert found[picture.CANDIDATES] == {"4 documents": 6, "3 candidates": 3}


SMALL_PLAN = """
params: params.yaml
seeds: [3]
changes: {}
settings: {small: {systems: [tuned, 3 candidates]}}
systems:
  tuned: {at_base_length: true}
  3 candidates: {documents: 8, candidates: 3, changes: {scoring.support_weight: 0.5}}
decodings:
  greedy: {decoding.num_beams: 1}
  beams: {decoding.num_beams: 4, decoding.length_penalty: 1.0}
"""
ELECTION = """
params: params.yaml
seeds: [3]
changes:
  generation:
    base: {checkpoint: base, method: sampling, num_candidates: 3, seed: 0, max_length: 32}
    greedy:
      checkpoint: base
      method: diverse_beam
      num_candidates: 1
      num_beams: 1
      num_beam_groups: 1
      diversity_penalty: 0.0
settings: {two sources: {systems: []}}
systems: {}
decodings: {greedy: {decoding.num_beams: 1}}
"""
SMALLER = {key: value for key, value in SMALL.items() if "report" not in key} | {
    "checkpoints.base.embedded.world.documents": 1200,
    "checkpoints.base.embedded.epochs": 1,
    "documents.train": 16,
}


def test_a_lead_is_over_the_mean_of_the_candidates():
    f = np.array([[-0.2, -0.4, -0.1], [-0.2, -0.4, -0.3], [-0.1, -0.1, -0.1]])
    found = leads.leads(f, np.array([True, False, False]))
    assert found["spread"] == pytest.approx([0.1, 0.1, 0])
    assert found["wrong"] == pytest.approx([0.2])
    assert found["right"] == pytest.approx([0, 0])
    assert found["above_wrong"].tolist() == [0]
    assert found["above_right"].tolist() == [0.5, 0]
    text = leads.table([{"base": found}, {"base": found}])
    assert text.splitlines()[2].startswith("| base | 0.0667 [")
    assert "| 25.0 % [" in text


def test_leads_of_what_was_not_run_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(chain, "WORK", tmp_path)
    with pytest.raises(BridoError, match=r"the-default-seed-0-\w+ is missing: python -m"):
        leads.main(["tuned"])
    with pytest.raises(BridoError, match="no 'the default' with nobody"):
        leads.main(["nobody"])


@pytest.mark.slow
def test_a_small_one_is_measured_once_and_goes_on_where_rows_are_missing(tmp_path):
    folder = copy_project(tmp_path)
    small = changed(read_yaml(folder / "params.yaml"), SMALLER, "small")
    with (folder / "params.yaml").open("w") as stream:
        YAML().dump(small, stream)
    (folder / "small.yaml").write_text(SMALL_PLAN)
    command = ["python", "-m", "experiments.evidence", "small.yaml"]
    said = run(folder, *command)
    assert "**small**: 1 seeds x 40 test documents" in said
    made = folder / "metrics/evidence/small.csv"
    whole = made.read_bytes()
    rows = records.read_rows(made)
    systems = {one.system for one in rows}
    assert systems == {
        "reference", "base", "elected", "elected by the reference", "tuned", "3 candidates",
    }  # fmt: skip

    # Shortness alone: base's own beams, cut to as many words as tuned's.
    made_of = {(one.system, one.decoding, one.split): one for one in rows}
    short = made_of["base", chain.cut_to("tuned"), "test"]
    assert abs(short.words - made_of["tuned", "beams", "test"].words) < 2
    assert short.words <= made_of["base", "beams", "test"].words

    # What was written is kept, to be read by somebody who does not know whose it is.
    (made_in,) = (folder / ".brido/evidence").iterdir()
    run(folder, "python", "-m", "experiments.evidence.reading", "sheet", str(made_in))
    sheet = [json.loads(line) for line in (made_in / "reading/sheet.jsonl").open()]
    key = json.loads((made_in / "reading/key.json").read_text())
    assert len(sheet) == len(key) == 40
    assert {order[0] for order in key.values()} == {"base", "tuned"}
    for name in ("base", "tuned"):
        kept = json.loads((made_in / f"texts/{name}-beams-test.json").read_text())
        assert [row["ab"[key[str(row["number"])].index(name)]] for row in sheet] == kept
    # At base's length, which so small a model need not reach.
    kept = [f"As long as base's number {number}." for number in range(40)]
    texts = made_in / chain.texts_of(("3 candidates", chain.AT_BASE_LENGTH, "test"))
    texts.write_text(json.dumps(kept))
    reader = ["experiments.evidence.reading", "sheet", str(made_in), "--equal-length"]
    reader += ["--system", "3 candidates"]
    run(folder, "python", "-m", *reader)
    sheet = [json.loads(line) for line in (made_in / "reading/sheet.jsonl").open()]
    assert [row["ab"[key[str(row["number"])].index("tuned")]] for row in sheet] == kept

    # How the model was moved off its own output.
    told = run(
        folder, "python", "-m", "experiments.evidence.leads", "tuned", "--plan", "small.yaml"
    )
    lines = [line.split(" | ") for line in told.splitlines() if line.startswith("| ")]
    _, base, tuned = lines
    assert (base[0], tuned[0]) == ("| base", f"| {table.LABELS['tuned']}")
    assert base[1:] != tuned[1:]
    for line in (base, tuned):
        assert len(line) == 1 + len(leads.COLUMNS)

    # Another machine has the table alone: nothing is made again.
    shutil.rmtree(folder / ".brido/evidence")
    run(folder, *command)
    assert made.read_bytes() == whole
    (again,) = (folder / ".brido/evidence").iterdir()
    assert not (again / "data").exists()

    # Without a system's rows that system alone is made again, and they are the same.
    records.write_rows(made, [one for one in rows if one.system != "3 candidates"])
    shutil.rmtree(folder / ".brido/evidence")
    run(folder, *command)
    assert sorted(made.read_bytes().splitlines()) == sorted(whole.splitlines())

    # A plan that tunes nothing measures the election, here from two sources.
    (folder / "election.yaml").write_text(ELECTION)
    command = ["python", "-m", "experiments.evidence", "election.yaml"]
    assert "| two sources | " in run(folder, *command)
    rows = records.read_rows(folder / "metrics/evidence/election.csv")
    assert {one.system for one in rows} == systems - {"tuned", "3 candidates"}
    (made_in,) = (folder / ".brido/evidence").glob("two-sources*")
    pooled = read_rows(made_in / "data/pool/test.parquet", POOL, "pool")
    assert len(pooled[0]["candidates"]) == 4
