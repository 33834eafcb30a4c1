// Decisions without VS Code: crashes, versions, names of keys, pages, the text of the last request.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CrashPolicy, MOST_CRASHES } from "../src/crash_policy.ts";
import { isKeyName } from "../src/key_name.ts";
import { describeLastRequest } from "../src/last_request_text.ts";
import { scoreboardHtml } from "../src/scoreboard_html.ts";
import { isCompatible } from "../src/server_version.ts";

test("a server that crashes five times in three minutes stays stopped", () => {
  const policy = new CrashPolicy();
  const often = Array.from({ length: MOST_CRASHES }, (_, index) => policy.mayRestart(index * 1_000));
  assert.deepEqual(often, [true, true, true, true, false]);
  const seldom = new CrashPolicy();
  assert.ok(Array.from({ length: 20 }, (_, index) => seldom.mayRestart(index * 60_000)).every(Boolean));
});

test("versions fit within a minor version before 1.0, and within a major one later", () => {
  assert.ok(isCompatible("0.1.7", "0.1.0") && isCompatible("1.4.0", "1.0.2"));
  assert.ok(!isCompatible("0.2.0", "0.1.0") && !isCompatible("2.0.0", "1.0.0") && !isCompatible("", "0.1.0"));
});

test("keys are in variables of their own", () => {
  assert.ok(isKeyName("OPENAI_API_KEY") && isKeyName("_K2"));
  for (const name of ["", "lower", "A B", "PATH", "LD_PRELOAD", "NODE_OPTIONS", "GHOSTBENCH_X", "2A"]) {
    assert.ok(!isKeyName(name), name);
  }
});

test("text of a scoreboard is no markup, and its style is the only thing that is allowed", () => {
  const html = scoreboardHtml(`</pre><script>"&`, [{ command: "a.b", argument: "x", label: "<go>" }]);
  assert.ok(html.includes("&lt;/pre&gt;&lt;script&gt;&quot;&amp;") && html.includes("&lt;go&gt;"));
  assert.ok(html.includes('href="command:a.b?%5B%22x%22%5D"') && !html.includes("<script"));
  const nonce = /style-src 'nonce-(\w+)'/.exec(html)?.[1];
  assert.ok(html.includes(`<style nonce="${nonce}">`) && html.includes("default-src 'none'"));
});

test("the last request shows all that was sent, and hides a blind engine", () => {
  const request = {
    answeredAt: "2026-01-02T03:04:05.678Z",
    position: { line: 4, character: 2 },
    trigger: "automatic",
    blind: false,
    engine: "qwen",
    status: "ok",
    ms: 12.34,
    items: ["x = 1"],
    sent: {
      sentAt: "2026-01-02T03:04:05.000Z",
      engine: "qwen",
      status: "ok",
      ms: 11,
      context: [{ path: "b.py", startLine: 2, endLine: 4, strategy: "hybrid", text: "a\n```\nb\n" }],
      prompt: "<fim>",
      answer: "x = 1",
      cut: false,
    },
  };
  const text = describeLastRequest(request, "python");
  for (const part of [
    "line 5, column 3",
    "b.py, lines 3-4 (hybrid)",
    "````python",
    "<fim>",
    "engine: qwen",
  ]) {
    assert.ok(text.includes(part), part);
  }
  const { engine: _, prompt: __, answer: ___, ...hidden } = request.sent;
  const blind = describeLastRequest({ ...request, blind: true, sent: hidden }, "python");
  assert.ok(blind.includes("hidden until the trial ends") && blind.includes("after the trial"));
});
