"""The server: pages of rows after a number, and what it has deleted."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Seconds for one answer.
TIMEOUT_S = 60.0

# Most bytes of an answer: a page is some megabytes, unless a single row is larger.
MOST_BYTES = 128 << 20

# Attempts while the server is away or busy, and the longest pause between two, in seconds.
ATTEMPTS = 5
MOST_PAUSE_S = 30.0

# Answers after which the same request may succeed.
BUSY = (429, 502, 503, 504)


class ServerError(Exception):
    """The server does not answer as it should; the text says why."""


@dataclass(frozen=True)
class State:
    """What a copy has to keep."""

    # Number of deletions so far.
    deletions: int
    # Developers with rows.
    developers: frozenset[str]
    # Start of the oldest rows, ms since 1970; none if rows are kept for ever.
    oldest: int | None


@dataclass(frozen=True)
class Page:
    """Some rows in the order of their numbers."""

    rows: list[dict[str, Any]]
    # Number after which the next page begins.
    next: int
    is_last: bool


class Server:
    """A server and the token of an analyst."""

    def __init__(self, url: str, token: str) -> None:
        """Check the address without connecting."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ServerError(f"{url!r} is no address; write for example https://traces.example")
        self.url = url.rstrip("/")
        self._token = token

    def state(self) -> State:
        """Return what a copy has to keep."""
        answer = self._json(self._request("/v1/developers", None))
        try:
            return State(int(answer["deletions"]), frozenset(answer["developers"]), answer.get("oldest"))
        except (KeyError, TypeError, ValueError) as error:
            raise ServerError(f"{self.url} is no server of `ghostbench collect`") from error

    def pages(self, after: int) -> Iterator[Page]:
        """Return all rows after a number."""
        while True:
            page = self._page(after)
            yield page
            if page.is_last:
                return
            after = page.next

    def note_copy(self, name: str, cursor: int, deletions: int) -> None:
        """Tell the server how far a copy is, so that it knows which deletions are still to be carried out."""
        body = json.dumps({"name": name, "cursor": cursor, "deletions": deletions}).encode()
        self._request("/v1/copies", body)

    def _page(self, after: int) -> Page:
        lines = [self._json(line) for line in self._request(f"/v1/rows?after={after}", None).splitlines()]
        if not lines or "next" not in lines[-1]:
            raise ServerError("a page of rows is incomplete; run the command again")
        end = lines.pop()
        return Page(lines, int(end["next"]), bool(end["is_last"]))

    def _json(self, text: bytes) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except ValueError as error:
            raise ServerError(f"{self.url} is no server of `ghostbench collect`") from error
        if not isinstance(value, dict):
            raise ServerError(f"{self.url} is no server of `ghostbench collect`")
        return value

    def _request(self, path: str, body: bytes | None) -> bytes:
        reason = ""
        for attempt in range(ATTEMPTS):
            request = urllib.request.Request(self.url + path, body)  # noqa: S310 (checked above)
            request.add_header("Authorization", f"Bearer {self._token}")
            pause = min(2.0**attempt, MOST_PAUSE_S)
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
                    answer: bytes = response.read(MOST_BYTES + 1)
            except urllib.error.HTTPError as error:
                message = _message(error.read(1 << 16))
                if error.code not in BUSY:
                    raise ServerError(f"{self.url} refuses the request ({error.code}): {message}") from error
                asked = error.headers.get("Retry-After", "")
                pause = max(pause, min(float(asked), MOST_PAUSE_S) if asked.isdigit() else 0.0)
                reason = message
            except (OSError, TimeoutError) as error:
                reason = str(error)
            else:
                if len(answer) > MOST_BYTES:
                    raise ServerError("an answer is too long")
                return answer
            if attempt + 1 < ATTEMPTS:
                time.sleep(pause)
        raise ServerError(f"{self.url} does not answer: {reason}")


def _message(body: bytes) -> str:
    """Return the message of a refusal."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:200]
