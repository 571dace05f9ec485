"""Checkpoints from the hub, a folder or a GGUF file, stored in save_pretrained's format."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.models.completeness import check_folder, computed, foreign_words, incomplete
from brido.models.family import family_of
from brido.models.gguf import gguf_file, load_gguf
from brido.models.hub import CARD, SMALL_FILES, fetch
from brido.models.loading import pretrained, weights
from brido.models.lora import merge_adapter
from brido.models.tokens import end_tokens
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError, first_line, parsing
from brido.utils.paths import user_path
from brido.utils.progress import say

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from brido.models.interface import Family

    Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]


def store_checkpoint(
    source: str, revision: str | None, folder: Path, key: str, adapter: str | None = None
) -> None:
    """Fetch a model and its tokenizer and save both in `folder`, in float32, all or nothing.

    source.json beside them says where they come from, with the commit that `revision` named, or the
    SHA-256 of a GGUF file, and with the license and the languages that the model's card names.

    Args:
        source: a hub id, a folder written by `save_pretrained`, or a GGUF file (`PATH.gguf`, or
            `package:NAME/FILE.gguf` inside an installed package).
        revision: commit, tag or branch of a hub id; None is its main branch.
        folder: where the checkpoint goes.
        key: the key of params.yaml that errors name, such as `checkpoints.base`.
        adapter: a PEFT folder, merged into the weights.

    Raises:
        BridoError: the source cannot be read, it is not a complete model of a known family with
            its tokenizer, or the adapter belongs to another model.
    """
    description: dict[str, Any] = {"source": source, "revision": revision}
    origin, file = user_path(source), gguf_file(source, f"{key}.source")
    if revision is not None and (file or origin.is_dir()):
        kind = "file" if file else "folder"
        raise BridoError(
            f"{key}.revision: {source} is a {kind} and has no revisions: set it to null"
        )
    if file:
        with file.open("rb") as content:
            description["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
    elif not origin.is_dir():
        origin = fetch(source, revision, key)
        description["commit"] = origin.name
    description |= {} if file else _declared(origin / CARD)
    model, tokenizer, found = load_gguf(file, key) if file else _load_foreign(origin, key)
    _name_end(model, tokenizer)
    with parsing(lambda reason: f"{key}.source: the settings of {source} are damaged: {reason}"):
        problems = list(incomplete(model, tokenizer, found, None if file else origin))
    if problems:
        place = file or origin
        raise BridoError.from_problems(
            f"{key}.source: {place} is not a usable checkpoint:", problems
        )
    if adapter is not None:
        description["adapter"] = adapter
        model = merge_adapter(model, user_path(adapter), f"{key}.adapter")
        tokenizer = _adapted(tokenizer, user_path(adapter), f"{key}.adapter")
        _name_end(model, tokenizer)
    with atomic_folder(folder) as temporary:
        save(model, tokenizer, temporary)
        text = json.dumps(description, indent=2, sort_keys=True)
        (temporary / "source.json").write_text(text + "\n", encoding="utf-8")


def _declared(card: Path) -> dict[str, Any]:
    """The license and the languages that a model's card names; {} of one that cannot be read."""
    from huggingface_hub import ModelCard

    try:
        named = ModelCard.load(card, ignore_metadata_errors=True).data.to_dict()
    except Exception:  # a stranger's YAML, or no file; nothing is computed from it
        return {}
    return {key: named[key] for key in ("license", "language") if named.get(key)}


def _name_end(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let the tokenizer's end token end the texts of a decoder-only model, as it does in vLLM.

    Of chat models that were tuned from a base, the generation settings may name base's end alone:
    texts would go on behind the end of the answer.
    """
    ends, end = end_tokens(model), tokenizer.eos_token_id
    if not (model.config.is_encoder_decoder or end is None or end in ends):
        model.generation_config.eos_token_id = [*ends, end]


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write model, tokenizer and generation settings into `folder`, as every stage reads them.

    The generation settings are written as they are: transformers refuses to save some that
    published checkpoints have, such as a length penalty beside a single beam.
    """
    from transformers import GenerationConfig
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # our own progress lines say more
    settings = model.generation_config
    model.generation_config = GenerationConfig()
    try:
        model.save_pretrained(folder)
    finally:
        model.generation_config = settings
    settings.to_json_file(folder / "generation_config.json", use_diff=True)
    if tokenizer.is_fast:
        # It remembers how the last text was cut and padded, and would write that down.
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    for here in ("is_local", "local_files_only"):  # says nothing where the folder goes
        tokenizer.init_kwargs.pop(here, None)
    tokenizer.save_pretrained(folder)


def load_checkpoint(folder: Path, dtype: torch.dtype) -> Loaded:
    """Model and tokenizer of a folder that `save` wrote, as it is.

    Raises:
        BridoError: the folder is missing or cannot be loaded, or weights are missing from it.
    """
    name = folder.name
    tuned = "" if name == "base" else f" (`train@{name}` if it is a key of `tuned`)"
    if not folder.is_dir():
        raise BridoError(f"{folder} is missing: make it with `dvc repro checkpoint@{name}`{tuned}")
    again = "put a whole model in its place"
    if folder.parent.name == "checkpoints":
        again = f"make it again with `dvc repro -sf checkpoint@{name}`{tuned}"
    try:
        model, tokenizer, found = _load(folder, dtype)
        if missing := [one for one in weights(found, "missing") if not computed(model, one)]:
            raise ValueError(f"{len(missing)} weights are missing, such as {missing[0]}")
        if problem := foreign_words(model, tokenizer):
            raise ValueError(problem)
        _name_end(model, tokenizer)
        return model, tokenizer
    except BridoError:
        raise
    except Exception as error:
        raise BridoError(f"{folder} cannot be loaded ({first_line(error)}): {again}") from error


def family_in(folder: Path, key: str = "") -> tuple[Any, Family]:
    """The config and the family of a folder's model; `key` begins the message of an error.

    Raises:
        BridoError: it is of a kind that does not write text, or asks for code of its own.
        Exception: what transformers raises for settings that are damaged.
    """
    from transformers import AutoConfig

    config = pretrained(AutoConfig, folder)
    try:
        return config, family_of(config)  # warns where the family is unknown
    except BridoError as error:
        raise BridoError(f"{key}{folder} holds {error}") from None


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a folder in `save_pretrained`'s format."""
    from transformers import AutoTokenizer

    tokenizer = pretrained(AutoTokenizer, folder, local_files_only=True)
    # Its settings may say that documents and summaries lose their beginnings.
    tokenizer.truncation_side = "right"
    return tokenizer


def _adapted(tokenizer: PreTrainedTokenizerBase, folder: Path, key: str) -> PreTrainedTokenizerBase:
    """The tokenizer that stands beside an adapter, in place of `tokenizer`, its base model's.

    Programs that train a chat model leave its template and its end token there. Without one, or
    with one that knows other tokens than the weights, it is `tokenizer`.
    """
    if not (folder / "tokenizer_config.json").is_file():
        return tokenizer
    # Beside an adapter's settings transformers would look for its base model's tokenizer.
    with tempfile.TemporaryDirectory() as alone:
        for file in {path for pattern in SMALL_FILES for path in folder.glob(pattern)}:
            if file.is_file() and not file.name.startswith("adapter_"):
                shutil.copy(file, alone)
        with parsing(lambda reason: f"{key}: the tokenizer in {folder} is damaged: {reason}"):
            own = load_tokenizer(Path(alone))
    if own.get_vocab() == tokenizer.get_vocab():
        return own
    say(
        f"checkpoint: warning: {key}: the tokenizer in {folder} knows other tokens than its base "
        "model's, which is used, with its chat template"
    )
    return tokenizer


def _load_foreign(folder: Path, key: str) -> tuple[Any, Any, dict[str, Any]]:
    """Model (float32) and tokenizer of a stranger's folder, and transformers' report on weights."""
    import torch

    try:
        # Weights of another shape are reported by `incomplete`, with a name.
        return _load(folder, torch.float32, f"{key}.source: ", ignore_mismatched_sizes=True)
    except BridoError:
        raise
    except Exception as error:
        reason = first_line(error)
        if "weights_only" in reason:  # PyTorch's advice is to run what the file holds
            reason = "a file of weights holds other things than weights, and those are not read"
        raise BridoError(
            f"{key}.source: {folder} cannot be loaded as a model with its tokenizer: {reason}"
        ) from error


def _load(
    folder: Path, dtype: torch.dtype, key: str = "", **how: Any
) -> tuple[Any, Any, dict[str, Any]]:
    """Model, tokenizer, and transformers' report on weights; see `family_in`."""
    check_folder(folder)
    _, family = family_in(folder, key)
    how |= {"dtype": dtype, "output_loading_info": True}
    tokenizer = load_tokenizer(folder)
    model, found = pretrained(family.loader, folder, **how)
    return model, tokenizer, found
