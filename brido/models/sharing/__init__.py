"""Attention over shared sources and prompts: read once for all candidates of a document."""
