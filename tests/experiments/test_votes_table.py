"""The table of every vote, on tables of which some votes know everything and some nothing."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML
from synthetic_run import write_run

from brido.settings.load import load_params
from brido.tables import LIKELIHOOD, POOL, SUPPORT, read_rows, write_table
from brido.utils.errors import BridoError
from experiments import votes
from stages import paths

ROOT = Path(__file__).parents[2]
DOCUMENTS, SIZE = 12, 8


@pytest.fixture
def in_run(tmp_path, monkeypatch):
    """A run in which a later candidate is more wrong, and less likely."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path, DOCUMENTS, SIZE)
    raw = YAML().load((ROOT / "params.yaml").read_text())
    raw["generation"]["base"].update(num_candidates=SIZE, num_beams=SIZE, num_beam_groups=SIZE)
    with open("params.yaml", "w") as stream:
        YAML().dump(raw, stream)


def write_evidence(**metadata):
    ids = [row["id"] for row in read_rows(paths.pool("validation"), POOL, "pool")]
    wrong = list(range(SIZE))
    for name, counts in (("validation", wrong), ("base", [1])):
        row = {"support": [-1.0 * c for c in counts], "unsupported": counts}
        row["words"] = [9] * len(counts)
        rows = [{"id": each} | row for each in ids]
        write_table(paths.support(name), [rows], SUPPORT, {"judge": "a judge", **metadata})
    row = {"log_probability": [-50.0 * c for c in wrong], "tokens": [2] * SIZE}
    write_table(paths.likelihood("validation"), [[{"id": i} | row for i in ids]], LIKELIHOOD)


def rows_of(lines):
    cells = [line.strip("| ").split(" | ") for line in lines[4:]]
    return {name: (share, elected) for name, share, elected in cells}


@pytest.mark.usefixtures("in_run")
def test_every_vote_has_a_row_and_the_all_knowing_ones_are_right():
    write_evidence()
    lines = votes.table(load_params())
    pairs = DOCUMENTS * SIZE * (SIZE - 1) // 2
    assert (
        lines[0]
        == f"{DOCUMENTS} documents, {pairs} pairs; judge: a judge; * the judge itself votes"
    )
    rows = rows_of(lines)
    for name in ("log_probability", "mean_log_probability"):
        assert rows[name] == ("1.000 (1.000-1.000)", "0.000")
    # Equal lengths: the shorter is a coin's fall.
    assert rows["shorter"][0] == "0.500 (0.500-0.500)"
    for weight in votes.WEIGHTS:
        assert f"support check, weight {weight:g} *" in rows
    assert {f"by probability, temperature {t:g}" for t in votes.TEMPERATURES} < rows.keys()
    assert {"consensus", "reference", "sentences"} < rows.keys()
    # The more the check weighs, the more its order is seen.
    shares = [float(rows[f"support check, weight {w:g} *"][0][:5]) for w in votes.WEIGHTS]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9


@pytest.mark.usefixtures("in_run")
def test_a_check_that_another_judges_is_not_marked():
    write_evidence(second=True)
    rows = rows_of(votes.table(load_params()))
    assert "support check, weight 0.5" in rows
    assert rows["support"] == ("1.000 (1.000-1.000)", "0.000")


@pytest.mark.usefixtures("in_run")
def test_without_the_stages_tables_it_says_which_stage_makes_them():
    with pytest.raises(BridoError, match="dvc repro"):
        votes.table(load_params())
