"""Tests of copies with a server that is a list of pages."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ghostbench_collect.copy import Copy, CopyError, sync
from ghostbench_collect.server import Page, Server, State

MS_OF_DAY = 86_400_000
PAGE = 2


def row(number: int, developer: str, identity: str, day: int = 2) -> dict[str, Any]:
    return {
        "number": number,
        "developer": developer,
        "repository": "r",
        "licences": ["MIT"],
        "opportunity": {
            "id": identity,
            "opened_at": f"2026-01-0{day}T03:04:05.678Z",
            "mode": "single",
            "privacy": "full",
            "exposure": "none",
            "outcome": {"kind": "accepted"},
            "cursor": {"language": "python", "path": "a.py", "prefix": f"x{number}", "suffix": ""},
            "truths": [{"stage": "save", "text": "late"}, {"stage": "settled", "text": "early"}],
            "answers": [
                {
                    "arm": "a",
                    "engine": {"model": "m"},
                    "role": "shown",
                    "status": "ok",
                    "text": "t",
                    "ms": {"total": 5.0},
                }
            ],
        },
    }


class Fake(Server):
    """A server with these rows."""

    def __init__(self, rows: list[dict[str, Any]], deletions: int = 0, oldest: int | None = None) -> None:
        super().__init__("http://server", "token")
        self.rows, self.deletions, self.oldest = rows, deletions, oldest
        self.noted: list[tuple[str, int, int]] = []
        self.asked: list[int] = []

    def state(self) -> State:
        return State(self.deletions, frozenset(row["developer"] for row in self.rows), self.oldest)

    def _page(self, after: int) -> Page:
        self.asked.append(after)
        rows = sorted((row for row in self.rows if row["number"] > after), key=lambda row: row["number"])
        return Page(rows[:PAGE], rows[:PAGE][-1]["number"] if rows else after, len(rows) <= PAGE)

    def note_copy(self, name: str, cursor: int, deletions: int) -> None:
        self.noted.append((name, cursor, deletions))


class CopyTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "copy"
        self.copy = Copy.at(str(self.folder))

    def stored(self) -> list[tuple[int, str, str]]:
        files = sorted(self.folder.glob("developer=*/day=*/rows.parquet"))
        rows = [(file.parts[-3], it) for file in files for it in pq.ParquetFile(file).read().to_pylist()]
        return [(it["number"], developer.removeprefix("developer="), it["id"]) for developer, it in rows]

    def test_pages_are_merged_and_the_cursor_continues(self) -> None:
        server = Fake([row(1, "d", "a"), row(2, "d", "b"), row(3, "e", "c", 3)])
        self.assertEqual(sync(server, self.copy), {"rows": 3, "deleted_folders": 0, "cursor": 3})
        self.assertEqual(self.stored(), [(1, "d", "a"), (2, "d", "b"), (3, "e", "c")])
        server.rows[0] = row(4, "d", "a")
        self.assertEqual(sync(server, self.copy)["rows"], 1)
        self.assertEqual(self.stored(), [(2, "d", "b"), (4, "d", "a"), (3, "e", "c")])
        self.assertEqual(server.asked, [0, 2, 3])
        self.assertEqual(server.noted[-1], (str(self.folder), 4, 0))

    def test_columns_have_the_latest_truth_and_the_whole_opportunity(self) -> None:
        sync(Fake([row(1, "d", "a")]), self.copy)
        [file] = self.folder.glob("developer=d/day=2026-01-02/rows.parquet")
        [stored] = pq.ParquetFile(file).read().to_pylist()
        self.assertEqual((stored["truth"], stored["licences"]), ("late", ["MIT"]))
        self.assertEqual(stored["answers"][0]["model"], "m")
        self.assertEqual(json.loads(stored["opportunity"]), row(1, "d", "a")["opportunity"])

    def test_deleted_developers_and_old_days_are_gone(self) -> None:
        server = Fake([row(1, "d", "a"), row(2, "e", "b"), row(3, "e", "c", 3)])
        sync(server, self.copy)
        server.rows, server.deletions = [row(4, "f", "c", 3)], 1
        report = sync(server, self.copy)
        self.assertEqual((report["deleted_folders"], self.stored()), (2, [(4, "f", "c")]))
        self.assertEqual(server.noted[-1][2], 1)
        server.oldest = 20_458 * MS_OF_DAY  # 2026-01-05
        sync(server, self.copy)
        self.assertEqual(self.stored(), [])

    def test_a_killed_run_is_repeated(self) -> None:
        server = Fake([row(1, "d", "a"), row(2, "d", "b"), row(3, "d", "c")])
        write_state = Copy.write_state
        try:
            Copy.write_state = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt())  # type: ignore[method-assign]
            with self.assertRaises(KeyboardInterrupt):
                sync(server, self.copy)
        finally:
            Copy.write_state = write_state  # type: ignore[method-assign]
        self.assertEqual(len(self.stored()), 2)
        sync(server, self.copy)
        self.assertEqual([it[0] for it in self.stored()], [1, 2, 3])

    def test_another_server_needs_another_place(self) -> None:
        sync(Fake([]), self.copy)
        other = Fake([])
        other.url = "http://other"
        with self.assertRaisesRegex(CopyError, "choose another target"):
            sync(other, self.copy)


if __name__ == "__main__":
    unittest.main()
