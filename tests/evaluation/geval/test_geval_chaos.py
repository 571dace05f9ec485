"""Everything at once: a server with 26 kinds of faults that dies for a while, and a client killed.

The table is that of a server without faults, paid once but for calls in flight, in little memory.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bad_endpoint import TROUBLES, BadEndpoint
from written_marks import written_answer

from brido.endpoint import Answer, Question
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.evaluation.geval import GEval
from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.settings import GEvalSettings

SYSTEMS = ("base", "brio", "tuned")
SETTINGS = {"model": "judge", "score_mode": "greedy", "seed": 0, "max_invalid_fraction": 0.2}
CONCURRENCY = 32
# Of a client: floods of 16 MiB in all calls at once would take half of it.
MOST_MEMORY_KB = 2**20


def make_records(documents):
    """Summaries of three systems; every seventh is the same for all three."""
    records = []
    for system in SYSTEMS:
        for number in range(documents):
            who = "all" if number % 7 == 0 else system
            document = f"Document {number} tells of a bridge. " * 3
            summary = f"Bridge {number}, as {who} has it."
            records.append({"id": f"{system} {number}", "document": document, "summary": summary})
    return records


def key_of(text):
    geval = GEval(GEvalSettings(**SETTINGS), EndpointRuntime(replay=True))
    (judge,) = geval.judges(structured=True)
    return judge, judge.key([{"role": "user", "content": text}])


def undisturbed_table(records, folder):
    """What the rule of the server gives, put into a store by hand: nothing was asked."""
    store_path = folder / "undisturbed.sqlite"
    judge = GEval(GEvalSettings(**SETTINGS), EndpointRuntime(replay=True, store=str(store_path)))
    rows = []
    for record in records:
        text = judge.prompt.render(record["document"], record["summary"], CRITERIA)
        who, key = key_of(text)
        written = written_answer(f"{text} 0")
        answer = Answer(written, "stop", False, "judge-as-served", len(text) // 5, 30)
        messages = [{"role": "user", "content": text}]
        rows.append((Question(who, key, messages, 0), answer))
    with AnswerStore(store_path) as store:
        store.append(rows)
    columns = [[record[name] for record in records] for name in ("document", "summary", "id")]
    return judge.score(*columns)


class Client:
    """The command line, started and killed."""

    def __init__(self, folder, url):
        self.folder, self.out, self.store = folder, folder / "marks.jsonl", folder / "a.sqlite"
        changes = {
            **SETTINGS,
            "base_url": url,
            "store": self.store,
            "max_concurrency": CONCURRENCY,
            "timeout_seconds": 2.0,
            "max_attempts": 50,
        }
        words = [word for name, value in changes.items() for word in ("-S", f"{name}={value}")]
        self.command = [sys.executable, "-m", "brido", "evaluate", "geval"]
        self.command += [str(folder / "in.jsonl"), "-o", str(self.out), *words]

    def start(self):
        root = Path(__file__).parents[3]
        environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
        log = (self.folder / "log").open("a")
        return subprocess.Popen(self.command, env=environment, stdout=log, stderr=log)

    def committed(self):
        connection = sqlite3.connect(self.store)
        keys = {key for (key,) in connection.execute("SELECT key FROM answers")}
        connection.close()
        return keys


def run_chaos(folder, documents, kills, dead_seconds, seed):
    """Run until the table is there; returns it and, for each kill, what was lost."""
    records = make_records(documents)
    (folder / "in.jsonl").write_text("\n".join(json.dumps(record) for record in records))
    draw = random.Random(seed)
    questions = len({(record["document"], record["summary"]) for record in records})
    moments = sorted(draw.sample(range(questions // 10, questions), kills))
    how = {"trouble": 0.15, "seed": seed, "stall_seconds": 3.0, "latency": 0.005}
    with BadEndpoint(answer=written_answer, **how) as server:
        client = Client(folder, server.url)
        dying = threading.Thread(target=die_once, args=(server, questions // 3, dead_seconds))
        dying.start()
        lost = []
        for moment in moments:
            process = client.start()
            while len(server.answered) < moment:
                assert process.poll() is None, (folder / "log").read_text()[-2000:]
                time.sleep(0.005)
            assert most_memory(process) < MOST_MEMORY_KB
            process.send_signal(signal.SIGKILL)
            process.wait()
            time.sleep(0.2)  # the server notices
            kept = client.committed()
            given = {key_of(text)[1] for text, _ in server.answered}
            lost.append((kept, len(given - kept), len(server.requests)))
        process, most = client.start(), 0
        while process.poll() is None:
            most = max(most, most_memory(process))
            time.sleep(0.05)
        assert process.returncode == 0, (folder / "log").read_text()[-2000:]
        assert most < MOST_MEMORY_KB
        dying.join()
        asked = [key_of(body["messages"][0]["content"])[1] for body in server.requests]
    return records, client, lost, asked


def most_memory(process):
    """The most memory that a process has had so far, in KB; 0 where the system does not say."""
    path = Path(f"/proc/{process.pid}/status")
    try:
        (line,) = (line for line in path.read_text().splitlines() if line.startswith("VmHWM"))
    except (OSError, ValueError):
        return 0
    return int(line.split()[1])


def die_once(server, after, seconds):
    while len(server.answered) < after:
        time.sleep(0.005)
    server.die()
    time.sleep(seconds)
    server.live()


def check(folder, documents, kills, dead_seconds, seed):
    records, client, lost, asked = run_chaos(folder, documents, kills, dead_seconds, seed)
    for kept, not_kept, requests in lost:
        assert not kept & set(asked[requests:])  # what was committed is never asked again
        # Only calls in flight repeat: asked, or answered and on the way to the disk.
        assert not_kept <= CONCURRENCY
        assert kept <= client.committed()  # nor is it ever lost
    expected = undisturbed_table(records, folder)
    table = [json.loads(line) for line in client.out.read_text().splitlines()]
    assert len(table) == len(records)
    for record, row, marks, detail in zip(
        records, table, expected.rows, expected.details, strict=True
    ):
        assert row["id"] == record["id"]
        assert {name: row[name] for name in marks} == marks
        assert row["detail"] == detail
    assert len(TROUBLES) >= 25
    log = (folder / "log").read_text()
    assert f"signature: {json.dumps(expected.signature, ensure_ascii=False)}" in log
    assert "Bridge" not in log
    assert "Traceback" not in log


def test_a_killed_client_and_a_dying_server_change_nothing(tmp_path):
    check(tmp_path, documents=40, kills=1, dead_seconds=1.0, seed=1)


@pytest.mark.slow
def test_six_hundred_documents_of_three_systems(tmp_path):
    check(tmp_path, documents=600, kills=3, dead_seconds=5.0, seed=2)
