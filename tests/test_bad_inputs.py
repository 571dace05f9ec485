"""Bad inputs of every kind: one sentence, exit code 2, nothing changed on disk.

All in one process, through the commands and the stages' own functions. Readers alone meet
thousands more in tests/tables/test_fuzz_readers.py.
"""

import contextlib
import copy
import gzip
import hashlib
import io
import json
import math
import os
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_project
from tiny_chat import chat_tokenizer

from brido.cli import config, evaluate, export_pairs, score, vote_check
from brido.endpoint.settings import EndpointRuntime
from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings
from brido.settings.load import check_params, load_params, read_yaml
from brido.settings.presets import flatten
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from stages import checkpoint, download, generate

pytestmark = pytest.mark.slow


def content(folder):
    """The hash of every file that is somebody's: locks of unfinished work are nobody's."""
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_relative_to(folder / ".brido")
    }


def wrong_of(call):
    """What is wrong with how a command ends: "" where it is one sentence and exit code 2."""
    out, said, before, code = io.StringIO(), io.StringIO(), content(Path.cwd()), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            run_command(call)
        except SystemExit as end:
            code = end.code
        except BaseException as error:
            return f"{type(error).__name__}: {error}"[:200]
    text = said.getvalue()
    if code != 2 or "error:" not in text.lower():
        return f"exit code {code}, {text[-200:]!r}"
    if "Traceback" in text or "\x1b" in text or len(text) > 6000:
        return f"not a sentence: {text[:200]!r}"
    changed = content(Path.cwd()).items() ^ before.items()
    return f"changed on disk: {changed}"[:200] if changed else ""


def check(cases):
    """Try all cases, (name, call); all that end wrongly are named together."""
    found = {name: wrong for name, call in cases if (wrong := wrong_of(call))}
    assert not found, json.dumps(found, indent=2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small project that works."""
    small_project.write_project(folder := tmp_path_factory.mktemp("whole"))
    return folder


@pytest.fixture
def project(whole, tmp_path, monkeypatch):
    """A copy of it, and in it."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def write_params(params, name="params.yaml"):
    """JSON is YAML, but for what it cannot write."""
    text = json.dumps(params).replace("NaN", ".nan")
    Path(name).write_text(text.replace("-Infinity", "-.inf").replace("Infinity", ".inf"))


ODD = [
    -1, 10**400, 1e308, math.nan, math.inf, True, None, "", "x", "\x1b[2J", "\ud800", "a\0b",
    "x" * 100_000, [], [None], {}, {"a": 1}, {1: 2},
]  # fmt: skip


def bad_settings(count, seed):
    """`count` params.yaml with one odd value, or an unknown key, that cannot be used."""
    whole, draw = read_yaml(small_project.ROOT / "params.yaml"), random.Random(seed)
    whole["runtime"]["endpoint"] = EndpointRuntime().model_dump()
    # The switches of a chat template are free, and JSON makes texts of their names.
    places = sorted({key.rsplit(".", n)[0] for key in flatten(whole) for n in range(4)})
    places = [place.split(".") for place in places if "template" not in place]
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


def test_settings(project):
    def cases():
        for number, params in enumerate(bad_settings(100, seed=0)):
            write_params(params, name := f"params{number}.json")
            yield name, lambda name=name: invoke(config.command, [name])

    check(cases())


def damaged_files():
    """Files that are not of their format, by a name with their ending."""
    found = {"none": b"{}", "folder.jsonl": None}
    text = "".join(json.dumps({"document": f"A {n}.", "summary": "B."}) + "\n" for n in range(40))
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"document": ["A."] * 40, "summary": ["B."] * 40}), sink)
    for ending, good in {
        ".jsonl": text.encode(),
        ".jsonl.gz": gzip.compress(text.encode(), mtime=0),
        ".csv": b'document,summary\nA.,B.\n"A.,B.',
        ".parquet": sink.getvalue().to_pybytes(),
    }.items():
        found[f"empty{ending}"] = b""
        found[f"bytes{ending}"] = random.Random(1).randbytes(200)
        found[f"cut{ending}"] = good if ending == ".csv" else good[: len(good) // 2]
    return found


def test_documents(project):
    params = read_yaml(Path("params.yaml"))
    params["data"]["source"] = "files"

    def cases():
        for name, made in damaged_files().items():
            Path(name).mkdir() if made is None else Path(name).write_bytes(made)
            params["data"]["files"] = {"train": name}
            write_params(params)
            yield name, download.main

    check(cases())


BAD_CANDIDATES = [5, "ab", None, True, [], ["one"], [1, 2, 3, 4], [None] * 4, {"a": "b"},
                  [["a"]] * 4, ["\ud800"] * 4, 10**400]  # fmt: skip


def test_candidates_of_users(project):
    files = {"train": "own.jsonl", "validation": "own.jsonl"}
    given = {"method": "files", "checkpoint": "none", "files": files}
    small_project.write_params(project, generation=given)

    def cases():
        for value in BAD_CANDIDATES:
            Path("own.jsonl").write_text(json.dumps({"id": "train-0", "candidates": value}))
            yield str(value), lambda: generate.make(load_params(), "base")

    check(cases())


def test_lines_of_commands(project):
    line = {"document": "The cat sat in Leeds.", "summary": "A cat sat.", "scores": [4, 3, 2, 1],
            "candidates": ["a b", "a c", "d", "e"]}  # fmt: skip
    raw = [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'"text"', b'{"a": 1e999, ']
    voted = [line | {"candidates": value} for value in BAD_CANDIDATES]
    scores = (5, None, [1], ["x"] * 4, [10**400, 3, 2, 1], [True, 0, 0, 0])
    scored = [line | {"scores": value} for value in scores]
    texts = [line | {key: value} for key in ("document", "summary") for value in (None, 5, {})]
    commands = {
        "score": (score.command, ["in.jsonl"], voted),
        "vote-check": (vote_check.command, ["in.jsonl"], voted),
        "export-pairs": (export_pairs.command, ["in.jsonl", "-o", "o.jsonl"], [*voted, *scored]),
        "geval": (evaluate.command, ["geval", "in.jsonl", "-S", "model=m"], texts),
        "qafacteval": (evaluate.command, ["qafacteval", "in.jsonl"], texts),
    }  # fmt: skip

    def cases():
        for name, (command, words, rows) in commands.items():
            for text in [*raw, *(json.dumps(row).encode() for row in rows)]:
                Path("in.jsonl").write_bytes(text)
                run = lambda command=command, words=words: invoke(command, words)  # noqa: E731
                yield f"{name} {text[:80]}", run

    check(cases())


# Keys of a small BART's config.json and generation_config.json that no model can have.
KEYS = {
    "config.json": {
        "encoder_layers": (0, -1, "x", 1e308), "decoder_layers": (0, 7), "vocab_size": (0, -5, 999),
        "d_model": (0, 17, 10**5, None, "x"), "activation_function": ("no",),
        "encoder_attention_heads": (0,), "decoder_attention_heads": (3,), "model_type": ("evil", 5),
    },
    "generation_config.json": {
        "decoder_start_token_id": (10**6,), "forced_bos_token_id": (999,), "eos_token_id": ("x",),
        "bad_words_ids": ([[10**7]],), "suppress_tokens": ([-1],), "pad_token_id": ([1, 2],),
    },
}  # fmt: skip


def test_checkpoints(project):
    params = read_yaml(Path("params.yaml"))
    params["checkpoints"]["base"] = {"source": "model"}
    write_params(params)

    def damaged(name, change):
        shutil.rmtree("model", ignore_errors=True)
        shutil.copytree(project / "data/checkpoints/base", "model")
        change(Path("model") / name)
        return lambda: checkpoint.make(load_params(), "base")

    def cases():
        for name, keys in KEYS.items():
            for change in ({key: value} for key, values in keys.items() for value in values):
                yield str(change), damaged(name, lambda path, change=change: path.write_text(
                    json.dumps(json.loads(path.read_text()) | change)))  # fmt: skip
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            yield f"no {name}", damaged(name, Path.unlink)
            yield f"{name} of zeros", damaged(name, lambda path: path.write_bytes(b"\0" * 99))
            yield f"{name} cut", damaged(name, lambda path: os.truncate(path, 500))

    check(cases())


@pytest.mark.parametrize("text", [
    "{{ range(10 ** 9) | list }}", "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "{% for %}",
    "{{ 1 / 0 }}", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "{{ nothing.at.all }}", "",
    "{{ messages[-1].content[:9] }}", "no document at all",
])  # fmt: skip
def test_templates(project, text):
    reading = ReadingSettings(prompt="{{ document }}")
    assert wrong_of(lambda: Prompt.of(chat_tokenizer(text), reading)) == ""
