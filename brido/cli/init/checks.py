"""Which check decides: its settings, and of MiniCheck whether it is at hand and what it takes."""

from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache
from transformers import T5Config, T5EncoderModel

from brido.checkers.settings import MiniCheckModel
from brido.cli.init.found import Found
from brido.cli.init.plan import Plan
from brido.cli.init.speed import seconds_of_work
from brido.utils.device import computing_device, inference_dtype, multiplies_bfloat16
from brido.utils.errors import BridoError
from brido.utils.paths import user_path

# Flan-T5-large, MiniCheck's default: its encoder, and what its one decoder step takes beside it.
_LAYERS, _WIDTH, _INNER, _HEADS, _MEASURED = 24, 1024, 2816, 16, 2
_DECODER = 1.1
_BATCH = 4
# Tokens of a chunk of a document: of 500 words.
_CHUNK = 700


def is_at_hand() -> bool:
    """Whether the weights of MiniCheck are in the hub's cache."""
    found = try_to_load_from_cache(MiniCheckModel().model, "config.json")
    folder = Path(found).parent if isinstance(found, str) else None
    return folder is not None and any(folder.glob("*model*.[sb]*"))


def check_settings(named: str) -> dict[str, Any]:
    """The keys of params.yaml that make a check decide: mentions, minicheck or a model's folder.

    Raises:
        BridoError: there is no such check.
    """
    if named == "mentions":
        return {}
    own = {"model": str(user_path(named).absolute())} if named != "minicheck" else {}
    if own and not user_path(named).is_dir():
        raise BridoError(
            f"--check: {named} is neither mentions nor minicheck nor the folder of such a model"
        )
    return {"evaluation": {"minicheck": own}, "choice": {"by": "minicheck.good"}}


def minutes_of_minicheck(found: Found, plan: Plan) -> float:
    """Minutes for every sentence of every system's summaries, each beside its document."""
    length, sentences = fmean(found.lengths), max(1.0, found.sentences)
    texts = (1 + len(plan.tuned) + len(plan.variants)) * sum(plan.evaluated_of(found))
    pairs = texts * ceil(length / _CHUNK) * sentences
    return pairs * seconds_a_pair(int(min(_CHUNK, length))) / 60


def seconds_a_pair(tokens: int) -> float:
    """Seconds of a document of so many tokens and a sentence: layers with random weights."""
    place = computing_device("auto")
    config = T5Config(
        d_model=_WIDTH, d_ff=_INNER, d_kv=_WIDTH // _HEADS, num_heads=_HEADS,
        num_layers=_MEASURED, vocab_size=128, feed_forward_proj="gated-gelu",
    )  # fmt: skip
    dtype = torch.bfloat16 if multiplies_bfloat16(place) else inference_dtype(place)
    encoder: Any = T5EncoderModel(config).eval()
    encoder.to(place, dtype)
    ids = torch.ones(_BATCH, max(1, tokens), dtype=torch.long, device=place)

    def check() -> None:
        with torch.inference_mode():
            encoder(input_ids=ids)

    check()  # the first time takes longer
    return seconds_of_work(check) / _BATCH * _DECODER * _LAYERS / _MEASURED
