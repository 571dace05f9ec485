"""The published archives, read safely and turned into plain transformers folders.

Key layouts follow from the released code and were not compared with the published files. Every key
and shape is therefore checked: a difference is an error, never a silently random layer.
"""

import pickle
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import torch
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    ElectraConfig,
    ElectraForQuestionAnswering,
    PreTrainedModel,
    RobertaConfig,
    RobertaForSequenceClassification,
)
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from brido.evaluation.qafacteval.questions import add_markers
from brido.models.loading import pretrained
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError

State = dict[str, torch.Tensor]
Built = tuple[PreTrainedModel, PreTrainedTokenizerBase]

_FILES = frozenset(
    {
        "config.json", "weights.th", "pytorch_model.bin", "vocab.txt", "vocab.json", "merges.txt",
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    }
)  # fmt: skip


def convert(part: str, source: Path, destination: Path, base: Path | None) -> None:
    """Write the transformers folder `destination` from a published archive.

    part: questions, answering or lerc_quip. base: the folder with the configuration and tokenizer
    of the model that questions was fine-tuned from; the others need none.

    Raises:
        BridoError: the archive cannot be read, or its keys or shapes are not the published ones.
    """
    with _unpacked(source, destination) as folder:
        if part == "questions":
            model, tokenizer = _questions(folder, base, source)
        else:
            model, tokenizer = _as_saved(part, folder, source)
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
    """Yield (file name, stream) of the wanted files, in any folder of the archive.

    Only plain files are read and only their last name is used, so no archive can write elsewhere.
    """
    if zipfile.is_zipfile(source):
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


def _state(folder: Path, source: Path, name: str) -> State:
    """Return the tensors of the file `name`; nothing in it is executed."""
    path = folder / name
    if not path.is_file():
        raise BridoError(f"{source} lacks {name}: it is not the archive expected")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise BridoError(f"{source}: {name} cannot be read ({reason}): fetch it again") from None


def _fill(model: PreTrainedModel, state: State, source: Path) -> None:
    """Load `state` into `model`; raises BridoError if a key or a shape differs."""
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


def _questions(folder: Path, base: Path | None, source: Path) -> Built:
    """AllenNLP's `bart.*` without an output layer, which is the shared embedding."""
    assert base is not None, "the generator's archive has no tokenizer of its own"
    found = _state(folder, source, "weights.th")
    state = {key.removeprefix("bart."): value for key, value in found.items()}
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


def _as_saved(part: str, folder: Path, source: Path) -> Built:
    """The reader or the scorer, with the weights that an old version of transformers saved.

    Some versions saved positions, and the pooler that a classifier does not use.
    """
    model: PreTrainedModel
    if part == "answering":
        model = ElectraForQuestionAnswering(pretrained(ElectraConfig, folder))
    else:
        model = RobertaForSequenceClassification(pretrained(RobertaConfig, folder, num_labels=1))
    state = _state(folder, source, "pytorch_model.bin")
    unused = (".embeddings.position_ids", ".pooler.dense.weight", ".pooler.dense.bias")
    _fill(model, {k: v for k, v in state.items() if not k.endswith(unused)}, source)
    lower = {"do_lower_case": True} if part == "answering" else {}
    return model, pretrained(AutoTokenizer, folder, **lower)
