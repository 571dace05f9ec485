"""What is done and what is left: resumable units of work, and who does them."""

from brido.work.running import run
from brido.work.shards import Shards
from brido.work.workers import Workers

__all__ = ["Shards", "Workers", "run"]
