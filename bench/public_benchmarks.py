"""Measures the public benchmarks with the built program, side by side with the Python packages that the originals use.

    python3 bench/public_benchmarks.py GHOSTBENCH GOLDEN PYTHON

prints the table of docs/benchmarks.md. GHOSTBENCH is the program, GOLDEN the folder of golden rows, and PYTHON an
interpreter with the packages of server/scoring/benches/cceval_python.py and server/benchmarks/benches/repoqa_python.py.
Times of Ghostbench are those of whole commands: starting, reading, scoring and printing. Linux only.
"""

import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = 10_000
SLOTS = 32
ANSWER_SECONDS = 0.05
KILLS = 3
ROUNDS = 5


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


class Finished:
    """A finished command: wall and processor time in seconds, peak memory in MB, output."""

    def __init__(self, command, threads=None, expect=0):
        environment = {**os.environ, **({"RAYON_NUM_THREADS": str(threads)} if threads else {})}
        start = time.monotonic()
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(
                [str(part) for part in command], env=environment, stdout=out, stderr=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(child.pid, 0)
            self.wall = time.monotonic() - start
            out.seek(0)
            self.output = out.read().decode()
        child.returncode = os.waitstatus_to_exitcode(status)
        assert expect in (None, child.returncode), f"{command}: {child.returncode}"
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss / 1024


def least(measure):
    """The least of some rounds: other work on the machine only adds."""
    return min(measure() for _ in range(ROUNDS))


def rows_of_original(python, script, rows, folder, rounds, *mode):
    path = folder / "rows.jsonl"
    write_rows(path, rows)
    return json.loads(Finished([python, ROOT / script, path, rounds, *mode]).output)


# CrossCodeEval


def cceval_files(folder, rows, copies):
    """Items and predictions with ids of their own."""
    items, predictions = [], []
    for copy in range(copies):
        for number, row in enumerate(rows):
            task = f"project_cc_{row['lang']}/{copy}-{number}"
            metadata = {"task_id": task, "repository": "r", "file": "a/b"}
            item = {"prompt": row["prompt"], "groundtruth": row["groundtruth"], "right_context": "", "metadata": metadata}
            items.append(item)
            predictions.append({"task_id": task, "pred": row["prediction_raw"]})
    write_rows(folder / "line_completion.jsonl", items)
    write_rows(folder / "prediction.jsonl", predictions)
    return [folder / "line_completion.jsonl", folder / "prediction.jsonl"]


def real_cceval_rows(golden):
    tasks = {row["metadata"]["task_id"]: row for row in read_rows(golden / "cceval_real_inputs.jsonl")}
    for answer in read_rows(golden / "cceval_real_outputs.jsonl"):
        if answer["template"] == "comment" and answer["task_id"] in tasks:
            task = tasks[answer["task_id"]]
            yield {
                "lang": answer["language"],
                "prompt": task["prompt"],
                "prediction_raw": answer["output"],
                "groundtruth": task["groundtruth"],
            }


def cceval(ghostbench, golden, python, folder):
    for name, rows in [
        ("golden rows", read_rows(golden / "cceval_metrics.jsonl")),
        ("real rows", list(real_cceval_rows(golden))),
    ]:
        original = rows_of_original(python, "server/scoring/benches/cceval_python.py", rows, folder, 3)
        for language in sorted(original):
            of_language = [row for row in rows if row["lang"] == language]
            copies = max(1, 4_000 // len(of_language))
            files = cceval_files(folder, of_language, copies)
            command = [ghostbench, "score", "--format", "crosscodeeval", "--json", *files]
            ours = least(lambda: Finished(command, threads=1).cpu) * 1000 / (copies * len(of_language))
            theirs = original[language]["ms_per_case"]
            limit = 200 if language == "python" else 3
            yield (
                f"CrossCodeEval's metrics, {language}, {name}: ms per case, original in Python, times",
                f"{ours:.4f}, {theirs:.4f}, {theirs / ours:.0f}",
                f"{limit} times",
                theirs / ours >= limit,
            )


# RepoQA


def repoqa_files(folder, rows, copies):
    """The repositories with the functions asked for, as often as there are answers for the same function, and the answers."""
    dataset, outputs, known, uses = {}, [], set(), {}
    for copy in range(copies):
        for row in rows:
            asked = (copy, row["language"], row["repo"], row["ground_truth"])
            uses[asked] = uses.get(asked, 0) + 1
            repo, content, needles = f"{row['repo']}-{copy}-{uses[asked]}", {}, []
            outputs.append({"language": row["language"], "repo": repo, "name": row["ground_truth"],
                            "output": [row["model_output"]]})
            if (row["language"], repo) in known:
                continue
            known.add((row["language"], repo))
            for place, needle in enumerate(row["needles"]):
                content[str(place)] = needle["code"]
                lines = needle["code"].count("\n") + 1
                needles.append({"name": needle["name"], "path": str(place), "start_line": 0, "end_line": lines,
                                "start_byte": 0, "end_byte": len(needle["code"].encode())})
            entry = {"repo": repo, "content": content, "dependency": {}, "needles": needles}
            dataset.setdefault(row["language"], []).append(entry)
    (folder / "repoqa.json").write_text(json.dumps(dataset), encoding="utf-8")
    write_rows(folder / "outputs.jsonl", outputs)
    return [folder / "repoqa.json", folder / "outputs.jsonl"]


def repoqa(ghostbench, golden, python, folder):
    rows = read_rows(golden / "repoqa_scores.jsonl")
    script = "server/benchmarks/benches/repoqa_python.py"
    original = rows_of_original(python, script, rows, folder, 1)
    prepared = rows_of_original(python, script, rows, folder, 3, "--prepared")
    copies = 10
    files = repoqa_files(folder, rows, copies)
    command = [ghostbench, "score", "--format", "repoqa", "--faithful", "--json", *files]
    # One command scores with comments and without.
    ours = least(lambda: Finished(command, threads=1).cpu) * 1000 / (copies * len(rows))
    theirs, least_of_theirs = (
        sum(times[mode]["ms_per_case"] for mode in ("comments_kept", "comments_removed"))
        for times in (original, prepared)
    )
    scores = json.loads(Finished(command).output)
    assert scores["predictions"] == copies * len(rows), scores["predictions"]
    for mode, table in [("comments_kept", "pass@1"), ("comments_removed", "pass@1, comments ignored")]:
        share = scores["tables"][table]["all"]["0.8"]
        print(f"{table}: {share * len(rows):.1f} of {len(rows)}, in Python {original[mode]['found_at_0.8']}", file=sys.stderr)
    yield (
        "RepoQA's score with comments and without: ms per case, original in Python, times",
        f"{ours:.3f}, {theirs:.1f}, {theirs / ours:.0f}",
        "50 times",
        theirs / ours >= 50,
    )
    yield (
        "the same, with parsers, queries and functions prepared once in Python",
        f"{ours:.3f}, {least_of_theirs:.1f}, {least_of_theirs / ours:.0f}",
        "",
        True,
    )


# Contexts


def contexts(ghostbench, folder):
    """A context of 128 k tokens more or less in the command: the difference is its time."""
    code = "".join(
        f"def function_{number}(first, second):\n    # Number {number}.\n    return first + second * {number}\n\n\n"
        for number in range(2_000)
    )
    content = {f"f{number}.py": code.replace("function_", f"function_{number}_") for number in range(12)}
    needles = []
    for number in range(10):
        path = f"f{number}.py"
        start = content[path].index(f"def function_{number}_777(")
        end = content[path].index("\n\n\n", start)
        line = content[path][:start].count("\n")
        needles.append({"name": f"function_{number}_777", "path": path, "start_line": line, "end_line": line + 3,
                        "start_byte": start, "end_byte": end, "description": "Adds what is asked for."})
    repository = {"repo": "r", "content": content, "dependency": {path: [] for path in content}, "needles": needles}
    path = folder / "large.json"
    path.write_text(json.dumps({"python": [repository]}), encoding="utf-8")
    command = [ghostbench, "import", "repoqa", path, "--keep-secrets", "--out", folder / "large.jsonl", "--json"]
    times = {}
    for size in (256, 131_072):
        run = lambda: Finished([*command, "--all-depths", "--context-tokens", size], threads=1).cpu
        times[size] = least(run)
    made = json.loads(Finished([*command, "--all-depths", "--context-tokens", 131_072]).output)["cases"]
    ms = (times[131_072] - times[256]) * 1000 / made
    yield (
        f"a context of 128 k tokens (mean of {made}, with writing the case)",
        f"{ms:.1f} ms",
        "50 ms",
        ms <= 50,
    )


# A suite of 10,000 cases


class Server(threading.Thread):
    """A llama.cpp server that takes a while for each answer and gives a number of them at a time."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ready = threading.Event()
        self.start()
        self.ready.wait()

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        self.slots = asyncio.Semaphore(SLOTS)
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.forget()
        self.ready.set()
        await server.serve_forever()

    def forget(self):
        self.answers, self.busy, self.first, self.last = 0, 0.0, None, None

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                lengths = [line.split(":")[1] for line in head if line.lower().startswith("content-length:")]
                await reader.readexactly(int(lengths[0]) if lengths else 0)
                await self.answer(head[0].startswith("POST /completion"), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def answer(self, is_completion, writer):
        if not is_completion:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
            return await writer.drain()
        async with self.slots:
            start = time.monotonic()
            self.first = self.first or start
            await asyncio.sleep(ANSWER_SECONDS)
            body = b'data: {"content": "answer()", "stop": true}\n\n'
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            self.last = time.monotonic()
            self.busy += self.last - start
            self.answers += 1


def large_suite(golden, folder):
    rows = read_rows(golden / "cceval_real_inputs.jsonl")
    items = []
    for number in range(CASES):
        row = rows[number % len(rows)]
        language = row["metadata"]["task_id"].split("/")[0]
        sign = "#" if language == "project_cc_python" else "//"
        metadata = {**row["metadata"], "task_id": f"{language}/{number}"}
        items.append({**row, "prompt": f"{sign} {number}\n{row['prompt']}", "metadata": metadata})
    write_rows(folder / "line_completion_rg1.jsonl", items)
    predictions = [{"task_id": item["metadata"]["task_id"], "pred": item["groundtruth"] + "\n"} for item in items]
    write_rows(folder / "prediction.jsonl", predictions)
    return [folder / "line_completion_rg1.jsonl", folder / "prediction.jsonl"]


def suite(ghostbench, golden, folder):
    items, predictions = large_suite(golden, folder)
    suite = folder / "suite.jsonl"
    imported = Finished([ghostbench, "import", "crosscodeeval", items, "--out", suite, "--json"])
    cases = json.loads(imported.output)["cases"]
    assert cases == CASES, cases
    scored = Finished([ghostbench, "score", "--format", "crosscodeeval", items, predictions, "--json"])
    yield (
        f"{CASES} cases of CrossCodeEval ({items.stat().st_size / 1e6:.0f} MB) imported and scored",
        f"{imported.wall + scored.wall:.1f} s, {max(imported.peak, scored.peak):.0f} MB",
        "10 s, 300 MB",
        imported.wall + scored.wall <= 10 and max(imported.peak, scored.peak) <= 300,
    )
    server = Server()
    settings = folder / "engines.toml"
    engine = f'[[engine]]\nname = "slow"\nkind = "llama-cpp"\nurl = "http://127.0.0.1:{server.port}"\nfim = "qwen2.5-coder"\n'
    settings.write_text(engine)
    replay = [ghostbench, "replay", suite, "--jobs", SLOTS, "--config", settings, "--out"]
    Finished([*replay, folder / "whole"])
    busy = 100 * server.busy / ((server.last - server.first) * SLOTS)
    yield (
        f"slots of a server with {ANSWER_SECONDS * 1000:.0f} ms an answer and {SLOTS} at a time that are busy in a replay of {CASES} cases",
        f"{busy:.1f} %",
        "95 %",
        busy >= 95,
    )
    server.forget()
    yield killed(ghostbench, server, replay, settings, folder / "killed")


def answered(run):
    """The complete rows of a run's answers."""
    path = run / "predictions.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def killed(ghostbench, server, replay, settings, run):
    """Kills a run at random moments, resumes it, and compares its answers with the suite."""
    seed = random.randrange(1_000_000)
    moments = random.Random(seed)
    before = []
    for number in range(KILLS):
        command = [*replay, run] if number == 0 else [ghostbench, "replay", "--resume", "--jobs", SLOTS, "--config", settings, "--out", run]
        child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        goal = len(before) + moments.randrange(500, 2_500)
        while child.poll() is None and len(answered(run)) < goal:
            time.sleep(moments.random() / 5)
        child.send_signal(signal.SIGKILL)
        child.wait()
        after = answered(run)
        assert after[: len(before)] == before, "an answer was lost or changed"
        before = after
    Finished([ghostbench, "replay", "--resume", "--jobs", SLOTS, "--config", settings, "--out", run])
    rows = answered(run)
    assert rows[: len(before)] == before, "an answer was lost or changed"
    cases = [row["case"] for row in rows]
    asked = server.answers
    is_whole = len(cases) == CASES and len(set(cases)) == CASES
    return (
        f"a run of {CASES} cases, killed {KILLS} times at random moments (seed {seed}) and resumed: answers, different cases, requests",
        f"{len(cases)}, {len(set(cases))}, {asked}",
        f"{CASES}, {CASES}, {CASES} and the {SLOTS} under way at each kill",
        is_whole and asked <= CASES + KILLS * SLOTS,
    )


def main(ghostbench, golden, python):
    golden = Path(golden)
    print("| measure | value | target | reached |\n|---|---|---|---|")
    parts = [
        lambda folder: cceval(ghostbench, golden, python, folder),
        lambda folder: repoqa(ghostbench, golden, python, folder),
        lambda folder: contexts(ghostbench, folder),
        lambda folder: suite(ghostbench, golden, folder),
    ]
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            for what, value, target, is_reached in part(Path(folder)):
                print(f"| {what} | {value} | {target} | {'yes' if is_reached else 'no'} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
