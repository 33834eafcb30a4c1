// Read-only documents that exist in the editor only: what was sent, the report of the doctor, answers to compare.

import {
  type Disposable,
  type TextDocumentContentProvider,
  EventEmitter,
  Uri,
  languages,
  window,
  workspace,
} from "vscode";

const SCHEME = "ghostbench";

/** Texts that are kept; those of documents that were opened first are dropped. */
const MOST_DOCUMENTS = 50;

export class ReadonlyDocuments implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  private readonly registration = workspace.registerTextDocumentContentProvider(SCHEME, this);
  /** By URI, in the order of writing. */
  private readonly texts = new Map<string, string>();

  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Sets the text of a document; the end of its path decides its language. */
  write(path: string, text: string): Uri {
    const uri = Uri.from({ scheme: SCHEME, path });
    const key = uri.toString();
    this.texts.delete(key);
    this.texts.set(key, text);
    const [first] = this.texts.keys();
    if (this.texts.size > MOST_DOCUMENTS && first !== undefined) {
      this.texts.delete(first);
    }
    this.changed.fire(uri);
    return uri;
  }

  /** Shows a document with this title and text. */
  async show(title: string, text: string, language: string): Promise<void> {
    const document = await workspace.openTextDocument(this.write(title, text));
    await window.showTextDocument(await languages.setTextDocumentLanguage(document, language), {
      preview: true,
    });
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
