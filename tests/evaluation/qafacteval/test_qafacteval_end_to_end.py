"""The whole metric on tiny random models that were converted from archives."""

import json

import pytest
import torch

from brido.errors import BridoError
from brido.evaluation import SUBMETRICS, Inputs
from brido.evaluation.qafacteval import QAFactEval, evaluate
from brido.evaluation.qafacteval.__main__ import main
from brido.settings import QAFactEvalSettings, RuntimeSettings

DOCUMENTS = [
    "The court in Leeds jailed Ann Smith for three years on Monday. A judge left.",
    "The council met in Oldbridge. The owner sold the café.",
]
SUMMARIES = ["The court jailed Ann Smith.", "The council in Leeds sold the café. The judge left."]


@pytest.fixture(scope="module")
def metric(published, pipeline_folder) -> QAFactEval:
    torch.set_num_threads(1)
    return QAFactEval.load(str(published.folder), str(pipeline_folder), device="cpu")


def test_smoke(metric):
    rows = metric.score(DOCUMENTS, SUMMARIES)
    print(json.dumps(rows, indent=1))
