"""Reports the results of pytest to Ghostbench, with the lines that each test executes if they are wanted.

Adds one test that must fail. Its name is secret: a runner that was changed to let everything pass lets it pass, too.
"""

import json
import os

import pytest

from ghostbench_lines import LineTracer
from ghostbench_options import take_options


class CoverageTracer:
    """Notes the executed lines by coverage.py, which is faster and follows other threads."""

    def __init__(self):
        import coverage

        self._coverage = coverage.Coverage(data_file=None, branch=False, config_file=False)

    def start(self):
        self._coverage.start()

    def stop(self):
        self._coverage.stop()

    def switch(self, test):
        self._coverage.switch_context(test)

    def lines(self, covering):
        numbers = {test: number for number, test in enumerate(covering)}
        data = self._coverage.get_data()
        lines = {}
        for path in data.measured_files():
            contexts = data.contexts_by_lineno(path)
            lines[path] = {
                line: [numbers[test] for test in tests if test in numbers]
                for line, tests in contexts.items()
                if any(test in numbers for test in tests)
            }
        return {"covering": covering, "lines": lines}


class Reporter:
    def __init__(self, options):
        self._report = options["report"]
        self._control = options["control"]
        self._tracer = self._start_tracer() if options["covers_lines"] else None
        self._tests = {}
        self._control_state = None
        self._has_build_error = False

    @staticmethod
    def _start_tracer():
        try:
            tracer = CoverageTracer()
        except ImportError:
            tracer = LineTracer(os.getcwd(), True)
        tracer.start()
        return tracer

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        parents = [item.getparent(pytest.Module) for item in items]
        parent = next((parent for parent in parents if parent is not None), None)
        if parent is None:
            return

        def control():
            raise AssertionError(self._control)

        items.append(pytest.Function.from_parent(parent, name=self._control, callobj=control))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if self._tracer is not None:
            self._tracer.switch(item.nodeid)
        result = yield
        if self._tracer is not None:
            self._tracer.switch("")
        return result

    def pytest_collectreport(self, report):
        if report.failed:
            self._has_build_error = True

    def pytest_runtest_logreport(self, report):
        if report.nodeid.endswith("::" + self._control):
            if report.when == "call":
                self._control_state = report.outcome
            elif report.failed:
                self._control_state = "failed"
            return
        state, seconds = self._tests.get(report.nodeid, ("skipped", 0.0))
        if report.failed:
            state = "failed"
        elif report.when == "call" and report.passed and state != "failed":
            state = "passed"
        self._tests[report.nodeid] = (state, seconds + report.duration)

    def pytest_sessionfinish(self):
        report = {
            "control": self._control,
            "control_failed": self._control_state == "failed",
            "has_build_error": self._has_build_error,
            "tests": self._tests,
        }
        if self._tracer is not None:
            self._tracer.stop()
            report.update(self._tracer.lines(sorted(self._tests)))
        with open(self._report, "w", encoding="utf-8") as file:
            json.dump(report, file)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    # pytest-cov would trace in place of us.
    if getattr(early_config.known_args_namespace, "cov_source", None):
        early_config.known_args_namespace.cov_source = []


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    # The project's options may stop at the first failure, or run in several processes.
    for name, value in [("maxfail", 0), ("numprocesses", None), ("tx", []), ("dist", "no"), ("usepdb", False)]:
        if hasattr(config.option, name):
            setattr(config.option, name, value)


def pytest_configure(config):
    config.pluginmanager.register(Reporter(take_options()), "ghostbench-reporter")
