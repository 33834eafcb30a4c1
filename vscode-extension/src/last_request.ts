// What was sent: the last request for ghost text of the active file, as a document.

import { window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { activeFile, documentOf, tell } from "./commands.ts";
import { lastRequest } from "./inspection_protocol.ts";
import { describeLastRequest } from "./last_request_text.ts";
import type { ReadonlyDocuments } from "./readonly_documents.ts";

/** Shows the last request of the active file. */
export async function showLastRequest(client: LanguageClient, documents: ReadonlyDocuments): Promise<void> {
  const editor = activeFile();
  if (!editor) {
    tell("open the file whose last request you want to see");
    return;
  }
  const last = await client.sendRequest(lastRequest, { textDocument: documentOf(client, editor) });
  if (last === null) {
    tell("no suggestion was asked for in this file yet");
    return;
  }
  const text = describeLastRequest(last, editor.document.languageId);
  await documents.show("What Was Sent", text, "markdown");
  window.setStatusBarMessage("Ghostbench: kept in memory only", 5_000);
}
