// The cases in the Testing view: a suite has cases, a case has the engines that are replayed. Running a case replays it; an engine
// passes if its answer is exact or passes the unit tests of the case, and otherwise shows the difference to the right answer.

import {
  type CancellationToken,
  type Disposable,
  type TestItem,
  type TestRun,
  Location,
  Range,
  TestMessage,
  TestRunProfileKind,
  TestRunRequest,
  Uri,
  tests,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { type Answer, answers } from "./inspection_protocol.ts";
import { type CaseSummary, type ReplayParams, cases, replay, status, suite } from "./protocol.ts";
import { describeResults } from "./wording.ts";

/** Beginning of the identifiers of suites; the rest is the URI of the file, or empty for the recorded cases. */
const SUITE = "suite:";

/** Cases of a suite that are listed: the view is slow with more. The commands of suites show the others. */
const MOST_CASES = 1_000;

export class TestExplorer implements Disposable {
  private readonly controller = tests.createTestController("ghostbench", "Ghostbench");
  /** Whether the view was opened, so that the lists are worth asking for. */
  private isOpened = false;
  private listing: Promise<void> = Promise.resolve();

  constructor(
    private readonly current: () => LanguageClient | undefined,
    private readonly openedSuites: () => readonly string[],
  ) {
    this.controller.resolveHandler = async (item) => {
      if (item === undefined) {
        this.isOpened = true;
        await this.refresh();
      }
    };
    this.controller.refreshHandler = () => this.refresh();
    this.controller.createRunProfile(
      "Replay",
      TestRunProfileKind.Run,
      (request, token) => this.run(request, token),
      true,
    );
  }

  /** Lists the cases again, if the view was opened. */
  refresh(): Promise<void> {
    this.listing = this.listing.then(() => this.list()).catch(() => undefined);
    return this.listing;
  }

  dispose(): void {
    this.controller.dispose();
  }

  private async list(): Promise<void> {
    const client = this.current();
    if (client === undefined || !this.isOpened) {
      return;
    }
    const { engines } = await client.sendRequest(status, {});
    const names = engines.filter(({ roles }) => roles?.includes("replay")).map(({ name }) => name);
    const recorded = await client.sendRequest(cases, {});
    const roots = [this.suiteItem("", "Recorded cases", recorded.cases, names)];
    for (const file of this.openedSuites()) {
      const opened = await client.sendRequest(suite, { suite: file }).catch(() => undefined);
      const label = decodeURIComponent(file.split("/").at(-1) ?? file);
      roots.push(this.suiteItem(file, label, opened?.cases ?? [], names));
    }
    this.controller.items.replace(roots.filter((root) => root.children.size > 0));
  }

  private suiteItem(file: string, label: string, all: readonly CaseSummary[], engines: string[]): TestItem {
    const item = this.controller.createTestItem(SUITE + file, label);
    item.children.replace(
      all.slice(0, MOST_CASES).map((summary, index) => this.caseItem(summary, index, engines)),
    );
    return item;
  }

  private caseItem(summary: CaseSummary, index: number, engines: string[]): TestItem {
    const { id, path, scenario, line, range } = summary;
    const uri = Uri.parse(summary.uri);
    const item = this.controller.createTestItem(id, `${path}:${(range?.start.line ?? line) + 1}`, uri);
    const start = range?.start.line ?? line;
    item.description = summary.variant === undefined ? scenario : `${scenario}/${summary.variant}`;
    item.range = new Range(
      start,
      range?.start.character ?? 0,
      range?.end.line ?? start,
      range?.end.character ?? 0,
    );
    item.sortText = String(index).padStart(6, "0");
    const known = new Set([...engines, ...summary.results.map(({ engine }) => engine)]);
    for (const engine of known) {
      const child = this.controller.createTestItem(`${id} ${engine}`, engine, uri);
      child.range = item.range;
      const result = summary.results.find((other) => other.engine === engine);
      child.description =
        result === undefined ? "not replayed yet" : describeResults([result]).slice(engine.length + 1);
      item.children.add(child);
    }
    return item;
  }

  private async run(request: TestRunRequest, token: CancellationToken): Promise<void> {
    const client = this.current();
    const run = this.controller.createTestRun(request);
    try {
      if (client !== undefined) {
        for (const item of this.chosen(request)) {
          if (!token.isCancellationRequested) {
            await replayItem(client, run, item, token);
          }
        }
      }
    } catch (error) {
      if (!token.isCancellationRequested) {
        run.appendOutput(`${error instanceof Error ? error.message : String(error)}\r\n`);
      }
    } finally {
      run.end();
    }
    await this.refresh();
  }

  /** The suites and cases of a request; an engine stands for its case. */
  private chosen(request: TestRunRequest): TestItem[] {
    const named = request.include ?? Array.from(this.controller.items, ([, item]) => item);
    const chosen = named.map((item) => (isEngine(item) ? item.parent : item));
    const all = new Set(chosen.filter((item) => item !== undefined));
    return [...all].filter((item) => item.parent === undefined || !all.has(item.parent));
  }
}

function isEngine(item: TestItem): boolean {
  return item.parent?.parent !== undefined;
}

async function replayItem(
  client: LanguageClient,
  run: TestRun,
  item: TestItem,
  token: CancellationToken,
): Promise<void> {
  const isSuite = item.id.startsWith(SUITE);
  const replayed = isSuite ? Array.from(item.children, ([, child]) => child) : [item];
  replayed.forEach((one) => one.children.forEach((engine) => run.started(engine)));
  const file = item.id.slice(SUITE.length);
  const target: ReplayParams = isSuite
    ? { target: "suite", ...(file === "" ? {} : { suite: file }) }
    : { target: "case", case: item.id };
  await client.sendRequest(replay, target, token);
  for (const one of replayed) {
    await report(client, run, one);
  }
}

async function report(client: LanguageClient, run: TestRun, item: TestItem): Promise<void> {
  const found = await client.sendRequest(answers, { case: item.id });
  const whole = (text: string): string => found.before + text + found.after;
  for (const answer of found.answers) {
    const child = item.children.get(`${item.id} ${answer.engine}`);
    if (child === undefined) {
      continue;
    }
    run.appendOutput(
      `${item.label} ${describeResults([answer])}, ${answer.ms.toFixed(1)} ms\r\n`,
      undefined,
      child,
    );
    if (answer.exact || answer.passed === true) {
      run.passed(child, answer.ms);
    } else {
      run.failed(child, difference(answer, item, whole(found.truth), whole(answer.text ?? "")), answer.ms);
    }
  }
}

function difference(answer: Answer, item: TestItem, expected: string, actual: string): TestMessage {
  const reason = answer.reason === undefined ? "" : `: ${answer.reason}`;
  const message = TestMessage.diff(`${describeResults([answer])}${reason}`, expected, actual);
  if (item.uri !== undefined && item.range !== undefined) {
    message.location = new Location(item.uri, item.range);
  }
  return message;
}
