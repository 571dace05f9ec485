"""What transformers 4.55.4 generated: the cases, and the models and sources that they name.

Imports nothing of brido: the recorder (tests/search/record_search_fixtures.py) runs in an
environment of its own.
"""

import json
from pathlib import Path

import tiny_decoders
import torch
import transformers
from tiny_models import build_model, build_sources

FOLDER = Path(__file__).parent.parent / "search" / "fixtures"
NAMES = ("search", "several_ends", "decoders")


def cases(name: str) -> list[dict]:
    """The cases of one file."""
    return json.loads((FOLDER / f"{name}_4_55_4.json").read_text(encoding="utf-8"))


def rebuilt(
    case: dict,
) -> tuple[transformers.PreTrainedModel, torch.Tensor, torch.Tensor, float]:
    """Model, sources or prompts and their mask, and a number that tells whether they are equal."""
    family, seed, documents, bias = (
        case[key] for key in ("family", "seed", "documents", "end_bias")
    )
    if family in tiny_decoders.FAMILIES:
        model = tiny_decoders.build_decoder(family, seed, bias, tuple(case["ends"]))
        ids, mask = tiny_decoders.build_prompts(
            seed, documents, case["prompt_length"], case["padded"]
        )
        more = {}
    else:
        model = build_model(family, seed, bias, case["forced_tokens"], case.get("ends", ()))
        ids, mask = build_sources(family, seed, documents, case["source_length"], case["padded"])
        more = {"decoder_input_ids": ids[:, :3]}
    model.generation_config.repetition_penalty = case.get("repetition_penalty", 1.0)
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=mask, **more).logits
    if not more:
        logits = logits[:, -1]
    return model, ids, mask, float(logits.double().square().mean())
