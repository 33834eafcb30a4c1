// What the client does between VS Code and the server: times of requests, reports for trials, the settings of the server.

import { type ExtensionContext, workspace } from "vscode";
import type { DocumentSelector, LanguageClient, Middleware } from "vscode-languageclient/node";

import type { StatusBar } from "./status.ts";
import type { SuggestionReports } from "./suggestion_reports.ts";

/** Settings of the extension: the server would report them as unknown. */
const OWN_SETTINGS = new Set(["server", "trace"]);

/** Prefix of the languages in `activationEvents`. */
const ON_LANGUAGE = "onLanguage:";

/** Commands of the server that change cases or their results. */
const CASE_COMMANDS = new Set(["ghostbench.replay", "ghostbench.recordCase"]);

/** Observers of the messages. */
export interface Observers {
  bar: StatusBar;
  reports: SuggestionReports;
  /** The client, if a trial wants reports of changes. */
  reportingClient(): LanguageClient | undefined;
  casesChanged(): void;
  settingsSent(): void;
}

/** Returns the documents that the server gets: files in the languages that activate the extension. */
export function documentSelector(context: ExtensionContext): DocumentSelector {
  const manifest = context.extension.packageJSON as { activationEvents: string[] };
  const events = manifest.activationEvents.filter((event) => event.startsWith(ON_LANGUAGE));
  return events.map((event) => ({ scheme: "file", language: event.slice(ON_LANGUAGE.length) }));
}

export function middleware(observers: Observers): Middleware {
  const { bar, reports } = observers;
  return {
    provideInlineCompletionItems: async (document, position, context, token, next) => {
      const asked = Promise.resolve(next(document, position, context, token));
      const answer = await bar.countQuestion(asked);
      reports.noteAnswer(document, answer);
      return answer;
    },
    executeCommand: async (command, args, next) => {
      const result: unknown = await next(command, args);
      if (CASE_COMMANDS.has(command)) {
        observers.casesChanged();
      }
      return result;
    },
    didChange: (event, next) => {
      // The report follows its change at once, before any other change.
      const sent = next(event);
      const client = observers.reportingClient();
      if (client !== undefined) {
        reports.identifyChange(client, event);
      }
      return sent;
    },
    workspace: {
      // Without settings: the server requests them. The client would send those of the extension too.
      didChangeConfiguration: (_sections, next) => next(undefined),
      configuration: async (params, token, next) => {
        const values = await next(params, token);
        // The server has the settings before the next message.
        setImmediate(observers.settingsSent);
        return Array.isArray(values) ? values.map(settingsOfServer) : values;
      },
    },
  };
}

/** Returns the settings for the server, and whether the user trusts the workspace, which allows its engines. */
function settingsOfServer(section: unknown): unknown {
  const settings = Object.entries(section ?? {}).filter(([name]) => !OWN_SETTINGS.has(name));
  return { ...Object.fromEntries(settings), trusted: workspace.isTrusted };
}
