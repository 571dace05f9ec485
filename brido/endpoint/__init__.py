"""An OpenAI-compatible server, asked once: every answer is kept and never paid for twice.

`Client` asks and keeps. Each caller says which section of params.yaml asks, and errors name that
section.
"""

from brido.utils.lazy import lazy

# Loaded when asked for: the room's section is read with every params.yaml.
_PUBLIC = {
    "Answer": "answers",
    "AskedModel": "answers",
    "Message": "answers",
    "Question": "answers",
    "Client": "client",
    "DryRun": "client",
    "CallPlan": "client",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "judge")
