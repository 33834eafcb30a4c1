// Ghostbench's own messages, as in docs/protocol.md; `server/lsp/src/ext.rs` has the same types. Only types, and only
// the fields that this client reads.

import {
  type Command,
  type Position,
  type Range,
  type TextDocumentIdentifier,
  NotificationType,
  RequestType,
} from "vscode-languageclient";

/** Result of one engine for one case. */
export interface EngineResult {
  engine: string;
  status: string;
  exact: boolean;
  /** From 0 to 100. */
  editSimilarity: number;
  /** Whether the unit tests of the case pass; unset if none judged the answer. */
  passed?: boolean;
}

/** A case without its texts. */
export interface CaseSummary {
  id: string;
  scenario: string;
  variant?: string;
  blockKind?: string;
  uri: string;
  path: string;
  line: number;
  results: EngineResult[];
  /** Current range of its truth; absent if that was deleted. */
  range?: Range;
}

export interface RecordCaseParams {
  textDocument: TextDocumentIdentifier;
  position: Position;
}

export interface RecordCaseResult {
  case: CaseSummary;
  /** False if this case was recorded before. */
  added: boolean;
}

export interface CasesParams {
  textDocument?: TextDocumentIdentifier;
}

export interface CasesResult {
  cases: CaseSummary[];
}

export interface CaseResult {
  case: { tags?: { cut?: string } };
}

/** Target of a replay. */
export type Target = "case" | "file" | "suite";

export interface ReplayParams {
  target: Target;
  case?: string;
  textDocument?: TextDocumentIdentifier;
  /** URI of an open suite. */
  suite?: string;
}

export interface ReplayResult {
  /** The run's folder. */
  run: string;
  requests: number;
  planned: number;
  cancelled: boolean;
  cases: CaseSummary[];
}

export interface SuiteParams extends CasesParams {
  /** URI of the suite's file. */
  suite: string;
  /** Number of the first case to list. */
  from?: number;
}

export interface SuiteResult {
  total: number;
  /** Lines without a valid case. */
  problems: number;
  cases: CaseSummary[];
}

/** A case of an open suite; the server provides the texts of its documents. */
export interface SuiteCase {
  number: number;
  total: number;
  uri: string;
  hole: Range;
  answersUri: string;
  case: CaseSummary;
}

export interface ScoreboardResult {
  /** The comparison in columns. */
  text: string;
}

export interface ScoreboardParams extends CasesParams {
  /** Compares the arms of a trial instead of the engines on recorded cases. */
  trial?: boolean;
}

/** An engine; one with a reason is not used. */
export interface EngineStatus {
  name: string;
  kind: string;
  model: string;
  roles?: string[];
  /** Its usual milliseconds. */
  latency?: number;
  reason?: string;
  fault?: string;
}

export interface Status {
  version: string;
  engines: EngineStatus[];
  logFile?: string;
}

/** State of the live trial of a folder. */
export interface TrialState {
  folder: string;
  state: "off" | "running" | "paused";
  /** Names of the engines, the one that writes first; absent if the user must not know them. */
  arms?: string[];
  /** When recording resumes, if the user paused it. */
  pausedUntil?: string;
  /** Counts of this day; only in the result of the request. */
  today?: { opportunities: number; truths: number; shown: number; accepted: number };
  /** The state in words. */
  message: string;
}

/** The experiment of a trial. */
export type TrialMode = "single" | "shadow" | "assign" | "duel";

export interface StartTrialParams extends CasesParams {
  mode: TrialMode;
  arms: string[];
  name?: string;
  /** The disclosures that the user has confirmed. */
  confirmed?: string[];
}

export interface StartTrialResult {
  /** False if the disclosures have to be confirmed first. */
  started: boolean;
  name: string;
  disclosures: string[];
  note?: string;
}

export interface StopTrialResult {
  name: string;
  /** The arms whose names were hidden. */
  revealed: { name: string; shownAs: string }[];
}

/** The part of a suggestion that identifies it. */
export interface ShownItem {
  command: Command;
}

export interface DidPartiallyAcceptParams {
  item: ShownItem;
  /** UTF-16 units from the start of the item's text. */
  acceptedLength: number;
}

export interface DidDismissParams {
  textDocument: TextDocumentIdentifier;
  item?: ShownItem;
  reason: "rejected" | "ignored";
}

export interface DidIdentifyChangeParams {
  textDocument: TextDocumentIdentifier;
  provenance: "pasted" | "undo" | "other_provider";
}

export interface DidChangeStatusParams {
  busy: boolean;
  kind: "normal" | "warning" | "error" | "inactive";
  message: string;
}

export const recordCase = new RequestType<RecordCaseParams, RecordCaseResult, void>("ghostbench/recordCase");
export const cases = new RequestType<CasesParams, CasesResult, void>("ghostbench/cases");
export const oneCase = new RequestType<{ id: string }, CaseResult, void>("ghostbench/case");
export const replay = new RequestType<ReplayParams, ReplayResult, void>("ghostbench/replay");
export const suite = new RequestType<SuiteParams, SuiteResult, void>("ghostbench/suite");
export const suiteCase = new RequestType<{ suite: string; number: number }, SuiteCase, void>(
  "ghostbench/suiteCase",
);
export const scoreboard = new RequestType<ScoreboardParams, ScoreboardResult, void>("ghostbench/scoreboard");
export const status = new RequestType<Record<string, never>, Status, void>("ghostbench/status");
export const didChangeStatus = new NotificationType<DidChangeStatusParams>("ghostbench/didChangeStatus");
export const trial = new RequestType<CasesParams, TrialState, void>("ghostbench/trial");
export const startTrial = new RequestType<StartTrialParams, StartTrialResult, void>("ghostbench/startTrial");
export const stopTrial = new RequestType<CasesParams, StopTrialResult, void>("ghostbench/stopTrial");
export const didChangeTrial = new NotificationType<TrialState>("ghostbench/didChangeTrial");
export const didPartiallyAccept = new NotificationType<DidPartiallyAcceptParams>(
  "textDocument/didPartiallyAcceptCompletion",
);
export const didDismiss = new NotificationType<DidDismissParams>("ghostbench/didDismissCompletion");
export const didIdentifyChange = new NotificationType<DidIdentifyChangeParams>(
  "ghostbench/didIdentifyChange",
);
