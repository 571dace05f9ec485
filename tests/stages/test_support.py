"""The support and likelihood stages: every text checked, every candidate scored as by hand."""

import shutil

import pyarrow.parquet as pq
import pytest
import small_project
import torch
from pool_rows import pooled

from brido.candidates import probability
from brido.candidates.blocks import blocks
from brido.models.checkpoint import load_checkpoint
from brido.tables import CORPUS, POOL, read_metadata, write_table
from stages import likelihood, paths, support

DOCUMENT = "Anna Vane paid 1,200 euros in Paris."
TEXTS = ["They say Anna Vane paid 1200.", "They saw Ben Rook pay 7 in Rome.", ""]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_project.write_params(tmp_path)
    small_project.write_needs(tmp_path)
    return tmp_path


def write(ids, with_candidates):
    """A corpus of `ids`, and candidates of some of them."""
    corpus = [
        {"id": name, "document": DOCUMENT, "summary": "s", "references": ["s"]} for name in ids
    ]
    write_table(paths.corpus("validation"), [corpus], CORPUS)
    candidates = [pooled(name, TEXTS) for name in with_candidates]
    write_table(paths.pool("validation"), [candidates], POOL)


def test_every_candidate_is_checked(project):
    write(["1", "2", "3", "4", "5", "1200"], ["2", "5", "1200"])
    support.main()
    rows = pq.read_table(paths.support("validation")).to_pylist()
    assert [row["id"] for row in rows] == ["2", "5", "1200"]
    for row in rows:
        assert (row["support"], row["unsupported"], row["words"]) == (
            [1.0, 0.0, 1.0], [0, 3, 0], [6, 8, 0],
        )  # fmt: skip
    assert read_metadata(paths.support("validation"), "")["judge"] == "mentions"


def test_without_an_order_that_asks_there_is_no_table_and_dvc_has_something_to_keep(project):
    small_project.write_needs(project, ())
    for stage, path in ((support, paths.support("x")), (likelihood, paths.likelihood("x"))):
        stage.main()
        assert [file.name for file in path.parent.iterdir()] == ["README"]


TEXTS_SCORED = ["w1 w2 w3", "w4", "", "w1 w2 w3 w9 w8 w7"]


def likelihood_project(folder, monkeypatch, **sections):
    """Candidates of 7 validation documents, which the vote alone orders; the corpus by id."""
    sections.setdefault("tuned", {"information": {}})
    monkeypatch.chdir(folder)
    torch.set_num_threads(1)
    small_project.write_project(folder, **sections)
    small_project.write_needs(folder, prior=True)
    corpus = pq.read_table(paths.corpus("validation")).to_pylist()
    write_table(
        paths.pool("validation"), [[pooled(row["id"], TEXTS_SCORED) for row in corpus]], POOL
    )
    return {row["id"]: row["document"] for row in corpus}


def plain_log_probability(model, tokenizer, document, text):
    """The log p of a text with a document, in a forward pass of its own; and its tokens."""
    source = tokenizer([document], truncation=True, max_length=20)
    ids = [model.generation_config.decoder_start_token_id, *tokenizer(text)["input_ids"]]
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor(source["input_ids"]), decoder_input_ids=torch.tensor([ids[:-1]])
        ).logits[0]
    chosen = logits.log_softmax(-1).gather(1, torch.tensor(ids[1:])[:, None])
    return float(chosen.sum()), len(ids) - 1


@pytest.mark.parametrize("others", [0, 2])
def test_likelihoods_are_those_of_a_plain_forward_pass(tmp_path, monkeypatch, others):
    """With its own document, and with each of the others that its block names."""
    settings = {"others": others, "seed": 3}
    documents = likelihood_project(tmp_path, monkeypatch, likelihood=settings)
    likelihood.main()
    found = pq.read_table(paths.likelihood("validation")).to_pylist()
    assert [row["id"] for row in found] == list(documents)
    model, tokenizer = load_checkpoint(paths.checkpoint("base"), torch.float32)
    lent = dict.fromkeys(documents, ())
    if others:
        ids = list(documents)
        for members, scored in blocks(ids, list(documents.values()), others, 3):
            for place in members[:scored]:
                lent[ids[place]] = [ids[other] for other in members if other != place]
    for row in found:
        for place, text in enumerate(TEXTS_SCORED):
            wanted, tokens = plain_log_probability(model, tokenizer, documents[row["id"]], text)
            assert row["log_probability"][place] == pytest.approx(wanted, abs=1e-4)
            assert row["tokens"][place] == tokens
            if not others:
                assert row["prior"] is None
                continue
            with_others = [
                plain_log_probability(model, tokenizer, documents[other], text)[0]
                for other in lent[row["id"]]
            ]
            assert len(with_others) == others
            mean = sum(with_others) / others
            assert row["prior"][place] == pytest.approx(mean, abs=1e-4)
    about = read_metadata(paths.likelihood("validation"), "")
    assert (about["others"], about["seed"]) == (others, 3)


def test_more_training_documents_score_no_validation_document_again(tmp_path, monkeypatch):
    likelihood_project(tmp_path, monkeypatch, likelihood={"others": 2})
    small_project.write_needs(tmp_path, ("train", "validation"), prior=True)
    corpus = pq.read_table(paths.corpus("train")).to_pylist()
    scored = []
    original = probability.ProbabilityWorker.__call__

    def counting(self, unit):
        scored.append((unit.tables.pool.stem, len(unit)))
        return original(self, unit)

    monkeypatch.setattr(probability.ProbabilityWorker, "__call__", counting)
    for count in (5, 12):
        rows = [pooled(row["id"], TEXTS_SCORED) for row in corpus[:count]]
        write_table(paths.pool("train"), [rows], POOL)
        scored.clear()
        likelihood.main()
        assert ("validation" in dict(scored)) == (count == 5)
        assert sum(size for split, size in scored if split == "train") == count
    more = [paths.likelihood(split).read_bytes() for split in ("train", "validation")]
    shutil.rmtree(".brido")
    likelihood.main()
    assert [paths.likelihood(split).read_bytes() for split in ("train", "validation")] == more
