"""The report shows the order that stage score wrote, whatever the score was made of."""

import json

import numpy as np
import pytest
import synthetic_run
from synthetic_run import TOWNS

from brido.settings.load import load_params
from brido.tables import POOL, SCORES, read_rows, write_table
from brido.vote.consensus import ranking
from brido.vote.signals import combined, shuffled_scores
from stages import paths, report


def shuffled(rows):
    """The control: each document's scores, shuffled among its candidates."""
    scores = np.array([row["scores"] for row in rows])
    return shuffled_scores(scores, [row["id"] for row in rows])


def supported(rows):
    """Half the vote, half a checker's support, as z-scores: some are below 0."""
    scores = np.array([row["scores"] for row in rows])
    support = np.random.default_rng(3).random(scores.shape)
    return combined(scores, [(0.5, support)])


@pytest.fixture(params=[(shuffled, "shuffle", True), (supported, "support", 0.5)])
def order(request, tmp_path, monkeypatch):
    """A project whose scores are not Eq. 2's; its order of candidates, by document."""
    make, key, value = request.param
    synthetic_run.write_run(tmp_path)
    synthetic_run.write_params(tmp_path, scoring={key: value})
    monkeypatch.chdir(tmp_path)
    split = paths.scores("validation")
    rows = read_rows(split, SCORES, "score")
    plain = [row["order"][0] for row in rows]
    scores = make(rows)
    orders = ranking(scores).tolist()
    assert sum(first[0] != other for first, other in zip(orders, plain, strict=True)) > 4
    written = [
        {"id": row["id"], "scores": own, "order": place}
        for row, own, place in zip(rows, scores.tolist(), orders, strict=True)
    ]
    write_table(split, [written], SCORES)
    # A source for each place: the table of sources shows who is elected.
    pool = read_rows(paths.pool("validation"), POOL, "pool")
    pool = [row | {"sources": [f"s{n}" for n in range(len(row["raw"]))]} for row in pool]
    write_table(paths.pool("validation"), [pool], POOL)
    return {row["id"]: (row["order"], row["scores"]) for row in written}


def test_page_and_sources_show_the_order_that_was_written(order, monkeypatch):
    drawn = []
    render = report.render_page
    monkeypatch.setattr(report, "render_page", lambda page: drawn.append(page) or render(page))
    report.report(load_params())
    firsts = [places[0] for places, _ in order.values()]
    sources = json.loads(paths.SOURCES.read_text())
    assert {name: item["elected"] for name, item in sources.items()} == {
        f"s{n}": firsts.count(n) / len(firsts) for n in range(8)
    }
    documents = synthetic_run.page_data(report.PAGE)["documents"]
    for document in documents:
        assert (document["order"], document["scores"]) == order[document["id"]]
    assert len(documents) == len(order)
    # Every unsupported mention of this run is a town, so a case of a bin is a document.
    bins = drawn[0].bins
    pool = {row["id"]: row["candidates"] for row in read_rows(paths.pool("validation"), POOL, "")}
    facts = {row["id"]: row["facts"] for row in read_rows(paths.corpus("validation"), None, "")}
    wrong = 0
    for name, texts in pool.items():
        first = texts[order[name][0][0]]
        wrong += any(town in first for town in set(TOWNS) - {facts[name][0]["value"]})
    run = next(iter(bins[0].elected))
    assert wrong > 0
    assert sum(item.cases * item.elected[run] for item in bins) == pytest.approx(wrong)
