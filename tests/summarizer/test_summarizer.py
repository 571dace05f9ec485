"""Summarizer: stage decode's texts, what is said about them, and threads that share it."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import finished_run
import pytest
import small_project
import torch
from rouge_score.rouge_scorer import RougeScorer

import brido
from brido.candidates.local import Generator
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings, diverse_beam_search
from brido.search.settings import GuidanceSettings
from brido.settings.load import load_params
from brido.summarizer import Summarizer, Summary
from brido.summarizer.election import elect
from brido.summarizer.usage import Usage, write_usage
from brido.summarizer.writer import Named, chunks
from brido.tables import CORPUS, DECODED, read_rows
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings
from stages import paths

SHORT = ReadingSettings(max_source_tokens=20)
TEXTS = [small_project.document(number) for number in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("summarizer") / "model"
    small_project.write_checkpoint(place)
    write_usage(place, Usage(reading=SHORT))
    return place


@pytest.fixture(scope="module")
def summarizer(folder):
    return brido.Summarizer.load(folder, device="cpu")


@pytest.mark.parametrize("system", ["base", "guided"])
def test_the_texts_are_those_of_stage_decode(tmp_path, monkeypatch, system):
    """Several chunks, among them one with what is left; ids decide who guides whom."""
    small_project.write_project(tmp_path)
    small_project.write_corpus(tmp_path, "test", [small_project.document(n) for n in range(230)])
    monkeypatch.chdir(tmp_path)
    finished_run.run(monkeypatch, "decode" if system == "base" else "vary", system)
    rows = read_rows(paths.corpus("test"), CORPUS, "")
    decoded = read_rows(paths.decoded(system, "test"), DECODED, "")
    params = load_params()
    usage = Usage(reading=SHORT, guidance=params.variant_of(system).guidance)
    write_usage(paths.checkpoint("base"), usage)
    own = Summarizer.load(paths.checkpoint("base"), device="cpu", batch_tokens=400)
    own._runtime = params.runtime  # as small as the project's shards
    ids = [row["id"] for row in rows]
    summaries = own.stream((row["document"] for row in rows), ids)
    assert [each.text for each in summaries] == [row["summary"] for row in decoded]


def test_what_is_known_of_a_summary(summarizer):
    texts = ["w1 w2 w3", " ", "w1 w2 " * 18, " w1\n w2\tw3 "]
    short, blank, long, spaced = summarizer.summarize(texts)
    assert short.text == spaced.text != ""
    assert blank == Summary("")
    # 36 words, of which a model with 20 tokens reads 18 and <s>, </s>.
    assert (short.cut, long.cut) == (0.0, 0.5)
    assert short.agreement is blank.log_probability is None


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_the_log_probability_is_the_models_own(folder, penalty):
    """Token by token, without our search; its settings force the first token."""
    changes = {"length_penalty": penalty, "max_length": 8}
    own = Summarizer.load(folder, device="cpu", changes=changes)
    (found,) = own.summarize(TEXTS[:1])
    language, search = own._writer.language, own._writing.search
    with torch.inference_mode():
        read = language.read(TEXTS[:1])
        found_by = diverse_beam_search(language.model, read.ids, read.mask, search)
        written = found_by.sequences[0, :1]
        logits = language.model(read.ids, read.mask, decoder_input_ids=written[:, :-1]).logits
        each = logits.log_softmax(-1).gather(2, written[:, 1:, None])[0, :, 0]
    assert language.text(written) == [found.text]
    assert 1 < len(each) < 7  # the end is not forced
    assert found.log_probability == pytest.approx(float(each[1:].sum() / len(each)), abs=1e-5)
    assert found.as_row()["log_probability"] == round(found.log_probability, 4)


def test_unsupported_mentions_have_their_places(monkeypatch, folder):
    generate = Generator.generate

    def inventive(self, documents, settings, seed=0, guidance=None):
        result = generate(self, documents, settings, seed, guidance)
        for written in result.written:
            written.texts[0], written.ended[0] = "He met Ann in Leeds in 1999.", False
        return result

    monkeypatch.setattr(Generator, "generate", inventive)
    (summary,) = Summarizer.load(folder, device="cpu").summarize(["Ann went to York."])
    found = [(each.text, summary.text[each.start : each.end]) for each in summary.unsupported]
    assert found == [("1999", "1999"), ("Leeds", "Leeds")]
    assert not summary.ended
    assert summary.as_row() == {
        "summary": summary.text,
        "ended": False,
        "cut": 0.0,
        "unsupported": [
            {"type": "number", "text": "1999", "start": 23, "end": 27},
            {"type": "name", "text": "Leeds", "start": 14, "end": 19},
        ],
        "flaw": "",
        "log_probability": round(summary.log_probability, 4),
    }


def test_the_elected_candidate_agrees_most(folder):
    own = Summarizer.load(folder, device="cpu", candidates=4)
    search = SearchSettings(
        num_beams=4, num_beam_groups=4, diversity_penalty=1.0, max_length=15, length_penalty=2.0,
        early_stopping=True,
    )  # fmt: skip
    generator = Generator(folder, SHORT, RuntimeSettings(device="cpu"))
    candidates = generator.generate({str(n): text for n, text in enumerate(TEXTS)}, search).written
    for summary, written in zip(own.summarize(TEXTS), candidates, strict=True):
        voters = zip(written.texts, written.ended, strict=True)
        texts = [text for text, ended in voters if text and ended]
        texts = texts if len(texts) > 1 else written.texts
        means = agreements(texts)
        assert summary.agreement == pytest.approx(max(means), abs=1e-6)
        assert summary.text == texts[means.index(max(means))]


def agreements(texts):
    """The mean similarity of each text with the others, pair by pair."""
    scorer = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)
    pairs = {}
    for one, other in combinations(range(len(texts)), 2):
        scores = scorer.score(texts[one], texts[other])
        first, second = scores["rouge1"].fmeasure, scores["rouge2"].fmeasure
        pairs[one, other] = pairs[other, one] = 2 * first * second / max(first + second, 1e-12)
    return [
        sum(pairs[one, other] for other in range(len(texts)) if other != one) / (len(texts) - 1)
        for one in range(len(texts))
    ]


def test_a_candidate_that_did_not_end_or_is_empty_has_no_vote():
    texts = ["a b c", "a b c", "a b c", "x y z", "x y z"]
    ended = [False, False, True, True, True]
    ((place, agreement),) = elect([texts], [ended])
    assert (place, agreement) == (3, 0.5)
    # The same with blank ones; with fewer than two voters all of them vote.
    assert elect([["", "", "a b c", "x y z", "x y z"]], [[True] * 5]) == [(3, 0.5)]
    assert elect([texts], [[True] + [False] * 4]) == [(0, 0.5)]
    assert elect([], []) == []
    # ROUGE's own words know a-z and 0-9 alone: of these texts each would agree with none.
    russian = ["кот сидел там", "собака бежала", "кот сидел тут"]
    ((place, agreement),) = elect([russian], [[True] * 3])
    assert place == 0
    assert agreement > 0.25


def test_threads_share_a_summarizer(summarizer, monkeypatch):
    """One at a time writes: no two are inside the model, and nobody gets another's texts."""
    alone = [summarizer.summarize([text])[0] for text in TEXTS]
    writer, inside, most = summarizer._writer, [], []

    def watched(chunk, checked):
        inside.append(chunk)
        most.append(len(inside))
        found = writer(chunk, checked)
        inside.pop()
        return found

    monkeypatch.setattr(summarizer, "_writer", watched)
    with ThreadPoolExecutor(len(TEXTS)) as threads:
        together = threads.map(lambda text: summarizer.summarize([text])[0], TEXTS)
        assert list(together) == alone
    assert most == [1] * len(TEXTS)


REFUSED = [
    *((lambda own, folder, value=value: own.summarize(value), "documents")
      for value in ("w1 w2", b"w1", [1], None, {"w1", "w2"})),
    *((lambda own, folder, ids=ids: own.summarize(["w1", "w2"], ids), "ids")
      for ids in ("ab", ["a"], ["a", "b", "c"])),
    (lambda own, folder: list(own.stream(iter(["w1", "w2"]), iter(["a"]))), r"documents\[1\]"),
    (lambda own, folder: list(own.stream({"w1": 1})), "documents"),
    (lambda own, folder: own.summarize(["w1", "w2 \ud800"]), r"documents\[1\].*surrogate"),
    (lambda own, folder: own.summarize(["w1"], checked="yes"), "checked must be True, False or"),
    (lambda own, folder: Summarizer.load(folder, batch_tokens=0), "batch_tokens"),
    (lambda own, folder: Summarizer.load(folder, device="cuda:99"), "device"),
    *((lambda own, folder, size=size: Summarizer.load(folder, candidates=size),
       "candidates must be a whole number from 2") for size in (4.0, 1, True, "4")),
]  # fmt: skip


@pytest.mark.parametrize(("call", "named"), REFUSED)
def test_what_is_refused(summarizer, folder, call, named):
    with pytest.raises(BridoError, match=named):
        call(summarizer, folder)


def test_chunks_are_the_units_of_stage_decode():
    def sizes(count, guidance):
        rows = (Named(number, "") for number in range(count))
        return [len(chunk) for chunk in chunks(rows, 4, guidance)]

    assert [sizes(count, None) for count in (0, 3, 4, 9)] == [[], [3], [4], [4, 4, 1]]
    counts = {0: [], 7: [7], 100: [100], 199: [199], 200: [100, 100], 350: [100, 100, 150]}
    for count, expected in counts.items():
        assert sizes(count, GuidanceSettings()) == expected
