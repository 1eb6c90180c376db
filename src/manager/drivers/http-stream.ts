/** One HTTP request on a connection of its own, with one limit for all of it; its answer is handed on as it comes. */
import { Agent, type IncomingMessage, request } from "node:http";
import type { HttpTarget } from "../http-target.ts";

export type HttpCall = {
  readonly target: HttpTarget;
  readonly method: "GET" | "POST";
  /** From dialling to the last byte. */
  readonly limitMs: number;
};

export type HttpEnd = {
  /** 0 when no whole answer came; `failure` then says why. */
  readonly status: number;
  readonly failure: string;
  /** The limit came first: a program may well be there, and does not answer. */
  readonly timedOut: boolean;
};

/**
 * @param onChunk gets the body, whatever the status. @returns empty to go on, or a sentence that ends the call
 * @param done called exactly once
 */
export type HttpStream = (call: HttpCall, onChunk: (chunk: Buffer) => string, done: (end: HttpEnd) => void) => void;

/** Over TCP; see {@link HttpStream}. */
export function streamHttp(call: HttpCall, onChunk: (chunk: Buffer) => string, done: (end: HttpEnd) => void): void {
  let open = true;
  const finish = (status: number, failure: string, timedOut: boolean): void => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
    done({ status, failure, timedOut });
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
      const taken = (chunk: Buffer): string => (open ? onChunk(chunk) : "");
      passBody(incoming, taken, (failure) => {
        finish(failure === "" ? (incoming.statusCode ?? 0) : 0, failure, false);
        outgoing.destroy();
      });
    },
  );
  const timer = setTimeout(() => {
    finish(0, tooLate(call), true);
    outgoing.destroy();
  }, call.limitMs);
  outgoing.on("error", (error) => finish(0, error.message, false));
  outgoing.on("close", () => finish(0, BROKEN_OFF, false));
  outgoing.end();
}

export const BROKEN_OFF = "the connection closed before a whole answer came";

export function tooLate({ limitMs }: { readonly limitMs: number }): string {
  return `no whole answer within ${limitMs} ms`;
}

function passBody(
  incoming: IncomingMessage,
  onChunk: (chunk: Buffer) => string,
  done: (failure: string) => void,
): void {
  let ended = false;
  const finish = (failure: string): void => {
    if (ended) return;
    ended = true;
    done(failure);
  };
  incoming.on("data", (chunk: Buffer) => {
    if (ended) return;
    const refusal = onChunk(chunk);
    if (refusal !== "") finish(refusal);
  });
  // Whole only when the parser says so: a connection that breaks off ends the stream too.
  incoming.on("end", () => finish(""));
  incoming.on("error", (error) => finish(error.message));
  incoming.on("close", () => finish(BROKEN_OFF));
}
