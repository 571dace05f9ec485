"""The engine of studies: its plans, equal lengths, and a small study that is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from dvc_project import SMALL, copy_project, environment, run
from ruamel.yaml import YAML

from brido.settings.presets import flatten, read_preset
from brido.tables import CANDIDATES, POOL
from brido.tables import read_rows as read_table
from brido.utils.errors import BridoError
from experiments import chain, plan, study
from experiments.plan import AT_BASE_LENGTH, changed
from experiments.rows import measured, read_rows, read_settings, write_rows

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in plan.PLANS.glob("*.yaml"))


@pytest.mark.parametrize(
    ("known", "target", "expected"),
    [
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 11.0, 0.5),
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 16.0, 1.5),
        ({2.0: 20.0, 0.0: 10.0}, 10.0, 0.0),
        ({0.0: 10.0, 1.0: 12.0}, 13.0, None),
        ({0.0: 10.0, 1.0: 10.0}, 11.0, None),
        ({1.0: 10.0}, 9.0, None),
        ({0.0: 12.0, 1.0: 10.0}, 11.0, 0.5),
    ],
)
def test_matched_penalty(known, target, expected):
    assert chain.matched_penalty(known, target) == expected


def test_penalties_are_tried_outwards_until_the_length_is_enclosed():
    tried = []

    def words(penalty):
        tried.append(penalty)
        return 10 + 2 * penalty

    assert chain.penalty_for(13.4, 1.0, 12.0, words) == 1.7
    assert tried == [1.5, 2.0]
    assert chain.penalty_for(11.5, 1.0, 12.0, words) == 0.75
    assert chain.penalty_for(12.0, 1.0, 12.0, words) == 1.0
    assert tried == [1.5, 2.0, 0.5]
    assert chain.penalty_for(50.0, 1.0, 12.0, words) is None
    # Where a higher penalty makes shorter summaries, the other direction is tried as well.
    assert chain.penalty_for(13.0, 1.0, 12.0, lambda penalty: 14 - 2 * penalty) == 0.5


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_has_each_chain_once_and_its_rows_are_of_its_settings(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = plan.read_plan(plan.PLANS / f"{name}.yaml")
    assert len({one.name for one in found.chains}) == len(found.chains)
    assert len({one.folder for one in found.chains}) == len(found.chains)
    for one in found.chains:
        used = flatten(one.params)
        assert {used[key] for key in plan.SEEDS if key in used} == {one.seed}
        for system in one.systems.values():
            if control := one.systems.get(system.control):
                # Of the same documents and candidates, and by the same steps. Signals change the
                # order alone, so the vote's scores, shuffled, are the control of each of them.
                signals = {
                    *("scoring.information", "scoring.prior_weight", "scoring.length_penalty"),
                    "scoring.support",
                }
                own, same = (
                    {key: value for key, value in each.changes.items() if key not in signals}
                    for each in (system, control)
                )
                assert same == {**own, "scoring.shuffle": True}
                assert (control.documents, control.candidates) == (
                    system.documents, system.candidates,
                )  # fmt: skip
    recorded = read_settings(found.recorded)
    settings = {one.setting: one.settings for one in found.chains}
    known = set(read_rows(found.table).setting)
    assert known <= settings.keys() & recorded.keys()
    for setting in known:
        assert study.differences(settings[setting], recorded[setting]) == []


def test_the_world_s_plan_is_the_default_over_seeds_and_a_plane(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = plan.read_plan(plan.PLANS / "world.yaml").chains
    assert len(found) == 5 + 15 * 3
    home = [one for one in found if one.setting == "the default"]
    shipped = flatten(read_preset("default"))
    older = {"scoring.information", "training.epochs"}
    for one in home:
        other = flatten(one.params)
        assert {key for key in shipped if shipped[key] != other[key]} <= older | set(plan.SEEDS)
    assert {one.seed for one in found[:16]} == {0}


@pytest.mark.parametrize(
    ("old", "new"), [("[tuned, brio, random", "[tuned, bria"), ("control: random", "control: bria")]
)
def test_a_plan_that_names_no_system_is_refused(tmp_path, monkeypatch, old, new):
    monkeypatch.chdir(ROOT)
    text = (plan.PLANS / "smollm2.yaml").read_text().replace(old, new)
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(BridoError, match="bria"):
        plan.read_plan(tmp_path / "plan.yaml")


@pytest.mark.parametrize("systems", ["[again, tuned]", "[tuned, again, third]", "[again]"])
def test_a_second_round_goes_on_from_a_first_one_before_it(tmp_path, monkeypatch, systems):
    monkeypatch.chdir(ROOT)
    text = (plan.PLANS / "control.yaml").read_text()
    text = text.replace("systems:\n  tuned", "systems:\n  again: {after: tuned}\n  tuned")
    text = text.replace("systems:\n  again", "systems:\n  third: {after: again}\n  again")
    own = f"  rounds: {{systems: {systems}}}\n"
    (tmp_path / "plan.yaml").write_text(text.replace("\nsystems:\n", f"\n{own}systems:\n"))
    with pytest.raises(BridoError, match="rounds: .* goes on after"):
        plan.read_plan(tmp_path / "plan.yaml")


def test_a_setting_may_have_an_environment_and_seeds_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (plan.PLANS / "control.yaml").read_text()
    environment = "{ATEN_CPU_CAPABILITY: default}"
    own = f"  plain kernels: {{systems: [tuned], seeds: [7], environment: {environment}}}"
    (tmp_path / "plan.yaml").write_text(
        text.replace("systems:\n  tuned", f"{own}\nsystems:\n  tuned")
    )
    chains = plan.read_plan(tmp_path / "plan.yaml").chains
    assert (chains[-1].name, chains[-1].environment) == (
        "plain-kernels-seed-7", {"ATEN_CPU_CAPABILITY": "default"},
    )  # fmt: skip
    assert chains[0].environment == {}


def test_only_another_value_of_a_key_makes_rows_stale():
    then = {"scoring.alpha": 0, "pairwise.value": "fmeasure"}
    assert study.differences({"scoring.alpha": 0, "scoring.new": 1}, then) == []
    assert study.differences({"scoring.alpha": 1}, then) == ["scoring.alpha"]


SMALL_PLAN = """
preset: small
seeds: [3]
settings:
  small:
    systems: [tuned, again, 3 candidates, supported, guided]
    environment: {ATEN_CPU_CAPABILITY: default}
  two sources:
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
    systems: []
systems:
  tuned: {at_base_length: true}
  again: {after: tuned, at_base_length: true}
  3 candidates: {documents: 8, candidates: 3, changes: {scoring.support: 0.5}}
  supported: {tune: false, changes: {scoring.support: 0.5}}
  guided: {at_base_length: true, guidance: {weight: 0.2, floor: 0.1, others: 2, seed: 0}}
decodings:
  greedy: {decoding.num_beams: 1}
  beams: {decoding.num_beams: 4, decoding.length_penalty: 1.0}
"""
SMALLER = {key: value for key, value in SMALL.items() if "report" not in key} | {
    "checkpoints.base.embedded.world.documents": 1200,
    "checkpoints.base.embedded.epochs": 1,
    "documents.train": 16,
}


@pytest.fixture
def project(tmp_path):
    """The project with a small preset and a small plan of two chains."""
    folder = copy_project(tmp_path)
    write_preset(folder)
    (folder / "small.yaml").write_text(SMALL_PLAN)
    return folder


def write_preset(folder, **more):
    small = changed(read_preset("default", ROOT / "presets"), SMALLER | more, "small")
    with (folder / "presets/small.yaml").open("w") as stream:
        YAML().dump(small, stream)


@pytest.mark.slow
def test_a_killed_study_goes_on_and_measures_only_what_is_missing(project):
    command = [sys.executable, "-m", "experiments.study", "small.yaml"]
    log = project / "killed.log"
    with log.open("w") as output:
        started = subprocess.Popen(
            command, cwd=project, env=environment(), stderr=output, start_new_session=True
        )
    deadline = time.monotonic() + 1500
    while "done in" not in log.read_text():
        assert started.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert "2 chains, 1 done already" in run(project, *command)
    table = project / "metrics/evidence/small.csv"
    whole, rows = table.read_bytes(), read_rows(table)
    untuned = {"reference", "base", "elected", "elected by the reference"}
    systems = {setting: set(own.system) for setting, own in rows.groupby("setting")}
    assert systems == {
        "small": untuned
        | {"tuned", "again", "elected in again", "3 candidates", "supported", "guided"},
        "two sources": untuned,
    }
    for name in ("unsupported", "fluency"):
        assert (measured(rows)[name].str.len() == 40).all()
    fitted = rows[rows.decoding == AT_BASE_LENGTH]
    assert set(fitted.system) == {"tuned", "again", "guided"}
    assert "## small\n" in (project / "metrics/evidence/README.md").read_text()
    (made_in,) = (project / ".brido/studies").glob("two-sources*")
    pooled = read_table(made_in / "data/pool/test.parquet", POOL, "pool")
    assert len(pooled[0]["candidates"]) == 4

    # The summaries are kept, to be read by somebody who does not know whose they are.
    (made_in,) = (project / ".brido/studies").glob("small-seed*")
    run(project, sys.executable, "-m", "experiments.reading", "sheet", str(made_in))
    sheet = [json.loads(line) for line in (made_in / "reading/sheet.jsonl").open()]
    key = json.loads((made_in / "reading/key.json").read_text())
    assert "not mentioned" in (made_in / "reading/rubric.md").read_text()
    assert {order[0] for order in key.values()} == {"base", "tuned"}
    for name in ("base", "tuned"):
        kept = json.loads((made_in / f"texts/{name}-beams-test.json").read_text())
        assert [row["ab"[key[str(row["number"])].index(name)]] for row in sheet] == kept

    # What the steps cost, for 40 documents a split of the first round and the second.
    costs = pd.read_csv(project / "metrics/evidence/small-costs.csv").query("setting == 'small'")
    # Validation candidates are scored with four other documents as well.
    assert costs.set_index("step").documents.to_dict() == {
        "candidates": 96, "likelihood": 16 + 5 * 40 + 40, "decode, greedy": 80,
        "decode, 4 beams": 80, "train": 16, "guide, greedy": 80, "guide, 4 beams": 80,
    }  # fmt: skip
    assert (costs.seconds > 0).all()

    # A second round starts from what the first one tuned, and its candidates are new.
    again = made_in / "rounds/again"
    candidates = Path("data/candidates/base/validation.parquet")
    first, second = (
        read_table(folder / candidates, CANDIDATES, "generate") for folder in (made_in, again)
    )
    assert [row["id"] for row in first] == [row["id"] for row in second]
    assert [row["candidates"] for row in first] != [row["candidates"] for row in second]
    bases = [folder / "data/checkpoints/base/model.safetensors" for folder in (made_in, again)]
    assert bases[0].read_bytes() != bases[1].read_bytes()

    # Another machine has the table alone: nothing is measured again.
    shutil.rmtree(project / ".brido/studies")
    assert "2 chains, 2 done already" in run(project, *command)
    assert table.read_bytes() == whole

    # Without a system's rows that system alone is measured again, with equal rows.
    write_rows(table, rows[rows.system != "3 candidates"])
    assert "2 chains, 1 done already" in run(project, *command)
    assert sorted(table.read_bytes().splitlines()) == sorted(whole.splitlines())

    # Under another value of a key no rows are added to them.
    write_preset(project, **{"training.gamma": 1.0})
    assert "training.gamma" in run(project, *command, code=2)
