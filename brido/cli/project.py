"""Which model a command uses: a folder, or a system of the project's run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.candidates.decoding import read_object
from brido.candidates.endpoint import Asker
from brido.cli.shared import DATA
from brido.summarizer.model import changed, usage_in
from brido.summarizer.usage import USAGE_FILE, Usage, usage_of
from brido.utils.errors import BridoError, close_to
from brido.utils.sections import checked
from brido.work.settings import RuntimeSettings

if TYPE_CHECKING:
    from brido.settings.params import Params

CHOSEN = DATA / "chosen"
# Larger models gain from every core; the world's are slower with more than one.
_SMALL = 200_000_000


@dataclass(frozen=True)
class ChosenModel:
    """A model's folder and its use. about: what is said of it.

    params: settings of the project, None outside of one. asker: what asks the server of a system
    that a server writes; such a system has no folder.
    """

    folder: Path
    usage: Usage
    about: str
    params: "Params | None" = None
    asker: Asker | None = None

    @property
    def columns(self) -> tuple[str | None, str | None]:
        """The columns of documents and ids in the project's own files."""
        if self.params is None or self.params.data.source != "files":
            return None, None
        return self.params.data.files.document_column, self.params.data.files.id_column


def find_model(
    folder: Path | None, system: str | None, changes: Mapping[str, Any] | None = None
) -> ChosenModel:
    """The model that the command line asks for: a folder's, a system's, else the chosen one.

    Raises:
        BridoError: there is none, or it cannot be used.
    """
    from brido.settings.load import PARAMS_FILE, load_params

    if folder is not None:
        if system is not None:
            raise BridoError("--model and --system: give one of them; a folder has one system")
        usage = usage_in(folder, changes)
        return ChosenModel(folder, usage, f"{folder} (system {usage.system or 'unknown'})")
    params = load_params() if PARAMS_FILE.is_file() else None
    if system is None:
        # Read without brido.json, the model would get documents without its prompt, cut elsewhere.
        if not (CHOSEN / USAGE_FILE).is_file():
            raise BridoError(
                f"no model: {CHOSEN / USAGE_FILE} is missing, and `dvc repro choose` makes it. Or "
                "name a system (summarize --system NAME, export-model NAME), or a model's folder "
                "(summarize --model FOLDER)"
            )
        system = str(read_object(CHOSEN / USAGE_FILE).get("system"))
        # What a server writes has no model.
        if params is None or not params.variant_of(system).endpoint:
            about = f"{CHOSEN}: system {system}, which the run chose (metrics/choice.json)"
            return ChosenModel(CHOSEN, usage_in(CHOSEN, changes), about, params)
    return _of_system(params or load_params(), system, changes or {})


def _of_system(params: "Params", name: str, changes: Mapping[str, Any]) -> ChosenModel:
    known = dict.fromkeys([*params.choosable, *params.checkpoints, *params.tuned, *params.variants])
    if name not in known:
        raise BridoError(f"no model of this project writes {name}{close_to(name, known)}")
    if asked := params.variant_of(name).endpoint:
        if any(value is not None for value in changes.values()):
            raise BridoError(f"a server writes {name}: change variants.{name}.endpoint")
        server = params.runtime.endpoint_of(asked.endpoint)
        usage = Usage(system=name, reading=asked.reading, lowercase=params.data.lowercase)
        about = f"system {name}: {asked.model}, which a server has ({server.section})"
        asker = Asker(f"variants.{name}.endpoint", asked, 1, asked.reading, server)
        return ChosenModel(DATA, usage, about, params, asker)
    folder = DATA / "checkpoints" / params.model_of(name)
    if not folder.is_dir():
        raise BridoError(f"{folder} is missing: make it with `dvc repro`")
    usage = changed(usage_of(folder, **params.usage_of(name)), changes)
    return ChosenModel(folder, usage, f"{folder}: system {name}", params)


def runtime_for(model: ChosenModel, options: Mapping[str, Any]) -> RuntimeSettings:
    """Section runtime with the keys of the command line that are not None.

    Without a project a large model gets every core.

    Raises:
        BridoError: a value does not fit.
    """
    if model.params is None:
        size = sum(path.stat().st_size for path in model.folder.glob("*.safetensors"))
        base = RuntimeSettings(threads=1 if size < _SMALL else 0)
    else:
        base = model.params.runtime
    given = {key: value for key, value in options.items() if value is not None}
    heading, raw = "the summarizer cannot start:", base.model_dump() | given
    return checked(RuntimeSettings, raw, heading, lambda key: f"--{key.replace('_', '-')}")
