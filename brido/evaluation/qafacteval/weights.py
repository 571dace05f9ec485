"""The models of QAFactEval: published archives, from the hub or a folder, made plain folders once.

Nothing current can read archives of 2020-2022. Their layouts follow from the released code and were
not compared with the published files. Every key and shape is therefore checked: a difference is an
error, never a silently random layer.
"""

import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

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
from brido.utils.errors import BridoError, first_line
from brido.utils.paths import user_path

# A mirror of all published archives; the authors' own links are mostly dead.
HUB_REPOSITORY = "amritgupta/qafacteval"
# The archive of each model.
ARCHIVES = {
    "questions": "generation_model.tar.gz",
    "answering": "answering_model.zip",
    "lerc_quip": "quip-512-mocha.tar.gz",
}
# The generator's archive holds neither its tokenizer nor its shape: those of the model that it was
# fine-tuned from, in this folder beside the archives or on the hub.
BASE_FOLDER, BASE_ID = "bart-large", "facebook/bart-large"
BASE_FILES = ("config.json", "vocab.json", "merges.txt")
_WAY_OUT = (
    "With internet access they are fetched by themselves (`models: hub`, about 4 GB). "
    "Otherwise, on a machine that has it:\n"
    f"  hf download {HUB_REPOSITORY} {' '.join(ARCHIVES.values())} --local-dir FOLDER\n"
    f"  hf download {BASE_ID} {' '.join(BASE_FILES)} --local-dir FOLDER/{BASE_FOLDER}\n"
    "then `models: FOLDER`."
)


def find_models(models: str) -> dict[str, Path]:
    """The folders of the question generator, the reader and the scorer, by part name.

    `models` is `hub` or a folder with the archives. What is converted is kept in its `converted`,
    of the hub's archives in `brido/qafacteval` of the Hugging Face home folder.

    Raises:
        BridoError: models are missing (all named, with the commands that fetch them) or wrong.
    """
    if models == "hub":
        archives, base, converted = _from_hub()
    else:
        archives = user_path(models)
        base, converted = archives / BASE_FOLDER, archives / "converted"
    folders = {part: converted / part for part in ARCHIVES}
    new = [part for part, folder in folders.items() if not (folder / "model.safetensors").is_file()]
    needed = [archives / ARCHIVES[part] for part in new]
    needed += [base / file for file in BASE_FILES if "questions" in new]
    if missing := [str(path) for path in needed if not path.is_file()]:
        raise BridoError(f"models: {', '.join(missing)} not found\n{_WAY_OUT}")
    for part in new:
        _convert(part, archives / ARCHIVES[part], base, folders[part])
    return folders


def _from_hub() -> tuple[Path, Path, Path]:
    """The folders of the archives, of the generator's base, and of what is converted."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = {HUB_REPOSITORY: ARCHIVES.values(), BASE_ID: BASE_FILES}
    try:
        archives, base = (
            Path(snapshot_download(name, allow_patterns=[*files])) for name, files in wanted.items()
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise BridoError(
            f"models: {HUB_REPOSITORY} cannot be fetched ({first_line(error)})\n{_WAY_OUT}"
        ) from None
    # A snapshot's folder is its commit: another commit is another conversion.
    return archives, base, Path(constants.HF_HOME) / "brido" / "qafacteval" / archives.name


def _convert(part: str, archive: Path, base: Path, destination: Path) -> None:
    """Write the transformers folder `destination` from a published archive; nothing in it is run.

    Raises:
        BridoError: the archive cannot be read, or its keys or shapes are not the published ones.
    """
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".unpack-") as unpacked:
            _unpack(archive, Path(unpacked))
            model, tokenizer = _read(part, Path(unpacked), base)
        with atomic_folder(destination) as temporary:
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
    except Exception as error:  # damaged archives raise any
        reason = " ".join(str(error).split())[:600]
        raise BridoError(
            f"{archive} cannot be converted ({reason}): fetch it again, and see that the disk has "
            "room and can be written"
        ) from None


def _unpack(archive: Path, folder: Path) -> None:
    """Neither kind of archive writes outside of `folder`."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(folder)
        return
    # Not `extractall(filter=...)`, which Python 3.11.2 of Debian 12 lacks.
    with tarfile.open(archive) as tarred:
        for member in tarred:
            target = folder / member.name
            if member.isdir():
                continue
            packed = tarred.extractfile(member) if member.isfile() else None
            if packed is None or not target.resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"{member.name} is not a file inside the archive")
            target.parent.mkdir(parents=True, exist_ok=True)
            with packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file)


def _read(part: str, unpacked: Path, base: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model in an unpacked archive, and its tokenizer."""
    file = "weights.th" if part == "questions" else "pytorch_model.bin"
    weights = next(unpacked.rglob(file), None)
    if weights is None:
        raise ValueError(f"it lacks {file}")
    folder = weights.parent
    state = torch.load(weights, map_location="cpu", weights_only=True)
    model: PreTrainedModel
    if part == "questions":
        # AllenNLP's `bart.*` without an output layer, which is the shared embedding.
        state = {key.removeprefix("bart."): tensor for key, tensor in state.items()}
        for tied in ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"):
            state[f"{tied}.weight"] = state["model.shared.weight"]
        tokenizer = pretrained(AutoTokenizer, base)
        add_markers(tokenizer)
        config = pretrained(BartConfig, base, vocab_size=len(tokenizer))
        model = BartForConditionalGeneration(config)
    else:
        # Old versions of transformers saved positions, and the pooler that a classifier lacks.
        unused = (".embeddings.position_ids", ".pooler.dense.weight", ".pooler.dense.bias")
        state = {key: tensor for key, tensor in state.items() if not key.endswith(unused)}
        if part == "answering":
            tokenizer = pretrained(AutoTokenizer, folder, do_lower_case=True)
            model = ElectraForQuestionAnswering(pretrained(ElectraConfig, folder))
        else:
            tokenizer = pretrained(AutoTokenizer, folder)
            config = pretrained(RobertaConfig, folder, num_labels=1)
            model = RobertaForSequenceClassification(config)
    model.load_state_dict(state)
    return model, tokenizer
