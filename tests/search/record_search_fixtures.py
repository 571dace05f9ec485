"""Record what transformers 4.55.4 generates, for the tests of the search.

transformers 4.55 was the last to have group beam search. In an environment of its own:

    python -m venv ../oracle
    ../oracle/bin/pip install torch==2.13.0 transformers==4.55.4 "numpy<2.4" sentencepiece
    PYTHONPATH=tests/make ../oracle/bin/python tests/search/record_search_fixtures.py

writes the tokens and scores of every candidate into tests/search/fixtures/*_4_55_4.json, for the
cases that stand there. Models are random, in float64, and rebuilt from a seed, so neither weights
nor texts are stored.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import transformers
from recorded_cases import FOLDER, NAMES, cases, rebuilt


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
    """The case with the tokens (without a prompt) and scores of its candidates."""
    model, ids, mask, check = rebuilt(case)
    settings, start = dict(case["settings"]), 0
    if not model.config.is_encoder_decoder:
        start = ids.shape[1]
        for name in ("min", "max"):
            settings[f"{name}_new_tokens"] = settings.pop(f"{name}_length")
    scores: list[torch.Tensor] = []
    with torch.no_grad(), final_scores(scores):
        sequences = model.generate(input_ids=ids, attention_mask=mask, **settings)
    # float32 values, written so that they are read back exactly.
    found = {"sequences": sequences[:, start:].tolist(), "scores": scores[0].tolist()}
    return {**case, "check": check, **found}


def main() -> None:
    """Write the fixtures."""
    assert transformers.__version__ == "4.55.4", transformers.__version__
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    for name in NAMES:
        recorded = [record(case) for case in cases(name)]
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded)
        (FOLDER / f"{name}_4_55_4.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        print(f"{name}: {len(recorded)} cases")


if __name__ == "__main__":
    main()
