// Messages about what was sent, recorded and answered, as in docs/protocol.md; `server/lsp/src/ext/inspection.rs` and `pages.rs` have
// the same types. Only the fields that this client reads.

import { type Position, type TextDocumentIdentifier, RequestType, RequestType0 } from "vscode-languageclient";

import type { CaseSummary, CasesParams, EngineResult } from "./protocol.ts";

/** Code from elsewhere in a request. */
export interface SentContext {
  path: string;
  startLine?: number;
  endLine?: number;
  strategy: string;
  text: string;
}

/** A request to an engine. */
export interface SentRequest {
  sentAt: string;
  engine?: string;
  status: string;
  reason?: string;
  ms: number;
  context: SentContext[];
  prompt?: string;
  answer?: string;
  cut: boolean;
}

/** The last request for ghost text of a document. */
export interface LastRequest {
  answeredAt: string;
  position: Position;
  trigger: string;
  engine?: string;
  /** Whether a trial hides the engine. */
  blind: boolean;
  status: string;
  reason?: string;
  ms: number;
  items: string[];
  sent?: SentRequest;
}

/** An answer with its text. */
export interface Answer extends EngineResult {
  reason?: string;
  ms: number;
  text?: string;
}

/** The truth of a case and the answers to it. */
export interface Answers {
  case: CaseSummary;
  title: string;
  before: string;
  truth: string;
  after: string;
  answers: Answer[];
}

export type PageKind = "trial" | "replay";

export const lastRequest = new RequestType<
  { textDocument: TextDocumentIdentifier },
  LastRequest | null,
  void
>("ghostbench/lastRequest");
export const pauseRecording = new RequestType<{ minutes?: number }, { until: string }, void>(
  "ghostbench/pauseRecording",
);
export const resumeRecording = new RequestType0<null, void>("ghostbench/resumeRecording");
export const forget = new RequestType<{ minutes: number }, { forgotten: number }, void>("ghostbench/forget");
export const answers = new RequestType<{ case: string }, Answers, void>("ghostbench/answers");
export const page = new RequestType<CasesParams & { kind: PageKind }, { title: string; html: string }, void>(
  "ghostbench/page",
);
