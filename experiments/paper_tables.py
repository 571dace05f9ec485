"""The paper's Tables 1 to 4, filled with the numbers of your runs."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pandas as pd
from rich.console import Console
from rich.table import Table

from brido.report.display import ColumnKey, display, metric_label
from brido.report.summary import interval
from brido.utils.atomic import write_text
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from experiments.paper_fill import FilledTable, filled_tables, notes
from experiments.runs import Run, read_runs

# Text, mark (best, worst or "") and interval (or "") of a cell, put together.
Write = Callable[[str, str, str], str]
TEX = str.maketrans({"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "∞": r"$\infty$",
                     "η": r"$\eta$", "α": r"$\alpha$", "…": r"\,--\,"})  # fmt: skip


def heading(column: ColumnKey) -> str:
    """A column's name as the paper has it, with the metric if it is not the paper's."""
    label = display(*column).label
    if column[0].startswith("world_"):
        return f"{metric_label(column[0])} {label.removeprefix('QA ')}"
    short = {"consistency": "cons.", "average": "ave.", "answered": "IsAns"}
    return short.get(label, label.removeprefix("QA "))


def cells(table: FilledTable, write: Write) -> pd.DataFrame:
    """The texts of a table's cells, a row for each of its rows; the first column is the label."""
    records = []
    for row in table.rows:
        marks = table.marks(row.run is not None)
        record = {"": row.label if row.run else f"paper: {row.label}"}
        for column in table.columns:
            item = row.numbers.get(column)
            text = display(*column).text(item.mean) if item else "-"
            between = interval(item, *column) if item and item.documents else ""
            record[heading(column)] = write(text, marks.get((row.label, column), ""), between)
        records.append(record)
    return pd.DataFrame(records)


def rich_table(table: FilledTable) -> Table:
    """The table for a terminal: ^ best, v worst, intervals below each number."""

    def write(text: str, mark: str, between: str) -> str:
        return text + {"best": "^", "worst": "v"}.get(mark, "") + (f"\n{between}" * bool(between))

    title = f"Table {table.layout.number}. {table.layout.caption}"
    shown = Table(title=title, title_justify="left")
    frame = cells(table, write)
    for name in frame.columns:
        shown.add_column(name, justify="right" if name else "left")
    for row in frame.itertuples(index=False):
        shown.add_row(*row)
    return shown


def as_tex(tables: Sequence[FilledTable]) -> str:
    """LaTeX with booktabs: best in \\textbf, worst in \\textit, intervals in \\scriptsize."""

    def write(text: str, mark: str, between: str) -> str:
        style = {"best": r"\textbf{%s}", "worst": r"\textit{%s}"}.get(mark, "%s")
        return style % text + (rf" {{\scriptsize {between}}}" * bool(between))

    blocks = []
    for table in tables:
        frame = cells(table, write).map(lambda text: text.translate(TEX))
        frame.columns = [name.translate(TEX) for name in frame.columns]
        blocks.append(
            frame.to_latex(
                index=False,
                escape=False,
                caption=table.layout.caption.translate(TEX),
                column_format="l" + "r" * len(table.columns),
            )
        )
    return "\n".join(blocks)


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
@click.option("--tex", is_flag=True, help="LaTeX in place of a table for the terminal")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="a file for --tex")
@click.option("--all-commits", is_flag=True, help="experiments of all commits, not of this one")
def command(tables: tuple[int, ...], tex: bool, output: Path | None, all_commits: bool) -> None:
    """Print the paper's TABLES (default: all four) with the numbers of your runs.

    The runs are the workspace and every experiment of `dvc exp show`. A run belongs in a row if
    its settings are the workspace's but for the row's own alpha and eta. On the paper's data its
    own numbers are shown below yours.

    \b
    Example:
        python -m experiments.paper_tables 3 4 --tex -o tables.tex
    """
    if output and not tex:
        raise click.UsageError("--output needs --tex")
    runs = read_runs(all_commits=all_commits)
    filled = [table for table in filled_tables(runs) if not tables or table.layout.number in tables]
    if not tex:
        show(filled, runs)
        return
    text = as_tex(filled)
    write_text(output, text) if output else click.echo(text, nl=False)
    for note in notes(filled, runs):
        click.echo(note, err=True)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.paper_tables"))
