"""Measures `ghostbench lsp` beside llm-ls: the time from the first byte of a request to the first byte that a model server receives.

    python3 bench/beside_llm_ls.py GHOSTBENCH LLM_LS

Both language servers are driven over stdio in turn, with prompts of the same size for the same server, one kept-alive connection each,
in the first lines of this Python's typing.py. Without code from other files, which llm-ls does not look for.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import typing
from pathlib import Path

LINES = (600, 3000)
PROCESSES = 3
REQUESTS = 150
WARM_UP = 20
# llm-ls counts bytes if it has no tokenizer. Ghostbench counts tokens, and sends as many bytes with this number of them.
WINDOW_BYTES = 16_384
WINDOW_TOKENS = 5_650
MAX_TOKENS = 50
FIM = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")


class Server:
    """A language server as a child process."""

    def __init__(self, command, folder):
        environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        self.id = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        frame = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        now = time.monotonic_ns()
        self.child.stdin.write(frame)
        self.child.stdin.flush()
        return now

    def notify(self, method, params):
        return self.send({"method": method, "params": params})

    def call(self, method, params):
        """Returns the time of sending and the result."""
        self.id += 1
        sent = self.send({"id": self.id, "method": method, "params": params})
        while True:
            message = self.read()
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": None})
            elif message.get("id") == self.id:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return sent, message["result"]

    def read(self):
        length = 0
        while line := self.child.stdout.readline().strip():
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        if length == 0:
            raise SystemExit(f"{self.child.args[0]} ended")
        return json.loads(self.child.stdout.read(length))

    def end(self):
        self.child.kill()
        self.child.wait()


class Mock:
    """A model server in a process of its own, which reports when each request began, and its size."""

    def __init__(self):
        self.child = subprocess.Popen([sys.executable, __file__, "--mock"], stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.child.stdout.readline().strip()}"

    def request(self):
        """Returns the time of the first byte and the number of bytes of the prompt."""
        began, size = self.child.stdout.readline().split()
        return int(began), int(size)


def serve():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while answer(connection):
                pass
        except ConnectionError:
            pass


def answer(connection):
    data = connection.recv(1 << 16)
    began = time.monotonic_ns()
    if not data:
        return False
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, body = data.split(b"\r\n\r\n", 1)
    headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(headers.get(b"content-length", 0)):
        body += connection.recv(1 << 16)
    fields = json.loads(body or b"{}")
    reply = reply_to(fields)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (reply[0], len(reply[1]), reply[1]))
    if "prompt" in fields:
        print(began, len(fields["prompt"].encode()), flush=True)
    return True


def reply_to(fields):
    choice = {"choices": [{"index": 0, "text": "measured = 1", "finish_reason": "stop"}]}
    if fields.get("stream"):
        return b"text/event-stream", b"data: %s\n\ndata: [DONE]\n\n" % json.dumps(choice).encode()
    return b"application/json", json.dumps(choice).encode()


def ghostbench(program, folder, url):
    config = folder / "config.toml"
    layout = f"{FIM[0]}{{prefix}}{FIM[1]}{{suffix}}{FIM[2]}"
    config.write_text(
        f'[completion]\ndebounce_ms = 0\n[context]\nstrategy = "none"\n[[engine]]\nname = "mock"\nkind = "openai"\nurl = "{url}"\n'
        f'model = "mock"\nfim = "{layout}"\nmax_tokens = {MAX_TOKENS}\ncontext_window = {WINDOW_TOKENS}\n'
    )
    return Server([program, "lsp", "--config", str(config)], folder)


def ask_ghostbench(_url):
    return "textDocument/inlineCompletion", {"context": {"triggerKind": 2}}


def llm_ls(program, folder, _url):
    return Server([program], folder)


def ask_llm_ls(url):
    fim = {"enabled": True, "prefix": FIM[0], "suffix": FIM[1], "middle": FIM[2]}
    options = {"contextWindow": WINDOW_BYTES, "tlsSkipVerifyInsecure": False, "tokensToClear": [], "tokenizerConfig": None, "apiToken": None}
    backend = {"backend": "openai", "url": url, "model": "mock", "requestBody": {"max_tokens": MAX_TOKENS}}
    return "llm-ls/getCompletions", {"ide": "neovim", "fim": fim, **options, **backend}


def measure(start, ask, program, lines, is_typed):
    """Returns the times in ms, and the bytes of the prompts."""
    source = Path(typing.__file__).read_text().split("\n")[:lines]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workspace = folder / "workspace"
        workspace.mkdir()
        mock = Mock()
        server = start(program, folder, mock.url)
        (workspace / "typing.py").write_text("\n".join(source))
        uri = (workspace / "typing.py").as_uri()
        folders = [{"uri": workspace.as_uri(), "name": "workspace"}]
        server.call("initialize", {"processId": None, "rootUri": workspace.as_uri(), "capabilities": {}, "workspaceFolders": folders})
        server.notify("initialized", {})
        document = {"uri": uri, "languageId": "python", "version": 0, "text": "\n".join(source)}
        server.notify("textDocument/didOpen", {"textDocument": document})
        # Ghostbench judges files again while a change of the last two seconds could go undetected.
        time.sleep(3)
        method, parameters = ask(mock.url)
        times, sizes = [], []
        at = lines * 6 // 10
        for number in range(WARM_UP + REQUESTS):
            # Other lines each time, so that nothing answers from a memory of answers.
            line = at + number
            column = len(source[line])
            begin = None
            if is_typed:
                position = {"line": line, "character": column}
                change = {"range": {"start": position, "end": position}, "text": "x"}
                versioned = {"uri": uri, "version": number + 1}
                begin = server.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
                column += 1
            where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
            sent, _ = server.call(method, {**where, **parameters})
            began, size = mock.request()
            if number >= WARM_UP:
                times.append((began - (begin or sent)) / 1e6)
                sizes.append(size)
        server.end()
        mock.child.kill()
        mock.child.wait()
        return times, sizes


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def main(our_program, other_program):
    print("| client sends, lines | Ghostbench, p50 / p99 ms (prompt) | llm-ls |\n|---|---|---|")
    for is_typed in (False, True):
        for lines in LINES:
            runs = {"ghostbench": [], "llm-ls": []}
            for _ in range(PROCESSES):
                runs["ghostbench"].append(measure(ghostbench, ask_ghostbench, our_program, lines, is_typed))
                runs["llm-ls"].append(measure(llm_ls, ask_llm_ls, other_program, lines, is_typed))
            cells = [cell(measured) for measured in runs.values()]
            print(f"| {'didChange and ' if is_typed else ''}request, {lines} | {' | '.join(cells)} |", flush=True)


def cell(runs):
    middle = statistics.median(percentile(times, 0.5) for times, _ in runs)
    last = statistics.median(percentile(times, 0.99) for times, _ in runs)
    size = statistics.median(size for _, sizes in runs for size in sizes)
    return f"{middle:.2f} / {last:.2f} ({size / 1000:.1f} KB)"


if __name__ == "__main__":
    if sys.argv[1:] == ["--mock"]:
        serve()
    elif len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        raise SystemExit(__doc__)
