"""Filled tables for a terminal, as CSV and as LaTeX."""

from collections.abc import Sequence

import pandas as pd
from rich.table import Table

from brido.report.display import ColumnKey, display, metric_label
from brido.report.summary import interval
from experiments.paper_fill import FilledTable


def heading(column: ColumnKey) -> str:
    """A column's name as the paper has it, with the metric if it is not the paper's."""
    label = display(*column).label
    if column[0].startswith("world_"):
        return f"{metric_label(column[0])} {label.removeprefix('QA ')}"
    short = {"consistency": "cons.", "average": "ave.", "answered": "IsAns"}
    return short.get(label, label.removeprefix("QA "))


def rich_table(table: FilledTable) -> Table:
    """The table for a terminal: ^ best, v worst, intervals below each number."""
    shown = Table(
        title=f"Table {table.layout.number}. {table.layout.caption}", title_justify="left"
    )
    shown.add_column()
    for column in table.columns:
        shown.add_column(heading(column), justify="right")
    signs = {ours: table.marks(ours) for ours in (True, False)}
    for row in table.rows:
        cells = []
        for column in table.columns:
            item = row.numbers.get(column)
            if item is None:
                cells.append("-")
                continue
            mark = signs[row.run is not None].get((row.label, column))
            sign = {"best": "^", "worst": "v"}.get(mark or "", "")
            below = f"\n{interval(item, *column)}" if item.documents else ""
            cells.append(f"{display(*column).text(item.mean)}{sign}{below}")
        shown.add_row(row.label if row.run else f"  paper: {row.label}", *cells)
    return shown


def as_frame(tables: Sequence[FilledTable]) -> pd.DataFrame:
    """A row for each number, unrounded."""
    records = []
    for table in tables:
        for row in table.rows:
            marks = table.marks(row.run is not None)
            for column in table.columns:
                if (item := row.numbers.get(column)) is None:
                    continue
                bounds = (item.low, item.high, item.documents) if item.documents else [None] * 3
                records.append(
                    {
                        "table": table.layout.number,
                        "row": row.label,
                        "source": "ours" if row.run else "paper",
                        "run": row.run.name if row.run else "",
                        "base": row.run.base if row.run else "",
                        "metric": column[0],
                        "submetric": column[1],
                        "value": item.mean,
                        **dict(zip(("low", "high", "documents"), bounds, strict=True)),
                        "mark": marks.get((row.label, column), ""),
                    }
                )
    return pd.DataFrame(records)


_TEX = str.maketrans({"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "∞": r"$\infty$",
                      "η": r"$\eta$", "α": r"$\alpha$", "…": r"\,--\,"})  # fmt: skip


def as_tex(tables: Sequence[FilledTable]) -> str:
    """LaTeX with booktabs: best in \\textbf, worst in \\textit, intervals in \\scriptsize."""
    blocks = []
    for table in tables:
        records = []
        for row in table.rows:
            marks = table.marks(row.run is not None)
            record = {"": row.label if row.run else f"paper: {row.label}"}
            for column in table.columns:
                item = row.numbers.get(column)
                text = display(*column).text(item.mean) if item else ""
                style = {"best": r"\textbf", "worst": r"\textit"}.get(
                    marks.get((row.label, column), "")
                )
                text = f"{style}{{{text}}}" if style else text
                if item and item.documents:
                    text += rf" {{\scriptsize {interval(item, *column)}}}"
                record[heading(column)] = text
            records.append(
                {key.translate(_TEX): text.translate(_TEX) for key, text in record.items()}
            )
        frame = pd.DataFrame(records)
        caption = f"{table.layout.caption}".translate(_TEX)
        style = "l" + "r" * len(table.columns)
        blocks.append(
            frame.to_latex(index=False, escape=False, caption=caption, column_format=style)
        )
    return "\n".join(blocks)
