"""Section runtime: speed and limits, in no stage's params and in no fingerprint."""

from typing import Annotated, Literal

from pydantic import Field

from brido.section import Count, NonNegative, Positive, Section


class JudgeRuntime(Section):
    """`runtime.judge`: where and how fast a judge is asked, and for how much money."""

    base_url: Annotated[str, Field(pattern="^https?://")] | None = None
    api_key_env: str | None = None
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
    judge: JudgeRuntime = JudgeRuntime()
