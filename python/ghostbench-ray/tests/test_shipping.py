import os
import stat
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa

from ghostbench_ray import shipping


class ShippedFiles(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "program"
        self.path.write_bytes(b"#!/bin/sh\n")
        self.file = shipping.describe(str(self.path))
        self.node = self.folder / "node"
        self.node.mkdir()

    def test_same_file_at_the_same_path_is_used(self) -> None:
        self.assertEqual(shipping.local_file(self.file, self.node, None), self.path)

    def test_other_file_at_the_path_is_replaced_by_a_copy(self) -> None:
        sent = shipping.parts(str(self.path))
        self.path.write_bytes(b"another program")
        self.assertIsNone(shipping.local_file(self.file, self.node, None))
        copy = shipping.local_file(self.file, self.node, sent)
        self.assertEqual(copy, self.node / f"{self.file.sha256[:16]}-program")
        self.assertEqual(copy.read_bytes(), b"#!/bin/sh\n")
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o700)
        self.assertEqual(shipping.local_file(self.file, self.node, None), copy, "it is sent once")

    def test_damaged_copy_is_not_used(self) -> None:
        self.path.unlink()
        copy = shipping.local_file(self.file, self.node, [b"#!/bin/"])
        self.assertIsNone(copy)


class Workspace(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, files: dict[str, str]) -> Path:
        texts = [{"path": path, "text": text} for path, text in files.items()]
        return shipping.write_workspace(shipping.read_workspace({"texts": texts}), self.folder)

    def test_texts_keep_their_bytes(self) -> None:
        root = self.write({"a.py": "x = 1\r\n", "p/q/é.py": "é\n"})
        self.assertEqual((root / "a.py").read_bytes(), b"x = 1\r\n")
        self.assertEqual((root / "p/q/é.py").read_bytes(), "é\n".encode())

    def test_no_file_is_written_outside(self) -> None:
        for path in ("../a.py", "/a.py", "p/../../a.py"):
            with self.subTest(path), self.assertRaises(ValueError):
                self.write({path: ""})
            (self.folder / "workspace").rmdir()

    def test_files_keep_their_bytes_and_programs_can_be_run(self) -> None:
        own = self.folder / "own"
        (own / "bin").mkdir(parents=True)
        (own / "data").write_bytes(b"\xff\x00")
        (own / "bin/tool").write_bytes(b"#!/bin/sh\n")
        (own / "bin/tool").chmod(0o755)
        (own / "bin/link").symlink_to("../data")
        (own / "out").symlink_to("../../etc")
        (own / "far").symlink_to("/etc")
        paths = ["bin/link", "bin/tool", "data", "far", "out"]
        table = shipping.read_workspace({"files": {"root": str(own), "paths": paths}})
        root = shipping.write_workspace(table, self.folder)
        self.assertEqual((root / "bin/link").read_bytes(), b"\xff\x00")
        self.assertTrue((root / "bin/link").is_symlink())
        self.assertTrue(os.access(root / "bin/tool", os.X_OK))
        self.assertFalse(stat.S_IMODE((root / "data").stat().st_mode) & 0o111)
        left_out = [name for name in ("far", "out") if os.path.lexists(root / name)]
        self.assertEqual(left_out, [], "links that lead out of the workspace")

    def test_no_link_leads_outside(self) -> None:
        table = pa.Table.from_pylist([{"path": "a/b", "link": "../../x"}], schema=shipping.WORKSPACE)
        with self.assertRaises(ValueError):
            shipping.write_workspace(table, self.folder)


class Folders(unittest.TestCase):
    def test_folders_of_killed_processes_are_removed(self) -> None:
        temporary = self.enterContext(tempfile.TemporaryDirectory())
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = temporary
        # No process has this id: it is above every system's limit.
        left = Path(temporary, f"{shipping.PREFIX}{2**30}-x")
        left.mkdir()
        own = shipping.new_folder()
        self.assertFalse(left.exists())
        self.assertIn(str(os.getpid()), own.name)
        self.assertEqual(stat.S_IMODE(own.stat().st_mode), 0o700)
        shipping.new_folder()
        self.assertTrue(own.exists(), "its process lives")


if __name__ == "__main__":
    unittest.main()
