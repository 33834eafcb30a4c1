// Creates and connects everything that needs the language client. It is loaded after the activation, which so delays no other extension.

import {
  type Disposable,
  type ExtensionContext,
  type LogOutputChannel,
  commands,
  window,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { recordAtCursor, replayRecorded } from "./commands.ts";
import { compareAnswers } from "./compare.ts";
import { runDoctor } from "./doctor.ts";
import { chooseEngine } from "./engine_choice.ts";
import { Keys } from "./keys.ts";
import { showLastRequest } from "./last_request.ts";
import { showMenu } from "./menu.ts";
import { explainOtherProviders } from "./other_providers.ts";
import { Pages } from "./pages.ts";
import { ReadonlyDocuments } from "./readonly_documents.ts";
import { forgetLastHour, pauseForAnHour, resume } from "./recording_control.ts";
import { Session, folders } from "./session.ts";
import type { StatusBar } from "./status.ts";
import { SuggestionReports } from "./suggestion_reports.ts";
import { SuiteBrowser } from "./suite_browser.ts";
import { TestExplorer } from "./test_explorer.ts";
import { mark, showTrial, start, stop } from "./trial_commands.ts";
import { TrialStatus } from "./trial_status.ts";

const WALKTHROUGH = "ghostbench.ghostbench#ghostbench.start";

/** A command that needs a running server; key bindings can pass an argument. */
type Action = (client: LanguageClient, argument: unknown) => Promise<void>;

/** A command that works without a server. */
type LocalAction = (argument: unknown) => unknown;

/** What the entry point needs. */
export interface Parts extends Disposable {
  /** The commands by their names without the prefix of the extension. */
  commands: ReadonlyMap<string, LocalAction>;
  /** Stops the server. */
  stop(): Promise<void>;
}

/** Creates all parts and starts the server. */
export function createParts(context: ExtensionContext, bar: StatusBar, log: LogOutputChannel): Parts {
  const documents = new ReadonlyDocuments();
  const pages = new Pages();
  const trial = new TrialStatus();
  const reports = new SuggestionReports();
  const keys = new Keys(context);
  const suites = new SuiteBrowser();
  const explorer = new TestExplorer(
    () => current.current(),
    () => suites.files,
  );
  const current: Session = new Session(
    context,
    bar,
    trial,
    reports,
    keys,
    () => void explorer.refresh(),
    log,
  );
  const caseActions: Record<string, Action> = {
    recordCaseAtCursor: recordAtCursor,
    replayRecordedCases: replayRecorded,
    openSuiteFile: (client, file) => suites.open(client, file),
    replaySuiteCase: (client) => suites.replayShown(client),
  };
  const actions: Record<string, Action> = {
    compareAnswers: (client, named) => compareAnswers(client, documents, caseOf(named)),
    showScoreboard: (client) => pages.showScoreboard(client),
    showReport: (client) => pages.showReport(client, "replay"),
    showSuiteCase: (client) => suites.choose(client),
    showNextSuiteCase: (client) => suites.go(client, 1),
    showPreviousSuiteCase: (client) => suites.go(client, -1),
    showSuiteAnswers: () => suites.showAnswers(),
    chooseEngine,
    showLastRequest: (client) => showLastRequest(client, documents),
    showTrial: (client) => showTrial(client, pages),
    startTrial: async (client, named) => {
      await start(client, named);
      void explainOtherProviders(context.globalState);
    },
    stopTrial: stop,
    showTrialScoreboard: (client) => pages.showTrialScoreboard(client),
    showTrialReport: (client) => pages.showReport(client, "trial"),
    pauseRecording: pauseForAnHour,
    resumeRecording: resume,
    forgetLastHour,
    markMissingSuggestion: (client) => mark(client, "ghostbench.shouldHaveSuggested"),
    markUnwantedSuggestion: (client) => mark(client, "ghostbench.notWanted"),
    dismissSuggestion: (client) => reports.dismiss(client),
    acceptNextWord: (client) => reports.acceptPart(client, "editor.action.inlineSuggest.acceptNextWord"),
    acceptNextLine: (client) => reports.acceptPart(client, "editor.action.inlineSuggest.acceptNextLine"),
  };
  const localActions: Record<string, LocalAction> = {
    showMenu: () => showMenu(trial, bar.title),
    restartServer: () => current.restart(),
    showLog: () => log.show(),
    runDoctor: async () =>
      runDoctor(await current.findProgram(), folders()[0], await keys.variables(), documents),
    setApiKey: async (name) =>
      (await keys.set(typeof name === "string" ? name : undefined)) && current.restart(),
    removeApiKey: async () => (await keys.remove()) && current.restart(),
    openWalkthrough: () => commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false),
  };
  const withCases = Object.entries(caseActions).map(([name, action]): [string, LocalAction] => [
    name,
    async (argument) => {
      await withServer(current, action, argument);
      await explorer.refresh();
    },
  ]);
  const withoutCases = Object.entries(actions).map(([name, action]): [string, LocalAction] => [
    name,
    (argument) => withServer(current, action, argument),
  ]);
  const disposables = [
    documents,
    pages,
    trial,
    reports,
    explorer,
    current,
    window.onDidChangeActiveTextEditor(() => void current.refreshStatus()),
    workspace.onDidGrantWorkspaceTrust(() => current.restart()),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("ghostbench.server")) {
        void current.restart();
      }
    }),
  ];
  void current.restart();
  return {
    commands: new Map([...withCases, ...withoutCases, ...Object.entries(localActions)]),
    stop: () => current.stop(),
    dispose: () => disposables.forEach((disposable) => void disposable.dispose()),
  };
}

/** Runs an action with the server. */
async function withServer(current: Session, action: Action, argument: unknown): Promise<void> {
  const client = await current.running();
  if (client !== undefined) {
    await action(client, argument);
  }
}

/** The case that a key binding names by its id, or the Testing view by its item. */
function caseOf(named: unknown): string | undefined {
  const id = typeof named === "string" ? named : (named as { id?: unknown } | undefined)?.id;
  // The item of an engine has the id of its case and its name.
  return typeof id === "string" ? id.split(" ")[0] : undefined;
}
