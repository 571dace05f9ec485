"""How the click commands of this package are called and how they end."""

import os
import sys
from collections.abc import Sequence

import click


def invoke(
    command: click.Command, arguments: Sequence[str] | None = None, program: str | None = None
) -> None:
    """Run a click command; a wrong command line is its usage and one sentence, exit code 2.

    A BridoError passes through to `brido.utils.errors.run_command`, and so do SIGTERM and Ctrl-C:
    `command.main` would turn both into the same exception and forget which it was.

    arguments: None for those of the process. program: its name in the usage.

    Raises:
        SystemExit: the command line is wrong, or the command ended with a code of its own.
    """
    if os.environ.get("COLUMNS") == "0":  # some editors say so: no width at all
        del os.environ["COLUMNS"]
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with command.make_context(program or command.name, given) as context:
            command.invoke(context)
    except click.exceptions.Exit as end:
        if end.exit_code:
            raise SystemExit(end.exit_code) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
