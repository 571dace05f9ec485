"""`runtime.endpoint` as params.yaml has it."""

import pytest

from brido.settings.load import check_params
from brido.utils.errors import BridoError

BASE = {"checkpoints": {"base": {"source": "embedded"}}}


def test_the_key_of_version_0_1_is_told_its_new_name():
    with pytest.raises(BridoError, match=r"runtime\.judge: is called runtime\.endpoint now"):
        check_params({**BASE, "runtime": {"judge": {"max_cost": 1.0}}})
    params = check_params({**BASE, "runtime": {"endpoint": {"samples_per_call": 2}}})
    assert params.runtime.endpoint.samples_per_call == 2
    # What was paid for before is found where it was.
    assert params.runtime.endpoint.store == ".brido/judge/answers.sqlite"


@pytest.mark.parametrize("port", ["99999", "0", "-1", "8000a"])
def test_a_port_that_is_none(port):
    url = f"http://localhost:{port}/v1"
    with pytest.raises(BridoError, match=r"runtime\.endpoint\.base_url: .* names no port between"):
        check_params({**BASE, "runtime": {"endpoint": {"base_url": url}}})
    good = {"endpoint": {"base_url": "http://[::1]:8000/v1"}}
    assert check_params({**BASE, "runtime": good}).runtime.endpoint.base_url
