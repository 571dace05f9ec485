"""The page in a real browser: the live vote, filters, links, hostile text, silence."""

import math
import time

import numpy as np
import pytest
from shown_page import ALPHAS, COUNT, choose, go, shown_ids, shown_order, size, title, wait_for
from synthetic_run import HOSTILE

from brido.vote.consensus import consensus_scores, eligible_scores, ranking

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("alpha", ALPHAS)
def test_slider_ranks_as_the_score_stage_does(page, documents, alpha):
    slider = page.find_element("id", "alpha")
    share = 1 if math.isinf(alpha) else alpha / (COUNT - 1 + alpha)
    page.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'));",
        slider,
        str(share),
    )
    # The slider has steps: what counts is the alpha that the page says it uses.
    text = page.find_element("css selector", ".candidates").get_attribute("data-alpha")
    used = math.inf if text == "Infinity" else float(text)
    assert used == pytest.approx(alpha, abs=0.2)
    expected = ranking(consensus_scores(documents[0].case.similarity, used))
    assert shown_order(page) == expected.tolist()


def scores_of(document, alpha):
    """The scores of a document's candidates by Eq. 2."""
    case = document.case
    flags = (np.array([flags]) for flags in (case.voters, case.eligible))
    return eligible_scores(case.similarity[None], alpha, "equation", *flags)[0]


def test_every_document_ranks_exactly_at_a_named_alpha_ties_included(page, address, documents):
    ties = 0
    for document in documents:
        for alpha in ALPHAS:
            go(page, address, document.case.id, alpha)
            scores = scores_of(document, alpha)
            ties += len(scores) - len(set(scores.tolist()))
            assert shown_order(page) == ranking(scores).tolist(), (document.case.id, alpha)
            first = page.find_element("css selector", ".candidate .score span").text
            assert first == f"{np.nanmax(scores):.3f}"
    assert ties > 0


def test_the_page_opens_on_the_order_that_the_run_wrote(page, address, documents):
    for document in documents:
        go(page, address, document.case.id)
        assert shown_order(page) == document.case.order
    assert "Order of the run: a vote" in page.find_element("css selector", ".hint").text


def test_filters_and_search(page):
    everything = shown_ids(page)
    assert len(everything) == 8
    assert choose(page, "improved") == ["doc-3", "doc-0"]
    assert choose(page, "worse") == ["doc-1"]
    assert choose(page, "unsupported") == ["doc-1", "doc-2"]
    assert choose(page, "broken") == ["doc-2"]
    assert choose(page, "all") == everything
    search = page.find_element("id", "search")
    search.send_keys("number5 ROAD")
    assert shown_ids(page) == ["doc-5"]
    search.send_keys(" nowhere")
    assert shown_ids(page) == []
    assert page.find_element("id", "count").text.startswith("0 of 8")


def test_deep_link_opens_document_and_alpha_and_history_works(page, address, documents):
    go(page, address, "doc-3", 15)
    page.refresh()
    wait_for(page, "doc-3", 15)
    half = ranking(consensus_scores(documents[3].case.similarity, 15))
    assert shown_order(page) == half.tolist()
    page.find_element("css selector", '#list a[data-id="doc-5"]').click()
    wait_for(page, "doc-5", 15)
    page.back()
    wait_for(page, "doc-3", 15)
    page.get("about:blank")
    page.get(f"{address}#document=no-such&alpha=nonsense")
    wait_for(page, "doc-0")
    assert shown_order(page) == documents[0].case.order


def test_hostile_text_is_shown_as_text(page, address, documents):
    hostile = documents[6]
    go(page, address, hostile.case.id)
    page.refresh()
    wait_for(page, hostile.case.id)
    text = page.execute_script("return document.querySelector('.reader .text').textContent")
    assert text == HOSTILE
    cards = page.execute_script("return document.querySelector('.card p').textContent")
    assert cards == HOSTILE
    assert page.find_elements("css selector", "main img, main script, main iframe") == []


def test_marks_and_the_look_into_the_article(page, address):
    go(page, address, "doc-0")
    cards = {
        card.get_attribute("data-system"): card
        for card in page.find_elements("css selector", ".card")
    }
    assert cards["base"].find_element("css selector", "mark.no").text == "OAK"
    cards["tuned"].find_element("css selector", "mark.yes").click()
    found = page.find_elements("css selector", ".text mark.found")
    assert [mark.text for mark in found] == ["Elm", "ELM"]
    cards["base"].find_element("css selector", "mark.no").click()
    assert page.find_elements("css selector", ".text mark.found") == []


def test_the_kept_system_is_framed_and_what_is_not_whole_says_why(page, address):
    go(page, address, "doc-2")
    base, tuned = page.find_elements("css selector", ".card")
    assert tuned.find_element("css selector", "h3").text.startswith("tuned, kept")
    assert "not whole: no end" in tuned.find_element("css selector", "small").text
    frames = [card.value_of_css_property("border-top-width") for card in (base, tuned)]
    styles = [card.value_of_css_property("border-top-style") for card in (base, tuned)]
    assert (frames, styles) == (["1px", "2px"], ["solid", "dashed"])
    for text in (".text", ".card p", ".candidate p"):
        shown = page.find_element("css selector", text)
        assert shown.value_of_css_property("white-space-collapse") == "preserve"


def test_heat_map_shows_the_matrix_in_the_order_shown(page, documents):
    matrix = documents[0].case.similarity
    order = shown_order(page)
    cells = page.execute_script(
        "return [...document.querySelectorAll('.map rect')].map((cell) => "
        "[cell.y.baseVal.value, cell.x.baseVal.value, cell.textContent])"
    )
    told = {(round(y - 0.03, 3), round(x - 0.03, 3)): text for y, x, text in cells}
    assert len(told) == COUNT * (COUNT + 1)
    for row, first in enumerate(order):
        for column, second in enumerate(order):
            expected = f"rank {row + 1} against rank {column + 1}: {matrix[first, second]:.3f}"
            assert told[row, column] == (f"rank {row + 1}" if row == column else expected)
        expected = f"rank {row + 1} against the reference: {matrix[first, COUNT]:.3f}"
        assert told[row, COUNT + 0.5] == expected


@pytest.mark.parametrize(
    ("alpha", "winner"),
    [(0, "that agrees most with the others"), (15, "that this weight puts first"),
     (math.inf, "nearest to the reference")],
)  # fmt: skip
def test_one_sentence_says_what_is_seen_at_every_alpha(page, address, alpha, winner):
    go(page, address, "doc-0", alpha)
    does = "does so too" if shown_order(page)[0] in (2, 9) else "does not"
    assert page.find_element("css selector", ".seen").text == (
        "2 of 16 candidates say something that the article does not support (marked), and so "
        f"does the summary by base itself; the candidate {winner} {does}."
    )


def test_on_a_phone_the_candidates_come_first(page):
    size(page, 390, 844)
    tops = page.execute_script(
        "return ['.candidate', '.text', '.control', '.card', '.map', '.finder', '#results']"
        ".map((one) => document.querySelector(one).getBoundingClientRect().top + scrollY)"
    )
    assert tops == sorted(tops)


def test_a_link_to_a_part_of_the_page_leaves_document_and_vote(page, address):
    go(page, address, "doc-3", 15)
    page.find_element("css selector", '.contents a[href="#results"]').click()
    assert page.current_url.endswith("#results")
    assert title(page) == "doc-3"
    assert page.find_element("css selector", ".candidates").get_attribute("data-alpha") == "15"


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(page, width):
    size(page, width, 800)
    time.sleep(0.2)
    inner = page.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert inner[0] <= inner[1]


def test_it_prints(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = page.execute_script(
        "return getComputedStyle(document.querySelector('.finder')).display"
    )
    assert hidden == "none"
    assert page.find_element("css selector", ".candidate").is_displayed()
    assert page.print_page()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
