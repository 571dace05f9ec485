"""docs/results.md says what the committed rows say."""

import json
import re
from itertools import groupby
from pathlib import Path

import pytest

from experiments import findings, reading
from experiments.plan import BEAMS
from experiments.rows import chosen, make_rows, read_rows
from experiments.tables import markdown

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(monkeypatch):
    monkeypatch.chdir(ROOT)
    return (ROOT / "docs/results.md").read_text(encoding="utf-8")


@pytest.fixture
def readings(monkeypatch):
    """What the blind readings say, a text for each kind."""
    monkeypatch.chdir(ROOT)
    folders = sorted((ROOT / "metrics/evidence/readings").iterdir())
    kinds = groupby(folders, lambda folder: folder.name.partition("-seed-")[0])
    texts = []
    for _, own in kinds:
        folders = list(own)
        systems = next(iter(json.loads((folders[0] / "key.json").read_text()).values()))
        texts += [reading.count(folders, system) for system in systems]
    return texts


@pytest.mark.parametrize("finding", findings.FINDINGS, ids=lambda each: each.__name__)
def test_each_table_is_computed_from_the_committed_rows(finding, page):
    assert markdown(finding()) in page


def test_flips_are_the_documents_that_turned_good_and_bad():
    means = {"words": 9, "r1": 1, "r2": 1}
    before, after = (
        make_rows([{"seed": 0, "unsupported": unsupported, "fluency": fluency} | means])
        for unsupported, fluency in (("0101", "3333"), ("0011", "3323"))
    )
    assert findings.flips(after, before) == "25.0 %, 25.0 %"
    assert findings.flips(before, before) == "0.0 %, 0.0 %"
    assert findings.flips(before, after.head(0)) == ""


def test_every_decimal_of_the_text_is_in_a_committed_file(page, readings):
    tables = [(ROOT / f"metrics/{name}/README.md").read_text() for name in ("study", "evidence")]
    more = findings.rouge_by_seed(), *findings.against_parts()
    own = [markdown(finding()) for finding in findings.FINDINGS]
    known = "\n".join([*tables, *readings, *more, *own])
    text = "\n".join(line for line in page.splitlines() if not line.startswith("|"))
    numbers = re.findall(r"(?<![\w.])[-+]?\d+\.\d+(?![\w.]*\w)", text)
    assert len(numbers) > 10
    assert [number for number in numbers if number not in known] == []
    own = read_rows(ROOT / "metrics/evidence/texts.csv").query("setting.str.contains('chance')")
    words = [chosen(own, system, BEAMS).words.mean() for system in ("random", "tuned")]
    assert "notes of {:.1f} words (the vote: {:.1f})".format(*words) in " ".join(page.split())


def test_the_counts_of_the_text_are_those_of_the_check(page):
    page = " ".join(page.split())
    for finding in (findings.foretells, findings.foretells_good):
        world, *_, longer, _, every = (
            [list(map(int, cell.split(", "))) for key, cell in row.items() if key[:4] == "said"]
            for row in finding()
        )
        yes, unknown, no = (f"in {seen[0]} of {sum(seen)}" for seen in every)
        after = (
            f"{yes} runs after a yes, {unknown} where the check could not tell, and {no} after a no"
        )
        assert after in page
        if finding is findings.foretells:
            assert sum(map(sum, world)) == 50
            assert f"harm followed {longer[0][2]} of {sum(longer[0])} times" in page


def shares(page):
    """The page's per cents, rounded; a cell may have several: 29.8, 16.2, 31.1 %."""
    found = re.findall(r"(?<![-+\d.])(\d+\.\d+)(?=(?:, \d+\.\d+)* %)", page)
    return {round(float(number)) for number in found}


def test_the_numbers_of_readme_are_those_of_the_tables(page):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    known = page + (ROOT / "metrics/study/README.md").read_text(encoding="utf-8")
    results = readme[readme.index("## Results") : readme.index("## Experiments")]
    numbers = re.findall(r"(?<![\w.])[-+]?\d+\.\d+", results)
    assert len(numbers) >= 15
    assert [number for number in numbers if number.lstrip("+") not in known] == []
    found = readme[readme.index("## What we found") : readme.index("## Two commands")]
    assert {int(number) for number in re.findall(r"(\d+) %", found)} <= shares(page)


def test_the_evidence_of_presets_is_in_the_tables(page):
    lines = [
        line
        for path in sorted((ROOT / "presets").glob("*.yaml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("# Evidence: ")
    ]
    found = [int(share) for line in lines for share in re.findall(r"(\d+)(?= to | %)", line)]
    assert len(found) >= 6
    assert set(found) <= shares(page)
