"""The command `brido`: every command of this package under one name.

Each is the `main` of a module that also runs as `python -m MODULE`, and is imported when it is
called: `brido --help` and `brido score` wait for no PyTorch.
"""

import argparse
import runpy
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import brido
from brido.utils.errors import BridoError, run_command
from brido.utils.extras import MissingExtra, extra

SHELLS = ("bash", "zsh", "fish")
_DESCRIPTION = """Candidates elect their best: consensus scores of anybody's texts, whether that
vote knows anything, and what judges say of the result."""


@dataclass(frozen=True)
class Command:
    """A command: the module whose `parser` and `main` it is, its line of help, and its extra."""

    module: str
    job: str
    extra: str


# In the order of the help. Score and vote-check need no extra but for compressed files and Parquet.
COMMANDS = {
    "score": Command("brido.cli.score", "consensus scores and ranks of candidates", "pipeline"),
    "vote-check": Command("brido.cli.vote_check", "does the vote know what is true?", "pipeline"),
    "export": Command("brido.cli.export", "votes as preference pairs", "pipeline"),
    "judge": Command("brido.evaluation.geval.__main__", "G-Eval by an LLM judge", "judge"),
    "qafacteval": Command(
        "brido.evaluation.qafacteval.__main__", "QAFactEval of a file", "qafacteval"
    ),
    "init": Command("brido.cli.init", "params.yaml for documents of your own", "pipeline"),
    "config": Command("brido.cli.config", "is params.yaml right? Asked before a run", "pipeline"),
}
# These work on the files of a checkout: run there as `python -m MODULE`.
CHECKOUT = {"preset": Command("experiments.preset", "make a preset the params.yaml", "pipeline")}
_COMPLETION = "print the completion of these commands for a shell"


def main(arguments: Sequence[str] | None = None, program: str = "brido") -> None:
    """Run the command that the command line names."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words[0] if words else "--help"
    rest, called = words[1:], f"{program} {name}"
    if name in COMMANDS:
        command = COMMANDS[name]
        with extra(command.extra):
            import_module(command.module).main(rest, called)
    elif name in CHECKOUT:
        _run_in_checkout(called, CHECKOUT[name].module, rest)
    elif name == "completion":
        print(_completion(_completion_parser(called).parse_args(rest).shell))
    else:
        _parser(program).parse_args([name])


def _parser(program: str) -> argparse.ArgumentParser:
    """The names of the commands alone."""
    jobs = {name: command.job for name, command in {**COMMANDS, **CHECKOUT}.items()}
    jobs["completion"] = _COMPLETION
    table = "\n".join(f"  {name:<12}{job}" for name, job in jobs.items())
    parser = argparse.ArgumentParser(
        prog=program,
        usage=f"{program} [--help] [--version] COMMAND ...",
        description=_DESCRIPTION,
        epilog=f"commands:\n{table}\n\n`{program} COMMAND --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=jobs, help=argparse.SUPPRESS)
    version = f"brido {brido.__version__}"
    parser.add_argument("--version", action="version", version=version, help="show the version")
    return parser


def _completion_parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description=f'{_COMPLETION}: eval "$({program} bash)" in ~/.bashrc, for instance',
    )
    parser.add_argument("shell", choices=SHELLS)
    return parser


def _completion(shell: str) -> str:
    with extra("completion"):
        import shtab
    return shtab.complete(_whole_parser(shtab.FILE), shell)


def _whole_parser(file: Any) -> argparse.ArgumentParser:
    """The command line with the options of every command whose packages are installed.

    file: what shtab makes of an argument that names a file.
    """
    parser = argparse.ArgumentParser(prog="brido", description=_DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version")
    commands: Any = parser.add_subparsers(title="commands")
    for name, command in COMMANDS.items():
        options = []
        with suppress(MissingExtra), extra(command.extra):
            options = [import_module(command.module).parser(f"brido {name}")]
            for action in options[0]._actions:
                if action.type is Path or action.dest in {"file", "documents", "scores"}:
                    action.complete = file  # type: ignore[attr-defined]
        commands.add_parser(name, help=command.job, parents=options, add_help=not options)
    for name, command in CHECKOUT.items():
        commands.add_parser(name, help=command.job)
    completion = _completion_parser("brido completion")
    commands.add_parser("completion", help=_COMPLETION, parents=[completion], add_help=False)
    return parser


def _run_in_checkout(called: str, module: str, arguments: Sequence[str]) -> None:
    """`python -m MODULE` of the checkout in this folder.

    Raises:
        BridoError: there is none.
    """
    if not Path(*module.split(".")).with_suffix(".py").is_file():
        raise BridoError(
            f"`{called}` works on the files of a checkout of BRIDO, and {Path.cwd()} is none: run "
            "it in the folder where params.yaml and presets/ are"
        )
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = [called, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def script() -> None:
    """What the installed command `brido` runs."""
    run_command(main)
