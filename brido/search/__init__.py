"""Token by token over logits: beam search, diverse beam search, greedy search, sampling."""
