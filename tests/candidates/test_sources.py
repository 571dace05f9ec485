"""Another source of candidates, registered from outside the package."""

from functools import partial
from typing import Literal

import pytest

from brido.candidates.documents import Documents
from brido.candidates.generate import SOURCES, Plan, Request, describe, generate, notes
from brido.models.settings import ReadingSettings
from brido.settings.base import Positive, Section
from brido.tables import CANDIDATES, CORPUS, read_rows, write_table
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings


class FirstWords(Section):
    """`generation` of a method that the package does not know."""

    method: Literal["first_words"] = "first_words"
    num_candidates: Positive = 3
    longest: Positive = 2


class FirstWordsWorker:
    """The first words of a document, one more a candidate."""

    def __init__(self, settings, device, advance):
        self.settings = settings

    def __call__(self, part):
        count, longest = self.settings.num_candidates, self.settings.longest
        rows = []
        for name, document in part.read():
            words = document.split()
            texts = [" ".join(words[: min(number, longest)]) for number in range(count)]
            row = {"search_scores": [0.0] * count, "ended": [True] * (count - 1) + [False]}
            rows.append({"id": name, "candidates": texts} | row)
        return rows, {"halved_batches": 1}


def first_words(request):
    return Plan(partial(FirstWordsWorker, request.settings))


@pytest.fixture
def request_for(tmp_path, monkeypatch):
    """Makes requests for two splits of 5 and 2 documents; their base does not exist."""
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    documents = {}
    for split, count in (("train", 5), ("validation", 2)):
        path = tmp_path / f"{split}.parquet"
        row = {"document": "the cat sat on the mat", "summary": "s", "references": ["s"]}
        write_table(path, [[{"id": f"{split}-{n}"} | row for n in range(count)]], CORPUS)
        documents[split] = Documents(path, None, "refuse")

    def make(settings):
        runtime = RuntimeSettings(shard_documents=2)
        return Request("mine", settings, ReadingSettings(), runtime, tmp_path / "base", documents)

    return make


def test_a_source_from_outside_makes_the_candidates(request_for, tmp_path, monkeypatch):
    monkeypatch.setitem(SOURCES, "first_words", first_words)
    request = request_for(FirstWords())
    work = generate(request)
    description = describe(request, "train", work)
    work.write("train", tmp_path / "found.parquet", description)
    rows = read_rows(tmp_path / "found.parquet", CANDIDATES, "")
    assert [row["id"] for row in rows] == [f"train-{n}" for n in range(5)]
    assert rows[4]["candidates"] == ["", "the", "the cat"]
    assert description["generation"] == {"method": "first_words", "num_candidates": 3, "longest": 2}
    assert description["documents"] == 5
    assert description["distinct_candidates"] == 3
    assert description["empty_candidates"] == 5
    assert description["halved_batches"] == 3
    assert list(notes(description)) == [
        "5 documents, 3.0 of 3 candidates distinct",
        "5 candidates are empty",
        "5 candidates did not end",
        "3 batches halved for memory",
    ]
    # Other settings are other work.
    again = generate(request_for(FirstWords(longest=1)))
    again.write("train", tmp_path / "found.parquet", {})
    assert read_rows(tmp_path / "found.parquet", CANDIDATES, "")[0]["candidates"][2] == "the"


def test_a_source_that_makes_another_number_of_candidates_is_refused(request_for, monkeypatch):
    def one_more(request):
        return Plan(partial(FirstWordsWorker, FirstWords(num_candidates=4)))

    monkeypatch.setitem(SOURCES, "first_words", one_more)
    with pytest.raises(BridoError, match=r"2 documents .*num_candidates \(3\): train-0, train-1"):
        generate(request_for(FirstWords()))


def test_an_unknown_method_and_a_missing_checkpoint_are_named(request_for, monkeypatch):
    with pytest.raises(
        BridoError, match="first_words is unknown.* diverse_beam, sampling, endpoint, files"
    ):
        generate(request_for(FirstWords()))
    monkeypatch.setitem(SOURCES, "first_words", SOURCES["sampling"])
    with pytest.raises(BridoError, match="base is missing: make it with `dvc repro checkpoint@b"):
        generate(request_for(FirstWords()))
