"""Record what transformers 4.55.4 generates, for the tests of the search.

transformers 4.55 was the last to have group beam search. In an environment of its own:

    python -m venv ../oracle
    ../oracle/bin/pip install torch==2.13.0 transformers==4.55.4 "numpy<2.4" sentencepiece
    ../oracle/bin/python tests/search/record_search_fixtures.py

writes tests/search/fixtures/*_4_55_4.json: for each case the settings, and the tokens and scores
of every candidate. Models are random, in float64, and rebuilt from a seed by
tiny_models.py, so neither weights nor texts are stored.
"""

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import transformers
from tiny_models import build_model, build_sources, set_end_tokens

FOLDER = Path(__file__).parent / "fixtures"
SHAPES = [(4, 2), (4, 4), (6, 3), (8, 2), (8, 4), (12, 3), (16, 16), (16, 2), (32, 4), (32, 32)]
STOPPING = [True, False, "never"]


def cases() -> list[dict]:
    """The settings of every case: each shape with each stopping mode, the rest taken in turn."""
    penalties = itertools.cycle([0.1, 1.0, 0.5, 3.0, 0.3])
    lengths = itertools.cycle([1.0, 2.0, 0.6, 0.0, -0.5])
    minimum = itertools.cycle([0, 5, 0, 8])
    maximum = itertools.cycle([12, 18, 24])
    ngrams = itertools.cycle([0, 3, 2, 0, 1, 0, 3])
    biases = itertools.cycle([2.0, 4.0, 0.0, 6.0, 3.0])
    found = []
    grid = itertools.product(["bart", "pegasus"], SHAPES, STOPPING, [False, True])
    for number, (family, (beams, groups), stopping, forced) in enumerate(grid):
        longest = next(maximum)
        found.append(
            {
                "family": family,
                "seed": number,
                "end_bias": next(biases),
                "forced_tokens": forced,
                "documents": 2 if beams == 32 else 4,
                "source_length": 7 + number % 5,
                "padded": number % 3 != 0,
                "settings": {
                    "num_beams": beams,
                    "num_beam_groups": groups,
                    "diversity_penalty": next(penalties),
                    "num_return_sequences": beams if number % 4 else beams // 2,
                    "length_penalty": next(lengths),
                    "min_length": min(next(minimum), longest),
                    "max_length": longest,
                    "no_repeat_ngram_size": next(ngrams),
                    "early_stopping": stopping,
                },
            }
        )
    return found


def cases_of_llms() -> list[dict]:
    """Several end tokens and repetition penalties, as the models of today have them."""
    found = []
    grid = itertools.product([[2], [2, 7], [7, 2, 30]], [1.0, 1.2, 0.7], [(4, 2), (6, 6), (8, 4)])
    for number, (ends, penalty, (beams, groups)) in enumerate(grid):
        if ends == [2] and penalty == 1.0:
            continue
        case = {
            "family": "bart",
            "seed": 1000 + number,
            "end_bias": [1.0, 3.0][number % 2],
            "forced_tokens": number % 5 == 0,
            "documents": 4,
            "source_length": 7 + number % 3,
            "padded": number % 2 == 0,
            "ends": ends,
            "repetition_penalty": penalty,
            "settings": {
                "num_beams": beams,
                "num_beam_groups": groups,
                "diversity_penalty": [0.5, 2.0][number % 2],
                "num_return_sequences": beams,
                "length_penalty": [1.0, 2.0, 0.0][number % 3],
                "min_length": [0, 6][number % 2],
                "max_length": [12, 18][number % 2],
                "no_repeat_ngram_size": [0, 0, 2][number % 3],
                "early_stopping": STOPPING[number % 3],
            },
        }
        found.append(case)
    return found


@contextmanager
def final_scores(found: list[torch.Tensor]) -> Iterator[None]:
    """Collect the scores of the returned hypotheses: `output_scores` fails in float64."""
    original = transformers.BeamSearchScorer.finalize

    def finalize(*args: object, **kwargs: object) -> dict:
        result = original(*args, **kwargs)
        found.append(result["sequence_scores"])
        return result

    transformers.BeamSearchScorer.finalize = finalize
    try:
        yield
    finally:
        transformers.BeamSearchScorer.finalize = original


def record(case: dict) -> dict:
    """The case with the tokens (pads at the end left off) and scores of its candidates."""
    model = build_model(case["family"], case["seed"], case["end_bias"], case["forced_tokens"])
    set_end_tokens(model, case)
    source, mask = build_sources(
        case["family"], case["seed"], case["documents"], case["source_length"], case["padded"]
    )
    scores = []
    with torch.no_grad(), final_scores(scores):
        sequences = model.generate(input_ids=source, attention_mask=mask, **case["settings"])
        logits = model(input_ids=source, attention_mask=mask, decoder_input_ids=source[:, :3])
    # float32 values, written so that they are read back exactly.
    return {
        **case,
        "check": float(logits.logits.double().square().mean()),
        "sequences": sequences.tolist(),
        "scores": scores[0].tolist(),
    }


def main() -> None:
    """Write the fixtures."""
    assert transformers.__version__ == "4.55.4", transformers.__version__
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    FOLDER.mkdir(exist_ok=True)
    for name, wanted in (("search", cases()), ("several_ends", cases_of_llms())):
        target = FOLDER / f"{name}_4_55_4.json"
        recorded = [record(case) for case in wanted]
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded)
        target.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        print(f"{target.name}: {len(recorded)} cases, {target.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
