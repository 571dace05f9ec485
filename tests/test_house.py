"""A room that weighs more than its aim says why."""

from benchmarks.house import PARTS, SLACK, reasons, weights


def test_every_heavy_part_has_its_reason_in_the_docs():
    found = weights()
    heavy = [part.name for part in PARTS if found[part.name] > SLACK * part.aim]
    assert [name for name in heavy if name not in reasons()] == []
    assert {*reasons()} <= {part.name for part in PARTS}
