"""Which base numbers belong to.

The same settings make another base on another machine, whose processor rounds otherwise, and
numbers of different bases say nothing about the settings.
"""

import hashlib
import json
from pathlib import Path

from brido.tables import DECODED, read_rows


def base_of(decoded: Path) -> str:
    """12 digits of a hash of what base wrote: ids and summaries of a decoded table.

    Raises:
        BridoError: the table is missing or damaged.
    """
    rows = read_rows(decoded, DECODED, "decode@base")
    text = json.dumps([[row["id"], row["summary"]] for row in rows])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
