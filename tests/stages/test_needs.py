"""Stage needs: of which splits the orders need support and likelihood, and what that hides."""

import json

import pytest

from stages import needs, paths

NONE: list[str] = []
TUNING = ["train", "validation"]
EVERY = ["train", "validation", "test"]


@pytest.fixture
def needed(tmp_path, monkeypatch):
    """What the stage writes for the defaults with other sections."""
    monkeypatch.chdir(tmp_path)

    def run(**sections):
        (tmp_path / "params.yaml").write_text(json.dumps(sections))
        needs.main()
        files = {table: paths.needs(table).read_bytes() for table in ("support", "likelihood")}
        return {table: json.loads(text) for table, text in files.items()}, files

    return run


def system(**scoring):
    return {"x": {"scoring": scoring}}


@pytest.mark.parametrize(
    ("sections", "support", "likelihood", "prior"),
    [
        ({"tuned": {"vote": {}}}, NONE, NONE, False),
        # A tuned system asks about the documents that it learns from; nobody elects by it.
        ({"tuned": system(information=0.5)}, NONE, TUNING, False),
        ({"tuned": system(information=0.5, prior_weight=0.2)}, NONE, TUNING, True),
        ({"tuned": system(support=0.5)}, TUNING, NONE, False),
        ({"tuned": {"vote": {}} | system(support=0.5, information=0.5)}, TUNING, TUNING, False),
        # A shuffled order needs neither.
        ({"tuned": system(support=0.5, information=0.5, shuffle=True)}, *[NONE] * 2, False),
        # The shared order is that of `elected`, which chooses on test documents too.
        (
            {"scoring": {"information": 0.5, "prior_weight": 0.1}, "tuned": {"vote": {}}},
            NONE, EVERY, True,
        ),
        # Without test candidates, and with the default's entry `information`.
        (
            {"scoring": {"support": 0.5}, "documents": {"test": 0}, "systems": ["base"]},
            TUNING, TUNING, True,
        ),
    ],
)  # fmt: skip
def test_what_is_needed(needed, sections, support, likelihood, prior):
    found, _ = needed(**sections)
    assert found == {
        "support": {"splits": support},
        "likelihood": {"splits": likelihood, "prior": prior},
    }


def test_a_change_that_needs_no_more_leaves_the_bytes(needed):
    _, before = needed()
    for sections in (
        {"scoring": {"alpha": 31.0}},
        {"scoring": {"length_penalty": 1.0}},
        {"tuned": {"a": {}} | system(information=0.1, prior_weight=1.0)},
    ):
        assert needed(**sections)[1] == before
    assert needed(tuned={"vote": {}})[1] != before
