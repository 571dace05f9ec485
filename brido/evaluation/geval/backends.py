"""How a judge is asked: one class for each value of `evaluation.geval.backend`.

To add a way, subclass `Backend` and put it into `BACKENDS` under its name; nothing else changes.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from brido.endpoint import Ledger, Question
from brido.endpoint.asking import Server
from brido.endpoint.call import NoLogProbabilities
from brido.endpoint.key import key_problems
from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval.probabilities import may_be_a_mark
from brido.utils.errors import BridoError

if TYPE_CHECKING:
    from brido.evaluation.geval.settings import GEvalSettings

SECTION = "evaluation.geval"


class Backend(ABC):
    """One way to ask a judge: a `brido.endpoint.Respondent`. It loads nothing before `ask`."""

    takes_schema = False  # whether answers can be bound to a JSON schema

    def __init__(self, settings: "GEvalSettings", runtime: EndpointRuntime, device: str) -> None:
        self.settings, self.runtime, self.device = settings, runtime, device

    def problems(self) -> list[str]:
        """What keeps this way from working, every key by its name."""
        return []

    def parameters(self, chosen: dict[str, Any]) -> dict[str, Any]:
        """The parameters that decide an answer: by default those that the settings name."""
        return chosen

    @abstractmethod
    def ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        """Put an answer into `ledger` for every sample of every question that can have one."""


class OpenAI(Backend):
    """Any OpenAI-compatible server."""

    takes_schema = True

    def problems(self) -> list[str]:
        return key_problems(self.runtime)

    def ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        try:
            Server(self.runtime, SECTION, may_be_a_mark).ask(questions, ledger)
        except NoLogProbabilities:
            raise BridoError(
                f"{SECTION}.score_mode: probability needs log-probabilities, and the server sent "
                "none: use a server and model that return `top_logprobs` (vLLM, llama.cpp, some "
                "hosted models), or set score_mode to mean or greedy"
            ) from None


class Transformers(Backend):
    """An instruct model in this process."""

    def problems(self) -> list[str]:
        problems = []
        if self.settings.max_answer_tokens is None:
            problems.append(f"{SECTION}.max_answer_tokens: a local model needs a limit")
        if self.settings.structured_output == "always":
            problems.append(
                f"{SECTION}.structured_output: always needs a server; a local model is read "
                "tolerantly (auto or never)"
            )
        if self.settings.extra_parameters:
            problems.append(f"{SECTION}.extra_parameters: a local model takes none")
        return problems

    def parameters(self, chosen: dict[str, Any]) -> dict[str, Any]:
        # Nobody else fills in what is not named.
        mean = self.settings.score_mode == "mean"
        return {"seed": 0, "temperature": float(mean), **chosen}

    def ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        from brido.evaluation.geval.local import LocalModel

        name, revision = self.settings.model, self.settings.revision
        model = LocalModel(str(name), revision, self.device, self.runtime.batch_size)
        model.ask(questions, ledger)


BACKENDS: dict[str, type[Backend]] = {"openai": OpenAI, "transformers": Transformers}
