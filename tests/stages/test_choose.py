"""Stage choose: the choice on validation documents, its verdict, and the model that is kept."""

import json
import os
import shutil
from pathlib import Path

import pytest
import synthetic_run

from brido.report.card import weights_of
from brido.settings.load import load_params
from brido.summarizer.usage import read_usage
from brido.tables import DECODED, evaluation_schema, read_rows, write_table
from stages import choose, paths, sensitivity

DOCUMENTS = 60
SYSTEMS = ("base", "vote", "control", "guided")
VARIANTS = {"guided": {"checkpoint": "base", "length_penalty": -2.0, "guidance": {"weight": 0.3}}}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    synthetic_run.write_run(folder, documents=DOCUMENTS, count=4)
    shutil.rmtree(folder / "data/chosen")
    (folder / "metrics/choice.json").unlink()
    return folder


@pytest.fixture
def project(run, tmp_path, monkeypatch):
    """A finished run with one variant of base beside its systems."""
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    synthetic_run.write_params(tmp_path, variants=VARIANTS)
    copies = [(paths.decoded("base", split), paths.decoded("guided", split)) for split in SPLITS]
    copies += [
        (paths.evaluation("base", split), paths.evaluation("guided", split)) for split in SPLITS
    ]
    for source, copy in copies:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    return tmp_path


SPLITS = ("validation", "test")


def measured(metric, system, split="validation", **columns):
    """Columns of a system's table get these values, one for every document."""
    path = paths.evaluation(system, split)
    rows = read_rows(path, None, "")
    for place, row in enumerate(rows):
        for name, values in columns.items():
            row[f"{metric}.{name}"] = values[place]
    names = [name for name in rows[0] if name not in ("id", "detail")]
    write_table(path, [rows], evaluation_schema(names), {"signature": {}})


def good(**counts):
    """So many of each system's summaries are good, on validation documents and on test ones."""
    for system, count in counts.items():
        for split in SPLITS:
            values = [1.0] * count + [0.0] * (DOCUMENTS - count)
            measured("mentions", system, split, good=values)


def same_rouge():
    for system in SYSTEMS:
        for split in SPLITS:
            measured("rouge", system, split, r1=[40.0] * DOCUMENTS)


def chosen():
    choose.main()
    return json.loads(paths.CHOICE.read_text())


def test_what_is_written_of_the_best_system(project, capsys):
    same_rouge()
    good(base=30, vote=50, control=40, guided=35)
    sensitivity.main()
    capsys.readouterr()
    choice = chosen()
    assert (choice["chosen"], choice["best"], choice["reason"]) == ("vote", "vote", "best")
    assert (choice["documents"], choice["by"], choice["control"]) == (
        DOCUMENTS, "mentions.good", "control",
    )  # fmt: skip
    assert list(choice["systems"]) == ["base", "guided", "vote", "control"]
    row = choice["systems"]["vote"]
    assert (row["quality"], row["rouge"], row["left_out"]) == (round(50 / 60, 6), 40.0, [])
    texts = [row["summary"] for row in read_rows(paths.decoded("vote", "validation"), DECODED, "")]
    words = sum(len(text.split()) for text in texts) / DOCUMENTS
    assert row["words"] == pytest.approx(words, abs=1e-6)
    assert f"choose: {choice['verdict'][1]}\n" in capsys.readouterr().err
    # The first line says what the check sees, the second what is kept, the last how to use it.
    assert len(choice["verdict"]) == 5
    assert choice["verdict"][0].startswith("mentions ")
    assert choice["verdict"][0].endswith("mentions chooses and measures.")
    assert "brido summarize" in choice["verdict"][4]
    assert choice["sensitivity"]["mentions"]["unsupported"]["of"] == DOCUMENTS
    assert choice["measures"] is None
    # On test documents 50 of 60 are good as well, 30 of base's and 40 of the control's.
    heads, row = choice["table"][:2]
    assert heads == ["60 test documents", "base", "vote (kept)", "control (shuffled)"]
    assert [cell.split()[0] for cell in row[1:]] == ["50.0", "83.3", "66.7"]
    assert "83.3 %" in choice["verdict"][2]
    assert choice["verdict"][3].endswith("better.")

    assert weights_of(paths.CHOSEN) == weights_of(paths.checkpoint("vote"))
    usage = read_usage(paths.CHOSEN)
    assert (usage.system, usage.base) == ("vote", weights_of(paths.checkpoint("base")))
    assert usage.verdict == "\n".join(choice["verdict"])
    assert (usage.decoding.max_length, usage.guidance, usage.lowercase) == (20, None, False)
    assert usage.reading == load_params().reading_of("base")


def test_the_kept_folder_says_all_that_a_variant_changes(project):
    params = load_params()
    params = params.model_copy(update={"data": params.data.model_copy(update={"lowercase": True})})
    choose.store(params, "guided", "Keep guided.")
    usage = read_usage(paths.CHOSEN)
    assert usage.guidance.weight == 0.3
    assert (usage.decoding.length_penalty, usage.lowercase, usage.checked) == (-2.0, True, None)
    assert usage.candidates is not None


def made():
    files = [*sorted(paths.CHOSEN.rglob("*")), paths.CHOICE]
    return {str(path): path.read_bytes() for path in files}


def test_killed_while_it_writes_and_repeated_it_is_the_same(project, monkeypatch):
    same_rouge()
    good(base=30, vote=50, control=40, guided=35)
    chosen()
    expected = made()
    chosen()
    assert made() == expected
    for output in (paths.CHOICE, *paths.CHOSEN.iterdir()):
        output.unlink()
    paths.CHOSEN.rmdir()
    real, calls = os.replace, []

    def dying(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        with pytest.raises(KeyboardInterrupt):
            choose.main()
    assert not paths.CHOSEN.exists()
    assert not [path for path in Path("data").iterdir() if path.name.startswith(".")]
    chosen()
    assert made() == expected
