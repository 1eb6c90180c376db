/** Sends one HTTP request on its own connection, over TCP or TLS, and streams the response. */
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:tls";
import type { HttpTarget } from "./http-target.ts";

export type HttpCall = {
  readonly target: HttpTarget;
  readonly method: "GET" | "POST";
  readonly timeoutMs: number;
};

export type HttpEnd = {
  readonly status: number;
  readonly failure: string;
  /** Whether no complete response arrived in time. The program may be running but unable to respond. */
  readonly timedOut: boolean;
};

/**
 * @param onChunk receives the body of any status; returns "" to continue, or an error that ends the call
 * @param done called exactly once
 */
export type HttpStream = (call: HttpCall, onChunk: (chunk: Buffer) => string, done: (end: HttpEnd) => void) => void;

export type ExchangeCallbacks = {
  readonly onStatus: (status: number) => void;
  readonly onBytes: (chunk: Buffer) => string;
  /** Called exactly once, unless the caller destroyed the exchange. `failure` is empty for a complete response. */
  readonly onEnd: (failure: string) => void;
};

export const INCOMPLETE = "the connection closed before the response was complete";

export function timeoutMessage({ timeoutMs }: { readonly timeoutMs: number }): string {
  return `no complete response within ${timeoutMs} ms`;
}

export type Exchange = {
  /**
   * Closes only the writing side, and closes the whole connection when the server has closed its side. The callbacks are called until
   * then. If the whole connection were closed at once, the kernel would answer the server's close_notify with a reset, which the
   * Pod's report would count.
   */
  readonly close: () => void;
  /** Closes the connection at once, without a further callback; for a server that sends invalid data or too much data. */
  readonly destroy: () => void;
};

/** @returns a function that ends the exchange without a further callback */
export function exchangeOverTcp(
  target: HttpTarget,
  method: "GET" | "POST",
  headers: Record<string, string>,
  callbacks: ExchangeCallbacks,
): () => void {
  const { host, port, path } = target;
  return exchange(
    (onResponse) =>
      request(
        {
          host: host,
          port: port,
          path: path,
          method: method,
          agent: new Agent({ keepAlive: false }),
          headers: headers,
        },
        onResponse,
      ),
    "",
    callbacks,
  );
}

type TlsEndpoint = {
  readonly address: string;
  readonly port: number;
  readonly serverName: string;
  readonly ca: string;
};

/** Maximum time for which `close` waits for the server to close its side. */
const CLOSE_LIMIT_MS = 500;

/** Sends a POST over TLS. */
export function exchangeOverTls(
  endpoint: TlsEndpoint,
  path: string,
  headers: Record<string, string>,
  body: string,
  callbacks: ExchangeCallbacks,
): Exchange {
  const { address, port, serverName, ca } = endpoint;
  const socket = connect({ host: address, port: port, ca, servername: serverName });
  const destroy = exchange(
    (onResponse) =>
      request(
        {
          path: path,
          method: "POST",
          headers: headers,
          createConnection: () => socket,
        },
        onResponse,
      ),
    body,
    callbacks,
  );
  const close = (): void => {
    socket.end();
    setTimeout(destroy, CLOSE_LIMIT_MS);
  };
  return { close, destroy };
}

function exchange(
  send: (onResponse: (incoming: IncomingMessage) => void) => ClientRequest,
  body: string,
  callbacks: ExchangeCallbacks,
): () => void {
  let isOpen = true;
  const end = (failure: string): void => {
    if (!isOpen) return;
    isOpen = false;
    callbacks.onEnd(failure);
    outgoing.destroy();
  };
  const outgoing = send((incoming) => {
    if (!isOpen) return;
    callbacks.onStatus(incoming.statusCode ?? 0);
    incoming.on("data", (chunk: Buffer) => {
      if (!isOpen) return;
      const bodyError = callbacks.onBytes(chunk);
      if (bodyError !== "") end(bodyError);
    });
    // Only the parser's event "end" proves a complete response. A broken connection emits "close" without "end".
    incoming.on("end", () => end(""));
    incoming.on("error", (error) => end(error.message));
    incoming.on("close", () => end(INCOMPLETE));
  });
  outgoing.on("error", (error) => end(error.message));
  outgoing.on("close", () => end(INCOMPLETE));
  outgoing.end(body);
  return () => {
    isOpen = false;
    outgoing.destroy();
  };
}

export function streamHttp(call: HttpCall, onChunk: (chunk: Buffer) => string, done: (end: HttpEnd) => void): void {
  const headers: Record<string, string> = { connection: "close", accept: "*/*", "content-length": "0" };
  let status = 0;
  const drop = exchangeOverTcp(call.target, call.method, headers, {
    onStatus: (receivedStatus) => {
      status = receivedStatus;
    },
    onBytes: onChunk,
    onEnd: (failure) => {
      clearTimeout(timer);
      done({ status: failure === "" ? status : 0, failure, timedOut: false });
    },
  });
  const timer = setTimeout(() => {
    drop();
    done({ status: 0, failure: timeoutMessage(call), timedOut: true });
  }, call.timeoutMs);
}

type HttpResponse = {
  readonly status: number;
  readonly body: string;
  readonly failure: string;
};

/** Large enough for an app's Prometheus metrics. */
const RESPONSE_LIMIT_BYTES = 65_536;

export function callHttp(call: HttpCall, done: (response: HttpResponse) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const append = (chunk: Buffer): string => {
    size = size + chunk.length;
    if (size > RESPONSE_LIMIT_BYTES) return `the response is longer than ${RESPONSE_LIMIT_BYTES} bytes`;
    chunks.push(chunk);
    return "";
  };
  streamHttp(call, append, (end) => {
    const body = end.failure === "" ? Buffer.concat(chunks).toString("utf8") : "";
    done({ status: end.status, body, failure: end.failure });
  });
}
