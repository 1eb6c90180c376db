/** One HTTP request on a connection of its own, with one limit for all of it. */
import { Agent, type IncomingMessage, request } from "node:http";
import type { HttpTarget } from "./http-target.ts";

export type HttpAnswer = {
  /** 0 when no whole answer came; `failure` then says why. */
  readonly status: number;
  readonly body: string;
  readonly failure: string;
};

export type HttpCall = {
  readonly target: HttpTarget;
  readonly method: "GET" | "POST";
  /** From dialling to the last byte. */
  readonly limitMs: number;
};

/** More than any number needs, and a metrics page fits. */
export const ANSWER_LIMIT_BYTES = 65_536;

/** @param done called exactly once */
export function callHttp(call: HttpCall, done: (answer: HttpAnswer) => void): void {
  let open = true;
  const finish = (status: number, body: string, failure: string): void => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    done({ status, body, failure });
  };
  const headers: Record<string, string> = { connection: "close", accept: "*/*", "content-length": "0" };
  const outgoing = request(
    {
      host: call.target.host,
      port: call.target.port,
      path: call.target.path,
      method: call.method,
      agent: new Agent({ keepAlive: false }),
      headers: headers,
    },
    (incoming) => {
      readBody(incoming, (body, failure) => {
        finish(failure === "" ? (incoming.statusCode ?? 0) : 0, body, failure);
        outgoing.destroy();
      });
    },
  );
  const timer = setTimeout(() => {
    finish(0, "", `no whole answer within ${call.limitMs} ms`);
    outgoing.destroy();
  }, call.limitMs);
  outgoing.on("error", (error) => finish(0, "", error.message));
  outgoing.on("close", () => finish(0, "", "the connection closed before a whole answer came"));
  outgoing.end();
}

function readBody(incoming: IncomingMessage, done: (body: string, failure: string) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let ended = false;
  const finish = (body: string, failure: string): void => {
    if (ended) return;
    ended = true;
    done(body, failure);
  };
  incoming.on("data", (chunk: Buffer) => {
    size = size + chunk.length;
    if (size > ANSWER_LIMIT_BYTES) finish("", `the answer is longer than ${ANSWER_LIMIT_BYTES} bytes`);
    else chunks.push(chunk);
  });
  // Whole only when the parser says so: a connection that breaks off ends the stream too.
  incoming.on("end", () => finish(Buffer.concat(chunks).toString("utf8"), ""));
  incoming.on("error", (error) => finish("", error.message));
  incoming.on("close", () => finish("", "the connection closed before a whole answer came"));
}
