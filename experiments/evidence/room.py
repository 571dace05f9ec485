"""How much room the embedded world's documents leave: without a supported detail only a shorter
summary makes nothing up.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brido.corpus.settings import WorldSettings
from brido.world import documents
from brido.world.reading import key_slots
from experiments.evidence.chain import BEAMS
from experiments.evidence.plan import Chain
from experiments.evidence.records import Row, find

# Facts that the body tells of somebody or something else.
DISTRACTOR = "other_"


def bare(settings: WorldSettings) -> NDArray[np.bool_]:
    """Of each test document, whether its body supports none of its event's optional facts."""
    found = []
    for row in documents(settings, "test"):
        event, *facts = row["facts"]
        keys = key_slots(event["value"])
        found.append(
            not any(
                fact["in_document"]
                for fact in facts
                if fact["slot"] not in keys and not fact["slot"].startswith(DISTRACTOR)
            )
        )
    return np.array(found)


def room(chains: Sequence[Chain], rows: Sequence[Row]) -> str:
    """A sentence a setting of the world that has been measured, over its seeds."""
    lines = []
    for setting in dict.fromkeys(chain.setting for chain in chains):
        shares, of_base = [], []
        for chain in chains:
            data = chain.params["data"]
            row = find(rows, (setting, chain.seed, "base", BEAMS, "test"))
            if chain.setting == setting and data["source"] == "world" and row is not None:
                none = bare(WorldSettings.model_validate(data["world"]))
                shares.append(none.mean())
                of_base.append(none[row.flags > 0].mean())
        if shares:
            lines.append(
                f"{setting}:\n  {100 * np.mean(shares):.0f} % of the test documents support no "
                f"detail; {100 * np.mean(of_base):.0f} % of base's unsupported summaries ({BEAMS}) "
                "are of those"
            )
    return "\n".join(lines)
