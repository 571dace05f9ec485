"""Commits answers as they come, many in one transaction when they come faster than the disk."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from brido.endpoint.store import AnswerStore, Row


class Writer:
    """Appends to a store from a thread of its own, so that waiting for the disk delays no call."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._waiting: list[tuple[list[Row], asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")

    async def __aenter__(self) -> "Writer":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])
        self._thread.shutdown()

    async def commit(self, rows: list[Row]) -> None:
        """Commit `rows`; they are on the disk when this returns."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((rows, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        await done

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            rows = [row for group, _ in batch for row in group]
            try:
                await loop.run_in_executor(self._thread, self._store.append, rows)
            except Exception as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
            else:
                for _, done in batch:
                    if not done.done():
                        done.set_result(None)
