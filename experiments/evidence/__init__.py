"""What the vote does on a real pretrained model: the chains, their tables, their picture."""
