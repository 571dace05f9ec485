"""What asking costs: estimates, a limit, and a report of what was spent."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brido.endpoint.answers import NO_ANSWER, Answer
from brido.endpoint.settings import EndpointRuntime

# Of English text, until the model has answered once.
_TOKENS_PER_CHARACTER = 1 / 4
EMPTY_RESPONSE = "response without an answer"
MALFORMED = "malformed response"


@dataclass
class Report:
    """What a run did: answers and their tokens, requests, trouble of requests by kind.

    `refused`: answers that are refusals or a filter's. `given_up`: questions without an answer, by
    the last words on them, with the server's error codes. `server`: the section that messages name.
    `replay`: nothing is asked, the store has all answers.
    """

    server: str
    replay: bool = False
    answers: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    calls: int = 0
    refused: int = 0
    trouble: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)

    def attempted(self, kind: str) -> None:
        """Count an attempt; kind: its trouble, or ""."""
        self.calls += 1
        if kind:
            self.trouble[kind] += 1

    def count(self, answer: Answer) -> None:
        """Count an answer and its tokens; a response without one was paid for all the same."""
        if answer.finish_reason == NO_ANSWER:
            self.trouble[EMPTY_RESPONSE] += 1
        else:
            self.answers += 1
            self.refused += answer.refused
        self.prompt_tokens += answer.prompt_tokens
        self.answer_tokens += answer.answer_tokens

    def way_out(self, section: str, parameters: Mapping[str, Any]) -> str:
        """What helps against the trouble that there was; `parameters` are those of the request."""
        if self.replay:
            return f"A replay asks for nothing: run again without it ({self.server}.replay)"
        if self.trouble[MALFORMED] and not self.answers:
            return (
                "What came back is not OpenAI's JSON, but a web page, an error in words or an empty"
                f" body: check {self.server}.base_url (it usually ends in /v1), and a proxy"
            )
        if self.given_up[EMPTY_RESPONSE] and not self.answers:
            return (
                "It counts tokens and sends no text: see the server's own log, or name another "
                f"model ({section}.model)"
            )
        said = " ".join(self.given_up)
        if "HTTP 4" not in said:
            return (
                "Answers so far are kept: run again to ask for the rest, of a slow server with a "
                f"smaller {self.server}.max_concurrency"
            )
        advice = (
            f"{self.server}.show_content: true shows what the server says. It may refuse a text "
            f"that is too long for it, or a parameter of {section} (null leaves one out; of a "
            "judge structured_output: never leaves out response_format)"
        )
        if "max_tokens" in parameters and "max_tokens" in said:
            advice += (
                f". A model that refuses max_tokens takes {section}.max_answer_tokens: null and "
                f"{section}.extra_parameters: {{max_completion_tokens: {parameters['max_tokens']}}}"
            )
        return advice

    def __str__(self) -> str:
        text = f"{self.answers:,} answers from {self.calls:,} calls"
        if self.refused:
            text += f", {self.refused:,} of them refused"
        if self.given_up:
            text += f", {self.given_up.total():,} questions given up"
        if self.trouble:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.trouble.most_common())
            text += f" (trouble: {kinds})"
        return text


class Budget:
    """Tokens that were paid for, against `max_cost` and `max_tokens`.

    Prompt tokens are estimated from characters at the rate that the model's earlier answers showed.
    """

    def __init__(
        self, runtime: EndpointRuntime, answer_limit: int, paid: tuple[int, int, int]
    ) -> None:
        """Start from `paid`: characters, prompt tokens and answer tokens in the store.

        `answer_limit`: tokens of the longest answer.
        """
        self._runtime, self._answer_limit = runtime, answer_limit
        self._characters, self.prompt_tokens, self.answer_tokens = paid
        self.limited = runtime.max_cost is not None or runtime.max_tokens is not None
        self.priced = runtime.input_price is not None and runtime.output_price is not None

    def count(self, characters: int, answer: Answer) -> None:
        """Count a call that was paid for; `characters` is the length of its prompt."""
        self.prompt_tokens += answer.prompt_tokens
        self.answer_tokens += answer.answer_tokens
        self._characters += characters if answer.prompt_tokens else 0

    def prompt_estimate(self, characters: int) -> int:
        """About how many tokens a prompt of `characters` characters has."""
        rate = self.prompt_tokens / self._characters if self._characters else _TOKENS_PER_CHARACTER
        return round(characters * rate) + 1

    def reached(self, characters: int) -> str:
        """The limit that one more call might go over, with its key; "" if there is none.

        `characters`: the length of its prompt. Calls in flight are not counted.
        """
        prompt = self.prompt_tokens + self.prompt_estimate(characters)
        answer = self.answer_tokens + self._answer_limit
        maximum, limit = self._runtime.max_tokens, self._runtime.max_cost
        if maximum is not None and prompt + answer > maximum:
            return f"max_tokens ({maximum:,})"
        if limit is not None and self.cost(prompt, answer) > limit:
            return f"max_cost ({limit:g})"
        return ""

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
