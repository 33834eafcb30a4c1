// The menu of the status bar: what can be done, each by a command of its own.

import { type QuickPickItem, QuickPickItemKind, commands, window } from "vscode";

import { MEANING, otherProviders } from "./other_providers.ts";
import type { TrialStatus } from "./trial_status.ts";

type Entry = QuickPickItem & { command?: string; argument?: unknown };

/** Shows the menu, and runs the command of the chosen entry. */
export async function showMenu(trial: TrialStatus, title: string): Promise<void> {
  const chosen = await window.showQuickPick(entries(trial), { title, matchOnDescription: true });
  if (chosen?.command !== undefined) {
    await commands.executeCommand(chosen.command, chosen.argument);
  }
}

function entries(trial: TrialStatus): Entry[] {
  const others = otherProviders();
  const warning: Entry = {
    label: `$(info) Other suggestions: ${others.join(", ")}`,
    detail: MEANING,
    command: "workbench.extensions.action.showEnabledExtensions",
  };
  return [
    section("Suggestions"),
    entry("Choose the engine", "sparkle", "chooseEngine"),
    entry("Show what was sent", "eye", "showLastRequest"),
    ...(others.length === 0 ? [] : [warning]),
    section("Cases"),
    entry("Record the case at the cursor", "record", "recordCaseAtCursor"),
    entry("Replay recorded cases", "run-all", "replayRecordedCases"),
    entry("Compare the answers to a case", "diff-multiple", "compareAnswers"),
    entry("Show the scoreboard", "table", "showScoreboard"),
    entry("Show the report", "graph", "showReport"),
    section("Trial"),
    ...trialEntries(trial),
    section("Ghostbench"),
    entry("Run the doctor", "pulse", "runDoctor"),
    entry("Set an API key", "key", "setApiKey"),
    {
      label: "$(gear) Open the settings",
      command: "workbench.action.openSettings",
      argument: "@ext:ghostbench.ghostbench",
    },
    entry("Show the log", "output", "showLog"),
    entry("Restart the server", "debug-restart", "restartServer"),
  ];
}

function trialEntries(trial: TrialStatus): Entry[] {
  if (!trial.isRunning) {
    return [
      entry("Start a trial", "beaker", "startTrial"),
      entry("Show the scoreboard of the last trial", "table", "showTrialScoreboard"),
    ];
  }
  const pause = entry("Pause recording for an hour", "debug-pause", "pauseRecording");
  return [
    entry("Show the trial", "beaker", "showTrial"),
    entry("A suggestion is missing here", "comment-unresolved", "markMissingSuggestion"),
    entry("This should not have been suggested", "comment", "markUnwantedSuggestion"),
    trial.isPausedByUser ? entry("Resume recording", "debug-continue", "resumeRecording") : pause,
    entry("Forget the last hour", "trash", "forgetLastHour"),
    entry("Stop the trial", "debug-stop", "stopTrial"),
  ];
}

function entry(label: string, icon: string, command: string): Entry {
  return { label: `$(${icon}) ${label}`, command: `ghostbench.${command}` };
}

function section(label: string): Entry {
  return { label, kind: QuickPickItemKind.Separator };
}
