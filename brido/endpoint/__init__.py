"""An OpenAI-compatible server, asked once: every answer is kept and never paid for twice.

`Client` asks and keeps. Each caller says which section of params.yaml asks, and errors name that
section.
"""

from brido.utils.extras import extra

with extra():
    from brido.endpoint.answers import Answer, AskedModel, FormatRefused, Message, Question
    from brido.endpoint.client import CallPlan, Client, DryRun

__all__ = [
    "Answer",
    "AskedModel",
    "CallPlan",
    "Client",
    "DryRun",
    "FormatRefused",
    "Message",
    "Question",
]
