"""Prompts: Jinja files, the project's own two or a user's, rendered for one summary at a time.

A prompt that uses the variable `criterion` is asked once for each of the four criteria (with
`lowest` and `highest`, the ends of its scale); any other prompt asks for all four marks at once.
Both kinds know `document` and `summary`. What is filled in is data: braces in it stay as they are.
"""

import functools
import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, meta
from jinja2.sandbox import SandboxedEnvironment

from brido.evaluation.geval.criteria import CRITERIA, SCALES
from brido.utils.errors import BridoError, parsing
from brido.utils.paths import user_path

BUILT_IN = ("merged", "separate")
VARIABLES = frozenset({"document", "summary", "criterion", "lowest", "highest"})
_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined)


@dataclass(frozen=True)
class JudgePrompt:
    """A prompt ready to be rendered; `groups` are the criteria that each call asks for."""

    name: str
    source: str
    groups: tuple[tuple[str, ...], ...]

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the prompt's text."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def render(self, document: str, summary: str, group: tuple[str, ...]) -> str:
        """Return the text that asks for the marks of `group` (one of `groups`) for one summary.

        Raises:
            BridoError: the template does what it must not, or cannot with these texts.
        """
        variables: dict[str, object] = {"document": document, "summary": summary}
        if len(self.groups) > 1:
            lowest, highest = SCALES[group[0]]
            variables |= {"criterion": group[0], "lowest": lowest, "highest": highest}
        try:
            return _compiled(self.source).render(variables)
        except Exception as error:  # an expression of a user's template may raise any
            raise BridoError(
                f"evaluation.geval.prompt: {self.name} cannot be filled in ({error})"
            ) from None


def load_prompt(name: str) -> JudgePrompt:
    """Return the prompt `merged`, `separate`, or the one in the file `name`.

    Raises:
        BridoError: the file does not exist, is not a Jinja template in UTF-8, uses an unknown
            variable, or does not use `summary`.
    """
    source = _read(name)
    try:
        used = meta.find_undeclared_variables(_ENVIRONMENT.parse(source))
    except TemplateSyntaxError as error:
        raise BridoError(
            f"evaluation.geval.prompt: {name}, line {error.lineno}: {error.message}"
        ) from None
    problems = [f"it uses {{{{ {variable} }}}}" for variable in sorted(used - VARIABLES)]
    if "summary" not in used:
        problems.append("it does not use {{ summary }}, so every summary would get the same marks")
    if problems:
        known = ", ".join(sorted(VARIABLES))
        heading = f"evaluation.geval.prompt: {name} cannot be used (variables are {known}):"
        raise BridoError.from_problems(heading, problems)
    per_criterion = bool(used & {"criterion", "lowest", "highest"})
    groups = tuple((criterion,) for criterion in CRITERIA) if per_criterion else (CRITERIA,)
    prompt = JudgePrompt(name if name in BUILT_IN else Path(name).name, source, groups)
    for group in groups:
        prompt.render("A document.", "A summary.", group)
    return prompt


@functools.lru_cache(maxsize=8)
def _compiled(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


def _read(name: str) -> str:
    if name in BUILT_IN:
        return resources.files(__package__).joinpath("prompts", f"{name}.jinja").read_text("utf-8")
    path = user_path(name)
    if not path.is_file():
        raise BridoError(
            f"evaluation.geval.prompt: there is no file {name}; "
            f"the project's own prompts are {' and '.join(BUILT_IN)}"
        )
    with parsing(lambda reason: f"evaluation.geval.prompt: {name} is not UTF-8 text ({reason})"):
        return path.read_text(encoding="utf-8")
