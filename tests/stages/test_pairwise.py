"""Stage pairwise: the same bytes by any number of workers, and words of every script.

What it writes, and what it does after a kill, is in test_run.py.
"""

import finished_run

from stages import pairwise, paths


def test_the_bytes_do_not_depend_on_the_number_of_workers(finished, monkeypatch):
    monkeypatch.setattr(pairwise, "SHARD_DOCUMENTS", 5)
    found = set()
    for combination in ("harmonic_r1_r2", "mean_r1_r2_rlsum"):  # threads, processes
        for threads in (1, 2):
            changes = {"pairwise": {"combination": combination}, "runtime": {"threads": threads}}
            finished_run.write_params(finished, **changes)
            pairwise.main()
            found.add((combination, paths.similarity("train").read_bytes()))
    assert len(found) == 2
