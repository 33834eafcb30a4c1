// The commands: send requests to the server and show their results.

import { type QuickPickItem, type TextEditor, window } from "vscode";
import type { LanguageClient, TextDocumentIdentifier } from "vscode-languageclient/node";

import {
  type ReplayParams,
  type Target,
  cases,
  oneCase,
  recordCase,
  replay,
  scoreboard,
} from "./protocol.ts";
import type { Scoreboard } from "./scoreboard.ts";
import { caseAt, describeCase, describeReplay } from "./wording.ts";

const TARGETS: (QuickPickItem & { target: Target })[] = [
  { target: "suite", label: "All recorded cases", description: "fills the scoreboard" },
  { target: "file", label: "The cases of this file" },
  { target: "case", label: "The case at the cursor" },
];

/** Records the code at the cursor as a case. */
export async function recordAtCursor(client: LanguageClient): Promise<void> {
  const editor = activeFile();
  if (!editor) {
    tell("open a file and put the cursor where a case begins");
    return;
  }
  const position = client.code2ProtocolConverter.asPosition(editor.selection.active);
  const result = await client.sendRequest(recordCase, { textDocument: documentOf(client, editor), position });
  const whole = await client.sendRequest(oneCase, { id: result.case.id });
  const verb = result.added ? "recorded " : "recorded before: ";
  tell(verb + describeCase(result.case, whole.case.tags?.cut));
}

/** Replays the target that the user or a key binding chooses. */
export async function replayRecorded(client: LanguageClient, named: unknown): Promise<void> {
  const editor = activeFile();
  const choice = TARGETS.find(({ target }) => target === named) ?? (await window.showQuickPick(TARGETS));
  if (choice === undefined) {
    return;
  }
  const params = await replayParams(client, choice.target, editor);
  if (params !== undefined) {
    tell(describeReplay(await client.sendRequest(replay, params)));
  }
}

async function replayParams(
  client: LanguageClient,
  target: Target,
  editor: TextEditor | undefined,
): Promise<ReplayParams | undefined> {
  if (!editor) {
    return { target };
  }
  const textDocument = documentOf(client, editor);
  if (target !== "case") {
    return { target, textDocument };
  }
  const recorded = await client.sendRequest(cases, { textDocument });
  const found = caseAt(recorded.cases, editor.selection.active.line);
  if (!found) {
    tell("no case was recorded at the cursor");
    return undefined;
  }
  return { target, case: found.id, textDocument };
}

/** Shows the comparison of the engines on the recorded cases of the folder. */
export async function showScoreboard(client: LanguageClient, board: Scoreboard): Promise<void> {
  const editor = activeFile();
  const params = editor ? { textDocument: documentOf(client, editor) } : {};
  const result = await client.sendRequest(scoreboard, params);
  await board.show(result.text);
}

/** Returns the editor with the focus if it shows a file. */
export function activeFile(): TextEditor | undefined {
  const editor = window.activeTextEditor;
  return editor?.document.uri.scheme === "file" ? editor : undefined;
}

/** Returns the identifier of the document of an editor. */
export function documentOf(client: LanguageClient, editor: TextEditor): TextDocumentIdentifier {
  return client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
}

/** Shows a message. */
export function tell(message: string): void {
  void window.showInformationMessage(`Ghostbench: ${message}`);
}
