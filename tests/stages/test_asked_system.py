"""A chat model behind a server as a system: its answers are its summaries, paid once."""

import json

import finished_run
import pytest
import small_project
from bad_endpoint import BadEndpoint, plain_answer

from brido.cli.main import main
from brido.settings import load
from brido.settings.load import check_params
from brido.summarizer.usage import Usage, write_usage
from brido.tables import CORPUS, DECODED, read_metadata, read_rows
from brido.utils.errors import BridoError
from stages import choose, paths, report

PROMPT = "Shorten this:\n{{ document }}"
CHAT = {"model": "big", "prompt": PROMPT, "system": "Be brief."}


@pytest.fixture
def decoded(tmp_path, monkeypatch):
    """Writes the summaries of `chat` by a server, and returns those of test documents."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRIDO_HOME", str(tmp_path))
    for name in ("BRIDO_WORK", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def make(server, runtime=None, **keys):
        servers = {"far": {"base_url": server.url, "timeout_seconds": 5.0, **(runtime or {})}}
        variant = {"checkpoint": "none", "endpoint": CHAT | {"endpoint": "far"} | keys}
        small_project.write_project(
            tmp_path, variants={"chat": variant}, runtime={"endpoints": servers}
        )
        finished_run.run(monkeypatch, "vary", "chat")
        return read_rows(paths.decoded("chat", "test"), DECODED, "")

    return make


def question(document):
    return PROMPT.replace("{{ document }}", document)


def test_every_document_is_asked_about_once_and_its_answer_is_cleaned(decoded):
    def chatty(text):
        return f"Here is a summary:\n{plain_answer(text)}"

    with BadEndpoint(answer=chatty) as server:
        rows = decoded(server)
        documents = read_rows(paths.corpus("test"), CORPUS, "")
        assert [row["id"] for row in rows] == [row["id"] for row in documents]
        # Without a seed the question alone decides.
        wanted = [plain_answer(f"{question(row['document'])} 0") for row in documents]
        assert [row["summary"] for row in rows] == wanted
        asked = len(server.requests)
        assert asked == 7  # of 13 documents, since those of test are among validation's
        first = server.requests[0]
        assert first["messages"][0] == {"role": "system", "content": "Be brief."}
        assert (first["model"], first["temperature"]) == ("big", 0.0)
        assert {"seed", "top_p"} & set(first) == set()
        assert decoded(server) == rows
        assert len(server.requests) == asked
    about = read_metadata(paths.decoded("chat", "test"), "")
    assert about["endpoint"]["prompt"] == PROMPT
    assert about["finish_reasons: stop"] == len(rows)


def test_the_command_asks_about_new_documents_and_pays_once(decoded, tmp_path, capsys):
    with BadEndpoint() as server:
        rows = decoded(server)
        asked = len(server.requests)
        known, new = small_project.document(3), "Ann went to York."
        lines = [json.dumps({"document": text}) for text in (known, " ", new)]
        (tmp_path / "new.jsonl").write_text("\n".join(lines))
        capsys.readouterr()
        main(["summarize", "new.jsonl", "--system", "chat", "--max-bad", "1"])
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert found[0]["summary"] == rows[3]["summary"]
        assert found[1]["summary"] == plain_answer(f"{question(new)} 0")
        assert found[1]["unsupported"][0]["text"]
        assert len(server.requests) == asked + 1
        # What the run keeps, where that is this system, has no model.
        folder = tmp_path / "data/chosen"
        folder.mkdir()
        write_usage(folder, Usage(system="chat"))
        main(["summarize", "new.jsonl", "--max-bad", "1"])
        assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == found
        for option in (["--checked"], ["--candidates", "4"], ["--max-length", "9"]):
            with pytest.raises(BridoError, match="server writes"):
                main(["summarize", "new.jsonl", "--system", "chat", *option])
        with pytest.raises(BridoError, match="no model to export"):
            main(["export-model", "-o", "out"])
        with pytest.raises(BridoError, match="no model to export"):
            main(["export-model", "chat", "-o", "out"])
        assert len(server.requests) == asked + 1


def test_the_command_asks_as_the_run_does(decoded, tmp_path, monkeypatch):
    with BadEndpoint() as server:
        decoded(server)
        params = load.load_params()
        lower = params.data.model_copy(update={"lowercase": True})
        params = params.model_copy(update={"data": lower})
        monkeypatch.setattr(load, "load_params", lambda: params)
        (tmp_path / "new.jsonl").write_text(json.dumps({"document": "Ann  went\tto York. "}))
        main(["summarize", "new.jsonl", "--system", "chat"])
        assert server.requests[-1]["messages"][-1]["content"] == question("ann went to york.")


def test_a_run_that_keeps_it_has_a_verdict_and_no_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    params = check_params(BASE | {"variants": {"chat": {"checkpoint": "none", "endpoint": CHAT}}})
    choose.store(params, "chat", "Keep chat.")
    (kept,) = paths.CHOSEN.iterdir()
    assert json.loads(kept.read_text())["system"] == "chat"
    table = [["12 test documents", "good %"], ["chat (kept)", "70.0"]]
    choice = {"chosen": "chat", "table": table, "verdict": ["Keep chat."]}
    report.write_card(params, None, choice)
    card = report.CARD.read_text()
    assert all(said in card for said in ("chat (kept)", "Keep chat.", "`big`"))


BASE = {"checkpoints": {"base": {"source": "embedded"}}}
WRONG = [
    ({"checkpoint": "base", "endpoint": CHAT}, "variants.chat: checkpoint: must be none"),
    ({"checkpoint": "none", "endpoint": CHAT, "num_beams": 2}, "num_beams: a server"),
    (
        {"checkpoint": "none", "endpoint": CHAT | {"endpoint": "nowhere"}},
        "variants.chat.endpoint.endpoint: 'nowhere' is not a key of runtime.endpoints",
    ),
    ({"checkpoint": "none", "endpoint": CHAT | {"prompt": "Hm."}}, "chat.endpoint.prompt"),
]


@pytest.mark.parametrize(("variant", "words"), WRONG)
def test_settings_that_contradict_each_other_are_named(variant, words):
    with pytest.raises(BridoError) as error:
        check_params(BASE | {"variants": {"chat": variant}})
    assert words in str(error.value)
