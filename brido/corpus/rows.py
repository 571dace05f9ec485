"""Rows of tables whose columns a user names, before any check."""

from typing import Any

from brido.corpus.checks import MissingId, RawRow, Unlabelled
from brido.corpus.settings import FilesSettings, HubSettings

SPLITS = ("train", "validation", "test")


def raw_row(
    columns: HubSettings | FilesSettings,
    values: dict[str, Any],
    where: str,
    has_id: bool,
    references: Any = None,
) -> RawRow:
    """The row of a user's table; `columns` names its columns, `has_id` says whether it has ids."""
    identity = values.get(columns.id_column or "") if has_id else None
    return RawRow(
        MissingId if has_id and identity is None else identity,
        values.get(columns.document_column),
        Unlabelled if columns.summary_column is None else values.get(columns.summary_column),
        references,
        where,
    )
