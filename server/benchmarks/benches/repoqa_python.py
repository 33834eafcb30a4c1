"""Scores RepoQA answers the way the original does, and says how long a case takes.

    VENV/bin/python repoqa_python.py ROWS [ROUNDS] [--prepared]

prints one line of JSON: cases, milliseconds of processor time per case (each case's least of the rounds) and the number of
cases whose function was found at each of the thresholds 0.0 and 0.8, with comments kept and removed. ROWS has one object
per line with `language`, `ground_truth`, `model_output` and `needles` (`name`, `code`). Written from a description of the
original's rules. Like the original, it makes a parser for each text, compiles its queries for each text, and removes the
comments of each function for each answer: most of the time is in these. With `--prepared` it makes parsers and queries once
and removes the comments of a function once, which the original does not do: a lower bound for any program with these
packages. The environment needs what the original needs:

    pip install nltk==3.8.1 tree_sitter==0.21.3 tree_sitter_languages==1.10.2
"""

import json
import re
import sys
import time
import warnings

warnings.simplefilter("ignore")

from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from tree_sitter_languages import get_language, get_parser

FUNCTIONS = {
    "python": "(function_definition) @f",
    "java": "(method_declaration) @f",
    "typescript": "(function_declaration) @f",
    "rust": "(function_item) @f",
    "go": "(function_declaration) @f",
    "cpp": "(function_definition declarator: (function_declarator declarator: (identifier))) @f",
}
COMMENTS = {
    "python": ["(block (expression_statement (string) @c))", "(comment) @c"],
    "java": ["(line_comment) @c", "(block_comment) @c"],
    "typescript": ["(comment) @c"],
    "rust": ["(line_comment) @c", "(block_comment) @c"],
    "go": ["(comment) @c"],
    "cpp": ["(comment) @c"],
}
BLOCK = re.compile(r"^```\w*\s*\n(.*?)^```", re.DOTALL | re.MULTILINE)


class Grammar:
    def __init__(self, name, is_prepared):
        self.name = name
        self.known = {} if is_prepared else None

    def once(self, key, make):
        if self.known is None:
            return make()
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def parser(self):
        return self.once("parser", lambda: get_parser(self.name))

    def query(self, text):
        return self.once(text, lambda: get_language(self.name).query(text))


def sanitized(grammar, output):
    parser = grammar.parser()
    functions = grammar.query(FUNCTIONS[grammar.name])
    blocks = BLOCK.findall(output.strip())
    if not blocks:
        return output.strip()
    for block in blocks:
        code = block.encode()
        found = functions.captures(parser.parse(code).root_node)
        if found:
            return code[found[0][0].start_byte : found[0][0].end_byte].decode()
    return blocks[0]


def without_comments(grammar, code):
    text = code.encode()
    root = grammar.parser().parse(text).root_node
    ranges = set()
    for query in COMMENTS[grammar.name]:
        ranges.update((node.start_byte, node.end_byte) for node, _ in grammar.query(query).captures(root))
    for start, end in sorted(ranges, reverse=True):
        text = text[:start] + text[end:]
    return text.decode()


def similarity(answer, code):
    words = lambda text: re.split(r"\s+", text.strip())
    return sentence_bleu([words(code)], words(answer), (0.25,) * 4, SmoothingFunction().method4)


def score(grammar, row, ignores_comments):
    """The similarity of the best function, if it is the right one."""
    answer = sanitized(grammar, row["model_output"])
    if ignores_comments:
        answer = without_comments(grammar, answer)
    best, best_similarity = None, 0
    for needle in row["needles"]:
        code = needle["code"]
        if ignores_comments:
            code = grammar.once(("code", code), lambda: without_comments(grammar, needle["code"]))
        found = similarity(answer, code)
        if found > best_similarity:
            best, best_similarity = needle["name"], found
    return best_similarity if best == row["ground_truth"] else -1


def fastest(grammar, row, ignores_comments, rounds):
    attempts = []
    for _ in range(rounds):
        start = time.process_time()
        found = score(grammar, row, ignores_comments)
        attempts.append(time.process_time() - start)
    return min(attempts), found


def main(path, rounds="1", mode=None):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    is_prepared = mode == "--prepared"
    grammars = {language: Grammar(language, is_prepared) for language in {row["language"] for row in rows}}
    results = {"cases": len(rows)}
    for name, ignores_comments in [("comments_kept", False), ("comments_removed", True)]:
        scored = [fastest(grammars[row["language"]], row, ignores_comments, int(rounds)) for row in rows]
        results[name] = {
            "ms_per_case": sum(spent for spent, _ in scored) * 1000 / len(rows),
            "found_at_0.0": sum(found >= 0.0 for _, found in scored),
            "found_at_0.8": sum(found >= 0.8 for _, found in scored),
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
