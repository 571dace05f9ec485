"""How the click commands of this package are called and how they end."""

from collections.abc import Sequence

import click


def invoke(
    command: click.Command, arguments: Sequence[str] | None = None, program: str | None = None
) -> None:
    """Run a click command; a wrong command line is its usage and one sentence, exit code 2.

    A BridoError passes through to `brido.utils.errors.run_command`.

    arguments: None for those of the process. program: its name in the usage.

    Raises:
        SystemExit: the command line is wrong, or the command ended with a code of its own.
    """
    try:
        code = command.main(
            None if arguments is None else list(arguments), program, standalone_mode=False
        )
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    if isinstance(code, int) and code:
        raise SystemExit(code)
