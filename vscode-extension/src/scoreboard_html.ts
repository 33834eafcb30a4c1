// The page of a scoreboard: the columns of the command line, and links to commands. It has neither scripts nor resources.

import { randomBytes } from "node:crypto";

/** A link that runs a command. */
export interface PageLink {
  command: string;
  argument?: string;
  label: string;
}

const STYLE = `
body { padding: 12px 20px; color: var(--vscode-editor-foreground); background: var(--vscode-editor-background); }
pre { font: 12px/1.5 var(--vscode-editor-font-family, monospace); overflow-x: auto; }
nav { display: flex; gap: 16px; margin-bottom: 8px; }
a { color: var(--vscode-textLink-foreground); }
`;

/** Returns the page. Only its own style is allowed, by a number that no text of it can contain. */
export function scoreboardHtml(text: string, links: readonly PageLink[]): string {
  const nonce = randomBytes(16).toString("hex");
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<nav>${links.map(linkHtml).join("")}</nav>
<pre>${escapeHtml(text)}</pre>
</body>
</html>
`;
}

function linkHtml({ command, argument, label }: PageLink): string {
  const query = argument === undefined ? "" : `?${encodeURIComponent(JSON.stringify([argument]))}`;
  return `<a href="command:${command}${query}">${escapeHtml(label)}</a>`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
