/** One call from the command line to the manager in the same Pod, over a plain socket so that every stage shows. */
import { connect } from "node:net";
import { createHttpAnswerReader } from "../http/http-answer.ts";

export type ManagerCall = {
  readonly host: string;
  readonly port: number;
  readonly method: "GET" | "POST";
  /** With the token in it, which is why it never appears in a message. */
  readonly path: string;
  /** For the connection and, unless it waits, the answer. A port that refuses connections is given 2 s of it at most. */
  readonly withinMs: number;
  /** Once connected, the answer is waited for without a limit. */
  readonly waits: boolean;
};

export type CallEnd =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "left"; readonly message: string };

/** How long a refused connection is tried again: a manager that starts listens within this time. */
const REFUSED_MS = 2_000;
const RETRY_MS = 100;
/** A report is at most a few kilobytes. */
const LONGEST_ANSWER = 65_536;

/** Calls `done` exactly once. */
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
    const answer = createHttpAnswerReader((chunk) => {
      size = size + chunk.length;
      if (size > LONGEST_ANSWER) return "its answer is too long to be the manager's";
      chunks.push(Buffer.from(chunk));
      return "";
    });
    let connected = false;
    let over = false;
    const socket = connect({ host: call.host, port: call.port });
    const patience = setTimeout(
      () => {
        lose(connected ? "it accepted the call and said nothing" : "nothing accepts connections there");
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
        lose("it left before answering");
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
