"""Section runtime.endpoint: which server is asked, how fast, for how much money; and a request."""

import json
import os
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, HttpUrl, PrivateAttr, TypeAdapter

from brido.utils.errors import first_line, quoted
from brido.utils.sections import Count, Name, NonNegative, Number, Positive, Section


def _sendable(parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(parameters, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"cannot be sent as JSON ({first_line(error)})") from None
    return parameters


def _address(url: str) -> str:
    """The URL as it was written, if it is one: pydantic's own type would rewrite it."""
    try:
        port = TypeAdapter(HttpUrl).validate_python(url).port
    except ValueError:
        port = None
    # A query would end up in front of the path of a call.
    if port and re.fullmatch(r"https?://[^\s/{}?#@]+(/[^\s?#]*)?", url):
        return url
    if "@" in url:  # the message must not show a password
        raise ValueError(
            "a user and a password do not belong into the address: name the environment variable "
            "with the key in api_key_env"
        )
    raise ValueError(
        f"{quoted(url)} is not an address: write http://HOST:PORT/v1, without a query (Azure: "
        "https://NAME.openai.azure.com/openai/v1)"
    )


class RequestSettings(Section):
    """What a model of a server is asked with beside the texts: all that decides an answer.

    reserved: request fields that have a key of their own, or would change what an answer is.
    """

    reserved: ClassVar[frozenset[str]] = frozenset(
        ("model", "messages", "n", "stream", "logprobs", "top_logprobs", "seed", "temperature",
         "top_p", "max_tokens")
    )  # fmt: skip

    model: Name | None = Field(None, description="The model's name at the server; needed.")
    revision: Name | None = Field(
        None, description="Any label: change it when a name gets a new model."
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        1.0,
        description="Higher: more varied samples; null: not sent, because some models refuse it.",
    )
    top_p: Annotated[float, Field(gt=0, le=1)] | None = Field(
        1.0,
        description="Draw from the fewest tokens whose probabilities add up to this; null: "
        "not sent.",
    )
    max_answer_tokens: Positive | None = Field(
        256, description="An answer that is cut there has not ended; null: not sent."
    )
    seed: Count | None = Field(0, description="Sent as seed + sample number; null: not sent.")
    extra_parameters: Annotated[dict[str, Any], AfterValidator(_sendable)] = Field(
        default_factory=dict,
        description="Further request fields, for instance {reasoning_effort: low}.",
    )

    def problems(self) -> Iterator[str]:
        """Fields that have a key of their own."""
        yield from super().problems()
        if taken := sorted(self.reserved & set(self.extra_parameters)):
            yield f"extra_parameters: {', '.join(taken)} cannot be set here"

    def same_answers(self, count: int, key: str) -> Iterator[str]:
        """A sentence where all of `count` answers, as `key` asks for, would be the same one."""
        if count > 1 and self.temperature == 0:
            yield (
                "temperature: at 0 every sample is the same answer, paid for "
                f"{count} times: raise it, or set {key} to 1"
            )

    @property
    def sent(self) -> dict[str, Any]:
        """The fields of a request beside the model and its messages."""
        fields = {
            "temperature": None if self.temperature is None else float(self.temperature),
            "top_p": None if self.top_p is None else float(self.top_p),
            "max_tokens": self.max_answer_tokens,
            "seed": self.seed,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        return self.extra_parameters | given


class EndpointRuntime(Section):
    """`runtime.endpoint`: which server is asked, how fast, and for how much money."""

    base_url: Annotated[str, AfterValidator(_address)] | None = Field(
        None, description="The server's address, as http://localhost:8000/v1; null: OpenAI."
    )
    api_key_env: Name | None = Field(
        None,
        description="Environment variable with the server's key; null: OPENAI_API_KEY for "
        "OpenAI, else none.",
    )
    store: Name = Field(
        ".brido/judge/answers.sqlite",
        description="File with every answer that was paid for; none is asked for again.",
    )
    max_concurrency: Annotated[int, Field(ge=1, le=1024)] = Field(
        32, description="Calls in flight, at most."
    )
    timeout_seconds: Number = Field(120.0, description="Seconds that one attempt may take.")
    max_attempts: Annotated[int, Field(ge=1, le=1000)] = Field(
        8,
        description="Attempts before an answer counts as missing (429 and 503: patience_seconds).",
    )
    patience_seconds: Number = Field(
        300.0, description="Seconds without any answer before the run stops; answers are kept."
    )
    max_cost: NonNegative | None = Field(
        None,
        description="Budget: no call starts that might go over it. All of this model's stored "
        "answers count.",
    )
    max_tokens: Positive | None = Field(
        None, description="The same in tokens, prompts and answers together."
    )
    input_price: NonNegative | None = Field(
        None, description="Price of a million prompt tokens, in the currency of max_cost."
    )
    output_price: NonNegative | None = Field(None, description="Price of a million answer tokens.")
    dry_run: bool = Field(
        False,
        description="true: print how many calls and tokens and what cost there would be; ask "
        "nothing.",
    )
    replay: bool = Field(False, description="true: answers from the store only, no network.")
    show_content: bool = Field(
        False, description="true: errors may quote the server, which may quote documents."
    )
    # Where these keys stand, for messages.
    _section: str = PrivateAttr("runtime.endpoint")

    @property
    def section(self) -> str:
        """The section of params.yaml that errors name."""
        return self._section

    @property
    def key_variable(self) -> str | None:
        """The variable with the server's key; OPENAI_API_KEY goes to OpenAI alone."""
        return self.api_key_env or (None if self.base_url else "OPENAI_API_KEY")

    def called(self, section: str) -> Self:
        """The same server, whose errors name another section."""
        copy = self.model_copy()
        copy._section = section
        return copy


def runtime_problems(runtime: EndpointRuntime) -> list[str]:
    """The contradictions in `runtime.endpoint`, one sentence each."""
    problems = []
    priced = runtime.input_price is not None and runtime.output_price is not None
    if runtime.max_cost is not None and not priced:
        problems.append(
            f"{runtime.section}.max_cost: needs input_price and output_price of this server as "
            "well (0: nothing is paid)"
        )
    if runtime.dry_run and runtime.replay:
        problems.append(f"{runtime.section}: set dry_run or replay, not both")
    name = runtime.key_variable
    if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # The value may be the key itself, so it is not shown.
        problems.append(
            f"{runtime.section}.api_key_env: write the name of an environment variable. Never "
            "write the key itself into params.yaml"
        )
    elif (
        name
        and not (runtime.dry_run or runtime.replay)
        and not re.fullmatch(r"[!#-&(-[\]-~]+", os.environ.get(name, ""))
    ):
        other = f"; for another server than OpenAI set {runtime.section}.base_url"
        problems.append(
            f"the environment variable {name}, which holds the server's key, is not set, or "
            "contains a line break, a space, a quote, a backslash or a character outside ASCII"
            f"{other if runtime.base_url is None else ''}"
        )
    return problems
