"""A store that several processes make at the same moment."""

import multiprocessing
import time

import pytest

from brido.utils.store import ResultStore

pytestmark = pytest.mark.slow
ROUNDS, PROCESSES = 30, 6


def open_all(paths, first, found):
    for number, path in enumerate(paths):
        while time.time() < first + number / 10:
            pass
        try:
            ResultStore(path)
            found.put("")
        except Exception as error:
            found.put(str(error))


def test_all_of_them_open_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    found, paths = context.Queue(), [tmp_path / f"{number}.sqlite" for number in range(ROUNDS)]
    arguments = (paths, time.time() + 10, found)  # until then all have started
    started = [context.Process(target=open_all, args=arguments) for _ in range(PROCESSES)]
    for process in started:
        process.start()
    assert {found.get(timeout=120) for _ in range(PROCESSES * ROUNDS)} == {""}
    for process in started:
        process.join()
