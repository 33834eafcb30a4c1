// The manifest: each command of it is implemented, and each implemented one can be found.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Manifest {
  contributes: {
    commands: { command: string }[];
    walkthroughs: { steps: { description: string; media: { markdown: string } }[] }[];
  };
}

const manifest = JSON.parse(read("package.json")) as Manifest;
const commands = manifest.contributes.commands.map(({ command }) => command);

test("each command of the manifest has an action, and each action a command", () => {
  const source = read("src/parts.ts");
  const tables = source.slice(source.indexOf("caseActions:"), source.indexOf("const withCases"));
  const actions = Array.from(tables.matchAll(/^ {4}(\w+)[:,]/gm), ([, name]) => `ghostbench.${name}`);
  assert.deepEqual([...commands].sort(), actions.sort());
});

test("the walkthrough names existing pages and commands", () => {
  const steps = manifest.contributes.walkthroughs.flatMap(({ steps }) => steps);
  assert.ok(steps.length > 3);
  for (const { description, media } of steps) {
    assert.notEqual(read(media.markdown).trim(), "");
    for (const [, command] of description.matchAll(/command:(ghostbench\.\w+)/g)) {
      assert.ok(commands.includes(command ?? ""), command);
    }
  }
});
