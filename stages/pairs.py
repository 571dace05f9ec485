"""What a base model learns to summarize from."""

from brido import tables
from brido.corpus.settings import WorldSettings
from brido.models.settings import WorldShare
from brido.utils.errors import BridoError
from brido.world import documents
from stages import paths


def pairs_to_learn(key: str, share: WorldShare | None) -> list[tuple[str, str]]:
    """Documents and references: of the training split, or articles of the corpus' world, of another
    share of supported facts and in none of its splits. Which world that is, the corpus says itself.
    """
    if share is None:
        rows = tables.read_rows(paths.corpus("train"), tables.CORPUS, "download")
        return [(row["document"], row["summary"]) for row in rows]
    corpus = tables.read_metadata(paths.corpus("train"), "download")
    if corpus.get("source") != "world":
        raise BridoError(
            f"{key}: the corpus is not the embedded world; write null, and it learns from the "
            "training split"
        )
    knobs = WorldSettings.model_validate(corpus["settings"] | {"support_rate": share.support_rate})
    made = documents(knobs, "base", share.documents)
    pairs = [(row["document"], row["summary"]) for row in made]
    if corpus["lowercase"]:
        return [(text.lower(), summary.lower()) for text, summary in pairs]
    return pairs
