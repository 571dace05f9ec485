"""Contrastive training: the losses, the batches, the loop."""
