// A language server that answers every request for a completion at once, with the same text. The times measured
// with it are VS Code's own.

const CAPABILITIES = {
  positionEncoding: "utf-16",
  textDocumentSync: { openClose: true, change: 2 },
  inlineCompletionProvider: true,
};

function result({ method, params }) {
  switch (method) {
    case "initialize":
      return { capabilities: CAPABILITIES };
    case "ghostbench/status":
      return { version: "instant" };
    case "textDocument/inlineCompletion": {
      const range = { start: params.position, end: params.position };
      return { items: [{ insertText: "instant", range }] };
    }
    default:
      return null;
  }
}

function hear(message) {
  if (message.method === "exit") {
    process.exit();
  }
  if (message.id !== undefined && message.method !== undefined) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: result(message) });
    process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
}

let received = Buffer.alloc(0);
process.stdin.on("data", (piece) => {
  received = Buffer.concat([received, piece]);
  for (;;) {
    const header = /^Content-Length: (\d+)\r\n(?:.*\r\n)*?\r\n/.exec(received.subarray(0, 4096).toString("latin1"));
    const end = header === null ? Infinity : header[0].length + Number(header[1]);
    if (received.length < end) {
      return;
    }
    hear(JSON.parse(received.subarray(header[0].length, end)));
    received = received.subarray(end);
  }
});
