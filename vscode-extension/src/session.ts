// The server of this window and our client of it: found, started, restarted, stopped. One at a time.

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

import { type Status, didChangeStatus, status } from "./protocol.ts";
import { NoServer, findServer } from "./server.ts";
import type { StatusBar } from "./status.ts";

/** Section of the settings. */
const SECTION = "ghostbench";

/** Settings that are ours: the server does not know them and would say so. */
const OWN_SETTINGS = new Set(["server", "trace"]);

/** Before each name of a language in `activationEvents`. */
const ON_LANGUAGE = "onLanguage:";

export class Session implements Disposable {
  private client: LanguageClient | undefined;
  /** What was asked for last; the next change waits for it. */
  private latest: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: ExtensionContext,
    private readonly bar: StatusBar,
    readonly log: LogOutputChannel,
  ) {}

  /** Starts the server anew, as the settings are now. */
  restart(): Promise<void> {
    this.latest = this.latest.then(async () => {
      await this.stopClient();
      await this.startClient();
    });
    return this.latest;
  }

  /** Ends the server. */
  stop(): Promise<void> {
    this.latest = this.latest.then(() => this.stopClient());
    return this.latest;
  }

  /** The client of a server that runs, after what is under way; otherwise it is said that there is none. */
  async running(): Promise<LanguageClient | undefined> {
    await this.latest;
    if (this.client?.state === State.Running) {
      return this.client;
    }
    this.complain("the server does not run; restart it, the log may say why");
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
      .catch((error: unknown) => this.log.warn(`the server did not end well: ${String(error)}`));
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
      // Of any other failure the client has told already.
      if (error instanceof NoServer) {
        this.complain(message);
      }
    }
  }

  private async connect(client: LanguageClient): Promise<void> {
    this.client = client;
    client.onNotification(didChangeStatus, (work) => this.bar.setWork(work));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Starting) {
        this.bar.setPhase("starting");
      } else if (newState === State.Running) {
        this.bar.setPhase("running");
      } else {
        this.bar.setPhase("stopped", "the server has ended");
      }
    });
    await client.start();
    const { version, logFile }: Status = await client.sendRequest(status, {});
    this.bar.setPhase("running", `Ghostbench ${version}`);
    this.log.info(
      `version ${version}${logFile === undefined ? "" : `, which keeps a log of its own: ${logFile}`}`,
    );
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: this.languages().map((language) => ({ scheme: "file", language })),
      outputChannel: this.log,
      synchronize: { configurationSection: SECTION },
      middleware: this.middleware(),
    };
  }

  /** The languages that the extension is started for are those that it serves. */
  private languages(): string[] {
    const manifest = this.context.extension.packageJSON as { activationEvents: string[] };
    const events = manifest.activationEvents.filter((event) => event.startsWith(ON_LANGUAGE));
    return events.map((event) => event.slice(ON_LANGUAGE.length));
  }

  private middleware(): Middleware {
    return {
      provideInlineCompletionItems: (document, position, context, token, next) => {
        const answer = Promise.resolve(next(document, position, context, token));
        return this.bar.countQuestion(answer);
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

/** The folders of the workspace that lie on a disk. */
function folders(): string[] {
  const all = workspace.workspaceFolders ?? [];
  return all.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
}

/** What of the section the server knows, and whether the user trusts the workspace: then its engines may be asked. */
function settingsOfServer(section: unknown): unknown {
  const settings = Object.entries(section ?? {}).filter(([name]) => !OWN_SETTINGS.has(name));
  return { ...Object.fromEntries(settings), trusted: workspace.isTrusted };
}
