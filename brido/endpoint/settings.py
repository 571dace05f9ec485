"""Section runtime.endpoint: where, how fast and for how much a server is asked."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from brido.settings.base import Name, NonNegative, Number, Positive, Section


class EndpointRuntime(Section):
    """`runtime.endpoint`: where and how fast a server is asked, and for how much money."""

    base_url: Annotated[Name, Field(pattern="^https?://")] | None = None
    api_key_env: Name | None = None
    # The place of version 0.1, which only judges were asked from: what was paid for is found.
    store: Name = ".brido/judge/answers.sqlite"
    max_concurrency: Annotated[int, Field(ge=1, le=1024)] = 32
    samples_per_call: Annotated[int, Field(ge=1, le=128)] = 1
    timeout_seconds: Number = 120.0
    max_attempts: Positive = 8
    patience_seconds: Number = 300.0
    max_cost: NonNegative | None = None
    max_tokens: Positive | None = None
    input_price: NonNegative | None = None
    output_price: NonNegative | None = None
    dry_run: bool = False
    replay: bool = False
    show_content: bool = False
    batch_size: Positive = 8

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        try:
            if url is not None and urlsplit(url).port == 0:
                raise ValueError
        except ValueError:
            raise ValueError(f"{url} names no port between 1 and 65535") from None
        return url
