// Chooses the engine that writes the ghost text.

import { type QuickPickItem, ConfigurationTarget, window, workspace } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { ofActiveFile, tell } from "./commands.ts";
import { type EngineStatus, status, trial } from "./protocol.ts";

const SETTING = "completion.engine";

/** Sets the engine of the settings to one that the user chooses; a key binding can name it. */
export async function chooseEngine(client: LanguageClient, named: unknown): Promise<void> {
  const running = await client.sendRequest(trial, ofActiveFile(client));
  if (running.state === "running") {
    tell("a trial decides which engine writes; stop it to choose another one");
    return;
  }
  const { engines } = await client.sendRequest(status, {});
  const name = typeof named === "string" ? named : await pick(engines);
  if (name === undefined) {
    return;
  }
  const unusable = engines.find((engine) => engine.name === name && engine.reason !== undefined);
  if (unusable !== undefined) {
    tell(`${name} cannot be used: ${unusable.reason}`);
    return;
  }
  const settings = workspace.getConfiguration("ghostbench");
  const hasOwn = settings.inspect(SETTING)?.workspaceValue !== undefined;
  await settings.update(SETTING, name, hasOwn ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
}

async function pick(engines: readonly EngineStatus[]): Promise<string | undefined> {
  const items: QuickPickItem[] = engines.map((engine) => ({
    label: engine.name,
    description: describe(engine),
    detail: engine.reason ?? engine.fault ?? "",
  }));
  const chosen = await window.showQuickPick(items, {
    placeHolder: "Engine that writes the ghost text",
    matchOnDescription: true,
  });
  return chosen?.label;
}

function describe({ kind, model, roles, latency, reason }: EngineStatus): string {
  const parts = [kind, model].filter((part) => part !== "");
  if (reason !== undefined) {
    parts.push("not used");
  } else if (roles?.includes("ghostText")) {
    parts.push("writes the ghost text");
  }
  if (latency !== undefined) {
    parts.push(`${latency.toFixed(0)} ms`);
  }
  return parts.join(", ");
}
