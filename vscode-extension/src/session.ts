// Finds, starts, restarts and stops the server of this window, and owns its client. There is at most one at a time.

import { type Disposable, type ExtensionContext, type LogOutputChannel, workspace } from "vscode";
import {
  type ErrorHandler,
  type LanguageClientOptions,
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
} from "vscode-languageclient/node";

import { CrashPolicy, MOST_CRASHES } from "./crash_policy.ts";
import type { Keys } from "./keys.ts";
import { documentSelector, middleware } from "./middleware.ts";
import { type Status, didChangeStatus, didChangeTrial, status } from "./protocol.ts";
import { NoServer, findServer } from "./server.ts";
import { offerAnotherServer, offerRestart } from "./server_offer.ts";
import { ServerProcess } from "./server_process.ts";
import { isCompatible } from "./server_version.ts";
import type { StatusBar } from "./status.ts";
import type { SuggestionReports } from "./suggestion_reports.ts";
import type { TrialStatus } from "./trial_status.ts";

/** Section of the settings. */
const SECTION = "ghostbench";

/** Errors of the connection after which it is given up; further ones would not be answered either. */
const MOST_CONNECTION_ERRORS = 3;

export class Session implements Disposable {
  private client: LanguageClient | undefined;
  private process: ServerProcess | undefined;
  private program: string | undefined;
  private crashes = new CrashPolicy();
  /** The latest start or stop; the next one waits for it. */
  private latest: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: ExtensionContext,
    private readonly bar: StatusBar,
    private readonly trial: TrialStatus,
    private readonly reports: SuggestionReports,
    private readonly keys: Keys,
    private readonly casesChanged: () => void,
    readonly log: LogOutputChannel,
  ) {}

  /** Restarts the server with the current settings. Earlier crashes do not count any more. */
  restart(): Promise<void> {
    this.crashes = new CrashPolicy();
    return this.startAgain();
  }

  private startAgain(): Promise<void> {
    this.latest = this.latest.then(async () => {
      await this.stopClient();
      await this.startClient();
    });
    return this.latest;
  }

  /** Stops the server. */
  stop(): Promise<void> {
    this.latest = this.latest.then(() => this.stopClient());
    return this.latest;
  }

  /** Returns the client of a running server, after a pending start or stop; shows an error if there is none. */
  async running(): Promise<LanguageClient | undefined> {
    await this.latest;
    const client = this.current();
    if (client === undefined) {
      void offerRestart("the server is not running; the log has the reason", this.log, () => this.restart());
    }
    return client;
  }

  /** Returns the client if its server runs now. */
  current(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  /** Returns the program of the server; throws `NoServer`. */
  async findProgram(): Promise<string> {
    return this.program ?? (await this.find());
  }

  /** Shows the present engine in the status bar. */
  async refreshStatus(): Promise<void> {
    const client = this.current();
    const found = await client?.sendRequest(status, {}).catch(() => undefined);
    const first = found?.engines[0]?.name;
    this.bar.setEngine(this.trial.isBlind ? undefined : (this.trial.shownArm ?? first), this.trial.isBlind);
  }

  dispose(): void {
    void this.stop();
  }

  private async stopClient(): Promise<void> {
    const { client, process } = this;
    this.client = undefined;
    this.process = undefined;
    await client
      ?.dispose()
      .catch((error: unknown) => this.log.warn(`the server did not stop cleanly: ${String(error)}`));
    await process?.end();
    this.trial.clear();
    this.bar.setPhase("stopped");
  }

  private async startClient(): Promise<void> {
    this.bar.setPhase("starting");
    try {
      this.program = undefined;
      this.program = await this.find();
      const settings = workspace.getConfiguration(SECTION);
      const args = ["lsp", "--stdio", ...settings.get<string[]>("server.arguments", [])];
      this.log.info(`starting ${[this.program, ...args].join(" ")}`);
      const process = new ServerProcess(this.program, args, await this.keys.variables());
      this.process = process;
      await this.connect(
        new LanguageClient(SECTION, "Ghostbench", () => process.start(), this.options(process)),
      );
    } catch (error) {
      this.client = undefined;
      const message = error instanceof Error ? error.message : String(error);
      this.bar.setPhase("stopped", message);
      this.log.error(message);
      if (error instanceof NoServer) {
        void offerAnotherServer(message, this.log);
      }
    }
  }

  private find(): Promise<string> {
    return findServer({
      chosen: workspace.getConfiguration(SECTION).get<string | null>("server.path", null),
      extension: this.context.extensionPath,
      trustedFolders: workspace.isTrusted ? folders() : [],
      base: folders()[0],
    });
  }

  private async connect(client: LanguageClient): Promise<void> {
    this.client = client;
    client.onNotification(didChangeTrial, (state) => {
      this.trial.set(state);
      void this.refreshStatus();
    });
    client.onNotification(didChangeStatus, (work) => this.bar.setWork(work));
    client.onDidChangeState(({ newState }) => {
      // A client that runs has no providers yet: the bar says so once its start is over.
      if (newState === State.Stopped) {
        this.trial.clear();
        this.bar.setPhase("stopped", "the server has ended");
      }
    });
    await client.start();
    const { version, logFile }: Status = await client.sendRequest(status, {});
    this.bar.setPhase("running", `Ghostbench ${version}`);
    void this.refreshStatus();
    this.log.info(`version ${version}${logFile === undefined ? "" : `, with its own log file: ${logFile}`}`);
    this.checkVersion(version);
    this.casesChanged();
  }

  private checkVersion(version: string): void {
    const { version: ours } = this.context.extension.packageJSON as { version: string };
    if (!isCompatible(version, ours)) {
      const program = this.program ?? "the server";
      void offerAnotherServer(
        `${program} is version ${version}, and this extension is version ${ours}: some commands may fail. ` +
          "Install both of one release.",
        this.log,
      );
    }
  }

  private options(process: ServerProcess): LanguageClientOptions {
    return {
      documentSelector: documentSelector(this.context),
      outputChannel: this.log,
      synchronize: { configurationSection: SECTION },
      // Requests that VS Code repeats by itself fail while the server is down: the log is enough.
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      errorHandler: this.errorHandler(process),
      middleware: middleware({
        bar: this.bar,
        reports: this.reports,
        reportingClient: () => (this.trial.isRunning ? this.client : undefined),
        casesChanged: this.casesChanged,
        settingsSent: () => void this.refreshStatus(),
      }),
    };
  }

  /**
   * Starts a server that crashed again, with a new client, until it has crashed too often; then says why, with one click to the log.
   */
  private errorHandler(process: ServerProcess): ErrorHandler {
    return {
      error: (_error, _message, count) => ({
        action: (count ?? 0) <= MOST_CONNECTION_ERRORS ? ErrorAction.Continue : ErrorAction.Shutdown,
        handled: true,
      }),
      closed: async () => {
        const reason = await process.reasonOfEnd();
        if (this.crashes.mayRestart(Date.now())) {
          // The client has to end first. Meanwhile the user may have started another server.
          setImmediate(() => {
            if (this.process === process) {
              void this.startAgain();
            }
          });
          const message = `the server has ended (${reason}); it is started again`;
          return { action: CloseAction.DoNotRestart, message, handled: true };
        }
        const message = `the server crashed ${MOST_CRASHES} times and was stopped; the last time: ${reason}`;
        setImmediate(() => this.bar.setPhase("stopped", message));
        void offerRestart(message, this.log, () => this.restart());
        return { action: CloseAction.DoNotRestart, message, handled: true };
      },
    };
  }
}

/** Returns the folders of the workspace that are on a disk. */
export function folders(): string[] {
  const all = workspace.workspaceFolders ?? [];
  return all.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
}
