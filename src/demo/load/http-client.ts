/** A raw HTTP/1.1 client that never retries and distinguishes the ways a request can fail. */
import { connect } from "node:net";
import { type Clock, waitAtMost } from "../clock.ts";
import { isRefusal } from "../network/sockets.ts";

/** In the order of the report. `closed-unanswered` is an orderly close without a whole answer; `bad-status` is 5xx. */
export const FAILURE_KINDS = ["refused", "reset", "closed-unanswered", "timed-out", "bad-status"] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

type RequestResult = { readonly failure: FailureKind | undefined };

export type HttpTarget = {
  readonly clock: Clock;
  readonly host: string;
  readonly port: number;
  readonly localAddress: string;
  readonly timeoutMs: number;
  /** Whether a reset of this local port was a refusal behind the proxy. */
  readonly wasRefused: (localPort: number) => boolean;
};

export type HttpConnection = {
  /** One request at a time. */
  readonly request: (path: string, keepOpen: boolean) => Promise<RequestResult>;
  /** False once either side has closed or announced it: a pool drops such a connection. */
  readonly isUsable: () => boolean;
  readonly close: () => void;
};

export function openConnection(target: HttpTarget): HttpConnection {
  let text = "";
  let usable = true;
  let ended = false;
  let failure: FailureKind | undefined;
  let notify = () => {};
  // After an error the socket has no local port any more; 0 before it is connected.
  let localPort = 0;
  const { host, port, localAddress } = target;
  const socket = connect({ host, port, localAddress, noDelay: true });
  const end = () => {
    ended = true;
    usable = false;
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
  socket.once("end", end);
  socket.once("error", (error) => {
    const isRefused = (localPort === 0 && isRefusal(error)) || target.wasRefused(socket.localPort ?? localPort);
    failure = isRefused ? "refused" : "reset";
    usable = false;
    notify();
  });
  socket.once("close", end);

  const settled = (): RequestResult | undefined => {
    const answer = readAnswer(text, ended);
    if (answer.complete) {
      if (!answer.keepsOpen) usable = false;
      return { failure: answer.status >= 500 ? "bad-status" : undefined };
    }
    if (failure !== undefined) return { failure };
    return ended ? { failure: "closed-unanswered" } : undefined;
  };

  return {
    isUsable: () => usable,
    close: () => {
      usable = false;
      socket.end();
    },
    request: async (path, keepOpen) => {
      text = "";
      const answered = new Promise<RequestResult>((resolve) => {
        notify = () => {
          const result = settled();
          if (result !== undefined) resolve(result);
        };
        // A connection that broke between isUsable and here emits nothing any more.
        notify();
      });
      const connection = keepOpen ? "keep-alive" : "close";
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${target.host}\r\nConnection: ${connection}\r\n\r\n`);
      const outcome = await waitAtMost(target.clock, target.timeoutMs, answered);
      notify = () => {};
      if (outcome === "late") {
        usable = false;
        socket.destroy();
        return { failure: "timed-out" };
      }
      if (!keepOpen || !usable) {
        usable = false;
        socket.end();
      }
      return answered;
    },
  };
}

type AnswerReading =
  | { readonly complete: false }
  | { readonly complete: true; readonly status: number; readonly keepsOpen: boolean };

const INCOMPLETE: AnswerReading = { complete: false };

/**
 * Finds the end of an answer. Pure.
 *
 * @param text everything received for this request, one character per byte
 * @param ended whether the server closed
 */
export function readAnswer(text: string, ended: boolean): AnswerReading {
  const headEnd = text.indexOf("\r\n\r\n");
  const status = /^HTTP\/1\.[01] ([0-9]{3})[ \r]/.exec(text);
  if (headEnd < 0 || status === null) return INCOMPLETE;
  const head = text.slice(0, headEnd + 2).toLowerCase();
  const keepsOpen = !ended && keepsAlive(head);
  const done: AnswerReading = { complete: true, status: Number(status[1]), keepsOpen };
  const body = text.slice(headEnd + 4);
  const length = /\r\ncontent-length: *([0-9]+)/.exec(head);
  if (length !== null) return body.length >= Number(length[1]) ? done : INCOMPLETE;
  if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return hasLastChunk(body) ? done : INCOMPLETE;
  if (status[1] === "204" || status[1] === "304") return done;
  // Without a length only the close ends the answer.
  return ended ? { ...done, keepsOpen: false } : INCOMPLETE;
}

/** HTTP/1.1 keeps the connection by default, HTTP/1.0 closes it. @param head in lower case */
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
