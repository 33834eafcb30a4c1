#!/usr/bin/env node
// Starts the ghostbench of this platform, which npm installed as an optional dependency.

"use strict";

const { spawn } = require("node:child_process");

const PROGRAM = process.platform === "win32" ? "ghostbench.exe" : "ghostbench";

/** Names of the packages that may hold the program, the best one first. */
function candidates() {
  const name = `@ghostbench/cli-${process.platform}-${process.arch}`;
  if (process.platform !== "linux") {
    return [name];
  }
  const usesGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  // The program for musl needs no libraries, so it runs everywhere.
  return usesGlibc ? [name, `${name}-musl`] : [`${name}-musl`];
}

/** Returns the path of the program, or undefined. */
function findProgram() {
  for (const name of candidates()) {
    try {
      return require.resolve(`${name}/bin/${PROGRAM}`);
    } catch {
      // npm installs only the packages of this platform.
    }
  }
  return undefined;
}

/** Runs the program as if it had been started itself: same streams, signals and exit code. */
function run(program) {
  // Listeners come before the child, so that no signal ends this process alone. None is called before this function has ended.
  // A terminal sends Ctrl-C to both. The program then finishes its work; this one waits for it.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  child.on("error", (error) => fail(`failed to start ${program}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function fail(message) {
  process.stderr.write(`ghostbench: ${message}\n`);
  process.exitCode = 3;
}

const program = findProgram();
if (program === undefined) {
  fail(
    `no package of npm holds a program for ${process.platform} on ${process.arch}; ` +
      "install without --omit=optional, or with `cargo install`",
  );
} else {
  run(program);
}
