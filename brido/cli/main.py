"""The command `brido`: every command of this package under one name.

Each is the click command `command` of the module of its name, imported when it is called. No help
waits for PyTorch: a command imports what it works with when it works.
"""

import os
from collections.abc import Sequence
from importlib import import_module

import click

import brido
from brido.utils.commands import invoke
from brido.utils.device import let_threads_sleep
from brido.utils.errors import close_to, run_command
from brido.utils.extras import extra

# The groups of the help and their commands, each with its line there.
GROUPS = {
    "Texts": {
        "summarize": "summarize new documents with a tuned model",
        "score": "give candidates scores by consensus, and ranks",
        "vote-check": "check whether a vote finds better candidates",
        "evaluate": "measure summaries: ROUGE, QAFactEval, G-Eval and others",
        "sensitivity": "say which errors a check notices in your texts",
    },
    "Projects": {
        "init": "begin a project with documents of your own",
        "diff": "compare two commits or experiments, with intervals",
        "read": "print summaries of the run beside their documents",
        "export-pairs": "write preference pairs for other trainers",
        "export-model": "write the chosen model with its card",
    },
    "Settings": {
        "config": "check params.yaml before a run",
        "options": "print what the keys of params.yaml do",
        "preset": "put a preset's settings into params.yaml",
    },
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}


class _Commands(click.Group):
    """The commands above, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            if ctx.resilient_parsing:  # a shell that completes a line
                return None
            ctx.fail(f"there is no command {name}{close_to(name, COMMANDS)}")
        command: click.Command = import_module(f"brido.cli.{name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The groups with a line for each command: nothing is imported for it."""
        width = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), job) for name, job in commands.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    invoke_without_command=True,
    epilog="`brido COMMAND --help` says more. Completion for bash (zsh and fish alike): "
    'eval "$(_BRIDO_COMPLETE=bash_source brido)"',
)
@click.version_option(brido.__version__, message="brido %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    """Summarizers that make up less: the candidates of a document vote, and a model learns from
    the votes."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None, program: str = "brido") -> None:
    """Run the command that the command line names."""
    with extra():  # a command imports what it needs when it runs
        invoke(group, arguments, program)


def script() -> None:
    """What the installed command `brido` runs."""
    let_threads_sleep()
    if "_BRIDO_COMPLETE" in os.environ:  # a shell asks click what may come next
        group(prog_name="brido")
        return
    run_command(main)
