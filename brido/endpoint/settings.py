"""Section runtime.endpoint: which server is asked, how fast, and for how much money."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, HttpUrl, PrivateAttr, TypeAdapter

from brido.utils.errors import first_line, quoted
from brido.utils.sections import Name, NonNegative, Number, Positive, Section

# Request fields that have a key of their own, or would change what an answer is.
RESERVED = ("model", "messages", "n", "stream", "logprobs", "top_logprobs", "seed", "temperature",
            "top_p", "max_tokens")  # fmt: skip


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


# Further fields of a request: values that JSON has.
ExtraParameters = Annotated[dict[str, Any], AfterValidator(_sendable)]


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

    def called(self, section: str) -> Self:
        """The same server, whose errors name another section."""
        copy = self.model_copy()
        copy._section = section
        return copy


# Only for the budget, where no limit of the answer's length is sent.
_UNLIMITED_ANSWER = 4096


def answer_limit(max_answer_tokens: int | None, extra: Mapping[str, Any]) -> int:
    """The longest answer in tokens, for the budget: what the request says, or 4,096."""
    sent = [max_answer_tokens, extra.get("max_completion_tokens")]
    limits = [value for value in sent if type(value) is int and value > 0]
    return min(limits, default=_UNLIMITED_ANSWER)


def reserved_problems(
    section: str, extra: Mapping[str, Any], reserved: Iterable[str] = RESERVED
) -> list[str]:
    """The problems of `section`.extra_parameters: fields that have a key of their own."""
    taken = sorted(set(reserved) & set(extra))
    names = ", ".join(taken)
    return [f"{section}extra_parameters: {names} cannot be set here"] if taken else []


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
    name = _key_variable(runtime)
    if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # The value may be the key itself, so it is not shown.
        problems.append(
            f"{runtime.section}.api_key_env: write the name of an environment variable. Never "
            "write the key itself into params.yaml"
        )
    elif (
        name is not None
        and not (runtime.dry_run or runtime.replay)
        and not re.fullmatch(r"[!-~]+", os.environ.get(name, ""))
    ):
        other = f"; for another server than OpenAI set {runtime.section}.base_url"
        problems.append(
            f"the environment variable {name}, which holds the server's key, is not set, or "
            "contains a line break, a space or a character outside ASCII"
            f"{other if runtime.base_url is None else ''}"
        )
    return problems


def api_key(runtime: EndpointRuntime) -> str | None:
    """Return the key from the environment; None for a server that needs no key."""
    name = _key_variable(runtime)
    return None if name is None else os.environ.get(name)


def _key_variable(runtime: EndpointRuntime) -> str | None:
    """OPENAI_API_KEY goes to OpenAI alone: another server gets a key only if one is named."""
    if runtime.api_key_env is not None:
        return runtime.api_key_env
    return "OPENAI_API_KEY" if runtime.base_url is None else None
