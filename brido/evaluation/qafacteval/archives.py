"""The published archives, read safely and turned into plain transformers folders.

Key layouts follow from the released code; nobody has checked them against the files here, so every
key and shape is checked and a difference is an error, never a silently random layer.
"""

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from brido.models.loading import pretrained
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel
    from transformers.tokenization_utils_base import PreTrainedTokenizerBase

    State = dict[str, torch.Tensor]
    Built = tuple[PreTrainedModel, PreTrainedTokenizerBase]

_FILES = frozenset(
    {
        "config.json", "weights.th", "pytorch_model.bin", "model.safetensors", "vocab.txt",
        "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json",
    }
)  # fmt: skip


def convert(part: str, source: Path, destination: Path, base: Path | None) -> None:
    """Write the transformers folder `destination` from a published archive or its unpacked folder.

    part: questions, answering or lerc_quip. base: the folder with the configuration and tokenizer
    of the model that questions was fine-tuned from; the others need none.

    Raises:
        BridoError: the archive cannot be read, or its keys or shapes are not the published ones.
    """
    with _unpacked(source, destination) as folder:
        model, tokenizer = _BUILDERS[part](folder, base, source)
        with atomic_folder(destination) as temporary:
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)


@contextmanager
def _unpacked(source: Path, destination: Path) -> Iterator[Path]:
    """A temporary folder with the archive's files that matter, beside `destination`."""
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".unpack-") as name:
            folder = Path(name)
            for member, stream in _members(source):
                with stream, (folder / member).open("wb") as copy:
                    shutil.copyfileobj(stream, copy)
            yield folder
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise BridoError(
            f"{source} cannot be unpacked into {destination.parent} ({error}): fetch it again, and "
            "see that the disk has room and can be written"
        ) from None


def _members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """(file name, stream) of the wanted files, whatever folder of the archive they lie in.

    Only plain files are read and only their last name is used, so no archive can write elsewhere.
    """
    if source.is_dir():
        for path in source.iterdir():
            if path.name in _FILES:
                yield path.name, path.open("rb")
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            for entry in archive.infolist():
                name = PurePosixPath(entry.filename).name
                if name in _FILES and not entry.is_dir():
                    yield name, archive.open(entry)
    else:
        with tarfile.open(source) as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                stream = archive.extractfile(member) if name in _FILES else None
                if stream is not None:
                    yield name, stream


def _state(folder: Path, source: Path, *names: str) -> "State":
    """The tensors of the first of `names` that is there; nothing in the file is executed."""
    import pickle

    import torch
    from safetensors.torch import load_file

    for name in names:
        path = folder / name
        if not path.is_file():
            continue
        try:
            if name.endswith(".safetensors"):
                return load_file(path)
            return torch.load(path, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
            reason = str(error).splitlines()[0]
            raise BridoError(
                f"{source}: {name} cannot be read ({reason}): fetch it again"
            ) from None
    raise BridoError(f"{source} holds none of {', '.join(names)}: it is not the archive expected")


def _fill(model: "PreTrainedModel", state: "State", source: Path) -> None:
    """Load `state` into `model`; BridoError where a key or a shape differs."""
    expected = model.state_dict()
    problems = [f"{key} is missing" for key in expected if key not in state]
    problems += [f"{key} is not expected" for key in state if key not in expected]
    problems += [
        f"{key} has the shape {tuple(state[key].shape)}, expected {tuple(expected[key].shape)}"
        for key in expected
        if key in state and state[key].shape != expected[key].shape
    ]
    if problems:
        heading = f"{source}: these weights are not those of a {type(model).__name__}:"
        raise BridoError.from_problems(heading, problems, limit=8)
    model.load_state_dict(state)


def _questions(folder: Path, base: Path | None, source: Path) -> "Built":
    """AllenNLP's `bart.*` without an output layer, which is the shared embedding."""
    import torch
    from transformers import AutoTokenizer, BartConfig, BartForConditionalGeneration

    from brido.evaluation.qafacteval.questions import add_markers

    assert base is not None, "the generator's archive has no tokenizer of its own"
    prefix = "bart."
    state = _state(folder, source, "weights.th")
    if not any(key.startswith(prefix) for key in state):
        raise BridoError(f"{source}: no tensor's name begins with {prefix!r}: another archive?")
    state = {key.removeprefix(prefix): value for key, value in state.items()}
    tokenizer = pretrained(AutoTokenizer, base)
    add_markers(tokenizer)
    shared = state.get("model.shared.weight")
    if shared is None:
        raise BridoError(f"{source}: bart.model.shared.weight is missing: another archive?")
    if len(shared) != len(tokenizer):
        raise BridoError(
            f"{source}: {len(shared)} embeddings, but {len(tokenizer)} tokens with the two markers "
            f"in {base}: this archive was made from another model"
        )
    for tied in ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"):
        copy = state.setdefault(f"{tied}.weight", shared)
        if not torch.equal(copy, shared):
            raise BridoError(f"{source}: {tied}.weight is not the shared embedding")
    config = pretrained(BartConfig, base, vocab_size=len(shared))
    model = BartForConditionalGeneration(config)
    _fill(model, state, source)
    return model, tokenizer


def _answering(folder: Path, base: Path | None, source: Path) -> "Built":
    """transformers' own ELECTRA, saved by an old version of it."""
    from transformers import AutoTokenizer, ElectraConfig, ElectraForQuestionAnswering

    state = _state(folder, source, "pytorch_model.bin", "model.safetensors")
    state.pop("electra.embeddings.position_ids", None)
    model = ElectraForQuestionAnswering(pretrained(ElectraConfig, folder))
    _fill(model, state, source)
    return model, pretrained(AutoTokenizer, folder, do_lower_case=True)


def _lerc_quip(folder: Path, base: Path | None, source: Path) -> "Built":
    from transformers import AutoTokenizer, RobertaConfig, RobertaForSequenceClassification

    state = _state(folder, source, "pytorch_model.bin", "model.safetensors")
    state.pop("roberta.embeddings.position_ids", None)
    # Unused by a classifier; some versions of transformers saved it all the same.
    state = {key: value for key, value in state.items() if ".pooler." not in key}
    model = RobertaForSequenceClassification(pretrained(RobertaConfig, folder, num_labels=1))
    _fill(model, state, source)
    return model, pretrained(AutoTokenizer, folder)


_BUILDERS: dict[str, Callable[[Path, Path | None, Path], "Built"]] = {
    "questions": _questions,
    "answering": _answering,
    "lerc_quip": _lerc_quip,
}
