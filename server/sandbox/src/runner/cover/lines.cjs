// Prints the executed lines in the reports of a folder: those of Istanbul (statements with counts) and of V8 (ranges with counts).
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const url = require("node:url");

function print(file, ranges) {
  if (ranges.length > 0) {
    console.log(`SF:${file}`);
    for (const [first, last] of ranges) {
      console.log(`${first}-${last}`);
    }
  }
}

function istanbul(report) {
  for (const file of Object.values(report)) {
    const executed = Object.entries(file.s).filter(([, count]) => count > 0);
    // A statement goes on over those inside of it, which have counts of their own.
    const lines = executed.map(([id]) => file.statementMap[id].start.line);
    print(file.path, lines.map((line) => [line, line]));
  }
}

/** Lines with a sign that the innermost range around it counts as executed; inner ranges come after outer ones. */
function v8(script) {
  const file = url.fileURLToPath(script.url);
  if (file.includes(`${path.sep}node_modules${path.sep}`) || !fs.existsSync(file)) {
    return;
  }
  const text = fs.readFileSync(file, "utf8");
  const isExecuted = new Uint8Array(text.length);
  const ranges = script.functions.flatMap((it) => it.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    isExecuted.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  const lines = new Set();
  let line = 1;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\n") {
      line++;
    } else if (isExecuted[at] && !/[\s{}()[\];,]/.test(text[at])) {
      lines.add(line);
    }
  }
  print(file, [...lines].map((line) => [line, line]));
}

for (const name of fs.readdirSync(process.argv[2])) {
  if (!name.endsWith(".json")) {
    continue;
  }
  const report = JSON.parse(fs.readFileSync(path.join(process.argv[2], name), "utf8"));
  if (Array.isArray(report.result)) {
    report.result.filter((script) => script.url.startsWith("file://")).forEach(v8);
  } else {
    istanbul(report);
  }
}
