"""The documents: lines that can be read, links that lead somewhere, no key forgotten."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from brido.rouge import similarity_matrix
from brido.settings.base import Section
from brido.settings.params import Params
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
    long = [
        (number, line)
        for number, line in enumerate(prose(name), 1)
        if len(line) > LONGEST and not line.startswith("|")
    ]
    assert not long


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


def declared(kind: Any, place: str = "") -> Iterator[str]:
    """The dotted keys of a settings type, every form of it; `*` stands for names of the user's."""
    inside = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Section):
        for name, field in kind.model_fields.items():
            yield from declared(field.annotation, f"{place}.{name}" if place else name)
    elif getattr(kind, "__origin__", None) is dict:
        yield from declared(inside[1], f"{place}.*")
    elif not any(_is_settings(part) for part in inside):
        yield place
    else:
        for part in inside:
            if _is_settings(part):
                yield from declared(part, place)


def _is_settings(kind: Any) -> bool:
    own = isinstance(kind, type) and issubclass(kind, Section)
    return own or any(_is_settings(part) for part in get_args(kind))


def written(value: Any, place: str = "") -> Iterator[str]:
    """The dotted keys of a piece of params.yaml that have a value of their own."""
    if not isinstance(value, dict) or not value:
        yield place
        return
    for key, item in value.items():
        name = "*" if place in {"checkpoints", "generation", "reading"} else key
        yield from written(item, f"{place}.{name}" if place else name)


def test_every_key_stands_in_params_or_in_options():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/options.md").read_text(), re.DOTALL)
    texts = [(ROOT / "params.yaml").read_text(), *blocks]
    found = {key for text in texts for key in written(YAML(typ="safe").load(text))}
    # Further servers have the keys of the first.
    keys = {key for key in declared(Params) if not key.startswith("runtime.endpoints.*")}
    assert {"data.hub.id", "data.files.train", "training.margin", "runtime.device"} <= keys
    # A section that is written as one value, such as null, is there with all its keys.
    missing = [key for key in keys if not {key, key.rpartition(".")[0]} & found]
    assert missing == []


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
