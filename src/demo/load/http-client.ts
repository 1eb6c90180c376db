/** A raw HTTP/1.1 client that never retries and tells the ways a request can fail apart. */
import { connect, type Socket } from "node:net";
import { type Clock, waitAtMost } from "../clock.ts";

/**
 * `refused`: no connection; `reset`: the connection broke; `closed-unanswered`: an orderly close without a whole answer;
 * `timed-out`: silence; `bad-status`: an answer of 500 or above.
 */
export type FailureKind = "refused" | "reset" | "closed-unanswered" | "timed-out" | "bad-status";

export const FAILURE_KINDS: readonly FailureKind[] = [
  "refused",
  "reset",
  "closed-unanswered",
  "timed-out",
  "bad-status",
];

type RequestResult = { readonly failure: FailureKind | undefined };

export type HttpTarget = {
  readonly clock: Clock;
  readonly host: string;
  readonly port: number;
  readonly localAddress: string;
  readonly timeoutMs: number;
  /** Whether a reset of this local port was a refusal further on. */
  readonly wasRefused: (localPort: number) => boolean;
};

export type HttpConnection = {
  /** One request at a time. Connects first when it is the first. */
  readonly request: (path: string, keepOpen: boolean) => Promise<RequestResult>;
  /** False once either side has closed, or asked to: a pool drops such a connection without harm. */
  readonly isUsable: () => boolean;
  readonly close: () => void;
};

export function openConnection(target: HttpTarget): HttpConnection {
  let text = "";
  let usable = true;
  let connected = false;
  let ended = false;
  let failure: FailureKind | undefined;
  let notice = () => {};
  const socket: Socket = connect({
    host: target.host,
    port: target.port,
    localAddress: target.localAddress,
    noDelay: true,
  });
  socket.setEncoding("latin1");
  socket.once("connect", () => {
    connected = true;
  });
  socket.on("data", (chunk: string | Uint8Array) => {
    text += String(chunk);
    notice();
  });
  socket.once("end", () => {
    ended = true;
    usable = false;
    notice();
  });
  socket.once("error", (error) => {
    failure =
      kindOf(error, connected) === "refused" || target.wasRefused(socket.localPort ?? localPort) ? "refused" : "reset";
    usable = false;
    notice();
  });
  socket.once("close", () => {
    ended = true;
    usable = false;
    notice();
  });
  // After an error the socket has forgotten its port.
  let localPort = 0;
  socket.once("connect", () => {
    localPort = socket.localPort ?? 0;
  });

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
        notice = () => {
          const result = settled();
          if (result !== undefined) resolve(result);
        };
        // A connection that broke between isUsable and here never says so again.
        notice();
      });
      const connection = keepOpen ? "keep-alive" : "close";
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${target.host}\r\nConnection: ${connection}\r\n\r\n`);
      const end = await waitAtMost(target.clock, target.timeoutMs, answered);
      notice = () => {};
      if (end === "late") {
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

function kindOf(error: Error, connected: boolean): FailureKind {
  const code = "code" in error ? error.code : "";
  return !connected && (code === "ECONNREFUSED" || code === "EHOSTUNREACH") ? "refused" : "reset";
}

/** The end of an HTTP/1.1 answer, found without a library so that nothing is retried or hidden. Pure. */
type AnswerReading =
  | { readonly complete: false }
  | { readonly complete: true; readonly status: number; readonly keepsOpen: boolean };

const INCOMPLETE: AnswerReading = { complete: false };

/** @param text everything received for this request, one character per byte; @param ended the server closed. */
export function readAnswer(text: string, ended: boolean): AnswerReading {
  const headEnd = text.indexOf("\r\n\r\n");
  const status = /^HTTP\/1\.[01] ([0-9]{3})[ \r]/.exec(text);
  if (headEnd < 0 || status === null) return INCOMPLETE;
  const head = text.slice(0, headEnd + 2).toLowerCase();
  const keepsOpen = !ended && asksToKeep(head);
  const done: AnswerReading = { complete: true, status: Number(status[1]), keepsOpen };
  const body = text.slice(headEnd + 4);
  const length = /\r\ncontent-length: *([0-9]+)/.exec(head);
  if (length !== null) return body.length >= Number(length[1]) ? done : INCOMPLETE;
  if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return lastChunkSeen(body) ? done : INCOMPLETE;
  if (status[1] === "204" || status[1] === "304") return done;
  // Without a length only the close tells that the answer is whole.
  return ended ? { ...done, keepsOpen: false } : INCOMPLETE;
}

/** @param head in small letters. HTTP/1.1 keeps unless told otherwise, HTTP/1.0 closes unless told otherwise. */
function asksToKeep(head: string): boolean {
  if (head.startsWith("http/1.0")) return /\r\nconnection:[^\r]*keep-alive/.test(head);
  return !/\r\nconnection:[^\r]*close/.test(head);
}

function lastChunkSeen(body: string): boolean {
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
