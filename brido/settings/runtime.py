"""Section runtime: speed and limits, in no stage's params and in no fingerprint."""

from typing import Annotated, Literal

from pydantic import Field

from brido.endpoint.settings import EndpointRuntime
from brido.section import Count, Positive, Section


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
