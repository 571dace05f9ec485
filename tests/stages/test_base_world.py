"""The embedded base's own corpus: articles of the same world that are in none of its splits."""

from pathlib import Path

import pytest
import yaml

from brido.corpus.settings import WorldSettings
from brido.settings.load import check_params
from brido.tables import CORPUS, read_rows
from brido.training import pretraining
from brido.world import documents, reading
from stages import checkpoint, download, paths

WORLD = {"seed": 4, "train": 60, "validation": 30, "test": 30}
SHARE = {"documents": 300, "support_rate": 0.9}
TINY = {"d_model": 16, "ffn_dim": 16, "attention_heads": 2, "encoder_layers": 1, "epochs": 1}


@pytest.fixture
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """learned(data, world) runs both stages and gives the pairs that the base learned from."""
    monkeypatch.chdir(tmp_path)
    seen = {}
    train = pretraining.train_embedded

    def spy(name, pairs, *others):
        seen["pairs"] = list(pairs)
        return train(name, pairs, *others)

    monkeypatch.setattr(pretraining, "train_embedded", spy)

    def run(data, world):
        base = {"source": "embedded", "embedded": TINY | {"world": world}}
        raw = {"data": data, "checkpoints": {"base": base}}
        Path("params.yaml").write_text(yaml.safe_dump(raw))
        download.main()
        checkpoint.make(check_params(raw), "base")
        return seen["pairs"]

    return run


def test_it_learns_from_a_cleaner_corpus_that_is_in_no_split(learned):
    pairs = learned({"world": WORLD}, SHARE)
    assert len(pairs) == 300
    for split in ("train", "validation", "test"):
        rows = read_rows(paths.corpus(split), CORPUS, "download")
        assert not {row["document"] for row in rows} & {document for document, _ in pairs}
    # Told facts are supported as often as the share says, whatever the corpus does.
    told = []
    knobs = WorldSettings(**WORLD, support_rate=0.9)
    for row, (document, summary) in zip(documents(knobs, "base", 300), pairs, strict=True):
        assert (row["document"], row["summary"]) == (document, summary)
        said = {mention.value for mention in reading.mentions(summary)}
        told += [fact["in_document"] for fact in row["facts"] if fact["value"] in said]
    assert 0.9 < sum(told) / len(told) < 1
