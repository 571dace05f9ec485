"""Which system `brido export` writes, and where it may write."""

import shutil
from pathlib import Path

from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError, close_to, quoted
from brido.utils.outputs import check_name
from brido.utils.progress import say
from brido.utils.stored import read_json

CARD = Path("report/model_card.md")
CHOICE = Path("metrics/choice.json")
# Where stages write; what stands there is DVC's.
_OF_STAGES = ("metrics", "report", ".dvc", ".brido")


def check_place(output: Path | None, data: Path) -> None:
    """Check that an output is none of the folders that stages write.

    Raises:
        BridoError: it is in one; the message names a folder that is free.
    """
    if output is None:
        return
    check_name(output)
    free, place = data / "export", output.resolve()
    folders = [Path(name) for name in _OF_STAGES]
    if free.resolve() not in place.parents:
        folders.insert(0, data)
    taken = next((each for each in folders if place.is_relative_to(each.resolve())), None)
    if taken is not None:
        raise BridoError(
            f"--output {output} is in {taken}, which the pipeline writes: name another place, "
            f"such as {free / output.name}"
        )


def chosen_system() -> str | None:
    """The system that metrics/choice.json says the run keeps; None without that file.

    Raises:
        BridoError: the file cannot be read.
    """
    if not CHOICE.is_file():
        return None
    choice = read_json(CHOICE, "choose")
    chosen = choice.get("chosen") if isinstance(choice, dict) else None
    if not isinstance(chosen, str):
        raise BridoError(
            f"{CHOICE} names no system under `chosen`: make it with `dvc repro choose`"
        )
    return chosen


def scored_system(data: Path, named: str | None) -> str:
    """The system whose scores are exported: the named one, or the chosen one.

    Raises:
        BridoError: it has no scores, or none is named where several could be meant.
    """
    folder = data / "scores"
    known = sorted(path.name for path in folder.glob("*") if path.is_dir())
    if not known:
        raise BridoError(f"{folder} is missing: make it with `dvc repro score`")
    if named is not None:
        if named not in known:
            raise BridoError(f"--system: {quoted(named)} has no scores{close_to(named, known)}")
        return named
    chosen = chosen_system()
    if chosen in known:
        return chosen
    if len(known) == 1:
        return known[0]
    why = "nothing is chosen yet" if chosen is None else f"the chosen system, {chosen}, has none"
    raise BridoError(f"whose scores? {why}: name --system, one of {', '.join(known)}")


def export_system(named: str | None, data: Path, folder: Path) -> None:
    """Copy the chosen system's model, or that of a named one, into a new folder.

    The chosen one comes with its card as README.md; both have brido.json, which says how the model
    reads and decodes.

    Raises:
        BridoError: the folder is there already, the model or its card is missing, or they do not
            belong together.
    """
    if folder.exists():
        raise BridoError(f"--output must be a new folder, and {folder} is there already")
    chosen = chosen_system()
    if named is None or named == chosen:
        _export_chosen(data / "chosen", folder)
    else:
        _export_other(named, data, folder)


def _export_chosen(chosen: Path, folder: Path) -> None:
    from brido.report.card import weights_named, weights_of

    weights = weights_of(chosen)
    if not CARD.is_file():
        raise BridoError(f"{CARD} is missing: make it with `dvc repro report`")
    text = CARD.read_text(encoding="utf-8")
    if weights_named(text) != weights:
        raise BridoError(
            f"{CARD} describes other weights than {chosen} holds: make it again with `dvc repro "
            "report`"
        )
    with atomic_folder(folder) as temporary:
        # The stage's own output stays as DVC knows it.
        shutil.copytree(chosen, temporary, dirs_exist_ok=True)
        (temporary / "README.md").write_text(text, encoding="utf-8")
    say(f"export: {chosen} with its card to {folder}")


def _export_other(system: str, data: Path, folder: Path) -> None:
    from brido.settings.load import load_params
    from brido.summarizer.usage import usage_of, write_model

    params = load_params()
    if system not in params.choosable:
        raise BridoError(
            f"--system: no model writes {quoted(system)}{close_to(system, params.choosable)}"
        )
    model = data / "checkpoints" / params.model_of(system)
    if not model.is_dir():
        raise BridoError(f"{model} is missing: make it with `dvc repro`")
    usage = usage_of(
        model,
        params.reading_of(system),
        params.decoding_of(system),
        params.guidance_of(system),
        system,
        lowercase=params.data.lowercase,
    )
    with atomic_folder(folder) as temporary:
        write_model(model, temporary, usage)
    say(f"export: {model}, without a card: {CARD} is about the chosen system, to {folder}")
