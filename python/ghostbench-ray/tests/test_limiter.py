import asyncio
import time
import unittest

from ghostbench_ray.limiter import Limiter

# Long enough for every task that can go on to do so.
TURNS = 20


def limiter(per_minute: float | None = None, concurrent: int | None = None) -> Limiter:
    return Limiter([{"engine": "a", "per_minute": per_minute, "concurrent": concurrent}])


async def settle() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


class Leases(unittest.IsolatedAsyncioTestCase):
    async def test_requests_wait_for_room_in_their_order(self) -> None:
        limits = limiter(concurrent=2)
        calls = [asyncio.create_task(limits.acquire("w", number, "a")) for number in range(4)]
        await settle()
        self.assertEqual([call.done() for call in calls], [True, True, False, False])
        await limits.release("w", 0)
        await settle()
        self.assertEqual([call.done() for call in calls], [True, True, True, False])
        await limits.release("w", 1)
        await calls[3]

    async def test_dropped_worker_returns_its_leases(self) -> None:
        limits = limiter(concurrent=1)
        await limits.acquire("gone", 1, "a")
        waiting = asyncio.create_task(limits.acquire("gone", 2, "a"))
        other = asyncio.create_task(limits.acquire("other", 1, "a"))
        await settle()
        self.assertFalse(other.done())
        await limits.drop_worker("gone")
        await asyncio.gather(waiting, other)
        self.assertEqual(limits.engines["a"].holders, {("other", 1)})

    async def test_lease_that_is_released_before_it_is_granted_is_not_held(self) -> None:
        limits = limiter(concurrent=1)
        await limits.release("w", 1)
        await limits.acquire("w", 1, "a")
        await limits.acquire("w", 2, "a")
        self.assertEqual(limits.engines["a"].holders, {("w", 2)})
        self.assertEqual(limits.cancelled, set())

    async def test_starts_are_spread(self) -> None:
        limits = limiter(per_minute=6000)
        start = time.monotonic()
        for number in range(6):
            await limits.acquire("w", number, "a")
        self.assertGreaterEqual(time.monotonic() - start, 5 * 0.0099)


if __name__ == "__main__":
    unittest.main()
