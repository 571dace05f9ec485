"""`runtime.ray`: what a worker takes of a Ray cluster."""

from typing import Annotated

from pydantic import Field

from brido.section import NonNegative, Section


class RayRuntime(Section):
    """`runtime.ray`: the share of the cluster that one worker is given, and how files reach it.

    num_cpus, num_gpus, memory_gib: as Ray counts them; None GPUs are one for a worker with a model
        where the cluster has any, None memory is not reserved.
    shared_files: every node sees the driver's folder under the same path. False: what a worker
        reads travels to its node through Ray's object store.
    """

    num_cpus: Annotated[float, Field(gt=0)] = 1.0
    num_gpus: NonNegative | None = None
    memory_gib: Annotated[float, Field(gt=0)] | None = None
    shared_files: bool = True
