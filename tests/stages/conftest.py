"""What tests of several stages share."""

import pytest
import small_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project as the present folder."""
    small_project.write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRIDO_WORK", raising=False)
    return tmp_path
