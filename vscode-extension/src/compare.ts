// Compares the truth of a case with the answers of two engines, in one view of differences.

import { type QuickPickItem, Uri, commands, window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { activeFile, documentOf, tell } from "./commands.ts";
import { type Answer, type Answers, answers } from "./inspection_protocol.ts";
import { cases } from "./protocol.ts";
import type { ReadonlyDocuments } from "./readonly_documents.ts";
import { caseAt, describeResults } from "./wording.ts";

/** Engines in one comparison. */
const COMPARED = 2;

/** Compares the answers to a case: that of the argument, otherwise the one at the cursor. */
export async function compareAnswers(
  client: LanguageClient,
  documents: ReadonlyDocuments,
  named: string | undefined,
): Promise<void> {
  const id = named ?? (await caseAtCursor(client));
  if (id === undefined) {
    return;
  }
  const found = await client.sendRequest(answers, { case: id });
  const compared = await chooseTwo(found.answers);
  if (compared === undefined) {
    return;
  }
  const truth = write(documents, found, "right answer", found.truth);
  const views = compared.map((answer) => {
    const text = write(documents, found, describeResults([answer]), answer.text ?? "");
    return [text, truth, text];
  });
  const { path, line } = found.case;
  await commands.executeCommand("vscode.changes", `${path}:${line + 1}: right answer and engines`, views);
}

async function caseAtCursor(client: LanguageClient): Promise<string | undefined> {
  const editor = activeFile();
  const textDocument = editor && documentOf(client, editor);
  const recorded = textDocument && (await client.sendRequest(cases, { textDocument }));
  const found = editor && recorded && caseAt(recorded.cases, editor.selection.active.line);
  if (!found) {
    tell("put the cursor into the right answer of a case, or choose a case in the Testing view");
  }
  return found?.id;
}

/** Returns the answers to compare; undefined if there are none, or the user chose none. */
async function chooseTwo(all: readonly Answer[]): Promise<readonly Answer[] | undefined> {
  if (all.length === 0) {
    tell("replay the case first: no engine has answered it yet");
    return undefined;
  }
  if (all.length <= COMPARED) {
    return all;
  }
  const items: (QuickPickItem & { answer: Answer })[] = all.map((answer, index) => ({
    label: answer.engine,
    description: describeResults([answer]),
    picked: index < COMPARED,
    answer,
  }));
  const placeHolder = "Two engines to compare with the right answer";
  const chosen = await window.showQuickPick(items, { canPickMany: true, placeHolder });
  return chosen && chosen.length > 0 ? chosen.map(({ answer }) => answer) : undefined;
}

/** Writes the document of an answer; its name tells whose it is, and its ending the language. */
function write(documents: ReadonlyDocuments, found: Answers, name: string, text: string): Uri {
  const file = found.case.path.split("/").at(-1) ?? "";
  const folder = encodeURIComponent(name).replaceAll("%20", " ").replaceAll("%", "");
  return documents.write(`/${found.case.id}/${folder}/${file}`, found.before + text + found.after);
}
