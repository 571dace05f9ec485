"""Prompts: Jinja files, the project's own two or a user's, rendered for one summary at a time.

A prompt that uses the variable `criterion` is asked once for each of the four criteria (with
`lowest` and `highest`, the ends of its scale); any other prompt asks for all four marks at once.
Both kinds know `document` and `summary`. What is filled in is data: braces in it stay as they are.
"""

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, meta
from jinja2.sandbox import SandboxedEnvironment

from brido.evaluation.geval.criteria import CRITERIA, SCALES
from brido.utils.errors import BridoError
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
    template: Template

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
            return self.template.render(variables)
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
        template = _ENVIRONMENT.from_string(source)
        used = meta.find_undeclared_variables(_ENVIRONMENT.parse(source))
    except TemplateSyntaxError as error:
        raise BridoError(
            f"evaluation.geval.prompt: {name}, line {error.lineno}: {error.message}"
        ) from None
    if used - VARIABLES or "summary" not in used:
        raise BridoError(
            f"evaluation.geval.prompt: {name} must use {{{{ summary }}}} and may use "
            f"{', '.join(sorted(VARIABLES))}; it uses {', '.join(sorted(used))}"
        )
    per_criterion = bool(used & {"criterion", "lowest", "highest"})
    groups = tuple((criterion,) for criterion in CRITERIA) if per_criterion else (CRITERIA,)
    prompt = JudgePrompt(name if name in BUILT_IN else Path(name).name, source, groups, template)
    for group in groups:
        prompt.render("A document.", "A summary.", group)
    return prompt


def _read(name: str) -> str:
    if name in BUILT_IN:
        return resources.files(__package__).joinpath("prompts", f"{name}.jinja").read_text("utf-8")
    try:
        return user_path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BridoError(
            f"evaluation.geval.prompt: {name} cannot be read ({error}); the project's own prompts "
            f"are {' and '.join(BUILT_IN)}"
        ) from None
