"""docs/deploy.md: its Python runs, the web service answers, and transformers writes the same."""

import re
from pathlib import Path

import pytest
import small_project
from tiny_chat import chat_tokenizer, tiny_llama
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, pipeline

from brido.models import LanguageModel
from brido.models.settings import ReadingSettings
from brido.search.settings import DecodingSettings
from brido.summarizer import Summarizer
from brido.summarizer.usage import Usage, usage_of, write_usage

PAGE = Path(__file__).parents[2] / "docs/deploy.md"
SHORT = ReadingSettings(max_source_tokens=20)
TEXTS = [small_project.document(number) for number in range(50)]


@pytest.fixture
def model(tmp_path, monkeypatch):
    """my/model, as the page calls it; the seed writes more than one word."""
    folder = tmp_path / "my/model"
    small_project.write_checkpoint(folder)
    write_usage(folder, Usage(reading=SHORT))
    monkeypatch.chdir(tmp_path)
    return folder


def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_of_the_page_prints_summaries(model, capsys):
    exec(blocks()[0], {})
    expected = Summarizer.load(model).summarize(["A long article ...", "Another one ..."])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(" 0.0 ")[0] for line in printed] == [each.text for each in expected]


def test_the_handler_of_the_page_answers(model):
    client = pytest.importorskip("fastapi.testclient").TestClient
    exec(blocks()[1], names := {})
    expected = [each.as_row() for each in Summarizer.load(model).summarize(TEXTS[:3])]
    assert client(names["app"]).post("/summaries", json=TEXTS[:3]).json() == expected


def test_transformers_writes_the_same_from_the_folder(model):
    own = AutoModelForSeq2SeqLM.from_pretrained(model)
    tokenizer = AutoTokenizer.from_pretrained(model)
    expected = []
    for text in TEXTS:
        source = tokenizer(text, truncation=True, max_length=20, return_tensors="pt")
        written = own.generate(**source, num_beams=1, do_sample=False)
        expected.append(tokenizer.decode(written[0], skip_special_tokens=True))
    summarizer = Summarizer.load(model, device="cpu", changes={"num_beams": 1})
    assert [each.text for each in summarizer.summarize(TEXTS)] == expected
    assert len(set(expected)) > 5


def test_a_chat_model_writes_the_same_in_a_pipeline(tmp_path):
    reading = ReadingSettings(max_source_tokens=64, prompt="the cat\n{{ document }}")
    parts = LanguageModel(tiny_llama(), chat_tokenizer(), reading)
    folder = tmp_path / "chat"
    parts.save(folder)
    decoding = DecodingSettings(num_beams=1, max_length=8)
    write_usage(folder, usage_of(folder, reading, decoding))
    texts = ["the cat sat", "in the cat", "sat sat the", "cat"]
    pipe = pipeline("text-generation", model=str(folder), device="cpu")
    for text, summary in zip(texts, Summarizer.load(folder).summarize(texts), strict=True):
        chat = [{"role": "user", "content": f"the cat\n{text}"}]
        (answer,) = pipe(chat, max_new_tokens=8, do_sample=False, return_full_text=False)
        assert " ".join(answer["generated_text"].split()) == summary.text
