"""The Hugging Face hub's failures, each as one sentence that says what to do.

The login of the machine (`hf auth login`, or HF_TOKEN) decides what may be read: params.yaml never
contains a token.
"""

import contextlib
from collections.abc import Iterator
from typing import Literal

from brido.utils.errors import BridoError, causes, first_line, is_disk_full


@contextlib.contextmanager
def hub_errors(
    kind: Literal["model", "dataset"], name: str, revision: str | None, key: str
) -> Iterator[None]:
    """Turn what goes wrong with a hub repository into a BridoError that names `key` of params.yaml.

    Covered, with the hub's own first line: a repository that is missing, private or gated, a
    revision that does not exist, no network and nothing in the cache, a server error, a full disk.
    """
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        from huggingface_hub import constants, errors

        chain = list(causes(error))
        known = errors.HTTPError, errors.LocalEntryNotFoundError, ConnectionError, TimeoutError
        what = f"the {'data set' if kind == 'dataset' else 'model'} {name}"
        what += f" ({revision})" * bool(revision)
        if is_disk_full(error):
            way_out = f"the disk is full: free some, or move the cache with HF_HOME ({what})"
        elif any(isinstance(one, errors.HFValidationError) for one in chain):
            way_out = f"'{name}' is not a hub id (owner/name), nor a folder that exists"
        elif any(isinstance(one, known) for one in chain):
            way_out = (
                f"{what} cannot be fetched from {constants.ENDPOINT} ({first_line(error)}). Check "
                "the spelling, the network and HF_HUB_OFFLINE. For a private or gated one accept "
                f"its terms there and log in with `hf auth login`. The cache is {constants.HF_HOME}"
            )
        else:
            raise
        raise BridoError(f"{key}: {way_out}") from error
