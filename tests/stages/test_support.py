"""The support and likelihood stages: every text checked, every candidate scored as by hand."""

import json

import pyarrow.parquet as pq
import pytest
import small_project
import torch
from pool_rows import pooled

from brido.checkers.mentions import world_mentions
from brido.models.checkpoint import load_checkpoint
from brido.tables import CORPUS, DECODED, POOL, WORLD_CORPUS, read_metadata, write_table
from brido.tables.fingerprint import base_of
from brido.utils.errors import BridoError
from stages import likelihood, paths, support

DOCUMENT = "Anna Vane paid 1,200 euros in Paris."
TEXTS = ["They say Anna Vane paid 1200.", "They saw Ben Rook pay 7 in Rome.", ""]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_project.write_params(tmp_path)
    return tmp_path


def write(ids, with_candidates, facts=None):
    """A corpus of `ids`, candidates of some of them, and base's own output of all."""
    corpus = [
        {"id": name, "document": DOCUMENT, "summary": "s", "references": ["s"]} for name in ids
    ]
    if facts is not None:
        corpus = [row | {"facts": facts} for row in corpus]
    write_table(paths.corpus("validation"), [corpus], CORPUS if facts is None else WORLD_CORPUS)
    candidates = [pooled(name, TEXTS) for name in with_candidates]
    write_table(paths.pool("validation"), [candidates], POOL)
    decoded = [{"id": name, "summary": f"It was {name} there.", "score": 0.0} for name in ids]
    write_table(paths.decoded("base", "validation"), [decoded], DECODED)


def test_every_candidate_and_base_itself_are_checked(project):
    write(["1", "2", "3", "4", "5", "1200"], ["2", "5", "1200"])
    support.main()
    rows = pq.read_table(paths.support("validation")).to_pylist()
    assert [row["id"] for row in rows] == ["2", "5", "1200"]
    for row in rows:
        assert (row["support"], row["unsupported"], row["words"]) == (
            [1.0, 0.0, 1.0], [0, 3, 0], [6, 8, 0],
        )  # fmt: skip
    own = pq.read_table(paths.support("base")).to_pylist()
    assert [(row["id"], row["unsupported"], row["words"]) for row in own] == [
        ("2", [1], [4]), ("5", [1], [4]), ("1200", [0], [4]),
    ]  # fmt: skip
    about = read_metadata(paths.support("validation"), "")
    assert (about["judge"], about["exact"], about["second"]) == ("mentions", False, False)
    assert about["base"] == base_of(paths.decoded("base", "validation"))


def test_on_the_world_the_facts_judge(project):
    facts = [{"slot": "place", "type": "town", "value": "Ashwick", "in_document": True}]
    write(["a"], ["a"], facts)
    support.main()
    (row,) = pq.read_table(paths.support("validation")).to_pylist()
    wanted = [sum(not each[2] for each in world_mentions(text, facts)) for text in TEXTS]
    assert row["unsupported"] == wanted
    assert read_metadata(paths.support("base"), "")["exact"]


def test_without_base_s_own_output_the_way_out_is_named(project):
    write(["1"], ["1"])
    paths.decoded("base", "validation").unlink()
    with pytest.raises(BridoError, match=r"data/decoded/base/validation.parquet is missing"):
        support.main()


def test_likelihoods_are_those_of_a_plain_forward_pass(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    small_project.write_project(tmp_path)
    corpus = pq.read_table(paths.corpus("validation")).to_pylist()[:5]
    texts = ["w1 w2 w3", "w4", "", "w1 w2 w3 w9 w8 w7"]
    rows = [pooled(row["id"], texts) for row in corpus]
    write_table(paths.pool("validation"), [rows], POOL)
    likelihood.main()
    found = pq.read_table(paths.likelihood("validation")).to_pylist()
    assert [row["id"] for row in found] == [row["id"] for row in corpus]
    model, tokenizer = load_checkpoint(paths.checkpoint("base"), torch.float32)
    for row, document in zip(found, corpus, strict=True):
        source = tokenizer([document["document"]], truncation=True, max_length=20)
        for place, text in enumerate(texts):
            ids = [model.generation_config.decoder_start_token_id, *tokenizer(text)["input_ids"]]
            with torch.no_grad():
                logits = model(
                    input_ids=torch.tensor(source["input_ids"]),
                    decoder_input_ids=torch.tensor([ids[:-1]]),
                ).logits[0]
            wanted = logits.log_softmax(-1).gather(1, torch.tensor(ids[1:])[:, None]).sum()
            assert row["log_probability"][place] == pytest.approx(float(wanted), abs=1e-4)
            assert row["tokens"][place] == len(ids) - 1
    assert json.dumps(read_metadata(paths.likelihood("validation"), ""))
