"""An OpenAI-compatible server, asked once: every answer is kept and never paid for twice.

`Client` asks and keeps. Each caller says which section of params.yaml asks, and errors name that
section.
"""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.endpoint.answers import Answer as Answer
    from brido.endpoint.answers import AskedModel as AskedModel
    from brido.endpoint.answers import FormatRefused as FormatRefused
    from brido.endpoint.answers import Message as Message
    from brido.endpoint.answers import Question as Question
    from brido.endpoint.client import CallPlan as CallPlan
    from brido.endpoint.client import Client as Client
    from brido.endpoint.client import DryRun as DryRun

# Loaded when asked for: the room's section is read with every params.yaml.
_PUBLIC = {
    "Answer": "answers",
    "AskedModel": "answers",
    "FormatRefused": "answers",
    "Message": "answers",
    "Question": "answers",
    "Client": "client",
    "DryRun": "client",
    "CallPlan": "client",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
