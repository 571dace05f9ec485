"""What is done and what is left: resumable units of work, and who does them."""

from brido.work.running import Workers, run
from brido.work.shards import Shards

__all__ = ["Shards", "Workers", "run"]
