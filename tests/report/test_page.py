"""The page as a file: nothing in it but itself, every text as text, exact matrices, its size."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from report_cases import made_case
from shown_page import page_of
from synthetic_run import HOSTILE

from brido.checkers.mentions import Mention
from brido.report.page import script_json
from brido.report.page.data import Shown, document_json, parts


def document(name="one", text="An article.", count=4, **fields):
    random = np.random.default_rng(0)
    case = made_case(
        np.linspace(1, 0, count), id=name, document=text,
        summaries={"base": text, "tuned": "Two"},
        **{"candidates": [f"candidate {index}" for index in range(count)],
           "similarity": random.random((count, count + 1), dtype=np.float32)} | fields,
    )  # fmt: skip
    found = {"base": [], "tuned": [Mention("number", "Two", False, 0, 3)]}
    return Shown(case, [[] for _ in range(count)], found)


class Reader(HTMLParser):
    """Collects the tags, attributes and raw contents of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.raw, self.texts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_data(self, data):
        kind = self.tags[-1] if self.tags else ""
        (self.raw if kind in {"script", "style"} else self.texts).append((kind, data))


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_page_loads_nothing_and_runs_only_its_own_code():
    html = page_of([document(text=HOSTILE, name=HOSTILE)])
    reader = read(html)
    assert not {"img", "iframe", "object", "embed", "base", "form"} & set(reader.tags)
    links = [value for _, name, value in reader.attributes if name in {"src", "href", "srcset"}]
    parts = {value for _, name, value in reader.attributes if name == "id"}
    assert {"#documents", "#results"} < set(links)
    assert set(links) <= {"data:,", *(f"#{name}" for name in parts)}
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert not [name for _, name, _ in reader.attributes if name == "style"]
    addresses = set(re.findall(r"https?://[^\s\"'<]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "url(" not in html
    assert "@import" not in html


def test_policy_names_the_very_code_of_the_page():
    html = page_of([document()])
    reader = read(html)
    policy = next(
        value
        for tag, name, value in reader.attributes
        if name == "content" and "default-src" in value
    )
    assert policy.startswith("default-src 'none'")
    for kind in ("script", "style"):
        source = re.search(rf"<{kind}>(.*?)</{kind}>", html, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_hostile_text_stays_text():
    html = page_of([document(text=HOSTILE, name=HOSTILE)])
    reader = read(html)
    assert reader.tags.count("script") == 2
    data = next(text for kind, text in reader.raw if text.startswith("{"))
    assert json.loads(data)["documents"][0]["text"] == HOSTILE
    assert json.loads(data)["documents"][0]["id"] == HOSTILE
    shown = "".join(text for _, text in reader.texts)
    assert shown.count("owned") >= 3
    assert "tuned \u2212 base" in html


@given(st.text())
def test_script_json_cannot_end_its_element_and_says_the_same(text):
    written = script_json({"text": text})
    assert json.loads(written) == {"text": text}
    assert not set(written) & set("<>&\u2028\u2029")


@given(st.integers(2, 33), st.integers(0, 3))
def test_matrix_arrives_bit_for_bit(count, seed):
    random = np.random.default_rng(seed)
    matrix = random.random((count, count + 1), dtype=np.float32)
    item = document(count=count, similarity=matrix)
    sent = base64.b64decode(document_json(item)["similarity"])
    assert np.array_equal(np.frombuffer(sent, "<f4").reshape(count, count + 1), matrix)


MENTIONS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20), st.booleans()).map(
        lambda item: Mention("town", "", item[2], min(item[:2]), max(item[:2]))
    ),
    max_size=6,
)


@given(st.text(min_size=20, max_size=20), MENTIONS)
def test_parts_are_the_text(text, mentions):
    found = parts(text, mentions)
    assert "".join(part[0] for part in found) == text
    assert all(part[0] for part in found)


def test_parts_mark_the_mentions():
    text = "Ann, 35, won"
    mentions = [Mention("age", "35", False, 5, 7), Mention("person", "Ann", True, 0, 3)]
    expected = [["Ann", 1, "person"], [", "], ["35", 0, "age"], [", won"]]
    assert parts(text, mentions) == expected
    assert document_json(document())["summaries"]["tuned"]["unsupported"] == 1
