// The item in the status bar with the state of the live trial. It is hidden while no trial is running. A click shows what
// can be done.

import {
  type Disposable,
  type StatusBarItem,
  MarkdownString,
  StatusBarAlignment,
  commands,
  window,
  workspace,
} from "vscode";

import type { TrialState } from "./protocol.ts";

/** Context key of key bindings: whether a trial is running in any folder. */
const CONTEXT = "ghostbench.trial";

/** Context key: whether the user paused the recording. */
const PAUSED = "ghostbench.paused";

export class TrialStatus implements Disposable {
  private readonly item: StatusBarItem;
  private readonly moved: Disposable;
  /** States by the URI of the folder. */
  private readonly states = new Map<string, TrialState>();

  constructor() {
    this.item = window.createStatusBarItem("ghostbench.trial", StatusBarAlignment.Right, 99);
    this.item.name = "Ghostbench Trial";
    this.item.command = "ghostbench.showTrial";
    this.moved = window.onDidChangeActiveTextEditor(() => this.draw());
    this.draw();
  }

  /** Whether a trial is running in any folder. */
  get isRunning(): boolean {
    return [...this.states.values()].some((state) => state.state !== "off");
  }

  /** Whether the user paused the recording of the trial that is shown. */
  get isPausedByUser(): boolean {
    return this.current()?.pausedUntil !== undefined;
  }

  /** Whether the trial that is shown hides which engine writes. */
  get isBlind(): boolean {
    const state = this.current();
    return state?.state === "running" && state.arms === undefined;
  }

  /** The engine that writes in the trial that is shown; undefined if that is the one of the settings, or hidden. */
  get shownArm(): string | undefined {
    const state = this.current();
    return state?.state === "running" ? state.arms?.[0] : undefined;
  }

  /** Shows a new state of the trial of a folder. */
  set(state: TrialState): void {
    this.states.set(state.folder, state);
    this.draw();
  }

  /** Forgets all states: the server has ended. */
  clear(): void {
    this.states.clear();
    this.draw();
  }

  dispose(): void {
    this.moved.dispose();
    this.item.dispose();
  }

  private draw(): void {
    void commands.executeCommand("setContext", CONTEXT, this.isRunning);
    const state = this.current();
    void commands.executeCommand("setContext", PAUSED, state?.pausedUntil !== undefined);
    if (state === undefined || state.state === "off") {
      this.item.hide();
      return;
    }
    this.item.text =
      state.state === "running" ? "$(beaker) Trial: recording" : "$(debug-pause) Trial: paused";
    const lines = [state.message, "Click for the trial."];
    this.item.tooltip = new MarkdownString().appendText(lines.join("\n"));
    this.item.show();
  }

  /** The state of the folder of the active file, otherwise of the first folder with a trial. */
  private current(): TrialState | undefined {
    const uri = window.activeTextEditor?.document.uri;
    const folder = uri && workspace.getWorkspaceFolder(uri)?.uri.toString();
    const here = folder === undefined ? undefined : this.states.get(folder);
    return here ?? [...this.states.values()].find((state) => state.state !== "off");
  }
}
