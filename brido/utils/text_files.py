"""Strangers' files as bytes and lines of text: unpacked, decoded, refused if of another kind."""

import codecs
import gzip
import io
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

from brido.utils.errors import BridoError, parsing
from brido.utils.extras import extra

STDIN = "-"
PACKED = (".gz", ".zst")
_UTF8 = "save it as UTF-8 (for instance `iconv -f WINDOWS-1252 -t UTF-8`)"
# How files of other kinds begin, and the way out.
_OTHERS = {
    b"PK\x03\x04": "it is an Excel, Word or ZIP file: save a table as CSV (UTF-8)",
    b"\xd0\xcf\x11\xe0": "it is an old Excel or Word file: save a table as CSV (UTF-8)",
    b"PAR1": "it is Parquet: name it .parquet",
    b"\x1f\x8b": "it is packed by gzip: add .gz to its name",
    b"\x28\xb5\x2f\xfd": "it is packed by zstd: add .zst to its name",
    b"%PDF": "it is a PDF: save its text as JSON lines or CSV",
}
# What is peeked may end behind the bracket.
_JSON = re.compile(r"\s*(\{|\[\s*([{\"\]]|\Z))")
# Bytes that are not UTF-8, as `surrogateescape` keeps them.
_UNDECODED = re.compile("[\udc80-\udcff]")


def opened(name: str | Path) -> AbstractContextManager[Any]:
    """A block with the bytes of a file (`-` for stdin), unpacked if it ends in .gz or .zst.

    Raises:
        ValueError: there is no such file, or it is not one; the message lacks its name.
    """
    if name == STDIN:
        return nullcontext(standard_input())
    path = Path(name)
    if not path.exists():
        raise ValueError("there is no such file")
    if not path.is_file():
        raise ValueError("it is a folder, a pipe or a device: name a file, or - for stdin")
    packed = path.suffix.lower()
    if packed == ".gz":
        return gzip.open(path)
    if packed == ".zst":
        with extra():
            import pyarrow as pa
        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def standard_input() -> io.BufferedReader:
    """The bytes of stdin.

    Raises:
        BridoError: stdin is closed.
    """
    if sys.stdin is None:
        raise BridoError("stdin is closed: name a file, or give lines on stdin")
    return cast(io.BufferedReader, sys.stdin.buffer)


def begins_json(stream: io.BufferedReader) -> bool:
    """Whether a text begins as a JSON object or an array of objects or texts does."""
    start = stream.peek(64)
    text = start.decode("utf-16" if _is_utf16(start) else "utf-8-sig", "ignore")
    return bool(_JSON.match(text))


def ending_of(path: Path) -> str:
    """The ending that says the format, in small letters, without that of a packer."""
    packed = path.suffix.lower() in PACKED
    return (path.with_suffix("") if packed else path).suffix.lower()


def text_lines(name: str | Path, shown: str = "") -> Iterator[str]:
    """The lines of a text file of any ending, or of stdin (`-`). shown: what messages call it.

    Raises:
        BridoError: it cannot be read, or is not text in UTF-8 or in UTF-16 with a byte order mark.
    """
    with (
        parsing(lambda reason: f"{shown or name} cannot be read: {reason}"),
        opened(name) as stream,
    ):
        for number, line in enumerate(decoded_lines(stream), 1):
            if problem := undecoded(line):
                raise ValueError(f"line {number} is {problem}")
            yield line


def decoded_lines(stream: io.BufferedReader) -> Iterator[str]:
    """The lines of a text; bytes that are not UTF-8 stay in them (see `undecoded`).

    Raises:
        ValueError: it is a file of another kind, or of another encoding.
    """
    start = stream.peek(16)
    for mark, what in _OTHERS.items():
        if start.startswith(mark):
            raise ValueError(what)
    if _is_utf16(start):
        with io.TextIOWrapper(stream, encoding="utf-16", newline="\n") as text:
            yield from text
        return
    if b"\0" in start[:4]:
        raise ValueError(
            "it holds zero bytes, as UTF-32 and UTF-16 without a byte order mark do: save it as "
            "UTF-8 (for instance `iconv -f UTF-16LE -t UTF-8`)"
        )
    encoding = "utf-8-sig"
    for line in stream:
        yield line.decode(encoding, "surrogateescape")
        encoding = "utf-8"


def undecoded(text: str) -> str:
    """What is wrong with a text that has bytes of another encoding than UTF-8; "" for none."""
    found = None if text.isascii() else _UNDECODED.search(text)
    return f"not UTF-8 (byte 0x{ord(found[0]) - 0xDC00:02x}): {_UTF8}" if found else ""


def _is_utf16(start: bytes) -> bool:
    return start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and start[2:4] != b"\0\0"
