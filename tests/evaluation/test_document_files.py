"""Files of documents and summaries: every wrong line is named, and commands end with code 2."""

import subprocess
import sys

import pytest

from brido.evaluation.files import read_documents
from brido.utils.errors import BridoError


def test_bad_lines_are_all_named(tmp_path):
    file = tmp_path / "documents.jsonl"
    file.write_text('{"document": 3, "summary": "x"}\n[]\n{"document": "x"}\n{', encoding="utf-8")
    with pytest.raises(BridoError) as caught:
        read_documents(file)
    message = str(caught.value)
    for part in ("line 1: `document`", "line 2:", "line 3: `summary`", "line 4:"):
        assert part in message
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(BridoError, match="is empty"):
        read_documents(file)


@pytest.mark.parametrize("module", ["brido.evaluation.qafacteval", "brido.evaluation.minicheck"])
def test_user_errors_exit_with_2(tmp_path, module):
    called = [sys.executable, "-m", module, str(tmp_path / "none.jsonl")]
    for command in (called, [*called, "--batch-tokens", "0"]):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr
        assert "none.jsonl" in result.stderr or "--batch-tokens" in result.stderr
