"""Builds all four public shapes from real repositories, replays them, exports the answers, and scores the export again.

    python3 bench/round_trips.py GHOSTBENCH REPOSITORIES [--model GGUF --llama-server PROGRAM] [--python PYTHON]

prints a table: each number of the run's report must be the number that `ghostbench score` computes from the exported files. REPOSITORIES is
a folder with the unpacked repositories of `cargo xtask bench`. With a model and llama.cpp's server, a second engine answers; the model
of `cargo run -p tests --example tiny_model -- tiny.gguf` will do. With PYTHON, an interpreter with the packages of
server/scoring/benches/cceval_python.py and server/benchmarks/benches/repoqa_python.py, CrossCodeEval's and RepoQA's exports are scored
with the packages that the originals use, too.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

REPOSITORIES = {
    "python": ["click", "flask"],
    "java": ["javapoet", "commons-lang"],
    "typescript": ["redux", "zod"],
    "csharp": ["dapper", "dnlib"],
    "rust": ["hyper", "rustls"],
    "go": ["gin", "chi"],
    "c": ["libuv", "zstd"],
    "cpp": ["leveldb", "snappy"],
}
SIZES = {"codev-bench": 24, "crosscodeeval": 20, "repoqa": 5, "yabloco": 4}
# Of RepoQA: the small model has a token for each byte.
CONTEXT_TOKENS = 384
# The languages of the original's grammars and word lists.
CCEVAL_LANGUAGES = {"python", "java", "typescript", "csharp"}
REPOQA_LANGUAGES = {"python", "java", "typescript", "rust", "cpp"}
CCEVAL_COLUMNS = ["em", "es", "id_em", "id_f1"]
TOLERANCE = 0.005 + 1e-9


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.engines = ["builtin", "tiny"] if options.model else ["builtin"]

    def write_config(self):
        config = self.folder / "config.toml"
        text = ""
        if self.options.model:
            text = (
                '[[engine]]\nname = "tiny"\nkind = "llama-server"\nfim = "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"\n'
                "context_window = 16384\nmax_tokens = 12\n"
                f"gguf = {json.dumps(str(self.options.model))}\ncommand = [{json.dumps(str(self.options.llama_server))}]\n"
            )
        config.write_text(text)
        return config

    def run(self, *arguments):
        command = [str(part) for part in (self.options.ghostbench, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def round_trip(self, shape, language, repository):
        """Returns the number of cases, of compared numbers, and those that differ."""
        work = self.folder / f"{shape}-{repository.name}"
        built = work / "built"
        self.run("build", shape, repository, "--out", built, "--language", language, "--size", SIZES[shape])
        (built / "datasheet.json").rename(work / "datasheet.json")
        suite = work / "suite.jsonl"
        files = [built]
        if shape == "yabloco":
            files = [built / "bench.csv", built / "bench.json"]
        options = {"crosscodeeval": ["--language", language], "repoqa": ["--context-tokens", CONTEXT_TOKENS]}.get(shape, [])
        self.run("import", shape, *files, "--out", suite, *options)
        run = work / "run"
        engines = [part for engine in self.engines for part in ("--engine", engine)]
        self.run(
            "replay", suite, "--workspace", repository, "--out", run, "--config", self.write_config(), "--no-copies", "off", *engines,
        )
        report = json.loads(self.run("report", run, "--json"))["benchmarks"][shape]
        exported = work / "exported"
        self.run("export", run, "--format", shape, "--out", exported)
        cases = sum(1 for _ in open(suite, encoding="utf-8"))
        if cases == 0:
            raise RuntimeError("the suite is empty")
        compared, different = 0, []
        for number, engine in enumerate(self.engines, 1):
            answers = exported / f"{number:02}-{engine}"
            for file, setting in self.score(shape, exported, answers, built, language):
                for table, rows in file.items():
                    for row, values in rows.items():
                        of_run = report[table][f"{engine}: {row}{setting}"]
                        for column, value in values.items():
                            compared += 1
                            if column != "latency" and of_run[column] != value:
                                different.append(f"{engine} {table} {row}{setting} {column}: {of_run[column]} and {value}")
            if self.options.python:
                checked, wrong = self.original(shape, language, exported, answers, built)
                compared += checked
                different += wrong
        return cases, compared, different

    def score(self, shape, exported, answers, built, language):
        """Yields the tables of each scored set of files, and how the report names its rows."""
        if shape == "crosscodeeval":
            for stem, setting in CCEVAL_SETTINGS.items():
                items, predictions = exported / f"{stem}.jsonl", answers / f"{stem}.prediction.jsonl"
                # There is no file for an engine that has answered nothing in a setting.
                if items.exists() and predictions.exists():
                    yield self.tables(shape, items, predictions, "--language", language), setting
        elif shape == "repoqa":
            yield self.tables(shape, built / "repoqa.json", answers), ""
        elif shape == "yabloco":
            yield self.tables(shape, exported / "bench.csv", exported / "bench.json", answers), ""
        else:
            yield self.tables(shape, answers), ""

    def tables(self, shape, *files):
        return json.loads(self.run("score", "--format", shape, *files, "--json"))["tables"]

    def original(self, shape, language, exported, answers, built):
        """Scores with the packages of the originals; returns the number of compared numbers, and those that differ."""
        if shape == "crosscodeeval" and language in CCEVAL_LANGUAGES:
            return self.original_cceval(language, exported, answers)
        if shape == "repoqa" and language in REPOQA_LANGUAGES:
            return self.original_repoqa(answers, built / "repoqa.json")
        return 0, []

    def by_packages(self, script, rows):
        path = self.folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = [str(self.options.python), str(ROOT / script), str(path)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def original_repoqa(self, answers, dataset):
        needles = {}
        for repositories in json.loads(dataset.read_text()).values():
            for repository in repositories:
                code = lambda it: repository["content"][it["path"]].encode()[it["start_byte"] : it["end_byte"]].decode()
                needles[repository["repo"]] = [{"name": it["name"], "code": code(it)} for it in repository["needles"]]
        outputs = [row for path in sorted(answers.iterdir()) for row in read(path)]
        rows = [
            {
                "language": row["language"],
                "ground_truth": row["name"],
                "model_output": row["output"][0],
                "needles": needles[row["repo"]],
            }
            for row in outputs
        ]
        theirs = self.by_packages("server/benchmarks/benches/repoqa_python.py", rows)
        tables = self.tables("repoqa", "--faithful", dataset, answers)
        compared, different = 0, []
        for mode, table in [("comments_kept", "pass@1"), ("comments_removed", "pass@1, comments ignored")]:
            for threshold in ("0.0", "0.8"):
                compared += 1
                ours = tables[table]["all"][threshold] * len(rows)
                if abs(ours - theirs[mode][f"found_at_{threshold}"]) > 1e-6:
                    different.append(f"{answers.name} {mode} {threshold}: {ours}, by the original's packages {theirs[mode]}")
        return compared, different

    def original_cceval(self, language, exported, answers):
        compared, different = 0, []
        for stem in CCEVAL_SETTINGS:
            items, predictions = exported / f"{stem}.jsonl", answers / f"{stem}.prediction.jsonl"
            if not (items.exists() and predictions.exists()):
                continue
            predicted = {row["task_id"]: row["pred"] for row in read(predictions)}
            rows = [
                {
                    "lang": language,
                    "prompt": item["prompt"],
                    "groundtruth": item["groundtruth"],
                    "prediction_raw": predicted.get(item["metadata"]["task_id"], ""),
                }
                for item in read(items)
            ]
            theirs = self.by_packages("server/scoring/benches/cceval_python.py", rows)[language]
            tables = self.tables("crosscodeeval", items, predictions, "--language", language)
            ours = tables["results"][language]
            for column in CCEVAL_COLUMNS:
                compared += 1
                if abs(ours[column] - theirs[column]) > TOLERANCE:
                    different.append(f"{answers.name} {stem} {column}: {ours[column]}, by the original's packages {theirs[column]}")
        return compared, different


# The files of CrossCodeEval, and how the report names their rows.
CCEVAL_SETTINGS = {"line_completion": "", "line_completion_rg1": ", retrieval", "line_completion_oracle": ", retrieval with the truth"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ghostbench", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--llama-server", type=Path, default=Path("llama-server"))
    parser.add_argument("--python", type=Path)
    parser.add_argument("--language", action="append", choices=sorted(REPOSITORIES))
    options = parser.parse_args()
    for name in ("ghostbench", "repositories", "model"):
        if getattr(options, name):
            setattr(options, name, getattr(options, name).resolve())
    if options.model:
        program = shutil.which(options.llama_server)
        if program is None:
            raise SystemExit(f"there is no program {options.llama_server}; name llama.cpp's server with --llama-server")
        # The server is started in another folder.
        options.llama_server = Path(program).resolve()
    found_difference = False
    print("| shape | language, repository | cases | numbers compared | different |\n|---|---|---|---|---|")
    for language, names in REPOSITORIES.items():
        if options.language and language not in options.language:
            continue
        for name in names:
            repository = next(path for path in options.repositories.iterdir() if path.is_dir() and path.name.startswith(f"{name}-"))
            for shape in SIZES:
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        cases, compared, different = Bench(options, Path(folder)).round_trip(shape, language, repository)
                    except RuntimeError as error:
                        found_difference = True
                        print(f"| {shape} | {language}, {repository.name} | {error} | | |", flush=True)
                        continue
                print(f"| {shape} | {language}, {repository.name} | {cases} | {compared} | {len(different)} |", flush=True)
                for difference in different[:5]:
                    found_difference = True
                    print(f"  {difference}", file=sys.stderr)
    sys.exit(found_difference)


if __name__ == "__main__":
    main()
