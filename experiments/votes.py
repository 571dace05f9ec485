"""Every vote on this project's validation candidates: what each knows, as a Markdown table.

    dvc repro score            # resumable, whatever it has to make
    python -m experiments.votes

It reads the tables that stage score leaves, and trains nothing: the paper's votes, those by base's
probability at several temperatures, with several weights of the support check (marked where it also
judges), of sentences, and what they have to beat: base's likelihood, the reference, the shorter.
"""

import math
from collections.abc import Iterator

import numpy as np

from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import CORPUS, POOL, SUPPORT, read_metadata, read_rows
from brido.utils.errors import run_command
from brido.vote.check import Share, accuracies, comparable_pairs, pair_counts
from brido.vote.consensus import eligible_scores, ranking
from brido.vote.evidence import Tables, read_evidence
from brido.vote.signals import eligible_probability_scores, first_of_each_text, supported_scores
from brido.vote.similarity import sentence_votes
from brido.vote.verdict import CONFIDENCE, SAMPLES, SEED, TOLERANCE, Candidates, rankings
from stages import paths

SPLIT = "validation"
TEMPERATURES = (0.5, 1.0, 2.0, 4.0, math.inf)
WEIGHTS = (0.25, 0.5, 0.75)


def votes(params: Params, found: Candidates) -> Iterator[tuple[str, np.ndarray]]:
    """A name and the scores [D, N] of every vote, NaN for who cannot be elected."""
    pool = read_rows(paths.pool(SPLIT), POOL, "pool")
    corpus = {row["id"]: row["summary"] for row in read_rows(paths.corpus(SPLIT), CORPUS, "")}
    texts = [row["candidates"] for row in pool]
    eligible = ~np.isnan(found.scores)
    who = (found.voters, eligible)
    consensus = eligible_scores(found.similarity, 0, "equation", *who)
    same = first_of_each_text(texts)
    for temperature in TEMPERATURES:
        yield (
            f"by probability, temperature {temperature:g}",
            eligible_probability_scores(
                found.similarity, 0, found.log_probability, same, temperature, *who
            ),
        )
    how = params.pairwise.model_dump(exclude={"combination"})
    references = [corpus[row["id"]] or "" for row in pool]
    similarity = sentence_votes(
        texts, references, params.pairwise.combination, params.text.sentence_splitter, **how
    )
    yield "sentences", eligible_scores(similarity, 0, "equation", *who)
    rows = read_rows(paths.support(SPLIT), SUPPORT, "support")
    support = np.array([row["support"] for row in rows])
    mark = "" if read_metadata(paths.support(SPLIT), "support").get("second") else " *"
    for weight in WEIGHTS:
        scores = supported_scores(consensus, support, weight)
        yield f"support check, weight {weight:g}{mark}", scores


def table(params: Params) -> list[str]:
    """The lines of the table."""
    tables = Tables(
        paths.pool(SPLIT),
        paths.similarity(SPLIT),
        paths.scores(SPLIT),
        paths.support(SPLIT),
        paths.support("base"),
        paths.likelihood(SPLIT),
    )
    found, _ = read_evidence(tables)
    about = read_metadata(tables.support, "support")
    tolerance = 0.0 if about.get("exact") else TOLERANCE
    scores = rankings(found) | dict(votes(params, found))
    wrong = np.where(np.isnan(found.scores), np.nan, found.unsupported)
    pairs = comparable_pairs(wrong, found.words, tolerance)
    counts = np.stack([pair_counts(values, pairs) for values in scores.values()])
    shares, _ = accuracies(counts, SAMPLES, CONFIDENCE, SEED)
    lines = [
        f"{len(found.scores):,} documents, {len(pairs.documents):,} pairs; judge: "
        f"{about['judge']}; * the judge itself votes",
        "",
        "| vote | first of two equally long | elected unsupported |",
        "|---|---|---|",
    ]
    every = np.arange(len(found.scores))
    for (name, values), share in zip(scores.items(), shares, strict=True):
        elected = found.unsupported[every, ranking(values)[:, 0]] > 0
        lines.append(f"| {name} | {_text(share)} | {elected.mean():.3f} |")
    return lines


def _text(share: Share) -> str:
    return f"{share.mean:.3f} ({share.low:.3f}-{share.high:.3f})"


def main() -> None:
    """Print the table."""
    print("\n".join(table(load_params())))


if __name__ == "__main__":
    run_command(main)
