"""The number of calls in flight follows what the server bears."""

import asyncio
import time

from brido.endpoint.limiter import AdaptiveLimit


def test_it_grows_to_the_cap_and_never_above():
    async def run():
        limit = AdaptiveLimit(cap=10, start=2)
        most = in_flight = 0

        async def call():
            nonlocal most, in_flight
            await limit.acquire()
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0)
            in_flight -= 1
            limit.succeeded()
            limit.release()

        await asyncio.gather(*(call() for _ in range(200)))
        return most, limit.limit, limit.in_flight

    assert asyncio.run(run()) == (10, 10.0, 0)


def test_calls_refused_together_cut_once():
    limit = AdaptiveLimit(cap=20, start=20)
    admitted = time.monotonic()
    limit.succeeded()
    for _ in range(5):
        limit.slow_down(admitted, None)
    assert limit.limit == 18.0
    limit.slow_down(time.monotonic(), None)
    assert limit.limit == 9.0  # nothing was answered since the last cut


def test_it_never_falls_below_one():
    limit = AdaptiveLimit(cap=4)
    for _ in range(20):
        limit.slow_down(time.monotonic(), None)
    assert limit.limit == 1.0


def test_close_below_what_was_too_much_it_grows_ten_times_more_slowly():
    limit = AdaptiveLimit(cap=100, start=40)
    limit.succeeded()
    limit.slow_down(time.monotonic(), None)
    low = limit.limit
    limit.succeeded()
    assert limit.limit == low + 1 / low
    limit.limit = 40.0
    limit.succeeded()
    assert limit.limit == 40.0 + 0.1 / 40.0


def test_nobody_is_admitted_while_retry_after_runs():
    async def run():
        limit = AdaptiveLimit(cap=4)
        admitted = await limit.acquire()
        limit.slow_down(admitted, retry_after=0.2)
        limit.release()
        await asyncio.gather(limit.acquire(), limit.acquire())
        return time.monotonic() - admitted

    assert asyncio.run(run()) >= 0.2


def test_a_cancelled_waiter_takes_no_place():
    async def run():
        limit = AdaptiveLimit(cap=1)
        await limit.acquire()
        waiting = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        limit.release()
        await asyncio.wait_for(limit.acquire(), 1)
        return limit.in_flight

    assert asyncio.run(run()) == 1
