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

    Covered: a repository that is missing, private, gated or disabled, a revision that does not
    exist, no network and nothing in the cache, a server error, and a full disk.
    """
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        message = _explain(error, kind, name, revision)
        if message is None:
            raise
        raise BridoError(f"{key}: {message}") from error


def _explain(error: BaseException, kind: Kind, name: str, revision: str | None) -> str | None:
    from huggingface_hub import constants, errors

    what = f"the {'data set' if kind == 'dataset' else 'model'} {name}"
    page = f"{constants.ENDPOINT}/{'datasets/' if kind == 'dataset' else ''}{name}"
    if is_disk_full(error):
        return (
            f"no disk space left while fetching {what}: free some, or move the cache with HF_HOME "
            f"(now {constants.HF_HOME}); what is there already is kept"
        )
    chain = list(causes(error))
    # Some of these classes are subclasses of later ones.
    sentences: dict[type[BaseException], str] = {
        errors.GatedRepoError: f"{what} is gated: accept its terms at {page}, then {_LOGIN}",
        errors.RevisionNotFoundError: f"{what} has no revision {quoted(revision)}: see {page}",
        errors.RepositoryNotFoundError: f"{what} does not exist, or is private: check the "
        f"spelling; for a private one {_LOGIN}",
        errors.HFValidationError: f"{quoted(name)} is not a hub id (owner/name), nor a folder that "
        "exists",
    }
    for known, sentence in sentences.items():
        if any(isinstance(item, known) for item in chain):
            return sentence
    for item in chain:
        status = getattr(getattr(item, "response", None), "status_code", None)
        if status is not None:
            advice = _LOGIN if status in {401, 403} else "try again later; what is there is kept"
            return f"{constants.ENDPOINT} answered {status} for {what}: {advice}"
    network = (errors.HTTPError, errors.LocalEntryNotFoundError, ConnectionError, TimeoutError)
    if any(isinstance(item, network) for item in chain):
        return (
            f"{constants.ENDPOINT} cannot be reached, and {what} is not (wholly) in the cache "
            f"({constants.HF_HUB_CACHE}): check the network and proxy, and HF_HUB_OFFLINE"
        )
    return None
