"""Entry point: brings one copy up to date."""

import argparse
import json
import os
import sys

from ghostbench_collect import __version__
from ghostbench_collect.copy import Copy, CopyError, sync
from ghostbench_collect.server import Server, ServerError

# Variable with the token, unless another one is named.
TOKEN = "TRACES_TOKEN"  # noqa: S105 (a name)

EXAMPLES = """examples:
  ghostbench-collect https://traces.example /srv/parquet
  ghostbench-collect https://traces.example 's3://bucket/traces?region=eu-central-1'
  ghostbench-collect http://127.0.0.1:7118 's3://bucket/traces?endpoint_override=127.0.0.1:9000&scheme=http'
Keys of S3 come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or whatever else the AWS SDK reads.
In cron, every hour: deletions on the server reach the copy when it is next brought up to date."""


def main() -> None:
    """Bring a copy up to date, and print what was done."""
    parser = argparse.ArgumentParser(
        prog="ghostbench-collect",
        description="Write the traces of a `ghostbench collect` server as Parquet files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("server", help="address of the server")
    parser.add_argument("target", help="folder, or address of a bucket")
    parser.add_argument("--token-env", default=TOKEN, metavar="VARIABLE", help=f"variable with the token [{TOKEN}]")
    parser.add_argument("--version", action="version", version=__version__)
    arguments = parser.parse_args()
    token = os.environ.get(arguments.token_env)
    if not token:
        parser.error(f"the environment variable {arguments.token_env} is not set; it holds the token of an analyst")
    # The files contain code.
    os.umask(0o077)
    try:
        report = sync(Server(arguments.server, token), Copy.at(arguments.target))
    except (ServerError, CopyError) as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(3)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
