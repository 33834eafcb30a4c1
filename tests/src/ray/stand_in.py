#!/usr/bin/env python3
"""Stands in for `python -m ghostbench_ray`: one worker on this machine, and messages as STAND_IN_MODE says.

twice    every row and the end of every batch come twice; every third batch is lost after half of its rows, which all come late
dies     ends after the first rows
foreign  delivers a row of a case that the run does not have
garbage  delivers a line that is no message
crashes  every worker crashes before its first row
"""

import json
import os
import subprocess
import sys

MODE = os.environ["STAND_IN_MODE"]
VERSIONS = {"ghostbench_ray": os.environ["STAND_IN_VERSION"], "python": "3", "ray": "2", "pyarrow": "1"}


def send(kind: str, **message: object) -> None:
    print(json.dumps({"type": kind, **message}), flush=True)


def answers(worker: subprocess.Popen, line: str) -> list:
    worker.stdin.write(line)
    worker.stdin.flush()
    rows = []
    while (answer := json.loads(worker.stdout.readline())).pop("type") == "row":
        rows.append(answer)
    return rows


def deliver(batch: int, rows: list) -> None:
    if MODE == "twice" and batch % 3 == 1:
        send("rows", rows=rows[: len(rows) // 2])
        send("lost", batches=[batch], crashed=False)
        send("rows", rows=rows)
        return
    for _ in range(2):
        send("rows", rows=rows)
        send("done", batches=[batch])


def main() -> None:
    if "--versions" in sys.argv:
        print(json.dumps(VERSIONS))
        return
    send("hello", **VERSIONS)
    job = json.loads(sys.stdin.readline())
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [job["binary"], "ray-worker"]
    # Tests run in the workspace itself, which is a copy on a node.
    if files := (job["workspace"] or {}).get("files"):
        command += ["--workspace", files["root"]]
    with subprocess.Popen(command, **pipes) as worker:
        worker.stdin.write(json.dumps({"type": "job", **job["worker"]}) + "\n")
        worker.stdin.flush()
        assert json.loads(worker.stdout.readline())["type"] == "ready"
        send("workers", ready=1)
        for line in sys.stdin:
            batch = json.loads(line)
            if batch["type"] == "stop":
                break
            if MODE == "crashes":
                send("lost", batches=[batch["id"]], crashed=True)
                continue
            rows = answers(worker, line)
            if MODE == "foreign":
                rows[0]["case"] = "elsewhere"
            if MODE == "garbage":
                print("ready or not", flush=True)
            deliver(batch["id"], rows)
            if MODE == "dies":
                os._exit(7)


main()
