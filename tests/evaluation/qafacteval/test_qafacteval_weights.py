"""Archives in the published layout become transformers folders with the same logits."""

import copy
import io
import shutil
import tarfile
from pathlib import Path

import pytest
import torch

from brido.evaluation.qafacteval.questions import MarkedSentence, QuestionGenerator, shift_positions
from brido.evaluation.qafacteval.weights import find_models
from brido.utils.errors import BridoError

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folders(published) -> dict[str, Path]:
    torch.set_num_threads(1)
    return find_models(str(published.folder))


def test_questions_have_the_logits_of_their_model(published, folders):
    generator = QuestionGenerator(folders["questions"], CPU)
    original = copy.deepcopy(published.questions)
    shift_positions(original)
    ids = torch.tensor([generator.encode(MarkedSentence("Ann left Leeds.", 0, 3))])
    start = torch.tensor([[0, 5, 6]])
    with torch.no_grad():
        expected = original(input_ids=ids, decoder_input_ids=start).logits
        found = generator.model(input_ids=ids, decoder_input_ids=start).logits
    assert torch.equal(found, expected)
    output = generator.model.get_output_embeddings().weight
    assert output.data_ptr() == generator.model.get_input_embeddings().weight.data_ptr()
    rows = len(output)
    assert generator.tokenizer.convert_tokens_to_ids(["<m>", "</m>"]) == [rows - 2, rows - 1]


def _copy(published, target: Path, *without: str) -> Path:
    """The published folder without its conversions and without these files."""
    ignored = shutil.ignore_patterns("converted", *without)
    return Path(shutil.copytree(published.folder, target, ignore=ignored))


def _rewrite(path: Path, change) -> None:
    """Change the tensors in the weights.th of an archive."""
    with tarfile.open(path) as archive:
        state = torch.load(io.BytesIO(archive.extractfile("weights.th").read()), weights_only=True)
    buffer = io.BytesIO()
    torch.save(change(state), buffer)
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("weights.th")
        entry.size = buffer.tell()
        archive.addfile(entry, io.BytesIO(buffer.getvalue()))


def test_everything_missing_is_named_with_the_way_to_get_it(tmp_path):
    with pytest.raises(BridoError) as caught:
        find_models(str(tmp_path))
    message = str(caught.value)
    assert "hf download amritgupta/qafacteval generation_model.tar.gz" in message
    assert f"{tmp_path}/bart-large/merges.txt" in message


class _Evil:
    def __reduce__(self):
        return (Path.touch, (Path("touched"),))


def _drop(state):
    del state["bart.model.encoder.layers.0.fc1.bias"]
    wrong = {"bart.extra": torch.zeros(1), "bart.model.decoder.layers.0.fc2.weight": torch.zeros(3)}
    return state | wrong


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            _drop,
            [
                'Missing key(s) in state_dict: "model.encoder.layers.0.fc1.bias"',
                'Unexpected key(s) in state_dict: "extra"',
                "size mismatch for model.decoder.layers.0.fc2.weight",
            ],
        ),
        (lambda state: {"bart.x": _Evil()}, ["generation_model.tar.gz cannot be converted"]),
    ],
)
def test_other_weights_are_refused_and_nothing_in_them_is_executed(
    published, tmp_path, monkeypatch, change, said
):
    monkeypatch.chdir(tmp_path)
    root = _copy(published, tmp_path / "models")
    _rewrite(root / "generation_model.tar.gz", change)
    with pytest.raises(BridoError) as caught:
        find_models(str(root))
    assert all(part in str(caught.value) for part in said)
    assert not (root / "converted" / "questions").exists()
    assert not Path("touched").exists()


def test_a_truncated_archive_and_a_place_that_takes_no_folder(published, tmp_path):
    root = _copy(published, tmp_path / "models")
    (root / "converted").touch()
    with pytest.raises(BridoError, match="cannot be converted"):
        find_models(str(root))
    (root / "converted").unlink()
    for name in ("generation_model.tar.gz", "answering_model.zip"):
        path = root / name
        path.write_bytes(path.read_bytes()[:3000])
        with pytest.raises(BridoError, match=f"{name} cannot be converted"):
            find_models(str(root))
        shutil.copy(published.folder / name, path)


@pytest.mark.parametrize(
    "entry", [{"name": "../evil"}, {"name": "/tmp/evil"}, {"name": "link", "type": tarfile.SYMTYPE}]
)
def test_an_archive_writes_only_files_and_only_into_its_folder(published, tmp_path, entry):
    root = _copy(published, tmp_path / "models")
    evil = tarfile.TarInfo()
    evil.linkname = "../evil"
    for field, value in entry.items():
        setattr(evil, field, value)
    with tarfile.open(root / "generation_model.tar.gz", "w:gz") as archive:
        archive.addfile(evil, io.BytesIO())
    with pytest.raises(BridoError, match=f"{entry['name']} is not a file inside"):
        find_models(str(root))
    assert not [path for path in root.rglob("*") if path.name == "evil"]
