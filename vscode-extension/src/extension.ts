// Entry point for VS Code: registers the commands of the manifest. Everything else is loaded afterwards.

import { type ExtensionContext, commands, window } from "vscode";

import type { Parts } from "./parts.ts";
import { StatusBar } from "./status.ts";

/** Prefix of the commands. */
const PREFIX = "ghostbench.";

let loading: Promise<Parts> | undefined;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel("Ghostbench", { log: true });
  const bar = new StatusBar();
  context.subscriptions.push(log, bar);
  const parts = afterActivation(async () => {
    const created = (await import("./parts.ts")).createParts(context, bar, log);
    context.subscriptions.push(created);
    return created;
  });
  loading = parts;
  parts.catch((error: unknown) => bar.setPhase("stopped", String(error)));
  const manifest = context.extension.packageJSON as { contributes: { commands: { command: string }[] } };
  for (const { command } of manifest.contributes.commands) {
    const run = async (argument: unknown): Promise<void> => {
      await (await parts).commands.get(command.slice(PREFIX.length))?.(argument);
    };
    context.subscriptions.push(
      commands.registerCommand(command, (argument: unknown) => reportErrors(() => run(argument))),
    );
  }
}

export async function deactivate(): Promise<void> {
  await (await loading)?.stop();
}

/** Runs a function once VS Code has finished the activation. */
function afterActivation<T>(run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => void run().then(resolve, reject));
  });
}

/** Shows an error as a message. */
async function reportErrors(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    void window.showErrorMessage(`Ghostbench: ${message}`);
  }
}
