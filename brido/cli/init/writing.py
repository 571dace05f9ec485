"""params.yaml from a template and values, in the form in which DVC writes it back."""

import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

# What the templates say of these is about their own model.
_OF_A_MODEL = {"source", "max_source_tokens", "temperature", "top_p", "lora"}


def filled(template: str, values: Mapping[str, Any], heading: str) -> str:
    """The template with dotted keys set to `values`, under `heading` in place of its own.

    Comments of other keys stay where they are; a section that is set whole has none.
    """
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 10_000
    tree = yaml.load(template[template.index("\ndata:") + 1 :])
    for key, value in values.items():
        *sections, name = key.split(".")
        place = tree
        for section in sections:
            place = place[section]
        text = isinstance(value, str) and "\n" in value
        place[name] = LiteralScalarString(value) if text else value
        if isinstance(value, dict):
            place.ca.items.pop(name, None)
        elif name in _OF_A_MODEL or key.startswith("data.files."):
            _take_comment(place, name)
    stream = io.StringIO()
    yaml.dump(tree, stream)
    lines = "".join(f"# {line}\n" for line in heading.splitlines())
    return f"{lines}\n{_spaced(stream.getvalue())}"


def _spaced(text: str) -> str:
    """A blank line before each section, also where it went with what stood above; DVC keeps none
    behind a list."""
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        above = found[-1] if found else "\n"
        if line[0].isalpha() and above.strip() and above[:1] in (" ", "#"):
            found.append("\n" * (not above.lstrip().startswith("- ")))
        found.append(line)
    return "".join(found)


def _take_comment(place: Any, name: str) -> None:
    """Take a key's comment away; blank lines behind it belong to it and stay."""
    for token in place.ca.items.get(name) or ():
        if token is not None:
            token.value = token.value[token.value.index("\n") :]
