"""Rows of texts in columns, for a terminal."""

from collections.abc import Sequence
from io import StringIO

Rows = Sequence[Sequence[str]]


def aligned(*parts: Rows) -> str:
    """Lay rows out as plain text: the first column to the left, the others to the right.

    The first row of the first part is the heading; a rule stands between the parts. Cells may have
    several lines.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.HORIZONTALS, show_edge=False, pad_edge=False, header_style="")
    for index, heading in enumerate(parts[0][0]):
        table.add_column(Text(heading), justify="right" if index else "left", no_wrap=True)
    for number, rows in enumerate(parts):
        for row in rows[1:] if number == 0 else rows:
            table.add_row(*map(Text, row))
        table.add_section()
    written = StringIO()
    Console(file=written, width=10_000, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())
