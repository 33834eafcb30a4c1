// Runs `ghostbench doctor` and shows its report.

import { execFile } from "node:child_process";

import { ProgressLocation, window } from "vscode";

import type { ReadonlyDocuments } from "./readonly_documents.ts";

/** Milliseconds; the doctor looks at files and asks no engine. */
const TIMEOUT = 60_000;

/** Bytes of a report. */
const MOST_OUTPUT = 4 << 20;

/** Shows the report of the server `program` on a folder. */
export async function runDoctor(
  program: string,
  folder: string | undefined,
  variables: Record<string, string>,
  documents: ReadonlyDocuments,
): Promise<void> {
  const progress = {
    location: ProgressLocation.Notification,
    title: "Ghostbench: doctor",
    cancellable: true,
  };
  const report = await window.withProgress(progress, (_, token) => {
    return new Promise<string>((resolve) => {
      const environment = { ...process.env, ...variables, NO_COLOR: "1" };
      const options = { cwd: folder, env: environment, timeout: TIMEOUT, maxBuffer: MOST_OUTPUT };
      const child = execFile(
        program,
        ["doctor", ...(folder === undefined ? [] : [folder])],
        options,
        (error, out, err) => {
          // Exit code 1 means that the report has problems.
          const failure = error && out === "" ? `\n${error.message}\n` : "";
          resolve(`${out}${err}${failure}`);
        },
      );
      token.onCancellationRequested(() => child.kill());
    });
  });
  const note = "Settings of VS Code are one more layer, which this report does not show.\n\n";
  await documents.show("Ghostbench Doctor", `${program} doctor\n\n${note}${report}`, "plaintext");
}
