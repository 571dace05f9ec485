"""Where the models of QAFactEval come from: the hub, or a folder of the user's.

They were published as archives of 2020-2022 that nothing current can read. Each is converted once
into a plain transformers folder (archives.py); afterwards only that folder is read.
"""

from pathlib import Path

from brido.evaluation.qafacteval.archives import convert
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


def find_models(models: str) -> dict[str, Path]:
    """The folders of the question generator, the reader and the scorer, by part name.

    `models` is `hub` or a folder. In a folder, `converted/PART` is used as it is; otherwise the
    part's archive is converted into it. From the hub, archives go to the Hugging Face cache and
    conversions to `brido/qafacteval` in its home folder.

    Raises:
        BridoError: models are missing (all named, with the commands that fetch them) or wrong.
    """
    if models == "hub":
        return {name: _from_hub(name) for name in ARCHIVES}
    root = user_path(models)
    places = {name: (root / "converted" / name, root / file) for name, file in ARCHIVES.items()}
    problems = [
        f"{name}: neither {folder} nor {archive}"
        for name, (folder, archive) in places.items()
        if not _is_ready(folder) and not archive.is_file()
    ]
    base = None
    if not _is_ready(places["questions"][0]):
        base = _local_base(root)
        if base is None:
            problems.append(f"questions: its tokenizer and configuration, {root}/{BASE_FOLDER}/")
    if problems:
        heading = f"models: {root} lacks models of QAFactEval:"
        raise BridoError(f"{BridoError.from_problems(heading, problems)}\n{_way_out(models)}")
    for name, (folder, archive) in places.items():
        if not _is_ready(folder):
            convert(name, archive, folder, base)
    return {name: folder for name, (folder, _) in places.items()}


def _is_ready(path: Path) -> bool:
    return (path / "config.json").is_file() and (path / "model.safetensors").is_file()


def _local_base(root: Path) -> Path | None:
    """The base's folder beside the archives, else in the Hugging Face cache, else None."""
    from huggingface_hub import try_to_load_from_cache

    if all((root / BASE_FOLDER / file).is_file() for file in BASE_FILES):
        return root / BASE_FOLDER
    cached = [try_to_load_from_cache(BASE_ID, file) for file in BASE_FILES]
    if all(isinstance(path, str) for path in cached):
        return Path(str(cached[0])).parent
    return None


def _from_hub(name: str) -> Path:
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        archive = Path(hf_hub_download(HUB_REPOSITORY, ARCHIVES[name]))
        # A snapshot's folder is its commit: another commit is another conversion.
        home = Path(constants.HF_HOME) / "brido" / "qafacteval" / archive.parent.name
        if _is_ready(home / name):
            return home / name
        base = None
        if name == "questions":
            base = Path([hf_hub_download(BASE_ID, file) for file in BASE_FILES][-1]).parent
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise BridoError(
            f"models: {name} cannot be fetched from {HUB_REPOSITORY} ({type(error).__name__}: "
            f"{first_line(error)})\n{_way_out(models='hub')}"
        ) from None
    convert(name, archive, home / name, base)
    return home / name


def _way_out(models: str) -> str:
    folder = "FOLDER" if models == "hub" else models
    archives = " ".join(ARCHIVES.values())
    return (
        "With internet access they are fetched by themselves (`models: hub`, about 4 GB). "
        "Otherwise, on a machine that has it:\n"
        f"  hf download {HUB_REPOSITORY} {archives} --local-dir {folder}\n"
        f"  hf download {BASE_ID} {' '.join(BASE_FILES)} --local-dir {folder}/{BASE_FOLDER}\n"
        f"then `models: {folder}`."
    )
