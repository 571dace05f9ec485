"""The one place that loads what strangers made: weights and words, never code.

A checkpoint may bring Python files and ask for them to be run; transformers then asks on the
terminal, where `yes |` may answer too. Here the answer is always no.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, short, some

# Published files have some weights that a model does not use (a task's head, old buffers).
MOST_UNUSED = 0.2
# Embeddings are rounded up to a size that hardware likes, but a tokenizer that knows less than this
# share of them is not the model's: of a folder without its files transformers makes an empty one.
SMALLEST_SHARE = 0.5


def pretrained(kind: Any, source: Any, **how: Any) -> Any:
    """`kind.from_pretrained(source, **how)` without running any code of the checkpoint.

    kind: a class of transformers, such as AutoTokenizer or AutoModelForSeq2SeqLM.

    Raises:
        BridoError: the checkpoint cannot be loaded without code of its own, or of the hub.
        ValueError: see `check_place`.
        Exception: what transformers raises for a checkpoint that is damaged.
    """
    if isinstance(source, str | Path):
        check_place(Path(source))
    is_model = kind.__name__.startswith("AutoModel") or hasattr(kind, "base_model_prefix")
    if is_model and "gguf_file" not in how:
        _check_kernels(source, how.get("revision"))
    if kind.__name__.startswith("Auto"):
        how["trust_remote_code"] = False
    try:
        with _silent():
            return kind.from_pretrained(source, **how)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise BridoError(
            f"{source} needs Python code of its own, and brido never runs such code: choose a "
            "model that transformers knows without it"
        ) from None


def check_place(folder: Path) -> None:
    """Check that a folder holds a model itself.

    Raises:
        ValueError: it holds an adapter, or models in folders inside, as a Trainer writes them.
    """
    # transformers would put an adapter into the model, and save it alone.
    if (folder / "adapter_config.json").is_file():
        raise ValueError(
            "it holds a PEFT adapter (adapter_config.json): name its base model as the source and "
            "this folder as `checkpoints.NAME.adapter`; where it is merged into the weights, "
            "remove that file"
        )
    inside = sorted({path.parent.name for path in folder.glob("checkpoint-*/*config.json")})
    if inside and not (folder / "config.json").is_file():
        raise ValueError(f"its models are in folders inside, name one of them: {some(inside, 9)}")


def _check_kernels(source: Any, revision: str | None) -> None:
    """Check that the settings name no code of the hub to compute with.

    `"attn_implementation": "owner/name"` makes transformers fetch and run compiled code.

    Raises:
        BridoError: they do.
    """
    from transformers import PretrainedConfig

    with _silent():
        settings, _ = PretrainedConfig.get_config_dict(str(source), revision=revision)
    if named := _kernel_of(settings):
        raise BridoError(
            f"{source} asks for code of the hub ({short(named)}, in config.json), and brido never "
            "runs such code: delete that key"
        )


def _kernel_of(value: Any, below: bool = False) -> str | None:
    """The first repository that a key `..._implementation` of nested settings names."""
    if isinstance(value, str):
        return value if below and "/" in value else None
    items = value.items() if isinstance(value, dict) else ()
    found = (_kernel_of(one, below or str(key).endswith("_implementation")) for key, one in items)
    return next(filter(None, found), None)


def whole(kind: Any, source: Any, **how: Any) -> Any:
    """The model of `pretrained`, whose weights are those of its files.

    transformers fills missing ones with random numbers, such as the classifier of a model that has
    none, and leaves out layers that the settings do not name.

    Raises:
        BridoError: weights are missing, of another shape or left over, or see `pretrained`.
    """
    how |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
    model, found = pretrained(kind, source, **how)
    named = {what: weights(found, what) for what in ("missing", "mismatched", "unexpected")}
    if len(named["unexpected"]) <= MOST_UNUSED * len(model.state_dict()):
        del named["unexpected"]
    if problems := [f"{len(keys)} {what}, {some(keys, 1)}" for what, keys in named.items() if keys]:
        raise BridoError(
            f"{source} does not hold the weights of a {type(model).__name__} ({'; '.join(problems)}"
            "): it is another model, or its files are damaged"
        )
    return model


def weights(found: Mapping[str, Any], what: str) -> list[str]:
    """The names of the weights that transformers found `missing`, `mismatched` or `unexpected`."""
    # Each entry is a name, or begins with one.
    return sorted(str(one[0] if isinstance(one, tuple) else one) for one in found[f"{what}_keys"])


@contextmanager
def _silent() -> Iterator[None]:
    """transformers tells of a damaged checkpoint in dozens of lines; we do in one sentence."""
    logger = logging.getLogger("transformers")
    former = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(former)
