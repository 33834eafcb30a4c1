"""Scores a file of CrossCodeEval predictions the way the original does, and says how long a case takes.

    VENV/bin/python cceval_python.py ROWS [ROUNDS]

prints one line of JSON: cases, milliseconds of processor time per case (each case's least of the rounds) and the
aggregate, by language, like `cargo run --release -p scoring --example cceval`. ROWS has one object per line with `lang`,
`prompt`, `prediction_raw` and `groundtruth`. The environment needs what the original needs:

    pip install fuzzywuzzy==0.18.0 nltk==3.8.1 tree_sitter==0.21.3 tree_sitter_languages==1.10.2

The original spreads the cases over processes; the time here is that of one.
"""

import json
import keyword
import re
import sys
import time
import warnings

warnings.simplefilter("ignore")

from fuzzywuzzy import fuzz
from nltk.tokenize import RegexpTokenizer
from tree_sitter_languages import get_parser

KEYWORDS = {
    "python": set(keyword.kwlist) - {"True", "False"},
    "java": set(
        "abstract assert boolean break byte case catch char class continue default do double else enum extends final"
        " finally float for if implements import instanceof int interface long native new package private protected"
        " public return short static strictfp super switch synchronized this throw throws transient try void volatile"
        " while var const goto".split()
    ),
    "csharp": set(
        "abstract as base bool break byte case catch char checked class const continue decimal default delegate do"
        " double else enum event explicit extern finally fixed float for foreach goto if implicit in int interface"
        " internal is lock long namespace new null object operator out override params private protected public"
        " readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw try typeof"
        " uint ulong unchecked unsafe ushort using virtual void volatile while".split()
    ),
    "typescript": set(
        "break case catch class const continue debugger default delete do else export extends finally for function if"
        " import in instanceof new return super switch this throw try typeof var void while with yield enum implements"
        " interface let package private protected public static".split()
    ),
}
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'")
FIRST_CHARACTER = re.compile(r"[A-Za-z_]")
WORDS = RegexpTokenizer(r"\w+")


def has_error(node):
    return node.type == "ERROR" or any(has_error(child) for child in node.children)


def truncate_python(parser, prompt, prediction):
    """Parses prompt and prediction again for every character; the first valid place before a line feed ends it."""
    for end in range(1, len(prediction)):
        try:
            valid = not has_error(parser.parse((prompt + prediction[:end]).encode()).root_node)
        except RecursionError:
            valid = False
        if valid and prediction[end] == "\n":
            return prediction[:end].rstrip()
    return prediction


def truncate_braces(prediction):
    ends = [at for at, character in enumerate(prediction) if character in ";{}"]
    return prediction[: ends[0] + 1] if ends and ends[0] > 0 else prediction


def without_comments(text):
    return re.sub(r"//.*", "", re.sub(r"#.*", "", text))


def lines(text):
    return [line.strip() for line in text.split("\n") if line.strip()]


def identifiers(lang, text):
    words = WORDS.tokenize(STRING.sub("", text))
    return [word for word in words if FIRST_CHARACTER.match(word) and word not in KEYWORDS[lang]]


def ratio(part, whole):
    return part / whole if whole else 0.0


def score(parser, row):
    """Exact match, edit similarity, exact match and F1 of the identifiers of one row."""
    lang = row["lang"]
    if lang == "python":
        prediction = truncate_python(parser, row["prompt"], row["prediction_raw"])
    else:
        prediction = truncate_braces(row["prediction_raw"])
    prediction, truth = without_comments(prediction), without_comments(row["groundtruth"])
    predicted, expected = identifiers(lang, prediction), identifiers(lang, truth)
    common = len(set(predicted) & set(expected))
    return (
        float(lines(prediction) == lines(truth)),
        fuzz.ratio(prediction.strip(), truth.strip()),
        float(predicted == expected),
        ratio(2 * common, len(set(predicted)) + len(set(expected))),
    )


def fastest(parser, row, rounds):
    """The least processor time of several attempts, so that other work on the machine counts little."""
    attempts = []
    for _ in range(rounds):
        start = time.process_time()
        result = score(parser, row)
        attempts.append(time.process_time() - start)
    return min(attempts), result


def measure(lang, rows, rounds):
    parser = get_parser("python") if lang == "python" else None
    times, scores = zip(*(fastest(parser, row, rounds) for row in rows))
    em, es, id_em, id_f1 = (sum(column) / len(rows) for column in zip(*scores))
    return {
        "cases": len(rows),
        "ms_per_case": sum(times) * 1000 / len(rows),
        "em": round(100 * em, 2),
        "es": round(es, 2),
        "id_em": round(100 * id_em, 2),
        "id_f1": round(100 * id_f1, 2),
    }


def main(path, rounds="1"):
    by_language = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            by_language.setdefault(row["lang"], []).append(row)
    print(json.dumps({lang: measure(lang, rows, int(rounds)) for lang, rows in sorted(by_language.items())}))


if __name__ == "__main__":
    main(*sys.argv[1:])
