"""How the page looks in a real browser: what comes first, titles, colours, widths, on paper."""

import math
import time

import pytest
from shown_page import go, shown_order, size, title

pytestmark = pytest.mark.slow


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


def test_every_figure_names_its_axes(page):
    heat_map = page.execute_script(
        "return [...document.querySelectorAll('.map svg text')].map((text) => text.textContent)"
    )
    assert heat_map[-2:] == ["compared with: rank of the other candidate", "rank of the candidate"]


OUTSIDE = """
    const [count] = arguments;
    const map = new HeatMap(new Float32Array(count * (count + 1)), count);
    document.querySelector(".map").append(map.svg);
    const box = map.svg.getBoundingClientRect();
    const texts = [...map.svg.querySelectorAll("text")].filter((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return left < box.left || right > box.right || top < box.top || bottom > box.bottom;
    }).map((text) => text.textContent);
    map.svg.remove();
    return texts;
"""


@pytest.mark.parametrize("count", [2, 3, 8, 16, 32])
def test_titles_fit_however_few_candidates_there_are(page, count):
    for width in (390, 1280):
        size(page, width, 844)
        assert page.execute_script(OUTSIDE, count) == []


def test_a_link_to_a_part_of_the_page_leaves_document_and_vote(page, address):
    go(page, address, "doc-3", 15)
    page.find_element("css selector", '.contents a[href="#results"]').click()
    assert page.current_url.endswith("#results")
    assert title(page) == "doc-3"
    assert page.find_element("css selector", ".candidates").get_attribute("data-alpha") == "15"


def test_colours_follow_the_system(page):
    papers = set()
    for scheme in ("light", "dark"):
        wanted = {"name": "prefers-color-scheme", "value": scheme}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wanted]})
        papers.add(page.execute_script("return getComputedStyle(document.body).backgroundColor"))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(papers) == 2


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
