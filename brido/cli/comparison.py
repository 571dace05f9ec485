"""The options that say how candidates are compared, shared by several commands."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import click

from brido.utils.arguments import as_alpha
from brido.utils.errors import ArgumentError

Function = TypeVar("Function", bound=Callable[..., Any])


class _Alpha(click.ParamType):
    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        with suppress(ValueError):  # .inf, as YAML writes it
            value = float(value)
        try:
            return as_alpha(value)
        except ArgumentError as error:
            self.fail(str(error), param, ctx)


def comparison_options(function: Function) -> Function:
    """Add the options that say how candidates are compared: --alpha and --combination."""
    for option in (
        click.option(
            "--combination",
            type=click.Choice(["harmonic_r1_r2", "mean_r1_r2_rlsum"]),
            default="harmonic_r1_r2",
            show_default=True,
            help="Similarity of two texts: the harmonic mean of ROUGE-1 and 2, or the mean of "
            "ROUGE-1, 2 and Lsum.",
        ),
        click.option(
            "--alpha",
            type=_Alpha(),
            default=0.0,
            show_default=True,
            help="Weight of the reference: 0 asks the candidates only, inf the reference only.",
        ),
    ):
        function = option(function)
    return function
