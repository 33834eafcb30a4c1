// Where VS Code comes in: everything is made here, tied together, and taken down.

import { type ExtensionContext, commands, window, workspace } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { recordAtCursor, replayRecorded, showScoreboard } from "./commands.ts";
import { Scoreboard } from "./scoreboard.ts";
import { Session } from "./session.ts";
import { StatusBar } from "./status.ts";

let session: Session | undefined;

/** What a command does with a server that runs; keys may be bound to it with an argument. */
type Action = (client: LanguageClient, argument: unknown) => Promise<void>;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel("Ghostbench", { log: true });
  const bar = new StatusBar();
  const board = new Scoreboard();
  const current = new Session(context, bar, log);
  session = current;
  const actions: Record<string, Action> = {
    recordCaseAtCursor: recordAtCursor,
    replayRecordedCases: replayRecorded,
    showScoreboard: (client) => showScoreboard(client, board),
  };
  for (const [name, action] of Object.entries(actions)) {
    context.subscriptions.push(commands.registerCommand(`ghostbench.${name}`, withServer(current, action)));
  }
  context.subscriptions.push(
    log,
    bar,
    board,
    current,
    commands.registerCommand("ghostbench.restartServer", () => current.restart()),
    commands.registerCommand("ghostbench.showLog", () => log.show()),
    workspace.onDidGrantWorkspaceTrust(() => current.restart()),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("ghostbench.server")) {
        void current.restart();
      }
    }),
  );
  void current.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

/** A refusal of the server becomes a message; what it says ends with what to do. */
function withServer(current: Session, action: Action): (argument: unknown) => Promise<void> {
  return async (argument) => {
    const client = await current.running();
    if (!client) {
      return;
    }
    try {
      await action(client, argument);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      void window.showErrorMessage(`Ghostbench: ${message}`);
    }
  };
}
