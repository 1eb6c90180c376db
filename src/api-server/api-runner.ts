/** Speaks HTTP with the API server, as the account of the connection. Knows nothing of objects. */
import { Agent as HttpAgent, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { Agent, request as overHttps } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import { AnswerTooLarge, type ApiAnswer, ApiRefusal, type AskApi, type StreamApi } from "./api-request.ts";
import { retryAfterMs } from "./retry-delay.ts";

/** Largest answer in bytes where a question sets no other limit. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;

/** A peer that vanished without a word is noticed after this and the kernel's probes, in milliseconds. */
const KEEP_ALIVE_PROBE_MS = 30_000;

/** Connections wait here for the next question; the API server closes them after longer than this. */
const IDLE_LIMIT_MS = 60_000;

export type ApiRunner = { readonly ask: AskApi; readonly stream: StreamApi; readonly close: () => void };

export function apiRunner(connection: KubeConfig): ApiRunner {
  const server = new URL(connection.getCurrentCluster()?.server ?? "");
  const pooled = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_PROBE_MS, timeout: IDLE_LIMIT_MS };
  const agent = server.protocol === "http:" ? new HttpAgent(pooled) : new Agent(pooled);
  const usesProxy = connection.getCurrentCluster()?.proxyUrl !== undefined;

  /** Reads the token and the CA again when their files have changed, so it may wait. */
  const begin = async (method: string, path: string, body?: string): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    await connection.applyToHTTPSOptions(options);
    const { hostname, port, protocol, pathname } = server;
    const prefix = pathname === "/" ? "" : pathname.replace(/\/$/, "");
    return {
      ...options,
      // The package keeps one agent for ever, with the CA of its first use. A proxy needs that agent.
      agent: usesProxy ? options.agent : agent,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      ...(port === "" ? {} : { port }),
      method,
      path: `${prefix}${path}`,
      headers: {
        ...options.headers,
        accept: "application/json",
        "user-agent": "lastcall-webhook",
        ...(body === undefined
          ? {}
          : { "content-type": contentTypeOf(method), "content-length": Buffer.byteLength(body) }),
      },
    };
  };

  const send = async (method: string, path: string, signal: AbortSignal, body?: string): Promise<IncomingMessage> => {
    const options = await begin(method, path, body);
    return new Promise((resolve, reject) => {
      const sent = (server.protocol === "http:" ? overHttp : overHttps)({ ...options, signal }, resolve);
      sent.on("socket", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
      sent.on("error", reject);
      sent.end(body);
    });
  };

  return {
    ask: async ({ method, path, body, limitMs, limitBytes, signal: stop }) => {
      const limit = AbortSignal.timeout(Math.ceil(limitMs));
      const signal = stop === undefined ? limit : AbortSignal.any([limit, stop]);
      return within(
        signal,
        send(method, path, signal, body).then((answer) => readWhole(answer, limitBytes)),
      );
    },
    stream: async ({ path, limitMs, signal, onOpen, onChunk }) => {
      const limit = AbortSignal.timeout(Math.ceil(limitMs));
      const either = AbortSignal.any([limit, signal]);
      try {
        const answer = await within(either, send("GET", path, either));
        if (answer.statusCode !== 200) {
          answer.destroy();
          throw new ApiRefusal(answer.statusCode ?? 0, path, retryAfterMs(answer.headers["retry-after"]));
        }
        onOpen();
        for await (const chunk of answer) onChunk(chunk as Buffer);
      } catch (error) {
        if (!either.aborted) throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

function contentTypeOf(method: string): string {
  return method === "PATCH" ? "application/json-patch+json" : "application/json";
}

/** Credentials may come from a program that never ends; the limit counts for them too. */
export function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("the API server did not answer in time"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** @throws AnswerTooLarge, and the rest of the answer is not read */
export async function readWhole(answer: IncomingMessage, limitBytes = ANSWER_LIMIT_BYTES): Promise<ApiAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (bytes > limitBytes) throw new AnswerTooLarge(limitBytes);
    chunks.push(chunk as Buffer);
  }
  const read = { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
  const pauseMs = retryAfterMs(answer.headers["retry-after"]);
  return pauseMs === 0 ? read : { ...read, retryAfterMs: pauseMs };
}
