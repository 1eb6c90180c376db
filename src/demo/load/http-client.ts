/** HTTP/1.1 client on raw sockets that never retries and classifies failures. */
import { connect } from "node:net";
import { type Clock, waitAtMost } from "../clock.ts";
import { isRefusal } from "../network/sockets.ts";

/** In the order of the report. `closed-unanswered`: FIN before a complete response; `bad-status`: 5xx. */
export const FAILURE_KINDS = ["refused", "reset", "closed-unanswered", "timed-out", "bad-status"] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

type RequestOutcome = { readonly failure: FailureKind | undefined };

export type HttpTarget = {
  readonly clock: Clock;
  readonly host: string;
  readonly port: number;
  readonly localAddress: string;
  readonly timeoutMs: number;
  /** Whether the proxy reset the connection from this local port because the Pod refused it. */
  readonly wasRefused: (localPort: number) => boolean;
};

export type HttpConnection = {
  readonly request: (path: string, keepAlive: boolean) => Promise<RequestOutcome>;
  /** False once either side has closed the connection or sent `Connection: close`. */
  readonly isUsable: () => boolean;
  readonly close: () => void;
};

export function openConnection(target: HttpTarget): HttpConnection {
  let text = "";
  let canReuse = true;
  let hasEnded = false;
  let failure: FailureKind | undefined;
  let notify = () => {};
  // Node clears socket.localPort on errors. 0: not connected yet.
  let localPort = 0;
  const { host, port, localAddress } = target;
  const socket = connect({ host, port, localAddress, noDelay: true });
  const markEnded = () => {
    hasEnded = true;
    canReuse = false;
    notify();
  };
  socket.setEncoding("latin1");
  socket.once("connect", () => {
    localPort = socket.localPort ?? 0;
  });
  socket.on("data", (chunk: string | Uint8Array) => {
    text += String(chunk);
    notify();
  });
  socket.once("end", markEnded);
  socket.once("error", (error) => {
    const isRefused = (localPort === 0 && isRefusal(error)) || target.wasRefused(socket.localPort ?? localPort);
    failure = isRefused ? "refused" : "reset";
    canReuse = false;
    notify();
  });
  socket.once("close", markEnded);

  const currentOutcome = (): RequestOutcome | undefined => {
    const response = readResponse(text, hasEnded);
    if (response.complete) {
      if (!response.keepAlive) canReuse = false;
      return { failure: response.status >= 500 ? "bad-status" : undefined };
    }
    if (failure !== undefined) return { failure };
    return hasEnded ? { failure: "closed-unanswered" } : undefined;
  };

  return {
    isUsable: () => canReuse,
    close: () => {
      canReuse = false;
      socket.end();
    },
    request: async (path, keepAlive) => {
      text = "";
      const outcomePromise = new Promise<RequestOutcome>((resolve) => {
        notify = () => {
          const result = currentOutcome();
          if (result !== undefined) resolve(result);
        };
        // A connection that broke after the call of isUsable() does not emit a further event.
        notify();
      });
      const connection = keepAlive ? "keep-alive" : "close";
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${target.host}\r\nConnection: ${connection}\r\n\r\n`);
      const outcome = await waitAtMost(target.clock, target.timeoutMs, outcomePromise);
      notify = () => {};
      if (outcome === "late") {
        canReuse = false;
        socket.destroy();
        return { failure: "timed-out" };
      }
      if (!keepAlive || !canReuse) {
        canReuse = false;
        socket.end();
      }
      return outcomePromise;
    },
  };
}

type ResponseReading =
  | { readonly complete: false }
  | { readonly complete: true; readonly status: number; readonly keepAlive: boolean };

const INCOMPLETE: ResponseReading = { complete: false };

/** @param text bytes received for this request, as latin1 */
export function readResponse(text: string, hasEnded: boolean): ResponseReading {
  const headEnd = text.indexOf("\r\n\r\n");
  const status = /^HTTP\/1\.[01] ([0-9]{3})[ \r]/.exec(text);
  if (headEnd < 0 || status === null) return INCOMPLETE;
  const head = text.slice(0, headEnd + 2).toLowerCase();
  const keepAlive = !hasEnded && keepsAlive(head);
  const result: ResponseReading = { complete: true, status: Number(status[1]), keepAlive };
  const body = text.slice(headEnd + 4);
  const contentLength = /\r\ncontent-length: *([0-9]+)/.exec(head);
  if (contentLength !== null) return body.length >= Number(contentLength[1]) ? result : INCOMPLETE;
  if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return hasLastChunk(body) ? result : INCOMPLETE;
  if (status[1] === "204" || status[1] === "304") return result;
  // RFC 9112, 6.3: without a length the close ends the body.
  return hasEnded ? { ...result, keepAlive: false } : INCOMPLETE;
}

function keepsAlive(head: string): boolean {
  if (head.startsWith("http/1.0")) return /\r\nconnection:[^\r]*keep-alive/.test(head);
  return !/\r\nconnection:[^\r]*close/.test(head);
}

function hasLastChunk(body: string): boolean {
  let at = 0;
  while (at < body.length) {
    const lineEnd = body.indexOf("\r\n", at);
    if (lineEnd < 0) return false;
    const size = Number.parseInt(body.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return false;
    if (size === 0) return body.endsWith("\r\n\r\n");
    at = lineEnd + 2 + size + 2;
  }
  return false;
}
