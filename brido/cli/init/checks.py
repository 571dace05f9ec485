"""Which check decides what is good: a free one, or one that reads, with its time here."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import torch
from huggingface_hub import file_exists, try_to_load_from_cache
from transformers import T5Config, T5EncoderModel

from brido.checkers.settings import MiniCheckModel
from brido.cli.init.data import Data
from brido.cli.init.limits import Limits
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
CHECKS = ("mentions", "minicheck")
# A check may take this share of the minutes of a run to be proposed.
_SHARE = 0.5


@dataclass(frozen=True)
class ChosenCheck:
    """The check that decides, and what the one that reads would take.

    name: mentions or minicheck. model: the hub id or folder of minicheck. minutes: it needs here
    for all summaries of the run. at_hand: whether its weights are here or on a hub that answers.
    """

    name: str
    model: str
    minutes: float
    at_hand: bool

    def settings(self) -> dict[str, Any]:
        """The keys of params.yaml that make it decide; none for mentions, which does by default."""
        if self.name == "mentions":
            return {}
        own = {} if self.model == MiniCheckModel().model else {"model": self.model}
        return {"evaluation": {"minicheck": own}, "choice": {"by": "minicheck.good"}}


def choose_check(
    named: str | None, data: Data, limits: Limits, plan: Plan, minutes: float
) -> ChosenCheck:
    """The check that decides: the named one, else minicheck where it is at hand and quick enough.

    named: mentions, minicheck, or the folder of a MiniCheck model. minutes: of the run.

    Raises:
        BridoError: there is no such check.
    """
    model = MiniCheckModel().model
    folder = user_path(named or "")
    if named not in (None, *CHECKS):
        if not folder.is_dir():
            raise BridoError(
                f"--check: {named} is neither mentions nor minicheck nor the folder of a MiniCheck "
                "model"
            )
        model = str(folder.absolute())
    takes = _minutes(data, limits, plan)
    at_hand = named is not None or _is_at_hand(model)
    quick = at_hand and takes <= _SHARE * minutes
    reads = named not in (None, "mentions") or (named is None and quick)
    return ChosenCheck("minicheck" if reads else "mentions", model, takes, at_hand)


def _is_at_hand(model: str) -> bool:
    if isinstance(try_to_load_from_cache(model, "config.json"), str):
        return True
    try:
        return file_exists(model, "config.json")
    except Exception:  # no network, a hub that is down, a name that it refuses
        return False


def _minutes(data: Data, limits: Limits, plan: Plan) -> float:
    """Minutes for every sentence of every system's summaries, each beside its document."""
    tokens = min(_CHUNK, limits.documents.mean)
    chunks = ceil(limits.documents.mean / _CHUNK)
    measured = sum(min(plan.evaluated, data.documents[split]) for split in ("validation", "test"))
    systems = 1 + len(plan.tuned) + len(plan.variants)
    pairs = systems * measured * chunks * max(1.0, limits.sentences)
    return pairs * seconds_a_pair(int(tokens)) / 60


def seconds_a_pair(tokens: int) -> float:
    """Seconds of a document of so many tokens and a sentence: layers with random weights."""
    place = computing_device("auto")
    fast = multiplies_bfloat16(place)
    config = T5Config(
        d_model=_WIDTH, d_ff=_INNER, d_kv=_WIDTH // _HEADS, num_heads=_HEADS,
        num_layers=_MEASURED, vocab_size=128, feed_forward_proj="gated-gelu",
    )  # fmt: skip
    dtype = torch.bfloat16 if fast else inference_dtype(place)
    encoder: Any = T5EncoderModel(config).eval()
    encoder.to(place, dtype)
    ids = torch.ones(_BATCH, max(1, tokens), dtype=torch.long, device=place)

    def check() -> None:
        with torch.inference_mode():
            encoder(input_ids=ids)

    check()  # the first time takes longer
    return seconds_of_work(check) / _BATCH * _DECODER * _LAYERS / _MEASURED
