"""The one place that loads what strangers made: weights and words, never code.

A checkpoint may bring Python files and ask for them to be run; transformers then asks on the
terminal, where `yes |` may answer too. Here the answer is always no.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brido.utils.errors import BridoError


def pretrained(kind: Any, source: Any, **how: Any) -> Any:
    """`kind.from_pretrained(source, **how)` without running any code of the checkpoint.

    kind: a class of transformers, such as AutoTokenizer or AutoModelForSeq2SeqLM.

    Raises:
        BridoError: the checkpoint cannot be loaded without code of its own.
        Exception: what transformers raises for a checkpoint that is damaged.
    """
    if kind.__name__.startswith("Auto"):
        how["trust_remote_code"] = False
    try:
        with _silent():
            return kind.from_pretrained(source, **how)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise BridoError(
            f"{source} needs Python code of its own, and brido never runs such code: choose a "
            "model that transformers knows without it"
        ) from None


@contextmanager
def _silent() -> Iterator[None]:
    """transformers tells of a damaged checkpoint in dozens of lines; we do in one sentence."""
    logger = logging.getLogger("transformers")
    former = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(former)
