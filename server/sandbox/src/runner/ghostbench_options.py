"""The options of Ghostbench's programs for tests."""

import json
import os


def take_options():
    """Returns the options, and removes them: tests must not read the secret name of the control."""
    path = os.environ.pop("GHOSTBENCH_TEST_OPTIONS")
    with open(path, encoding="utf-8") as file:
        options = json.load(file)
    os.unlink(path)
    return options
