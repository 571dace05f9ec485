"""Record what transformers 4.55.4 writes behind prompts, for the tests of the search.

In the environment that record_search_fixtures.py describes, and in the folder `tests`:

    PYTHONPATH=. ../oracle/bin/python search/record_decoder_fixtures.py

writes search/fixtures/decoders_4_55_4.json: for each case the settings, and what was written
(without the prompt) and the scores of every candidate. Models are those of tiny_decoders.py, in
float64; prompts are padded on the left, as `generate` needs them.
"""

import itertools
import json

import torch
import transformers
from record_search_fixtures import FOLDER, STOPPING, final_scores
from tiny_decoders import CLASSES, build_decoder, build_prompts

SHAPES = [(4, 2), (6, 6), (8, 4), (12, 3), (16, 16)]
ENDS = [[2], [2, 7], [2], [7, 2, 30]]


def cases() -> list[dict]:
    """Each family with each shape and stopping mode; the rest is taken in turn."""
    ends = itertools.cycle(ENDS)
    penalties = itertools.cycle([0.5, 2.0, 0.1, 1.0, 0.0, 0.7, 3.0])
    repetition = itertools.cycle([1.0, 1.0, 1.3, 1.0, 0.8])
    lengths = itertools.cycle([1.0, 2.0, 0.6, 0.0, -0.5])
    minimum = itertools.cycle([0, 4, 0, 9, 0, 0, 2])
    maximum = itertools.cycle([12, 2, 18, 9])
    ngrams = itertools.cycle([0, 3, 0, 2, 0, 0, 1, 0, 2, 0, 3])
    biases = itertools.cycle([2.0, 5.0, 0.0, 3.5, 1.0, 7.0, 4.0, 2.5])
    found = []
    grid = itertools.product(CLASSES, SHAPES, STOPPING)
    for number, (family, (beams, groups), stopping) in enumerate(grid):
        longest = next(maximum)
        found.append(
            {
                "family": family,
                "seed": number,
                "end_bias": next(biases),
                "ends": next(ends),
                "repetition_penalty": next(repetition),
                "documents": 2 if beams == 16 else 4,
                "prompt_length": 5 + number % 8,
                "padded": number % 3 != 0,
                "settings": {
                    "num_beams": beams,
                    "num_beam_groups": groups,
                    "diversity_penalty": next(penalties) or 1.5,
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


def record(case: dict) -> dict:
    """The case with what was written and the scores of its candidates."""
    model = build_decoder(case["family"], case["seed"], case["end_bias"], tuple(case["ends"]))
    model.generation_config.repetition_penalty = case["repetition_penalty"]
    prompts, mask = build_prompts(
        case["seed"], case["documents"], case["prompt_length"], case["padded"]
    )
    settings = dict(case["settings"])
    for name in ("min", "max"):
        settings[f"{name}_new_tokens"] = settings.pop(f"{name}_length")
    scores = []
    with torch.no_grad(), final_scores(scores):
        sequences = model.generate(input_ids=prompts, attention_mask=mask, **settings)
        logits = model(input_ids=prompts, attention_mask=mask).logits[:, -1]
    # float32 values, written so that they are read back exactly.
    return {
        **case,
        "check": float(logits.double().square().mean()),
        "sequences": sequences[:, prompts.shape[1] :].tolist(),
        "scores": scores[0].tolist(),
    }


def main() -> None:
    """Write the fixture."""
    assert transformers.__version__ == "4.55.4", transformers.__version__
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    target = FOLDER / "decoders_4_55_4.json"
    recorded = [record(case) for case in cases()]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded)
    target.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{target.name}: {len(recorded)} cases, {target.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
