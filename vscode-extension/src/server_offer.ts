// Offers what helps if the server is missing, does not fit, or has stopped.

import { type LogOutputChannel, ConfigurationTarget, Uri, commands, env, window, workspace } from "vscode";

const INSTALL = "https://github.com/ghostbench/ghostbench/blob/main/docs/install.md";

const CHOOSE = "Choose Program…";
const HOW_TO = "How to Install";
const LOG = "Show Log";
const RESTART = "Restart";

/** Says that there is no server, or a wrong one, and offers to choose or install another. */
export async function offerAnotherServer(message: string, log: LogOutputChannel): Promise<void> {
  const choice = await window.showErrorMessage(`Ghostbench: ${message}`, CHOOSE, HOW_TO, LOG);
  if (choice === CHOOSE) {
    await chooseProgram();
  } else if (choice === HOW_TO) {
    await env.openExternal(Uri.parse(INSTALL));
  } else if (choice === LOG) {
    log.show();
  }
}

/** Says why the server does not run, and offers the log and a restart. */
export async function offerRestart(
  message: string,
  log: LogOutputChannel,
  restart: () => Promise<void>,
): Promise<void> {
  const choice = await window.showErrorMessage(`Ghostbench: ${message}`, LOG, RESTART);
  if (choice === LOG) {
    log.show();
  } else if (choice === RESTART) {
    await restart();
  }
}

/** Sets the path of the server; the extension restarts it when the setting changes. */
async function chooseProgram(): Promise<void> {
  const [program] =
    (await window.showOpenDialog({ title: "The program ghostbench", openLabel: "Use" })) ?? [];
  if (program !== undefined) {
    const settings = workspace.getConfiguration("ghostbench");
    await settings.update("server.path", program.fsPath, ConfigurationTarget.Global);
    await commands.executeCommand("ghostbench.restartServer");
  }
}
