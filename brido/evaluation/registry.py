"""The metrics that params.yaml may name: the built-in ones, those of other packages, by name.

Another package brings a metric by an entry point: once it is installed, params.yaml may name it.

    [project.entry-points."brido.metrics"]
    my_metric = "my_package.my_module:METRIC"
"""

import functools
from importlib import import_module
from importlib.metadata import entry_points

from brido.evaluation import Metric
from brido.utils.errors import BridoError, quoted

# The modules of this package that declare a METRIC, in the order in which tables show them.
BUILT_IN = (
    "rouge",
    "mentions",
    "extractiveness",
    "world_qa",
    "world_judge",
    "minicheck",
    "qafacteval",
    "geval",
)
ENTRY_POINTS = "brido.metrics"


@functools.cache
def _metrics() -> dict[str, Metric]:
    found = [import_module(f"brido.evaluation.{module}").METRIC for module in BUILT_IN]
    found += [point.load() for point in entry_points(group=ENTRY_POINTS)]
    known = {metric.name: metric for metric in found}
    if len(known) < len(found):
        raise ValueError(f"two metrics have the same name: {[one.name for one in found]}")
    return known


def all_metrics() -> tuple[Metric, ...]:
    """Every known metric, in the order in which tables show them."""
    return tuple(_metrics().values())


def find_metric(name: str) -> Metric:
    """The metric of that name.

    Raises:
        BridoError: there is none; the message lists the known ones.
    """
    if name not in _metrics():
        known = ", ".join(_metrics())
        raise BridoError(f"there is no metric {quoted(name)}; there are {known}")
    return _metrics()[name]
