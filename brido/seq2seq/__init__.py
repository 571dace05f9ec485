"""Encoder-decoder models: families, shared cross-attention, search, candidate likelihood."""
