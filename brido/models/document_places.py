"""Where a document stands in `reading.prompt`, and that it stands there whole."""

from collections.abc import Sequence
from functools import lru_cache

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from brido.models.settings import ReadingSettings
from brido.utils.errors import BridoError, first_line

DOCUMENT = "{{ document }}"
# Stand where a document will: two, so that a prompt that does something with its document shows.
MARKS = ("\ue000", "\ue000Two words.\ue000")
_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)


def pieces_of(reading: ReadingSettings) -> tuple[str, ...]:
    """What stands around each document of `reading.prompt`.

    Raises:
        BridoError: the prompt does not contain the whole document, or cannot be filled in.
    """
    return pieces_around([question(reading, mark) for mark in MARKS])


def pieces_around(texts: Sequence[str]) -> tuple[str, ...]:
    """What stands around each of MARKS in its text."""
    one, two = (tuple(text.split(mark)) for text, mark in zip(texts, MARKS, strict=True))
    if len(one) < 2 or one != two:
        raise BridoError(f"reading.prompt must contain {DOCUMENT}, written exactly so")
    return one


def question(reading: ReadingSettings, document: str) -> str:
    """`reading.prompt` about a document; the document alone where there is none."""
    if reading.prompt is None:
        return document
    _check_whole(reading.prompt)
    try:
        return _ENVIRONMENT.from_string(reading.prompt).render(document=document)
    except Exception as error:  # an expression of a user's prompt may raise any
        raise BridoError(f"reading.prompt: cannot be filled in ({first_line(error)})") from None


@lru_cache(maxsize=64)
def _check_whole(prompt: str) -> None:
    """Raise BridoError unless every place of a document is `{{ document }}` outside of blocks.

    What a slice, a filter or a loop leaves of a document depends on the document: the marks that
    stand for it here cannot show that it is whole.
    """
    try:
        template = _ENVIRONMENT.parse(prompt)
    except TemplateSyntaxError as error:
        raise BridoError(f"reading.prompt: cannot be filled in ({first_line(error)})") from None
    whole = [
        part
        for output in template.body
        if isinstance(output, nodes.Output)
        for part in output.nodes
        if isinstance(part, nodes.Name) and part.name == "document"
    ]
    uses = [name for name in template.find_all(nodes.Name) if name.name == "document"]
    if not whole or len(uses) > len(whole):
        raise BridoError(
            f"reading.prompt must contain the whole document: {DOCUMENT} outside of blocks, with "
            "no filter, slice or condition"
        )
