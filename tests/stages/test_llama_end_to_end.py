"""The whole pipeline on the embedded world with a decoder-only base: the tiny Llama."""

import json

import pyarrow.parquet as pq
import pytest
from dvc_project import SMALL, copy_project, run
from ruamel.yaml import YAML

LLAMA = {
    "architecture": "llama", "layers": 2, "d_model": 64, "ffn_dim": 128, "epochs": 1,
    "world": {"documents": 800, "support_rate": 0.8},
}  # fmt: skip


def write_params(folder) -> None:
    """The project's params.yaml, small, with a Llama that samples its candidates."""
    path = folder / "params.yaml"
    params = YAML(typ="safe").load(path.read_text())
    for key, value in SMALL.items():
        *outer, name = key.split(".")
        section = params
        for part in outer:
            section = section[part]
        section[name] = value
    params["checkpoints"]["base"]["embedded"] = LLAMA
    params["reading"]["default"]["max_source_tokens"] = 200
    params["generation"] = {
        "base": {"checkpoint": "base", "method": "sampling", "num_candidates": 4}
    }
    params["documents"]["train"] = 24
    params["pool"]["too_few"] = "leave_out"
    with path.open("w") as file:
        YAML().dump(params, file)


@pytest.mark.slow
def test_a_llama_goes_through_every_stage(tmp_path):
    folder = copy_project(tmp_path)
    write_params(folder)
    run(folder, "dvc", "repro")
    systems = {path.stem for path in (folder / "metrics/systems").glob("*.json")}
    assert systems == {"reference", "base", "guided", "elected", "tuned"}
    config = json.loads((folder / "data/checkpoints/tuned/config.json").read_text())
    assert config["model_type"] == "llama"
    pool = pq.read_table(folder / "data/pool/train.parquet").to_pylist()
    assert len(pool) <= 24
    assert all(len(row["candidates"]) == 4 for row in pool)
    summaries = pq.read_table(folder / "data/decoded/tuned/test.parquet").column("summary")
    assert len(set(summaries.to_pylist())) > 1
    assert (folder / "report/index.html").is_file()
