// Reports for live trials: which suggestions were dismissed or accepted in part, and how changes came about. VS Code has
// no public API for what is displayed, so the rest is inferred by the server (docs/protocol.md, "Reports of a trial").

import {
  type Disposable,
  type InlineCompletionItem,
  type InlineCompletionList,
  type TextDocument,
  type TextDocumentChangeEvent,
  Range,
  TextDocumentChangeReason,
  commands,
  languages,
  window,
} from "vscode";
import type { Command, LanguageClient } from "vscode-languageclient/node";

import {
  type DidIdentifyChangeParams,
  type ShownItem,
  didDismiss,
  didIdentifyChange,
  didPartiallyAccept,
} from "./protocol.ts";

/** Milliseconds between a paste and its change. */
const PASTE_MS = 1_000;

/** Maximum length of an insertion that counts as typed: brackets that the editor closes, and a few keys. */
const MAX_TYPED = 8;

type Provenance = DidIdentifyChangeParams["provenance"];

/** The part of VS Code's API for pasting that is used; it is public from VS Code 1.97 on. */
interface PasteApi {
  registerDocumentPasteEditProvider(
    selector: string,
    provider: { provideDocumentPasteEdits(document: TextDocument): undefined },
    metadata: { pasteMimeTypes: string[]; providedPasteEditKinds: unknown[] },
  ): Disposable;
}

export class SuggestionReports implements Disposable {
  /** The last answer with items, and its document. */
  private latest: { document: TextDocument; items: InlineCompletionItem[] } | undefined;
  /** The last paste. */
  private pasted: { document: TextDocument; time: number } | undefined;
  private readonly pasting: Disposable | undefined;

  constructor() {
    const api = languages as unknown as Partial<PasteApi>;
    this.pasting = api.registerDocumentPasteEditProvider?.(
      "*",
      {
        provideDocumentPasteEdits: (document) => {
          this.pasted = { document, time: Date.now() };
          return undefined;
        },
      },
      { pasteMimeTypes: ["text/plain"], providedPasteEditKinds: [] },
    );
  }

  /** Remembers the answer to a request; one without items leaves the screen as it is, or clears it. */
  noteAnswer(
    document: TextDocument,
    answer: InlineCompletionItem[] | InlineCompletionList | null | undefined,
  ): void {
    const items = Array.isArray(answer) ? answer : (answer?.items ?? []);
    if (items.length > 0) {
      this.latest = { document, items };
    }
  }

  /** Reports how a change came about, right after the change was sent. */
  identifyChange(client: LanguageClient, event: TextDocumentChangeEvent): void {
    const provenance = this.provenanceOf(event);
    if (provenance !== undefined) {
      const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(event.document);
      void client.sendNotification(didIdentifyChange, { textDocument, provenance });
    }
  }

  /** Hides the suggestion, and reports that the user did not want it. */
  async dismiss(client: LanguageClient): Promise<void> {
    await commands.executeCommand("editor.action.inlineSuggest.hide");
    const document = window.activeTextEditor?.document;
    if (document === undefined) {
      return;
    }
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    await client.sendNotification(didDismiss, { textDocument, reason: "rejected" });
  }

  /** Accepts the next word or line of the suggestion with VS Code's own command, and reports that. */
  async acceptPart(client: LanguageClient, command: string): Promise<void> {
    const editor = window.activeTextEditor;
    const item = this.latest?.document === editor?.document ? this.latest?.items[0] : undefined;
    await commands.executeCommand(command);
    const start = item?.range?.start;
    const shown = item && shownItem(item);
    if (editor === undefined || start === undefined || shown === undefined) {
      return;
    }
    const acceptedLength = editor.document.getText(new Range(start, editor.selection.active)).length;
    await client.sendNotification(didPartiallyAccept, { item: shown, acceptedLength });
  }

  dispose(): void {
    this.pasting?.dispose();
  }

  private provenanceOf(event: TextDocumentChangeEvent): Provenance | undefined {
    const { document, contentChanges, reason } = event;
    if (reason === TextDocumentChangeReason.Undo || reason === TextDocumentChangeReason.Redo) {
      return "undo";
    }
    const pasted = this.pasted?.document === document ? this.pasted.time : undefined;
    if (pasted !== undefined && contentChanges.length > 0) {
      this.pasted = undefined;
      if (Date.now() - pasted <= PASTE_MS) {
        return "pasted";
      }
    }
    const [change, ...others] = contentChanges;
    const isInsertion = change !== undefined && others.length === 0 && change.rangeLength === 0;
    const isHere = window.activeTextEditor?.document === document;
    // Without reports of pasting, any longer text may have been pasted.
    const isKnown = this.pasting === undefined || !isHere || !isInsertion;
    return isKnown || !isProgramText(change.text) || this.isSuggested(document, change.text)
      ? undefined
      : "other_provider";
  }

  /** Whether a text is part of the latest suggestions. */
  private isSuggested(document: TextDocument, text: string): boolean {
    const written = text.replaceAll("\r\n", "\n");
    const items = this.latest?.document === document ? this.latest.items : [];
    return items.some(({ insertText }) => typeof insertText === "string" && insertText.includes(written));
  }
}

/** Whether an inserted text is longer than keys and names in a popup. */
function isProgramText(text: string): boolean {
  const code = text.trim();
  return code.length > MAX_TYPED && !/^[\p{L}\p{N}_$!]+(\(\))?$/u.test(code);
}

function shownItem(item: InlineCompletionItem): ShownItem | undefined {
  const command = item.command;
  return command && { command: command as Command };
}
