"""What stands behind `python -m stages.NAME` on the command line."""

import sys
from collections.abc import Collection

from brido.utils.errors import BridoError


def name_given(stage: str, kind: str, known: Collection[str], where: str) -> str:
    """The one name on the command line, of a `kind` such as SYSTEM.

    BridoError where it is none of `known`; `where` says where params.yaml names them.
    """
    given = sys.argv[1:]
    if len(given) != 1 or given[0] not in known:
        raise BridoError(
            f"usage: python -m stages.{stage} {kind}, with {where} in params.yaml "
            f"({', '.join(known)}), not {' '.join(given) or 'nothing'}"
        )
    return given[0]
