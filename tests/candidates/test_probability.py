"""The worker of stage likelihood: small budgets, and models that compute no number."""

import pyarrow.parquet as pq
import pytest
import small_project
import torch
from pool_rows import pooled

from brido.candidates import probability
from brido.candidates.probability import ProbabilityWorker, units
from brido.models.checkpoint import load_checkpoint
from brido.models.settings import ReadingSettings
from brido.tables import POOL, write_table
from brido.tables.join import SplitTables
from brido.utils.errors import BridoError
from brido.vote.settings import LikelihoodSettings
from brido.work.settings import RuntimeSettings
from stages import paths

TEXTS = ["w1 w2 w3", "w4", "", "w1 w2 w3 w9 w8 w7"]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """The tables of a small project's validation documents, with candidates."""
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    small_project.write_project(tmp_path)
    ids = pq.read_table(paths.corpus("validation"))["id"].to_pylist()
    write_table(paths.pool("validation"), [[pooled(name, TEXTS) for name in ids]], POOL)
    return SplitTables(pool=paths.pool("validation"), corpus=paths.corpus("validation"))


def rows(tables, others, **runtime):
    settings = RuntimeSettings(device="cpu", threads=1, **runtime)
    reading = ReadingSettings(max_source_tokens=20)
    asked = LikelihoodSettings(others=others)
    folder = paths.checkpoint("base")
    worker = ProbabilityWorker(folder, reading, settings, asked, "", lambda count: None)
    return [row for unit in units(tables, 99, others) for row in worker(unit)[0]]


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize("damage", [torch.nan, -torch.inf])
def test_a_model_that_computes_no_finite_number_is_refused(tables, others, damage):
    folder = paths.checkpoint("base")
    model, tokenizer = load_checkpoint(folder, torch.float32)
    (token, *_) = tokenizer("w1")["input_ids"]
    model.final_logits_bias[0, token] = damage
    model.save_pretrained(folder)
    with pytest.raises(BridoError, match="the bart model computes"):
        rows(tables, others)


def test_a_text_runs_alone_where_a_batch_holds_fewer_tokens(tables, monkeypatch):
    wanted = rows(tables, 2)
    real, sizes = probability.cross_log_probability, set()

    def asked(*arguments):
        sizes.add(arguments[-1])
        return real(*arguments)

    monkeypatch.setattr(probability, "cross_log_probability", asked)
    found = rows(tables, 2, batch_tokens=1)
    assert sizes == {1}
    assert [row["id"] for row in found] == [row["id"] for row in wanted]
    for row, whole in zip(found, wanted, strict=True):
        assert row["prior"] == pytest.approx(whole["prior"], abs=1e-4)
