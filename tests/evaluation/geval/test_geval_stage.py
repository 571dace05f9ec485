"""The judge in stage evaluate: its table, its store, and nothing asked twice."""

import pyarrow.parquet as pq
from bad_endpoint import BadEndpoint
from written_marks import clean_answer

from brido.evaluation.geval import METRIC

ROWS = [
    {"id": f"d{number}", "document": f"Document {number}", "summary": "base."}
    for number in range(5)
]


def test_the_evaluate_stage_writes_the_judges_table(tmp_path, monkeypatch):
    from brido.settings.load import check_params
    from brido.tables import CORPUS, DECODED, read_metadata, write_table
    from stages import evaluate, paths

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    rows = ROWS
    corpus = [{**row, "references": [row["summary"]]} for row in rows]
    decoded = [{"id": row["id"], "summary": row["summary"], "score": 0.0} for row in rows]
    write_table(paths.corpus("test"), [corpus], CORPUS)
    write_table(paths.decoded("base", "test"), [decoded], DECODED)
    with BadEndpoint(answer=clean_answer) as server:
        params = check_params(
            {
                "checkpoints": {"base": {"source": "embedded"}},
                "choice": {"by": "mentions.good"},
                "evaluation": {
                    "metrics": ["rouge", "mentions", "geval"],
                    **{"rouge": {}, "mentions": {}},
                    "geval": {"model": "m", "samples": 2},
                },
                "runtime": {"endpoint": {"base_url": server.url}},
            }
        )
        path = evaluate.evaluate(params, "base")
        first = path.read_bytes()
        asked = len(server.requests)
        assert evaluate.evaluate(params, "base").read_bytes() == first
        assert len(server.requests) == asked == 10
    assert {f"geval.{name}" for name in METRIC.names} < set(pq.read_table(path).column_names)
    signature = read_metadata(path, "evaluate")["signature"]["geval"]
    assert signature["served_models"] == {"m-as-served": 10}
    assert (tmp_path / ".brido" / "judge" / "answers.sqlite").is_file()
