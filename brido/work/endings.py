"""How a worker may end before its work does: the parts of the sentences that say so."""

KEPT = "finished shards are kept, run again to go on"
# What helps where memory is short, with either engine.
FOR_MEMORY = (
    "with fewer workers (on a cluster: more runtime.ray.memory_gib for each) or smaller batches if "
    "memory is short"
)
