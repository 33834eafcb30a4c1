"""Runs the tests of unittest and reports their results to Ghostbench, with the lines that each test executes if they are wanted.

Adds one test that must fail. Its name is secret: a runner that was changed to let everything pass lets it pass, too.
"""

import json
import os
import sys
import time
import unittest

from ghostbench_lines import LineTracer
from ghostbench_options import take_options


def _folders():
    """The folders of tests: the project, and those without a package of their own."""
    yield "."
    for name in ("test", "tests"):
        if os.path.isdir(name) and not os.path.exists(os.path.join(name, "__init__.py")):
            yield name


def _load(ids):
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    folders = list(_folders())
    for folder in [*folders, "src"]:
        if os.path.isdir(folder):
            sys.path.insert(0, os.path.abspath(folder))
    if ids:
        suite.addTests(loader.loadTestsFromNames(ids))
        return suite
    for folder in folders:
        suite.addTests(loader.discover(folder, top_level_dir=folder))
    return suite


def _control(name):
    def control(self):
        raise AssertionError(name)

    return type("Control", (unittest.TestCase,), {name: control})(name)


class Results(unittest.TextTestResult):
    def __init__(self, stream, descriptions, verbosity, *, options, tracer, **further):
        super().__init__(stream, descriptions, verbosity, **further)
        self._control_id = options["control"]
        self._tracer = tracer
        self._start = 0.0
        self._state = None
        self.tests = {}
        self.control_failed = False
        self.has_build_error = False

    def startTest(self, test):
        super().startTest(test)
        self._start = time.perf_counter()
        self._state = None
        self._tracer.switch(test.id())

    def stopTest(self, test):
        self._tracer.switch("")
        super().stopTest(test)
        if test.id().endswith("." + self._control_id):
            self.control_failed = self._state == "failed"
            return
        if type(test).__name__ == "_FailedTest":
            self.has_build_error = True
            return
        self.tests[test.id()] = (self._state or "failed", time.perf_counter() - self._start)

    def _note(self, state):
        if self._state != "failed":
            self._state = state

    def addSuccess(self, test):
        super().addSuccess(test)
        self._note("passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note("failed")

    def addError(self, test, err):
        super().addError(test, err)
        self._note("failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note("skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note("passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._note("failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self._note("passed" if err is None else "failed")


def main():
    options = take_options()
    tracer = LineTracer(os.getcwd(), options["covers_lines"])
    tracer.start()
    suite = _load(sys.argv[1:])
    suite.addTest(_control(options["control"]))

    def results(*arguments, **further):
        return Results(*arguments, options=options, tracer=tracer, **further)

    result = unittest.TextTestRunner(resultclass=results, verbosity=1).run(suite)
    tracer.stop()
    report = {
        "control": options["control"],
        "control_failed": result.control_failed,
        "has_build_error": result.has_build_error,
        "tests": result.tests,
    }
    report.update(tracer.lines(sorted(result.tests)))
    with open(options["report"], "w", encoding="utf-8") as file:
        json.dump(report, file)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
