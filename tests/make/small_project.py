"""A folder with a small corpus, a tiny random BART as `base`, and params.yaml, for two stages."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import params_file
import pytest
import torch
from tiny_models import SPECIAL, tiny_bart, word_tokenizer
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from brido.candidates.settings import DiverseBeamGeneration, FilesGeneration, SamplingGeneration
from brido.search import SearchSettings, beam_search
from brido.search.guidance import Guidance
from brido.tables import CORPUS, write_table
from stages import paths

ROOT = Path(__file__).parents[2]
WORDS = [f"w{number}" for number in range(50)]
SPLITS = {"train": 20, "validation": 7, "test": 6}
GUIDED = {"weight": 0.4, "floor": 0.02, "others": 2, "seed": 3}
METHODS = {
    form.choice(): form for form in (DiverseBeamGeneration, SamplingGeneration, FilesGeneration)
}
SMALL = {
    "generation": {
        "num_candidates": 4,
        "num_beams": 8,
        "num_beam_groups": 4,
        "keep_every": 2,
        "diversity_penalty": 0.5,
        "max_length": 12,
    },
    "documents": {"train": 18, "validation": None, "test": 0},
    "reading": {"default": {"max_source_tokens": 20}},
    "runtime": {"threads": 1, "device": "cpu", "shard_documents": 4, "batch_tokens": 400},
}


def write_project(folder: Path, **sections: dict[str, Any]) -> None:
    """Write corpus, checkpoint and params.yaml; `sections` change keys of SMALL."""
    for split, count in SPLITS.items():
        write_corpus(folder, split, [document(n) for n in range(count)])
    write_checkpoint(folder / "data/checkpoints/base")
    write_params(folder, **sections)


def document(number: int) -> str:
    """A text of 5 to 33 words; those above 18 are longer than max_source_tokens."""
    return " ".join(
        WORDS[(number * 7 + place * place) % 50] for place in range(5 + number * 4 % 29)
    )


def write_needs(folder: Path, splits: Sequence[str] = ("validation",), prior: bool = False) -> None:
    """data/needs: the splits of which stages support and likelihood make tables."""
    needs = {"splits": list(splits), "prior": prior}
    for table in ("support", "likelihood"):
        path = folder / f"data/needs/{table}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(needs))


def write_corpus(folder: Path, split: str, documents: list[str]) -> None:
    """data/corpus/SPLIT.parquet with ids SPLIT-0, SPLIT-1, ..."""
    rows = [
        {"id": f"{split}-{n}", "document": text, "summary": "w1 w2", "references": ["w1 w2"]}
        for n, text in enumerate(documents)
    ]
    write_table(folder / f"data/corpus/{split}.parquet", [rows], CORPUS)


def write_params(folder: Path, **sections: dict[str, Any]) -> None:
    """params.yaml: the project's own with SMALL and `sections` on top.

    `generation` are keys of the one source, `base`.
    """
    params = params_file.default()
    params["systems"].remove("elected")
    source = params["generation"]["base"]
    for changes in (SMALL, sections):
        for section, values in changes.items():
            (source if section == "generation" else params[section]).update(values)
    # What the method does not know of SMALL's search is left out.
    known = METHODS[source["method"]].model_fields
    params["generation"]["base"] = {k: v for k, v in source.items() if k in known}
    params_file.write(folder, params)


def write_checkpoint(folder: Path, seed: int = 0, words: Sequence[str] = WORDS) -> None:
    """A BART with random weights whose summaries end after a few words, and its tokenizer."""
    word_tokenizer(words=words).save_pretrained(folder)
    model = tiny_bart(
        seed,
        vocab_size=len(SPECIAL) + len(words),
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=40,
        init_std=0.5,
    )
    model.final_logits_bias[0, 2] = 2.0
    settings = model.generation_config
    settings.num_beams, settings.length_penalty, settings.max_length = 3, 2.0, 15
    settings.forced_bos_token_id, settings.early_stopping = 0, True
    model.save_pretrained(folder)


def expected(
    number: int, others: Sequence[int] = (), system: str = "base", limit: int = 20, **changes: Any
) -> tuple[str, float]:
    """What a search alone writes of a document, guided by others if there are any."""
    folder = paths.checkpoint(system)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def read(numbers: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        texts = [document(n) for n in numbers]
        made = tokenizer(
            texts, truncation=True, max_length=limit, padding=True, return_tensors="pt"
        )
        return made.input_ids, made.attention_mask

    own, guidance = read([number]), None
    if others:
        rest = (part[None] for part in read(others))
        guidance = Guidance(*rest, GUIDED["weight"], GUIDED["floor"])
    used = {"num_beams": 3, "length_penalty": 2.0, "max_length": 15, "early_stopping": True}
    settings = SearchSettings(**used | changes)
    with torch.no_grad():
        result = beam_search(model, *own, settings, guidance)
    text = tokenizer.decode(result.sequences[0, 0], skip_special_tokens=True)
    return text, float(result.scores[0, 0])


def assert_decoded(rows: list[dict[str, Any]], **changes: Any) -> None:
    """The rows hold what a search alone finds for each document."""
    for number, row in enumerate(rows):
        text, score = expected(number, **changes)
        assert row["summary"] == text
        assert row["score"] == pytest.approx(score, rel=1e-5)
