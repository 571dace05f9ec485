"""Samples, beams and likelihoods beside inference engines, on one processor thread.

    pip install --target ../ctranslate2 --no-deps ctranslate2
    python -m benchmarks.engines --packages ../ctranslate2

A random model of SmolLM2-135M's shape writes 16 texts of 40 tokens behind a prompt of 250, and
scores them; one of bart-base's shape writes 16 beams. All sides get the same weights in float32 and
take turns; the least processor time of each counts. "plain" is BRIDO without the layers of
`brido.models.products`. CTranslate2 takes part if it is installed, here or in a folder that
`--packages` names: it is imported into this process and needs nothing that BRIDO does not have.
"""

import argparse
import copy
import gc
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models
from torch import Tensor
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from benchmarks.harness import head, interleave, place, random_llama, row
from brido.likelihood.likelihood import sequence_statistics
from brido.models.family import family_of
from brido.models.language_model import columns_first
from brido.models.products import is_faster, pack_layers
from brido.search import SamplingSettings, SearchSettings, beam_search, sample
from brido.search.sampling import document_uniforms

PROMPT, ROWS, TOKENS = 250, 16, 40
LLAMA = (576, 1536, 30, 9, 3, 49152)
BART_WORDS = 50265
Sides = dict[str, Callable[[], Any]]


def build(kind: str) -> PreTrainedModel:
    """A model with random weights that never ends a text by itself."""
    torch.manual_seed(0)
    if kind == "llama":
        return random_llama(LLAMA, "cpu").eval()
    config = BartConfig(
        vocab_size=BART_WORDS, d_model=768, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=12, decoder_attention_heads=12, encoder_ffn_dim=3072,
        decoder_ffn_dim=3072, forced_eos_token_id=None,
        normalize_before=False, normalize_embedding=True,  # CTranslate2 asks for them
    )  # fmt: skip
    return BartForConditionalGeneration(config).eval()


def laid_out(model: PreTrainedModel) -> dict[str, PreTrainedModel]:
    """The model as it is, as stages lay it out here, and as they do on other processors."""
    plain = copy.deepcopy(model)
    columns_first(family_of(model.config).written_with(plain))
    sides = {"transformers": model, "plain": plain}
    if is_faster():
        sides["brido"] = copy.deepcopy(model)
        pack_layers(sides["brido"])
    return sides


def ours(model: PreTrainedModel, work: str, ids: Tensor, texts: Tensor) -> Any:
    """What BRIDO writes [ROWS, TOKENS], or the log-likelihoods [ROWS] of `texts`."""
    mask, started = torch.ones_like(ids), int(model.config.is_encoder_decoder)
    lengths = {"min_length": TOKENS + started, "max_length": TOKENS + started}
    if work == "samples":
        settings = SamplingSettings(num_return_sequences=ROWS, top_p=0.95, **lengths)
        uniforms = document_uniforms(0, ["document"], ROWS, TOKENS)
        return sample(model, ids, mask, settings, uniforms).sequences[0]
    if work == "beams":
        settings = SearchSettings(num_beams=ROWS, **lengths)
        return beam_search(model, ids, mask, settings).sequences[0, :, started:]
    given = torch.cat([ids[:, -1:].expand(ROWS, 1), texts], 1)[None]
    with torch.inference_mode():
        counts = torch.full((1, ROWS), TOKENS)
        return sequence_statistics(model, ids, mask, given, counts).log_probability[0]


def theirs(model: PreTrainedModel, work: str, ids: Tensor, texts: Tensor) -> Any:
    """The same by transformers: `generate`, or a forward pass of ROWS rows."""
    if work == "likelihood":
        with torch.inference_mode():
            rows = torch.cat([ids.expand(ROWS, -1), texts], 1)
            logits = model(rows, logits_to_keep=TOKENS + 1).logits[:, :-1]
            return logits.log_softmax(-1).gather(2, texts[:, :, None]).sum((1, 2))
    chosen: dict[str, Any] = {"num_beams": ROWS, "do_sample": False}
    if work == "samples":
        chosen = {"do_sample": True, "top_p": 0.95, "top_k": 0}
    written = model.generate(
        ids, attention_mask=torch.ones_like(ids), num_return_sequences=ROWS,
        min_new_tokens=TOKENS, max_new_tokens=TOKENS, **chosen,
    )  # fmt: skip
    return written[:, 1 if model.config.is_encoder_decoder else ids.shape[1] :]


def ctranslate2_side(engine: Any, work: str, ids: Tensor, texts: Tensor) -> Any:
    """The same by CTranslate2; engine: what `converted` made."""
    source = words(ids[0])
    lengths = {"beam_size": ROWS if work == "beams" else 1, "num_hypotheses": ROWS}
    if hasattr(engine, "translate_batch"):
        (found,) = engine.translate_batch(
            [source], max_decoding_length=TOKENS, min_decoding_length=TOKENS, **lengths
        )
        return torch.tensor([[int(word) for word in text] for text in found.hypotheses])
    if work == "likelihood":
        scored = engine.score_batch([source + words(text) for text in texts])
        return torch.tensor([sum(one.log_probs[-TOKENS:]) for one in scored])
    if work == "samples":
        lengths |= {"sampling_topk": 0, "sampling_topp": 0.95}
    (found,) = engine.generate_batch(
        [source], min_length=TOKENS, max_length=TOKENS, include_prompt_in_result=False, **lengths
    )
    return torch.tensor(found.sequences_ids)


def words(ids: Tensor) -> list[str]:
    """Tokens as the made-up tokenizer of `converted` names them."""
    return [str(token) for token in ids.tolist()]


def converted(model: PreTrainedModel) -> Any:
    """CTranslate2's engine for this model, whose tokenizer calls every token by its number."""
    import ctranslate2
    from ctranslate2.converters import TransformersConverter

    size, special = model.config.vocab_size, model.config
    names = {str(token): token for token in range(size)}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(names, unk_token="3")),
        bos_token=str(special.bos_token_id), eos_token=str(special.eos_token_id),
        pad_token=str(special.pad_token_id), unk_token="3",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(f"{folder}/model")
        tokenizer.save_pretrained(f"{folder}/model")
        TransformersConverter(f"{folder}/model").convert(f"{folder}/converted")
        writes = model.config.is_encoder_decoder
        kind = ctranslate2.Translator if writes else ctranslate2.Generator
        return kind(
            f"{folder}/converted", compute_type="float32", inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )  # fmt: skip


def compare(kind: str, work: tuple[str, ...], rounds: int, engines: bool) -> None:
    """Print a row for each work, and each side in turn."""
    built = build(kind)
    layouts = laid_out(built)
    peer = converted(built) if engines else None
    gc.collect()
    ids = torch.randint(4, built.config.vocab_size, (1, PROMPT))
    texts = torch.randint(4, built.config.vocab_size, (ROWS, TOKENS))
    for name in work:
        sides: Sides = {}
        for side, model in layouts.items():
            run = theirs if side == "transformers" else ours
            sides[side] = partial(run, model, name, ids, texts)
        if peer is not None:
            sides["ctranslate2"] = partial(ctranslate2_side, peer, name, ids, texts)
        found = interleave(sides, rounds)
        best = found["brido" if "brido" in found else "plain"]
        for side, times in found.items():
            ratio = f"{times.least / best.least:.2f}"
            row(f"{kind}, {name}", side, f"{times.least:.2f}", ratio, agreement(times, best, name))


def agreement(one: Any, other: Any, work: str) -> str:
    """How far two sides found the same: beams in common, or the largest difference of log p."""
    if work == "samples":
        return ""
    if work == "likelihood":
        return f"{float((one.value - other.value).abs().max()):.0e}"
    same = {tuple(text) for text in one.value.tolist()} & set(map(tuple, other.value.tolist()))
    return f"{len(same)}/{ROWS}"


def main() -> None:
    """Compare all engines that are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=Path, help="folder that holds ctranslate2")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.packages is not None:
        sys.path.append(str(options.packages))  # last: torch and numpy stay this environment's
    engines = find_spec("ctranslate2") is not None
    print(place("cpu"), "" if engines else "; ctranslate2 is not installed")
    head("work", "engine", "s", "times BRIDO's", "same texts, or log p within")
    compare("llama", ("samples", "beams", "likelihood"), options.rounds, engines)
    compare("bart", ("beams",), options.rounds, engines)


if __name__ == "__main__":
    main()
