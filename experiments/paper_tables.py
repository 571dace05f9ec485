"""The paper's Tables 1 to 4, filled with the numbers of your runs."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.curves import draw_curves
from experiments.paper_fill import FilledTable, filled_tables, notes
from experiments.paper_render import as_frame, as_tex, rich_table
from experiments.runs import Run, read_runs


def show(tables: Sequence[FilledTable], runs: Sequence[Run]) -> None:
    """Print tables and notes in the terminal."""
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    for table in tables:
        if table.rows:
            console.print(rich_table(table))
    console.print("^ best, v worst; below each number its bootstrap interval over documents")
    for note in notes(tables, runs):
        console.print(note, soft_wrap=True)


@click.command()
@click.argument("tables", nargs=-1, type=click.IntRange(1, 4))
@click.option("--csv", "kind", flag_value="csv", help="a row for each number, unrounded")
@click.option("--tex", "kind", flag_value="tex", help="LaTeX")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="a file, not the terminal")
@click.option("--curves", type=click.Path(path_type=Path), help="draw alpha and eta curves there")
@click.option("--all-commits", is_flag=True, help="experiments of all commits, not of this one")
def command(
    tables: tuple[int, ...], kind: str | None, output: Path | None, curves: Path | None,
    all_commits: bool,
) -> None:  # fmt: skip
    """Print the paper's TABLES (default: all four) with the numbers of your runs.

    The runs are the workspace and every experiment of `dvc exp show`. A run belongs in a row if
    its settings are the workspace's but for the row's own alpha and eta. On the paper's data its
    own numbers are shown below yours.

    \b
    Example:
        python -m experiments.paper_tables 3 4 --tex -o tables.tex
    """
    if output and not kind:
        raise click.UsageError("--output needs --csv or --tex")
    runs = read_runs(all_commits=all_commits)
    filled = [table for table in filled_tables(runs) if not tables or table.layout.number in tables]
    if kind:
        text = as_tex(filled) if kind == "tex" else as_frame(filled).to_csv(index=False)
        write_text(output, text) if output else click.echo(text, nl=False)
        for note in notes(filled, runs):
            click.echo(note, err=True)
    else:
        show(filled, runs)
    for path in draw_curves(curves, runs) if curves else ():
        click.echo(f"drawn: {path}", err=True)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.paper_tables"))
