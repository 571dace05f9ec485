"""Section runtime: speed and limits, in no stage's params and in no fingerprint."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from brido.section import Count, NonNegative, Positive, Section


class EndpointRuntime(Section):
    """`runtime.endpoint`: where and how fast a server is asked, and for how much money."""

    base_url: Annotated[str, Field(pattern="^https?://")] | None = None
    api_key_env: str | None = None
    # The place of version 0.1, which only judges were asked from: what was paid for is found.
    store: str = ".brido/judge/answers.sqlite"
    max_concurrency: Annotated[int, Field(ge=1, le=1024)] = 32
    samples_per_call: Annotated[int, Field(ge=1, le=128)] = 1
    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    max_attempts: Positive = 8
    patience_seconds: Annotated[float, Field(gt=0)] = 300.0
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


class RuntimeSettings(Section):
    """`runtime`: speed and limits; in no stage's params and in no fingerprint."""

    device: str = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    threads: Count = 1
    workers: Positive | None = None
    batch_tokens: Positive = 16384
    shard_documents: Positive = 200
    checkpoint_minutes: Annotated[float, Field(gt=0)] = 10.0
    candidate_micro_batch: Positive | None = None
    gradient_checkpointing: bool = False
    log_seconds: Annotated[float, Field(gt=0)] = 10.0
    endpoint: EndpointRuntime = EndpointRuntime()

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, values: Any) -> Any:
        if isinstance(values, dict) and "judge" in values:
            raise ValueError("judge is now called endpoint: rename the key, its own keys stay")
        return values
