// The process of the server: starts it, and knows why it ended.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Milliseconds that a server may take to end by itself after its input was closed. */
const END_TIMEOUT = 2_000;

/** Characters of its error output that are kept. */
const MOST_ERROR_TEXT = 2_000;

export class ServerProcess {
  private child: ChildProcess | undefined;
  private errorText = "";

  constructor(
    private readonly command: string,
    private readonly args: string[],
    private readonly variables: Record<string, string>,
  ) {}

  /** Starts the process; throws if the system cannot. */
  async start(): Promise<ChildProcess> {
    this.errorText = "";
    const child = spawn(this.command, this.args, { env: { ...process.env, ...this.variables } });
    this.child = child;
    await once(child, "spawn");
    // A write to a process that has just ended must not end the extension host.
    child.stdin.on("error", () => undefined);
    child.stderr.on("data", (data: Buffer) => {
      this.errorText = (this.errorText + data.toString()).slice(-MOST_ERROR_TEXT);
    });
    return child;
  }

  /** Why the process ended, as far as it is known. */
  async reasonOfEnd(): Promise<string> {
    const child = this.child;
    if (child === undefined) {
      return "it was not started";
    }
    if (child.exitCode === null && child.signalCode === null) {
      await Promise.race([once(child, "exit"), pause(END_TIMEOUT)]);
    }
    const last = this.errorText.trim().split("\n").at(-1) ?? "";
    const code = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
    return last === "" ? code : `${code}, ${last}`;
  }

  /** Ends the process if it does not end by itself. */
  async end(): Promise<void> {
    const child = this.child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.stdin?.end();
      await Promise.race([once(child, "exit"), pause(END_TIMEOUT)]);
      child.kill("SIGKILL");
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
