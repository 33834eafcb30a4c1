// The scoreboard as a read-only document.

import {
  type Disposable,
  type TextDocumentContentProvider,
  EventEmitter,
  Uri,
  window,
  workspace,
} from "vscode";

const SCHEME = "ghostbench";

/** The path is the title of the tab. */
const DOCUMENT = Uri.from({ scheme: SCHEME, path: "Ghostbench Scoreboard" });

export class Scoreboard implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  private readonly registration = workspace.registerTextDocumentContentProvider(SCHEME, this);
  private text = "";

  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(): string {
    return this.text;
  }

  /** Shows these columns instead of the previous ones. */
  async show(text: string): Promise<void> {
    this.text = text;
    this.changed.fire(DOCUMENT);
    await window.showTextDocument(await workspace.openTextDocument(DOCUMENT), { preview: true });
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
