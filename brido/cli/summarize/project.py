"""Which model `brido summarize` uses: a folder, or a system of the project's run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.candidates.decoding import read_object
from brido.candidates.endpoint import Asker
from brido.summarizer.model import changed, usage_in
from brido.summarizer.settings import AskedSystem
from brido.summarizer.usage import USAGE_FILE, Usage, usage_of
from brido.utils.errors import BridoError, close_to
from brido.utils.progress import say
from brido.utils.sections import checked
from brido.utils.stored import read_json
from brido.work.settings import RuntimeSettings

if TYPE_CHECKING:
    from brido.settings.params import Params

DATA = Path("data")
CHOSEN = DATA / "chosen"
CHOICE = Path("metrics/choice.json")
# Larger models gain from every core; the world's are slower with more than one.
_SMALL = 200_000_000


@dataclass(frozen=True)
class ChosenModel:
    """A model's folder and its use. about: what is said of it.

    runtime, columns: of the project, if there is one: its section, and the columns of documents and
    ids in its own files. asker: where a server writes: there is no folder then.
    """

    folder: Path
    usage: Usage
    about: str
    runtime: RuntimeSettings | None = None
    columns: tuple[str | None, str | None] = (None, None)
    asker: Asker | None = None


def find_model(folder: Path | None, system: str | None, changes: Mapping[str, Any]) -> ChosenModel:
    """The model that the command line asks for.

    Raises:
        BridoError: there is none, or it cannot be used.
    """
    if folder is not None:
        if system is not None:
            raise BridoError("--model and --system: give one of them; a folder has one system")
        usage = usage_in(folder, changes)
        system = f" (system {usage.system})" if usage.system else ""
        return ChosenModel(folder, usage, f"{folder}{system}")
    if not Path("params.yaml").is_file() and not CHOSEN.is_dir():
        raise BridoError(
            "no model: give --model FOLDER, or run the command in the folder of a project (one "
            "with params.yaml)"
        )
    return _chosen(changes) if system is None else _of_system(system, changes)


def _chosen(changes: Mapping[str, Any]) -> ChosenModel:
    from brido.settings.load import PARAMS_FILE, load_params

    if not CHOSEN.is_dir():
        raise BridoError(
            f"{CHOSEN} is missing: `dvc repro choose` makes it. Or name a system with --system, or "
            "a model's folder with --model"
        )
    if not (CHOSEN / USAGE_FILE).is_file():
        # Read without it, the model would get documents without its prompt and cut elsewhere.
        raise BridoError(
            f"{CHOSEN / USAGE_FILE}, which says how the model reads and decodes, is missing: make "
            "it again with `dvc repro -sf choose`"
        )
    if PARAMS_FILE.is_file() and not (CHOSEN / "config.json").is_file():
        # What a server writes has no model.
        kept = str(read_object(CHOSEN / USAGE_FILE).get("system"))
        if load_params().asked_of(kept):
            return _of_system(kept, changes)
    usage = usage_in(CHOSEN, changes)
    name = usage.system or read_json(CHOICE, "choose", chosen=str)["chosen"]
    about = f"{CHOSEN}: system {name}, which the run chose ({CHOICE})"
    if not PARAMS_FILE.is_file():
        return ChosenModel(CHOSEN, usage, about)
    params = load_params()
    return ChosenModel(CHOSEN, usage, about, params.runtime, _columns(params))


def _columns(params: "Params") -> tuple[str | None, str | None]:
    files = params.data.files if params.data.source == "files" else None
    return (files.document_column, files.id_column) if files else (None, None)


def _of_system(name: str, changes: Mapping[str, Any]) -> ChosenModel:
    from brido.settings.load import load_params

    params = load_params()
    known = dict.fromkeys([*params.choosable, *params.checkpoints, *params.tuned, *params.variants])
    if name not in known:
        raise BridoError(
            f"--system {name}: no model of this project writes it{close_to(name, known)}"
        )
    if asked := params.asked_of(name):
        return _of_server(params, name, asked, changes)
    folder = DATA / "checkpoints" / params.model_of(name)
    usage = usage_of(
        folder,
        params.reading_of(name),
        params.decoding_of(name),
        params.guidance_of(name),
        name,
        lowercase=params.data.lowercase,
        checked=params.checked_of(name),
        candidates=params.candidates_of(name),
    )
    about = f"{folder}: system {name}"
    return ChosenModel(folder, changed(usage, changes), about, params.runtime, _columns(params))


def _of_server(
    params: "Params", name: str, asked: AskedSystem, changes: Mapping[str, Any]
) -> ChosenModel:
    for key, value in changes.items():
        if value is not None:
            raise BridoError(
                f"{_option(key)}: a server writes {name}: change variants.{name}.endpoint"
            )
    server, section = params.runtime.endpoint_of(asked.endpoint), f"variants.{name}.endpoint"
    usage = Usage(system=name, reading=asked.reading, lowercase=params.data.lowercase)
    about = f"system {name}: {asked.model}, which a server has ({server.section})"
    asker = Asker(section, asked, 1, asked.reading, server)
    return ChosenModel(DATA, usage, about, params.runtime, _columns(params), asker)


def runtime_for(model: ChosenModel, options: Mapping[str, Any]) -> RuntimeSettings:
    """Section runtime with the keys of the command line that are not None.

    Without a project a large model gets every core.

    Raises:
        BridoError: a value does not fit.
    """
    base = model.runtime
    if base is None:
        size = sum(path.stat().st_size for path in model.folder.glob("*.safetensors"))
        base = RuntimeSettings(threads=1 if size < _SMALL else 0)
    given = {key: value for key, value in options.items() if value is not None}
    heading = "the summarizer cannot start:"
    return checked(RuntimeSettings, base.model_dump() | given, heading, _option)


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def tell(model: ChosenModel, guided: bool) -> None:
    """Say which model writes, and why its run kept it."""
    say(f"summarize: {model.about}{', guided by the other documents' * guided}")
    for line in model.usage.verdict.splitlines():
        if line.startswith("Keep"):
            say(f"summarize: {line}")
