"""Checked summaries: what passes stays, what fails gives way to a candidate, or is flagged."""

from types import SimpleNamespace

import finished_run
import pytest
import small_project

from brido.candidates.local import Written
from brido.candidates.settings import DiverseBeamGeneration, SamplingGeneration
from brido.checkers.settings import MentionsSupport, MiniCheckSupport
from brido.likelihood import candidate_log_likelihood
from brido.models.language_model import LanguageModel
from brido.models.settings import ReadingSettings
from brido.search import SearchSettings, beam_search, diverse_beam_search
from brido.settings.load import load_params
from brido.summarizer import Summarizer, checked
from brido.summarizer.checked import Checking, SummaryCheck
from brido.summarizer.election import elect
from brido.summarizer.settings import CheckedSettings
from brido.summarizer.usage import read_usage, usage_of, write_usage
from brido.tables import CORPUS, DECODED, read_metadata, read_rows
from brido.work.settings import RuntimeSettings
from stages import paths

RUNTIME = RuntimeSettings(device="cpu")
SAMPLES = {"method": "sampling", "seed": 3}


def passes(text):
    """A rule that about half of the tiny model's texts pass."""
    return sum(map(ord, text)) % 3 > 0


@pytest.fixture
def arbitrary(monkeypatch):
    """`passes` in the place of the checker and of what is whole."""

    def check(sources, texts, checker):
        assert all(source.facts is source.reference is None for source in sources)
        rows = [[passes(text) for text in own] for own in texts]
        return [{"whole": row, "unsupported": [0] * len(row)} for row in rows]

    monkeypatch.setattr(checked, "check_texts", check)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Makes a small project the present folder, with the variant `checked` by these keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)

    def make(keys, **sections):
        variant = {"checkpoint": "base", "checked": {"candidates": 4, **keys}}
        small_project.write_project(tmp_path, variants={"checked": variant}, **sections)
        small_project.write_corpus(
            tmp_path, "test", [small_project.document(number) for number in range(30)]
        )

    return make


def decoded(monkeypatch):
    finished_run.run(monkeypatch, "vary", "checked")
    return read_rows(paths.decoded("checked", "test"), DECODED, "")


def usage():
    return usage_of(paths.checkpoint("base"), **load_params().usage_of("checked"))


@pytest.mark.parametrize("pick", ["likelihood", "vote"])
def test_stage_vary_picks_what_an_obvious_version_picks(project, monkeypatch, arbitrary, pick):
    # The exponent of the length decides among candidates too: here longer ones are less likely.
    project({"pick": pick}, decoding={"length_penalty": -1.5})
    rows = decoded(monkeypatch)
    reading = ReadingSettings(max_source_tokens=20)
    language = LanguageModel.load(paths.checkpoint("base"), reading)
    own = SearchSettings(num_beams=3, length_penalty=-1.5, max_length=15, early_stopping=True)
    diverse = SearchSettings(
        num_beams=8, num_beam_groups=4, diversity_penalty=0.5, max_length=12, early_stopping=True
    )
    counts = {"kept": 0, "replaced": 0, "flagged": 0}
    for number, row in enumerate(rows):
        read = language.read([small_project.document(number)])
        first = beam_search(language.model, read.ids, read.mask, own)
        text, what = language.text(first.sequences[0])[0], "kept"
        if not passes(text):
            found = diverse_beam_search(language.model, read.ids, read.mask, diverse)
            texts = language.text(found.sequences[0])[::2]
            ended = language.ended(found.sequences[0])[::2]
            electable = [n for n in range(4) if ended[n] and passes(texts[n])]
            what = "replaced" if electable else "flagged"
            if electable and pick == "vote":
                places = [n for n in range(4) if ended[n] and texts[n]] or list(range(4))
                agreement = dict.fromkeys(places, 0.0)
                for place in places:
                    rest = [n for n in places if n != place]
                    pairs = [elect([[texts[place], texts[n]]], [[True] * 2])[0][1] for n in rest]
                    agreement[place] = sum(pairs) / max(len(rest), 1)
                text = texts[max(electable, key=agreement.__getitem__)]
            elif electable:
                written = language.write([texts], read, 99)
                values = candidate_log_likelihood(
                    language.model, read.ids, read.mask, written.ids, -1.5, written.lengths
                )
                text = texts[max(electable, key=values[0].tolist().__getitem__)]
        counts[what] += 1
        assert row["summary"] == text, number
    assert min(counts.values()) > 0
    about = read_metadata(paths.decoded("checked", "test"), "")
    assert {name: about[name] for name in ("replaced", "flagged")} == {
        name: counts[name] for name in ("replaced", "flagged")
    }
    assert about["checked"]["pick"] == pick
    assert about["candidates"]["num_beams"] == 8


@pytest.mark.parametrize("generation", [{}, SAMPLES])
@pytest.mark.parametrize("pick", ["likelihood", "vote"])
def test_the_summarizers_texts_are_those_of_the_stage(
    project, monkeypatch, arbitrary, generation, pick
):
    project({"pick": pick}, generation=generation)
    rows = decoded(monkeypatch)
    folder = paths.checkpoint("base")
    write_usage(folder, usage())
    assert read_usage(folder) == usage()
    documents = read_rows(paths.corpus("test"), CORPUS, "")
    texts, ids = ([row[name] for row in documents] for name in ("document", "id"))
    own = Summarizer.load(folder, device="cpu", batch_tokens=400)
    own._runtime = load_params().runtime
    found = own.summarize(texts, ids)
    assert [each.text for each in found] == [row["summary"] for row in rows]
    assert {each.passes for each in found} == {True, False}
    unchecked = own.summarize(texts, ids, checked=False)
    assert {each.passes for each in unchecked} == {None}
    assert [each.text for each in unchecked] != [each.text for each in found]
    # Without brido.json's key it is asked for.
    write_usage(folder, usage().model_copy(update={"checked": None}))
    asked = Summarizer.load(folder, device="cpu", batch_tokens=400)
    asked._runtime = own._runtime
    assert asked.summarize(texts[:4], ids[:4]) == unchecked[:4]
    assert None not in {each.passes for each in asked.summarize(texts, ids, checked=True)}


class Candidates:
    """A generator whose candidates are given, and which notes who gets some."""

    runtime, device = RUNTIME, "cpu"

    def __init__(self, *texts, ended=None):
        self.texts, self.ended = list(texts), ended or [True] * len(texts)
        self.asked = []

    def candidates(self, documents, source):
        self.asked.append(list(documents))
        assert source.num_candidates == len(self.texts)
        one = Written(self.texts, [0.0] * len(self.texts), self.ended, None, [5] * len(self.texts))
        return SimpleNamespace(written=[one] * len(documents))


DOCUMENT = "Ann Lee went to York on 3 May with twelve friends and came home late at night."
GOOD, OTHER = "Ann Lee went to York.", "Ann Lee came home late at night."
INVENTED, CUT, LOOP = "Bob Ray went to York.", "Ann Lee went to", "Ann Lee went went to York."


def check(own, generator, **keys):
    settings = CheckedSettings(candidates=len(generator.texts), pick="vote", **keys)
    source = settings.source(None, 20)
    written = [Written([text], [-1.0], [True], None, [5]) for text in own]
    documents = {str(place): DOCUMENT for place in range(len(own))}
    return SummaryCheck(generator, Checking(settings, source, 1.0))(documents, written)


def test_only_documents_whose_own_summary_fails_pay_for_candidates():
    generator = Candidates(INVENTED, OTHER, GOOD)
    found = check([GOOD, INVENTED, OTHER, CUT, LOOP], generator)
    assert generator.asked == [["1", "3", "4"]]
    assert [(one.text, one.passes, one.replaced) for one in found] == [
        (GOOD, True, False),
        (GOOD, True, True),
        (OTHER, True, False),
        (GOOD, True, True),
        (GOOD, True, True),
    ]
    none = Candidates(GOOD, OTHER)
    assert [one.passes for one in check([GOOD], none)] == [True]
    assert none.asked == []
    assert check([], none) == []


def test_a_document_keeps_its_own_summary_where_no_candidate_passes():
    for generator in (
        Candidates(INVENTED, CUT, LOOP),
        # One that did not end cannot be elected, however whole it looks.
        Candidates(GOOD, CUT, LOOP, ended=[False, True, True]),
    ):
        (one,) = check([CUT], generator)
        assert (one.text, one.score, one.passes, one.replaced) == (CUT, -1.0, False, False)


def test_what_the_settings_ask_for():
    assert CheckedSettings().support == MentionsSupport(checker="mentions")
    model = {"model": "some/model", "revision": "1a"}
    settings = CheckedSettings(by="minicheck", minicheck=model)
    assert settings.support == MiniCheckSupport(checker="minicheck", **model)
    assert CheckedSettings(by="minicheck").support == MiniCheckSupport(checker="minicheck")
    beams = DiverseBeamGeneration(
        checkpoint="base", num_candidates=4, num_beams=16, num_beam_groups=8, keep_every=4,
        max_length=30,
    )  # fmt: skip
    assert CheckedSettings(candidates=4).source(beams, 9) == beams
    more = CheckedSettings(candidates=6).source(beams, 9)
    assert (more.num_candidates, more.num_beams, more.num_beam_groups) == (6, 6, 6)
    assert (more.keep_every, more.max_length) == (1, 30)
    samples = SamplingGeneration(method="sampling", checkpoint="base", temperature=0.5)
    found = CheckedSettings(candidates=5).source(samples, 9)
    assert found == samples.model_copy(update={"num_candidates": 5})
    default = CheckedSettings().source(None, 9)
    assert (default.num_beam_groups, default.max_length) == (16, 9)
