// Messages for the user, the same as in the Neovim configuration.

import type { CaseSummary, EngineResult, ReplayResult, TrialState } from "./protocol.ts";

/** Description of the right answer, by the cut of the case. */
const WANTED = new Map<string, (block: string) => string>([
  ["block_start", (block) => `the whole ${block}`],
  ["header_end", (block) => `the ${block} body`],
  ["mid_statement", (block) => `the rest of the ${block}`],
  ["rest_of_block", (block) => `the rest of the ${block}`],
  ["empty", () => "that nothing follows"],
]);

/** Kinds that are shown without the word "block". */
const PLAIN = new Set(["function", "statement", "code"]);

/** Describes a recorded case and its lines; `cut` replaces a variant that does not describe the cut. */
export function describeCase(summary: CaseSummary, cut: string | undefined): string {
  const kind = summary.blockKind ?? "code";
  const block = PLAIN.has(kind) ? kind : `${kind} block`;
  const wanted = WANTED.get(cut ?? summary.variant ?? "");
  const first = (summary.range?.start.line ?? summary.line) + 1;
  const last = (summary.range?.end.line ?? summary.line) + 1;
  const lines = last > first ? `lines ${first}-${last}` : `line ${first}`;
  return `${wanted?.(block) ?? `the ${block}`}, ${lines}`;
}

/** Describes the result of a replay. */
export function describeReplay(result: ReplayResult): string {
  const verb = result.cancelled ? "cancelled after" : "replayed";
  const run = result.run.split(/[/\\]/).at(-1) ?? result.run;
  return `${verb} ${result.requests} of ${result.planned} requests, run ${run}`;
}

/** Describes the results of the engines for a case. */
export function describeResults(results: readonly EngineResult[]): string {
  return results
    .map(({ engine, status, exact, editSimilarity, passed }) => {
      const similar = status === "ok" ? `${editSimilarity.toFixed(0)} % similar` : status;
      const tests = passed === undefined ? "" : `, tests ${passed ? "passed" : "failed"}`;
      return `${engine} ${exact ? "exact" : similar}${tests}`;
    })
    .join(" | ");
}

/** Describes the counts of a trial's day. */
export function describeToday({ today }: TrialState): string {
  if (today === undefined) {
    return "nothing is recorded yet";
  }
  const { opportunities, truths, shown, accepted } = today;
  return `today: opportunities: ${opportunities}, right answer known: ${truths}, shown: ${shown}, accepted: ${accepted}`;
}

/** Returns the case whose truth includes a line; of several, the one that begins last. */
export function caseAt(cases: readonly CaseSummary[], line: number): CaseSummary | undefined {
  let found: CaseSummary | undefined;
  for (const candidate of cases) {
    const range = candidate.range;
    const isHere = range !== undefined && range.start.line <= line && line <= range.end.line;
    if (isHere && (found?.range?.start.line ?? 0) <= range.start.line) {
      found = candidate;
    }
  }
  return found;
}
