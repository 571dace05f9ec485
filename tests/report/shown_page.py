"""What tests of the page in a browser share: its documents, and how to move about in it."""

import math
from urllib.parse import quote

import numpy as np
from report_cases import made_case
from synthetic_run import HOSTILE, similarity_matrix

from brido.checkers.mentions import Mention
from brido.report.metrics import Estimate
from brido.report.page import render_page
from brido.report.page.data import Shown, document_json
from brido.report.summary import result_table

COUNT = 16
# Candidates 3 and 8 have no vote, 5 has one and cannot be elected.
ORIGINS = {
    "sources": ["big" if n % 2 else "base" for n in range(COUNT)],
    "voters": [n not in (3, 8) for n in range(COUNT)],
    "eligible": [n not in (3, 5, 8) for n in range(COUNT)],
}
ALPHAS = (0.0, 1.0, 2.75, 15.0, math.inf)


def marked(text, *flags):
    """`text` whose words in capitals are mentions, supported as the flags say in turn."""
    mentions, position = [], 0
    for word, flag in zip(
        [word for word in text.split() if word.isupper() and len(word) > 1], flags, strict=True
    ):
        start = text.index(word, position)
        position = start + len(word)
        mentions.append(Mention("town", word, flag, start, position))
    return text, mentions


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
            texts = {"base": (HOSTILE, []), "tuned": (HOSTILE, [])}
        candidates = [(f"{HOSTILE if index == 6 else 'Candidate'} {n}", []) for n in range(COUNT)]
        if index == 0:
            candidates[2] = candidates[9] = wrong
        origins = ORIGINS if index == 7 else {}
        # The run's order is not Eq. 2's: the page must show it as it is.
        scores = np.where(origins.get("eligible", True), random.normal(size=COUNT), np.nan)
        case = made_case(
            scores, id=name, document=text, similarity=similarity_matrix(random, COUNT),
            candidates=[text for text, _ in candidates],
            summaries={system: text for system, (text, _) in texts.items()}, **origins,
        )  # fmt: skip
        found = {system: mentions for system, (_, mentions) in texts.items()}
        own, broken = [own for _, own in candidates], {"tuned": "no end"} if index == 2 else {}
        documents.append(Shown(case, own, found, broken))
    return documents


def page_of(documents, **changes):
    """The page of these documents as HTML; `changes` are of what page.jinja shows."""
    estimates = {"rouge": {"r1": Estimate(60, 59, 61, 9)}}
    systems = dict.fromkeys(("base", "tuned"), estimates)
    table = result_table([("rouge", "r1")], systems, {"tuned - base": estimates})
    page = {
        "shown": len(documents), "split": "test", "settings": [("text", HOSTILE)],
        "headline": table, "everything": table, "verdict": [HOSTILE],
        "table": [], "warnings": [HOSTILE], "documents": "9",
        "confidence": "95", "base_note": HOSTILE, "sources": [["a", "b"], [HOSTILE, "1"]],
        "legend": ["All."], "exact": True, "signatures": HOSTILE,
    }  # fmt: skip
    scripts = {
        "systems": ["base", "tuned"], "focus": "tuned", "kept": "tuned", "alpha": 0.0,
        "order": "a vote", "documents": list(map(document_json, documents)),
    }  # fmt: skip
    return render_page(page | changes, scripts)


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
