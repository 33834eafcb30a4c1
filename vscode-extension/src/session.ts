// Finds, starts, restarts and stops the server of this window, and owns its client. There is at most one at a time.

import {
  type Disposable,
  type ExtensionContext,
  type LogOutputChannel,
  commands,
  window,
  workspace,
} from "vscode";
import {
  type LanguageClientOptions,
  type Middleware,
  LanguageClient,
  State,
} from "vscode-languageclient/node";

import { type Status, didChangeStatus, didChangeTrial, status } from "./protocol.ts";
import { NoServer, findServer } from "./server.ts";
import type { StatusBar } from "./status.ts";
import type { SuggestionReports } from "./suggestion_reports.ts";
import type { TrialStatus } from "./trial_status.ts";

/** Section of the settings. */
const SECTION = "ghostbench";

/** Settings of the extension: the server would report them as unknown. */
const OWN_SETTINGS = new Set(["server", "trace"]);

/** Prefix of the languages in `activationEvents`. */
const ON_LANGUAGE = "onLanguage:";

export class Session implements Disposable {
  private client: LanguageClient | undefined;
  /** The latest start or stop; the next one waits for it. */
  private latest: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: ExtensionContext,
    private readonly bar: StatusBar,
    private readonly trial: TrialStatus,
    private readonly reports: SuggestionReports,
    readonly log: LogOutputChannel,
  ) {}

  /** Restarts the server with the current settings. */
  restart(): Promise<void> {
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
    if (this.client?.state === State.Running) {
      return this.client;
    }
    this.complain("the server is not running; restart it, or see the log for the reason");
    return undefined;
  }

  dispose(): void {
    void this.stop();
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client
      ?.dispose()
      .catch((error: unknown) => this.log.warn(`the server did not stop cleanly: ${String(error)}`));
    this.trial.clear();
    this.bar.setPhase("stopped");
  }

  private async startClient(): Promise<void> {
    const settings = workspace.getConfiguration(SECTION);
    this.bar.setPhase("starting");
    try {
      const command = await findServer({
        chosen: settings.get<string | null>("server.path", null),
        extension: this.context.extensionPath,
        trustedFolders: workspace.isTrusted ? folders() : [],
        base: folders()[0],
      });
      const args = ["lsp", "--stdio", ...settings.get<string[]>("server.arguments", [])];
      this.log.info(`starting ${[command, ...args].join(" ")}`);
      await this.connect(new LanguageClient(SECTION, "Ghostbench", { command, args }, this.options()));
    } catch (error) {
      this.client = undefined;
      const message = error instanceof Error ? error.message : String(error);
      this.bar.setPhase("stopped", message);
      this.log.error(message);
      // The client has already reported any other failure.
      if (error instanceof NoServer) {
        this.complain(message);
      }
    }
  }

  private async connect(client: LanguageClient): Promise<void> {
    this.client = client;
    client.onNotification(didChangeTrial, (state) => this.trial.set(state));
    client.onNotification(didChangeStatus, (work) => this.bar.setWork(work));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Starting) {
        this.bar.setPhase("starting");
      } else if (newState === State.Running) {
        this.bar.setPhase("running");
      } else {
        this.trial.clear();
        this.bar.setPhase("stopped", "the server has ended");
      }
    });
    await client.start();
    const { version, logFile }: Status = await client.sendRequest(status, {});
    this.bar.setPhase("running", `Ghostbench ${version}`);
    this.log.info(`version ${version}${logFile === undefined ? "" : `, with its own log file: ${logFile}`}`);
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: this.languages().map((language) => ({ scheme: "file", language })),
      outputChannel: this.log,
      synchronize: { configurationSection: SECTION },
      middleware: this.middleware(),
    };
  }

  /** Returns the languages of the document selector: those that activate the extension. */
  private languages(): string[] {
    const manifest = this.context.extension.packageJSON as { activationEvents: string[] };
    const events = manifest.activationEvents.filter((event) => event.startsWith(ON_LANGUAGE));
    return events.map((event) => event.slice(ON_LANGUAGE.length));
  }

  private middleware(): Middleware {
    return {
      provideInlineCompletionItems: async (document, position, context, token, next) => {
        const asked = Promise.resolve(next(document, position, context, token));
        const answer = await this.bar.countQuestion(asked);
        this.reports.noteAnswer(document, answer);
        return answer;
      },
      didChange: (event, next) => {
        // The report follows its change at once, before any other change.
        const sent = next(event);
        if (this.client && this.trial.isRunning) {
          this.reports.identifyChange(this.client, event);
        }
        return sent;
      },
      workspace: {
        configuration: async (params, token, next) => {
          const values = await next(params, token);
          return Array.isArray(values) ? values.map(settingsOfServer) : values;
        },
      },
    };
  }

  private complain(message: string): void {
    const choices = ["Open Settings", "Show Log", "Restart"] as const;
    void window.showErrorMessage(`Ghostbench: ${message}`, ...choices).then((choice) => {
      if (choice === "Open Settings") {
        void commands.executeCommand("workbench.action.openSettings", "ghostbench.server");
      } else if (choice === "Show Log") {
        this.log.show();
      } else if (choice === "Restart") {
        void this.restart();
      }
    });
  }
}

/** Returns the folders of the workspace that are on a disk. */
function folders(): string[] {
  const all = workspace.workspaceFolders ?? [];
  return all.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
}

/** Returns the settings for the server, and whether the user trusts the workspace, which allows its engines. */
function settingsOfServer(section: unknown): unknown {
  const settings = Object.entries(section ?? {}).filter(([name]) => !OWN_SETTINGS.has(name));
  return { ...Object.fromEntries(settings), trusted: workspace.isTrusted };
}
