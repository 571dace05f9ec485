"""What a command prints, whole, as it was approved: tests/approved/NAME.txt, numbers by hand."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "approved"


def assert_approved(name: str, printed: str) -> None:
    """Check that a text is the approved one."""
    assert printed == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
