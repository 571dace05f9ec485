"""The site's API pages name what other projects rely on, and every page has a place on the site."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What `brido` and its rooms promise under these names.
PROMISED = {
    *(f"brido.rouge.{name}" for name in ("rouge_matrix", "similarity_batch", "similarity_matrix")),
    *("brido.vote.consensus_scores", "brido.vote.ranking", "brido.vote.check.pair_accuracy"),
    *(f"brido.search.{name}" for name in ("SearchSettings", "beam_search", "diverse_beam_search")),
    "brido.likelihood.candidate_log_likelihood",
    "brido.training.loss.contrastive_loss",
    *("brido.models.LanguageModel", "brido.models.interface.Family"),
    *("brido.evaluation.qafacteval.QAFactEval", "brido.evaluation.geval.GEval"),
    "brido.endpoint.Client",
    *("brido.summarizer.Summarizer", "brido.summarizer.Summary"),
    *(f"brido.summarizer.usage.{name}" for name in ("Usage", "usage_of", "write_usage")),
}


def named() -> list[str]:
    """The names that the API pages show."""
    pages = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/api/*.md"))
    return re.findall(r"^::: (\S+)$", pages, re.MULTILINE)


def test_what_is_promised_is_shown_once():
    assert set(named()) >= PROMISED
    assert len(named()) == len(set(named()))


@pytest.mark.parametrize("name", named())
def test_what_is_shown_exists_and_says_what_it_is(name: str):
    module, _, attribute = name.rpartition(".")
    assert getattr(import_module(module), attribute).__doc__


def test_every_page_has_a_place():
    # The file has a tag of its own, which YAML readers refuse.
    places = re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")]
    outside = [name for name in places if not name.startswith("docs/")]
    assert sorted(places) == sorted([*pages, *outside])
    assert all((ROOT / name).is_file() for name in outside)
