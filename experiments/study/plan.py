"""Which chains the study has: the default over seeds and processors, and the plane."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

from brido.settings.load import read_yaml
from brido.settings.presets import flatten
from brido.work.shards import fingerprint
from experiments.grids import changed

PLAN = Path(__file__).parent / "plan.yaml"
STOCK = "data.world.stock_phrases"
CLEAN = "checkpoints.base.embedded.world.support_rate"
SEEDS = ("data.world.seed", "checkpoints.base.embedded.seed", "training.seed")
NATIVE = "native"


@dataclass(frozen=True)
class Chain:
    """One run of the whole pipeline: its place in the plane, its seed and its processor.

    systems: what is tuned, by name, with the dotted keys of params.yaml that each changes.
    at_equal_length: those that are decoded at base's length as well.
    changes: further dotted keys that the whole chain changes.
    """

    stock_phrases: float
    support_rate: float
    seed: int
    processor: str
    systems: Mapping[str, Mapping[str, Any]]
    at_equal_length: tuple[str, ...]
    changes: Mapping[str, Any]

    @property
    def key(self) -> tuple[float, float, int, str]:
        """What tells it from the other chains of a plan."""
        return self.stock_phrases, self.support_rate, self.seed, self.processor

    @property
    def name(self) -> str:
        """The same as a file's name."""
        place = f"stock-{self.stock_phrases:g}-clean-{self.support_rate:g}"
        return f"{place}-seed-{self.seed}-{self.processor}"

    @property
    def overrides(self) -> dict[str, Any]:
        """The keys of params.yaml that it changes."""
        place = {STOCK: self.stock_phrases, CLEAN: self.support_rate}
        return place | dict.fromkeys(SEEDS, self.seed) | dict(self.changes)


def settings_of(params: Mapping[str, Any], chain: Chain) -> str:
    """Changes with everything that a chain's numbers depend on but the code; `params` is raw."""
    settings = {
        key: value
        for key, value in flatten(changed(params, chain.overrides, "the study")).items()
        if not key.startswith(("runtime.", "report."))
    }
    return fingerprint([settings, chain.systems, chain.at_equal_length])[:8]


def read_chains(path: Path, params: Mapping[str, Any]) -> list[Chain]:
    """Every chain of a file of plan.yaml's form, the default's first seed first.

    A study that is stopped early has a whole picture of fewer seeds: after the plane's first seed
    comes the default on every processor, then the plane's other seeds. Where the plane passes
    through the default, the default's own chain is its cell. `params` has dotted keys.
    """
    plan = read_yaml(path)
    repeat, plane = plan["repeat"], plan["plane"]

    def one_chain(place: tuple[float, float], seed: int, processor: str, kind: Mapping) -> Chain:
        systems = {name: plan["systems"][name] for name in kind["systems"]}
        matched = tuple(kind["at_equal_length"])
        return Chain(*place, seed, processor, systems, matched, kind.get("changes", {}))

    home = (params[STOCK], params[CLEAN])
    places = list(product(plane["stock_phrases"], plane["support_rates"]))
    again = [
        one_chain(home, seed, processor, kind)
        for processor, kind in repeat["processors"].items()
        for seed in repeat["seeds"]
    ]
    planes = [
        [one_chain(place, seed, NATIVE, plane) for place in places] for seed in plane["seeds"]
    ]
    found: dict[str, Chain] = {}
    for one in [*again[:1], *planes[0], *again, *chain.from_iterable(planes[1:])]:
        if one.key[:2] != home or not one.changes:
            found.setdefault(one.name, one)
    return list(found.values())
