"""The driver: connects to the cluster, keeps one worker on each node, spreads batches, and returns rows."""

import json
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

import pyarrow as pa
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import ghostbench_ray
from ghostbench_ray.limiter import Limiter
from ghostbench_ray.shipping import ShippedFile, describe, parts, read_workspace
from ghostbench_ray.worker import Job, Worker

# Seconds that the loop waits for an event of the cluster before it looks for a message.
TICK_S = 0.02

# Seconds between two looks at the nodes; each also is a sign of life.
NODES_S = 2.0

# Workers of a node that may crash in a row before the node is not used any more.
MOST_CRASHES = 12

# Threads of a worker: one delivers rows, one takes batches, one ends it.
WORKER_THREADS = 3

# Requests that may wait for a lease at the same time.
MOST_LEASES = 10_000

# Seconds after which a worker that delivers nothing, not even that it has nothing, counts as gone.
SILENT_S = 120.0

# Seconds for workers to end.
STOP_S = 10.0

# A place on the head node, which lives as long as the cluster.
HEAD = {"node:__internal_head__": 0.001}

CASES = pa.schema([("row", pa.large_string()), ("copies", pa.list_(pa.string()))])
ATTEMPTS = pa.schema(
    [
        ("case", pa.int32()),
        ("engine", pa.string()),
        ("repetition", pa.int32()),
        ("answer", pa.large_string()),
    ]
)


class CannotGoOnError(Exception):
    """The run cannot go on; the text contains the remedy."""


@dataclass
class Node:
    """What is known about a node, whether it has a worker or not."""

    worker: "Handle | None" = None
    crashes: int = 0
    # Why it is not used.
    refusal: str | None = None


@dataclass
class Handle:
    """A worker, as the driver sees it."""

    name: str
    node: str
    actor: Any
    # The call that is awaited: of ``prepare``, then of ``take`` again and again; and its time.
    call: Any = None
    called_s: float = 0.0
    is_ready: bool = False
    # Whether missing files were sent.
    has_files: bool = False
    batches: set[int] = field(default_factory=set)


class Driver:
    """The state of a run."""

    def __init__(self, job: dict[str, Any], output: TextIO) -> None:
        """Read the files of a job. Nothing is started yet."""
        self.output = output
        self.binary = describe(job["binary"])
        self.cassette = describe(job["cassette"]) if job["cassette"] else None
        self.environment: dict[str, str] = job["environment"]
        self.message = json.dumps({"type": "job", **job["worker"]})
        self.patience_s: float = job["patience_s"]
        files = job["workspace"]
        self.workspace = None if files is None else ray.put(read_workspace(files))
        self.sent: dict[str, Any] = {}
        self.limiter: Any = (
            ray.remote(Limiter).options(num_cpus=0, resources=HEAD, max_concurrency=MOST_LEASES).remote(job["rates"])
        )
        self.nodes: dict[str, Node] = {}
        # Batches that no worker has yet, and calls that give batches to workers.
        self.waiting: list[dict[str, Any]] = []
        self.puts: dict[Any, Handle] = {}
        self.names = 0
        self.looked_s = 0.0
        self.usable_s = time.monotonic()

    # Messages

    def send(self, kind: str, **message: Any) -> None:  # noqa: ANN401 (JSON)
        """Send a message to ``ghostbench``."""
        self.output.write(json.dumps({"type": kind, **message}) + "\n")
        self.output.flush()

    def send_workers(self) -> None:
        """Report how many workers take batches."""
        self.send("workers", ready=sum(handle.is_ready for handle in self.handles()))

    def handles(self) -> Iterator[Handle]:
        """Return all workers."""
        return (node.worker for node in self.nodes.values() if node.worker)

    # Nodes

    def look_at_nodes(self) -> None:
        """Start workers on new nodes, and on those whose worker is gone."""
        now = time.monotonic()
        if now - self.looked_s < NODES_S:
            return
        self.looked_s = now
        self.lose_silent_workers(now)
        alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0)]
        for found in alive:
            node = self.nodes.setdefault(found["NodeID"], Node())
            if node.worker is None and node.refusal is None:
                node.worker = self.start_worker(found["NodeID"])
        self.send_workers()
        self.check_hope([node["NodeID"] for node in alive], now)

    def check_hope(self, alive: list[str], now: float) -> None:
        """End the run if no node can be used."""
        if any(handle.is_ready for handle in self.handles()):
            self.usable_s = now
        refusals = [self.nodes[node].refusal for node in alive]
        if alive and all(refusals):
            raise CannotGoOnError(f"no node of the cluster can be used: {refusals[0]}")
        if now - self.usable_s > self.patience_s:
            raise CannotGoOnError(
                f"no node of the cluster was usable for {self.patience_s:.0f} s: {len(alive)} nodes are alive; "
                "start nodes with a free CPU, then resume"
            )

    def start_worker(self, node: str) -> Handle:
        """Start a worker on a node."""
        self.names += 1
        name = f"worker-{self.names}"
        job = Job(name, self.binary, self.cassette, self.environment, self.message)
        actor: Any = (
            ray.remote(Worker)
            .options(
                num_cpus=1,
                max_concurrency=WORKER_THREADS,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(job, self.limiter)
        )
        handle = Handle(name, node, actor)
        handle.call = actor.prepare.remote(self.workspace, None, None)
        return handle

    def send_files(self, handle: Handle, missing: list[str]) -> None:
        """Prepare a worker again, with the files that its node does not have."""
        files: dict[str, ShippedFile | None] = {"binary": self.binary, "cassette": self.cassette}
        if handle.has_files:
            self.refuse(handle, f"{' and '.join(missing)} changed on the user's machine during the run")
            return
        handle.has_files = True
        for name in missing:
            file = files[name]
            if name not in self.sent and file is not None:
                self.send("note", text=f"sending {file.path} to nodes that do not have it")
                self.sent[name] = ray.put(parts(file.path))
        needed = [self.sent[name] if name in missing else None for name in files]
        handle.call = handle.actor.prepare.remote(self.workspace, *needed)

    # Events

    def wait(self) -> None:
        """Handle what workers have delivered, or return after a tick."""
        calls = {handle.call: handle for handle in self.handles()} | self.puts
        if not calls:
            time.sleep(TICK_S)
            return
        finished, _ = ray.wait(list(calls), num_returns=len(calls), timeout=TICK_S)
        for call in finished:
            self.finish(call, calls[call])

    def finish(self, call: Any, handle: Handle) -> None:  # noqa: ANN401 (calls have no type)
        """Handle the end of a call to a worker."""
        is_put = self.puts.pop(call, None) is not None
        if self.nodes[handle.node].worker is not handle:
            # It was lost in the meantime.
            return
        try:
            result = ray.get(call)
        except ray.exceptions.RayError as error:
            self.lose(handle, crashed=False, reason=type(error).__name__)
            return
        if is_put:
            return
        if handle.is_ready:
            self.deliver(handle, result)
        else:
            self.prepared(handle, result)

    def prepared(self, handle: Handle, result: dict[str, Any]) -> None:
        """Handle the end of ``prepare``."""
        if result["state"] == "missing":
            self.send_files(handle, result["missing"])
        elif result["state"] == "refused":
            self.refuse(handle, result["reason"])
        else:
            handle.is_ready = True
            self.take(handle)
            self.send_workers()
            waiting, self.waiting = self.waiting, []
            for batch in waiting:
                self.put(batch)

    def take(self, handle: Handle) -> None:
        """Take the next rows of a worker."""
        handle.call = handle.actor.take.remote()
        handle.called_s = time.monotonic()

    def lose_silent_workers(self, now: float) -> None:
        """Give up workers that do not answer although their nodes live."""
        silent = [handle for handle in self.handles() if handle.is_ready and now - handle.called_s > SILENT_S]
        for handle in silent:
            ray.kill(handle.actor)
            self.lose(handle, crashed=False, reason=f"silent for {SILENT_S:.0f} s")

    def refuse(self, handle: Handle, reason: str) -> None:
        """Use a node no more."""
        self.nodes[handle.node].refusal = reason
        self.send("note", text=f"a node of the cluster is not used: {reason}")
        handle.actor.stop.remote()
        self.lose(handle, crashed=True, reason=reason)

    def deliver(self, handle: Handle, taken: dict[str, Any]) -> None:
        """Pass rows on, and take the next ones."""
        if taken["rows"].num_rows:
            self.send("rows", rows=taken["rows"].to_pylist())
        if taken["done"]:
            handle.batches.difference_update(taken["done"])
            self.nodes[handle.node].crashes = 0
            self.send("done", batches=taken["done"])
        if taken["ended"] is None:
            self.take(handle)
            return
        node = self.nodes[handle.node]
        node.crashes += 1
        if node.crashes >= MOST_CRASHES:
            self.refuse(handle, taken["ended"])
        else:
            handle.actor.stop.remote()
            self.lose(handle, crashed=True, reason=taken["ended"])

    def lose(self, handle: Handle, *, crashed: bool, reason: str) -> None:
        """Report the batches of a worker that is gone. Its node gets another one as long as it lives."""
        if self.nodes[handle.node].worker is handle:
            self.nodes[handle.node].worker = None
        self.limiter.drop_worker.remote(handle.name)
        if handle.batches:
            self.send("note", text=f"a worker of the cluster is gone ({reason}); its cases are sent again")
            self.send("lost", batches=sorted(handle.batches), crashed=crashed)
        self.send_workers()

    def put(self, batch: dict[str, Any]) -> None:
        """Give a batch to the worker with the fewest, or to the first that is ready."""
        ready = [handle for handle in self.handles() if handle.is_ready]
        if not ready:
            self.waiting.append(batch)
            return
        handle = min(ready, key=lambda handle: len(handle.batches))
        handle.batches.add(batch["id"])
        cases = pa.Table.from_pylist(batch["cases"], CASES)
        attempts = pa.Table.from_pylist(batch["attempts"], ATTEMPTS)
        self.puts[handle.actor.put.remote(batch["id"], cases, attempts)] = handle

    def stop(self) -> None:
        """End all workers."""
        ends = [handle.actor.stop.remote() for handle in self.handles()]
        if ends:
            ray.wait(ends, num_returns=len(ends), timeout=STOP_S)


def serve(messages: TextIO, output: TextIO) -> None:
    """Serve one run, until ``ghostbench`` stops it or ends."""
    job = json.loads(messages.readline())
    inbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=read, args=(messages, inbox), daemon=True).start()
    driver: Driver | None = None
    try:
        connect(job["address"])
        driver = Driver(job, output)
        run(driver, inbox)
    except CannotGoOnError as error:
        fail(output, str(error))
    except (ray.exceptions.RayError, ImportError, OSError, RuntimeError, ValueError) as error:
        fail(output, f"Ray failed at {job['address']}: {type(error).__name__}: {error}")
    finally:
        if driver is not None:
            driver.stop()
        ray.shutdown()


def connect(address: str) -> None:
    """Connect to the cluster; nodes need no copy of this package."""
    ray.cloudpickle.register_pickle_by_value(ghostbench_ray)
    ray.init(
        address=address,
        log_to_driver=False,
        configure_logging=False,
        namespace="ghostbench",
    )


def fail(output: TextIO, text: str) -> None:
    """Report why the run cannot go on."""
    output.write(json.dumps({"type": "fatal", "text": text.strip()}) + "\n")
    output.flush()


def read(messages: TextIO, inbox: "queue.SimpleQueue[dict[str, Any] | None]") -> None:
    """Read messages, so that ``ghostbench`` never waits for the cluster."""
    for line in messages:
        inbox.put(json.loads(line))
    inbox.put(None)


def run(driver: Driver, inbox: "queue.SimpleQueue[dict[str, Any] | None]") -> None:
    """Handle messages and events until the run is stopped."""
    while True:
        driver.look_at_nodes()
        driver.wait()
        while not inbox.empty():
            message = inbox.get()
            if message is None or message["type"] == "stop":
                return
            driver.put(message)
