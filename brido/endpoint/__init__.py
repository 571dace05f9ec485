"""An OpenAI-compatible server, asked politely and paid once.

`Client` is the whole of it: it asks, keeps every answer, and never pays for one twice. Whoever asks
says which section of params.yaml it speaks for, and errors name that section.
"""

from brido.endpoint.answers import Answer, AskedModel, Message, Question, Token
from brido.endpoint.client import Client, DryRun
from brido.endpoint.ledger import Ledger, Respondent
from brido.endpoint.plan import Plan

__all__ = [
    "Answer",
    "AskedModel",
    "Client",
    "DryRun",
    "Ledger",
    "Message",
    "Plan",
    "Question",
    "Respondent",
    "Token",
]
