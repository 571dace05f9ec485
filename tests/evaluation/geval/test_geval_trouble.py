"""What a judge's server can refuse, what settings cannot mean, and what may not leak meanwhile."""

import logging

import pytest
from bad_endpoint import BadEndpoint
from written_marks import clean_answer

from brido.utils.errors import BridoError

DOCUMENTS = [f"Confidential document {number}." for number in range(12)]
SUMMARIES = [f"Bridge {number} stands." for number in range(12)]
KEY = "sk-do-not-tell-anybody"


def test_a_request_that_the_server_calls_wrong_every_time(judge):
    with BadEndpoint(always={"Bridge": 400}) as server:
        with pytest.raises(BridoError, match=r"400 some_code.*null leaves it out"):
            judge(server).score(DOCUMENTS, SUMMARIES)
        with pytest.raises(BridoError, match=r"refuses every call \(HTTP 400 some_code\)"):
            judge(server, structured_output="never").score(DOCUMENTS, SUMMARIES)


def test_no_key_prompt_or_document_in_logs_and_errors_unless_asked_for(
    judge, monkeypatch, caplog, capfd
):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    said = f"Key {KEY} may not mark: {DOCUMENTS[0]}"
    runtime = {
        "api_key_env": "JUDGE_KEY",
        "max_attempts": 2,
        "patience_seconds": 5.0,
        "timeout_seconds": 0.5,
    }
    for status in (400, 401, 404, 500):
        with BadEndpoint(always={"Bridge": status}, error_text=said) as server:
            with pytest.raises(BridoError) as hidden:
                judge(server, runtime).score(DOCUMENTS[:3], SUMMARIES[:3])
            assert f"Bearer {KEY}" in server.headers[0]
            if status != 500:
                with pytest.raises(BridoError) as shown:
                    judge(server, {**runtime, "show_content": True}).score(DOCUMENTS, SUMMARIES)
                assert DOCUMENTS[0] in str(shown.value) + capfd.readouterr().err
                assert KEY not in str(shown.value)
        assert hidden.value.__cause__ is None
        for word in (KEY, "Confidential", "Bridge"):
            assert word not in str(hidden.value)
    with BadEndpoint(answer=clean_answer, trouble=0.3) as server:
        judge(server, {**runtime, "max_attempts": 30}).score(DOCUMENTS, SUMMARIES)
    output = "".join(capfd.readouterr())
    for word in (KEY, "Confidential", "Bridge"):
        assert word not in output
    assert KEY not in caplog.text
    assert "Confidential" not in caplog.text


def test_settings_that_do_not_fit_together_are_all_named_and_no_secret_is_shown(judge, monkeypatch):
    with pytest.raises(BridoError) as error:
        judge(
            runtime={"max_cost": 1.0, "dry_run": False, "api_key_env": KEY},
            model=None,
            prompt="none.jinja",
            score_mode="mean",
            temperature=0.0,
            extra_parameters={"n": 3, "reasoning_effort": "low"},
        )
    text = str(error.value)
    for part in ("model", "max_cost", "api_key_env", "none.jinja", "temperature", "n cannot be"):
        assert part in text
    assert KEY not in text
    with pytest.raises(BridoError, match="OPENAI_API_KEY .* is not set"):
        judge()
    with pytest.raises(BridoError, match="MY_KEY .* is not set"):
        judge(runtime={"api_key_env": "MY_KEY"})
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    with pytest.raises(BridoError, match="MY_KEY holds no key: there is a line break") as error:
        judge(runtime={"api_key_env": "MY_KEY"})
    assert KEY not in str(error.value)
    with pytest.raises(BridoError, match="exclude each other"):
        judge(runtime={"dry_run": True, "replay": True})
