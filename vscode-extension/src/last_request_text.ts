// The last request as Markdown.

import type { LastRequest, SentContext, SentRequest } from "./inspection_protocol.ts";

/** Describes a request, with all that was sent. */
export function describeLastRequest(last: LastRequest, language: string): string {
  const { line, character } = last.position;
  const reason = last.reason === undefined ? "" : ` (${last.reason})`;
  const facts = [
    `- answered at ${last.answeredAt}, after ${last.ms.toFixed(1)} ms: ${last.status}${reason}`,
    `- line ${line + 1}, column ${character + 1}, ${last.trigger}`,
    `- engine: ${last.blind ? "hidden until the trial ends" : (last.engine ?? "none was chosen")}`,
  ];
  const shown = last.items.map((item) => code(item, language));
  const offered = shown.length === 0 ? ["Nothing was suggested."] : shown;
  return [
    "# Last request",
    facts.join("\n"),
    "## Suggested",
    ...offered,
    ...(last.sent === undefined
      ? ["## Sent", "No engine was asked."]
      : sentParts(last.sent, last.blind, language)),
    "",
  ].join("\n\n");
}

function sentParts(sent: SentRequest, isBlind: boolean, language: string): string[] {
  const reason = sent.reason === undefined ? "" : ` (${sent.reason})`;
  const engine = sent.engine === undefined ? "" : ` to ${sent.engine}`;
  const count = sent.context.length;
  const context =
    count === 0 ? ["No code of other places."] : sent.context.flatMap((item) => contextParts(item, language));
  return [
    "## Sent",
    `${sent.sentAt}${engine}, ended after ${sent.ms.toFixed(1)} ms: ${sent.status}${reason}`,
    `### Code of other places (${count})`,
    ...context,
    "### Prompt",
    sent.prompt === undefined ? whyWithout("prompt", isBlind) : code(sent.prompt, ""),
    "### Answer as received",
    sent.answer === undefined ? whyWithout("answer", isBlind) : code(sent.answer, language),
    ...(sent.cut ? ["Prompt or answer are longer than shown."] : []),
  ];
}

function whyWithout(part: string, isBlind: boolean): string {
  return isBlind
    ? `The ${part} is shown after the trial: it could reveal the engine.`
    : `This engine has no ${part} of its own: it reads the text of the file.`;
}

function contextParts(item: SentContext, language: string): string[] {
  const { path, startLine, endLine, strategy, text } = item;
  const lines = startLine === undefined || endLine === undefined ? "" : `, lines ${startLine + 1}-${endLine}`;
  return [`${path}${lines} (${strategy})`, code(text, language)];
}

/** A block of code, whose fence is longer than any in the code. */
function code(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}
