"""Retrieves chunks the way CrossCodeEval does in Python, with rank_bm25, and says how long that takes.

    VENV/bin/python rank_bm25_python.py REPOSITORIES [ROUNDS]

REPOSITORIES has one object per line: `files` (path to text) and `places`, each with the paths of its candidate files in order
(`near`) and the texts of its `queries`. For each line one line of JSON comes out: by place, the seconds of building (cutting
files into chunks, tokenizing these, the statistics of BM25), by query its seconds (tokenizing, scoring, sorting ids and
texts, choosing; the least of the rounds) and what was found, as ids and scores. The environment needs

    pip install rank_bm25==0.2.2 nltk==3.8.1

Of each place only the thousand chunks that are ranked are tokenized; the original tokenizes those of a thousand files.
"""

import json
import sys
import time

from nltk.tokenize import RegexpTokenizer, word_tokenize
from rank_bm25 import BM25Okapi

CHUNK_LINES = 10
MAX_CHUNKS = 1000
TOP = 5
WORDS = RegexpTokenizer(r"\w+")


def tokenize(text):
    """Takes the text for one sentence: the model that finds sentences is no Python package, and code has few."""
    return [word for piece in word_tokenize(text, preserve_line=True) for word in WORDS.tokenize(piece)]


def cut(path, text):
    """Ids, texts and tokens of a file's chunks."""
    lines = [line for line in text.split("\n") if line.strip()]
    number = 0
    for start in range(0, len(lines), CHUNK_LINES):
        chunk = "\n".join(lines[start : start + CHUNK_LINES])
        tokens = tokenize(chunk)
        if tokens:
            yield f"{path}|{number}", chunk, tokens
            number += 1


def build(files, near):
    chunks = []
    for path in near:
        if len(chunks) >= MAX_CHUNKS:
            break
        chunks.extend(cut(path, files[path]))
    texts = {name: text for name, text, _ in chunks}
    ranked = chunks[:MAX_CHUNKS]
    return texts, ranked, BM25Okapi([tokens for _, _, tokens in ranked])


def following(texts, name):
    path, number = name.rsplit("|", 1)
    after = f"{path}|{int(number) + 1}"
    return after if after in texts else name


def retrieve(texts, ranked, bm25, query):
    scores = bm25.get_scores(tokenize(query))
    ids = sorted(zip(scores, (name for name, _, _ in ranked)), reverse=True)
    sorted(zip(scores, (text for _, text, _ in ranked)), reverse=True)
    found = []
    taken = set()
    for score, name in ids:
        name = following(texts, name)
        if len(found) < TOP and texts[name] not in taken:
            taken.add(texts[name])
            found.append([name, float(score)])
    return found


def timed(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def measure(files, place, rounds):
    build_time, built = timed(build, files, place["near"])
    queries = []
    for query in place["queries"]:
        attempts = [timed(retrieve, *built, query) for _ in range(rounds)]
        queries.append({"seconds": min(seconds for seconds, _ in attempts), "found": attempts[0][1]})
    return {"seconds": build_time, "queries": queries}


def main(path, rounds="3"):
    with open(path, encoding="utf-8") as file:
        for line in file:
            repository = json.loads(line)
            places = [measure(repository["files"], place, int(rounds)) for place in repository["places"]]
            print(json.dumps(places), flush=True)


main(*sys.argv[1:])
