"""Contrastive training: the losses, the batches, the loop."""

from brido.utils.extras import extra

with extra("torch"):
    import torch  # noqa: F401 - before the modules of this room ask for it
