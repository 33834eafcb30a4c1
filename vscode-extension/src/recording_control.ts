// The developer's control over recording: pause, resume, forget.

import { window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { tell } from "./commands.ts";
import { forget, pauseRecording, resumeRecording } from "./inspection_protocol.ts";

const HOUR = 60;

/** Pauses the recording of trials for an hour. */
export async function pauseForAnHour(client: LanguageClient): Promise<void> {
  const { until } = await client.sendRequest(pauseRecording, { minutes: HOUR });
  tell(`recording is paused until ${new Date(until).toLocaleTimeString()}`);
}

/** Ends a pause. */
export async function resume(client: LanguageClient): Promise<void> {
  await client.sendRequest(resumeRecording);
  tell("recording is not paused any more");
}

/** Deletes what the last hour recorded, after a question. */
export async function forgetLastHour(client: LanguageClient): Promise<void> {
  const detail = "Recorded cases stay. Exported files are not changed.";
  const question = "Delete all that trials recorded in this workspace in the last hour?";
  if ((await window.showWarningMessage(question, { modal: true, detail }, "Delete")) === undefined) {
    return;
  }
  const { forgotten } = await client.sendRequest(forget, { minutes: HOUR });
  tell(`opportunities deleted: ${forgotten}`);
}
