/** Sends an HTTP request to the manager in the same Pod. A plain socket distinguishes failures before and after connecting. */
import { connect } from "node:net";
import { createHttpResponseReader } from "../http/http-response.ts";

export type ManagerCall = {
  readonly host: string;
  readonly port: number;
  readonly method: "GET" | "POST";
  /** Contains the token, so it must not appear in messages. */
  readonly path: string;
  /** Limits connecting and, unless `waits`, the response. A failed connection is retried for at most 2 s. */
  readonly withinMs: number;
  /** Waits for the response without a time limit. */
  readonly waits: boolean;
};

/** `left`: the connection was established, but no complete response arrived. */
export type CallEnd =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "left"; readonly message: string };

/** A starting manager listens within this time. */
const REFUSED_MS = 2_000;
const RETRY_MS = 100;
/** A report has only a few kilobytes. */
const LONGEST_ANSWER = 65_536;

export function callManager(call: ManagerCall, nowMs: () => number, done: (end: CallEnd) => void): void {
  const giveUpAtMs = nowMs() + call.withinMs;
  const refusedAtMs = nowMs() + Math.min(REFUSED_MS, call.withinMs);
  let settled = false;
  const settle = (end: CallEnd): void => {
    if (settled) return;
    settled = true;
    done(end);
  };
  const attempt = (): void => {
    const chunks: Buffer[] = [];
    let size = 0;
    const answer = createHttpResponseReader((chunk) => {
      size = size + chunk.length;
      if (size > LONGEST_ANSWER) return "the response is too long for a manager";
      chunks.push(Buffer.from(chunk));
      return "";
    });
    let connected = false;
    let over = false;
    const socket = connect({ host: call.host, port: call.port });
    const patience = setTimeout(
      () => {
        lose(connected ? "no response after the request" : "connection timed out");
      },
      Math.max(1, giveUpAtMs - nowMs()),
    );
    const lose = (message: string): void => {
      if (over) return;
      over = true;
      clearTimeout(patience);
      socket.destroy();
      if (connected) settle({ kind: "left", message });
      else if (nowMs() + RETRY_MS < refusedAtMs) setTimeout(attempt, RETRY_MS);
      else settle({ kind: "unreachable", message });
    };
    const finish = (): void => {
      if (over) return;
      answer.takeEnd();
      if (!answer.isWhole()) {
        lose("the connection closed before the response");
        return;
      }
      over = true;
      clearTimeout(patience);
      socket.destroy();
      settle({ kind: "answered", status: answer.status(), body: Buffer.concat(chunks).toString("utf8") });
    };
    socket.on("connect", () => {
      connected = true;
      if (call.waits) clearTimeout(patience);
      socket.write(
        `${call.method} ${call.path} HTTP/1.1\r\nHost: manager\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    });
    socket.on("data", (chunk: Buffer) => {
      if (over) return;
      const failure = answer.take(chunk);
      if (failure !== "") lose(failure);
      else if (answer.isWhole()) finish();
    });
    socket.on("end", finish);
    socket.on("close", finish);
    socket.on("error", (error) => lose(error.message));
  };
  attempt();
}
