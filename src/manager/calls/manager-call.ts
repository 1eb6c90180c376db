/** Sends an HTTP request to the manager in the same Pod. A plain socket distinguishes failures before and after connecting. */
import { connect } from "node:net";
import { createHttpResponseReader } from "../http/http-response.ts";

export type ManagerCall = {
  readonly host: string;
  readonly port: number;
  readonly method: "GET" | "POST";
  /** Contains the token, so it must not appear in messages. */
  readonly path: string;
  /** Time limit for the connection and, unless `waitsForResponse`, for the response. Connection attempts repeat for at most 2 s. */
  readonly timeoutMs: number;
  /** Waits for the response without a time limit. */
  readonly waitsForResponse: boolean;
};

/** `no-response`: the connection was established, but no complete response arrived. */
export type CallResult =
  | { readonly kind: "responded"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "no-response"; readonly message: string };

/** A starting manager listens within this time. */
const RETRY_LIMIT_MS = 2_000;
const RETRY_MS = 100;
/** A report has only a few kilobytes. */
const RESPONSE_LIMIT_BYTES = 65_536;

export function callManager(call: ManagerCall, nowMs: () => number, done: (result: CallResult) => void): void {
  const deadlineMs = nowMs() + call.timeoutMs;
  const retryUntilMs = nowMs() + Math.min(RETRY_LIMIT_MS, call.timeoutMs);
  let isSettled = false;
  const settle = (result: CallResult): void => {
    if (isSettled) return;
    isSettled = true;
    done(result);
  };
  const attempt = (): void => {
    const chunks: Buffer[] = [];
    let size = 0;
    const reader = createHttpResponseReader((chunk) => {
      size = size + chunk.length;
      if (size > RESPONSE_LIMIT_BYTES) return "the response is longer than any response of a manager";
      chunks.push(Buffer.from(chunk));
      return "";
    });
    let isConnected = false;
    let isFinished = false;
    const socket = connect({ host: call.host, port: call.port });
    const timeout = setTimeout(
      () => {
        failAttempt(isConnected ? "the manager did not respond to the request" : "connection timed out");
      },
      Math.max(1, deadlineMs - nowMs()),
    );
    const failAttempt = (message: string): void => {
      if (isFinished) return;
      isFinished = true;
      clearTimeout(timeout);
      socket.destroy();
      if (isConnected) settle({ kind: "no-response", message });
      else if (nowMs() + RETRY_MS < retryUntilMs) setTimeout(attempt, RETRY_MS);
      else settle({ kind: "unreachable", message });
    };
    const finish = (): void => {
      if (isFinished) return;
      reader.endStream();
      if (!reader.isComplete()) {
        failAttempt("the connection closed before the response was complete");
        return;
      }
      isFinished = true;
      clearTimeout(timeout);
      socket.destroy();
      settle({ kind: "responded", status: reader.status(), body: Buffer.concat(chunks).toString("utf8") });
    };
    socket.on("connect", () => {
      isConnected = true;
      if (call.waitsForResponse) clearTimeout(timeout);
      socket.write(
        `${call.method} ${call.path} HTTP/1.1\r\nHost: manager\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    });
    socket.on("data", (chunk: Buffer) => {
      if (isFinished) return;
      const failure = reader.addBytes(chunk);
      if (failure !== "") failAttempt(failure);
      else if (reader.isComplete()) finish();
    });
    socket.on("end", finish);
    socket.on("close", finish);
    socket.on("error", (error) => failAttempt(error.message));
  };
  attempt();
}
