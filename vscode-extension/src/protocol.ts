// Ghostbench's own messages, as in docs/protocol.md; `server/lsp/src/ext.rs` has the same types. Only types, and only
// the fields that this client reads.

import {
  type Position,
  type Range,
  type TextDocumentIdentifier,
  NotificationType,
  RequestType,
} from "vscode-languageclient";

/** A case without its texts. */
export interface CaseSummary {
  id: string;
  variant?: string;
  blockKind?: string;
  line: number;
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
}

export interface ReplayResult {
  /** The run's folder. */
  run: string;
  requests: number;
  planned: number;
  cancelled: boolean;
}

export interface ScoreboardResult {
  /** The comparison in columns. */
  text: string;
}

export interface Status {
  version: string;
  logFile?: string;
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
export const scoreboard = new RequestType<CasesParams, ScoreboardResult, void>("ghostbench/scoreboard");
export const status = new RequestType<Record<string, never>, Status, void>("ghostbench/status");
export const didChangeStatus = new NotificationType<DidChangeStatusParams>("ghostbench/didChangeStatus");
