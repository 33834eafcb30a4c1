// Entry point for VS Code: creates, connects and disposes of everything.

import { type ExtensionContext, commands, window, workspace } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { recordAtCursor, replayRecorded, showScoreboard } from "./commands.ts";
import { Scoreboard } from "./scoreboard.ts";
import { Session } from "./session.ts";
import { StatusBar } from "./status.ts";
import { SuiteBrowser } from "./suite_browser.ts";
import { SuggestionReports } from "./suggestion_reports.ts";
import { mark, showTrial, showTrialScoreboard, start, stop } from "./trial_commands.ts";
import { TrialStatus } from "./trial_status.ts";

let session: Session | undefined;

/** A command that needs a running server; key bindings can pass an argument. */
type Action = (client: LanguageClient, argument: unknown) => Promise<void>;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel("Ghostbench", { log: true });
  const bar = new StatusBar();
  const board = new Scoreboard();
  const suites = new SuiteBrowser();
  const trial = new TrialStatus();
  const reports = new SuggestionReports();
  const current = new Session(context, bar, trial, reports, log);
  session = current;
  const actions: Record<string, Action> = {
    recordCaseAtCursor: recordAtCursor,
    replayRecordedCases: replayRecorded,
    showScoreboard: (client) => showScoreboard(client, board),
    openSuiteFile: (client, file) => suites.open(client, file),
    showSuiteCase: (client) => suites.choose(client),
    showNextSuiteCase: (client) => suites.go(client, 1),
    showPreviousSuiteCase: (client) => suites.go(client, -1),
    replaySuiteCase: (client) => suites.replayShown(client),
    showSuiteAnswers: () => suites.showAnswers(),
    showTrial: (client) => showTrial(client, board),
    startTrial: start,
    stopTrial: stop,
    showTrialScoreboard: (client) => showTrialScoreboard(client, board),
    markMissingSuggestion: (client) => mark(client, "ghostbench.shouldHaveSuggested"),
    markUnwantedSuggestion: (client) => mark(client, "ghostbench.notWanted"),
    dismissSuggestion: (client) => reports.dismiss(client),
    acceptNextWord: (client) => reports.acceptPart(client, "editor.action.inlineSuggest.acceptNextWord"),
    acceptNextLine: (client) => reports.acceptPart(client, "editor.action.inlineSuggest.acceptNextLine"),
  };
  for (const [name, action] of Object.entries(actions)) {
    context.subscriptions.push(commands.registerCommand(`ghostbench.${name}`, withServer(current, action)));
  }
  context.subscriptions.push(
    log,
    bar,
    board,
    trial,
    reports,
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

/** Runs an action with the server, and shows an error of the server as a message. */
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
