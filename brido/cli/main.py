"""The command `brido`: every command of this package under one name.

Each is the click command `command` of the module of its name, imported when it is called, so
`brido --help` and `brido score` wait for no PyTorch.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click
from click.shell_completion import CompletionItem

import brido
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, close_to, run_command
from brido.utils.extras import extra
from brido.utils.waiting import let_threads_sleep

# In the order of the help: the extra that a command needs, its line of help. Score and vote-check
# need no extra but for compressed files and Parquet.
COMMANDS = {
    "summarize": ("pipeline", "summarize new documents with a tuned model"),
    "compare": ("pipeline", "show two systems' summaries side by side"),
    "score": ("pipeline", "give candidates scores by consensus, and ranks"),
    "vote-check": ("pipeline", "check whether a vote finds better candidates"),
    "export": ("pipeline", "write preference pairs, or the chosen model"),
    "geval": ("judge", "let an LLM judge mark summaries (G-Eval)"),
    "qafacteval": ("qafacteval", "score summaries with QAFactEval"),
    "init": ("pipeline", "write params.yaml for documents of your own"),
    "preset": ("pipeline", "put a preset's settings into params.yaml"),
    "config": ("pipeline", "check params.yaml before a run"),
    "options": ("pipeline", "print what the keys of params.yaml do"),
}


class _Commands(click.Group):
    """The commands above, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        needs, _ = COMMANDS[name]
        with extra(needs):
            command: click.Command = import_module(f"brido.cli.{name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"there is no command {args[0]!r}{close_to(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each, from the table above: nothing is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, job) for name, (_, job) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands of the table above and the options of `brido`: nothing is imported."""
        commands = [
            CompletionItem(name, help=job)
            for name, (_, job) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    epilog="`brido COMMAND --help` says more. Completion for bash (zsh and fish alike): "
    'eval "$(_BRIDO_COMPLETE=bash_source brido)"',
)
@click.version_option(brido.__version__, message="brido %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    """Score texts by consensus, check whether such a vote finds the better ones, and let judges
    mark the result."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None, program: str = "brido") -> None:
    """Run the command that the command line names."""
    invoke(group, arguments, program)


def script() -> None:
    """What the installed command `brido` runs."""
    let_threads_sleep()
    if "_BRIDO_COMPLETE" in os.environ:  # a shell asks click what may come next
        with suppress(BridoError):  # a command whose packages are missing offers nothing
            group(prog_name="brido")
        return
    run_command(main)
