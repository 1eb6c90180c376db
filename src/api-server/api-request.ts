/** The two ways of asking the API server, as function types, and the errors of an answer that cannot be used. */

export type ApiQuestion = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  /** JSON; with PATCH a list of RFC 6902 operations. */
  readonly body?: string;
  readonly limitMs: number;
  /** Largest answer that is read; without it the runner's own limit. */
  readonly limitBytes?: number;
  /** Ends the wait for the answer. */
  readonly signal?: AbortSignal;
};

export type ApiAnswer = {
  readonly status: number;
  readonly text: string;
  /** Only where a refusal says when to come back. */
  readonly retryAfterMs?: number;
};

/** Rejects when no whole answer came within the limits, with AnswerTooLarge for its size; a refusal is an answer. */
export type AskApi = (question: ApiQuestion) => Promise<ApiAnswer>;

type ApiStream = {
  readonly path: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** The server has accepted; nothing needs to follow. */
  readonly onOpen: () => void;
  /** The stream ends when it throws. */
  readonly onChunk: (chunk: Buffer) => void;
};

/**
 * Resolves when the answer has ended, or after the limit.
 *
 * @throws ApiRefusal when the status is not 200; Error when the connection broke or `onChunk` threw
 */
export type StreamApi = (stream: ApiStream) => Promise<void>;

export class AnswerTooLarge extends Error {
  constructor(limitBytes: number) {
    super(`the answer is larger than ${limitBytes} bytes`);
    this.name = "AnswerTooLarge";
  }
}

export class ApiRefusal extends Error {
  readonly status: number;
  /** How long the server asked to be left alone; 0 when it did not say. */
  readonly retryAfterMs: number;
  constructor(status: number, path: string, retryAfterMs = 0) {
    super(`the API server answers ${status} to ${path.split("?", 1)[0]}`);
    this.name = "ApiRefusal";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
