"""Bad inputs of every kind: one sentence, exit code 2, nothing changed on disk.

All in one process, through the commands and the stages' own functions. Readers alone meet
thousands more in tests/tables/test_fuzz_readers.py.
"""

import contextlib
import hashlib
import io
import json
import shutil
from pathlib import Path

import bad_inputs
import pytest
import small_project
from tiny_chat import chat_tokenizer

from brido.cli import config, evaluate, export_pairs, score, vote_check
from brido.models.prompt import Prompt
from brido.models.settings import ReadingSettings
from brido.settings.load import load_params, read_yaml
from brido.utils.commands import invoke
from brido.utils.errors import run_command
from stages import checkpoint, download, generate

pytestmark = pytest.mark.slow
TRIED: dict[str, int] = {}


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
    folder = tmp_path_factory.mktemp("whole")
    small_project.write_project(folder)
    return folder


@pytest.fixture
def project(whole, tmp_path, monkeypatch):
    """A copy of it, and in it."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def writing(path, content, call):
    """Write the input, then answer with the call on it."""
    path = Path(path)
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    return call


def test_settings(project):
    def cases():
        for number, params in enumerate(bad_inputs.settings(small_project.ROOT, 80, seed=0)):
            path = Path(f"params{number}.json")  # JSON is YAML, but for what it cannot write
            path.write_text(json.dumps(params, default=repr, allow_nan=True).replace("NaN", ".nan")
                            .replace("-Infinity", "-.inf").replace("Infinity", ".inf"))  # fmt: skip
            yield path.name, lambda path=path: invoke(config.command, [str(path)])
        for change in bad_inputs.SERVERS:
            params = read_yaml(Path("params.yaml"))
            params["runtime"]["endpoint"] = change
            params["evaluation"] |= {"geval": {"model": "m"}, "metrics": ["geval"]}
            Path("server.json").write_text(json.dumps(params).replace("NaN", ".nan"))
            yield str(change), lambda: invoke(config.command, ["server.json"])

    check(cases())


def test_documents(project):
    params = read_yaml(Path("params.yaml"))
    params["data"]["source"] = "files"

    def cases():
        files = bad_inputs.damaged_files(bad_inputs.documents(), seed=1)
        for name, made in files.items():
            params["data"]["files"] = {"train": name}
            Path("params.yaml").write_text(json.dumps(params))
            yield name, writing(name, made, download.main)
        Path("good.jsonl").write_bytes(bad_inputs.whole(".jsonl", bad_inputs.documents()))
        for change in (
            {"document_column": "nothing"}, {"id_column": "nothing"}, {"validation": "good.jsonl"},
            {"train": "*.nothing"}, {"train": ["good.jsonl", "good.jsonl"]},
        ):  # fmt: skip
            params["data"]["files"] = {"train": "good.jsonl", **change}
            Path("params.yaml").write_text(json.dumps(params))
            yield str(change), download.main

    check(cases())


def test_candidates_of_users(project):
    files = {"train": "own.jsonl", "validation": "own.jsonl"}
    good = [{"id": f"{split}-{n}", "candidates": ["a b", "a c", f"d {n}", "e"]}
            for split, count in small_project.SPLITS.items() for n in range(count)]  # fmt: skip
    given = {"method": "files", "checkpoint": "none", "files": files}
    small_project.write_params(project, generation=given)

    def cases():
        for change in bad_inputs.OF_CANDIDATES:
            rows = [{**good[0], **change}, *good[1:]]
            text = "\n".join(json.dumps(row) for row in rows).encode()
            run = lambda: generate.make(load_params(), "base")  # noqa: E731
            yield str(change), writing("own.jsonl", text, run)

    check(cases())


def test_lines_of_commands(project):
    line = {"document": "The cat sat in Leeds.", "summary": "A cat sat.", "scores": [4, 3, 2, 1],
            "candidates": ["a b", "a c", "d", "e"], "order": [0, 1, 2, 3]}  # fmt: skip
    raw = [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'"text"', b'{"a": 1e999, ']
    voted = [line | row for row in bad_inputs.ROWS]
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
            lines = [*raw, *(json.dumps(row).encode() for row in rows)]
            for text in lines:
                run = lambda command=command, words=words: invoke(command, words)  # noqa: E731
                yield f"{name} {text[:80]}", writing("in.jsonl", text, run)

    check(cases())


def test_checkpoints(project):
    good = project / "data/checkpoints/base"
    params = read_yaml(Path("params.yaml"))
    params["checkpoints"]["base"] = {"source": "model"}
    Path("params.yaml").write_text(json.dumps(params))

    def damage(name, change):
        shutil.rmtree("model", ignore_errors=True)
        shutil.copytree(good, "model")
        change(Path("model") / name)

    def keyed(key, value):
        def change(path):
            path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))

        return change

    def cases():
        changes = [("config.json", keyed(*pair), pair) for pair in bad_inputs.CONFIG]
        changes += [
            ("generation_config.json", keyed(*pair), pair) for pair in bad_inputs.GENERATION
        ]
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            changes.append((name, Path.unlink, "missing"))
            changes.append((name, lambda path: path.write_bytes(b"\0" * 99), "zeros"))
            changes.append((name, lambda path: path.write_bytes(path.read_bytes()[:500]), "cut"))
        for name, change, what in changes:
            damage(name, change)
            yield f"{name} {what}", lambda: checkpoint.make(load_params(), "base")
        for source in (
            "package:../../x.gguf",
            "package:no_such/x.gguf",
            "nowhere.gguf",
            "./nowhere",
        ):
            params["checkpoints"]["base"] = {"source": source}
            Path("params.yaml").write_text(json.dumps(params))
            yield source, lambda: checkpoint.make(load_params(), "base")

    check(cases())


def test_templates(project):
    reading = ReadingSettings(prompt="{{ document }}")

    def cases():
        for text in bad_inputs.TEMPLATES:
            yield text, lambda text=text: Prompt.of(chat_tokenizer(text), reading)
        for prompt in ("{{ documnet }}", "{% if %}", "none", "{{ document[:3] }}", "{{ 1 / 0 }}"):
            own = ReadingSettings(prompt=prompt)
            yield prompt, lambda own=own: Prompt.of(chat_tokenizer(), own)

    check(cases())
