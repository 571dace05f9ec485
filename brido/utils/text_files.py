"""Strangers' text files as lines: unpacked, decoded, and named where they are something else."""

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from brido.utils.errors import BridoError
from brido.utils.extras import extra

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_GZIP = b"\x1f\x8b"
_SAVED = "save a table as CSV (UTF-8), a text as plain text"
# How files of other kinds begin, what they are, and the way out.
_OTHERS = {
    b"PK\x03\x04": ("an Excel, Word or ZIP file", f"{_SAVED}, or unpack it"),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", _SAVED),
    b"{\\rtf": ("an RTF document", _SAVED),
    b"PAR1": ("Parquet", "name it .parquet"),
    _GZIP: ("packed by gzip", "unpack it, or add .gz to its name"),
    b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it, or add .zst to its name"),
    b"BZh": ("packed by bzip2", "unpack it"),
    b"\xfd7zXZ": ("packed by xz", "unpack it"),
    b"%PDF": ("a PDF", "save its text as JSON lines or CSV"),
    b"SQLite format 3": ("an SQLite database", "export the table as CSV"),
}
# Longer marks first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def ending_of(path: Path) -> str:
    """The ending that says the format, in small letters, without that of a packer."""
    packed = path.suffix.lower() in COMPRESSIONS
    return (path.with_suffix("") if packed else path).suffix.lower() or path.suffix.lower()


def open_text(path: Path) -> io.BufferedReader:
    """The bytes of a file that may hold text, unpacked if its ending says that it is packed.

    Raises:
        BridoError: it begins as a file of another kind does, which the message names.
    """
    stream = _opened(path)
    try:
        check_text(path, stream)
    except BridoError:
        stream.close()
        raise
    return stream


def check_text(path: Path, stream: io.BufferedReader) -> None:
    """Refuse what begins as a file of another kind does, or holds zero bytes.

    Raises:
        BridoError: it does; the message names the kind and the way out.
    """
    start = stream.peek(16)
    for mark, (what, way_out) in _OTHERS.items():
        if start.startswith(mark):
            raise BridoError(f"{path} is {what}, though a text is expected: {way_out}")
    if marked_encoding(start) is None and b"\0" in start[:4]:
        raise BridoError(
            f"{path} holds zero bytes, as UTF-16 without a byte order mark does: save it as UTF-8 "
            "(for instance `iconv -f UTF-16LE -t UTF-8`)"
        )


def text_lines(path: Path, stream: io.BufferedReader) -> Iterator[str]:
    """The lines of a file of UTF-8, with or without a byte order mark, or of UTF-16 with one.

    Raises:
        BridoError: a line is not in this encoding.
    """
    if encoding := marked_encoding(stream.peek(16)):
        with io.TextIOWrapper(stream, encoding=encoding, newline="\n") as text:
            yield from _named(path, text, encoding)
        return
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BridoError(
                f"{path}: line {number} is not UTF-8 (byte 0x{line[error.start]:02x}): save it as "
                "UTF-8 (for instance `iconv -f WINDOWS-1252 -t UTF-8`)"
            ) from None


def _named(path: Path, lines: Iterator[str], encoding: str) -> Iterator[str]:
    try:
        yield from lines
    except UnicodeError:
        raise BridoError(
            f"{path} begins as {encoding.upper()} but is not: is it cut off? Save it as UTF-8"
        ) from None


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark names; None for UTF-8."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def _opened(path: Path) -> io.BufferedReader:
    compression = COMPRESSIONS.get(path.suffix.lower())
    if compression is None:
        return path.open("rb")
    with extra():
        import pyarrow as pa
    with path.open("rb") as plain:
        # A download that unpacks leaves the ending. (The start of a zstd file takes many forms.)
        if compression == "gzip" and plain.read(2) not in (_GZIP, b""):
            raise BridoError(f"{path} is not packed by gzip: take .gz off its name")
    stream: BinaryIO = pa.input_stream(str(path), compression=compression)
    return io.BufferedReader(stream)  # type: ignore[arg-type]
