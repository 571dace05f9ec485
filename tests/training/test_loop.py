"""Training runs of a tiny model: what they learn, and that nothing disturbs where they end."""

from brido.training.loop import train


def test_smoke(make_task):
    task = make_task()
    state = train(task)
    print(task.history_file.read_text())
    print(state)
