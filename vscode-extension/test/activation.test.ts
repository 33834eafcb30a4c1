// The bundle is loaded and activated quickly: the language client is loaded afterwards.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

/** Milliseconds of the processor, so that other programs do not count. */
const LIMIT = 100;

/** Something that can be called, created and read without an end: VS Code's interface has no meaning here. */
const anything: unknown = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : anything),
  apply: () => anything,
  construct: () => anything as object,
});

test(`activation takes less than ${LIMIT} ms of the processor`, () => {
  const bundle = new URL("../extension.js", import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
  const load = loader._load;
  loader._load = (name, ...rest) => (name === "vscode" ? anything : load(name, ...rest));
  // What follows the activation needs a real VS Code.
  const { setImmediate } = globalThis;
  globalThis.setImmediate = (() => undefined) as unknown as typeof setImmediate;
  try {
    const start = process.cpuUsage();
    const extension = createRequire(import.meta.url)(bundle.pathname) as { activate(context: object): void };
    extension.activate({ subscriptions: [], extension: { packageJSON: manifest } });
    const { user, system } = process.cpuUsage(start);
    const took = (user + system) / 1_000;
    assert.ok(took < LIMIT, `${took} ms`);
    console.log(`# activation: ${took.toFixed(0)} ms`);
  } finally {
    loader._load = load;
    globalThis.setImmediate = setImmediate;
  }
});
