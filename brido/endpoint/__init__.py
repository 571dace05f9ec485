"""An OpenAI-compatible server, asked politely and paid once.

`Client` is the whole of it: it asks, keeps every answer, and never pays for one twice. Whoever asks
says which section of params.yaml it speaks for, and errors name that section.
"""

from brido.utils.lazy import lazy

# Loaded when asked for: the room's section is read with every params.yaml.
_PUBLIC = {
    "Answer": "answers",
    "AskedModel": "answers",
    "Message": "answers",
    "Question": "answers",
    "Token": "answers",
    "Client": "client",
    "DryRun": "client",
    "Ledger": "ledger",
    "Respondent": "ledger",
    "Plan": "plan",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "judge")
