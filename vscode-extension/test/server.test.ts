// The choice of the server among several.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, beforeEach, test } from "node:test";

import { type Surroundings, NoServer, findServer } from "../src/server.ts";

const PROGRAM = process.platform === "win32" ? "ghostbench.exe" : "ghostbench";

let root: string;
let chosen: string;
let bundled: string;
let installed: string;
let built: string;
let surroundings: Surroundings;
const path = process.env["PATH"];

before(() => {
  root = mkdtempSync(join(tmpdir(), "ghostbench-"));
  chosen = program("chosen");
  bundled = program("extension/server");
  installed = program("installed");
  built = program("workspace/target/release");
});

after(() => {
  process.env["PATH"] = path;
  rmSync(root, { recursive: true });
});

beforeEach(() => {
  process.env["PATH"] = join(root, "installed");
  surroundings = {
    chosen: null,
    extension: join(root, "extension"),
    trustedFolders: [join(root, "workspace")],
    base: join(root, "workspace"),
  };
});

/** A program in a folder. */
function program(folder: string): string {
  mkdirSync(join(root, folder), { recursive: true });
  const file = join(root, folder, PROGRAM);
  writeFileSync(file, "", { mode: 0o755 });
  return file;
}

test("a configured path takes precedence", async () => {
  for (const name of [chosen, join("..", "chosen", PROGRAM), `~/${relative(homedir(), chosen)}`]) {
    assert.equal(await findServer({ ...surroundings, chosen: name }), chosen);
  }
});

test("without a setting, a bundled server comes before an installed one and a built one", async () => {
  assert.equal(await findServer(surroundings), bundled);
  surroundings.extension = root;
  assert.equal(await findServer(surroundings), installed);
  process.env["PATH"] = "";
  assert.equal(await findServer(surroundings), built);
});

test("no program of an untrusted workspace is used", async () => {
  process.env["PATH"] = "";
  const nothing = { ...surroundings, extension: root, trustedFolders: [] };
  await assert.rejects(
    findServer(nothing),
    (error) => error instanceof NoServer && /cargo install/.test(error.message),
  );
});

test("a path that is not a program is reported, and nothing else is started", async () => {
  for (const name of [join(root, "nothing"), root]) {
    const message = /^ghostbench\.server\.path is not a program: .*; correct the setting, or remove it$/;
    await assert.rejects(findServer({ ...surroundings, chosen: name }), { message });
  }
});
