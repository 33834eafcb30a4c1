// The commands of live trials.

import { type QuickPickItem, window } from "vscode";
import { type LanguageClient, ExecuteCommandRequest } from "vscode-languageclient/node";

import { activeFile, documentOf, ofActiveFile, tell } from "./commands.ts";
import { type StartTrialParams, type TrialMode, startTrial, status, stopTrial, trial } from "./protocol.ts";
import type { Pages } from "./pages.ts";
import { forgetLastHour, pauseForAnHour, resume } from "./recording_control.ts";
import { describeToday } from "./wording.ts";

const MODES: (QuickPickItem & { mode: TrialMode })[] = [
  { mode: "single", label: "Record one engine" },
  { mode: "shadow", label: "Show one engine", description: "and ask others the same, for the record" },
  { mode: "assign", label: "Show one of several engines", description: "drawn at random for each session" },
  { mode: "duel", label: "Choose between two engines", description: "without knowing which is which" },
];

/** Commands that mark the cursor for the trial, with their confirmation. */
const MARKS = {
  "ghostbench.shouldHaveSuggested": "marked as missing; now write what belongs here",
  "ghostbench.notWanted": "marked: nothing should have been suggested here",
};

/** Shows the state of the trial, and what can be done. */
export async function showTrial(client: LanguageClient, pages: Pages): Promise<void> {
  const state = await client.sendRequest(trial, ofActiveFile(client));
  const actions: (QuickPickItem & { run: () => Promise<void> })[] =
    state.state === "off"
      ? [{ label: "Start a trial", run: () => start(client, undefined) }]
      : [
          { label: "Show the scoreboard of the trial", run: () => pages.showTrialScoreboard(client) },
          {
            label: "A suggestion is missing here",
            run: () => mark(client, "ghostbench.shouldHaveSuggested"),
          },
          { label: "This should not have been suggested", run: () => mark(client, "ghostbench.notWanted") },
          { label: "Show the report of the trial", run: () => pages.showReport(client, "trial") },
          state.pausedUntil === undefined
            ? { label: "Pause recording for an hour", run: () => pauseForAnHour(client) }
            : { label: "Resume recording", run: () => resume(client) },
          { label: "Forget the last hour", run: () => forgetLastHour(client) },
          { label: "Stop the trial", run: () => stop(client) },
        ];
  const chosen = await window.showQuickPick(actions, {
    title: state.message,
    placeHolder: describeToday(state),
  });
  await chosen?.run();
}

/** Starts a trial with the engines that the user or a key binding chooses; asks once if code may leave the machine. */
export async function start(client: LanguageClient, named: unknown): Promise<void> {
  const choices = isChoice(named) ? named : await choose(client);
  if (choices === undefined) {
    return;
  }
  const params: StartTrialParams = { ...ofActiveFile(client), ...choices };
  let result = await client.sendRequest(startTrial, params);
  if (!result.started) {
    const detail = result.disclosures.join("\n");
    const title = "Start the trial with these engines?";
    const answer = await window.showWarningMessage(title, { modal: true, detail }, "Start");
    if (answer === undefined) {
      return;
    }
    result = await client.sendRequest(startTrial, { ...params, confirmed: result.disclosures });
  }
  if (!result.started) {
    tell("the settings have changed; start the trial again");
    return;
  }
  tell(`trial ${result.name} is started${result.note === undefined ? "" : `; note: ${result.note}`}`);
}

/** Stops the trial; its opportunities are kept. */
export async function stop(client: LanguageClient): Promise<void> {
  const { name, revealed } = await client.sendRequest(stopTrial, ofActiveFile(client));
  const names = revealed.map((arm) => `; ${arm.shownAs} was ${arm.name}`).join("");
  tell(`trial ${name} is stopped; its opportunities are kept${names}`);
}

/** Marks the cursor for the trial. */
export async function mark(client: LanguageClient, command: keyof typeof MARKS): Promise<void> {
  const editor = activeFile();
  if (!editor) {
    tell("open a file and put the cursor where you mean");
    return;
  }
  const position = client.code2ProtocolConverter.asPosition(editor.selection.active);
  const place = { textDocument: documentOf(client, editor), position };
  await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [place] });
  tell(MARKS[command]);
}

async function choose(client: LanguageClient): Promise<StartTrialParams | undefined> {
  const chosen = await window.showQuickPick(MODES, { placeHolder: "What should the trial compare?" });
  if (chosen === undefined) {
    return undefined;
  }
  const { mode } = chosen;
  const known = (await client.sendRequest(status, {})).engines;
  const names = known.filter(({ reason }) => reason === undefined).map(({ name }) => name);
  if (mode === "assign") {
    return several(mode, [], names, "Engines to draw from");
  }
  if (mode === "duel") {
    return several(mode, [], names, "Two engines");
  }
  const shown = await window.showQuickPick(names, { placeHolder: "Engine that writes the ghost text" });
  if (shown === undefined) {
    return undefined;
  }
  if (mode === "single") {
    return { mode, arms: [shown] };
  }
  const others = names.filter((name) => name !== shown);
  return several(mode, [shown], others, "Engines that answer the same, for the record");
}

async function several(
  mode: TrialMode,
  first: string[],
  names: string[],
  placeHolder: string,
): Promise<StartTrialParams | undefined> {
  const others = await window.showQuickPick(names, { placeHolder, canPickMany: true });
  return others && { mode, arms: [...first, ...others] };
}

/** Whether the argument of a key binding names a mode and engines; the server checks them. */
function isChoice(named: unknown): named is StartTrialParams {
  const { mode, arms } = (named ?? {}) as Partial<StartTrialParams>;
  return typeof mode === "string" && Array.isArray(arms);
}
