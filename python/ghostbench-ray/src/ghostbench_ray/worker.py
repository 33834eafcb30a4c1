"""The worker: an actor that runs ``ghostbench ray-worker`` on its node, and passes batches and rows on."""

import json
import os
import shutil
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypedDict

import pyarrow as pa

from ghostbench_ray.shipping import ShippedFile, local_file, new_folder, write_workspace

# How long ``take`` waits for the first row, and then for more of them, in seconds.
PATIENCE_S = 1.0
LINGER_S = 0.02

# Rows that are returned at once.
MOST_ROWS = 512

# Seconds without a message after which the program is asked for a sign of life, and after which it is killed.
QUIET_S = 60.0
SILENT_S = 180.0

# Seconds for the program to end with its input.
END_S = 5.0

ROWS = pa.schema(
    [
        ("batch", pa.int64()),
        ("case", pa.string()),
        ("engine", pa.string()),
        ("repetition", pa.int32()),
        ("row", pa.large_string()),
    ]
)


@dataclass(frozen=True)
class Job:
    """What a worker needs, besides its files."""

    name: str
    binary: ShippedFile
    cassette: ShippedFile | None
    # It may contain keys, and so may the first message to the program, which is JSON.
    environment: dict[str, str] = field(repr=False)
    message: str = field(repr=False)


class Prepared(TypedDict):
    """How a worker begins: ``ready``, ``refused`` with a reason, or ``missing`` files."""

    state: str
    reason: str
    missing: list[str]


class Taken(TypedDict):
    """What a worker has to deliver."""

    rows: pa.Table
    done: list[int]
    # Why the program ended, if it did.
    ended: str | None


class Worker:
    """Runs the program. Ray calls its methods on several threads."""

    def __init__(self, job: Job, limiter: Any) -> None:  # noqa: ANN401 (handles have no type)
        """Prepare nothing yet: an actor that fails here gives no reason."""
        self.job = job
        self.limiter = limiter
        self.folder = new_folder()
        self.process: subprocess.Popen[bytes] | None = None
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.rows: deque[dict[str, Any]] = deque()
        self.done: list[int] = []
        self.first: dict[str, Any] | None = None
        self.ended: str | None = None
        self.errors: deque[str] = deque(maxlen=2)
        self.heard_s = time.monotonic()
        self.is_pinged = False

    def prepare(self, workspace: pa.Table | None, binary: list[bytes] | None, cassette: list[bytes] | None) -> Prepared:
        """Start the program, and return its first message; or the names of the files to send."""
        program = local_file(self.job.binary, self.folder, binary)
        recorded = self.job.cassette and local_file(self.job.cassette, self.folder, cassette)
        missing = [] if program else ["binary"]
        missing += ["cassette"] if self.job.cassette and not recorded else []
        if program is None or missing:
            return {"state": "missing", "reason": "", "missing": missing}
        command = [str(program), "ray-worker"]
        command += ["--cassette", str(recorded)] if recorded else []
        if workspace is not None:
            command += ["--workspace", str(write_workspace(workspace, self.folder))]
        try:
            self.start(command)
        except OSError as error:
            return {"state": "refused", "reason": f"cannot start {program}: {error}", "missing": []}
        return self.first_message()

    def start(self, command: list[str]) -> None:
        """Start the program and the threads that read its output."""
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, **self.job.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.read_errors, daemon=True).start()
        self.write_line(self.job.message)

    def first_message(self) -> Prepared:
        """Wait until the program is ready, refuses, or ends."""
        with self.changed:
            self.changed.wait_for(lambda: self.first is not None or self.ended is not None)
            if self.first is None:
                return {"state": "refused", "reason": str(self.ended), "missing": []}
        if self.first["type"] == "ready":
            return {"state": "ready", "reason": "", "missing": []}
        return {"state": "refused", "reason": str(self.first.get("reason")), "missing": []}

    def put(self, batch: int, cases: pa.Table, attempts: pa.Table) -> None:
        """Give the program a batch."""
        message = {"cases": cases.to_pylist(), "attempts": attempts.to_pylist()}
        self.write_line(json.dumps({"type": "batch", "id": batch, **message}))

    def take(self) -> Taken:
        """Wait a moment for rows, and return them."""
        with self.changed:
            self.changed.wait_for(self.has_news, PATIENCE_S)
        self.check_life()
        if self.ended is None:
            time.sleep(LINGER_S)
        with self.changed:
            count = min(len(self.rows), MOST_ROWS)
            rows = [self.rows.popleft() for _ in range(count)]
            # A batch is done after its last row.
            done, self.done = ([], self.done) if self.rows else (self.done, [])
            ended = None if self.rows else self.ended
        return {"rows": pa.Table.from_pylist(rows, schema=ROWS), "done": done, "ended": ended}

    def check_life(self) -> None:
        """Ask a program that has been quiet for a sign of life, and end one that gives none."""
        quiet_s = time.monotonic() - self.heard_s
        if quiet_s > SILENT_S and self.process is not None:
            self.errors.append(f"it gave no sign of life for {quiet_s:.0f} s")
            self.process.kill()
        elif quiet_s > QUIET_S and not self.is_pinged:
            self.is_pinged = True
            self.write_line(json.dumps({"type": "ping"}))

    def has_news(self) -> bool:
        """Whether there is anything to take."""
        return bool(self.rows or self.done) or self.ended is not None

    def stop(self) -> None:
        """End the program, and remove everything of it."""
        if self.process is not None and self.process.stdin is not None:
            try:
                self.process.stdin.close()
                self.process.wait(END_S)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_line(self, line: str) -> None:
        """Send a message. A program that has ended is noticed by the reader."""
        stdin = self.process.stdin if self.process is not None else None
        if stdin is None:
            return
        try:
            with self.writing:
                stdin.write(line.encode() + b"\n")
                stdin.flush()
        except OSError:
            pass

    def read(self) -> None:
        """Read messages of the program until it ends."""
        process = self.process
        if process is None or process.stdout is None:
            return
        try:
            for line in process.stdout:
                self.handle(json.loads(line))
            reason = " | ".join(self.errors)
        except ValueError as error:
            process.kill()
            reason = f"invalid message: {error}"
        status = process.wait()
        with self.changed:
            self.ended = f"ghostbench ray-worker ended with status {status}: {reason}"
            self.changed.notify_all()

    def handle(self, message: dict[str, Any]) -> None:
        """Handle one message of the program."""
        kind = message.pop("type")
        self.heard_s, self.is_pinged = time.monotonic(), False
        if kind == "lease":
            self.lease(message["id"], message["engine"])
        elif kind == "release":
            self.limiter.release.remote(self.job.name, message["id"])
        else:
            with self.changed:
                if kind == "row":
                    self.rows.append(message)
                elif kind == "done":
                    self.done.append(message["batch"])
                elif kind != "pong":
                    self.first = {"type": kind, **message}
                self.changed.notify_all()

    def lease(self, number: int, engine: str) -> None:
        """Ask for a lease, and let the request start once it is granted."""
        granted = self.limiter.acquire.remote(self.job.name, number, engine).future()
        line = json.dumps({"type": "granted", "id": number})

        def grant(result: Any) -> None:  # noqa: ANN401 (a future of Ray)
            if result.exception() is None:
                self.write_line(line)
            elif self.process is not None:
                # Without its limiter a worker could exceed the limits.
                self.process.kill()

        granted.add_done_callback(grant)

    def read_errors(self) -> None:
        """Keep the last lines of standard error, so that the program never waits for a reader."""
        if self.process is not None and self.process.stderr is not None:
            for line in self.process.stderr:
                self.errors.append(line.decode(errors="replace").strip()[:400])
