"""`python -m brido.init own`: a params.yaml for documents of one's own, sized by them."""

from brido.init.command import main

__all__ = ["main"]
