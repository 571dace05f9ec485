"""Systems that a checkpoint writes with other keys of decoding, and a guided source."""

import finished_run
import pytest
import small_project
from small_project import GUIDED, assert_decoded, expected

from brido.candidates.blocks import blocks
from brido.tables import DECODED, read_metadata, read_rows
from stages import paths

VARIANTS = {
    "guided": {"checkpoint": "base", "guidance": GUIDED},
    "short": {"checkpoint": "base", "length_penalty": -4.0, "num_beams": 2},
}


@pytest.fixture
def summaries(project, monkeypatch):
    """The test summaries of a variant, with changed sections of params.yaml."""

    def run(system, **sections):
        small_project.write_params(project, **{"variants": VARIANTS} | sections)
        finished_run.run(monkeypatch, "vary", system)
        return read_rows(paths.decoded(system, "test"), DECODED, "")

    return run


def test_a_guided_system_is_the_guided_search_with_the_rest_of_a_block(summaries):
    rows = summaries("guided")
    names = [f"test-{n}" for n in range(6)]
    texts = [small_project.document(n) for n in range(6)]
    for block in blocks(names, texts, GUIDED["others"], GUIDED["seed"]):
        for place in block.members[: block.scored]:
            text, score = expected(place, [n for n in block.members if n != place])
            assert rows[place]["summary"] == text
            assert rows[place]["score"] == pytest.approx(score, rel=1e-4)
    used = read_metadata(paths.decoded("guided", "test"), "")["guidance"]
    assert used == GUIDED


def test_other_keys_of_decoding_stand_over_the_shared_section(summaries):
    rows = summaries("short", decoding={"max_length": 12})
    changes = {"length_penalty": -4.0, "num_beams": 2, "max_length": 12}
    assert_decoded(rows, **changes)
    about = read_metadata(paths.decoded("short", "test"), "")
    assert {key: about["decoding"][key] for key in changes} == changes
    assert "guidance" not in about


def test_the_checkpoint_may_be_another_one_and_reads_as_it_does(summaries):
    small_project.write_checkpoint(paths.checkpoint("other"), seed=1)
    rows = summaries(
        "zero_shot",
        variants={"zero_shot": {"checkpoint": "other"}},
        checkpoints={"other": {"source": "x/y"}},
        reading={"other": {"max_source_tokens": 7}},
    )
    wanted = [expected(number, system="other", limit=7)[0] for number in range(6)]
    assert [row["summary"] for row in rows] == wanted
