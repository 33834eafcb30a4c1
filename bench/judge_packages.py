"""Judges blocks of published packages by their own unit tests, and prints the table of docs/unit-tests.md.

    python3 bench/judge_packages.py GHOSTBENCH PYTHON [PACKAGE...] [--keep FOLDER]

GHOSTBENCH is the program, and PYTHON an interpreter with pytest and coverage. Packages are fetched by pip, Cargo, npm and apt, at the
versions below; Debian's sources have those of its release. For each package: the blocks whose tests have power, the verdicts on the truth
that are not `passed`, in the tree where the tests were found and in a second tree that nothing was run in, the seconds of a case, the
share of the wall time that the test commands take with one sandbox at a time, and how often the built-in engine's answers pass, whether
their text is the truth or not. With --keep, packages stay in a folder and are not fetched again. Linux only.

Debian packages: bubblewrap golang cmake autoconf automake libtool autopoint gettext flex default-jdk maven
maven-debian-helper junit4 libjacoco-java, and the sources of its suite.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

TEST_RUNS = 3

# A list of the plug-ins and versions that Debian's repository for Maven has.
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>measured</groupId>
  <artifactId>{name}</artifactId>
  <version>1</version>
  <properties>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>2.22.3</version></plugin>
    </plugins>
  </build>
</project>
"""


def run(*command, **options):
    finished = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{finished.stdout[-2000:]}{finished.stderr[-4000:]}")
    return finished.stdout


def unpack(archive, folder):
    """Unpacks an archive, and returns its only folder."""
    before = set(folder.iterdir())
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir() and path not in before)


def fetch_pypi(package, folder):
    run("pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, f"{package.name}=={package.version}")
    return unpack(next(folder.glob("*.tar.gz")), folder)


def fetch_crate(package, folder):
    run("cargo", "init", "--name", "fetch", folder)
    run("cargo", "add", f"{package.name}@={package.version}", cwd=folder)
    vendored = folder / "vendored"
    run("cargo", "vendor", vendored, cwd=folder)
    root = folder / package.name
    shutil.copytree(vendored / package.name, root)
    manifest = root / "Cargo.toml"
    manifest.write_text(manifest.read_text() + "\n[workspace]\n")
    return root


def fetch_npm(package, folder):
    run("npm", "pack", f"{package.name}@{package.version}", cwd=folder)
    return unpack(next(folder.glob("*.tgz")), folder)


def fetch_debian_source(package, folder):
    try:
        run("apt-get", "source", "--download-only", package.name, cwd=folder)
    except RuntimeError:
        # Mirrors may lack Debian's changes of a package, which are not needed.
        if not any(folder.glob("*.orig.tar.*")):
            raise
    return unpack(next(folder.glob("*.orig.tar.*")), folder)


def fetch_debian_go(package, folder):
    run("apt-get", "download", package.name, cwd=folder)
    run("dpkg", "-x", next(folder.glob("*.deb")), folder / "package")
    module = folder / "module"
    found = next((folder / "package/usr/share/gocode/src").glob("*/*/*"))
    shutil.copytree(found, module)
    if not (module / "go.mod").exists():
        run("go", "mod", "init", "/".join(found.parts[-3:]), cwd=module)
    return module


def npm_install(*packages):
    def install(root):
        run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages, cwd=root)

    return install


def keep_only(*paths):
    """Removes everything but some paths and the files at the top that are no code."""

    def remove(root):
        kept = [root / path for path in paths]
        for path in root.iterdir():
            if path.is_dir() and path not in kept:
                shutil.rmtree(path) if not any(path in it.parents for it in kept) else keep_children(path, kept)
            elif path.suffix in (".js", ".cjs", ".ts", ".cts", ".mjs"):
                path.unlink()

    return remove


def keep_children(folder, kept):
    for path in folder.iterdir():
        if path not in kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def write(name, text):
    def write_file(root):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write_file


def commands(*lines):
    def run_lines(root):
        for line in lines:
            run(*line.split(), cwd=root)

    return run_lines


def skip_test_files(*patterns):
    def remove(root):
        for pattern in patterns:
            for path in root.glob(pattern):
                path.unlink()

    return remove


@dataclass
class Package:
    """A package: how to fetch its source, what to add to it, and how to build it at its final place."""

    name: str
    fetch: Callable
    version: str = "of Debian"
    # Once, after it was fetched.
    complete: list = field(default_factory=list)
    # In every tree: build files have absolute paths.
    build: list = field(default_factory=list)
    # Candidates for each scenario.
    size: int = 8


CMAKE = commands("cmake -S . -B build -DENABLE_CJSON_TEST=ON", "cmake --build build")
AUTOTOOLS = commands("./configure", "make")
# The tests of zod import it by its name.
VITEST = 'export default { resolve: { alias: { "zod/v3": new URL("src/v3/index.ts", import.meta.url).pathname } } };\n'
BABEL = '{"presets": [["@babel/preset-env", {"targets": {"node": "current"}}]]}\n'

PACKAGES = [
    Package("more-itertools", fetch_pypi, "10.5.0"),
    Package("toolz", fetch_pypi, "1.0.0"),
    Package("strsim", fetch_crate, "0.11.1", build=[commands("cargo test --no-run")]),
    Package("semver", fetch_crate, "1.0.28", build=[commands("cargo test --no-run")]),
    Package("itoa", fetch_crate, "1.0.19", build=[commands("cargo test --no-run")]),
    Package("@fastify/error", fetch_npm, "4.2.0", [npm_install()]),
    Package("css-to-react-native", fetch_npm, "3.2.0", [write("babel.config.json", BABEL), npm_install()]),
    Package("node-css-what", fetch_debian_source, complete=[npm_install()]),
    # Its second half is the same library in a newer version; its packages for development are not named in the published file.
    Package("zod", fetch_npm, "4.1.12", [
        keep_only("src/v3"), write("vitest.config.mjs", VITEST), npm_install("vitest@3.2.4", "@vitest/coverage-v8@3.2.4"),
    ]),
    Package("golang-github-spf13-pflag-dev", fetch_debian_go),
    Package("openjson", fetch_debian_source, complete=[
        write("pom.xml", POM.format(name="openjson")),
        write(".mvn/maven.config", "--settings\n/etc/maven/settings-debian.xml\n"),
    ], build=[commands("mvn --quiet test-compile")], size=4),
    Package("cjson", fetch_debian_source, build=[CMAKE]),
    Package("libcsv", fetch_debian_source, build=[AUTOTOOLS]),
    Package("libconfuse", fetch_debian_source, complete=[commands("./autogen.sh")], build=[AUTOTOOLS]),
]


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Trees:
    """Two equal trees of a package, and the runs over them."""

    def __init__(self, ghostbench, python, package, folder):
        programs = os.path.dirname(os.path.abspath(python))
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        environment["VIRTUAL_ENV"] = os.path.dirname(programs)
        environment["PYTHONPATH"] = ""
        self._program = ghostbench
        self._environment = environment
        self._size = package.size
        self._out = folder / "out"
        shutil.rmtree(self._out, ignore_errors=True)
        fetched = folder / "fetched"
        if not fetched.exists():
            with tempfile.TemporaryDirectory(dir=folder) as temporary:
                root = package.fetch(package, Path(temporary))
                for step in package.complete:
                    step(root)
                root.rename(fetched)
        self.first, self.second = folder / "first", folder / "second"
        for tree in (self.first, self.second):
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(fetched, tree, symlinks=True)
            for step in package.build:
                step(tree)

    def _ghostbench(self, *arguments, tree):
        return run(self._program, *arguments, cwd=tree, env=self._environment)

    def find_tests(self):
        options = ["--with-tests", "--test-runs", str(TEST_RUNS), "--size", str(self._size), "--json"]
        built = self._ghostbench("build", "codev-bench", ".", *options, "--out", self._out / "built", tree=self.first)
        return json.loads(built)

    def replay(self, name, engine):
        suite = self._out / "built" / "cases.jsonl"
        options = ["--workspace", ".", "--no-copies", "off", "--engine", engine]
        self._ghostbench("replay", suite, *options, "--out", self._out / name, tree=self.first)

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

    def judge(self, name, tree):
        """Judges a run anew; returns its verdicts, and the wall time of the command."""
        verdicts = self._out / name / "verdicts.jsonl"
        verdicts.unlink(missing_ok=True)
        start = time.perf_counter()
        self._ghostbench("judge", self._out / name, "--workspace", ".", "--judge-jobs", "1", tree=tree)
        return read_rows(verdicts), time.perf_counter() - start

    def exact(self, name):
        scores = read_rows(self._out / name / "scores.jsonl")
        return {row["case"] for row in scores if row["metrics"].get("token_exact") == 1}


def passed(verdicts):
    return sum(row["verdict"] == "passed" for row in verdicts)


def measure(trees):
    start = time.perf_counter()
    sheet = trees.find_tests()
    found = time.perf_counter() - start
    tests = sheet["counts"]["tests"]
    kept = sheet["files"].get("cases.jsonl", 0)
    reasons = ("tests pass", "no test", "its tests", "other code", "nothing")
    candidates = kept + sum(count for reason, count in sheet["left_out"].items() if reason.startswith(reasons))
    row = {
        "runner": tests["runner"],
        "tests": tests["stable"],
        "lines": "yes" if tests["covers_lines"] else "no",
        "candidates": candidates,
        "found in": f"{found:.0f} s",
        "kept": kept,
    }
    if kept == 0:
        return row
    trees.answer_with_the_truth("truth")
    verdicts, wall = trees.judge("truth", trees.first)
    again, _ = trees.judge("truth", trees.second)
    for verdict in (*verdicts, *again):
        if verdict["verdict"] != "passed":
            print(json.dumps(verdict)[:2000], file=sys.stderr, flush=True)
    trees.replay("builtin", "builtin")
    answers, _ = trees.judge("builtin", trees.first)
    exact = trees.exact("builtin")
    right = [answer for answer in answers if answer["case"] in exact]
    others = [answer for answer in answers if answer["case"] not in exact]
    return {
        **row,
        "false": f"{len(verdicts) + len(again) - passed(verdicts) - passed(again)} of {len(verdicts) + len(again)}",
        "seconds": f"{wall / len(verdicts):.2f}",
        "share": f"{100 * sum(verdict['seconds'] for verdict in verdicts) / wall:.1f} %",
        "exact": f"{passed(right)} of {len(right)}",
        "others": f"{passed(others)} of {len(others)}",
    }


COLUMNS = ["runner", "tests", "lines", "candidates", "found in", "kept", "false", "seconds", "share", "exact", "others"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ghostbench")
    parser.add_argument("python")
    parser.add_argument("packages", nargs="*", metavar="package")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    ghostbench = os.path.abspath(arguments.ghostbench)
    print("| package | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS), flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        for package in PACKAGES:
            if arguments.packages and package.name not in arguments.packages:
                continue
            folder = (arguments.keep or Path(temporary)).absolute() / package.name.replace("/", "-")
            folder.mkdir(parents=True, exist_ok=True)
            try:
                row = measure(Trees(ghostbench, arguments.python, package, folder))
            except RuntimeError as error:
                print(f"{package.name}: {error}", file=sys.stderr, flush=True)
                continue
            cells = " | ".join(str(row.get(column, "")) for column in COLUMNS)
            print(f"| {package.name} {package.version} | {cells} |", flush=True)
            if not arguments.keep:
                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
