"""MiniCheck against an obvious slow version: one pair at a time, on tiny random models."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_minichecks
import torch
from loopback_hub import LoopbackHub

from brido.checkers import minicheck
from brido.checkers.minicheck import MiniCheck
from brido.evaluation import Inputs
from brido.evaluation.minicheck import METRIC, MiniCheckModel
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings

ROOT = Path(__file__).parents[2]
# Four sentences of 3 to 5 words, and one of 9.
DOCUMENT = "W0 w1 w2. W1 w7 w9 w3. W2 w5 w6 w8 w4. W3 w11 w12 w13 w14 w15 w16 w17 w1. W4 w20 w5."
TEXTS = ["W1 w7 w3. W5 w2 w99 w4.", "W0 w1 w2.", "", "W1 w7 w3."]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    return {kind: tiny_minichecks.save(kind, base / kind) for kind in tiny_minichecks.KINDS}


@pytest.fixture(autouse=True)
def in_float32(monkeypatch):
    """As on a processor that does not multiply in bfloat16: the slow version is in float32."""
    monkeypatch.setattr(minicheck, "multiplies_bfloat16", lambda place: False)


def slow_chunks(document, kind, tokenizer, limit):
    """Whole sentences as long as they fit, one after the other."""
    chunks, filled = [], 0
    for sentence in document.replace(". ", ".|").split("|"):
        size = len(sentence.split())
        if kind != "t5":
            size = len(tokenizer(sentence, add_special_tokens=False)["input_ids"])
        if chunks and filled + size <= limit:
            chunks[-1] += " " + sentence
            filled += size
        else:
            chunks.append(sentence)
            filled = size
    return chunks


def slow_probability(model, tokenizer, kind, chunk, claim):
    """One pair through the model as it is, without padding."""
    text = chunk + tokenizer.eos_token + claim
    if kind == "t5":
        inputs = tokenizer("predict: " + text, return_tensors="pt")
        with torch.no_grad():
            start = torch.tensor([[0]])
            logits = model(input_ids=inputs["input_ids"], decoder_input_ids=start).logits[0, 0]
        return float(torch.softmax(logits[[3, 209]], 0)[1])
    with torch.no_grad():
        logits = model(input_ids=tokenizer(text, return_tensors="pt")["input_ids"]).logits[0]
    return float(torch.softmax(logits, 0)[1])


@pytest.mark.parametrize("kind", tiny_minichecks.KINDS)
@pytest.mark.parametrize("limit", [6, 7, 400])
def test_probabilities_are_those_of_one_pair_at_a_time(folders, kind, limit, monkeypatch):
    monkeypatch.setattr(minicheck, "WORDS" if kind == "t5" else "TOKENS", limit)
    checker = MiniCheck.load(str(folders[kind]), device="cpu", batch_tokens=60)
    found = checker.sentences([DOCUMENT, "W9 w1.", DOCUMENT, ""], TEXTS)
    model, tokenizer = tiny_minichecks.model(kind), tiny_minichecks.tokenizer(kind)
    chunks = slow_chunks(DOCUMENT, kind, tokenizer, limit)
    assert checker._chunks(DOCUMENT) == chunks
    assert len(chunks) == {6: 5, 7: 4, 400: 1}[limit]
    values = set()
    for document, text, sentences in zip(
        [chunks, ["W9 w1."], chunks, [""]], TEXTS, found, strict=True
    ):
        claims = [part for part in text.replace(". ", ".|").split("|") if part]
        assert [sentence.text for sentence in sentences] == claims
        for claim, sentence in zip(claims, sentences, strict=True):
            wanted = max(slow_probability(model, tokenizer, kind, c, claim) for c in document)
            assert sentence.probability == pytest.approx(wanted, abs=1e-5)
            values.add(round(wanted, 4))
    assert len(values) > 2


@pytest.mark.parametrize("kind", ["t5", "roberta"])
def test_where_a_chunk_is_too_long_its_end_is_cut_and_the_claim_kept(folders, kind, monkeypatch):
    tokenizer = tiny_minichecks.tokenizer(kind)
    long = " ".join(f"w{number}" for number in range(100))
    # A RoBERTa reads as many tokens as it has positions.
    by_positions = MiniCheck.load(str(folders["roberta"]), device="cpu")
    assert len(by_positions._read((long, "W5 w2."))) == 64
    monkeypatch.setattr(minicheck, "LONGEST", 20)
    checker = MiniCheck.load(str(folders[kind]), device="cpu")
    ids = checker._read((long, "W5 w2."))
    assert len(ids) == 20
    end = [tokenizer.eos_token, "W5", "w2.", tokenizer.eos_token]
    assert tokenizer.convert_ids_to_tokens(ids[-4:]) == end
    whole = tokenizer(("predict: " if kind == "t5" else "") + long)["input_ids"]
    assert ids[:16] == whole[:16]


def test_what_was_answered_is_not_asked_again(folders, tmp_path, monkeypatch):
    store = tmp_path / "answers.sqlite"
    checker = MiniCheck.load(str(folders["t5"]), device="cpu", batch_tokens=40, store=store)
    documents = [DOCUMENT, "W9 w1.", "W3 w4.", "W2 w8."]
    texts = ["W1 w7. W2 w9 w8 w7.", "W0 w1 w2.", "W5.", "W1 w7 w3."]
    first = checker.sentences(documents[:2], texts[:2])
    batches, asked = checker.batches, []
    monkeypatch.setattr(checker, "batches", lambda pairs: asked.extend(pairs) or batches(pairs))
    assert checker.sentences(documents, texts)[:2] == first
    assert asked == [("W3 w4.", "W5."), ("W2 w8.", "W1 w7 w3.")]


def test_models_of_other_kinds_are_refused(tmp_path):
    three = tiny_minichecks.save("roberta", tmp_path / "three", num_labels=3)
    with pytest.raises(BridoError, match="not a MiniCheck model"):
        MiniCheck.load(str(three), device="cpu")
    small = tmp_path / "small"
    tiny_minichecks.model("t5", vocab_size=200).save_pretrained(small)
    tiny_minichecks.tokenizer("t5").save_pretrained(small)
    with pytest.raises(BridoError, match="not a MiniCheck model"):
        MiniCheck.load(str(small), device="cpu")
    with pytest.raises(BridoError, match=r"evaluation\.minicheck\.model: .*hub id"):
        MiniCheck.load("./missing/folder/here", device="cpu", key="evaluation.minicheck")


def test_the_metric_has_mean_and_worst_sentence(folders, tmp_path, monkeypatch):
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path))
    inputs = Inputs(list("abcd"), [DOCUMENT] * 4, TEXTS, [["x"]] * 4)
    settings = MiniCheckModel(model=str(folders["roberta"]))
    result = METRIC.measure(inputs, settings, runtime=RuntimeSettings(device="cpu"))
    checker = MiniCheck.load(str(folders["roberta"]), device="cpu")
    first = [s.probability for s in checker.sentences([DOCUMENT], TEXTS[:1])[0]]
    assert result.rows[0]["mean"] == pytest.approx(sum(first) / 2)
    assert result.rows[0]["worst"] == pytest.approx(min(first))
    # Texts of four words beside a reference of one are too long.
    assert result.rows[2] == {"mean": None, "worst": None, "whole": 0.0, "good": 0.0}
    long = METRIC.measure(
        Inputs(["a"], [DOCUMENT], TEXTS[:1], [TEXTS[:1]]),
        settings, runtime=RuntimeSettings(device="cpu"),
    ).rows[0]  # fmt: skip
    assert (long["whole"], long["good"]) == (1.0, float(long["worst"] >= 0.5))
    assert [text for text, _ in result.details[0]["sentences"]] == ["W1 w7 w3.", "W5 w2 w99 w4."]
    assert str(folders["roberta"]) in result.signature["model"]


def test_a_model_comes_from_the_hub_by_its_commit(folders, tmp_path):
    hub = LoopbackHub()
    repository = hub.add("models", "some/minicheck", folders["roberta"])
    code = (
        "from brido.checkers.minicheck import MiniCheck\n"
        "checker = MiniCheck.load('some/minicheck', device='cpu', precision='float32')\n"
        f"print(checker.name, checker.sentences([{DOCUMENT!r}], ['W0 w1 w2.'])[0][0].probability)\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**kept, "HF_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with hub.running() as address:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
            env=environment | {"HF_ENDPOINT": address}, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    name, probability = done.stdout.split()
    assert name == f"some/minicheck@{repository.commit}"
    local = MiniCheck.load(str(folders["roberta"]), device="cpu")
    (wanted,) = local.sentences([DOCUMENT], ["W0 w1 w2."])[0]
    assert float(probability) == pytest.approx(wanted.probability, abs=1e-6)
