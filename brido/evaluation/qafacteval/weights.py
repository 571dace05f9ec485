"""Where the models of QAFactEval come from: the hub, or a folder of the user's.

They were published as archives of 2020-2022 that nothing current can read. Each is converted once
into a plain transformers folder (archives.py); afterwards only that folder is read.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from brido.evaluation.qafacteval.archives import convert
from brido.utils.errors import BridoError
from brido.utils.paths import user_path

# A mirror of all published archives; the authors' own links are mostly dead.
HUB_REPOSITORY = "amritgupta/qafacteval"


@dataclass(frozen=True)
class Base:
    """The model an archive was fine-tuned from: it holds neither its tokenizer nor its shape."""

    folder: str
    hub_id: str
    files: tuple[str, ...]


BART = Base("bart-large", "facebook/bart-large", ("config.json", "vocab.json", "merges.txt"))
BERT = Base("bert-base-uncased", "google-bert/bert-base-uncased", ("config.json", "vocab.txt"))


@dataclass(frozen=True)
class Part:
    """A model: the archive's name on the hub, and where it may lie in a user's folder.

    The places are the archive under the hub's name, as the released download script leaves it,
    and unpacked.
    """

    archive: str
    places: tuple[str, ...]
    base: Base | None = None


PARTS = {
    "questions": Part(
        "generation_model.tar.gz", ("generation_model.tar.gz", "generation/model.tar.gz"), BART
    ),
    "answering": Part("answering_model.zip", ("answering_model.zip", "model.zip", "answering")),
    "lerc_quip": Part("quip-512-mocha.tar.gz", ("quip-512-mocha.tar.gz", "quip-512-mocha")),
    "lerc": Part("lerc_model1.tar.gz", ("lerc_model1.tar.gz", "lerc/model.tar.gz"), BERT),
}


def find_models(models: str, scorer: str) -> dict[str, Path]:
    """The folders of the question generator, the reader and the scorer, by part name.

    `models` is `hub` or a folder. In a folder, `converted/PART` is used as it is; otherwise the
    part's archive is converted into it. From the hub, archives go to the Hugging Face cache and
    conversions to `brido/qafacteval` in its home folder.

    Raises:
        BridoError: models are missing (all named, with the commands that fetch them) or wrong.
    """
    wanted = ["questions", "answering", scorer]
    if models == "hub":
        return {name: _from_hub(name) for name in wanted}
    root = user_path(models)
    problems = [
        f"{name}: none of {', '.join(f'{root}/{place}' for place in _places(name))}"
        for name in wanted
        if _locate(root, name) is None
    ]
    for name in wanted:
        base, found = PARTS[name].base, _locate(root, name)
        if base and found and not _is_ready(found) and not _local_base(root, base):
            problems.append(f"{name}: its tokenizer and configuration, {root}/{base.folder}/")
    if problems:
        heading = f"models: {root} lacks models of QAFactEval:"
        raise BridoError(f"{BridoError.from_problems(heading, problems)}\n{_way_out(models)}")
    return {name: _in_folder(root, name) for name in wanted}


def _places(name: str) -> tuple[str, ...]:
    return (f"converted/{name}", *PARTS[name].places)


def _is_ready(path: Path) -> bool:
    """Whether `path` is a converted folder, which is the only kind with safetensors."""
    return (path / "config.json").is_file() and (path / "model.safetensors").is_file()


def _locate(root: Path, name: str) -> Path | None:
    for place in _places(name):
        path = root / place
        if path.is_file() or (path / "config.json").is_file():
            return path
    return None


def _in_folder(root: Path, name: str) -> Path:
    source = _locate(root, name)
    assert source is not None
    if _is_ready(source):
        return source
    destination = root / "converted" / name
    base = PARTS[name].base
    convert(name, source, destination, _local_base(root, base) if base else None)
    return destination


def _local_base(root: Path, base: Base) -> Path | None:
    """The base's folder beside the archives, else in the Hugging Face cache, else None."""
    from huggingface_hub import try_to_load_from_cache

    if all((root / base.folder / file).is_file() for file in base.files):
        return root / base.folder
    cached = [try_to_load_from_cache(base.hub_id, file) for file in base.files]
    if all(isinstance(path, str) for path in cached):
        return Path(str(cached[0])).parent
    return None


def _from_hub(name: str) -> Path:
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    part = PARTS[name]
    try:
        archive = Path(hf_hub_download(HUB_REPOSITORY, part.archive))
        # A snapshot's folder is its commit: another commit is another conversion.
        home = Path(constants.HF_HOME) / "brido" / "qafacteval" / archive.parent.name
        if _is_ready(home / name):
            return home / name
        base = None
        if part.base:
            files = [hf_hub_download(part.base.hub_id, file) for file in part.base.files]
            base = Path(files[0]).parent
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise BridoError(
            f"models: {name} cannot be fetched from {HUB_REPOSITORY} ({type(error).__name__}: "
            f"{str(error).splitlines()[0] if str(error) else 'no reason given'})\n"
            f"{_way_out(models='hub')}"
        ) from None
    convert(name, archive, home / name, base)
    return home / name


def _way_out(models: str) -> str:
    folder = "FOLDER" if models == "hub" else models
    archives = " ".join(part.archive for part in PARTS.values())
    lines = [
        "With internet access they are fetched by themselves (`models: hub`). Otherwise, on a "
        "machine that has it:",
        f"  hf download {HUB_REPOSITORY} {archives} --local-dir {folder}",
    ]
    lines += [
        f"  hf download {base.hub_id} {' '.join(base.files)} --local-dir {folder}{os.sep}"
        f"{base.folder}"
        for base in (BART, BERT)
    ]
    lines.append(
        f"(lerc_model1.tar.gz and {BERT.folder} only for `scorer: lerc`, quip-512-mocha.tar.gz "
        f"only for `scorer: lerc_quip`; about 4 GB), then `models: {folder}`."
    )
    return "\n".join(lines)
