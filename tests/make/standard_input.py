"""A text as standard input."""

import io


def stdin(text: str | bytes) -> io.TextIOWrapper:
    """The text as a command finds it on stdin."""
    content = text.encode() if isinstance(text, str) else text
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
