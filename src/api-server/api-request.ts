/** Function types for requests and streams to the API server, and the errors they reject with. */

export type ApiRequest = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: string;
  readonly limitMs: number;
  /** Maximum size of the response body; default: the client's own limit. */
  readonly limitBytes?: number;
  readonly signal?: AbortSignal;
};

export type ApiResponse = {
  readonly status: number;
  readonly text: string;
  /** Set when the response has a usable `Retry-After`. */
  readonly retryAfterMs?: number;
};

/**
 * Resolves with any complete response, including one with an error status.
 *
 * @throws ResponseTooLarge if the body exceeds the size limit; Error if no complete response was received within `limitMs`
 */
export type SendRequest = (request: ApiRequest) => Promise<ApiResponse>;

type StreamRequest = {
  readonly path: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Called after a response with status 200, even if no chunk follows. */
  readonly onOpen: () => void;
  readonly onChunk: (chunk: Buffer) => void;
};

/**
 * Resolves when the response has ended, or after `limitMs`.
 *
 * @throws ApiStatusError if the status is not 200; Error if the connection broke or `onChunk` threw
 */
export type OpenStream = (stream: StreamRequest) => Promise<void>;

export class ResponseTooLarge extends Error {
  constructor(limitBytes: number) {
    super(`the response is larger than ${limitBytes} bytes`);
    this.name = "ResponseTooLarge";
  }
}

export class ApiStatusError extends Error {
  readonly status: number;
  /** From `Retry-After`; 0 without that header. */
  readonly retryAfterMs: number;
  constructor(status: number, path: string, retryAfterMs = 0) {
    super(`the API server responded with ${status} to ${path.split("?", 1)[0]}`);
    this.name = "ApiStatusError";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
