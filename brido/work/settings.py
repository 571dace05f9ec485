"""Section runtime: speed and limits, in no stage's params and in no fingerprint."""

from typing import Annotated, Literal

from pydantic import Field

from brido.endpoint.settings import EndpointRuntime
from brido.utils.sections import NonNegative, Number, Positive, Section


class RayRuntime(Section):
    """`runtime.ray`: the share of the cluster that one worker is given, as Ray counts it."""

    num_cpus: Annotated[float, Field(gt=0)] = Field(
        1.0, description="Processors of a worker, as Ray counts them."
    )
    num_gpus: NonNegative | None = Field(
        None, description="GPUs of a worker; null: one if it has a model and the cluster has any."
    )
    memory_gib: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Memory of a worker; null: not reserved."
    )


# Documents of a shard, and full batches of it, at most, where runtime.shard_documents is null.
_SHARD_DOCUMENTS, _SHARD_BATCHES = 25, 2
# Threads or processes: more than any machine has use for, fewer than it breaks at.
_MOST = 1024


class RuntimeSettings(Section):
    """`runtime`: speed and limits; in no stage's params and in no fingerprint."""

    device: Annotated[str, Field(pattern=r"^[a-z]+(:[0-9]+)?$")] = Field(
        "auto",
        description="auto | cpu | cuda | cuda:1. Apple's GPUs are not used: they have no float64.",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="auto (bfloat16 if the GPU has it) | float32 | bfloat16."
    )
    threads: Annotated[int, Field(ge=0, le=_MOST)] = Field(
        1,
        description="Threads of PyTorch; workers without a model; 0: all cores, too many for small "
        "models.",
    )
    engine: Literal["here", "ray"] = Field(
        "here", description="here | ray (workers on a Ray cluster: docs/scale.md)."
    )
    workers: Annotated[int, Field(ge=1, le=_MOST)] | None = Field(
        None, description="Processes of a stage with a model; null: one a GPU, else one."
    )
    batch_tokens: Positive = Field(
        16384,
        description="Size of a batch: source tokens times beams. For a decoder-only model prompt "
        "tokens plus beams times max_length.",
    )
    shard_documents: Positive | None = Field(
        None, description="Documents of a shard (a kill repeats one); null: 25, or fewer long ones."
    )
    checkpoint_minutes: Number = Field(
        10.0, description="Minutes between two states of a training run on disk, at most."
    )
    candidate_micro_batch: Positive | None = Field(
        None, description="Candidates of a document in memory at once; null: all."
    )
    gradient_checkpointing: bool = Field(
        False, description="true: less memory for one more forward pass."
    )
    fsdp: bool = Field(
        False, description="true: on several processes each holds a part of the weights."
    )
    log_seconds: Number = Field(
        10.0, description="Seconds between progress lines if there is no terminal."
    )
    trackers: list[Literal["tensorboard", "wandb", "mlflow", "dvclive"]] = Field(
        default_factory=list,
        description="Who gets the curves of stage train: tensorboard, wandb, mlflow, dvclive.",
    )
    endpoint: EndpointRuntime = Field(
        EndpointRuntime(),
        description="The server that the judge asks, and sources with method endpoint.",
    )
    endpoints: dict[str, EndpointRuntime] = Field(
        default_factory=dict,
        description="Further servers by name: their keys over those of runtime.endpoint; one with "
        "its own base_url needs its own api_key_env and prices.",
    )
    ray: RayRuntime = Field(RayRuntime(), description="Engine ray: what each worker is given.")

    @property
    def documents_of_shard(self) -> int:
        """Documents of a shard, at most."""
        return self.shard_documents or _SHARD_DOCUMENTS

    @property
    def tokens_of_shard(self) -> int | None:
        """Tokens that are read and written of a shard, at most; None: its documents are given."""
        return None if self.shard_documents else _SHARD_BATCHES * self.batch_tokens

    def endpoint_of(self, name: str) -> EndpointRuntime:
        """The server `name`: its keys over those of `endpoint`, which is `default` itself.

        A server with an address of its own has neither the secret nor the prices of another one.
        """
        if name not in self.endpoints:
            return self.endpoint
        own = self.endpoints[name].model_dump(exclude_unset=True)
        if "base_url" in own:
            own = {"api_key_env": None, "input_price": None, "output_price": None} | own
        return self.endpoint.model_copy(update=own).called(f"runtime.endpoints.{name}")
