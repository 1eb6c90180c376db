/** Sends requests to the API server with the credentials of a kubeconfig or the Pod's ServiceAccount. */
import { Agent as HttpAgent, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { Agent, request as overHttps } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import { ApiRefusal, type ApiResponse, type OpenStream, ResponseTooLarge, type SendRequest } from "./api-request.ts";
import { retryAfterMs } from "./retry-delay.ts";

/** Where a request sets no limit. */
const RESPONSE_LIMIT_BYTES = 64 * 1024 * 1024;

/** A dead peer is detected after this time and the kernel's TCP keep-alive probes. */
const KEEP_ALIVE_PROBE_MS = 30_000;

/** Below the idle timeout of the API server, so it never closes a connection that is about to be reused. */
const IDLE_LIMIT_MS = 60_000;

export type ApiClient = { readonly request: SendRequest; readonly stream: OpenStream; readonly close: () => void };

export function createApiClient(connection: KubeConfig): ApiClient {
  const server = new URL(connection.getCurrentCluster()?.server ?? "");
  const pooled = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_PROBE_MS, timeout: IDLE_LIMIT_MS };
  const agent = server.protocol === "http:" ? new HttpAgent(pooled) : new Agent(pooled);
  const usesProxy = connection.getCurrentCluster()?.proxyUrl !== undefined;

  /** Rereads token and CA when their files have changed. */
  const requestOptions = async (method: string, path: string, body?: string): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    await connection.applyToHTTPSOptions(options);
    const { hostname, port, protocol, pathname } = server;
    const prefix = pathname === "/" ? "" : pathname.replace(/\/$/, "");
    return {
      ...options,
      // The package caches one agent with the CA of its first use. Only a proxy needs that agent.
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
    const options = await requestOptions(method, path, body);
    return new Promise((resolve, reject) => {
      const sent = (server.protocol === "http:" ? overHttp : overHttps)({ ...options, signal }, resolve);
      sent.on("socket", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
      sent.on("error", reject);
      sent.end(body);
    });
  };

  return {
    request: async ({ method, path, body, limitMs, limitBytes, signal: stop }) => {
      const limit = AbortSignal.timeout(Math.ceil(limitMs));
      const signal = stop === undefined ? limit : AbortSignal.any([limit, stop]);
      return rejectOnAbort(
        signal,
        send(method, path, signal, body).then((answer) => readResponse(answer, limitBytes)),
      );
    },
    stream: async ({ path, limitMs, signal, onOpen, onChunk }) => {
      const limit = AbortSignal.timeout(Math.ceil(limitMs));
      const either = AbortSignal.any([limit, signal]);
      try {
        const answer = await rejectOnAbort(either, send("GET", path, either));
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

/** Credential plugins may hang, so the limit covers them too. */
export function rejectOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("the API server did not answer in time"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** @throws ResponseTooLarge; the rest of the body is not read */
export async function readResponse(answer: IncomingMessage, limitBytes = RESPONSE_LIMIT_BYTES): Promise<ApiResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (bytes > limitBytes) throw new ResponseTooLarge(limitBytes);
    chunks.push(chunk as Buffer);
  }
  const read = { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
  const pauseMs = retryAfterMs(answer.headers["retry-after"]);
  return pauseMs === 0 ? read : { ...read, retryAfterMs: pauseMs };
}
