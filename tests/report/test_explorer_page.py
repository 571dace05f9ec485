"""The page in a real browser, from disk: the live vote, filters, links, hostile text, silence."""

import json
import math
import shutil
import time
from urllib.parse import quote

import numpy as np
import pytest
from synthetic_run import HOSTILE, similarity_matrix

from brido.consensus import consensus_scores, eligible_scores, ranking
from brido.report.explorer import Page, render_page
from brido.report.explorer.data import Document, MarkedText, Standing
from brido.report.explorer.results import result_table
from brido.report.metrics import Estimate
from brido.report.votes import Mention, VoteBin

pytestmark = pytest.mark.slow

COUNT = 16
INSTALL = (
    "the page's test needs a browser: `apt-get install chromium chromium-driver` (Debian), or put "
    "chromium and chromedriver on the PATH"
)
# Candidates 3 and 8 have no vote, 5 has one and cannot be elected.
STANDINGS = [
    Standing("big" if n % 2 else "base", n not in (3, 8), n not in (3, 5, 8)) for n in range(COUNT)
]
ALPHAS = (0.0, 1.0, 2.75, 15.0, math.inf)


def marked(text, *flags):
    """`text` whose words in capitals are mentions, supported as the flags say in turn."""
    mentions, position = [], 0
    for word, flag in zip(
        [word for word in text.split() if word.isupper() and len(word) > 1], flags, strict=True
    ):
        start = text.index(word, position)
        position = start + len(word)
        mentions.append(Mention(start, position, "town", flag))
    return MarkedText(text, mentions)


def make_documents():
    random = np.random.default_rng(5)
    supported, wrong = marked("A road in ELM shut.", True), marked("A road in OAK shut.", False)
    summaries = [
        {"base": wrong, "tuned": supported},
        {"base": supported, "tuned": wrong},
        {"base": wrong, "tuned": wrong},
        {"base": marked("OAK and ASH shut.", False, False), "tuned": supported},
    ]
    documents = []
    for index in range(8):
        texts = (
            summaries[index] if index < len(summaries) else {"base": supported, "tuned": supported}
        )
        name, text = f"doc-{index}", f"Number{index}: a road in Elm was shut. ELM stayed calm."
        if index == 6:
            name, text = "a/b c+d&e=f#\u00e9<i>", HOSTILE
            texts = {"base": MarkedText(HOSTILE), "tuned": MarkedText(HOSTILE)}
        candidates = [
            MarkedText(f"{HOSTILE if index == 6 else 'Candidate'} {n}") for n in range(COUNT)
        ]
        matrix = similarity_matrix(random, COUNT)
        standings = STANDINGS if index == 7 else ()
        documents.append(Document(name, text, texts, candidates, matrix, standings))
    return documents


@pytest.fixture(scope="module")
def documents():
    return make_documents()


@pytest.fixture(scope="module")
def address(documents, tmp_path_factory):
    estimates = {"rouge": {"r1": Estimate(60, 59, 61, 9)}}
    systems = dict.fromkeys(("base", "tuned"), estimates)
    table = result_table([("rouge", "r1")], systems, {"tuned - base": estimates})
    bins = [VoteBin(0, 0.2, 4, 0.1, {"consensus": 0.0, "reference": 0.2})]
    page = Page(
        "The vote", [("text", HOSTILE)], table, table, documents, ["base", "tuned"], "tuned",
        "base", 0.0, bins, [HOSTILE], signatures={"x": HOSTILE},
    )  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(render_page(page)[0], encoding="utf-8")
    return f"file://{path}"


@pytest.fixture(scope="module")
def chromium():
    from selenium import webdriver

    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.fail(INSTALL)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(driver)
    session = webdriver.Chrome(options=options, service=service)
    yield session
    session.quit()


@pytest.fixture
def page(chromium, address):
    """The page freshly opened at desktop width; afterwards it must have been silent."""
    chromium.get("about:blank")
    size(chromium, 1280, 900)
    chromium.get_log("performance")
    chromium.get_log("browser")
    chromium.get(address)
    yield chromium
    assert chromium.get_log("browser") == []
    assert chromium.title == "The vote"
    messages = [
        json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")
    ]
    asked = [
        item["params"]["request"]["url"]
        for item in messages
        if item["method"] == "Network.requestWillBeSent"
    ]
    assert any(url.startswith("file://") for url in asked), "the log must have seen the page itself"
    assert [url for url in asked if not url.startswith(("file://", "data:"))] == []


def size(chromium, width, height):
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def shown_order(page):
    rows = "[...document.querySelectorAll('.candidate')]"
    return page.execute_script(f"return {rows}.map((row) => Number(row.dataset.index))")


def title(page):
    return page.execute_script("return document.querySelector('.heading h3').textContent")


def wait_for(page, name, alpha=None):
    """Wait until the page shows the document (hash changes arrive a moment later)."""
    from selenium.webdriver.support.ui import WebDriverWait

    wanted = None if alpha is None else "Infinity" if math.isinf(alpha) else f"{alpha:g}"
    shown = "return document.querySelector('.candidates').dataset.alpha"
    WebDriverWait(page, 10).until(
        lambda page: (
            title(page) == name and (wanted is None or page.execute_script(shown) == wanted)
        ),
        f"the page must show {name} at alpha {wanted}",
    )


def shown_ids(page):
    return [link.get_attribute("data-id") for link in page.find_elements("css selector", "#list a")]


def choose(page, name):
    page.find_element("css selector", f'[data-filter="{name}"]').click()
    return shown_ids(page)


def go(page, address, name, alpha=None):
    fragment = f"document={quote(name, safe='')}"
    page.get(f"{address}#{fragment}" + ("" if alpha is None else f"&alpha={alpha}"))
    wait_for(page, name, alpha)


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
    expected = ranking(consensus_scores(documents[0].similarity, used))
    assert shown_order(page) == expected.tolist()


def scores_of(document, alpha):
    """The scores of a document's candidates, as the pipeline has them."""
    if not document.standings:
        return consensus_scores(document.similarity, alpha)
    flags = (
        np.array([[getattr(one, name) for one in document.standings]])
        for name in ("votes", "eligible")
    )
    return eligible_scores(document.similarity[None], alpha, "equation", *flags)[0]


def test_the_page_says_who_wrote_a_candidate_and_what_it_may_do(page, address):
    go(page, address, "doc-7", 0.0)
    rows = page.find_elements("css selector", ".candidate")
    told = {int(row.get_attribute("data-index")): row.find_element("css selector", "small").text
            for row in rows}  # fmt: skip
    assert told[0].startswith("by base")
    assert told[3].startswith("by big, has no vote")
    assert told[5].startswith("by big, votes only")
    assert [int(row.get_attribute("data-index")) for row in rows[-3:]] == [3, 5, 8]
    assert rows[-1].find_element("css selector", ".score span").text == "–"


def test_every_document_ranks_exactly_at_a_named_alpha_ties_included(page, address, documents):
    ties = 0
    for document in documents:
        for alpha in ALPHAS:
            go(page, address, document.id, alpha)
            scores = scores_of(document, alpha)
            ties += len(scores) - len(set(scores.tolist()))
            assert shown_order(page) == ranking(scores).tolist(), (document.id, alpha)
            first = page.find_element("css selector", ".candidate .score span").text
            assert first == f"{np.nanmax(scores):.3f}"
    assert ties > 0


def test_presets_and_keys_move_the_vote(page, documents):
    page.find_element("css selector", '.presets [data-alpha="Infinity"]').click()
    expected = ranking(consensus_scores(documents[0].similarity, math.inf))
    assert shown_order(page) == expected.tolist()
    assert page.current_url.endswith("alpha=inf")
    slider = page.find_element("id", "alpha")
    slider.send_keys("\ue012")  # arrow left
    assert not page.current_url.endswith("alpha=inf")


def test_filters_and_search(page):
    everything = shown_ids(page)
    assert len(everything) == 8
    assert choose(page, "improved") == ["doc-3", "doc-0"]
    assert choose(page, "worse") == ["doc-1"]
    assert choose(page, "hallucinated") == ["doc-1", "doc-2"]
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
    half = ranking(consensus_scores(documents[3].similarity, 15))
    assert shown_order(page) == half.tolist()
    page.find_element("css selector", '#list a[data-id="doc-5"]').click()
    wait_for(page, "doc-5", 15)
    page.back()
    wait_for(page, "doc-3", 15)
    page.get("about:blank")
    page.get(f"{address}#document=no-such&alpha=nonsense")
    wait_for(page, "doc-0", 0)


def test_keyboard_walks_the_documents(page):
    body = page.find_element("tag name", "body")
    body.send_keys("j")
    wait_for(page, "doc-1")
    body.send_keys("k")
    wait_for(page, "doc-0")
    body.send_keys("/")
    assert page.switch_to.active_element.get_attribute("id") == "search"
    page.switch_to.active_element.send_keys("j")
    assert page.find_element("id", "search").get_attribute("value") == "j"
    assert title(page) == "doc-0"


def test_hostile_text_is_shown_as_text(page, address, documents):
    hostile = documents[6]
    go(page, address, hostile.id)
    page.refresh()
    wait_for(page, hostile.id)
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


def test_heat_map_shows_the_matrix_in_elected_order(page, documents):
    matrix = documents[0].similarity
    order = shown_order(page)
    heat_map = page.find_element("css selector", ".map svg")
    page.execute_script("arguments[0].focus()", heat_map)
    readout = page.find_element("css selector", ".readout")
    assert readout.text.endswith(f"{matrix[order[0], order[1]]:.3f}")
    heat_map.send_keys("\ue015")  # arrow down: on the diagonal now
    assert "itself" in readout.text
    for _ in range(COUNT):
        heat_map.send_keys("\ue014")  # arrow right, to the reference
    assert readout.text.endswith(f"the reference: {matrix[order[1], COUNT]:.3f}")


def test_colours_can_be_chosen_and_are_kept(page):
    toggle = page.find_element("id", "theme")
    paper = "return getComputedStyle(document.body).backgroundColor"
    toggle.click()
    light = page.execute_script(paper)
    toggle.click()
    dark = page.execute_script(paper)
    assert light != dark
    page.refresh()
    assert page.execute_script(paper) == dark
    page.find_element("id", "theme").click()


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
