// Suites in the editor: opens a suite file, shows its cases one by one, replays them and shows the answers. The language client shows
// the documents: the server provides their texts.

import {
  type QuickPickItem,
  type TextDocumentShowOptions,
  Range,
  Selection,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  window,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { activeFile, documentOf, tell } from "./commands.ts";
import { type CaseSummary, type SuiteCase, replay, suite, suiteCase } from "./protocol.ts";
import { describeResults } from "./wording.ts";

/** Limit of the suite files of the workspace that are offered; others are found by browsing. */
const MOST_FILES = 100;

const BROWSE = "Browse…";

/** The suite that is open, and the case of it that was shown last. */
export class SuiteBrowser {
  private file: string | undefined;
  private shown: SuiteCase | undefined;
  private readonly everOpened = new Set<string>();

  /** URIs of the suites that were opened. */
  get files(): readonly string[] {
    return [...this.everOpened];
  }

  /** Opens a suite, named by a key binding or chosen by the user, and shows its first case. */
  async open(client: LanguageClient, named: unknown): Promise<void> {
    const file = typeof named === "string" ? fileUri(named) : await chooseFile();
    if (file === undefined) {
      return;
    }
    const editor = activeFile();
    const textDocument = editor ? { textDocument: documentOf(client, editor) } : {};
    const uri = client.code2ProtocolConverter.asUri(file);
    const { total, problems } = await client.sendRequest(suite, { suite: uri, ...textDocument });
    this.file = uri;
    this.everOpened.add(uri);
    const broken = problems === 0 ? "" : `; ${problems} lines have none, see the log`;
    tell(`opened ${total} cases${broken}`);
    await this.show(client, 0);
  }

  /** Shows a case that the user chooses. */
  async choose(client: LanguageClient): Promise<void> {
    const file = this.opened();
    if (file === undefined) {
      return;
    }
    const items: (QuickPickItem & { number: number })[] = [];
    let total = 1;
    while (items.length < total) {
      const page = await client.sendRequest(suite, { suite: file, from: items.length });
      total = page.cases.length === 0 ? 0 : page.total;
      page.cases.forEach((summary) => items.push(item(summary, items.length)));
    }
    const choice = await window.showQuickPick(items, { matchOnDescription: true });
    if (choice !== undefined) {
      await this.show(client, choice.number);
    }
  }

  /** Shows the case that is `step` after the shown one. */
  async go(client: LanguageClient, step: number): Promise<void> {
    const shown = this.current();
    if (shown === undefined) {
      return;
    }
    const number = shown.number + step;
    if (number < 0 || number >= shown.total) {
      tell(step < 0 ? "this is the first case" : "this is the last case");
      return;
    }
    await this.show(client, number);
  }

  /** Replays the shown case. */
  async replayShown(client: LanguageClient): Promise<void> {
    const shown = this.current();
    if (shown === undefined) {
      return;
    }
    const result = await client.sendRequest(replay, { target: "case", case: shown.case.id });
    tell(describeResults(result.cases[0]?.results ?? []));
  }

  /** Shows the right answer of the shown case, and those of the engines. */
  async showAnswers(): Promise<void> {
    const shown = this.current();
    if (shown !== undefined) {
      const column = columnOf(shown.uri);
      const viewColumn = column === undefined ? ViewColumn.Beside : column + 1;
      await showDocument(shown.answersUri, { preview: true, preserveFocus: true, viewColumn });
    }
  }

  private async show(client: LanguageClient, number: number): Promise<void> {
    const file = this.opened();
    if (file === undefined) {
      return;
    }
    const found = await client.sendRequest(suiteCase, { suite: file, number });
    // Cases follow each other in one column, and their answers in the next, wherever the focus is.
    const viewColumn = (this.shown && columnOf(this.shown.uri)) ?? ViewColumn.Active;
    this.shown = found;
    const hole = client.protocol2CodeConverter.asRange(found.hole);
    const editor = await showDocument(found.uri, { preview: true, viewColumn });
    editor.selection = new Selection(hole.start, hole.end);
    editor.revealRange(new Range(hole.start, hole.end), TextEditorRevealType.InCenter);
    window.setStatusBarMessage(`Ghostbench: case ${number + 1} of ${found.total}`, 5_000);
  }

  private opened(): string | undefined {
    if (this.file === undefined) {
      tell("open a suite first");
    }
    return this.file;
  }

  private current(): SuiteCase | undefined {
    if (this.shown === undefined) {
      tell("open a suite first");
    }
    return this.shown;
  }
}

function fileUri(named: string): Uri {
  return named.startsWith("file:") ? Uri.parse(named) : Uri.file(named);
}

/** Returns a suite file of the workspace, or any file that the user browses to. */
async function chooseFile(): Promise<Uri | undefined> {
  const found = await workspace.findFiles("**/*.jsonl", undefined, MOST_FILES);
  const files = found.map((uri) => ({ uri, label: workspace.asRelativePath(uri) }));
  files.sort((a, b) => a.label.localeCompare(b.label));
  const choice = await window.showQuickPick([...files, { uri: undefined, label: BROWSE }]);
  if (choice === undefined || choice.uri !== undefined) {
    return choice?.uri;
  }
  const chosen = await window.showOpenDialog({ filters: { Suites: ["jsonl"] }, openLabel: "Open Suite" });
  return chosen?.[0];
}

function item(summary: CaseSummary, number: number): QuickPickItem & { number: number } {
  const cut = summary.variant === undefined ? summary.scenario : `${summary.scenario}/${summary.variant}`;
  const description = `${cut}, line ${summary.line + 1}`;
  return { number, label: `${number + 1} ${summary.path}`, description };
}

/** Returns the column of the visible document of this URI. */
function columnOf(uri: string): ViewColumn | undefined {
  const normal = Uri.parse(uri).toString();
  return window.visibleTextEditors.find((editor) => editor.document.uri.toString() === normal)?.viewColumn;
}

async function showDocument(uri: string, options: TextDocumentShowOptions) {
  return window.showTextDocument(await workspace.openTextDocument(Uri.parse(uri)), options);
}
