"""Entry point: reports versions, then serves ``ghostbench`` until standard input ends."""

import importlib.metadata
import json
import os
import platform
import sys

from ghostbench_ray import __version__


def installed(package: str) -> str | None:
    """Return the version of a package; ``None`` if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Return the versions that ``ghostbench`` checks."""
    return {
        "ghostbench_ray": __version__,
        "python": platform.python_version(),
        "ray": installed("ray"),
        "pyarrow": installed("pyarrow"),
    }


def main() -> None:
    """Serve ``ghostbench`` on standard input and output."""
    if sys.argv[1:] == ["--versions"]:
        sys.stdout.write(json.dumps(versions()) + "\n")
        return
    # Ray and its libraries may print; their output must not get between messages.
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    output.write(json.dumps({"type": "hello", **versions()}) + "\n")
    output.flush()
    if installed("ray") and installed("pyarrow"):
        from ghostbench_ray.driver import serve  # noqa: PLC0415 (needs Ray)

        serve(sys.stdin, output)


main()
