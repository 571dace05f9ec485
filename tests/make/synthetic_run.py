"""Synthetic tables of a whole run, by the schemas of brido/tables, for tests of the report."""

import json
from pathlib import Path

import numpy as np
import params_file
from pool_rows import pooled

from brido import tables

# Towns of the embedded world, so that the exact mention finder knows them.
TOWNS = ("Ashwick", "Bramford", "Colham", "Dunbury", "Elmton")
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    " <!-- & &lt;b&gt; ${alert(1)} {{7*7}} \u2028 \U0001f600 done"
)
SUBMETRICS = {
    "rouge": ("r1", "r2", "rl", "rlsum"),
    "mentions": ("precision", "unsupported", "whole", "good"),
    "extractiveness": ("coverage", "length"),
    "world_qa": ("is_answered", "f1", "em"),
}
# How much better a system is than base, in tenths of every number.
GAINS = {"reference": -1, "base": 0, "control": 1, "vote": 2}
SYSTEMS = tuple(GAINS)
VERDICT = ["Keep vote: it is best.", "The control does as well."]
TABLE = [["12 test documents", "good %"], ["base", "60.0"], ["vote (kept)", "70.0"]]


def similarity_matrix(random: np.random.Generator, count: int) -> np.ndarray:
    """A float32 [N, N+1] matrix with a zero diagonal and some equal rows, so that ties occur."""
    matrix = random.integers(1, 40, (count, count + 1)).astype(np.float32) / np.float32(40)
    matrix[1] = matrix[0]
    matrix[1, 0] = matrix[0, 1]
    matrix[np.arange(count), np.arange(count)] = 0
    return matrix


def write_run(folder: Path, documents: int = 12, count: int = 8) -> None:
    """Write data/ and metrics/choice.json of a run of `documents` documents."""
    random = np.random.default_rng(0)
    data = folder / "data"
    for split in ("validation", "test"):
        corpus = [_document(split, index) for index in range(documents)]
        tables.write_table(data / f"corpus/{split}.parquet", [corpus], tables.WORLD_CORPUS)
        for system in SYSTEMS:
            rows = [
                {"id": row["id"], "summary": _summary(random, row), "score": -0.5} for row in corpus
            ]
            path = data / f"decoded/{system}/{split}.parquet"
            tables.write_table(path, [rows], tables.DECODED)
    _write_votes(data, documents, count, random)
    for system in SYSTEMS:
        for split in ("test", "validation"):
            _write_evaluations(data, system, split, documents, random)
    (folder / "metrics").mkdir(parents=True, exist_ok=True)
    splits = {split: {"documents": documents} for split in ("validation", "test")}
    (data / "corpus/source.json").write_text(json.dumps({"source": "world", "splits": splits}))
    for system in ("base", "vote", "control"):
        _write_model(data / "checkpoints" / system, system)
    (folder / "metrics/sensitivity.json").write_text("{}")
    (folder / "metrics/training").mkdir()
    for system in ("vote", "control"):
        text = "update,loss,cross_entropy,contrastive,tau\n0,3.5,1.5,0.1,0.2\n5,3.0,1.4,0.09,\n"
        (folder / f"metrics/training/{system}.csv").write_text(text)
    (data / "checkpoints/base/source.json").write_text('{"source": "embedded"}')
    choose(folder, "vote")


def choose(folder: Path, system: str) -> None:
    """Write what stage choose leaves, as if it had chosen `system`."""
    about = {"by": "mentions.good", "control": "control", "verdict": VERDICT, "table": TABLE}
    (folder / "metrics/choice.json").write_text(json.dumps({"chosen": system} | about))
    _write_model(folder / "data/chosen", system)
    (folder / "data/chosen/brido.json").write_text("{}")


def _write_model(folder: Path, system: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"model_type": "bart", "is_encoder_decoder": true}')
    (folder / "generation_config.json").write_text('{"max_length": 20}')
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "model.safetensors").write_text(f"weights of {system}")


def write_params(folder: Path, **changes: dict) -> None:
    """Write a params.yaml for such a run: the default's, with `changes` of sections."""
    raw = params_file.default()
    raw["evaluation"]["metrics"], raw["systems"] = list(SUBMETRICS), ["reference", "base"]
    raw["variants"], raw["tuned"] = {}, {"vote": {}, "control": {"scoring": {"shuffle": True}}}
    raw["report"]["bootstrap_samples"] = 50
    raw["choice"]["by"] = "mentions.good"
    for section, values in changes.items():
        raw[section] |= values
    params_file.write(folder, raw)


def page_data(page: Path) -> dict:
    """The data that a page holds for its scripts."""
    html = page.read_text(encoding="utf-8")
    start = html.index('<script type="application/json" id="data">')
    return json.loads(html[html.index(">", start) + 1 : html.index("</script>", start)])


def _document(split: str, index: int) -> dict:
    town = TOWNS[index % len(TOWNS)]
    text = f"Police closed a road in {town} after a lorry hit a wall. Nobody was hurt. " * 3
    if index == 1:
        text = HOSTILE
    return {
        "id": f"{split}-{index:03d}" if index != 1 else f"{split}/<b>&1+1",
        "document": text,
        "summary": f"A road in {town} was closed on 3 May.",
        "references": [f"A road in {town} was closed on 3 May."],
        "facts": [{"slot": "place", "type": "town", "value": town, "in_document": True}],
    }


def _summary(random: np.random.Generator, row: dict) -> str:
    town = row["facts"][0]["value"] if random.random() < 0.6 else random.choice(TOWNS)
    return f"A lorry hit a wall in {town}, police said."


def _write_votes(data: Path, documents: int, count: int, random: np.random.Generator) -> None:
    for split in ("validation", "test"):
        pool, similarity, scores = [], [], []
        for row in (_document(split, index) for index in range(documents)):
            texts = [_summary(random, row) for _ in range(count)]
            if "<b>" in row["id"]:
                texts[0] = HOSTILE
            matrix = similarity_matrix(random, count)
            values = matrix[:, :count].astype(np.float64).sum(axis=1) / (count - 1)
            pool.append(pooled(row["id"], texts))
            similarity.append({"id": row["id"], "similarity": matrix.ravel().tolist()})
            order = np.argsort(-values, kind="stable").tolist()
            scores.append({"id": row["id"], "scores": values.tolist(), "order": order})
        file, schema = f"{split}.parquet", tables.similarity_schema(count)
        tables.write_table(data / "pool" / file, [pool], tables.POOL)
        tables.write_table(data / "similarity" / file, [similarity], schema)
        if split == "validation":
            tables.write_table(data / "scores/vote" / file, [scores], tables.SCORES)
    counts = {split: {"sources": {"base": {}}} for split in ("validation", "test")}
    (data / "pool/counts.json").write_text(json.dumps(counts))


def _write_evaluations(
    data: Path, system: str, split: str, documents: int, random: np.random.Generator
) -> None:
    rows: list[dict] = [
        {"id": _document(split, index)["id"], "detail": "{}"} for index in range(documents)
    ]
    for metric, names in SUBMETRICS.items():
        for index, row in enumerate(rows):
            centre = 0.5 + 0.1 * GAINS[system]
            numbers: dict = {name: float(random.normal(centre, 0.1)) for name in names}
            if metric == "world_qa":
                numbers = {name: 100 * value for name, value in numbers.items()}
                if index == 2:
                    numbers["em"] = None
            if metric == "rouge":
                numbers = {name: 100 * value for name, value in numbers.items()}
                if system == "reference":
                    numbers = dict.fromkeys(names)
            if metric == "extractiveness":
                numbers["length"] = float(random.integers(14, 20))
            row |= {f"{metric}.{name}": value for name, value in numbers.items()}
    names = [f"{metric}.{name}" for metric, own in SUBMETRICS.items() for name in own]
    signature = {
        metric: {"implementation": metric, "version": "1", "n": documents} for metric in SUBMETRICS
    }
    path = data / f"evaluation/{system}/{split}.parquet"
    tables.write_table(path, [rows], tables.evaluation_schema(names), {"signature": signature})
