"""What asking costs: estimates, a limit that is kept, and a report of what was spent."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from brido.endpoint.answers import NO_ANSWER, Answer
from brido.endpoint.settings import EndpointRuntime
from brido.utils.errors import BridoError

# Until the model has answered once, English text is taken as four characters a token.
CHARACTERS_PER_TOKEN = 4.0
# Kinds of trouble: the end of the name of one, and a whole name.
TOO_LONG = "(too long)"
EMPTY_RESPONSE = "response without an answer"
MALFORMED = "malformed response"
UNNAMED_ERROR = "error in place of an answer"


class BudgetReached(BridoError):
    """A call that might go over a limit of `runtime.endpoint`."""


@dataclass
class Report:
    """What a run did: answers and their tokens, requests, questions given up, trouble by kind.

    `said`: the server's error codes of the trouble. `server`: the section that messages name.
    `replay`: nothing is asked, the store has all answers.
    """

    server: str
    replay: bool = False
    answers: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    calls: int = 0
    given_up: int = 0
    trouble: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)

    def count(self, answer: Answer) -> None:
        """Count an answer and its tokens; a response without one was paid for all the same."""
        if answer.finish_reason == NO_ANSWER:
            self.failed(EMPTY_RESPONSE, EMPTY_RESPONSE)
            self.given_up += 1
        else:
            self.answers += 1
        self.prompt_tokens += answer.prompt_tokens
        self.answer_tokens += answer.answer_tokens

    def failed(self, kind: str, said: str) -> None:
        """Count an attempt that brought no answer."""
        self.trouble[kind] += 1
        self.said[said] += 1

    def way_out(self, section: str, parameters: Mapping[str, Any]) -> str:
        """What helps against the trouble that there was; `parameters` are those of the request."""
        if self.replay:
            return f"A replay asks for nothing: run again without it ({self.server}.replay)"
        if any(kind.endswith(TOO_LONG) for kind in self.trouble):
            return (
                "Some prompts are too long for the server's context, and asking again does not "
                "help: serve the model with a longer one (vLLM: --max-model-len, llama.cpp: -c, "
                f"Ollama: OLLAMA_CONTEXT_LENGTH), or lower {section}.max_answer_tokens"
            )
        if self.trouble[MALFORMED] and not self.answers:
            return (
                "What came back is not OpenAI's JSON, but a web page, an empty body or a stream: "
                f"check {self.server}.base_url (it usually ends in /v1), and a proxy before it"
            )
        if self.trouble[UNNAMED_ERROR] and not self.answers:
            return (
                f"{self.server}.show_content: true shows what the server says. Check "
                f"{self.server}.base_url as well: without its /v1 LM Studio sends an error that "
                "is called a success"
            )
        lasting = [kind for kind in self.trouble if re.match(r"HTTP [45]\d\d", kind)]
        if not lasting or self.answers:
            return "Answers so far are kept: run again to ask for the rest"
        structured = (
            f" Without JSON schemas: {section}.structured_output: never (or json_object)."
            if "response_format" in parameters
            else ""
        )
        return (
            f"The server may not accept a parameter of {section}: null leaves one out.{structured} "
            f"{self.server}.show_content: true shows what the server says"
        )

    def __str__(self) -> str:
        text = f"{self.answers:,} answers from {self.calls:,} calls"
        if self.given_up:
            text += f", {self.given_up:,} questions given up"
        if self.trouble:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.trouble.most_common())
            text += f" (trouble: {kinds})"
        return text


class Budget:
    """Tokens that were paid for and those of calls in flight, against `max_cost` and `max_tokens`.

    A call is let through only if everything paid, everything in flight and the call itself, each
    answer at its longest, stay within the limits. Prompt tokens are estimated from characters at
    the rate that the model's earlier answers showed.
    """

    def __init__(
        self, runtime: EndpointRuntime, section: str, answer_limit: int, paid: tuple[int, int, int]
    ) -> None:
        """Start from `paid`: characters, prompt tokens and answer tokens in the store.

        `answer_limit`: tokens of the longest answer. `section`: what errors name.
        """
        self._runtime, self._section, self._answer_limit = runtime, section, answer_limit
        self._characters, self.prompt_tokens, self.answer_tokens = paid
        self._counted_tokens = self.prompt_tokens
        self._prompt_in_flight = self._answer_in_flight = 0

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._runtime.max_cost is not None or self._runtime.max_tokens is not None

    @property
    def priced(self) -> bool:
        """Whether prices are known."""
        return self._runtime.input_price is not None and self._runtime.output_price is not None

    def count(self, characters: int, prompt_tokens: int, answer_tokens: int) -> None:
        """Count a call that was paid for; `characters` is the length of its prompt."""
        self.prompt_tokens += prompt_tokens
        self.answer_tokens += answer_tokens
        if prompt_tokens:
            self._characters += characters
            self._counted_tokens += prompt_tokens

    def prompt_estimate(self, characters: int) -> int:
        """About how many tokens a prompt of `characters` characters has."""
        rate = 1 / CHARACTERS_PER_TOKEN
        if self._characters:
            rate = self._counted_tokens / self._characters
        return round(characters * rate) + 1

    @contextmanager
    def reserve(self, characters: int, answers: int) -> Iterator[None]:
        """Set tokens aside within the block for a call for `answers`, which is counted there.

        Raises:
            BridoError: the call might go over a limit.
        """
        prompt, answer = self.prompt_estimate(characters), self._answer_limit * answers
        self._prompt_in_flight += prompt
        self._answer_in_flight += answer
        try:
            self._check()
            yield
        finally:
            self._prompt_in_flight -= prompt
            self._answer_in_flight -= answer

    def _check(self) -> None:
        prompt = self.prompt_tokens + self._prompt_in_flight
        answer = self.answer_tokens + self._answer_in_flight
        maximum, limit = self._runtime.max_tokens, self._runtime.max_cost
        reached = None
        if maximum is not None and prompt + answer > maximum:
            reached = f"max_tokens ({maximum:,})"
        elif limit is not None and self.cost(prompt, answer) > limit:
            reached = f"max_cost ({limit:g})"
        if reached:
            raise BudgetReached(
                f"{self._section}: {self._runtime.section}.{reached} is reached: {self}"
            )

    def cost(self, prompt_tokens: int, answer_tokens: int) -> float:
        """The price of so many tokens, 0.0 where no prices are given."""
        prompt_price = self._runtime.input_price or 0.0
        answer_price = self._runtime.output_price or 0.0
        return (prompt_tokens * prompt_price + answer_tokens * answer_price) / 1e6

    def described(self, prompt_tokens: int, answer_tokens: int) -> str:
        """So many tokens in words, with their price where it is known."""
        text = f"{prompt_tokens:,} prompt and {answer_tokens:,} answer tokens"
        if self.priced:
            text += f", cost {self.cost(prompt_tokens, answer_tokens):.4f}"
        return text

    def __str__(self) -> str:
        return self.described(self.prompt_tokens, self.answer_tokens)
