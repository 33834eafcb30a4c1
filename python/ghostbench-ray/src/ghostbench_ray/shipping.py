"""The files that a node needs: the program and recorded answers, unless it has them, and a copy of the workspace."""

import hashlib
import os
import posixpath
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

# Bytes of a part of a file on its way to a node.
PART_BYTES = 32 << 20

# Prefix of the folders of workers, followed by the id of their process.
PREFIX = "ghostbench-ray-"

# Files of a workspace; a link has a target in place of a content.
WORKSPACE = pa.schema(
    [
        ("path", pa.string()),
        ("content", pa.large_binary()),
        ("is_program", pa.bool_()),
        ("link", pa.string()),
    ]
)


@dataclass(frozen=True)
class ShippedFile:
    """A file on the user's machine."""

    path: str
    sha256: str


def describe(path: str) -> ShippedFile:
    """Describe a file, which is read completely."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        for part in iter(lambda: file.read(PART_BYTES), b""):
            digest.update(part)
    return ShippedFile(path, digest.hexdigest())


def parts(path: str) -> list[bytes]:
    """Read a file in parts."""
    with Path(path).open("rb") as file:
        return list(iter(lambda: file.read(PART_BYTES), b""))


def local_file(file: ShippedFile, folder: Path, sent: list[bytes] | None) -> Path | None:
    """Return the file on this node: the same file at the same path, or a copy of what was sent.

    ``None`` if the node does not have it, and nothing was sent or it has changed since.
    """
    copy = folder / (file.sha256[:16] + "-" + Path(file.path).name)
    for path in (Path(file.path), copy):
        if is_same(path, file):
            return path
    if sent is None:
        return None
    with copy.open("wb") as target:
        for part in sent:
            target.write(part)
    copy.chmod(0o700)
    return copy if is_same(copy, file) else None


def is_same(path: Path, file: ShippedFile) -> bool:
    """Whether a file on this node has the same bytes."""
    try:
        return describe(str(path)).sha256 == file.sha256
    except OSError:
        return False


def read_workspace(sent: dict[str, Any]) -> pa.Table:
    """Return the files of a workspace: texts that were sent here, or files and links on the user's machine.

    Links that lead out of the workspace are left out.
    """
    if "texts" in sent:
        rows = [{"path": file["path"], "content": file["text"].encode()} for file in sent["texts"]]
        return pa.Table.from_pylist(rows, schema=WORKSPACE)
    root = Path(sent["files"]["root"])
    rows = []
    for path in sent["files"]["paths"]:
        file = root / path
        if not file.is_symlink():
            is_program = bool(file.stat().st_mode & 0o100)
            rows.append({"path": path, "content": file.read_bytes(), "is_program": is_program})
        elif is_inside(path, target := os.readlink(file)):
            rows.append({"path": path, "link": target})
    return pa.Table.from_pylist(rows, schema=WORKSPACE)


def is_inside(path: str, target: str) -> bool:
    """Whether the target of a link, whose path is relative to the workspace, is below the workspace."""
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return not posixpath.isabs(whole) and whole.split("/")[0] != ".."


def write_workspace(files: pa.Table, folder: Path) -> Path:
    """Write the files of the workspace below a folder, and return it."""
    root = folder / "workspace"
    root.mkdir()
    columns = [files[name] for name in WORKSPACE.names]
    for path, content, is_program, link in zip(*columns, strict=True):
        relative = PurePosixPath(path.as_py())
        if relative.is_absolute() or ".." in relative.parts:
            raise ValueError(f"{relative} is outside of the workspace")
        target = root / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        if link.is_valid:
            if not is_inside(path.as_py(), link.as_py()):
                raise ValueError(f"{relative} leads out of the workspace")
            target.symlink_to(link.as_py())
            continue
        target.write_bytes(content.as_py())
        if is_program.as_py():
            target.chmod(0o755)
    return root


def new_folder() -> Path:
    """Make a folder that only its owner can read, and remove those of processes that were killed."""
    temporary = Path(tempfile.gettempdir())
    for left in temporary.glob(PREFIX + "*"):
        process = left.name.removeprefix(PREFIX).split("-")[0]
        if process.isdigit() and not is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def is_running(process: int) -> bool:
    """Whether a process has not ended, as far as this user may know."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
