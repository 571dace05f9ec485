"""Inputs that no part of the project can use, by kind: typed by users, or sent by strangers."""

import copy
import gzip
import json
import math
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from brido.settings.load import check_params, read_yaml
from brido.tables import CANDIDATES
from brido.utils.errors import BridoError

# Writes a file, or does something else in its place.
Content = bytes | Callable[[Path], Any]

ODD: list[Any] = [
    -1, 10**400, 1e308, math.nan, math.inf, True, None, "", "x", "\x1b[2J", "\ud800", "a\0b",
    "x" * 100_000, [], [None], {}, {"a": 1}, {1: 2}, b"x",
]  # fmt: skip


def settings(root: Path, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """`count` params.yaml with one odd value, or an unknown key, that cannot be used."""
    whole, draw = read_yaml(root / "params.yaml"), random.Random(seed)
    # The switches of a chat template are free, and JSON makes texts of their names.
    places = [place for place in _places(whole) if "template" not in place]
    while count:
        changed = copy.deepcopy(whole)
        *above, name = draw.choice(places)
        inner = changed
        for key in above:
            inner = inner[key]
        inner[draw.choice([name, "unknown"])] = draw.choice(ODD)
        try:
            check_params(changed)  # many odd values are right at some keys
        except BridoError:
            count -= 1
            yield changed


def _places(tree: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in tree.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from _places(value, (*above, name))


SERVERS: list[dict[str, Any]] = [
    *({"base_url": address} for address in (
        "http://", "localhost:8000", "ftp://a/v1", "http://a b/v1", "http://a:99999/v1", "//a", "",
        "http://[::1/v1", "http://\ud800/v1", "http://a\n/v1", 7, "file:///etc/passwd",
    )),
    *({"max_cost": value} for value in (-1, math.nan, "x")),
    {"max_attempts": 0}, {"max_concurrency": 0}, {"timeout_seconds": 0},
    {"timeout_seconds": math.nan},
]  # fmt: skip


def whole(ending: str, rows: list[dict[str, Any]]) -> bytes:
    """The rows in a file of this ending."""
    if ending.startswith(".parquet"):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        return sink.getvalue().to_pybytes()
    if ending.startswith(".csv"):
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        text = "\n".join(lines).encode()
    else:
        text = "\n".join(map(json.dumps, rows)).encode()
    return gzip.compress(text, mtime=0) if ending.endswith(".gz") else text


def documents(number: int = 40) -> list[dict[str, Any]]:
    """Good rows of a corpus."""
    return [
        {"id": f"d{n}", "document": f"The text {n} is long.", "summary": f"Text {n}."}
        for n in range(number)
    ]


def damaged_files(rows: list[dict[str, Any]], seed: int) -> dict[str, Content]:
    """Files that are not of their format, by a name with their ending."""
    draw = random.Random(seed)
    found: dict[str, Content] = {
        "folder.jsonl": Path.mkdir,
        "pipe.jsonl": os.mkfifo,
        "missing.jsonl": lambda path: None,
        "link.jsonl": lambda path: path.symlink_to("nowhere"),
        "ending.docx": b"PK",
        "none": b"{}",
    }
    for ending in (".jsonl", ".csv", ".parquet", ".jsonl.gz"):
        good = whole(ending, rows)
        found[f"empty{ending}"] = b""
        found[f"zeros{ending}"] = b"\0" * 100
        found[f"bytes{ending}"] = draw.randbytes(200)
        found[f"head{ending}"] = good[: len(good) // 2] + (b'"' if ending == ".csv" else b"")
        if ending != ".csv":
            place = len(good) - draw.randrange(20, 60)
            found[f"middle{ending}"] = good[:place] + b'\xff"' + good[place + 2 :]
    lines = (
        b"[]", b"null", b'"text"', b"{", b'{"id": NaN', b"[" * 100_000, b"{}", b"\xff\xfe{\0}\0",
        b'{"document": "\\ud800", "summary": "a"}', b'{"document": null, "summary": null}',
        json.dumps({"document": "\u200b", "summary": "a"}).encode(),
        json.dumps({"document": "a", "summary": "\ufeff "}).encode(),
        json.dumps({"document": ["a"], "summary": {"a": 1}}).encode(),
    )  # fmt: skip
    return found | {f"line{number}.jsonl": line for number, line in enumerate(lines)}


# What takes the place of a row's values in a file of candidates, or in a line for a command.
ROWS: list[dict[str, Any]] = [
    {"candidates": value}
    for value in (5, "ab", None, True, [], ["one"], [1, 2, 3, 4], [None] * 4, {"a": "b"},
                  [["a"]] * 4, ["\ud800"] * 4, 10**400)
]  # fmt: skip
OF_CANDIDATES = [
    *ROWS,
    *({"ended": value} for value in (5, "ab", [True], [1] * 4, [None] * 4, False)),
    *({"id": value} for value in (5, None, ["a"], "nobody", "\ud800", "train-1")),
]


def write_loosely(path: Path, rows: list[dict[str, Any]]) -> None:
    """A table of candidates as any other program may write it: nulls are no error there."""
    schema = pa.schema([field.with_nullable(True) for field in CANDIDATES])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


# Keys of a small BART's config.json and generation_config.json that no model can have.
CONFIG: list[tuple[str, Any]] = [
    *(("encoder_layers", value) for value in (0, -1, "x", 1e308)),
    *(("decoder_layers", value) for value in (0, 7)),
    *(("vocab_size", value) for value in (0, -5, 10**4)),
    *(("d_model", value) for value in (0, 17, 10**5, None)),
    ("decoder_attention_heads", 3), ("model_type", "evil"), ("model_type", 5),
    ("d_model", "x"), ("encoder_attention_heads", 0), ("activation_function", "no"),
]  # fmt: skip
GENERATION: list[tuple[str, Any]] = [
    ("decoder_start_token_id", 10**6), ("forced_bos_token_id", 999), ("bad_words_ids", [[10**7]]),
    ("suppress_tokens", [-1]), ("eos_token_id", "x"), ("pad_token_id", [1, 2]),
]  # fmt: skip
TEMPLATES = [
    "{{ range(10 ** 9) | list }}", "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "{% for %}",
    "{{ 1 / 0 }}", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "{{ nothing.at.all }}", "",
    "{{ messages[-1].content[:9] }}", "no document at all",
]  # fmt: skip
