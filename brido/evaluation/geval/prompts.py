"""Prompts: Jinja files, the project's own two or a user's, rendered for one summary at a time.

A prompt that uses the variable `criterion` is asked once for each of the four criteria (with
`lowest` and `highest`, the ends of its scale); any other prompt asks for all four marks at once.
Both kinds know `document` and `summary`. What is filled in is data: braces in it stay as they are.
"""

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import StrictUndefined, Template, meta
from jinja2.sandbox import SandboxedEnvironment

from brido.evaluation.geval.criteria import CRITERIA, SCALES
from brido.utils.errors import BridoError, first_line
from brido.utils.paths import user_path

BUILT_IN = ("merged", "separate")
_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined)


@dataclass(frozen=True)
class JudgePrompt:
    """A prompt ready to be rendered.

    hash: the first 16 hexadecimal digits of the SHA-256 of its text. groups: the criteria that each
    call asks for.
    """

    name: str
    hash: str
    template: Template
    groups: tuple[tuple[str, ...], ...]

    def render(self, document: str, summary: str, group: tuple[str, ...]) -> str:
        """Return the text that asks for the marks of `group` (one of `groups`) for one summary.

        Raises:
            BridoError: the template does what it must not, or cannot with these texts.
        """
        variables: dict[str, object] = {"document": document, "summary": summary}
        if len(group) == 1:
            lowest, highest = SCALES[group[0]]
            variables |= {"criterion": group[0], "lowest": lowest, "highest": highest}
        try:
            return self.template.render(variables)
        except Exception as error:  # an expression of a user's template may raise any
            raise BridoError(
                f"evaluation.geval.prompt: {self.name} cannot be filled in ({first_line(error)}): "
                "it may use document, summary, criterion, lowest and highest"
            ) from None


def load_prompt(name: str) -> JudgePrompt:
    """Return the prompt `merged`, `separate`, or the one in the file `name`.

    Raises:
        BridoError: it cannot be read, is not a Jinja template, uses an unknown variable, or does
            not use `summary`.
    """
    own = resources.files(__package__).joinpath("prompts", f"{name}.jinja")
    try:
        source = (own if name in BUILT_IN else user_path(name)).read_text(encoding="utf-8")
        template = _ENVIRONMENT.from_string(source)
        used = meta.find_undeclared_variables(_ENVIRONMENT.parse(source))
    except Exception as error:  # Jinja's own errors, and those of reading
        raise BridoError(
            f"evaluation.geval.prompt: {name} cannot be used ({first_line(error)}); the project's "
            f"own prompts are {' and '.join(BUILT_IN)}"
        ) from None
    each = used & {"criterion", "lowest", "highest"}
    prompt = JudgePrompt(
        name if name in BUILT_IN else Path(name).name,
        hashlib.sha256(source.encode()).hexdigest()[:16],
        template,
        tuple((criterion,) for criterion in CRITERIA) if each else (CRITERIA,),
    )
    for group in prompt.groups:
        prompt.render("A document.", "A summary.", group)
    if "summary" not in used:
        raise BridoError(f"evaluation.geval.prompt: {name} does not use {{{{ summary }}}}")
    return prompt
