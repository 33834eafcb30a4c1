"""Scores RepoQA answers the way the original does, and says how long a case takes.

    VENV/bin/python repoqa_python.py ROWS [ROUNDS]

prints one line of JSON: cases, milliseconds of processor time per case (each case's least of the rounds) and the number of
cases whose function was found at each of the thresholds 0.0 and 0.8, with comments kept and removed. ROWS has one object
per line with `language`, `ground_truth`, `model_output` and `needles` (`name`, `code`). Written from a description of the
original's rules; the environment needs what the original needs:

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
    "python": "(comment) @c (block (expression_statement (string) @c))",
    "java": "(line_comment) @c (block_comment) @c",
    "typescript": "(comment) @c",
    "rust": "(line_comment) @c (block_comment) @c",
    "go": "(comment) @c",
    "cpp": "(comment) @c",
}
BLOCK = re.compile(r"^```\w*\s*\n(.*?)^```", re.DOTALL | re.MULTILINE)


class Grammar:
    def __init__(self, name):
        language = get_language(name)
        self.parser = get_parser(name)
        self.functions = language.query(FUNCTIONS[name])
        self.comments = language.query(COMMENTS[name])

    def captures(self, query, text):
        return [node for node, _ in query.captures(self.parser.parse(text).root_node)]


def sanitized(grammar, output):
    blocks = BLOCK.findall(output.strip())
    if not blocks:
        return output.strip()
    for block in blocks:
        code = block.encode()
        functions = grammar.captures(grammar.functions, code)
        if functions:
            return code[functions[0].start_byte : functions[0].end_byte].decode()
    return blocks[0]


def without_comments(grammar, code):
    text = code.encode()
    ranges = [(node.start_byte, node.end_byte) for node in grammar.captures(grammar.comments, text)]
    for start, end in sorted(set(ranges), reverse=True):
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
        code = without_comments(grammar, needle["code"]) if ignores_comments else needle["code"]
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


def main(path, rounds="1"):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    grammars = {language: Grammar(language) for language in {row["language"] for row in rows}}
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
