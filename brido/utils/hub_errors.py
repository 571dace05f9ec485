"""The Hugging Face hub's failures, each as one sentence that says what to do.

The login of the machine (`hf auth login`, or HF_TOKEN) decides what may be read: params.yaml never
contains a token.
"""

import contextlib
from collections.abc import Iterator
from typing import Literal

from brido.utils.errors import BridoError, causes, is_disk_full, quoted

Kind = Literal["model", "dataset"]

_LOGIN = "log in with `hf auth login` (or set HF_TOKEN) as a user who may read it"


@contextlib.contextmanager
def hub_errors(kind: Kind, name: str, revision: str | None, key: str) -> Iterator[None]:
    """Turn what goes wrong with a hub repository into a BridoError that names `key` of params.yaml.

    Covered: a repository that is missing, private or gated, a revision that does not exist, no
    network and nothing in the cache, a server error, and a full disk.
    """
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        what = f"the {'data set' if kind == 'dataset' else 'model'} {name}"
        if (reason := _reason(error, what, name, revision)) is None:
            raise
        raise BridoError(f"{key}: {reason}") from error


def _reason(error: BaseException, what: str, name: str, revision: str | None) -> str | None:
    from huggingface_hub import constants, errors

    if is_disk_full(error):
        return (
            f"no disk space left while fetching {what}: free some, or move the cache with HF_HOME "
            f"(now {constants.HF_HOME}); what is there already is kept"
        )
    # The first ones are subclasses of later ones.
    sentences: dict[type[BaseException] | tuple[type[BaseException], ...], str] = {
        errors.GatedRepoError: f"{what} is gated: accept its terms on its page, then {_LOGIN}",
        errors.RevisionNotFoundError: f"{what} has no revision {quoted(revision)}",
        errors.RepositoryNotFoundError: f"{what} does not exist, or is private: check the "
        f"spelling; for a private one {_LOGIN}",
        errors.HFValidationError: f"{quoted(name)} is not a hub id (owner/name), nor a folder that "
        "exists",
        errors.HfHubHTTPError: f"{constants.ENDPOINT} refuses or fails to send {what}: try again "
        f"later, or {_LOGIN}; what is there is kept",
        (errors.HTTPError, errors.LocalEntryNotFoundError, ConnectionError, TimeoutError): (
            f"{constants.ENDPOINT} cannot be reached, and {what} is not (wholly) in the cache "
            f"({constants.HF_HUB_CACHE}): check the network and proxy, and HF_HUB_OFFLINE"
        ),
    }
    chain = list(causes(error))
    found = (
        text for kind, text in sentences.items() if any(isinstance(one, kind) for one in chain)
    )
    return next(found, None)
