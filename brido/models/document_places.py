"""Where a document stands in a prompt: at every `{{ document }}`."""

import re

from brido.utils.errors import BridoError, quoted

DOCUMENT = "{{ document }}"
_PLACE = re.compile(r"\{\{ *document *\}\}")
_TEMPLATE = re.compile(r"\{[{%#].{0,40}")


def pieces_of(prompt: str, key: str = "reading.prompt") -> tuple[str, ...]:
    """What stands before, between and behind the places of the document in a prompt.

    Nothing else is filled in: what a filter, a slice or a condition of a template leaves of a
    document depends on the document. `key` names the prompt in errors.

    Raises:
        BridoError: the prompt has no place for the document, or something else of a template.

    Example:
        >>> pieces_of("Summarise: {{ document }}")
        ('Summarise: ', '')
    """
    pieces = tuple(_PLACE.split(prompt))
    if found := _TEMPLATE.search("\0".join(pieces)):
        raise BridoError(
            f"{key} must contain {DOCUMENT} and nothing else of a template, but has "
            f"{quoted(found[0])}"
        )
    if len(pieces) < 2:
        raise BridoError(f"{key} must contain {DOCUMENT}, which stands for the document")
    return pieces
