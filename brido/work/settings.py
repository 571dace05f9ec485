"""Section runtime: speed and limits, in no stage's params and in no fingerprint."""

from typing import Annotated, Literal

from pydantic import Field

from brido.endpoint.settings import EndpointRuntime
from brido.settings.base import NonNegative, Number, Positive, Section


class RayRuntime(Section):
    """`runtime.ray`: the share of the cluster that one worker is given.

    num_cpus, num_gpus, memory_gib: as Ray counts them; None GPUs are one for a worker with a model
        where the cluster has any, None memory is not reserved.
    """

    num_cpus: Annotated[float, Field(gt=0)] = 1.0
    num_gpus: NonNegative | None = None
    memory_gib: Annotated[float, Field(gt=0)] | None = None


# Threads or processes: more than any machine has use for, fewer than it breaks at.
_MOST = 1024


class RuntimeSettings(Section):
    """`runtime`: speed and limits; in no stage's params and in no fingerprint."""

    device: Annotated[str, Field(pattern=r"^[a-z]+(:[0-9]+)?$")] = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    threads: Annotated[int, Field(ge=0, le=_MOST)] = 1
    engine: Literal["here", "ray"] = "here"
    workers: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    batch_tokens: Positive = 16384
    shard_documents: Positive = 200
    checkpoint_minutes: Number = 10.0
    candidate_micro_batch: Positive | None = None
    gradient_checkpointing: bool = False
    fsdp: bool = False
    log_seconds: Number = 10.0
    trackers: list[Literal["tensorboard", "wandb", "mlflow", "dvclive"]] = Field(
        default_factory=list
    )
    endpoint: EndpointRuntime = EndpointRuntime()
    endpoints: dict[str, EndpointRuntime] = Field(default_factory=dict)
    ray: RayRuntime = RayRuntime()

    def endpoint_of(self, name: str) -> EndpointRuntime:
        """The server `name`: its keys over those of `endpoint`, which is `default` itself."""
        own = self.endpoints.get(name, EndpointRuntime())
        return self.endpoint.model_copy(update=own.model_dump(exclude_unset=True))
