// The item in the status bar with the state of the server. A click shows the scoreboard, or starts the server if it is
// not running.

import {
  type Disposable,
  type StatusBarItem,
  MarkdownString,
  StatusBarAlignment,
  ThemeColor,
  window,
} from "vscode";

import type { DidChangeStatusParams } from "./protocol.ts";

/** Milliseconds until a request is shown; most are answered earlier, and the item would flicker with every key. */
const QUESTION_SHOWS_AFTER = 300;

/** State of the server process. */
export type Phase = "starting" | "running" | "stopped";

export class StatusBar implements Disposable {
  private readonly item: StatusBarItem;
  private phase: Phase = "stopped";
  private work: DidChangeStatusParams | undefined;
  private detail = "";
  private questions = 0;

  constructor() {
    this.item = window.createStatusBarItem("ghostbench.status", StatusBarAlignment.Right, 100);
    this.item.name = "Ghostbench";
    this.draw();
    this.item.show();
  }

  /** Shows a new state of the server; `detail` is its version or the reason. */
  setPhase(phase: Phase, detail = ""): void {
    this.phase = phase;
    this.detail = detail;
    if (phase !== "running") {
      this.work = undefined;
    }
    this.draw();
  }

  /** Shows the start or end of a long operation of the server. */
  setWork(work: DidChangeStatusParams): void {
    this.work = work;
    this.draw();
  }

  /** Counts a request until it is answered. */
  async countQuestion<T>(answer: PromiseLike<T>): Promise<T> {
    let isShown = false;
    const count = (change: number): void => {
      isShown = change > 0;
      this.questions += change;
      this.draw();
    };
    const timer = setTimeout(() => count(1), QUESTION_SHOWS_AFTER);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      if (isShown) {
        count(-1);
      }
    }
  }

  dispose(): void {
    this.item.dispose();
  }

  private draw(): void {
    this.item.text = this.text();
    const isWrong = this.phase === "stopped" && this.detail !== "";
    this.item.backgroundColor = isWrong ? new ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.command = this.phase === "stopped" ? "ghostbench.restartServer" : "ghostbench.showScoreboard";
    const click = this.phase === "stopped" ? "Click to start the server." : "Click for the scoreboard.";
    const lines = [this.detail, this.work?.message ?? "", click].filter((line) => line !== "");
    this.item.tooltip = new MarkdownString().appendText(lines.join("\n"));
  }

  private text(): string {
    if (this.phase === "starting") {
      return "$(sync~spin) Ghostbench: starting";
    }
    if (this.phase === "stopped") {
      return "$(circle-slash) Ghostbench: no server";
    }
    if (this.work?.busy) {
      return `$(sync~spin) Ghostbench: ${this.work.message}`;
    }
    if (this.questions > 0) {
      return `$(sync~spin) Ghostbench: ${this.questions} ${this.questions === 1 ? "question" : "questions"}`;
    }
    const isTrouble = this.work?.kind === "warning" || this.work?.kind === "error";
    return isTrouble ? `$(warning) Ghostbench: ${this.work?.message}` : "$(check) Ghostbench: ready";
  }
}
