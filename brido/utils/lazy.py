"""Public names of a package that are loaded when they are asked for.

params.yaml is read with the settings of every room; PyTorch and its like are not needed for that.
Type checkers do not run this: each package imports its names `if TYPE_CHECKING`, too.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from brido.utils.extras import extra


def lazy(
    package: str, public: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `package` whose `public` names live in these modules of it.

    Without the packages that they need, asking for one is a MissingExtra.
    """

    def load(name: str) -> Any:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with extra():
            return getattr(import_module(f"{package}.{public[name]}"), name)

    return load, lambda: list(public)
