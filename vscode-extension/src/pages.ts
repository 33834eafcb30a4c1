// Pages beside the editors: scoreboards, and the reports that the server renders. A page loads nothing, and only what is part of it may
// run; it has the colours of the editor's theme.

import { type Disposable, type WebviewPanel, ViewColumn, window } from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { page } from "./inspection_protocol.ts";
import type { PageKind } from "./inspection_protocol.ts";
import { ofActiveFile } from "./commands.ts";
import { scoreboard } from "./protocol.ts";
import { type PageLink, scoreboardHtml } from "./scoreboard_html.ts";

/** Pages by their name: showing one again replaces its contents. */
type PageName = "scoreboard" | "trialScoreboard" | PageKind;

const LINKS: PageLink[] = [
  { command: "ghostbench.replayRecordedCases", argument: "suite", label: "Replay all recorded cases" },
  { command: "ghostbench.showReport", label: "Open the report" },
];

const TRIAL_LINKS: PageLink[] = [{ command: "ghostbench.showTrialReport", label: "Open the report" }];

export class Pages implements Disposable {
  private readonly panels = new Map<PageName, WebviewPanel>();

  /** Shows the comparison of the engines on the recorded cases of the folder. */
  async showScoreboard(client: LanguageClient): Promise<void> {
    const { text } = await client.sendRequest(scoreboard, ofActiveFile(client));
    this.show("scoreboard", "Ghostbench Scoreboard", scoreboardHtml(text, LINKS), false);
  }

  /** Shows the comparison of the arms of the last trial. */
  async showTrialScoreboard(client: LanguageClient): Promise<void> {
    const { text } = await client.sendRequest(scoreboard, { ...ofActiveFile(client), trial: true });
    this.show("trialScoreboard", "Ghostbench Trial", scoreboardHtml(text, TRIAL_LINKS), false);
  }

  /** Shows the report of the latest replay or of the last trial. */
  async showReport(client: LanguageClient, kind: PageKind): Promise<void> {
    const { title, html } = await client.sendRequest(page, { ...ofActiveFile(client), kind });
    this.show(kind, `Ghostbench: ${title}`, html, true);
  }

  dispose(): void {
    this.panels.forEach((panel) => panel.dispose());
  }

  private show(name: PageName, title: string, html: string, hasScripts: boolean): void {
    let panel = this.panels.get(name);
    if (panel === undefined) {
      panel = window.createWebviewPanel(`ghostbench.${name}`, title, ViewColumn.Active, {
        enableScripts: hasScripts,
        enableCommandUris: hasScripts ? false : [...LINKS, ...TRIAL_LINKS].map(({ command }) => command),
        enableFindWidget: true,
        localResourceRoots: [],
        retainContextWhenHidden: hasScripts,
      });
      panel.onDidDispose(() => this.panels.delete(name));
      this.panels.set(name, panel);
    }
    panel.title = title;
    panel.webview.html = html;
    panel.reveal();
  }
}
