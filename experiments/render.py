"""Filled tables as text for a terminal, Markdown, LaTeX, or CSV."""

import csv
import io
from collections.abc import Callable, Sequence

from brido.report.display import ColumnKey, display, metric_label
from brido.report.summary import interval
from experiments.layouts import FilledCell, FilledRow, FilledTable

_BOLD, _ITALIC, _DIM, _PLAIN = "\033[1m", "\033[3m", "\033[2m", "\033[0m"


def heading(column: ColumnKey) -> str:
    """A column's name as the paper has it, with the metric where it is not the paper's."""
    label = display(*column).label
    if column[0].startswith("world_"):
        return f"{metric_label(column[0])} {label.removeprefix('QA ')}"
    return {"consistency": "cons.", "average": "ave.", "answered": "IsAns"}.get(
        label, label.removeprefix("QA ")
    )


def _label(row: FilledRow) -> str:
    return row.label if row.ours else f"  paper: {row.label}"


def _value(cell: FilledCell) -> str:
    return "" if cell.estimate is None else display(*cell.column).text(cell.estimate.mean)


def _interval(cell: FilledCell) -> str:
    if cell.estimate is None or not cell.estimate.documents:
        return ""
    return interval(cell.estimate, *cell.column)


def terminal(tables: Sequence[FilledTable], colour: bool = False) -> str:
    """Aligned text; best in bold and worst in italics, or marked ^ and v without `colour`."""
    marks = "best in bold, worst in italics" if colour else "^ best, v worst"
    legend = f"{marks}; below each number its bootstrap interval over documents"
    return "\n\n".join([*(_terminal_table(table, colour) for table in tables), legend]) + "\n"


def _terminal_table(table: FilledTable, colour: bool) -> str:
    lines = [["", *(heading(column) for column in table.columns)]]
    for row in table.rows:
        marks = ["^" if cell.best else "v" if cell.worst else "" for cell in row.cells]
        values = [_value(cell) or "-" for cell in row.cells]
        shown = values if colour else [f"{v}{m}" for v, m in zip(values, marks, strict=True)]
        lines.append([_label(row), *shown])
        if any(_interval(cell) for cell in row.cells):
            lines.append(["", *(_interval(cell) for cell in row.cells)])
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    emphasis = {
        (_label(row), index): _BOLD if cell.best else _ITALIC if cell.worst else ""
        for row in table.rows
        for index, cell in enumerate(row.cells)
    }
    text = [f"Table {table.number}. {table.caption}"]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        for index, cell in enumerate(line[1:]):
            code = emphasis.get((line[0], index), "") if colour else ""
            if colour and line[0] == "" and line is not lines[0]:
                code = _DIM
            padded = cell.rjust(widths[index + 1])
            cells.append(f"{code}{padded}{_PLAIN}" if code else padded)
        text.append("  ".join(cells).rstrip())
    return "\n".join([*text, *table.notes])


def markdown(tables: Sequence[FilledTable]) -> str:
    """GitHub's Markdown: best in bold, worst in italics, intervals in small print below."""
    blocks = []
    for table in tables:
        lines = [f"**Table {table.number}.** {table.caption}", ""]
        lines.append("| | " + " | ".join(heading(column) for column in table.columns) + " |")
        lines.append("|---|" + "---:|" * len(table.columns))
        for row in table.rows:
            label = row.label if row.ours else f"<sub>paper: {row.label}</sub>"
            cells = [_markdown_cell(cell, row.ours) for cell in row.cells]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        lines += [f"\n{text}" for text in table.notes]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _markdown_cell(cell: FilledCell, ours: bool) -> str:
    value = _value(cell)
    mark = "**" if cell.best else "*" if cell.worst else ""
    text = f"{mark}{value}{mark}" if value else ""
    if not ours and text:
        return f"<sub>{text}</sub>"
    spread = _interval(cell)
    return f"{text}<br><sub>{spread}</sub>" if spread else text


_LATEX = str.maketrans({"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#"})
_LATEX_WORDS = {"η": r"$\eta$", "α": r"$\alpha$", "∞": r"$\infty$", "…": r"\,--\,"}


def latex(tables: Sequence[FilledTable]) -> str:
    """LaTeX with booktabs: best in \\textbf, worst in \\textit, intervals in \\scriptsize."""
    return "\n\n".join(_latex_table(table) for table in tables) + "\n"


def _latex_table(table: FilledTable) -> str:
    lines = [
        r"\begin{table}",
        rf"  \caption{{{_latex_text(table.caption)}}}",
        rf"  \begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"    \toprule",
        "    & " + " & ".join(_latex_text(heading(column)) for column in table.columns) + r" \\",
        r"    \midrule",
    ]
    for row in table.rows:
        cells = " & ".join(_latex_cell(cell) for cell in row.cells)
        label = _latex_text(row.label)
        label = label if row.ours else rf"\quad\footnotesize paper: {label}"
        lines.append(rf"    {label} & {cells} \\")
        spreads = [_interval(cell) for cell in row.cells]
        if any(spreads):
            small = (rf"\scriptsize {_latex_text(text)}" if text else "" for text in spreads)
            lines.append("    & " + " & ".join(small) + r" \\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    return "\n".join([*lines, *(f"% {text}" for text in table.notes)])


def _latex_text(text: str) -> str:
    text = text.translate(_LATEX)
    for sign, command in _LATEX_WORDS.items():
        text = text.replace(sign, command)
    return text


def _latex_cell(cell: FilledCell) -> str:
    value = _value(cell)
    if value and cell.best:
        return rf"\textbf{{{value}}}"
    return rf"\textit{{{value}}}" if value and cell.worst else value


def as_csv(tables: Sequence[FilledTable]) -> str:
    """One line per number, unrounded: table, row, source, run, metric, submetric, and the rest."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        "table row source run base metric submetric value low high documents best worst".split()  # noqa: SIM905
    )
    for table in tables:
        for row in table.rows:
            source = "ours" if row.ours else "paper"
            for cell in row.cells:
                if cell.estimate is None:
                    continue
                item = cell.estimate
                bounds = [item.low, item.high, item.documents] if item.documents else ["", "", ""]
                place = [table.number, row.label, source, row.run, row.base, *cell.column]
                flags = [int(cell.best), int(cell.worst)]
                writer.writerow([*place, item.mean, *bounds, *flags])
    return text.getvalue()


RENDERERS: dict[str, Callable[[Sequence[FilledTable]], str]] = {
    "terminal": terminal,
    "markdown": markdown,
    "latex": latex,
    "csv": as_csv,
}
