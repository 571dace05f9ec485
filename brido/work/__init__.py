"""Resumable units of work, and the workers that do them."""

from brido.work.running import run
from brido.work.shards import Shards
from brido.work.worker import Workers

__all__ = ["Shards", "Workers", "run"]
