"""The files of a copy.

``developer=<name>/day=<day>/rows.parquet``    rows, each once
``_ghostbench.json``                           server, and number of the last row

A file is replaced as a whole: in S3 that is one operation, on this machine a rename. The cursor is written after the
rows of its page, so that a killed command repeats a page, which changes nothing.
"""

import datetime as dt
import json
import urllib.parse
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from ghostbench_collect.server import Server
from ghostbench_collect.table import columns, merged, opened_at

STATE_FILE = "_ghostbench.json"
ROWS_FILE = "rows.parquet"
PARTIAL_FILE = "_rows.partial"

DEVELOPER = "developer="
DAY = "day="


class CopyError(Exception):
    """The files cannot be read or written; the text says why."""


@dataclass
class Copy:
    """A place for files."""

    # Its address without keys.
    name: str
    files: fs.FileSystem
    root: str

    @staticmethod
    def at(target: str) -> "Copy":
        """Return the copy in a folder, or in a bucket."""
        try:
            if "://" not in target:
                files, root = fs.FileSystem.from_uri(str(Path(target).absolute()))
            else:
                files, root = fs.FileSystem.from_uri(target)
        except (OSError, ValueError) as error:
            raise CopyError(f"{_without_keys(target)}: {error}") from error
        return Copy(_without_keys(target), files, root.rstrip("/"))

    def read_state(self) -> dict[str, Any]:
        """Return server and cursor; empty for a new copy."""
        content = self._read(STATE_FILE)
        if content is None:
            return {}
        try:
            state: dict[str, Any] = json.loads(content)
        except ValueError as error:
            raise CopyError(f"{self.name}/{STATE_FILE} is damaged; delete the copy and start anew") from error
        return state

    def write_state(self, server: str, cursor: int) -> None:
        """Note the last row."""
        self._write(STATE_FILE, json.dumps({"server": server, "cursor": cursor}).encode())

    def add(self, developer: str, day: str, rows: list[dict[str, Any]]) -> None:
        """Merge rows into the file of a developer and a day."""
        folder = f"{DEVELOPER}{developer}/{DAY}{day}"
        content = self._read(f"{folder}/{ROWS_FILE}")
        earlier = [] if content is None else pq.ParquetFile(pa.BufferReader(content)).read().to_pylist()
        sink = pa.BufferOutputStream()
        pq.write_table(merged(earlier, rows), sink, compression="zstd")
        self._write(f"{folder}/{ROWS_FILE}", sink.getvalue().to_pybytes())

    def keep(self, developers: frozenset[str], oldest: str | None) -> int:
        """Delete the folders of other developers, and of days before the oldest one. Return their number."""
        deleted = 0
        for folder in self._folders(""):
            if not folder.startswith(DEVELOPER):
                continue
            if folder.removeprefix(DEVELOPER) not in developers:
                self._delete(folder)
                deleted += 1
                continue
            for day in self._folders(folder):
                if oldest is not None and day.startswith(DAY) and day.removeprefix(DAY) < oldest:
                    self._delete(f"{folder}/{day}")
                    deleted += 1
        return deleted

    def _folders(self, folder: str) -> list[str]:
        path = f"{self.root}/{folder}".rstrip("/")
        found = self.files.get_file_info(fs.FileSelector(path, allow_not_found=True))
        return sorted(it.base_name for it in found if it.type == fs.FileType.Directory)

    def _delete(self, folder: str) -> None:
        self.files.delete_dir(f"{self.root}/{folder}")

    def _read(self, name: str) -> bytes | None:
        path = f"{self.root}/{name}"
        if self.files.get_file_info(path).type == fs.FileType.NotFound:
            return None
        with self.files.open_input_stream(path) as stream:
            content: bytes = stream.read()
        return content

    def _write(self, name: str, content: bytes) -> None:
        path = f"{self.root}/{name}"
        folder = path.rsplit("/", 1)[0]
        if not isinstance(self.files, fs.LocalFileSystem):
            with self.files.open_output_stream(path) as stream:
                stream.write(content)
            return
        self.files.create_dir(folder, recursive=True)
        partial = f"{folder}/{PARTIAL_FILE}"
        with self.files.open_output_stream(partial) as stream:
            stream.write(content)
        self.files.move(partial, path)


def sync(server: Server, copy: Copy) -> dict[str, Any]:
    """Bring a copy up to date; return what was done."""
    try:
        return _sync(server, copy)
    except (OSError, pa.ArrowException) as error:
        raise CopyError(f"{copy.name}: {error}") from error


def _sync(server: Server, copy: Copy) -> dict[str, Any]:
    state = copy.read_state()
    if state.get("server", server.url) != server.url:
        raise CopyError(f"{copy.name} is a copy of {state['server']}; choose another target")
    # Asked first: a deletion during this run is carried out by the next one, and stays open until then.
    kept = server.state()
    deleted = copy.keep(kept.developers, _day(kept.oldest))
    cursor, rows = int(state.get("cursor", 0)), 0
    for page in server.pages(cursor):
        parts: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in page.rows:
            parts[row["developer"], opened_at(row).date().isoformat()].append(columns(row))
        for (developer, day), part in parts.items():
            copy.add(developer, day, part)
        cursor, rows = page.next, rows + len(page.rows)
        copy.write_state(server.url, cursor)
    server.note_copy(copy.name, cursor, kept.deletions)
    return {"rows": rows, "deleted_folders": deleted, "cursor": cursor}


def _day(moment: int | None) -> str | None:
    """Return the day of a moment in ms since 1970."""
    if moment is None:
        return None
    return dt.datetime.fromtimestamp(moment / 1000, dt.timezone.utc).date().isoformat()


def _without_keys(target: str) -> str:
    """Return an address without user, password and options."""
    parts = urllib.parse.urlsplit(target)
    if not parts.scheme:
        return target
    return f"{parts.scheme}://{parts.netloc.rsplit('@', 1)[-1]}{parts.path}".rstrip("/")
