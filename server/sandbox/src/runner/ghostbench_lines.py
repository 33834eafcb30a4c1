"""Notes the lines of a folder that each test executes, where coverage.py is not installed."""

import os
import sys
import threading


class LineTracer:
    def __init__(self, root, is_wanted):
        self._root = os.path.join(root, "")
        self._is_wanted = is_wanted
        self._test = ""
        # Lines by file, and the tests of each.
        self._files = {}

    def start(self):
        if self._is_wanted:
            threading.settrace(self._trace)
            sys.settrace(self._trace)

    def stop(self):
        if self._is_wanted:
            sys.settrace(None)
            threading.settrace(None)

    def switch(self, test):
        self._test = test

    def _trace(self, frame, event, _argument):
        path = frame.f_code.co_filename
        if not path.startswith(self._root):
            return None
        lines = self._files.setdefault(path, {})

        def trace(frame, event, _argument):
            if self._test:
                lines.setdefault(frame.f_lineno, set()).add(self._test)
            return trace

        return trace(frame, event, None)

    def lines(self, covering):
        """The part of a report about lines; `covering` are the tests by number."""
        if not self._is_wanted:
            return {}
        numbers = {test: number for number, test in enumerate(covering)}
        lines = {
            path: {
                line: sorted(numbers[test] for test in tests if test in numbers) for line, tests in of_file.items()
            }
            for path, of_file in self._files.items()
        }
        return {"covering": covering, "lines": lines}
