// The item in the status bar: the engine that writes the ghost text with its latest time, or the state of the server. A click
// shows a menu, or starts the server if it is not running.

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
  private engine: string | undefined;
  private isBlind = false;
  /** Milliseconds to the latest suggestion. */
  private latency: number | undefined;

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
      this.latency = undefined;
    }
    this.draw();
  }

  /** Shows the engine that writes the ghost text. While it is hidden, its time is too. */
  setEngine(engine: string | undefined, isBlind: boolean): void {
    if (engine !== this.engine || isBlind !== this.isBlind) {
      this.latency = undefined;
    }
    this.engine = engine;
    this.isBlind = isBlind;
    this.draw();
  }

  /** Shows the start or end of a long operation of the server. */
  setWork(work: DidChangeStatusParams): void {
    this.work = work;
    this.draw();
  }

  /** Counts a request until it is answered, and takes the time of one with a suggestion. */
  async countQuestion<T>(answer: PromiseLike<T>): Promise<T> {
    const start = performance.now();
    let isShown = false;
    const count = (change: number): void => {
      isShown = change > 0;
      this.questions += change;
      this.draw();
    };
    const timer = setTimeout(() => count(1), QUESTION_SHOWS_AFTER);
    try {
      const answered = await answer;
      if (hasItems(answered)) {
        this.latency = performance.now() - start;
        this.draw();
      }
      return answered;
    } finally {
      clearTimeout(timer);
      if (isShown) {
        count(-1);
      }
    }
  }

  /** The state in words, without an icon. */
  get title(): string {
    return this.text().replace(/^\$\([^)]*\) /, "");
  }

  dispose(): void {
    this.item.dispose();
  }

  private draw(): void {
    this.item.text = this.text();
    const isWrong = this.phase === "stopped" && this.detail !== "";
    this.item.backgroundColor = isWrong ? new ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.command = this.phase === "stopped" ? "ghostbench.restartServer" : "ghostbench.showMenu";
    const click = this.phase === "stopped" ? "Click to start the server." : "Click for what can be done.";
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
    return isTrouble
      ? `$(warning) Ghostbench: ${this.work?.message}`
      : `$(check) Ghostbench: ${this.idleText()}`;
  }

  private idleText(): string {
    if (this.isBlind) {
      return "hidden engine";
    }
    const latency = this.latency === undefined ? "" : `, ${Math.max(1, Math.round(this.latency))} ms`;
    return `${this.engine ?? "ready"}${latency}`;
  }
}

/** Whether an answer to a request for ghost text has a suggestion. */
function hasItems(answer: unknown): boolean {
  const items = Array.isArray(answer) ? answer : (answer as { items?: unknown[] } | null | undefined)?.items;
  return (items?.length ?? 0) > 0;
}
