"""The limiter of a run: an actor that lets requests to an engine start at a rate, over all nodes."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, TypeAlias

# Worker and number of a lease.
Lease: TypeAlias = tuple[str, int]


@dataclass
class Engine:
    """The requests to one engine."""

    # Seconds between the starts of two requests.
    interval_s: float = 0.0
    concurrent: int | None = None
    next_start_s: float = 0.0
    holders: set[Lease] = field(default_factory=set)
    # Held by the request that starts next; the others wait in their order.
    line: asyncio.Lock = field(default_factory=asyncio.Lock)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def has_room(self) -> bool:
        """Whether one more request may be in flight."""
        return self.concurrent is None or len(self.holders) < self.concurrent


class Limiter:
    """Grants leases, one for each request. A lease counts until it is released or its worker is dropped."""

    def __init__(self, rates: list[dict[str, Any]]) -> None:
        """Take the limits of each engine."""
        self.engines = {
            rate["engine"]: Engine(
                interval_s=60.0 / rate["per_minute"] if rate["per_minute"] else 0.0,
                concurrent=rate["concurrent"],
            )
            for rate in rates
        }
        # Released before they were granted.
        self.cancelled: set[Lease] = set()
        self.dropped: set[str] = set()

    async def acquire(self, worker: str, number: int, engine: str) -> None:
        """Return once the request may start, or nothing waits for it any more."""
        limits, lease = self.engines[engine], (worker, number)
        async with limits.line:
            while not self.is_gone(lease) and not limits.has_room():
                limits.released.clear()
                await limits.released.wait()
            if not self.is_gone(lease):
                await asyncio.sleep(limits.next_start_s - time.monotonic())
            if not self.is_gone(lease):
                limits.holders.add(lease)
                limits.next_start_s = time.monotonic() + limits.interval_s
        self.cancelled.discard(lease)

    def is_gone(self, lease: Lease) -> bool:
        """Whether nothing waits for the lease any more."""
        return lease in self.cancelled or lease[0] in self.dropped

    async def release(self, worker: str, number: int) -> None:
        """End a request, or forget one that waits."""
        lease = (worker, number)
        held = [limits for limits in self.engines.values() if lease in limits.holders]
        for limits in held:
            limits.holders.discard(lease)
        if not held and worker not in self.dropped:
            self.cancelled.add(lease)
        self.wake()

    async def drop_worker(self, worker: str) -> None:
        """End all requests of a worker that is gone."""
        self.dropped.add(worker)
        self.cancelled = {lease for lease in self.cancelled if lease[0] != worker}
        for limits in self.engines.values():
            limits.holders = {lease for lease in limits.holders if lease[0] != worker}
        self.wake()

    def wake(self) -> None:
        """Let the requests that are next look again."""
        for limits in self.engines.values():
            limits.released.set()
