// The commands: send requests to the server and show their results.

import { type QuickPickItem, type TextEditor, window } from "vscode";
import type { LanguageClient, TextDocumentIdentifier } from "vscode-languageclient/node";

import {
  type CasesParams,
  type ReplayParams,
  type Target,
  cases,
  oneCase,
  recordCase,
  replay,
} from "./protocol.ts";
import { caseAt, describeCase, describeReplay } from "./wording.ts";

const TARGETS: (QuickPickItem & { target: Target })[] = [
  { target: "suite", label: "All recorded cases", description: "fills the scoreboard" },
  { target: "file", label: "The cases of this file" },
  { target: "case", label: "The case at the cursor" },
];

/** Cells are documents of their own, and no files: a case could not be found again. */
const NO_NOTEBOOKS = "notebooks are not supported; move the code into a file to record it";

/** Records the code at the cursor as a case. */
export async function recordAtCursor(client: LanguageClient): Promise<void> {
  const editor = activeFile();
  if (!editor) {
    tell(window.activeNotebookEditor ? NO_NOTEBOOKS : "open a file and put the cursor where a case begins");
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

/** Returns the editor with the focus if it shows a file. */
export function activeFile(): TextEditor | undefined {
  const editor = window.activeTextEditor;
  return editor?.document.uri.scheme === "file" ? editor : undefined;
}

/** Returns the identifier of the document of an editor. */
export function documentOf(client: LanguageClient, editor: TextEditor): TextDocumentIdentifier {
  return client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
}

/** Returns the parameters that name the folder of the active file. */
export function ofActiveFile(client: LanguageClient): CasesParams {
  const editor = activeFile();
  return editor ? { textDocument: documentOf(client, editor) } : {};
}

/** Shows a message. */
export function tell(message: string): void {
  void window.showInformationMessage(`Ghostbench: ${message}`);
}
