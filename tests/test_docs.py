"""The documents: lines that can be read, links that lead somewhere, pictures of what is so."""

import re
import subprocess
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from brido.rouge import similarity_matrix
from brido.vote.consensus import consensus_scores

ROOT = Path(__file__).parent.parent
LONGEST = 120
LISTED = subprocess.run(
    ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
    cwd=ROOT, capture_output=True, text=True, check=True,
).stdout.splitlines()  # fmt: skip
DOCUMENTS = [name for name in LISTED if (ROOT / name).is_file()]


@cache
def prose(name: str) -> list[str]:
    """The lines of a document without code blocks, which become empty."""
    fenced, lines = False, []
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        fence = line.lstrip().startswith("```")
        lines.append("" if fenced or fence else line)
        fenced ^= fence
    assert not fenced, name
    return lines


def anchors(name: str) -> set[str]:
    """The anchors that GitHub gives a document's headings."""
    headings = [line.lstrip("#").strip() for line in prose(name) if re.match("#+ ", line)]
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_line_of_prose_is_too_long(name: str):
    lines = [line for line in prose(name) if not line.startswith("|")]
    assert [line for line in lines if len(line) > LONGEST] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str):
    for target in re.findall(r"\]\(([^)\s]+)\)", "\n".join(prose(name))):
        if re.match("https?:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(str(path.resolve().relative_to(ROOT))), target


def test_the_picture_of_the_vote_has_the_numbers_of_its_texts():
    def texts(kind: str) -> list[str]:
        marked = (item for item in picture.iter() if kind in item.get("class", "").split())
        return ["".join(item.itertext()) for item in marked]

    picture = ElementTree.parse(ROOT / "docs/vote.svg")
    (reference,) = texts("reference")
    matrix = similarity_matrix(texts("candidate"), reference, "harmonic_r1_r2")
    size = len(matrix)
    pairs = [matrix[i][j] for i in range(size) for j in range(size + 1) if i != j]
    assert texts("cell") == [f"{value:.2f}" for value in pairs]
    columns = [consensus_scores(matrix, alpha) for alpha in (0, float("inf"))]
    assert texts("score") == [f"{column[i]:.2f}" for i in range(size) for column in columns]
    assert texts("elected") == [f"{max(column):.2f}" for column in columns]


def test_the_picture_of_the_pipeline_shows_the_stages_of_dvc_yaml():
    picture = (ROOT / "docs/architecture.md").read_text().split("```mermaid")[1].split("```")[0]
    stages = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
    assert set(re.findall(r"\w+", picture)) - {"flowchart", "TD"} == set(stages)
