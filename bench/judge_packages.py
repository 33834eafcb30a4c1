"""Judges blocks of published packages by their own unit tests, and prints the table of docs/unit-tests.md.

    python3 bench/judge_packages.py GHOSTBENCH PYTHON [PACKAGE...]

GHOSTBENCH is the program, and PYTHON an interpreter with pytest and coverage. Packages are fetched by pip, Cargo, npm and apt, at the
versions below. For each: the blocks whose tests have power, the verdicts on the truth in a second and third judgement that are not
`passed`, the seconds of a case, the share of the wall time that the test commands take with one sandbox at a time, and how often the
built-in engine's answers pass, whether their text is the truth or not. Linux only.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

SIZE = 8
TEST_RUNS = 3

PYPI = {
    "more-itertools": "10.5.0",
    "toolz": "1.0.0",
}
CRATES = {
    "strsim": "0.11.1",
    "semver": "1.0.28",
    "itoa": "1.0.19",
}
NPM = {
    "@fastify/error": "4.2.0",
}
# Packages of Debian, whose version is that of the release: a folder of Go code, and a source package with CMake.
GO = {
    "golang-github-spf13-pflag-dev": "usr/share/gocode/src/github.com/spf13/pflag",
}
CMAKE = {
    "cjson": ["-DENABLE_CJSON_TEST=ON"],
}


def run(*command, **options):
    finished = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{finished.stdout[-2000:]}{finished.stderr[-4000:]}")
    return finished.stdout


def unpack(archive, folder):
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def fetch_pypi(name, version, folder):
    run("pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, f"{name}=={version}")
    return unpack(next(folder.glob("*.tar.gz")), folder)


def fetch_crate(name, version, folder):
    run("cargo", "init", "--name", "fetch", folder)
    run("cargo", "add", f"{name}@={version}", cwd=folder)
    vendored = folder / "vendored"
    run("cargo", "vendor", vendored, cwd=folder)
    package = folder / name
    shutil.copytree(vendored / name, package)
    manifest = package / "Cargo.toml"
    manifest.write_text(manifest.read_text() + "\n[workspace]\n")
    run("cargo", "test", "--no-run", cwd=package)
    return package


def fetch_npm(name, version, folder):
    run("npm", "pack", f"{name}@{version}", cwd=folder)
    package = unpack(next(folder.glob("*.tgz")), folder)
    run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", cwd=package)
    return package


def fetch_go(name, path, folder):
    run("apt-get", "download", name, cwd=folder)
    run("dpkg", "-x", next(folder.glob("*.deb")), folder / "package")
    module = folder / "module"
    shutil.copytree(folder / "package" / path, module)
    if not (module / "go.mod").exists():
        run("go", "mod", "init", "github.com/" + path.split("github.com/")[1], cwd=module)
    return module


def fetch_cmake(name, options, folder):
    run("apt-get", "source", "--download-only", name, cwd=folder)
    root = unpack(next(folder.glob("*.orig.tar.*")), folder)
    run("cmake", "-S", ".", "-B", "build", *options, cwd=root)
    run("cmake", "--build", "build", cwd=root)
    return root


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Package:
    """A fetched package with its benchmark and runs."""

    def __init__(self, ghostbench, python, root):
        programs = os.path.dirname(os.path.abspath(python))
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        environment["VIRTUAL_ENV"] = os.path.dirname(programs)
        environment["PYTHONPATH"] = ""
        self._program = ghostbench
        self._environment = environment
        self._root = root
        self._out = root.parent / "out"

    def _ghostbench(self, *arguments):
        return run(self._program, *arguments, cwd=self._root, env=self._environment)

    def build(self):
        options = ["--with-tests", "--test-runs", str(TEST_RUNS), "--size", str(SIZE), "--json"]
        return json.loads(self._ghostbench("build", "codev-bench", ".", *options, "--out", self._out / "built"))

    def replay(self, name, *engines):
        suite = self._out / "built" / "cases.jsonl"
        arguments = [word for engine in engines for word in ("--engine", engine)]
        self._ghostbench("replay", suite, "--workspace", ".", "--no-copies", "off", "--out", self._out / name, *arguments)

    def answer_with_the_truth(self, name):
        self.replay(name, "empty")
        run_folder = self._out / name
        truths = {case["id"]: case["truth"] for case in read_rows(run_folder / "cases.jsonl")}
        rows = read_rows(run_folder / "predictions.jsonl")
        for row in rows:
            row["text"] = row["raw"] = truths[row["case"]]
            row["status"] = "ok"
        with open(run_folder / "predictions.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        (run_folder / "scores.jsonl").unlink()

    def judge(self, name):
        """Judges a run anew; returns its verdicts, and the wall time of the command."""
        verdicts = self._out / name / "verdicts.jsonl"
        verdicts.unlink(missing_ok=True)
        start = time.perf_counter()
        self._ghostbench("judge", self._out / name, "--workspace", ".", "--judge-jobs", "1")
        return read_rows(verdicts), time.perf_counter() - start

    def exact(self, name):
        scores = read_rows(self._out / name / "scores.jsonl")
        return {row["case"] for row in scores if row["metrics"].get("token_exact") == 1}


def measure(package):
    sheet = package.build()
    kept = sheet["files"].get("cases.jsonl", 0)
    candidates = kept + sum(
        count
        for reason, count in sheet["left_out"].items()
        if reason.startswith(("tests pass", "no test", "its tests", "other code", "nothing"))
    )
    package.answer_with_the_truth("truth")
    false, share, seconds = 0, 0.0, 0.0
    for _ in range(2):
        verdicts, wall = package.judge("truth")
        false += sum(row["verdict"] != "passed" for row in verdicts)
        inside = sum(row["seconds"] for row in verdicts)
        share, seconds = inside / wall, wall / max(len(verdicts), 1)
    package.replay("builtin", "builtin")
    verdicts, _ = package.judge("builtin")
    exact = package.exact("builtin")
    others = [row for row in verdicts if row["case"] not in exact]
    return {
        "runner": sheet["counts"]["tests"]["runner"],
        "tests": sheet["counts"]["tests"]["stable"],
        "lines": "yes" if sheet["counts"]["tests"]["covers_lines"] else "no",
        "candidates": candidates,
        "kept": kept,
        "false": false,
        "seconds": f"{seconds:.2f}",
        "share": f"{100 * share:.0f} %",
        "exact": f"{sum(row['verdict'] == 'passed' for row in verdicts) - sum(row['verdict'] == 'passed' for row in others)}/{len(exact)}",
        "others": f"{sum(row['verdict'] == 'passed' for row in others)}/{len(others)}",
    }


def main():
    ghostbench, python, *wanted = sys.argv[1:]
    sources = [
        *((fetch_pypi, name, version) for name, version in PYPI.items()),
        *((fetch_crate, name, version) for name, version in CRATES.items()),
        *((fetch_npm, name, version) for name, version in NPM.items()),
        *((fetch_go, name, path) for name, path in GO.items()),
        *((fetch_cmake, name, options) for name, options in CMAKE.items()),
    ]
    columns = ["runner", "tests", "lines", "candidates", "kept", "false", "seconds", "share", "exact", "others"]
    print("| package | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns), flush=True)
    for fetch, name, version in sources:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                root = fetch(name, version, Path(folder))
                row = measure(Package(os.path.abspath(ghostbench), python, root))
            except RuntimeError as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                continue
            label = f"{name} {version}" if isinstance(version, str) and "/" not in version else name
            print(f"| {label} | " + " | ".join(str(row[column]) for column in columns) + " |", flush=True)


if __name__ == "__main__":
    main()
